//===- Mesh.cpp - The partitions as a grid of axes ------------------------===//
#include "compiler/transforms/spmd/Mesh.h"
#include "llvm/ADT/STLExtras.h"

using namespace hlo::spmd;
using llvm::ArrayRef;
using llvm::SmallVector;

Mesh::Mesh(ArrayRef<int64_t> axisSizes, ArrayRef<int64_t> partitionAt)
    : sizes(axisSizes), strides(axisSizes.size()) {
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = number;
    number *= sizes[i];
  }
  bool isDefault = true;
  for (auto [position, partition] : llvm::enumerate(partitionAt)) {
    isDefault &= partition == static_cast<int64_t>(position);
  }
  if (!isDefault) {
    order.assign(partitionAt.begin(), partitionAt.end());
    inverse.resize(order.size());
    for (auto [position, partition] : llvm::enumerate(order)) {
      inverse[partition] = position;
    }
  }
}

int64_t Mesh::count(ArrayRef<Axis> axes) const {
  int64_t product = 1;
  for (Axis axis : axes) {
    product *= sizes[axis];
  }
  return product;
}

AxisList Mesh::listOf(AxisSet set) const {
  AxisList list;
  for (unsigned axis = 0; axis < axes(); ++axis) {
    if (set >> axis & 1) {
      list.push_back(axis);
    }
  }
  return list;
}

int64_t Mesh::shardAt(int64_t position, ArrayRef<Axis> axes) const {
  int64_t shard = 0;
  for (Axis axis : axes) {
    shard = shard * sizes[axis] + coordinate(position, axis);
  }
  return shard;
}

SmallVector<SmallVector<int64_t>> Mesh::groups(ArrayRef<Axis> axes) const {
  AxisList rest = listOf(all() & ~setOf(axes));
  int64_t members = count(axes);
  SmallVector<SmallVector<int64_t>> groups(number / members, SmallVector<int64_t>(members));
  for (int64_t position = 0; position < number; ++position) {
    groups[shardAt(position, rest)][shardAt(position, axes)] = partitionAt(position);
  }
  return groups;
}

bool Mesh::areOfOneName(Axis a, Axis b) const {
  return llvm::any_of(named, [&](const Named &each) {
    return std::min(a, b) >= each.first && std::max(a, b) < each.first + each.count;
  });
}

std::string Mesh::nameOf(Axis first, int64_t count) const {
  for (const Named &each : named) {
    if (first < each.first || first >= each.first + each.count) {
      continue;
    }
    if (count == each.count) {
      return each.name;
    }
    int64_t before = 1, size = 1;
    for (Axis other = each.first; other < first; ++other) {
      before *= sizes[other];
    }
    for (Axis part = first; part < first + count; ++part) {
      size *= sizes[part];
    }
    return each.name + ":(" + std::to_string(before) + ")" + std::to_string(size);
  }
  return "a" + std::to_string(first);
}

SmallVector<int64_t> hlo::spmd::primeFactors(int64_t number) {
  SmallVector<int64_t> factors;
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    for (; number % factor == 0; number /= factor) {
      factors.push_back(factor);
    }
  }
  if (number > 1) {
    factors.push_back(number);
  }
  return factors;
}

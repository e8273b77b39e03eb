//===- Permute.cpp - From one order of dimensions to another --------------===//
//
// target[to-order] = source[from-order]. Processes the fastest-varying dimension of the source and
// that of the target in square tiles, so that both sides stay in the cache, inside loops over the
// other dimensions.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Permute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cstring>
#include <numeric>

using namespace llvm;
using namespace hlo::run;

namespace {
constexpr int64_t tile = 32;

struct Dim {
  int64_t size, sourceStride, targetStride; ///< strides in items
};

SmallVector<int64_t> strides(ArrayRef<int64_t> dims, ArrayRef<int64_t> order) {
  SmallVector<int64_t> out(dims.size());
  int64_t stride = 1;
  for (int64_t d : order) {
    out[d] = stride;
    stride *= dims[d];
  }
  return out;
}

/// Copies one plane: `a` varies fastest in the target, `b` in the source.
template <typename T> void copyPlane(const T *source, T *target, const Dim &a, const Dim &b) {
  for (int64_t i0 = 0; i0 < a.size; i0 += tile) {
    int64_t i1 = std::min(i0 + tile, a.size);
    for (int64_t j0 = 0; j0 < b.size; j0 += tile) {
      int64_t j1 = std::min(j0 + tile, b.size);
      for (int64_t j = j0; j < j1; ++j) {
        for (int64_t i = i0; i < i1; ++i) {
          target[i * a.targetStride + j * b.targetStride] =
              source[i * a.sourceStride + j * b.sourceStride];
        }
      }
    }
  }
}

template <typename T>
void copyAll(const T *source, T *target, ArrayRef<Dim> outer, const Dim &a, const Dim &b) {
  SmallVector<int64_t> index(outer.size(), 0);
  while (true) {
    copyPlane(source, target, a, b);
    size_t d = 0;
    for (; d < outer.size(); ++d) {
      source += outer[d].sourceStride;
      target += outer[d].targetStride;
      if (++index[d] < outer[d].size) {
        break;
      }
      source -= outer[d].size * outer[d].sourceStride;
      target -= outer[d].size * outer[d].targetStride;
      index[d] = 0;
    }
    if (d == outer.size()) {
      return;
    }
  }
}

struct Item16 {
  uint64_t parts[2];
};
} // namespace

SmallVector<int64_t> hlo::run::rowMajor(size_t rank) {
  SmallVector<int64_t> order(llvm::reverse(columnMajor(rank)));
  return order;
}

SmallVector<int64_t> hlo::run::columnMajor(size_t rank) {
  SmallVector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

bool hlo::run::sameOrder(ArrayRef<int64_t> dims, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (llvm::is_contained(dims, 0)) {
    return true;
  }
  auto moving = [&](ArrayRef<int64_t> order) {
    SmallVector<int64_t> out;
    llvm::copy_if(order, std::back_inserter(out), [&](int64_t d) { return dims[d] != 1; });
    return out;
  };
  return moving(a) == moving(b);
}

void hlo::run::permute(ArrayRef<int64_t> dims, int64_t itemBytes, const char *source,
                       ArrayRef<int64_t> from, char *target, ArrayRef<int64_t> to) {
  if (llvm::is_contained(dims, 0)) {
    return;
  }
  if (sameOrder(dims, from, to)) {
    int64_t items = std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<>());
    std::memcpy(target, source, static_cast<size_t>(items * itemBytes));
    return;
  }
  SmallVector<int64_t> in = strides(dims, from), out = strides(dims, to);
  auto fastest = [&](ArrayRef<int64_t> order) {
    return *llvm::find_if(order, [&](int64_t d) { return dims[d] != 1; });
  };
  int64_t a = fastest(to), b = fastest(from);
  SmallVector<Dim> outer;
  for (int64_t d : to) {
    if (d != a && d != b && dims[d] != 1) {
      outer.push_back({dims[d], in[d], out[d]});
    }
  }
  Dim dimA{dims[a], in[a], out[a]};
  Dim dimB = a == b ? Dim{1, 0, 0} : Dim{dims[b], in[b], out[b]};
  auto run = [&]<typename T>(T) {
    copyAll(reinterpret_cast<const T *>(source), reinterpret_cast<T *>(target), outer, dimA, dimB);
  };
  switch (itemBytes) {
  case 1: return run(uint8_t());
  case 2: return run(uint16_t());
  case 4: return run(uint32_t());
  case 8: return run(uint64_t());
  case 16: return run(Item16());
  default: llvm_unreachable("items have 1, 2, 4, 8 or 16 bytes");
  }
}

//===- Sharding.cpp - How an array is split over the partitions -----------===//
#include "compiler/transforms/spmd/Sharding.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

Sharding Sharding::without(AxisSet removed) const {
  Sharding result(rank());
  for (auto [axes, kept] : llvm::zip(dims, result.dims)) {
    for (Axis axis : axes) {
      if (removed >> axis & 1) {
        break;
      }
      kept.push_back(axis);
    }
  }
  return result;
}

SmallVector<int64_t> hlo::spmd::shardShape(ArrayRef<int64_t> shape, const Sharding &sharding,
                                           const Mesh &mesh) {
  SmallVector<int64_t> local(shape);
  for (auto [size, axes] : llvm::zip(local, sharding.dims)) {
    size = shardSize(size, mesh.count(axes));
  }
  return local;
}

Type hlo::spmd::shardType(Type global, const Sharding &sharding, const Mesh &mesh) {
  auto array = dyn_cast<RankedTensorType>(global);
  return array ? RankedTensorType::get(shardShape(array.getShape(), sharding, mesh),
                                       array.getElementType(), array.getEncoding())
               : global;
}

int64_t hlo::spmd::shardBytes(Type global, const Sharding &sharding, const Mesh &mesh) {
  return byteSize(shardType(global, sharding, mesh)).value_or(0);
}

std::string hlo::spmd::toString(const Sharding &sharding, const Mesh &mesh) {
  std::string text = "[";
  for (auto [i, axes] : llvm::enumerate(sharding.dims)) {
    text += i ? ",{" : "{";
    for (size_t n = 0; n < axes.size();) {
      size_t end = n + 1;
      while (end < axes.size() && axes[end] == axes[end - 1] + 1 &&
             mesh.areOfOneName(axes[n], axes[end])) {
        ++end;
      }
      text += (n ? "," : "") + mesh.nameOf(axes[n], end - n);
      n = end;
    }
    text += "}";
  }
  return text + "]";
}

//===- Mesh.h - The partitions as a grid of axes --------------------------===//
//
// N partitions form a grid whose axes have prime sizes: 8 partitions are three axes of size 2. An
// axis of the text, such as "x"=4, is a run of these, so that a part of an axis is again a list of
// axes, and all shardings of a module speak of the same grid. A position in the grid is a number in
// mixed radix, axis 0 most significant. Which partition sits at a position follows from the order
// of devices in the text; usually position p is partition p.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_MESH_H
#define COMPILER_TRANSFORMS_SPMD_MESH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hlo::spmd {

/// The number of an axis of the grid.
using Axis = uint8_t;
/// Axes, the most significant first.
using AxisList = llvm::SmallVector<Axis, 4>;
/// Bit a stands for axis a.
using AxisSet = uint64_t;

inline AxisSet setOf(llvm::ArrayRef<Axis> axes) {
  AxisSet set = 0;
  for (Axis axis : axes) {
    set |= AxisSet(1) << axis;
  }
  return set;
}

class Mesh {
public:
  /// An axis of the text: axes first .. first + count - 1 of the grid.
  struct Named {
    std::string name;
    Axis first = 0, count = 0;
  };

  Mesh() = default;
  /// A grid with these axes. `partitionAt` gives the partition at each position; empty: the same.
  explicit Mesh(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> partitionAt = {});

  int64_t partitions() const { return number; }
  unsigned axes() const { return sizes.size(); }
  int64_t size(Axis axis) const { return sizes[axis]; }
  /// How many positions the axes tell apart: the product of their sizes.
  int64_t count(llvm::ArrayRef<Axis> axes) const;
  AxisSet all() const { return axes() ? ~AxisSet(0) >> (64 - axes()) : 0; }
  AxisList listOf(AxisSet set) const;

  int64_t partitionAt(int64_t position) const { return order.empty() ? position : order[position]; }
  int64_t positionOf(int64_t partition) const {
    return inverse.empty() ? partition : inverse[partition];
  }
  bool hasDefaultOrder() const { return order.empty(); }
  /// The coordinate of a position along an axis.
  int64_t coordinate(int64_t position, Axis axis) const {
    return position / strides[axis] % sizes[axis];
  }
  int64_t stride(Axis axis) const { return strides[axis]; }
  /// The number of the shard at a position: its coordinates along `axes` in mixed radix.
  int64_t shardAt(int64_t position, llvm::ArrayRef<Axis> axes) const;

  /// The partitions in groups whose members differ along `axes` alone, each in the order of
  /// shardAt.
  llvm::SmallVector<llvm::SmallVector<int64_t>> groups(llvm::ArrayRef<Axis> axes) const;

  /// The axes of the text, in order; empty if the text names none.
  std::vector<Named> named;
  /// The name of `count` axes from `first` on, which are of one axis of the text: "x", "x:(1)2" for
  /// a part of it; "a0" for an axis without a name.
  std::string nameOf(Axis first, int64_t count = 1) const;
  /// Whether two axes are parts of one axis of the text.
  bool areOfOneName(Axis a, Axis b) const;

private:
  int64_t number = 1;
  llvm::SmallVector<int64_t> sizes, strides, order, inverse;
};

/// The prime factors of a positive number in ascending order.
llvm::SmallVector<int64_t> primeFactors(int64_t number);

} // namespace hlo::spmd

#endif

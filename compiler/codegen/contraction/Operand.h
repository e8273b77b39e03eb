//===- Operand.h - Reading an operand of a contraction --------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_OPERAND_H
#define COMPILER_CODEGEN_CONTRACTION_OPERAND_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/contraction/Groups.h"

namespace hlo::codegen {

/// Weights in memory as panels: see PanelLayout.
struct StoredPanels {
  mlir::Value pointer;
  mlir::Type storage; ///< of an element
  int64_t panels, taps;
  int64_t steps; ///< groups along k of a tap
  int64_t width, group;
};

/// An operand of a dot or convolution. It is strided (read from memory at a base address and
/// strides) if only ops that relabel elements (transpose, broadcast, slice, reverse, reshape) or
/// widen them exactly (convert) stand between it and an argument of the kernel. Otherwise an
/// ElementEmitter computes each element.
class Operand {
public:
  /// `as`: the HLO element type that values are converted to after reading.
  Operand(KernelBuilder &kernel, mlir::Value value, mlir::Type as);

  /// Whether an element is one element of memory at a strided address.
  bool isStrided() const { return base && !(groups && !groups->inMemory); }
  /// The address of element {0, ..., 0}; null if the operand is computed.
  mlir::Value pointer() const { return base; }
  /// The element type in memory; of a computed operand, that of the largest array it reads.
  mlir::Type storage() const { return storageType; }
  /// Whether every element is exactly representable in bf16.
  bool holdsBf16() const;
  /// An integer type of at most 16 bits that represents every element; null if there is none.
  mlir::Type narrowInteger() const;
  /// The panels that the operand is computed from, if memory holds them. It is then computed, of
  /// row-major strides.
  const std::optional<StoredPanels> &panels() const { return storedPanels; }
  /// The stride of each dimension, in elements. Of a computed operand: the strides in the largest
  /// array that it reads, which only suggest an order of loops.
  llvm::ArrayRef<int64_t> strides() const { return dimStrides; }
  /// From now on an element is a group: `word` (32 bits) holds two or four consecutive elements
  /// along `dim`, and an index along `dim` counts groups. The last group is padded with zeros. If
  /// `flips`, the upper bit of each byte is flipped after the load. If the groups are contiguous
  /// and aligned in memory, the operand is strided in units of words.
  void groupAlong(unsigned dim, KGroup group, mlir::Type word, bool flips);
  /// Whether a load of `type` from memory gives the elements without a conversion.
  bool isStoredAs(mlir::Type type) const {
    return isStrided() && storageType == type && !(groups && groups->flips);
  }

  /// The element at an index per dimension, or one element per lane of the indices. Masked-off
  /// lanes are unspecified.
  Elem at(llvm::ArrayRef<Index> index, int64_t lanes, mlir::Value mask = {});
  /// The element `offset` elements after element {0, ..., 0}; strided operands only.
  Elem atOffset(const Index &offset, int64_t lanes, mlir::Value mask = {});
  /// How a vector of `lanes` groups is made of consecutive positions along `dim`, each with all of
  /// its groups, if one load reads them all: how many it holds, and over how many positions the
  /// load extends. {0, 0} if it cannot be made so.
  std::pair<int64_t, int64_t> positionsPerVector(unsigned dim, int64_t lanes) const;
  /// Such a vector, from the position at an index on.
  Elem positionsAt(llvm::ArrayRef<Index> index, unsigned dim, int64_t lanes);
  /// `lanes` consecutive elements from an address on; strided operands only.
  Elem atPointer(mlir::Value address, int64_t lanes, mlir::Value mask = {});

private:
  struct Groups {
    unsigned dim;
    int64_t size; ///< of `dim`, in elements
    KGroup group;
    mlir::Type word;
    bool flips, inMemory;
  };
  Elem elementAt(llvm::ArrayRef<Index> index, int64_t lanes, mlir::Value mask);
  Elem groupAt(llvm::ArrayRef<Index> index, int64_t lanes, mlir::Value mask);
  bool isRunOfGroups(llvm::ArrayRef<Index> index, int64_t lanes) const;
  bool isLoadOfGroups() const;
  Elem loadGroups(llvm::ArrayRef<Index> index, int64_t lanes);
  Elem groupsOf(mlir::Value run, int64_t lanes);
  Elem converted(mlir::Type from, const Elem &elem);

  KernelBuilder *kernel;
  mlir::Value value;
  mlir::Type as;
  mlir::Value base;
  mlir::Type storageType;
  /// The types that a loaded element is converted to, in order, before `as`.
  llvm::SmallVector<mlir::Type> conversions;
  llvm::SmallVector<int64_t> dimStrides;
  std::optional<Groups> groups;
  std::optional<StoredPanels> storedPanels;
};

} // namespace hlo::codegen

#endif

//===- Operand.h - Reading an operand of a contraction --------------------===//
#ifndef COMPILER_CODEGEN_DOT_OPERAND_H
#define COMPILER_CODEGEN_DOT_OPERAND_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/dot/Groups.h"

namespace hlo::codegen {

/// An operand of a dot or convolution. If it is an operand of the kernel, seen through ops that
/// only relabel it (transpose, broadcast, slice, reverse, reshape) or widen it exactly (convert),
/// it is read from memory with strides; else through an ElementEmitter.
class Operand {
public:
  /// `as`: the HLO element type that values are converted to after reading.
  Operand(KernelBuilder &kernel, mlir::Value value, mlir::Type as);

  /// Whether elements are read straight from memory.
  bool isStrided() const { return base && !(groups && !groups->inMemory); }
  /// Address of element {0, ..., 0}; set if strided.
  mlir::Value pointer() const { return base; }
  /// The element type in memory: of the largest array that is read if not strided.
  mlir::Type storage() const { return storageType; }
  /// Whether every element is a bf16, widened.
  bool holdsBf16() const;
  /// The integer type of at most 16 bits that holds every element, before it is widened; null if
  /// there is none.
  mlir::Type narrowInteger() const;
  /// Elements between neighbours of each dimension; if not strided, in the largest array that is
  /// read (a guess: good for the order of loops).
  llvm::ArrayRef<int64_t> strides() const { return dimStrides; }
  /// From now on only every step-th index of `dim` is addressed.
  void setStep(unsigned dim, int64_t step);
  /// From now on elements of type `word`, of 32 bits, stand for groups of neighbours along `dim`,
  /// and an index along it counts groups; zeros follow the last element. If `flips`, bytes are read
  /// with their upper bit flipped. Where memory holds such groups, it is as if it held words.
  void groupAlong(unsigned dim, KGroup group, mlir::Type word, bool flips);
  /// Whether memory holds the elements of type `type` as they are read.
  bool isStoredAs(mlir::Type type) const {
    return isStrided() && storageType == type && !(groups && groups->flips);
  }

  /// The element (or one per lane) at an index per dimension.
  Elem at(llvm::ArrayRef<Index> index, int64_t lanes, mlir::Value mask = {});
  /// The element at a distance from element {0, ..., 0}; strided operands only.
  Elem atOffset(const Index &offset, int64_t lanes, mlir::Value mask = {});
  /// The same at an address.
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
  Elem loadGroups(llvm::ArrayRef<Index> index, int64_t lanes);
  Elem converted(mlir::Type from, const Elem &elem);

  KernelBuilder *kernel;
  mlir::Value value;
  mlir::Type as;
  mlir::Value base;
  mlir::Type storageType;
  /// Types that the stored element goes through before `as`.
  llvm::SmallVector<mlir::Type> conversions;
  llvm::SmallVector<int64_t> dimStrides;
  llvm::SmallVector<int64_t> steps;
  std::optional<Groups> groups;
};

} // namespace hlo::codegen

#endif

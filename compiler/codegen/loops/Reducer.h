//===- Reducer.h - The computation of a reduction, ready to be emitted ----===//
#ifndef COMPILER_CODEGEN_LOOPS_REDUCER_H
#define COMPILER_CODEGEN_LOOPS_REDUCER_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Combines accumulators and elements by a computation of 2N parameters. A single associative op
/// (add, maximum, and, ...) may be applied in any order, to vectors, and accumulates narrow floats
/// in f32. Computations marked with `kAnyOrder` may be applied in any order too; all others are
/// applied in order, starting from the init value.
class Reducer {
public:
  /// `accumulatorElements`: HLO element type of each of the N accumulators.
  Reducer(hlo::ComputationOp computation, llvm::ArrayRef<mlir::Type> accumulatorElements);

  bool isAssociative() const { return associative; }
  /// Whether elements may be combined in any order, but there is none that changes nothing.
  bool isAnyOrder() const;
  /// The element that changes nothing, for associative reducers.
  Elem identity(Emission &e, int64_t lanes) const;
  /// acc (+) element, in that order.
  llvm::SmallVector<Elem> combine(Emission &e, llvm::ArrayRef<Elem> accumulators,
                                  llvm::ArrayRef<Elem> elements) const;
  /// Converts an input element of HLO type `from` to the type of accumulator n.
  Elem convertInput(Emission &e, mlir::Type from, unsigned n, const Elem &elem) const;
  /// Initial accumulators: the scalar value of each of `inits`.
  llvm::SmallVector<Elem> start(Emission &e, mlir::ValueRange inits, ElementEmitter &emitter) const;
  /// The value of accumulator n as a result of HLO type `to`.
  Elem finish(Emission &e, unsigned n, mlir::Type to, const Elem &elem) const;
  /// Accumulators rounded to their HLO types, for windows (analysis/Reduction.h says which).
  llvm::SmallVector<Elem> rounded(Emission &e, llvm::SmallVector<Elem> accumulators) const;
  /// Combines the lanes of one accumulator (associative reducers) by halves, down to `to` lanes; 1:
  /// a scalar.
  Elem combineLanes(Emission &e, Elem elem, int64_t to = 1) const;
  /// The same for all accumulators, if any order is allowed.
  llvm::SmallVector<Elem> combineLanes(Emission &e, llvm::SmallVector<Elem> elems,
                                       int64_t to = 1) const;

private:
  hlo::ComputationOp computation;
  llvm::SmallVector<mlir::Type> elements;
  mlir::Type combineElement;    ///< HLO type in which an associative op is applied
  mlir::Operation *associative; ///< the op; null: call the computation
};

} // namespace hlo::codegen

#endif

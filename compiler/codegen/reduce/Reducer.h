//===- Reducer.h - The computation of a reduction, ready to be emitted ----===//
#ifndef COMPILER_CODEGEN_REDUCE_REDUCER_H
#define COMPILER_CODEGEN_REDUCE_REDUCER_H

#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// Combines accumulators and elements by a computation of 2N parameters. A single
/// associative op (add, maximum, and, ...) may be applied in any order, to vectors, and accumulates
/// narrow floats in f32; other computations that are marked so (`kAnyOrder`) may too, and any other
/// is applied in order, from the init value on.
class Reducer {
public:
  /// `accumulatorElements`: HLO element type of each of the N accumulators.
  Reducer(hlo::ComputationOp computation, llvm::ArrayRef<mlir::Type> accumulatorElements);

  bool isAssociative() const { return !opcode.empty(); }
  /// Whether elements may be combined in any order, but there is none that changes nothing.
  bool isAnyOrder() const;
  llvm::StringRef getOpcode() const { return opcode; }
  /// The element that changes nothing, for associative reducers.
  Elem identity(Emission &e, int64_t lanes) const;
  /// acc (+) element, in that order.
  llvm::SmallVector<Elem> combine(Emission &e, llvm::ArrayRef<Elem> accumulators,
                                  llvm::ArrayRef<Elem> elements) const;
  /// Turns an input element of HLO type `from` into what accumulator n combines with.
  Elem convertInput(Emission &e, mlir::Type from, unsigned n, const Elem &elem) const;
  /// What the accumulators start from: a value of `init` for each, at no index.
  llvm::SmallVector<Elem> start(Emission &e, mlir::ValueRange inits, ElementEmitter &emitter) const;
  /// The value of accumulator n as result of HLO type `to`.
  Elem finish(Emission &e, unsigned n, mlir::Type to, const Elem &elem) const;
  /// Accumulators rounded to what the HLO types hold, for windows (analysis/Reduction.h says
  /// which).
  llvm::SmallVector<Elem> rounded(Emission &e, llvm::SmallVector<Elem> accumulators) const;
  /// Folds the lanes of one accumulator (associative reducers) to a scalar, or so many lanes, by
  /// halves.
  Elem combineLanes(Emission &e, Elem elem, int64_t to = 1) const;
  /// The same of all accumulators, where any order is allowed.
  llvm::SmallVector<Elem> combineLanes(Emission &e, llvm::SmallVector<Elem> elems,
                                       int64_t to = 1) const;

private:
  hlo::ComputationOp computation;
  llvm::SmallVector<mlir::Type> elements;
  mlir::Type combineElement; ///< HLO type in which an associative op is applied
  std::string opcode;        ///< e.g. "add"; empty: call the computation
};

} // namespace hlo::codegen

#endif

//===- EmitterImpl.h - State of an ElementEmitter, shared by its files ----===//
#ifndef COMPILER_CODEGEN_LOOPS_EMITTERIMPL_H
#define COMPILER_CODEGEN_LOOPS_EMITTERIMPL_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/Kernel.h"

namespace hlo::codegen {

/// A value that has been computed at an index.
struct MemoEntry {
  mlir::Value value;
  int64_t lanes;
  llvm::SmallVector<Index> index;
  mlir::Value mask;
  Elem elem;
};

/// State shared by an emitter and its scalar twin.
struct EmitterShared {
  llvm::SmallVector<MemoEntry> log;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 2>> byValue;
  llvm::DenseMap<mlir::Value, Elem> bound;
  /// Values that depend on a value bound to a vector: never computed as scalars.
  llvm::DenseSet<mlir::Value> vectorOnly;
  struct Memory {
    mlir::Value base;
    llvm::SmallVector<int64_t> strides;
    bool asStored = false;
  };
  llvm::DenseMap<mlir::Value, Memory> memory;
  /// For concatenates and pads whose indices all lie in one part along dimension `partDimension`:
  /// the number of the operand, or for a pad 0 (before the array), 1 (inside) or 2 (after it). See
  /// Segments.cpp.
  llvm::DenseMap<mlir::Operation *, size_t> part;
  size_t partDimension = 0;
  bool linear = false; ///< see ElementEmitter::useLinearIndex
};

struct ElementEmitter::Impl {
  KernelBuilder &kernel;
  int64_t lanes;
  std::shared_ptr<EmitterShared> shared;
  ElementEmitter *self = nullptr;
  std::unique_ptr<ElementEmitter> scalar; ///< the same with one lane, if lanes > 1

  Emission &e() { return kernel.e; }
  ElementEmitter &uniform() { return scalar ? *scalar : *self; }

  Elem compute(mlir::Value v, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem load(mlir::Type element, mlir::Value base, const Index &linear, mlir::Value mask,
            int64_t elements);
  std::optional<int64_t> columnOfRows(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> index);
  Elem operandElement(mlir::BlockArgument argument, llvm::ArrayRef<Index> index, mlir::Value mask);

  // One function per op that moves data; see the file with that name.
  Elem reshape(mlir::Value operand, mlir::ArrayRef<int64_t> toShape, llvm::ArrayRef<Index> index,
               mlir::Value mask);
  Elem pad(hlo::PadOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem concatenate(hlo::ConcatenateOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem dynamicSlice(hlo::DynamicSliceOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem dynamicUpdateSlice(hlo::DynamicUpdateSliceOp op, llvm::ArrayRef<Index> index,
                          mlir::Value mask);
  Elem gather(hlo::GatherOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem bitcastConvert(hlo::BitcastConvertOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem bitcastComplex(hlo::BitcastConvertOp op, llvm::ArrayRef<Index> index, mlir::Value mask);
  std::optional<Elem> unpackRun(hlo::BitcastConvertOp op, const Index &first);
  Elem iota(hlo::IotaOp op, llvm::ArrayRef<Index> index);
  Elem reduce(mlir::OpResult result, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem reduceWindow(mlir::OpResult result, llvm::ArrayRef<Index> index, mlir::Value mask);
  Elem map(hlo::MapOp op, unsigned resultNumber, llvm::ArrayRef<Index> index, mlir::Value mask);
  /// Computes an expensive scalar function together with others of its kind, which are memoized;
  /// null if there are none.
  Elem functionInGroup(mlir::Operation *op);
  Elem smallDot(hlo::DotOp op, llvm::ArrayRef<Index> index, mlir::Value mask);

  /// A start index (scalar array), clamped to [0, last].
  mlir::Value clampedStart(mlir::Value start, int64_t last, mlir::Value mask);
  /// Runs `then` under `condition` (i1 or a mask of this emitter's lanes); the result is
  /// `otherwise` elsewhere.
  Elem guarded(mlir::Value condition, mlir::Value mask, mlir::Type element,
               llvm::function_ref<Elem(mlir::Value)> then, const Elem &otherwise);
  void memoize(mlir::Value v, llvm::ArrayRef<Index> index, mlir::Value mask, const Elem &elem);
};

/// Tests an index for lo <= index < hi: a scalar i1, or one bit per lane.
mlir::Value indexInRange(Emission &e, const Index &index, int64_t lo, int64_t hi, int64_t lanes);

/// Converts elements to a flat list of their parts, and back.
llvm::SmallVector<mlir::Value> flattenElems(llvm::ArrayRef<Elem> elems);
llvm::SmallVector<Elem> unflattenElems(mlir::ValueRange values, llvm::ArrayRef<Elem> like);

} // namespace hlo::codegen

#endif

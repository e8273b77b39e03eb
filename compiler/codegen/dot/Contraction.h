//===- Contraction.h - The common form of dots and convolutions -----------===//
//
// out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, n, k]
//
// where batch, m, n and k are groups of zero or more dimensions each. A dot becomes
// a contraction by sorting its dimensions into the four groups and merging those
// that are adjacent in memory. A convolution becomes one whose lhs is read at a
// position computed from m (output pixel) and k (tap, input feature); the padding
// reads as zero.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_CONTRACTION_H
#define COMPILER_CODEGEN_DOT_CONTRACTION_H

#include "compiler/codegen/dot/Epilogue.h"
#include "compiler/codegen/dot/Operand.h"

#include <functional>

namespace hlo::codegen {

/// Which group's last dimension has stride 1 in memory.
enum class UnitStride { None, Free, K };

/// One operand: "free" is m for the lhs and n for the rhs.
struct ContractionSide {
  using Indices = llvm::ArrayRef<Index>;
  /// The element at one index per dimension of each group, in the type of accumulation. The
  /// indices may have lanes along the last free or the last k dimension. Masked-off lanes are
  /// unspecified.
  std::function<Elem(Indices batch, Indices free, Indices k, int64_t lanes, mlir::Value mask)> read;
  UnitStride unit = UnitStride::None;
  bool holdsBf16 = false;   ///< every element is exactly representable in bf16
  mlir::Type narrowInteger; ///< an integer type of at most 16 bits that represents every element,
                            ///< or null
  /// The element type in memory (of the largest array read, if the side is computed); null if
  /// unknown.
  mlir::Type storage;
  /// Non-null if the side is read from memory at the strides below (in elements, one per dimension
  /// of the group).
  std::shared_ptr<Operand> strided;
  llvm::SmallVector<int64_t> batchStrides, freeStrides, kStrides;
  /// The address of an element (that of lane 0); strided sides only.
  mlir::Value address(Emission &e, Indices batch, Indices free, Indices k) const;
};

/// What the blocked form multiplies by.
enum class BlockedBy {
  Elements,
  Groups, ///< the machine's best product of vectors (chooseProduct)
  Matrix  ///< its matrix registers (matrixProduct)
};

struct Contraction {
  KernelBuilder &kernel;
  mlir::Operation *hero;
  mlir::Type element;                        ///< the HLO type in which products are summed
  llvm::SmallVector<int64_t> batch, m, n, k; ///< sizes of the dimensions of each group
  ContractionSide lhs, rhs;
  /// Strides of the result, in elements.
  llvm::SmallVector<int64_t> outBatch, outM, outN;
  using Indices = llvm::ArrayRef<Index>;
  /// One index per dimension of the hero's result.
  std::function<llvm::SmallVector<Index>(Indices batch, Indices m, Indices n, int64_t lanes)>
      outIndex;

  BlockedBy blockedBy = BlockedBy::Elements; ///< set by emitForm

  int64_t batchSize() const { return llvm::product_of(batch); }
  int64_t mSize() const { return llvm::product_of(m); }
  int64_t nSize() const { return llvm::product_of(n); }
  int64_t kSize() const { return llvm::product_of(k); }
};

/// Splits a row-major linear index over dimensions of these sizes into one index per dimension. The
/// last of them gets the lanes.
llvm::SmallVector<Index> splitIndex(Emission &e, const Index &linear, llvm::ArrayRef<int64_t> sizes,
                                    int64_t lanes);
/// The stride of a row-major linear index over the dimensions; nullopt if they are not contiguous
/// relative to one another.
std::optional<int64_t> linearStride(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
/// Exchanges lhs and rhs, m and n: the transposed product.
void swapSides(Contraction &c);
/// The lanes of the narrowest vector that holds `count` elements of `c`: a power of two, at most
/// the lanes of the target's widest vector.
int64_t lanesFor(const Contraction &c, int64_t count);

/// The HLO element type in which products of types `lhs` and `rhs` are summed for a result of type
/// `result`: f32 for floats of at most 32 bits, 32-bit integers for narrower ones.
mlir::Type accumulationType(mlir::Type lhs, mlir::Type rhs, mlir::Type result);
/// acc + a * b, in the HLO type `element`; pred: acc | (a & b).
Elem multiplyAdd(Emission &e, mlir::Type element, const Elem &acc, const Elem &a, const Elem &b);
/// a + b.
Elem addElems(Emission &e, mlir::Type element, const Elem &a, const Elem &b);
/// The horizontal sums of `vectors`: lane i of the result is the sum of all lanes of vectors[i].
/// Their number is a power of two, at most the lanes of each. `element` is not complex. Each sum
/// adds the upper half of the lanes to the lower half until one is left, so that its rounding does
/// not depend on the other vectors.
mlir::Value addLanes(Emission &e, mlir::Type element, llvm::SmallVector<mlir::Value> vectors);
/// condition ? value : 0; a null condition means true.
Elem zeroUnless(Emission &e, mlir::Type element, mlir::Value condition, const Elem &value);

/// The dimensions of a dot, or of a convolution without a window, sorted into the four groups.
struct DimensionGroups {
  struct Dim {
    int64_t size;
    int64_t lhs = -1, rhs = -1, out = -1; ///< its number in each array; -1 if absent there
  };
  llvm::SmallVector<Dim> batch, m, n, k;
};
/// Moves the non-contiguous free dimensions of one side to the batch if the other side has few
/// rows: [a,d] x [c,d,b] becomes c products that share the lhs. Vectors then never cross a gap in
/// memory.
void separateRuns(KernelBuilder &kernel, mlir::Operation *hero, mlir::Type element,
                  const Operand &lhs, const Operand &rhs, DimensionGroups &groups);
/// The contraction of `lhs` and `rhs`, with adjacent dimensions merged.
Contraction makeContraction(KernelBuilder &kernel, mlir::Operation *hero, mlir::Type element,
                            std::shared_ptr<Operand> lhs, std::shared_ptr<Operand> rhs,
                            DimensionGroups groups);

/// Picks a form for the contraction (Forms.h) and fills the kernel's body.
void emitContraction(Contraction &c, Epilogue &epilogue);

// The forms. Each sets kernel.tasks and emits the loop over tasks.

/// A loop nest per output vector; takes every type and every shape.
void emitNest(Contraction &c, Epilogue &epilogue);
/// Cache blocks, packed panels and register tiles; takes every type but pred.
void emitBlocked(Contraction &c, Epilogue &epilogue);
/// Lanes along k: for at most 16 rows, if the rhs is contiguous along k.
void emitInner(Contraction &c, Epilogue &epilogue);
/// Lanes along the few rows, for a rhs that steps by one along k and rows that are neighbours in
/// the result.
void emitBroadcast(Contraction &c, Epilogue &epilogue);
/// Lanes along the batch, where both sides step by one along it.
void emitBatchLanes(Contraction &c, Epilogue &epilogue);
/// One sum per batch index, of sides that step by one along different dimensions, or both along the
/// batch.
void emitTrace(Contraction &c, Epilogue &epilogue);
/// Bytes of a rhs that is streamed for few rows, at least. A smaller one stays in L2, where tiles
/// do better.
inline constexpr int64_t kStreamedBytes = 512 << 10;
/// Sums in a buffer, the rhs read once and in order: for at most 16 rows and a large rhs that is
/// contiguous along n.
void emitStream(Contraction &c, Epilogue &epilogue);

/// Gives the kernel `tasks` tasks and emits the loop over those of a call, with `body(task)`.
void emitTasks(KernelBuilder &kernel, int64_t tasks, llvm::function_ref<void(mlir::Value)> body);

/// Emits loops that run `body(item)` for each of `items` items, `perTask` of them per task.
void emitItems(KernelBuilder &kernel, int64_t items, int64_t perTask,
               llvm::function_ref<void(mlir::Value)> body);

} // namespace hlo::codegen

#endif

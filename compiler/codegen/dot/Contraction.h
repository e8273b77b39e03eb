//===- Contraction.h - The common form of dots and convolutions -----------===//
//
// out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, n, k]
//
// where batch, m, n and k each stand for zero or more dimensions. A dot is one
// after its dimensions are sorted into the four groups and merged where they are
// adjacent in memory; a convolution is one whose lhs is read at positions
// computed from m (output pixel) and k (tap, input feature), zero in the padding.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_CONTRACTION_H
#define COMPILER_CODEGEN_DOT_CONTRACTION_H

#include "compiler/codegen/dot/Epilogue.h"
#include "compiler/codegen/dot/Operand.h"

#include <functional>

namespace hlo::codegen {

/// Which dimension of a side steps by one element in memory.
enum class UnitStride { None, Free, K };

/// One operand: "free" is m for the lhs and n for the rhs.
struct ContractionSide {
  using Indices = llvm::ArrayRef<Index>;
  /// The elements at indices of the groups' dimensions, in the type of accumulation. Lanes run
  /// along the last free or the last k dimension. A lane that is masked off has an unspecified
  /// value.
  std::function<Elem(Indices batch, Indices free, Indices k, int64_t lanes, mlir::Value mask)> read;
  UnitStride unit = UnitStride::None;
  bool holdsBf16 = false;   ///< every element is a bf16, widened
  mlir::Type narrowInteger; ///< every element is an integer of this type, of at most 16 bits,
                            ///< widened; or null
  /// In memory; of the largest array that is read if it is computed; null if unknown.
  mlir::Type storage;
  /// Set if elements are in memory at these strides (in elements), one per dimension of the group.
  std::shared_ptr<Operand> strided;
  llvm::SmallVector<int64_t> batchStrides, freeStrides, kStrides;
  /// The address of an element (of lane 0) if strided.
  mlir::Value address(Emission &e, Indices batch, Indices free, Indices k) const;
};

struct Contraction {
  KernelBuilder &kernel;
  mlir::Operation *hero;
  mlir::Type element;                        ///< HLO type in which products are summed
  llvm::SmallVector<int64_t> batch, m, n, k; ///< sizes of the dimensions of each group
  ContractionSide lhs, rhs;
  /// Distance between elements of the result along each dimension.
  llvm::SmallVector<int64_t> outBatch, outM, outN;
  using Indices = llvm::ArrayRef<Index>;
  /// The index in the hero's result.
  std::function<llvm::SmallVector<Index>(Indices batch, Indices m, Indices n, int64_t lanes)>
      outIndex;

  int64_t batchSize() const { return llvm::product_of(batch); }
  int64_t mSize() const { return llvm::product_of(m); }
  int64_t nSize() const { return llvm::product_of(n); }
  int64_t kSize() const { return llvm::product_of(k); }
};

/// A linear index over dimensions of these sizes, as one index per dimension; lanes go along the
/// last.
llvm::SmallVector<Index> splitIndex(Emission &e, const Index &linear, llvm::ArrayRef<int64_t> sizes,
                                    int64_t lanes);
/// The stride of a linear index over the dimensions, if it has one.
std::optional<int64_t> linearStride(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> strides);
/// Exchanges the roles of the two sides (of m and n).
void swapSides(Contraction &c);
/// The smallest number of lanes (a power of two) that holds `count` elements, at most what the
/// target has for the elements of `c`.
int64_t lanesFor(const Contraction &c, int64_t count);

/// The HLO element type in which products of `lhs` and `rhs` are summed for a result of type
/// `result`.
mlir::Type accumulationType(mlir::Type lhs, mlir::Type rhs, mlir::Type result);
/// acc + a * b, in the HLO type `element`; pred: acc | (a & b).
Elem multiplyAdd(Emission &e, mlir::Type element, const Elem &acc, const Elem &a, const Elem &b);
/// a + b.
Elem addElems(Emission &e, mlir::Type element, const Elem &a, const Elem &b);
/// One vector whose lane i is the sum of all lanes of vectors[i]; as many lanes as there are
/// vectors, a power of two. The lanes of a sum are added halves first, whatever stands next to it.
/// `element` is not complex.
mlir::Value addLanes(Emission &e, mlir::Type element, llvm::SmallVector<mlir::Value> vectors);
/// condition ? value : 0; a null condition means true.
Elem zeroUnless(Emission &e, mlir::Type element, mlir::Value condition, const Elem &value);

/// For dots and for convolutions without a window: dimension numbers sorted into groups.
struct DimensionGroups {
  struct Dim {
    int64_t size;
    int64_t lhs = -1, rhs = -1, out = -1; ///< dimension of each array, -1 where absent
  };
  llvm::SmallVector<Dim> batch, m, n, k;
};
/// Free dimensions of a side that lie in memory as runs apart from each other become dimensions of
/// the batch, all but the runs themselves, where the other side is small: [a,d] x [c,d,b] is c
/// products with one lhs. No vector then reaches from one run into the next.
void separateRuns(KernelBuilder &kernel, mlir::Operation *hero, mlir::Type element,
                  const Operand &lhs, const Operand &rhs, DimensionGroups &groups);
/// Merges adjacent dimensions and makes the contraction of `lhs` and `rhs`.
Contraction makeContraction(KernelBuilder &kernel, mlir::Operation *hero, mlir::Type element,
                            std::shared_ptr<Operand> lhs, std::shared_ptr<Operand> rhs,
                            DimensionGroups groups);

/// Picks a form for the contraction and fills the kernel's body.
void emitContraction(Contraction &c, Epilogue &epilogue);

// The forms. Each sets kernel.tasks and emits the loop over tasks.

/// A loop nest per output vector: every type and every shape.
void emitNest(Contraction &c, Epilogue &epilogue);
/// Cache blocks, packed panels and register tiles; no pred.
void emitBlocked(Contraction &c, Epilogue &epilogue);
/// Lanes along k, for few rows or few columns where both sides step by one along k.
void emitInner(Contraction &c, Epilogue &epilogue);
/// Whether that form takes this contraction.
bool canUseInner(const Contraction &c);
/// Lanes along the few rows, for a rhs that steps by one along k and rows that are neighbours in
/// the result.
void emitBroadcast(Contraction &c, Epilogue &epilogue);
/// Whether that form takes this contraction.
bool canBroadcast(const Contraction &c);
/// Lanes along the batch, where both sides step by one along it.
void emitBatchLanes(Contraction &c, Epilogue &epilogue);
/// Whether that form takes this contraction.
bool canUseBatchLanes(const Contraction &c);
/// One sum per batch index, of sides that step by one along different dimensions, or both along the
/// batch.
void emitTrace(Contraction &c, Epilogue &epilogue);
/// Whether that form takes this contraction.
bool canTrace(const Contraction &c);
/// Bytes of a rhs that is streamed for few rows, at least. A smaller one stays in L2, where tiles
/// do better.
inline constexpr int64_t kStreamedBytes = 512 << 10;
/// Sums in a buffer, the rhs read once in order: for few rows and a large rhs.
void emitStream(Contraction &c, Epilogue &epilogue);
/// Whether that form takes this contraction.
bool canStream(const Contraction &c);

/// Runs `body(task)` for the kernel's tasks.
void emitTasks(KernelBuilder &kernel, int64_t tasks, llvm::function_ref<void(mlir::Value)> body);

/// Runs `body(item)` for so many items, `perTask` of them in each of the kernel's tasks.
void emitItems(KernelBuilder &kernel, int64_t items, int64_t perTask,
               llvm::function_ref<void(mlir::Value)> body);

} // namespace hlo::codegen

#endif

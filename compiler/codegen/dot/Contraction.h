//===- Contraction.h - A problem as the forms of dots take it -------------===//
//
// out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, n, k]
//
// A Problem whose dimensions of size 1 are gone, and whose dimensions that are adjacent in every
// array are merged. The padding of a convolution reads as zero.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_CONTRACTION_H
#define COMPILER_CODEGEN_DOT_CONTRACTION_H

#include "compiler/codegen/contraction/Arithmetic.h"
#include "compiler/codegen/contraction/Epilogue.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/Problem.h"

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
  /// The panels from which a computed side may be read, with k and the free dimension in order.
  std::optional<StoredPanels> panels;
  /// Non-null if the side is narrow integers with scales, at the strides below (in integers); scale
  /// and offset are the same in aligned runs of `scaledRun` elements of k, 0 for all of k.
  std::shared_ptr<ScaledOperand> scaled;
  int64_t scaledRun = 0;
  /// Scale and offset of an element, or of one for each lane.
  std::function<ScaledOperand::Coefficients(Indices batch, Indices free, Indices k, int64_t lanes)>
      coefficients;
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

/// Whether memory holds a side in the type of accumulation.
bool isStoredAsSummed(const Contraction &c, const ContractionSide &side);
/// Exchanges the roles of the two sides (of m and n).
void swapSides(Contraction &c);
/// The lanes of the narrowest vector that holds `count` elements of `c`: a power of two, at most
/// the lanes of the target's widest vector.
int64_t lanesFor(const Contraction &c, int64_t count);

/// Moves the non-contiguous free dimensions of one side to the batch if the other side has few
/// rows: [a,d] x [c,d,b] becomes c products that share the lhs. Vectors then never cross a gap in
/// memory.
void separateRuns(KernelBuilder &kernel, mlir::Type element, Problem &problem);
/// The contraction for a problem: the form's view of it, with adjacent dimensions merged.
Contraction makeContraction(KernelBuilder &kernel, mlir::Operation *hero, mlir::Type element,
                            Problem problem);

/// Picks a form for the contraction (Forms.h) and fills the kernel's body.
void emitContraction(Contraction &c, Epilogue &epilogue);

// The forms. Each sets kernel.tasks and emits the loop over tasks.

/// A loop nest per output vector; takes every type and every shape.
void emitNest(Contraction &c, Epilogue &epilogue);
/// Cache blocks, packed panels and register tiles; takes every type but pred.
void emitBlocked(Contraction &c, Epilogue &epilogue);
/// Lanes along k: for at most 16 rows, if the rhs is contiguous along k.
void emitInner(Contraction &c, Epilogue &epilogue);
/// Lanes along the batch, where both sides step by one along it.
void emitBatchLanes(Contraction &c, Epilogue &epilogue);
/// One sum per batch index, of sides that step by one along different dimensions, or both along the
/// batch.
void emitTrace(Contraction &c, Epilogue &epilogue);
/// The least bytes of a rhs that is streamed for few rows. A smaller one stays in L2, half of 1
/// MiB, where tiles do better.
inline constexpr int64_t kStreamedBytes = 512 << 10;
/// Sums in a buffer, the rhs read once and in order: for at most 16 rows and a large rhs that is
/// contiguous along n.
void emitStream(Contraction &c, Epilogue &epilogue);
/// Inner and stream for a rhs of narrow integers, whose products are scaled a block at a time.
void emitScaledInner(Contraction &c, Epilogue &epilogue);
void emitScaledStream(Contraction &c, Epilogue &epilogue);
/// The same two with rows quantized to bytes.
void emitByteInner(Contraction &c, Epilogue &epilogue);
void emitByteStream(Contraction &c, Epilogue &epilogue);

} // namespace hlo::codegen

#endif

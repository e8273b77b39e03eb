//===- SortPlan.h - The plan of a sort ------------------------------------===//
//
// Used by the fusion pass, which gives a kernel its scratch memory, and by the emitter: both must
// see the same plan, so it depends on the op and the machine alone.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PLANS_SORTPLAN_H
#define COMPILER_PLANS_SORTPLAN_H

#include "compiler/analysis/SortOrder.h"
#include "compiler/machine/Machine.h"

namespace hlo {

/// A sort sees its arrays as [outer, n, inner] and sorts along n.
///
/// By keys: each element becomes a *record* of one or more unsigned integers (words), least
/// significant first. It holds all keys and, below them, the position in the row. So a sort of
/// records is stable, and the positions say how to permute the other operands. If the only operand
/// is its own key, records are keys alone.
struct SortPlan {
  enum class Method {
    Merge,   ///< any comparator: stable merge sort of one row
    Radix,   ///< records, least significant digit first; one row at a time
    Network, ///< records, a sorting network over `lanes` rows in vectors
    Select   ///< the first `keep` records only: a buffer of candidates below a falling threshold
  };
  Method method = Method::Merge;
  int64_t outer = 1, n = 1, inner = 1;
  int64_t keep = 0; ///< number of elements kept per row; n except for topk

  llvm::SmallVector<SortKey, 2> keys;
  bool keysOnly = false;
  struct Word {
    unsigned bits;    ///< 8, 16, 32 or 64
    unsigned keyFrom; ///< bits below are the position
    unsigned keyTo;   ///< bits from here on are unused
  };
  struct Place {
    unsigned word, shift;
  };
  llvm::SmallVector<Word, 2> words;
  llvm::SmallVector<Place, 2> places; ///< of each key
  Place position{0, 0};               ///< of the position, if not keysOnly
  unsigned positionBits = 0;

  int64_t lanes = 1;     ///< rows sorted together
  int64_t rowStride = 0; ///< distance of two rows in scratch memory, in elements (Radix)
  int64_t blocks = 1;    ///< groups of `lanes` rows
  int64_t blocksPerTask = 1;
  int64_t taskBytes = 0;  ///< scratch memory of a task
  unsigned digitBits = 8; ///< Radix: bits per digit
  /// Radix: the result serves as the row's second buffer; its elements are as large as records.
  bool inResult = false;
  /// Radix of one long row: tasks handle pieces of `chunk` records; 0: the row is not split. If it
  /// is, taskBytes is the scratch of all tasks together.
  int64_t chunks = 0, chunk = 0;
  /// Buckets of a row that is split: 2^11, so that of 32-bit keys two digits of 11 bits remain
  /// within a bucket. Their counters are 8 KiB per chunk, which stay in L1.
  static constexpr int64_t kBuckets = 2048;
  bool onStack = true;
  /// Select: number of records that are collected before they are sorted and the best kept; 0: each
  /// record is inserted at once.
  int64_t candidates = 0;
  /// Select: elements compared with the threshold before one branch: a few vectors, so that the
  /// branch is a small part, and yet almost always not taken.
  static constexpr int64_t kChunk = 64;

  int64_t tasks() const { return llvm::divideCeil(blocks, blocksPerTask); }
  /// Bytes of the extra result that is the kernel's scratch memory; 0 if the stack is used.
  int64_t scratchBytes() const { return onStack ? 0 : tasks() * taskBytes; }
  int64_t recordBytes() const;
  /// Select: bytes of one of the two buffers that hold one word of each candidate.
  int64_t bufferBytes(const Word &word) const;
};

/// One way to sort.
struct SortCandidate {
  SortPlan plan;
  double cycles; ///< of all rows, modelled
};

/// The ways to sort, the best one first. One, if nothing else is possible or if there is nothing to
/// sort. A null `comparator` is looked up in the op's module.
std::vector<SortCandidate> sortCandidates(const Machine &machine, SortOp op,
                                          ComputationOp comparator = {});
/// The ways of a topk along the last dimension, the best one first.
std::vector<SortCandidate> topkCandidates(const Machine &machine, TopkOp op);
/// The best of them.
SortPlan planSort(const Machine &machine, SortOp op, ComputationOp comparator = {});
SortPlan planTopk(const Machine &machine, TopkOp op);

} // namespace hlo

#endif

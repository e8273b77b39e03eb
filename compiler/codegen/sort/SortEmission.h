//===- SortEmission.h - State of a sort kernel, shared by its files -------===//
#ifndef COMPILER_CODEGEN_SORT_SORTEMISSION_H
#define COMPILER_CODEGEN_SORT_SORTEMISSION_H

#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/elementwise/Num.h"
#include "compiler/plans/SortPlan.h"

namespace hlo::codegen {

/// Position of elements in arrays [outer, n, inner]: one, or one per lane of `i` or of `c`.
struct RowPosition {
  mlir::Value outer;
  Index i, c;
  int64_t lanes = 1;
  mlir::Value mask; ///< null: all lanes
};

/// Words of records in memory: word w of element i of row r is at words[w] + i * iStride + r *
/// rowStride.
struct RecordBuffer {
  llvm::SmallVector<mlir::Value, 2> words;
  int64_t iStride = 1, rowStride = 0;
};

/// The plan of the kernel: the best candidate, or the one that is asked for. The kernel's result
/// for scratch memory, if any, is that of the best one; others use the stack.
SortPlan choosePlan(KernelBuilder &kernel, llvm::ArrayRef<SortCandidate> candidates);

struct SortEmission {
  KernelBuilder &kernel;
  Emission &e;
  const SortPlan &plan;
  mlir::ValueRange inputs;
  /// Pointers to the results: of each input, then of the positions; null: not wanted.
  llvm::SmallVector<mlir::Value> results;
  ComputationOp comparator;   ///< null for topk
  int64_t vectorLanes;        ///< lanes of loops along rows
  mlir::Type positionElement; ///< of the result with the positions, which follows those of the
                              ///< inputs; null if there is none

  SortEmission(KernelBuilder &kernel, const SortPlan &plan, mlir::ValueRange inputs,
               ComputationOp comparator);

  // Records.cpp: elements <-> records.
  /// The element of an operand, and its bits in memory (no complex types).
  Elem elementAt(unsigned operand, const RowPosition &at);
  Num rawAt(unsigned operand, const RowPosition &at);
  /// The unsigned integer with the order of key `k`; it has keys[k].bits() bits.
  Num keyAt(size_t k, const RowPosition &at);
  /// The element's bits in memory, reconstructed from a key.
  Num rawOfKey(const SortKey &key, Num bits);
  llvm::SmallVector<Num> recordAt(const RowPosition &at);
  Num keyOfRecord(size_t k, llvm::ArrayRef<Num> record);
  /// Stores the results of position `at` from its record.
  void storeResults(const RowPosition &at, llvm::ArrayRef<Num> record);
  llvm::SmallVector<Num> loadRecord(const RecordBuffer &buffer, const Index &i, const Index &row,
                                    int64_t lanes, mlir::Value mask);
  void storeRecord(const RecordBuffer &buffer, const Index &i, const Index &row,
                   llvm::ArrayRef<Num> record, mlir::Value mask);
  mlir::Type wordType(size_t w, int64_t lanes = 1);

  /// The key of a value of the key's type.
  Num orderedKey(const SortKey &key, const Elem &value);
  void storeRaw(const RowPosition &at, Num raw);

  // Canonical.cpp: keys alone, if elements may differ from their reconstruction (-0, NaN).
  void prepareSpecial();
  /// Records at run time whether elements differ from their reconstruction.
  void noteSpecial(const RowPosition &at, llvm::ArrayRef<Num> record);
  void clearSpecial();
  /// i1: whether any differed since clearSpecial(); null if that is impossible.
  mlir::Value anySpecial();
  /// Writes the elements of one row (uniform outer and c) whose keys are constants, in their order.
  void restoreSpecial(const RowPosition &row);

  // Radix.cpp
  void prepareRadix();
  /// Sorts `count` records (i64) of a row by their keys, stably; returns the buffers that hold the
  /// result.
  llvm::SmallVector<mlir::Value, 2> radixSort(mlir::ValueRange from, mlir::ValueRange other,
                                              mlir::Value count);

  // Network.cpp
  /// Sorts the plan.lanes rows of an interleaved buffer.
  void networkSort(const RecordBuffer &buffer);

private:
  void storePosition(const RowPosition &at, mlir::Value position);
  ElementEmitter &emitterOf(int64_t lanes);
  llvm::SmallVector<Index> indexOf(const RowPosition &at);
  Index linearOf(const RowPosition &at, int64_t length);

  llvm::SmallVector<mlir::Value, 4> histograms;                   ///< per word, one table per digit
  llvm::SmallVector<std::pair<mlir::Type, mlir::Value>, 2> notes; ///< stack variables, by type
  std::map<int64_t, std::unique_ptr<ElementEmitter>> emitters;
};

/// Runs body(block, scratch) for the blocks of the tasks in this call of the kernel; scratch is
/// `stack` if the plan fits on the stack.
void forEachBlock(KernelBuilder &kernel, const SortPlan &plan, mlir::Value stack,
                  llvm::function_ref<void(mlir::Value block, mlir::Value scratch)> body);
/// The stack memory of a task; null if the plan needs more.
mlir::Value allocateStack(Emission &e, const SortPlan &plan);
/// Sorts blocks of rows by radix sort or network.
void emitSortByKeys(SortEmission &sort);

/// Sorts one long row in chunks.
void emitPartitionSort(SortEmission &sort);

/// Prefix sums of counters in lanes: `before` plus the sum of the lanes before each; and `before`
/// plus the sum of all lanes, in all lanes.
std::pair<Num, Num> runningSums(Num counts, Num before);

/// Sorts rows by any comparator. forEachBlock runs its argument with (row, scratch of its task).
void emitMergeSort(
    KernelBuilder &kernel, SortOp op, const SortPlan &plan,
    llvm::function_ref<void(llvm::function_ref<void(mlir::Value, mlir::Value)>)> forEachBlock);

/// base[index] for integers; contiguous or a gather.
Num loadWords(Emission &e, mlir::Type word, mlir::Value base, const Index &index, int64_t lanes,
              mlir::Value mask = {});
void storeWords(Emission &e, Num value, mlir::Value base, const Index &index,
                mlir::Value mask = {});

} // namespace hlo::codegen

#endif

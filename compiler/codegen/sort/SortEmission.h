//===- SortEmission.h - State of a sort kernel, shared by its files -------===//
#ifndef COMPILER_CODEGEN_SORT_SORTEMISSION_H
#define COMPILER_CODEGEN_SORT_SORTEMISSION_H

#include "compiler/analysis/SortPlan.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/elementwise/Num.h"

namespace hlo::codegen {

/// Where elements are in arrays seen as [outer, n, inner]: one, or one per lane of `i` or of `c`.
struct RowPosition {
  mlir::Value outer;
  Index i, c;
  int64_t lanes = 1;
  mlir::Value mask; ///< null: all lanes
};

/// Words of records in memory: element (i, row) of word w is at words[w] + i * iStride + row *
/// rowStride.
struct RecordBuffer {
  llvm::SmallVector<mlir::Value, 2> words;
  int64_t iStride = 1, rowStride = 0;
};

struct SortEmission {
  KernelBuilder &kernel;
  Emission &e;
  const SortPlan &plan;
  mlir::ValueRange inputs;
  /// Pointers, of each input and of the positions; null: not wanted.
  llvm::SmallVector<mlir::Value> results;
  ComputationOp comparator;   ///< null for topk
  int64_t vectorLanes;        ///< of loops along rows
  mlir::Type positionElement; ///< of the result behind those of the inputs, the positions; null if
                              ///< there is none

  SortEmission(KernelBuilder &kernel, const SortPlan &plan, mlir::ValueRange inputs,
               ComputationOp comparator);

  // Records.cpp: elements <-> records.
  /// The element of an operand, and its bits in memory (no complex types).
  Elem elementAt(unsigned operand, const RowPosition &at);
  Num rawAt(unsigned operand, const RowPosition &at);
  /// The unsigned integer with the order of key `k`, of keys[k].bits() bits.
  Num keyAt(size_t k, const RowPosition &at);
  /// The bits in memory of the element that a key stands for.
  Num rawOfKey(const SortKey &key, Num bits);
  llvm::SmallVector<Num> recordAt(const RowPosition &at);
  Num keyOfRecord(size_t k, llvm::ArrayRef<Num> record);
  /// Stores the results of position `at`, given its record.
  void storeResults(const RowPosition &at, llvm::ArrayRef<Num> record);
  llvm::SmallVector<Num> loadRecord(const RecordBuffer &buffer, const Index &i, const Index &row,
                                    int64_t lanes, mlir::Value mask);
  void storeRecord(const RecordBuffer &buffer, const Index &i, const Index &row,
                   llvm::ArrayRef<Num> record, mlir::Value mask);
  mlir::Type wordType(size_t w, int64_t lanes = 1);

  /// The key of a value of the key's type.
  Num orderedKey(const SortKey &key, const Elem &value);
  void storeRaw(const RowPosition &at, Num raw);

  // Canonical.cpp: keys alone, where some elements are not what their keys say (-0, NaN).
  void prepareSpecial();
  /// Notes at run time whether elements differ from what their keys stand for.
  void noteSpecial(const RowPosition &at, llvm::ArrayRef<Num> record);
  void clearSpecial();
  /// i1: whether any did since clearSpecial(); null if none ever does.
  mlir::Value anySpecial();
  /// Writes the elements of one row (uniform outer and c) whose keys are constants, in their order.
  void restoreSpecial(const RowPosition &row);

  // Radix.cpp
  void prepareRadix();
  /// Sorts `count` records (i64) of a row by their keys, stably; the buffers that hold them then.
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

  llvm::SmallVector<mlir::Value, 4> histograms; ///< of each word, one table for each digit
  llvm::SmallVector<std::pair<mlir::Type, mlir::Value>, 2> notes; ///< slots on the stack, by type
  std::map<int64_t, std::unique_ptr<ElementEmitter>> emitters;
};

/// Runs body(block, scratch) for the blocks of the tasks that this call of the kernel runs; scratch
/// is `stack` if the plan needs no more.
void forEachBlock(KernelBuilder &kernel, const SortPlan &plan, mlir::Value stack,
                  llvm::function_ref<void(mlir::Value block, mlir::Value scratch)> body);
/// The stack memory of a task, null if the plan needs more.
mlir::Value allocateStack(Emission &e, const SortPlan &plan);
/// Sorts blocks of rows as Radix or Network.
void emitSortByKeys(SortEmission &sort);

/// Sorts one long row in chunks.
void emitPartitionSort(SortEmission &sort);

/// Running sums of counters in lanes, behind `before` in all lanes: the sum of the lanes before
/// each, and of all lanes.
std::pair<Num, Num> runningSums(Num counts, Num before);

/// Sorts rows by any comparator. forEachBlock runs its argument with (row, scratch of its task).
void emitMergeSort(
    KernelBuilder &kernel, SortOp op, const SortPlan &plan,
    llvm::function_ref<void(llvm::function_ref<void(mlir::Value, mlir::Value)>)> forEachBlock);

/// base[index] of integers of the lanes of `index`; contiguous or a gather.
Num loadWords(Emission &e, mlir::Type word, mlir::Value base, const Index &index, int64_t lanes,
              mlir::Value mask = {});
void storeWords(Emission &e, Num value, mlir::Value base, const Index &index,
                mlir::Value mask = {});

} // namespace hlo::codegen

#endif

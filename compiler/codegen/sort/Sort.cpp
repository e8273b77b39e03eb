//===- Sort.cpp - Strategy "sort": rows, block by block -------------------===//
//
// In: a region whose root is a sort of N arrays along one dimension. Out: for each block of
// rows, as the plan says (compiler/plans/SortPlan.h):
//
//   by keys      elements -> records; sort the records; records -> results
//   otherwise    a merge sort with the comparator inlined
//
// Rows run along the minor dimension (a vector is a piece of a row) or across it (a vector has one
// element of each of several adjacent rows).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/sort/SortEmission.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
/// Sorts one block of rows by keys.
struct BlockSort {
  SortEmission &sort;
  Emission &e;
  const SortPlan &plan;
  RecordBuffer rows;
  SmallVector<Value, 2> other; ///< room for one more row, for radix sort

  BlockSort(SortEmission &sort, Value scratch) : sort(sort), e(sort.e), plan(sort.plan) {
    bool network = plan.method == SortPlan::Method::Network;
    rows.iStride = network ? plan.lanes : 1;
    rows.rowStride = plan.rowStride;
    auto take = [&](int64_t elements, unsigned bits) {
      Value here = scratch;
      scratch = addBytes(e, scratch, constI64(e, llvm::alignTo(elements * bits / 8, 64)));
      return here;
    };
    for (const SortPlan::Word &word : plan.words) {
      rows.words.push_back(
          take(network ? plan.n * plan.lanes : plan.rowStride * plan.lanes, word.bits));
      if (!network && !plan.inResult) {
        other.push_back(take(plan.n, word.bits));
      }
    }
  }

  RowPosition at(Value outer, Index i, Index c, int64_t lanes, Value mask) {
    return RowPosition{outer, i, c, lanes, mask};
  }

  void read(const RowPosition &from, const Index &row, Value bufferMask) {
    SmallVector<Num> record = sort.recordAt(from);
    sort.noteSpecial(from, record);
    sort.storeRecord(rows, from.i, row, record, bufferMask);
  }

  /// Loops over the first `length` elements of a row.
  void alongRow(int64_t length, function_ref<void(Index, int64_t, Value)> body) {
    ElementEmitter vectors(sort.kernel, sort.vectorLanes), scalars(sort.kernel, 1);
    emitVectorLoop(e, constI64(e, 0), constI64(e, length), vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     int64_t lanes = emitter.lanes();
                     body(lanes == 1 ? Index(i.base) : i, lanes, mask);
                   });
  }

  /// Sorts `count` rows along the minor dimension, from `first` on.
  void rowWise(Value first, Value count) {
    Value zero = constI64(e, 0);
    Index none(zero);
    if (plan.inResult) {
      other = {addBytes(e, sort.results[0], mulI(e, first, plan.n * plan.words[0].bits / 8))};
    }
    sort.clearSpecial();
    emitFor(e, zero, count, 1, [&](Value row) {
      Value outer = addI(e, first, row);
      alongRow(plan.n, [&](Index i, int64_t lanes, Value mask) {
        read(at(outer, i, none, lanes, mask), Index(row), mask);
      });
    });
    RecordBuffer sorted = rows;
    if (plan.method == SortPlan::Method::Network) {
      sort.networkSort(rows);
    } else {
      sorted.words = sort.radixSort(rows.words, other, constI64(e, plan.n));
    }
    emitFor(e, zero, count, 1, [&](Value row) {
      Value outer = addI(e, first, row);
      alongRow(plan.keep, [&](Index i, int64_t lanes, Value mask) {
        sort.storeResults(at(outer, i, none, lanes, mask),
                          sort.loadRecord(sorted, i, Index(row), lanes, mask));
      });
    });
    ifSpecial([&] {
      emitFor(e, zero, count, 1, [&](Value row) {
        sort.restoreSpecial(at(addI(e, first, row), Index(zero), none, 1, {}));
      });
    });
  }

  /// Sorts plan.lanes adjacent rows across the minor dimension from `first` on, fewer at the end.
  void columnWise(Value outer, Value first) {
    Value zero = constI64(e, 0), n = constI64(e, plan.n);
    int64_t lanes = plan.lanes;
    Index columns = lanes == 1 ? Index(first) : Index(first, 1), row(zero, lanes == 1 ? 0 : 1);
    Value mask;
    if (plan.inner % lanes != 0) {
      Value left = splat(e, subI(e, constI64(e, plan.inner), first), lanes).re;
      mask = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt,
                                             laneOffsets(e, lanes, 1), left);
    }
    sort.clearSpecial();
    emitFor(e, zero, n, 1,
            [&](Value i) { read(at(outer, Index(i), columns, lanes, mask), row, {}); });
    if (plan.method == SortPlan::Method::Network) {
      sort.networkSort(rows);
    } else {
      emitFor(e, zero, constI64(e, lanes), 1, [&](Value lane) { sortInPlace(lane); });
    }
    emitFor(e, zero, n, 1, [&](Value i) {
      sort.storeResults(at(outer, Index(i), columns, lanes, mask),
                        sort.loadRecord(rows, Index(i), row, lanes, {}));
    });
    ifSpecial([&] {
      Value end = minI(e, addI(e, first, lanes), plan.inner);
      emitFor(e, first, end, 1,
              [&](Value c) { sort.restoreSpecial(at(outer, Index(zero), Index(c), 1, {})); });
    });
  }

  /// Sorts one row of the buffer in place.
  void sortInPlace(Value lane) {
    SmallVector<Value, 2> own;
    for (auto [word, base] : llvm::zip(plan.words, rows.words)) {
      own.push_back(addBytes(e, base, mulI(e, lane, plan.rowStride * word.bits / 8)));
    }
    SmallVector<Value, 2> sorted = sort.radixSort(own, other, constI64(e, plan.n));
    RecordBuffer from{sorted, 1, 0}, to{own, 1, 0};
    Value moved = LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::ne, sorted[0], own[0]);
    auto branch = scf::IfOp::create(e.b, e.loc, moved, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    Index none(constI64(e, 0));
    alongRow(plan.n, [&](Index i, int64_t lanes, Value mask) {
      sort.storeRecord(to, i, none, sort.loadRecord(from, i, none, lanes, mask), mask);
    });
  }

  void ifSpecial(function_ref<void()> body) {
    Value any = sort.anySpecial();
    if (!any) {
      return;
    }
    emitIf(e, any, body);
  }
};
} // namespace

SortPlan choosePlan(KernelBuilder &kernel, ArrayRef<SortCandidate> candidates) {
  if (candidates.size() == 1 || !kernel.choice) {
    return candidates.front().plan;
  }
  std::vector<PlanCandidate> descriptions;
  for (const SortCandidate &candidate : candidates) {
    const SortPlan &plan = candidate.plan;
    bool network = plan.method == SortPlan::Method::Network;
    descriptions.push_back(
        {network ? "network-" + std::to_string(plan.lanes) : "radix",
         llvm::formatv("{0} rows of {1} bytes", plan.lanes, plan.recordBytes() * plan.n).str(),
         candidate.cycles});
  }
  size_t chosen = chooseCandidate(kernel, std::move(descriptions), 0);
  SortPlan plan = candidates[chosen].plan;
  plan.onStack |= chosen != 0;
  return plan;
}

void forEachBlock(KernelBuilder &kernel, const SortPlan &plan, Value stack,
                  function_ref<void(Value, Value)> body) {
  Emission &e = kernel.e;
  emitFor(e, kernel.first, kernel.last, 1, [&](Value task) {
    Value scratch =
        plan.onStack ? stack : addBytes(e, kernel.resultPtrs.back(), mulI(e, task, plan.taskBytes));
    Value lo = mulI(e, task, plan.blocksPerTask);
    Value hi = minI(e, addI(e, lo, plan.blocksPerTask), plan.blocks);
    emitFor(e, lo, hi, 1, [&](Value block) { body(block, scratch); });
  });
}

Value allocateStack(Emission &e, const SortPlan &plan) {
  if (!plan.onStack) {
    return {};
  }
  return stackBuffer(e, plan.taskBytes);
}

void emitSortByKeys(SortEmission &sort) {
  Emission &e = sort.e;
  const SortPlan &plan = sort.plan;
  if (plan.chunks > 0) {
    emitPartitionSort(sort);
    return;
  }
  Value stack = allocateStack(e, plan);
  if (plan.method == SortPlan::Method::Radix) {
    sort.prepareRadix();
  }
  sort.prepareSpecial();
  forEachBlock(sort.kernel, plan, stack, [&](Value block, Value scratch) {
    BlockSort blockSort(sort, scratch);
    if (plan.inner > 1) {
      int64_t perRow = llvm::divideCeil(plan.inner, plan.lanes);
      blockSort.columnWise(divI(e, block, perRow), mulI(e, remI(e, block, perRow), plan.lanes));
      return;
    }
    Value first = mulI(e, block, plan.lanes);
    Value count = constI64(e, 1);
    if (plan.lanes > 1) {
      count = minI(e, constI64(e, plan.lanes), subI(e, constI64(e, plan.outer), first));
    }
    blockSort.rowWise(first, count);
  });
}

LogicalResult emitSortKernel(KernelBuilder &kernel) {
  auto op = dyn_cast_or_null<SortOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'sort' must return a sort");
  }
  ComputationOp comparator = kernel.lookup(op.getToApplyAttr());
  SortPlan plan = choosePlan(kernel, sortCandidates(kernel.e.machine, op, comparator));
  kernel.tasks = plan.tasks();
  if (kernel.tasks == 0) {
    return success();
  }
  if (!plan.onStack && kernel.body().getTerminator()->getOperands().back().getDefiningOp() == op) {
    return kernel.fusion.emitOpError("needs ") << plan.scratchBytes() << " bytes of scratch";
  }
  if (plan.method == SortPlan::Method::Merge) {
    emitMergeSort(kernel, op, plan, [&](function_ref<void(Value, Value)> body) {
      forEachBlock(kernel, plan, {}, body);
    });
    return success();
  }
  SortEmission sort(kernel, plan, op.getInputs(), comparator);
  emitSortByKeys(sort);
  return success();
}

} // namespace hlo::codegen

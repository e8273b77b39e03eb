//===- TopK.cpp - Strategy "topk": the first records of each row ----------===//
//
// In: a region whose root is a topk along the last dimension. Out: the k best elements of each row
// in order, and their positions. Short rows, and rows of which most is kept, are sorted whole.
// Others are processed in chunks:
//
//   chunk has no key above the threshold?   next chunk; almost all of them
//   small k        insert better elements into the k best, which are kept sorted
//   larger k       append better elements to a buffer; when it is full, sort it, keep k
//
// The threshold is the k-th best key so far. Later elements lose ties, so equal elements are in the
// order of their positions.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
/// Selects the best elements of one row.
class RowSelection {
public:
  /// Stack variables: the number of candidates, and the threshold.
  RowSelection(SortEmission &sort, Value countSlot, Value thresholdSlot)
      : sort(sort), e(sort.e), plan(sort.plan), countSlot(countSlot), thresholdSlot(thresholdSlot) {
  }

  void run(Value row, Value scratch) {
    outer = row;
    for (const SortPlan::Word &word : plan.words) {
      best.words.push_back(scratch);
      scratch = addBytes(e, scratch, constI64(e, plan.bufferBytes(word)));
      other.push_back(scratch);
      scratch = addBytes(e, scratch, constI64(e, plan.bufferBytes(word)));
    }
    Value zero = constI64(e, 0);
    int64_t filled = plan.candidates == 0 ? plan.keep : plan.candidates;
    if (plan.candidates == 0) {
      emitFor(e, zero, constI64(e, filled), 1, [&](Value i) { insert(i, i); });
    } else {
      alongRow(zero, constI64(e, filled), [&](const RowPosition &at) {
        sort.storeRecord(best, at.i, Index(zero), sort.recordAt(at), at.mask);
      });
      keepBest(constI64(e, filled));
    }
    noteThreshold();
    int64_t chunks = (plan.n - filled) / SortPlan::kChunk;
    Value rest = constI64(e, filled + chunks * SortPlan::kChunk);
    emitFor(e, constI64(e, filled), rest, SortPlan::kChunk, [&](Value begin) {
      RowPosition chunk{outer, Index(begin, 1), Index(zero), SortPlan::kChunk, {}};
      emitIf(e, anyLane(isBetter(sort.keyAt(0, chunk))),
             [&] { take(begin, addI(e, begin, SortPlan::kChunk)); });
    });
    take(rest, constI64(e, plan.n));
    if (plan.candidates != 0) {
      keepBest(loadCount());
    }
    alongRow(zero, constI64(e, plan.keep), [&](const RowPosition &at) {
      sort.storeResults(at, sort.loadRecord(best, at.i, Index(zero), at.lanes, at.mask));
    });
  }

private:
  SortEmission &sort;
  Emission &e;
  const SortPlan &plan;
  Value outer, countSlot, thresholdSlot;
  RecordBuffer best;
  SmallVector<Value, 2> other;

  void alongRow(Value lo, Value hi, function_ref<void(const RowPosition &)> body) {
    ElementEmitter vectors(sort.kernel, sort.vectorLanes), scalars(sort.kernel, 1);
    emitVectorLoop(e, lo, hi, vectors, scalars, [&](Index i, ElementEmitter &emitter, Value mask) {
      body(RowPosition{outer, emitter.lanes() == 1 ? Index(i.base) : i, Index(constI64(e, 0)),
                       emitter.lanes(), mask});
    });
  }

  Type keyType() { return e.b.getIntegerType(plan.keys[0].bits()); }
  Num isBetter(Num key) {
    Num threshold(e, LLVM::LoadOp::create(e.b, e.loc, keyType(), thresholdSlot));
    return below(key, Num(e, splat(e, Elem(threshold), key.lanes()).re));
  }
  Num keyOfBest(Value i) {
    return sort.keyOfRecord(0, sort.loadRecord(best, Index(i), Index(constI64(e, 0)), 1, {}));
  }
  void noteThreshold() {
    LLVM::StoreOp::create(e.b, e.loc, keyOfBest(constI64(e, plan.keep - 1)), thresholdSlot);
  }
  Value loadCount() { return LLVM::LoadOp::create(e.b, e.loc, e.b.getI64Type(), countSlot); }
  void storeCount(Value count) { LLVM::StoreOp::create(e.b, e.loc, count, countSlot); }

  /// Takes the elements better than the threshold among lo..hi, at most a chunk.
  void take(Value lo, Value hi) {
    if (plan.candidates == 0) {
      emitFor(e, lo, hi, 1, [&](Value i) {
        RowPosition at{outer, Index(i), Index(constI64(e, 0)), 1, {}};
        emitIf(e, isBetter(sort.keyAt(0, at)), [&] {
          insert(i, constI64(e, plan.keep - 1));
          noteThreshold();
        });
      });
      return;
    }
    Num full = greaterEqual(Num(e, loadCount()), plan.candidates);
    emitIf(e, full, [&] {
      keepBest(loadCount());
      noteThreshold();
    });
    alongRow(lo, hi, [&](const RowPosition &at) { append(at); });
  }

  /// Inserts element `i` into the sorted records before `end`, behind its equals; drops the record
  /// at `end`.
  void insert(Value i, Value end) {
    Index none(constI64(e, 0));
    SmallVector<Num> record = sort.recordAt(RowPosition{outer, Index(i), none, 1, {}});
    Num key = sort.keyOfRecord(0, record);
    Type i64 = e.b.getI64Type();
    auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange{i64}, ValueRange{end});
    OpBuilder::InsertionGuard guard(e.b);
    Value j = e.b.createBlock(&loop.getBefore(), {}, {i64}, {e.loc})->getArgument(0);
    Num inside = notEqual(Num(e, j), 0);
    Num previous = select(inside, Num(e, j) - 1, Num(e, j));
    Value go = inside & below(key, keyOfBest(previous));
    scf::ConditionOp::create(e.b, e.loc, go, ValueRange{j});
    Value at = e.b.createBlock(&loop.getAfter(), {}, {i64}, {e.loc})->getArgument(0);
    Value before = addI(e, at, -1);
    sort.storeRecord(best, Index(at), none, sort.loadRecord(best, Index(before), none, 1, {}), {});
    scf::YieldOp::create(e.b, e.loc, before);
    e.b.setInsertionPointAfter(loop);
    sort.storeRecord(best, Index(loop.getResult(0)), none, record, {});
  }

  /// Appends the elements better than the threshold. Stores whole vectors: the buffer has slack at
  /// its end.
  void append(const RowPosition &at) {
    SmallVector<Num> record = sort.recordAt(at);
    Value wanted = andMask(e, isBetter(sort.keyOfRecord(0, record)), at.mask);
    Value count = loadCount();
    if (at.lanes > 1) {
      for (Num &word : record) {
        auto packed = LLVM::CallIntrinsicOp::create(
            e.b, e.loc, word.type(), e.b.getStringAttr("llvm.experimental.vector.compress"),
            ValueRange{word, wanted, word});
        word = Num(e, packed->getResult(0));
      }
    }
    sort.storeRecord(best, at.lanes > 1 ? Index(count, 1) : Index(count), Index(constI64(e, 0)),
                     record, {});
    Num taken(e, wanted);
    if (at.lanes > 1) {
      Type bits = e.b.getIntegerType(at.lanes);
      Value mask = LLVM::BitcastOp::create(e.b, e.loc, bits, wanted);
      taken = Num(e, LLVM::CtPopOp::create(e.b, e.loc, bits, mask));
    }
    storeCount(Num(e, count) + zextTo(taken, e.b.getI64Type()));
  }

  /// Sorts `count` candidates and keeps the best.
  void keepBest(Value count) {
    SmallVector<Value, 2> sorted = sort.radixSort(best.words, other, count);
    Value moved =
        LLVM::ICmpOp::create(e.b, e.loc, LLVM::ICmpPredicate::ne, sorted[0], best.words[0]);
    emitIf(e, moved, [&] {
      RecordBuffer from{sorted, 1, 0};
      Index none(constI64(e, 0));
      emitFor(e, constI64(e, 0), constI64(e, plan.keep), 1, [&](Value i) {
        sort.storeRecord(best, Index(i), none, sort.loadRecord(from, Index(i), none, 1, {}), {});
      });
    });
    storeCount(constI64(e, plan.keep));
  }
};
} // namespace

LogicalResult emitTopkKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<TopkOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'topk' must return a topk");
  }
  SortPlan plan = choosePlan(kernel, topkCandidates(e.machine, op));
  kernel.tasks = plan.tasks();
  if (kernel.tasks == 0) {
    return success();
  }
  if (!plan.onStack && kernel.resultPtrs.size() == op->getNumResults()) {
    return kernel.fusion.emitOpError("needs ") << plan.scratchBytes() << " bytes of scratch";
  }
  SortEmission sort(kernel, plan, op->getOperands(), {});
  sort.positionElement = arrayType(op->getResult(1)).getElementType();
  if (plan.method != SortPlan::Method::Select) {
    emitSortByKeys(sort);
    return success();
  }
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  Value stack = allocateStack(e, plan);
  auto slot = [&](Type type) {
    return LLVM::AllocaOp::create(e.b, e.loc, pointer, type, constI64(e, 1), 8).getResult();
  };
  Value count = slot(e.b.getI64Type());
  Value threshold = slot(e.b.getIntegerType(plan.keys[0].bits()));
  if (plan.candidates != 0) {
    sort.prepareRadix();
  }
  forEachBlock(kernel, plan, stack, [&](Value row, Value scratch) {
    RowSelection(sort, count, threshold).run(row, scratch);
  });
  return success();
}

} // namespace hlo::codegen

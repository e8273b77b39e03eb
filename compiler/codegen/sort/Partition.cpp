//===- Partition.cpp - One long row sorted by many tasks ------------------===//
//
// In: a plan of one row in chunks. Out, in stages with barriers between them, each of one task per
// chunk:
//
//   0  elements -> records; smallest and largest key of the chunk
//   1  the range of all keys, cut into 2048 buckets of equal width: how many records of the
//      chunk are in each
//   2  records -> their buckets, those of earlier chunks first, so that equal keys keep their order
//   3  the buckets that begin in the chunk: sorted by digits, a few at a time, as many as stay in
//      cache; records -> results
//   4  (one task) elements that differ from their reconstruction (Canonical.cpp)
//
// Chunks depend only on the length. If all keys fall into few buckets, few tasks sort them.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Counters in a vector: a line of 64 bytes, which narrower registers take in parts. It divides the
/// number of counters, so that no loop needs a remainder.
static constexpr int64_t kLanes = 16;
/// Bytes of the records of buckets that are sorted together. They and the second buffer stay in L2,
/// and one of the two in an L1 of 48 KiB. Fewer records would not pay for the 2048 counters of each
/// digit (8 KiB to clear and to add up). No timings of other sizes were kept.
static constexpr int64_t kGroupBytes = 48 << 10;

namespace {
class PartitionSort {
public:
  explicit PartitionSort(SortEmission &sort);
  void emit();

private:
  void makeRecords(Value chunk);
  void countBuckets(Value chunk);
  void moveRecords(Value chunk);
  void sortBuckets(Value chunk);

  Value beginOf(Value chunk) { return minI(e, mulI(e, chunk, plan.chunk), plan.n); }
  Value endOf(Value chunk) { return beginOf(addI(e, chunk, 1)); }
  void along(Value lo, Value hi, function_ref<void(const RowPosition &)> body);
  Num topWord(Value i, int64_t lanes = 1) {
    return loadWords(e, sort.wordType(top), records.words[top], Index(i, lanes > 1 ? 1 : 0), lanes);
  }
  /// Computes the range of the keys.
  void loadRange();
  Num bucketOf(Num word) {
    Num key = zextTo(shrU(word, static_cast<int64_t>(plan.words[top].keyFrom)), e.b.getI64Type());
    return shrU(key - Num(e, smallest), Num(e, shift));
  }
  /// Sets places[b] to the start of bucket b; with a chunk: to the start of that chunk's records in
  /// it.
  void findPlaces(Value chunk);
  Value placeOf(Value bucket) {
    return zextTo(loadWords(e, e.b.getI32Type(), places, Index(bucket), 1), e.b.getI64Type());
  }
  /// The first bucket that begins at or behind `place`.
  Value firstBucketAt(Value place);
  /// while (state < end) state = body(state)
  void emitWhile(Value begin, Value end, function_ref<Value(Value)> body);

  SortEmission &sort;
  Emission &e;
  const SortPlan &plan;
  size_t top; ///< the most significant word
  bool special;
  RecordBuffer records, moved;
  Value counters, extremes, flags; ///< per chunk
  Value places;                    ///< on the stack
  Value smallest, shift;           ///< of the range of keys
};
} // namespace

PartitionSort::PartitionSort(SortEmission &sort)
    : sort(sort), e(sort.e), plan(sort.plan), top(plan.words.size() - 1),
      special(plan.keysOnly && !plan.keys[0].isInjective()) {
  Value scratch = sort.kernel.resultPtrs.back();
  auto take = [&](int64_t bytes) {
    Value here = scratch;
    scratch = addBytes(e, scratch, constI64(e, llvm::alignTo(bytes, 64)));
    return here;
  };
  for (const SortPlan::Word &word : plan.words) {
    records.words.push_back(take(plan.n * word.bits / 8));
    moved.words.push_back(plan.inResult ? sort.results[0] : take(plan.n * word.bits / 8));
  }
  counters = take(plan.chunks * SortPlan::kBuckets * 4);
  extremes = take(plan.chunks * 16);
  flags = take(plan.chunks * 8);
  places = stackBuffer(e, (SortPlan::kBuckets + 1) * sizeof(int32_t));
}

void PartitionSort::along(Value lo, Value hi, function_ref<void(const RowPosition &)> body) {
  ElementEmitter vectors(sort.kernel, sort.vectorLanes), scalars(sort.kernel, 1);
  Value zero = constI64(e, 0);
  emitVectorLoop(e, lo, hi, vectors, scalars, [&](Index i, ElementEmitter &emitter, Value mask) {
    int64_t lanes = emitter.lanes();
    body(RowPosition{zero, lanes == 1 ? Index(i.base) : i, Index(zero), lanes, mask});
  });
}

void PartitionSort::emitWhile(Value begin, Value end, function_ref<Value(Value)> body) {
  Type i64 = e.b.getI64Type();
  auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange{i64}, ValueRange{begin});
  OpBuilder::InsertionGuard guard(e.b);
  Value before = e.b.createBlock(&loop.getBefore(), {}, {i64}, {e.loc})->getArgument(0);
  Value go = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, before, end);
  scf::ConditionOp::create(e.b, e.loc, go, ValueRange{before});
  Value after = e.b.createBlock(&loop.getAfter(), {}, {i64}, {e.loc})->getArgument(0);
  Value next = body(after);
  scf::YieldOp::create(e.b, e.loc, next);
}

void PartitionSort::makeRecords(Value chunk) {
  Index none(constI64(e, 0));
  Value lo = beginOf(chunk), hi = endOf(chunk);
  sort.clearSpecial();
  along(lo, hi, [&](const RowPosition &at) {
    SmallVector<Num> record = sort.recordAt(at);
    sort.noteSpecial(at, record);
    sort.storeRecord(records, at.i, none, record, at.mask);
  });
  if (special) {
    Num any(e, sort.anySpecial());
    storeWords(e, zextTo(any, e.b.getI64Type()), flags, Index(chunk));
  }
  // Chunks are not empty.
  int64_t lanes = sort.vectorLanes;
  Value first = splat(e, Elem(topWord(lo)), lanes).re;
  Value whole = addI(e, lo, mulI(e, divI(e, subI(e, hi, lo), lanes), lanes));
  SmallVector<Value> state{first, first};
  auto narrowed = [&](ValueRange range, Value word) {
    return SmallVector<Value>{arith::MinUIOp::create(e.b, e.loc, range[0], word),
                              arith::MaxUIOp::create(e.b, e.loc, range[1], word)};
  };
  state = emitForCarrying(e, lo, whole, lanes, state, [&](Value i, ValueRange range) {
    return narrowed(range, topWord(i, lanes));
  });
  if (lanes > 1) {
    state[0] = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::MINUI, state[0]);
    state[1] = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::MAXUI, state[1]);
  }
  state = emitForCarrying(e, whole, hi, 1, state,
                          [&](Value i, ValueRange range) { return narrowed(range, topWord(i)); });
  for (auto [k, word] : llvm::enumerate(state)) {
    Num key = shrU(Num(e, word), static_cast<int64_t>(plan.words[top].keyFrom));
    storeWords(e, zextTo(key, e.b.getI64Type()), extremes, Index(addI(e, mulI(e, chunk, 2), k)));
  }
}

void PartitionSort::loadRange() {
  Type i64 = e.b.getI64Type();
  auto at = [&](int64_t k) -> Value {
    return loadWords(e, i64, extremes, Index(constI64(e, k)), 1);
  };
  Value least = at(0), most = at(1);
  for (int64_t chunk = 1; chunk < plan.chunks; ++chunk) {
    least = arith::MinUIOp::create(e.b, e.loc, least, at(2 * chunk));
    most = arith::MaxUIOp::create(e.b, e.loc, most, at(2 * chunk + 1));
  }
  smallest = least;
  // The bucket number is as many of the range's upper bits as number the buckets.
  Value unused = LLVM::CountLeadingZerosOp::create(e.b, e.loc, i64, subI(e, most, least),
                                                   /*is_zero_poison=*/false);
  Value bits = subI(e, constI64(e, 64 - llvm::Log2_64(SortPlan::kBuckets)), unused);
  shift = maxI(e, bits, 0);
}

void PartitionSort::countBuckets(Value chunk) {
  Type i32 = e.b.getI32Type();
  loadRange();
  Value table = addBytes(e, counters, mulI(e, chunk, SortPlan::kBuckets * 4));
  Num none(e, arith::ConstantOp::create(e.b, e.loc,
                                        cast<TypedAttr>(e.b.getZeroAttr(laneType(i32, kLanes)))));
  emitFor(e, constI64(e, 0), constI64(e, SortPlan::kBuckets), kLanes,
          [&](Value b) { storeWords(e, none, table, Index(b, 1)); });
  emitFor(e, beginOf(chunk), endOf(chunk), 1, [&](Value i) {
    Index bucket(bucketOf(topWord(i)));
    storeWords(e, loadWords(e, i32, table, bucket, 1) + 1, table, bucket);
  });
}

void PartitionSort::findPlaces(Value chunk) {
  Type i32 = e.b.getI32Type();
  Value none = arith::ConstantOp::create(e.b, e.loc,
                                         cast<TypedAttr>(e.b.getZeroAttr(laneType(i32, kLanes))));
  Value zero = constI64(e, 0);
  emitForCarrying(
      e, zero, constI64(e, SortPlan::kBuckets), kLanes, {none}, [&](Value b, ValueRange carried) {
        auto ofChunks = [&](Value from, Value to) {
          auto sums = emitForCarrying(e, from, to, 1, {none}, [&](Value c, ValueRange sum) {
            Index at(addI(e, mulI(e, c, SortPlan::kBuckets), b), 1);
            return SmallVector<Value>{Num(e, sum[0]) + loadWords(e, i32, counters, at, kLanes)};
          });
          return Num(e, sums[0]);
        };
        Num earlier(e, none), all = ofChunks(chunk ? chunk : zero, constI64(e, plan.chunks));
        if (chunk) {
          earlier = ofChunks(zero, chunk);
          all = all + earlier;
        }
        auto [before, next] = runningSums(all, Num(e, carried[0]));
        storeWords(e, before + earlier, places, Index(b, 1));
        return SmallVector<Value>{next};
      });
  storeWords(e, zextTo(Num(e, constI64(e, plan.n)), i32), places,
             Index(constI64(e, SortPlan::kBuckets)));
}

void PartitionSort::moveRecords(Value chunk) {
  loadRange();
  findPlaces(chunk);
  Index none(constI64(e, 0));
  emitFor(e, beginOf(chunk), endOf(chunk), 1, [&](Value i) {
    SmallVector<Num> record = sort.loadRecord(records, Index(i), none, 1, {});
    Index bucket(bucketOf(record[top]));
    Num place = loadWords(e, e.b.getI32Type(), places, bucket, 1);
    storeWords(e, place + 1, places, bucket);
    sort.storeRecord(moved, Index(zextTo(place, e.b.getI64Type())), none, record, {});
  });
}

Value PartitionSort::firstBucketAt(Value place) {
  Num bucket(e, constI64(e, 0));
  auto isBefore = [&](Num at) { return less(Num(e, placeOf(at)), Num(e, place)); };
  for (int64_t step = SortPlan::kBuckets / 2; step > 0; step /= 2) {
    bucket = select(isBefore(bucket + (step - 1)), bucket + step, bucket);
  }
  return select(isBefore(bucket), bucket + 1, bucket);
}

void PartitionSort::sortBuckets(Value chunk) {
  findPlaces({});
  int64_t largest = std::max<int64_t>(1, kGroupBytes / plan.recordBytes());
  Value end = firstBucketAt(endOf(chunk));
  // No bucket begins behind the last record.
  emitWhile(firstBucketAt(beginOf(chunk)), end, [&](Value bucket) {
    Value from = placeOf(bucket);
    // One bucket, and the following ones as long as all together are small.
    Type i64 = e.b.getI64Type();
    auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange{i64}, ValueRange{addI(e, bucket, 1)});
    {
      OpBuilder::InsertionGuard guard(e.b);
      Value last = e.b.createBlock(&loop.getBefore(), {}, {i64}, {e.loc})->getArgument(0);
      Value inside = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, last, end);
      Value next = minI(e, addI(e, last, 1), SortPlan::kBuckets);
      Value fits = compareI(e, arith::CmpIPredicate::sle, subI(e, placeOf(next), from), largest);
      Value go = arith::AndIOp::create(e.b, e.loc, inside, fits);
      scf::ConditionOp::create(e.b, e.loc, go, ValueRange{last});
      Value after = e.b.createBlock(&loop.getAfter(), {}, {i64}, {e.loc})->getArgument(0);
      Value more = addI(e, after, 1);
      scf::YieldOp::create(e.b, e.loc, more);
    }
    Value next = loop.getResult(0), to = placeOf(next), count = subI(e, to, from);
    emitIf(e, compareI(e, arith::CmpIPredicate::sgt, count, 0), [&] {
      SmallVector<Value, 2> own, other;
      for (auto [w, word] : llvm::enumerate(plan.words)) {
        Value bytes = mulI(e, from, word.bits / 8);
        own.push_back(addBytes(e, moved.words[w], bytes));
        other.push_back(addBytes(e, records.words[w], bytes));
      }
      RecordBuffer sorted{sort.radixSort(own, other, count), 1, 0};
      Index none(constI64(e, 0));
      along(from, to, [&](const RowPosition &at) {
        Index i = at.i;
        i.base = subI(e, i.base, from);
        sort.storeResults(at, sort.loadRecord(sorted, i, none, at.lanes, at.mask));
      });
    });
    return next;
  });
}

void PartitionSort::emit() {
  SmallVector<int64_t> counts(4, plan.chunks);
  if (special) {
    counts.push_back(1);
  }
  emitStages(sort.kernel, counts, [&](size_t stage, Value lo, Value hi) {
    emitFor(e, lo, hi, 1, [&](Value chunk) {
      switch (stage) {
      case 0: return makeRecords(chunk);
      case 1: return countBuckets(chunk);
      case 2: return moveRecords(chunk);
      case 3: return sortBuckets(chunk);
      default: break;
      }
      Num any(e, constI64(e, 0));
      for (int64_t c = 0; c < plan.chunks; ++c) {
        any = any | loadWords(e, e.b.getI64Type(), flags, Index(constI64(e, c)), 1);
      }
      Index none(constI64(e, 0));
      emitIf(e, notEqual(any, 0),
             [&] { sort.restoreSpecial(RowPosition{constI64(e, 0), none, none, 1, {}}); });
    });
  });
}

void emitPartitionSort(SortEmission &sort) {
  sort.prepareRadix();
  sort.prepareSpecial();
  PartitionSort(sort).emit();
}

} // namespace hlo::codegen

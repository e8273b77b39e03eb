//===- Radix.cpp - Records sorted digit by digit --------------------------===//
//
// In: the records of a row. Out: the records in the order of their keys; equal keys keep their
// order. Sorts by the least significant digit first:
//
//   count the values of each digit in one pass over the row
//   for each digit: skip it if all records have the same value; else
//     counts -> start of each value; move every record from one buffer to the other
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Counters in a vector: a line of 64 bytes, which narrower registers take in parts. It divides the
/// number of counters, so that no loop needs a remainder.
static constexpr int64_t kLanes = 16;

static int64_t digitsOf(const SortPlan &plan, const SortPlan::Word &word) {
  return llvm::divideCeil(word.keyTo - word.keyFrom, plan.digitBits);
}
/// Number of counters of a digit.
static int64_t countersOf(const SortPlan &plan) { return int64_t(1) << plan.digitBits; }

void SortEmission::prepareRadix() {
  for (const SortPlan::Word &word : plan.words) {
    histograms.push_back(stackBuffer(e, digitsOf(plan, word) * countersOf(plan) * sizeof(int32_t)));
  }
}

/// The digit of `word` at bit `shift`, as i64.
static Num digitAt(const SortPlan &plan, Num word, Num shift) {
  Emission &e = *word.e;
  Num digit = shrU(word, zextTo(shift, word.scalar()));
  return zextTo(digit & (word.width() == 8 ? -1 : countersOf(plan) - 1), e.b.getI64Type());
}

std::pair<Num, Num> runningSums(Num counts, Num before) {
  Emission &e = *counts.e;
  int64_t count = counts.lanes();
  Num zero(e,
           arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(counts.type()))));
  auto shuffled = [&](Num a, ArrayRef<int64_t> lanes) {
    return Num(e, vector::ShuffleOp::create(e.b, e.loc, a, zero, lanes));
  };
  Num sum = counts;
  for (int64_t step = 1; step < count; step *= 2) {
    SmallVector<int64_t> lanes;
    for (int64_t l = 0; l < count; ++l) {
      lanes.push_back(l < step ? count : l - step);
    }
    sum = sum + shuffled(sum, lanes);
  }
  SmallVector<int64_t> last(count, count - 1);
  return {sum - counts + before, before + shuffled(sum, last)};
}

/// table[d] = table[0] + ... + table[d - 1]
static void emitPrefixSums(Emission &e, Value table, int64_t counts) {
  Type counters = laneType(e.b.getI32Type(), kLanes);
  Value zero = arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(counters)));
  emitForCarrying(e, constI64(e, 0), constI64(e, counts), kLanes, {zero},
                  [&](Value d, ValueRange carried) {
                    Num own = loadWords(e, e.b.getI32Type(), table, Index(d, 1), kLanes);
                    auto [before, next] = runningSums(own, Num(e, carried[0]));
                    storeWords(e, before, table, Index(d, 1));
                    return SmallVector<Value>{next};
                  });
}

SmallVector<Value, 2> SortEmission::radixSort(ValueRange from, ValueRange other, Value count) {
  Type i32 = e.b.getI32Type(), i64 = e.b.getI64Type();
  Value zero = constI64(e, 0);
  size_t words = plan.words.size();
  for (auto [word, table] : llvm::zip(plan.words, histograms)) {
    Type counters = laneType(i32, kLanes);
    Num none(e, arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(counters))));
    emitFor(e, zero, constI64(e, digitsOf(plan, word) * countersOf(plan)), kLanes,
            [&, table = table](Value d) { storeWords(e, none, table, Index(d, 1)); });
  }
  emitFor(e, zero, count, 1, [&](Value i) {
    for (size_t w = 0; w < words; ++w) {
      Num word = loadWords(e, wordType(w), from[w], Index(i), 1);
      for (int64_t d = 0; d < digitsOf(plan, plan.words[w]); ++d) {
        Num shift(e, constI64(e, plan.words[w].keyFrom + d * plan.digitBits));
        Index at(addI(e, digitAt(plan, word, shift), d * countersOf(plan)));
        storeWords(e, loadWords(e, i32, histograms[w], at, 1) + 1, histograms[w], at);
      }
    }
  });
  SmallVector<Value> buffers(from);
  llvm::append_range(buffers, other);
  for (size_t w = 0; w < words; ++w) {
    buffers = emitForCarrying(
        e, zero, constI64(e, digitsOf(plan, plan.words[w])), 1, buffers,
        [&](Value d, ValueRange carried) {
          Num shift = Num(e, d) * static_cast<int64_t>(plan.digitBits) +
                      static_cast<int64_t>(plan.words[w].keyFrom);
          Value table = addBytes(e, histograms[w], mulI(e, d, countersOf(plan) * 4));
          Num first = digitAt(plan, loadWords(e, wordType(w), carried[w], Index(zero), 1), shift);
          Num same = zextTo(loadWords(e, i32, table, Index(first), 1), i64);
          Num mixed = notEqual(same, Num(e, count));
          auto branch = scf::IfOp::create(e.b, e.loc, carried.getTypes(), mixed, true);
          OpBuilder::InsertionGuard guard(e.b);
          e.b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(e.b, e.loc, carried);
          e.b.setInsertionPointToStart(branch.thenBlock());
          emitPrefixSums(e, table, countersOf(plan));
          emitFor(e, zero, count, 1, [&](Value i) {
            SmallVector<Num> record;
            for (size_t v = 0; v < words; ++v) {
              record.push_back(loadWords(e, wordType(v), carried[v], Index(i), 1));
            }
            Index digit(digitAt(plan, record[w], shift));
            Num place = loadWords(e, i32, table, digit, 1);
            storeWords(e, place + 1, table, digit);
            for (size_t v = 0; v < words; ++v) {
              storeWords(e, record[v], carried[words + v], Index(zextTo(place, i64)));
            }
          });
          SmallVector<Value> swapped(carried.drop_front(words));
          llvm::append_range(swapped, carried.take_front(words));
          scf::YieldOp::create(e.b, e.loc, swapped);
          return SmallVector<Value>(branch.getResults());
        });
  }
  return SmallVector<Value, 2>(buffers.begin(), buffers.begin() + words);
}

} // namespace hlo::codegen

//===- Radix.cpp - Records sorted digit by digit --------------------------===//
//
// In: the records of a row. Out: the same in the order of their keys; equal keys keep
// their order. The least significant digit comes first:
//
//   count how often each digit of each place occurs, in one pass over the row
//   for each place: skip it if all records have one digit there; else
//     counts -> where each digit begins; move every record from one buffer to the other
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

static constexpr int64_t kDigitBits = 8;
static constexpr int64_t kDigits = 1 << kDigitBits;
static constexpr int64_t kLanes = 16; ///< counters in a vector

static int64_t digitsOf(const SortPlan::Word &word) {
  return llvm::divideCeil(word.keyTo - word.keyFrom, kDigitBits);
}

void SortEmission::prepareRadix() {
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  for (const SortPlan::Word &word : plan.words) {
    histograms.push_back(LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getI32Type(),
                                                constI64(e, digitsOf(word) * kDigits), 64));
  }
}

/// The digit of `word` above bit `shift`, as i64.
static Num digitAt(Num word, Num shift) {
  Emission &e = *word.e;
  Num digit = shrU(word, zextTo(shift, word.scalar()));
  return zextTo(digit & (word.width() == 8 ? -1 : kDigits - 1), e.b.getI64Type());
}

/// table[d] = table[0] + ... + table[d - 1]
static void emitPrefixSums(Emission &e, Value table) {
  Type counters = laneType(e.b.getI32Type(), kLanes);
  Num zero(e, arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(counters))));
  auto shuffled = [&](Num a, ArrayRef<int64_t> lanes) {
    return Num(e, vector::ShuffleOp::create(e.b, e.loc, a, zero, lanes));
  };
  emitForCarrying(e, constI64(e, 0), constI64(e, kDigits), kLanes, {zero.v},
                  [&](Value d, ValueRange carried) {
                    Num own = loadWords(e, e.b.getI32Type(), table, Index(d, 1), kLanes);
                    Num sum = own;
                    for (int64_t step = 1; step < kLanes; step *= 2) {
                      SmallVector<int64_t> lanes;
                      for (int64_t l = 0; l < kLanes; ++l) {
                        lanes.push_back(l < step ? kLanes : l - step);
                      }
                      sum = sum + shuffled(sum, lanes);
                    }
                    Num before(e, carried[0]);
                    storeWords(e, sum - own + before, table, Index(d, 1));
                    SmallVector<int64_t> last(kLanes, kLanes - 1);
                    return SmallVector<Value>{before + shuffled(sum, last)};
                  });
}

SmallVector<Value, 2> SortEmission::radixSort(ValueRange from, ValueRange other, Value count) {
  Type i32 = e.b.getI32Type(), i64 = e.b.getI64Type();
  Value zero = constI64(e, 0);
  size_t words = plan.words.size();
  for (auto [word, table] : llvm::zip(plan.words, histograms)) {
    Type counters = laneType(i32, kLanes);
    Num none(e, arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(counters))));
    emitFor(e, zero, constI64(e, digitsOf(word) * kDigits), kLanes,
            [&, table = table](Value d) { storeWords(e, none, table, Index(d, 1)); });
  }
  emitFor(e, zero, count, 1, [&](Value i) {
    for (size_t w = 0; w < words; ++w) {
      Num word = loadWords(e, wordType(w), from[w], Index(i), 1);
      for (int64_t d = 0; d < digitsOf(plan.words[w]); ++d) {
        Num shift(e, constI64(e, plan.words[w].keyFrom + d * kDigitBits));
        Index at(addI(e, digitAt(word, shift), d * kDigits));
        storeWords(e, loadWords(e, i32, histograms[w], at, 1) + 1, histograms[w], at);
      }
    }
  });
  SmallVector<Value> buffers(from);
  llvm::append_range(buffers, other);
  for (size_t w = 0; w < words; ++w) {
    buffers = emitForCarrying(
        e, zero, constI64(e, digitsOf(plan.words[w])), 1, buffers,
        [&](Value d, ValueRange carried) {
          Num shift = shl(Num(e, d), 3) + static_cast<int64_t>(plan.words[w].keyFrom);
          Value table = addBytes(e, histograms[w], mulI(e, d, kDigits * 4));
          Num first = digitAt(loadWords(e, wordType(w), carried[w], Index(zero), 1), shift);
          Num same = zextTo(loadWords(e, i32, table, Index(first), 1), i64);
          Num mixed = notEqual(same, Num(e, count));
          auto branch = scf::IfOp::create(e.b, e.loc, carried.getTypes(), mixed, true);
          OpBuilder::InsertionGuard guard(e.b);
          e.b.setInsertionPointToStart(branch.elseBlock());
          scf::YieldOp::create(e.b, e.loc, carried);
          e.b.setInsertionPointToStart(branch.thenBlock());
          emitPrefixSums(e, table);
          emitFor(e, zero, count, 1, [&](Value i) {
            SmallVector<Num> record;
            for (size_t v = 0; v < words; ++v) {
              record.push_back(loadWords(e, wordType(v), carried[v], Index(i), 1));
            }
            Index digit(digitAt(record[w], shift));
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

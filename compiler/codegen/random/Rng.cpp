//===- Rng.cpp - Strategy "rng": counter-based random bits ----------------===//
//
// In: a region whose root is an rng-bit-generator: state u64[2] or u64[3] (key,
// then a counter of 64 or 128 bits). Out: the next state, and the bits, equal to
// XLA's. A *unit* is one evaluation of the generator; units are independent,
// so they run in vector lanes and tasks:
//
//   Philox-4x32-10     unit u: counter + u -> four words, stored one after another
//                      (64-bit results: two pairs of them)
//   ThreeFry-2x32-20   unit u: words of counter + u -> two words, for positions 2h and 2h+1
//                      of the first even dimension (else the longest), h counted by u;
//                      64-bit results: one element, low word first
//
// Results narrower than 32 bits are the low bits of 32-bit results.
//
// Source: J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

static constexpr int64_t kUnitsPerTask = 4096;

namespace {
struct RngEmission {
  Emission &e;

  Value constant(Type type, uint64_t value) {
    Type scalar = getElementTypeOrSelf(type);
    APInt bits(scalar.getIntOrFloatBitWidth(), value, false, /*implicitTrunc=*/true);
    TypedAttr attr = e.b.getIntegerAttr(scalar, bits);
    if (auto vector = dyn_cast<VectorType>(type)) {
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    }
    return arith::ConstantOp::create(e.b, e.loc, attr);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(e.b, e.loc, a, b); }
  Value add(Value a, uint64_t b) { return add(a, constant(a.getType(), b)); }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(e.b, e.loc, a, b); }
  Value shiftRight(Value a, uint64_t by) {
    return arith::ShRUIOp::create(e.b, e.loc, a, constant(a.getType(), by));
  }
  Value shiftLeft(Value a, uint64_t by) {
    return arith::ShLIOp::create(e.b, e.loc, a, constant(a.getType(), by));
  }
  Type withBits(Value like, unsigned bits) {
    return laneType(e.b.getIntegerType(bits), lanesOf(like));
  }
  Value low32(Value v) { return arith::TruncIOp::create(e.b, e.loc, withBits(v, 32), v); }
  Value high32(Value v) { return low32(shiftRight(v, 32)); }
  Value wide(Value v) { return arith::ExtUIOp::create(e.b, e.loc, withBits(v, 64), v); }
  Value join(Value low, Value high) {
    return arith::OrIOp::create(e.b, e.loc, wide(low), shiftLeft(wide(high), 32));
  }
  Value rotateLeft(Value v, unsigned by) {
    return arith::OrIOp::create(e.b, e.loc, shiftLeft(v, by), shiftRight(v, 32 - by));
  }

  std::array<Value, 4> philox(std::array<Value, 4> x, std::array<Value, 2> key);
  std::array<Value, 2> threeFry(std::array<Value, 2> x, std::array<Value, 2> key);
  /// 128-bit counter + 64-bit number.
  std::pair<Value, Value> addWide(Value low, Value high, Value number);
};
} // namespace

std::array<Value, 4> RngEmission::philox(std::array<Value, 4> x, std::array<Value, 2> key) {
  static constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  static constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    auto multiply = [&](Value v, uint32_t by) -> Value {
      Value w = wide(v);
      return arith::MulIOp::create(e.b, e.loc, w, constant(w.getType(), by));
    };
    Value p0 = multiply(x[0], kMultiplier0), p1 = multiply(x[2], kMultiplier1);
    x = {exclusiveOr(exclusiveOr(high32(p1), x[1]), key[0]), low32(p1),
         exclusiveOr(exclusiveOr(high32(p0), x[3]), key[1]), low32(p0)};
    key = {add(key[0], kWeyl0), add(key[1], kWeyl1)};
  }
  return x;
}

std::array<Value, 2> RngEmission::threeFry(std::array<Value, 2> x, std::array<Value, 2> key) {
  static constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = constant(key[0].getType(), 0x1BD11BDA);
  Value schedule[3] = {key[0], key[1], exclusiveOr(exclusiveOr(key[0], key[1]), parity)};
  x = {add(x[0], schedule[0]), add(x[1], schedule[1])};
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : kRotations[group % 2]) {
      Value sum = add(x[0], x[1]);
      x = {sum, exclusiveOr(rotateLeft(x[1], rotation), sum)};
    }
    x = {add(x[0], schedule[(group + 1) % 3]), add(add(x[1], schedule[(group + 2) % 3]), group + 1)};
  }
  return x;
}

std::pair<Value, Value> RngEmission::addWide(Value low, Value high, Value number) {
  Value sum = add(low, number);
  Value carry = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, sum, low);
  return {sum, arith::SelectOp::create(e.b, e.loc, carry, add(high, 1), high)};
}

LogicalResult emitRngKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<RngBitGeneratorOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'rng' must return an rng-bit-generator");
  }
  RngEmission rng{e};
  RankedTensorType stateType = arrayType(op.getState()), type = arrayType(op.getResult(1));
  if (!stateType.getElementType().isUnsignedInteger(64) || stateType.getRank() != 1 ||
      stateType.getDimSize(0) < 2 || stateType.getDimSize(0) > 3) {
    return op.emitError("rng-bit-generator supports states u64[2] and u64[3] only");
  }
  Type part = type.getElementType();
  if (isa<ComplexType>(part) || part.getIntOrFloatBitWidth() < 2) {
    return op.emitError("rng-bit-generator supports results of 2, 4, 8, 16, 32 and 64 bits only");
  }
  bool threeFry = op.getAlgorithm() == "rng_three_fry";
  unsigned bits = part.getIntOrFloatBitWidth();
  int64_t n = type.getNumElements();
  Type stored = part.isSignedInteger()
                    ? part
                    : IntegerType::get(op.getContext(), bits, IntegerType::Unsigned);
  Type u64 = IntegerType::get(op.getContext(), 64, IntegerType::Unsigned);

  ElementEmitter scalars(kernel, 1);
  auto state = [&](int64_t i) { return scalars.emit(op.getState(), {Index(constI64(e, i))}).re; };
  Value key = state(0), counter = state(1);
  // A Philox counter of two words has the key as its high one, as in XLA.
  Value counterHigh = stateType.getDimSize(0) == 3 ? state(2) : key;

  // How units lie in the result: `outer` runs of `size` along the split dimension, `inner` beyond it.
  int64_t perUnit = threeFry ? (bits == 64 ? 1 : 2) : (bits == 64 ? 2 : 4);
  int64_t outer = 1, size = n, inner = 1, half = llvm::divideCeil(n, perUnit);
  if (threeFry && perUnit == 2 && type.getRank() > 0) {
    ArrayRef<int64_t> shape = type.getShape();
    const int64_t *split = llvm::find_if(shape, [](int64_t d) { return d % 2 == 0; });
    if (split == shape.end()) {
      split = std::max_element(shape.begin(), shape.end());
    }
    size = *split;
    half = llvm::divideCeil(size, 2);
    for (const int64_t &d : shape) {
      (&d < split ? outer : inner) *= &d == split ? 1 : d;
    }
  }
  int64_t units = outer * half * inner;
  bool contiguous = inner == 1 && (outer == 1 || size % perUnit == 0);

  auto generate = [&](Value unit) {
    int64_t lanes = lanesOf(unit);
    auto all = [&](Value v) { return splat(e, v, lanes).re; };
    std::array<Value, 2> keyWords{all(rng.low32(key)), all(rng.high32(key))};
    SmallVector<Value> words;
    if (threeFry) {
      Value x = rng.add(all(counter), unit);
      auto [w0, w1] = rng.threeFry({rng.low32(x), rng.high32(x)}, keyWords);
      words = {w0, w1};
    } else {
      auto [low, high] = rng.addWide(all(counter), all(counterHigh), unit);
      auto x = rng.philox({rng.low32(low), rng.high32(low), rng.low32(high), rng.high32(high)},
                          keyWords);
      words.assign(x.begin(), x.end());
    }
    if (bits == 64) {
      for (size_t i = 0; i < words.size() / 2; ++i) {
        words[i] = rng.join(words[2 * i], words[2 * i + 1]);
      }
      words.truncate(words.size() / 2);
    } else if (bits < 32) {
      for (Value &w : words) {
        w = arith::TruncIOp::create(e.b, e.loc, rng.withBits(w, bits), w);
      }
    }
    return words;
  };

  Value result = kernel.resultPtrs[1];
  auto emitUnit = [&](Value unit) {
    SmallVector<Value> words = generate(unit);
    Value h = remI(e, divI(e, unit, inner), half), o = divI(e, unit, inner * half);
    Value rest = remI(e, unit, inner);
    for (auto [c, word] : llvm::enumerate(words)) {
      Value along = addI(e, mulI(e, h, perUnit), c);
      Value at = addI(e, mulI(e, addI(e, mulI(e, o, size), along), inner), rest);
      Value exists = compareI(e, arith::CmpIPredicate::slt, along, size);
      auto branch = scf::IfOp::create(e.b, e.loc, exists, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.thenBlock());
      storeElements(e, stored, Elem(word), result, at);
    }
  };

  int64_t lanes = std::max<int64_t>(1, e.target.lanes(8));
  // Rows of units side by side in the result, in vectors; the last vector of a row may overlap the one before.
  bool rows = threeFry && perUnit == 2 && inner >= lanes && lanes > 1;
  auto emitRow = [&](Value row) {
    Value h = remI(e, row, half), o = divI(e, row, half);
    Value to = mulI(e, addI(e, mulI(e, o, size), mulI(e, h, 2)), inner), from = mulI(e, row, inner);
    Value second = compareI(e, arith::CmpIPredicate::slt, mulI(e, h, 2), size - 1);
    emitFor(e, constI64(e, 0), constI64(e, inner), lanes, [&](Value start) {
      Value rest = minI(e, start, inner - lanes);
      Value unit = addI(e, splat(e, addI(e, from, rest), lanes).re, laneOffsets(e, lanes, 1));
      SmallVector<Value> words = generate(unit);
      Value at = addI(e, to, rest);
      storeElements(e, stored, Elem(words[0]), result, at);
      if (size % 2 == 0) {
        storeElements(e, stored, Elem(words[1]), result, addI(e, at, inner));
        return;
      }
      auto branch = scf::IfOp::create(e.b, e.loc, second, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.thenBlock());
      storeElements(e, stored, Elem(words[1]), result, addI(e, at, inner));
    });
  };

  auto [lo, hi] = rows ? splitTasks(kernel, outer * half, std::max<int64_t>(1, kUnitsPerTask / inner))
                       : splitTasks(kernel, units, kUnitsPerTask);
  // The next state is written even if there are no bits.
  kernel.tasks = std::max<int64_t>(1, kernel.tasks);
  if (!rows && contiguous && lanes > 1) {
    // Units whose results all exist, in vectors; their words are interleaved into one store.
    int64_t full = n / perUnit;
    Value end = minI(e, hi, full);
    Value count = maxI(e, subI(e, end, lo), 0);
    Value whole = addI(e, lo, mulI(e, divI(e, count, lanes), lanes));
    emitFor(e, lo, whole, lanes, [&](Value u) {
      Value unit = addI(e, splat(e, u, lanes).re, laneOffsets(e, lanes, 1));
      SmallVector<Value> words = generate(unit);
      // Pairs (0,2), (1,3) first, so that the last step alternates all four.
      while (words.size() > 1) {
        SmallVector<Value> next;
        size_t apart = words.size() / 2;
        for (size_t i = 0; i < apart; ++i) {
          next.push_back(vector::InterleaveOp::create(e.b, e.loc, words[i], words[i + apart]));
        }
        words = next;
      }
      storeElements(e, stored, Elem(words[0]), result, mulI(e, u, perUnit));
    });
    lo = whole;
  }
  if (rows) {
    emitFor(e, lo, hi, 1, emitRow);
  } else {
    emitFor(e, lo, hi, 1, emitUnit);
  }

  // The task that begins with unit 0 writes the next state.
  Value isFirst = compareI(e, arith::CmpIPredicate::eq, kernel.first, 0);
  auto branch = scf::IfOp::create(e.b, e.loc, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  auto storeState = [&](int64_t i, Value v) {
    storeElements(e, u64, Elem(v), kernel.resultPtrs[0], constI64(e, i));
  };
  storeState(0, key);
  if (threeFry) {
    storeState(1, rng.add(counter, units));
    if (stateType.getDimSize(0) == 3) {
      storeState(2, counterHigh);
    }
    return success();
  }
  int64_t vectors = llvm::divideCeil(bits == 64 ? 2 * n : n, 4);
  auto [low, high] = rng.addWide(counter, counterHigh, constI64(e, vectors));
  storeState(1, low);
  if (stateType.getDimSize(0) == 3) {
    storeState(2, high);
  }
  return success();
}

} // namespace hlo::codegen

//===- Rng.cpp - Strategy "rng": counter-based random bits ----------------===//
//
// In: a region whose root is an rng-bit-generator: state u64[2] or u64[3] (key, then a counter of
// 64 or 128 bits). Out: the next state, and the bits, equal to XLA's. A *unit* is one evaluation of
// the generator; units are independent, so they run in vector lanes and tasks:
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

/// Units of a task: calls of the generator, 16 (Philox) or 8 (ThreeFry) bytes of bits each. 4096
/// take 22 or 9 us (NOTES.md, "Sort, FFT, factorizations, random bits"), many times the 0.5 us in
/// which a task is handed out.
static constexpr int64_t kUnitsPerTask = 4096;

namespace {
/// Places of a generator's units in its result: `outer` runs of `size` elements along the split
/// dimension, each of `half` units; `inner` is the product of the dimensions after it.
struct Placement {
  int64_t perUnit; ///< results per unit
  int64_t outer = 1, size, inner = 1, half;

  int64_t units() const { return outer * half * inner; }
  /// True if the results of successive units are adjacent.
  bool isContiguous() const { return inner == 1 && (outer == 1 || size % perUnit == 0); }
};

/// 32-bit and 64-bit arithmetic on words, as scalars or one word per lane, and the two generators.
struct WordMath {
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

/// Emits the kernel of one generator.
class RngEmission {
public:
  RngEmission(KernelBuilder &kernel, RngBitGeneratorOp op);

  void emit();

private:
  Placement place(RankedTensorType type) const;
  /// The words of the units in the result's width; with several units, one per lane.
  SmallVector<Value> generate(Value unit);
  /// Emits one unit, without results beyond the end.
  void emitUnit(Value unit);
  /// Emits a row of units that are adjacent in the result, in vectors; the last vector may overlap
  /// the one before.
  void emitRow(Value row);
  /// Emits units from lo whose results all exist, in vectors, with their words interleaved into one
  /// store. Returns the first remaining unit.
  Value emitInterleaved(Value lo, Value hi);
  void emitNextState();
  void store(Value word, Value at) {
    storeElements(e, stored, Elem(word), kernel.resultPtrs[1], at);
  }

  KernelBuilder &kernel;
  Emission &e;
  WordMath math;
  bool threeFry;
  unsigned bits;
  int64_t n, stateWords, lanes;
  Type stored;
  Placement units;
  Value key, counter, counterHigh;
};
} // namespace

std::array<Value, 4> WordMath::philox(std::array<Value, 4> x, std::array<Value, 2> key) {
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

std::array<Value, 2> WordMath::threeFry(std::array<Value, 2> x, std::array<Value, 2> key) {
  static constexpr unsigned kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = constant(key[0].getType(), 0x1BD11BDA);
  Value schedule[3] = {key[0], key[1], exclusiveOr(exclusiveOr(key[0], key[1]), parity)};
  x = {add(x[0], schedule[0]), add(x[1], schedule[1])};
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned rotation : kRotations[group % 2]) {
      Value sum = add(x[0], x[1]);
      x = {sum, exclusiveOr(rotateLeft(x[1], rotation), sum)};
    }
    x = {add(x[0], schedule[(group + 1) % 3]),
         add(add(x[1], schedule[(group + 2) % 3]), group + 1)};
  }
  return x;
}

std::pair<Value, Value> WordMath::addWide(Value low, Value high, Value number) {
  Value sum = add(low, number);
  Value carry = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, sum, low);
  return {sum, arith::SelectOp::create(e.b, e.loc, carry, add(high, 1), high)};
}

RngEmission::RngEmission(KernelBuilder &kernel, RngBitGeneratorOp op)
    : kernel(kernel), e(kernel.e), math{e}, threeFry(op.getAlgorithm() == "rng_three_fry"),
      lanes(std::max<int64_t>(1, e.machine.lanes(8))) {
  RankedTensorType type = arrayType(op.getResult(1));
  Type part = type.getElementType();
  bits = part.getIntOrFloatBitWidth();
  n = type.getNumElements();
  stateWords = arrayType(op.getState()).getDimSize(0);
  stored = part.isSignedInteger() ? part
                                  : IntegerType::get(op.getContext(), bits, IntegerType::Unsigned);
  units = place(type);

  ElementEmitter scalars(kernel, 1);
  auto state = [&](int64_t i) { return scalars.emit(op.getState(), {Index(constI64(e, i))}).re; };
  key = state(0);
  counter = state(1);
  // As in XLA, a Philox counter of two words uses the key as its high word.
  counterHigh = stateWords == 3 ? state(2) : key;
}

Placement RngEmission::place(RankedTensorType type) const {
  Placement p;
  p.perUnit = threeFry ? (bits == 64 ? 1 : 2) : (bits == 64 ? 2 : 4);
  p.size = n;
  p.half = llvm::divideCeil(n, p.perUnit);
  if (threeFry && p.perUnit == 2 && type.getRank() > 0) {
    ArrayRef<int64_t> shape = type.getShape();
    const int64_t *split = llvm::find_if(shape, [](int64_t d) { return d % 2 == 0; });
    if (split == shape.end()) {
      split = std::max_element(shape.begin(), shape.end());
    }
    p.size = *split;
    p.half = llvm::divideCeil(p.size, 2);
    for (const int64_t &d : shape) {
      (&d < split ? p.outer : p.inner) *= &d == split ? 1 : d;
    }
  }
  return p;
}

SmallVector<Value> RngEmission::generate(Value unit) {
  int64_t lanes = lanesOf(unit);
  auto all = [&](Value v) { return splat(e, v, lanes).re; };
  std::array<Value, 2> keyWords{all(math.low32(key)), all(math.high32(key))};
  SmallVector<Value> words;
  if (threeFry) {
    Value x = math.add(all(counter), unit);
    auto [w0, w1] = math.threeFry({math.low32(x), math.high32(x)}, keyWords);
    words = {w0, w1};
  } else {
    auto [low, high] = math.addWide(all(counter), all(counterHigh), unit);
    auto x = math.philox({math.low32(low), math.high32(low), math.low32(high), math.high32(high)},
                         keyWords);
    words.assign(x.begin(), x.end());
  }
  if (bits == 64) {
    for (size_t i = 0; i < words.size() / 2; ++i) {
      words[i] = math.join(words[2 * i], words[2 * i + 1]);
    }
    words.truncate(words.size() / 2);
  } else if (bits < 32) {
    for (Value &w : words) {
      w = arith::TruncIOp::create(e.b, e.loc, math.withBits(w, bits), w);
    }
  }
  return words;
}

void RngEmission::emitUnit(Value unit) {
  SmallVector<Value> words = generate(unit);
  Value h = remI(e, divI(e, unit, units.inner), units.half),
        o = divI(e, unit, units.inner * units.half);
  Value rest = remI(e, unit, units.inner);
  for (auto [c, word] : llvm::enumerate(words)) {
    Value along = addI(e, mulI(e, h, units.perUnit), c);
    Value at = addI(e, mulI(e, addI(e, mulI(e, o, units.size), along), units.inner), rest);
    Value exists = compareI(e, arith::CmpIPredicate::slt, along, units.size);
    emitIf(e, exists, [&] { store(word, at); });
  }
}

void RngEmission::emitRow(Value row) {
  int64_t inner = units.inner;
  Value h = remI(e, row, units.half), o = divI(e, row, units.half);
  Value to = mulI(e, addI(e, mulI(e, o, units.size), mulI(e, h, 2)), inner),
        from = mulI(e, row, inner);
  Value second = compareI(e, arith::CmpIPredicate::slt, mulI(e, h, 2), units.size - 1);
  emitFor(e, constI64(e, 0), constI64(e, inner), lanes, [&](Value start) {
    Value rest = minI(e, start, inner - lanes);
    Value unit = addI(e, splat(e, addI(e, from, rest), lanes).re, laneOffsets(e, lanes, 1));
    SmallVector<Value> words = generate(unit);
    Value at = addI(e, to, rest);
    store(words[0], at);
    auto storeSecond = [&] { store(words[1], addI(e, at, inner)); };
    if (units.size % 2 == 0) {
      storeSecond();
    } else {
      emitIf(e, second, storeSecond);
    }
  });
}

Value RngEmission::emitInterleaved(Value lo, Value hi) {
  Value end = minI(e, hi, n / units.perUnit);
  Value count = maxI(e, subI(e, end, lo), 0);
  Value whole = addI(e, lo, mulI(e, divI(e, count, lanes), lanes));
  emitFor(e, lo, whole, lanes, [&](Value u) {
    Value unit = addI(e, splat(e, u, lanes).re, laneOffsets(e, lanes, 1));
    SmallVector<Value> words = generate(unit);
    // Interleave words (0,2) and (1,3) first, so that the last step alternates all four.
    while (words.size() > 1) {
      SmallVector<Value> next;
      size_t apart = words.size() / 2;
      for (size_t i = 0; i < apart; ++i) {
        next.push_back(vector::InterleaveOp::create(e.b, e.loc, words[i], words[i + apart]));
      }
      words = next;
    }
    store(words[0], mulI(e, u, units.perUnit));
  });
  return whole;
}

void RngEmission::emitNextState() {
  Type u64 = IntegerType::get(e.b.getContext(), 64, IntegerType::Unsigned);
  auto storeState = [&](int64_t i, Value v) {
    storeElements(e, u64, Elem(v), kernel.resultPtrs[0], constI64(e, i));
  };
  storeState(0, key);
  Value low, high = counterHigh;
  if (threeFry) {
    low = math.add(counter, units.units());
  } else {
    int64_t vectors = llvm::divideCeil(bits == 64 ? 2 * n : n, 4);
    std::tie(low, high) = math.addWide(counter, counterHigh, constI64(e, vectors));
  }
  storeState(1, low);
  if (stateWords == 3) {
    storeState(2, high);
  }
}

void RngEmission::emit() {
  // Adjacent units in vectors, if there are enough of them.
  bool rows = threeFry && units.perUnit == 2 && units.inner >= lanes && lanes > 1;
  auto [lo, hi] = rows ? splitTasks(kernel, units.outer * units.half,
                                    std::max<int64_t>(1, kUnitsPerTask / units.inner))
                       : splitTasks(kernel, units.units(), kUnitsPerTask);
  // Even without bits the next state must be written.
  kernel.tasks = std::max<int64_t>(1, kernel.tasks);
  if (!rows && units.isContiguous() && lanes > 1) {
    lo = emitInterleaved(lo, hi);
  }
  emitFor(e, lo, hi, 1, [&](Value i) { rows ? emitRow(i) : emitUnit(i); });
  // The task with unit 0 writes the next state.
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, kernel.first, 0), [&] { emitNextState(); });
}

LogicalResult emitRngKernel(KernelBuilder &kernel) {
  auto op = dyn_cast_or_null<RngBitGeneratorOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'rng' must return an rng-bit-generator");
  }
  RankedTensorType stateType = arrayType(op.getState());
  if (!stateType.getElementType().isUnsignedInteger(64) || stateType.getRank() != 1 ||
      stateType.getDimSize(0) < 2 || stateType.getDimSize(0) > 3) {
    return op.emitError("rng-bit-generator supports states u64[2] and u64[3] only");
  }
  Type part = arrayType(op.getResult(1)).getElementType();
  if (isa<ComplexType>(part) || part.getIntOrFloatBitWidth() < 2) {
    return op.emitError("rng-bit-generator supports results of 2, 4, 8, 16, 32 and 64 bits only");
  }
  RngEmission(kernel, op).emit();
  return success();
}

} // namespace hlo::codegen

//===- ArgumentReduction.cpp - x modulo pi/2 ------------------------------===//
//
// Moderate |x|: Cody and Waite's reduction with pi/2 in three or four parts. Larger ones are
// behind a branch, by Payne and Hanek's method: f32 in f64, with pieces of 2/pi from a table, for a
// scalar in a function of the module, hlo_rem_pio2f(f32) -> {hi, lo, quadrant}; f64 lane by lane,
// by a function of the module that uses integers: hlo_rem_pio2(f64) -> {hi, lo, quadrant}.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/ArgumentReduction.h"
#include "compiler/codegen/elementwise/SlowPath.h"
#include "compiler/codegen/elementwise/functions/DoubleDouble.h"
#include <limits>

using namespace mlir;

namespace hlo::codegen {

static constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
static constexpr llvm::StringLiteral functionName = "hlo_rem_pio2";
static constexpr llvm::StringLiteral floatFunctionName = "hlo_rem_pio2f";
static constexpr llvm::StringLiteral tableName = "hlo_two_over_pi";

/// 64 zero bits, then the first 1280 bits of 2/pi after the point.
static constexpr uint64_t twoOverPiBits[] = {0,
                                             0xa2f9836e4e441529,
                                             0xfc2757d1f534ddc0,
                                             0xdb6295993c439041,
                                             0xfe5163abdebbc561,
                                             0xb7246e3a424dd2e0,
                                             0x06492eea09d1921c,
                                             0xfe1deb1cb129a73e,
                                             0xe88235f52ebb4484,
                                             0xe99c7026b45f7e41,
                                             0x3991d639835339f4,
                                             0x9c845f8bbdf9283b,
                                             0x1ff897ffde05980f,
                                             0xef2f118b5a0a6d1f,
                                             0x6d367ecf27cb09b7,
                                             0x4f463f669e5fea2d,
                                             0x7527bac7ebe5f17b,
                                             0x3d0739f78a5292ea,
                                             0x6bfb5fb11f8d5d08,
                                             0x56033046fc7b6bab,
                                             0xf0cfbc209af4361d};

static LLVM::GlobalOp tableOfBits(Emission &e) {
  ModuleOp module = enclosingModule(e);
  if (auto existing = module.lookupSymbol<LLVM::GlobalOp>(tableName)) {
    return existing;
  }
  OpBuilder &b = e.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  constexpr int64_t words = std::size(twoOverPiBits);
  auto values = DenseElementsAttr::get(RankedTensorType::get({words}, b.getI64Type()),
                                       llvm::ArrayRef<uint64_t>(twoOverPiBits));
  return LLVM::GlobalOp::create(b, e.loc, LLVM::LLVMArrayType::get(b.getI64Type(), words),
                                /*isConstant=*/true, LLVM::Linkage::Internal, tableName, values);
}

/// The body of hlo_rem_pio2: |x| in [2^-10, inf) = M 2^E with M an integer of 53 bits. Only 192
/// bits of 2/pi matter, from weight 2^-(E - 1) on: higher bits give multiples of 4 quadrants, lower
/// bits are below the result's precision.
static SmallVector<Num> payneHanek(Num x) {
  Emission &e = *x.e;
  Num bits = bitsOf(x);
  Num mantissa = (bits & INT64_C(0x000fffffffffffff)) | INT64_C(0x0010000000000000);
  Num offset = (shrU(bits, 52) & 0x7ff) + (64 - 2 - 1075);
  Num word = shrU(offset, 6);
  Num shift = offset & 63;
  Value base = LLVM::AddressOfOp::create(e.b, e.loc, tableOfBits(e));
  SmallVector<Num, 4> words;
  for (int i = 0; i < 4; ++i) {
    Value pointer = LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI64Type(), base,
                                        ArrayRef<LLVM::GEPArg>{Value(word + i)});
    words.push_back(Num(e, LLVM::LoadOp::create(e.b, e.loc, e.b.getI64Type(), pointer, 8)));
  }
  SmallVector<Num, 3> window;
  for (int i = 0; i < 3; ++i) {
    window.push_back(shl(words[i], shift) | shrU(shrU(words[i + 1], 1), 63 - shift));
  }
  auto product = [&](Num a, Num b) {
    auto op = arith::MulUIExtendedOp::create(e.b, e.loc, a, b);
    return std::pair(Num(e, op.getLow()), Num(e, op.getHigh()));
  };
  auto [low2, high2] = product(mantissa, window[2]);
  auto [low1, high1] = product(mantissa, window[1]);
  Num middle = high2 + low1;
  Num carry = zextTo(below(middle, high2), e.b.getI64Type());
  Num top = high1 + mantissa * window[0] + carry;
  // top:middle:low2 is x 2/pi in units of 2^-190, modulo 4.
  Num quadrant = shrU(top, 62);
  Num high = shl(top, 2) | shrU(middle, 62);
  Num low = shl(middle, 2) | shrU(low2, 62);
  Num above = less(high, 0);
  quadrant = quadrant + zextTo(above, e.b.getI64Type());
  Num carried = zextTo(equal(low, 0), e.b.getI64Type());
  high = select(above, (high ^ -1) + carried, high);
  low = select(above, -low, low);
  auto piece = [&](Num bitsOfPiece, double unit) {
    return signedToFloat(bitsOfPiece, e.b.getF64Type()) * unit;
  };
  NumPair fraction = twoSum(piece(shrU(high, 32), 0x1p-32), piece(high & 0xffffffff, 0x1p-64));
  fraction = fraction + piece(shrU(low, 32), 0x1p-96);
  fraction = fraction + piece(low & 0xffffffff, 0x1p-128);
  NumPair rest = fraction * NumPair{x.of(0x1.921fb54442d18p+0), x.of(0x1.1a62633145c07p-54)};
  Num negative = less(bits, 0);
  Num flip = negative ^ above;
  rest = selectPair(flip, negate(rest), rest);
  quadrant = select(negative, -quadrant, quadrant);
  return {rest.hi, rest.lo, quadrant};
}

/// {rest.hi, rest.lo, quadrant} of every lane of x (f64), |x| in [2^-10, inf).
static SmallVector<Num> reduceLanes(Num x) {
  Emission &e = *x.e;
  Type f64 = e.b.getF64Type();
  auto function =
      internalFunction(e, functionName, {f64}, {f64, f64, e.b.getI64Type()},
                       [&](ArrayRef<Num> arguments) { return payneHanek(arguments[0]); });
  return callPerLane(function, {x});
}

static constexpr llvm::StringLiteral piecesName = "hlo_two_over_pi_pieces";
/// For each exponent of an f32 x: three pieces of 28 bits of 2/pi, starting with the first bit
/// whose product with x is not a multiple of 4.
static constexpr int64_t exponents = 128, pieces = 3, pieceBits = 28;

static LLVM::GlobalOp tableOfPieces(Emission &e) {
  ModuleOp module = enclosingModule(e);
  if (auto existing = module.lookupSymbol<LLVM::GlobalOp>(piecesName)) {
    return existing;
  }
  SmallVector<double> values;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    for (int64_t exponent = 0; exponent < exponents; ++exponent) {
      // Bits of weight 2^-j; the table of bits has 64 zeros before that of 2^-1.
      double value = 0.0;
      for (int64_t bit = 0; bit < pieceBits; ++bit) {
        int64_t j = exponent - 24 + piece * pieceBits + bit, at = j + 63;
        uint64_t one = twoOverPiBits[at / 64] >> (63 - at % 64) & 1;
        value += std::ldexp(static_cast<double>(one), static_cast<int>(-j));
      }
      values.push_back(value);
    }
  }
  OpBuilder &b = e.b;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  int64_t count = exponents * pieces;
  return LLVM::GlobalOp::create(
      b, e.loc, LLVM::LLVMArrayType::get(b.getF64Type(), count), /*isConstant=*/true,
      LLVM::Linkage::Internal, piecesName,
      DenseElementsAttr::get(RankedTensorType::get({count}, b.getF64Type()), ArrayRef(values)));
}

/// x modulo pi/2 and the quadrant (i64) of f32 lanes, computed in f64, 1 <= |x| < inf. Products of
/// 24 and 28 bits are exact.
static std::pair<Num, Num> reduceFloatLanes(Num x, Num wide) {
  Emission &e = *x.e;
  Value base = LLVM::AddressOfOp::create(e.b, e.loc, tableOfPieces(e));
  Num exponent = zextTo((shrU(bitsOf(x), 23) & 0xff) - 127, e.b.getI64Type());
  auto product = [&](int64_t piece) {
    Num index = exponent + piece * exponents;
    Elem factor = x.lanes() == 1 ? loadElements(e, e.b.getF64Type(), base, index, 1)
                                 : gatherElements(e, e.b.getF64Type(), base, index);
    return wide * Num(e, factor.re);
  };
  Num high = product(0), middle = product(1);
  Rounded n = roundToInteger(high);
  high = high - n.value;
  Rounded more = roundToInteger(high + middle);
  Num fraction = ((high - more.value) + middle) + product(2);
  return {fraction * 0x1.921fb54442d18p+0, n.integer + more.integer};
}

static Num isFinite(Num x) { return less(abs(x), std::numeric_limits<double>::infinity()); }

namespace {
/// x = n pi/2 + hi + lo with decreasing magnitudes; hi may be wrong in its last bit.
struct Parts {
  Rounded n;
  Num hi, lo;
};
} // namespace

static Parts subtractHalfPi(Num x) {
  Rounded n = roundProduct(x, twoOverPi);
  // Parts of 33 bits: their products with n < 2^20 are exact.
  Num first = fma(n.value, -0x1.921fb544p+0, x);
  Num hi = fma(n.value, -0x1.0b4611a6p-34, first);
  Num lo = fma(n.value, -0x1.0b4611a6p-34, first - hi);
  lo = fma(n.value, -0x1.3198a2ep-69, lo);
  return {n, hi, fma(n.value, -0x1.b839a252049c1p-104, lo)};
}

static constexpr double doubleLimit = 0x1p20;

static Reduced reduceDouble(Num x) {
  auto [n, hi, lo] = subtractHalfPi(x);
  NumPair rest = fastTwoSum(hi, lo);
  Num beyond = greater(abs(x), doubleLimit);
  SmallVector<Num> parts = rarely(beyond, {rest.hi, rest.lo, n.integer}, [&] {
    Num huge = beyond & isFinite(x);
    SmallVector<Num> large = reduceLanes(select(huge, x, doubleLimit));
    return SmallVector<Num>{select(huge, large[0], rest.hi), select(huge, large[1], rest.lo),
                            select(huge, large[2], n.integer)};
  });
  return {{parts[0], parts[1]}, parts[2]};
}

/// Below this n < 2^16, and three parts of pi/2 suffice.
static constexpr double floatLimit = 0x1p16;

/// Splits numbers of f64 into two of f32.
static NumPair splitToFloat(Num wide, Type f32) {
  Num hi = floatTo(wide, f32);
  return {hi, floatTo(wide - floatTo(hi, wide.e->b.getF64Type()), f32)};
}

/// f32, |x| <= floatLimit.
static Reduced reduceModerateFloat(Num x) {
  OpBuilder &b = x.e->b;
  if (!x.e->machine.fma) {
    Num wide = floatTo(x, b.getF64Type());
    Rounded n = roundProduct(wide, twoOverPi);
    Num rest = (wide - n.value * 0x1.921fb544p+0) - n.value * 0x1.0b4611a626331p-34;
    return {splitToFloat(rest, x.scalar()), zextTo(n.integer, b.getI32Type())};
  }
  // The lowest bits of the sum's representation are those of n.
  double magic = FloatTraits(x).integerMagic;
  Num sum = fma(x, twoOverPi, magic), n = sum - magic;
  Num first = fma(n, -0x1.921fb6p+0, x);
  Num second = fma(n, 0x1.777a5cp-25, first);
  NumPair rest;
  rest.hi = fma(n, 0x1.ee59dap-50, second);
  // The same with the rounding errors added, for tan.
  NumPair product = twoProduct(n, x.of(0x1.777a5cp-25));
  NumPair exact = twoSum(first, product.hi);
  rest.lo = (exact.hi - rest.hi) + fma(n, 0x1.ee59dap-50, exact.lo + product.lo);
  return {rest, bitsOf(sum)};
}

/// Any f32, with the slow path in place.
static Reduced reduceFloat(Num x) {
  OpBuilder &b = x.e->b;
  auto [rest, quadrant] = reduceModerateFloat(x);
  Num beyond = greater(abs(x), floatLimit);
  SmallVector<Num> parts = rarely(beyond, {rest.hi, rest.lo, quadrant}, [&] {
    Num huge = beyond & isFinite(x);
    Num bounded = select(huge, x, floatLimit);
    auto [large, turns] = reduceFloatLanes(bounded, floatTo(bounded, b.getF64Type()));
    NumPair both = splitToFloat(large, x.scalar());
    return SmallVector<Num>{select(huge, both.hi, rest.hi), select(huge, both.lo, rest.lo),
                            select(huge, zextTo(turns, b.getI32Type()), quadrant)};
  });
  return {{parts[0], parts[1]}, parts[2]};
}

/// {rest.hi, rest.lo, quadrant} of any scalar f32, by a call: a module of many scalar sines has
/// this code once.
static SmallVector<Num> callReduceFloat(Num x) {
  Type f32 = x.scalar();
  auto function = internalFunction(
      *x.e, floatFunctionName, {f32}, {f32, f32, x.e->b.getI32Type()}, [](ArrayRef<Num> arguments) {
        Reduced reduced = reduceFloat(arguments[0]);
        return SmallVector<Num>{reduced.rest.hi, reduced.rest.lo, reduced.quadrant};
      });
  return callPerLane(function, {x});
}

static Reduced reduceScalarFloat(Num x) {
  auto [rest, quadrant] = reduceModerateFloat(x);
  SmallVector<Num> parts = rarely(greater(abs(x), floatLimit), {rest.hi, rest.lo, quadrant},
                                  [&] { return callReduceFloat(x); });
  return {{parts[0], parts[1]}, parts[2]};
}

/// n times the third part of pi/2 is less than 2^-33, which is rounded away if the rest has an ulp
/// of 2^-31: two parts then give the same rest. Smaller rests take reduceByHalfPi; they are as rare
/// as huge arguments.
Reduced reduceOneLane(Num x) {
  Rounded n = roundProduct(x, twoOverPi);
  Num rest = fma(n.value, 0x1.777a5cp-25, fma(n.value, -0x1.921fb6p+0, x));
  Num rare = greater(abs(x), floatLimit) | less(abs(rest), 0x1p-8);
  SmallVector<Num> parts = rarely(rare, {rest, n.integer}, [&] {
    SmallVector<Num> reduced = callReduceFloat(x);
    return SmallVector<Num>{reduced[0], reduced[2]};
  });
  return {{parts[0], {}}, parts[1]};
}

Reduced guessOneLane(Num x, Num &wrong) {
  auto [n, hi, lo] = subtractHalfPi(x);
  wrong = greater(abs(x), doubleLimit) | notEqual(hi + lo, hi);
  return {{hi, lo}, n.integer};
}

Reduced reduceByHalfPi(Num x) {
  if (x.isF64()) {
    return reduceDouble(x);
  }
  return x.lanes() == 1 ? reduceScalarFloat(x) : reduceFloat(x);
}

} // namespace hlo::codegen

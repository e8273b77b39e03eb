//===- Estimate.cpp - What the target has tables for ----------------------===//
//
// Reciprocals and roots good to 14 bits: in f32 or f64, a number or a vector that fills a register.
// Out: the instruction's estimate, or null on targets (and for vectors) that have none. In
// divisions that are only a part of a function they free the divider, which takes 16 cycles for
// eight f64. And tables of 32 f32 or 16 f64 in two registers, one instruction to look 16 or 8 lanes
// up in; of AVX2, 8 f32 in one. And minima and maxima that know zeros apart.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Functions.h"
#include "compiler/codegen/elementwise/SlowPath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hlo::codegen {

/// What `apply` makes of registers of so many lanes, for numbers and vectors of other sizes: the
/// lanes of less than a register are repeated, what fills several is taken apart.
static Num byRegisters(ArrayRef<Num> operands, int64_t registerLanes,
                       llvm::function_ref<Value(ArrayRef<Value>)> apply) {
  Emission &e = *operands[0].e;
  int64_t lanes = operands[0].lanes();
  auto shuffle = [&](Value v, int64_t from, int64_t count) -> Value {
    SmallVector<int64_t> order(count);
    for (int64_t l = 0; l < count; ++l) {
      order[l] = from + l % std::min(lanes, count);
    }
    return vector::ShuffleOp::create(e.b, e.loc, v, v, order);
  };
  auto registersFrom = [&](int64_t from) {
    return llvm::map_to_vector(operands, [&](Num operand) -> Value {
      if (lanes == 1) {
        Type type = laneType(operand.scalar(), registerLanes);
        return vector::BroadcastOp::create(e.b, e.loc, type, operand.v);
      }
      return lanes == registerLanes ? operand.v : shuffle(operand.v, from, registerLanes);
    });
  };
  Value first = apply(registersFrom(0));
  if (lanes == 1) {
    return Num(e, vector::ExtractOp::create(e.b, e.loc, first, int64_t(0)));
  }
  if (lanes <= registerLanes) {
    return Num(e, lanes == registerLanes ? first : shuffle(first, 0, lanes));
  }
  Type type = laneType(cast<VectorType>(first.getType()).getElementType(), lanes);
  Value all = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
  for (int64_t from = 0; from < lanes; from += registerLanes) {
    Value part = from == 0 ? first : apply(registersFrom(from));
    all = vector::InsertStridedSliceOp::create(e.b, e.loc, part, all, ArrayRef<int64_t>{from},
                                               ArrayRef<int64_t>{1});
  }
  return Num(e, all);
}

static Value callIntrinsic(Emission &e, Type result, const Twine &name, ArrayRef<Value> operands) {
  StringAttr full = e.b.getStringAttr("llvm.x86." + name);
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, result, full, operands).getResult(0);
}

/// The mask that lets so many lanes through.
static Value allLanes(Emission &e, int64_t lanes) {
  Type type = e.b.getIntegerType(std::max<int64_t>(lanes, 8));
  return arith::ConstantOp::create(e.b, e.loc, e.b.getIntegerAttr(type, -1));
}

Num estimate(Num x, Estimate kind) {
  Emission &e = *x.e;
  int64_t lanes = x.lanes() == 1 ? 128 / x.width() : std::min<int64_t>(x.lanes(), 512 / x.width());
  int64_t bits = lanes * x.width();
  if (!e.target.avx512 || (bits != 128 && bits != 256 && bits != 512) ||
      (x.lanes() > 1 && x.lanes() % lanes != 0)) {
    return {};
  }
  std::string name = kind == Estimate::Reciprocal ? "avx512.rcp14." : "avx512.rsqrt14.";
  name += (x.isF64() ? "pd." : "ps.") + std::to_string(bits);
  return byRegisters(x, lanes, [&](ArrayRef<Value> of) -> Value {
    return callIntrinsic(e, of[0].getType(), name, {of[0], of[0], allLanes(e, lanes)});
  });
}

Num coarseReciprocalRoot(Num x) {
  Emission &e = *x.e;
  int64_t lanes = x.lanes() <= 4 ? 4 : 8;
  if (!e.target.fma || x.isF64() || (x.lanes() > 1 && x.lanes() % lanes != 0)) {
    return {};
  }
  StringRef name = lanes == 4 ? "sse.rsqrt.ps" : "avx.rsqrt.ps.256";
  return byRegisters(x, lanes, [&](ArrayRef<Value> of) -> Value {
    return callIntrinsic(e, of[0].getType(), name, {of[0]});
  });
}

static Value i32Constant(Emission &e, int32_t value) {
  return arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(value));
}

/// An AVX-512 instruction of some operands, flags and a mask, on vectors that fill registers of
/// `leastBits` or more; null where there are none. One number is the first lane of the smallest.
static Num inRegisters(ArrayRef<Num> operands, StringRef instruction, ArrayRef<Value> immediates,
                       int64_t leastBits) {
  Num x = operands[0];
  Emission &e = *x.e;
  int64_t wanted = x.lanes() == 1 ? leastBits : std::min<int64_t>(512, x.lanes() * x.width());
  int64_t lanes = wanted / x.width();
  bool isRegister = wanted == 128 || wanted == 256 || wanted == 512;
  if (!e.target.avx512 || !isRegister || wanted < leastBits ||
      (x.lanes() > 1 && x.lanes() % lanes != 0) || (x.lanes() == 1 && leastBits == 512)) {
    return {};
  }
  return byRegisters(operands, lanes, [&](ArrayRef<Value> of) {
    SmallVector<Value> arguments(of);
    arguments.append(immediates.begin(), immediates.end());
    arguments.append({of[0], allLanes(e, lanes)});
    if (wanted == 512) {
      arguments.push_back(i32Constant(e, 4)); // rounded as the control register says
    }
    return callIntrinsic(
        e, of[0].getType(),
        "avx512.mask." + instruction + (x.isF64() ? ".pd." : ".ps.") + Twine(wanted), arguments);
  });
}

Num scaledInRegisters(Num x, Num n) { return inRegisters({x, n}, "scalef", {}, 512); }

Num exponentInRegisters(Num x) { return inRegisters(x, "getexp", {}, 512); }

Num fractionInRegisters(Num x) {
  // In [1, 2), without the sign.
  return inRegisters(x, "getmant", i32Constant(*x.e, 4), 512);
}

Num unsignedToOdd(Num x) {
  Emission &e = *x.e;
  constexpr int64_t lanes = 16;
  constexpr int32_t up = 2, towardsZero = 3, noExceptions = 8;
  if (!e.target.avx512 || e.target.vectorBytes < 64 || x.lanes() % lanes != 0) {
    return {};
  }
  auto rounded = [&](int32_t mode) {
    return bitsOf(byRegisters(x, lanes, [&](ArrayRef<Value> of) {
      Type type = laneType(e.b.getF32Type(), lanes);
      Value control = i32Constant(e, mode | noExceptions);
      return callIntrinsic(e, type, "avx512.uitofp.round.v16f32.v16i32", {of[0], control});
    }));
  };
  // Of two neighbours one is odd: the upper, or else the lower is already.
  return floatOf(rounded(towardsZero) | (rounded(up) & 1));
}

Num extremumInRegisters(Num a, Num b, bool maximum) {
  Emission &e = *a.e;
  if (a.width() < 32) {
    return {};
  }
  if (a.lanes() == 1 && e.target.avx512) {
    // As a vector all the way: a comparison of two numbers goes through flags and a general
    // register.
    Type type = laneType(a.scalar(), 128 / a.width());
    Value nothing = LLVM::UndefOp::create(e.b, e.loc, type);
    auto first = [&](Num x) {
      return Num(e, vector::InsertOp::create(e.b, e.loc, x.v, nothing, int64_t(0)));
    };
    Num result = extremumInRegisters(first(a), first(b), maximum);
    return Num(e, vector::ExtractOp::create(e.b, e.loc, result.v, int64_t(0)));
  }
  // With the sign of what it chooses: -0 is less than 0. It chooses numbers before NaNs.
  Num chosen = inRegisters({a, b}, "range", i32Constant(e, maximum ? 5 : 4), 128);
  if (!chosen.v) {
    return {};
  }
  Num unordered(e, arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNO, a.v, b.v));
  return select(unordered, a + b, chosen);
}

Num quotientWithin(Num a, Num b) {
  Num start = estimate(b, Estimate::Reciprocal);
  if (!start.v) {
    return a / b;
  }
  // a r (1 + e + e^2) of e = 1 - b r, |e| < 2^-14.
  Num error = fma(-b, start, 1.0);
  Num product = a * start;
  return fma(product, fma(error, error, error), product);
}

Num rootWithin(Num a) {
  Num start = estimate(maxNum(a.of(0x1p-600), a), Estimate::ReciprocalRoot);
  if (!start.v) {
    return sqrt(a);
  }
  // a / sqrt(a) (1 + error / 2 + 3 error^2 / 8).
  Num product = a * start;
  Num error = fma(-product, start, 1.0);
  return fma(product * error, fma(error, 0.375, 0.5), product);
}

int64_t lookupEntries(Num x) {
  const Target &target = x.e->target;
  if (!x.isFloat() || x.isF64() || target.vectorBytes < 32 || !target.fma) {
    return 0;
  }
  int64_t lanes = x.lanes(), registerLanes = target.avx512 ? 16 : 8;
  if (lanes % registerLanes != 0 && (lanes > registerLanes || !llvm::isPowerOf2_64(lanes))) {
    return 0;
  }
  return target.avx512 ? 32 : 8;
}

static Value constantVector(Emission &e, Type element, ArrayRef<double> values) {
  auto attributes = llvm::map_to_vector(
      values, [&](double value) -> Attribute { return FloatAttr::get(element, value); });
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, element);
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, attributes));
}

/// table[index & (2 lanes - 1)], of a table of twice as many numbers as a register of AVX-512 has
/// lanes.
static Num lookupInRegisters(Num index, Type element, ArrayRef<double> table) {
  Emission &e = *index.e;
  int64_t lanes = table.size() / 2;
  Value low = constantVector(e, element, table.take_front(lanes));
  Value high = constantVector(e, element, table.drop_front(lanes));
  StringRef name = element.isF32() ? "avx512.vpermi2var.ps.512" : "avx512.vpermi2var.pd.512";
  return byRegisters(index, lanes, [&](ArrayRef<Value> of) {
    return callIntrinsic(e, low.getType(), name, {low, of[0], high});
  });
}

Num lookup(Num index, ArrayRef<double> table) {
  Emission &e = *index.e;
  if (e.target.avx512) {
    return lookupInRegisters(index, e.b.getF32Type(), table);
  }
  Value entries = constantVector(e, e.b.getF32Type(), table);
  return byRegisters(index, static_cast<int64_t>(table.size()), [&](ArrayRef<Value> of) {
    return callIntrinsic(e, entries.getType(), "avx2.permps", {entries, of[0]});
  });
}

/// The address of an internal constant of the module.
static Value addressOfTable(Emission &e, StringRef name, ArrayRef<double> table) {
  ModuleOp module = enclosingModule(e);
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(module.getBody());
    int64_t count = table.size();
    Type f64 = e.b.getF64Type();
    global =
        LLVM::GlobalOp::create(e.b, e.loc, LLVM::LLVMArrayType::get(f64, count),
                               /*isConstant=*/true, LLVM::Linkage::Internal, name,
                               DenseElementsAttr::get(RankedTensorType::get({count}, f64), table));
  }
  return LLVM::AddressOfOp::create(e.b, e.loc, global);
}

Num lookup16(Num index, StringRef name, ArrayRef<double> table) {
  constexpr int64_t registerLanes = 8;
  Emission &e = *index.e;
  int64_t lanes = index.lanes();
  Type f64 = e.b.getF64Type();
  if (lanes == 1 || !e.target.avx512 || (lanes > registerLanes && lanes % registerLanes)) {
    Value base = addressOfTable(e, name, table);
    Num place = index & 15;
    Elem value =
        lanes == 1 ? loadElements(e, f64, base, place, 1) : gatherElements(e, f64, base, place);
    return Num(e, value.re);
  }
  return lookupInRegisters(index, f64, table);
}

Num oddPiecewise(Num a, double shift, int64_t dropped, ArrayRef<ArrayRef<double>> rows) {
  Num bits = bitsOf(a + shift);
  Num index = shrS(bits, dropped);
  Num start = floatOf(bits & -(INT64_C(1) << dropped)) - shift;
  Num t = a - start;
  Num p = lookup(index, rows.back());
  for (size_t power = rows.size() - 1; power-- > 1;) {
    p = fma(t, p, lookup(index, rows[power]));
  }
  return fma(t, p, select(equal(start, 0.0), t, lookup(index, rows.front())));
}

} // namespace hlo::codegen

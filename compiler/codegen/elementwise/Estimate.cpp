//===- Estimate.cpp - What AVX-512 has tables for -------------------------===//
//
// Reciprocals and roots good to 14 bits: in f32 or f64, a number or a vector that fills a register.
// Out: the instruction's estimate, or null on targets (and for vectors) that have none. In
// divisions that are only a part of a function they free the divider, which takes 16 cycles for
// eight f64. And tables of 32 f32 or 16 f64 in two registers, one instruction to look 16 or 8 lanes
// up in. And minima and maxima that know zeros apart.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Functions.h"
#include "compiler/codegen/elementwise/SlowPath.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hlo::codegen {

Num estimate(Num x, Estimate kind) {
  Emission &e = *x.e;
  int64_t registerLanes = x.lanes() == 1 ? 128 / x.width() : x.lanes();
  int64_t bits = registerLanes * x.width();
  if (e.target.avx512 && bits > 512 && bits % 512 == 0) {
    // f64 beside f32 that fill a register: of each register's lanes, then of all.
    int64_t lanes = 512 / x.width();
    Value all = x.v;
    for (int64_t from = 0; from < x.lanes(); from += lanes) {
      Value part = vector::ExtractStridedSliceOp::create(
          e.b, e.loc, x.v, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
      all = vector::InsertStridedSliceOp::create(e.b, e.loc, estimate(Num(e, part), kind), all,
                                                 ArrayRef<int64_t>{from}, ArrayRef<int64_t>{1});
    }
    return Num(e, all);
  }
  if (!e.target.avx512 || (bits != 128 && bits != 256 && bits != 512)) {
    return {};
  }
  Value source = x.v;
  if (x.lanes() == 1) {
    source = vector::BroadcastOp::create(e.b, e.loc, laneType(x.scalar(), registerLanes), source);
  }
  Value mask = arith::ConstantOp::create(
      e.b, e.loc, e.b.getIntegerAttr(e.b.getIntegerType(std::max<int64_t>(registerLanes, 8)), -1));
  std::string name = "llvm.x86.avx512.";
  name += kind == Estimate::Reciprocal ? "rcp14." : "rsqrt14.";
  name += x.isF64() ? "pd." : "ps.";
  Value result = LLVM::CallIntrinsicOp::create(e.b, e.loc, source.getType(),
                                                 e.b.getStringAttr(name + std::to_string(bits)),
                                                 ValueRange{source, source, mask})
                       .getResult(0);
  if (x.lanes() == 1) {
    result = vector::ExtractOp::create(e.b, e.loc, result, int64_t(0));
  }
  return Num(e, result);
}

/// An AVX-512 instruction of two operands, a flag and a mask, on vectors that fill whole registers;
/// null where there are none.
static Num inRegisters(Num x, Num y, StringRef instruction, ArrayRef<Value> immediates) {
  Emission &e = *x.e;
  int64_t lanes = 512 / x.width();
  if (!e.target.avx512 || x.lanes() % lanes != 0) {
    return {};
  }
  Value mask =
      arith::ConstantOp::create(e.b, e.loc, e.b.getIntegerAttr(e.b.getIntegerType(lanes), -1));
  Value rounding = arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(4));
  auto name = e.b.getStringAttr("llvm.x86.avx512.mask." + instruction +
                                (x.isF64() ? ".pd.512" : ".ps.512"));
  auto apply = [&](Value a, Value b) -> Value {
    SmallVector<Value> operands{a, b};
    operands.append(immediates.begin(), immediates.end());
    operands.append({a, mask, rounding});
    return LLVM::CallIntrinsicOp::create(e.b, e.loc, a.getType(), name, operands).getResult(0);
  };
  if (x.lanes() == lanes) {
    return Num(e, apply(x, y));
  }
  Value all = x.v;
  for (int64_t from = 0; from < x.lanes(); from += lanes) {
    auto part = [&](Value v) -> Value {
      return vector::ExtractStridedSliceOp::create(e.b, e.loc, v, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{lanes},
                                                   ArrayRef<int64_t>{1});
    };
    all = vector::InsertStridedSliceOp::create(e.b, e.loc, apply(part(x), part(y)), all,
                                               ArrayRef<int64_t>{from}, ArrayRef<int64_t>{1});
  }
  return Num(e, all);
}

Num scaledInRegisters(Num x, Num n) { return inRegisters(x, n, "scalef", {}); }

Num extremumInRegisters(Num a, Num b, bool maximum) {
  Emission &e = *a.e;
  if (a.width() < 32) {
    return {};
  }
  // With the sign of what it chooses: -0 is less than 0. It chooses numbers before NaNs.
  Value choice = arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(maximum ? 5 : 4));
  Num chosen = inRegisters(a, b, "range", {choice});
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

bool hasLookup(Num x) {
  int64_t lanes = x.lanes();
  return x.e->target.avx512 && !x.isF64() && x.isFloat() &&
         (lanes % 16 == 0 || (lanes < 16 && llvm::isPowerOf2_64(lanes)));
}

/// table[index & 31] of 16 lanes.
static Value lookupRegister(Emission &e, Value index, ArrayRef<double> table) {
  auto type = VectorType::get({16}, e.b.getF32Type());
  auto half = [&](ArrayRef<double> values) -> Value {
    SmallVector<float> narrow(values);
    return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef(narrow)));
  };
  Value low = half(table.take_front(16)), high = half(table.drop_front(16));
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, type,
                                       e.b.getStringAttr("llvm.x86.avx512.vpermi2var.ps.512"),
                                       ValueRange{low, index, high})
      .getResult(0);
}

Num lookup(Num index, ArrayRef<double> table) {
  Emission &e = *index.e;
  int64_t lanes = index.lanes();
  auto shuffle = [&](Value v, int64_t from, int64_t count) -> Value {
    SmallVector<int64_t> order(count);
    for (int64_t l = 0; l < count; ++l) {
      order[l] = from + l % std::min(lanes, count);
    }
    return vector::ShuffleOp::create(e.b, e.loc, v, v, order);
  };
  if (lanes == 16) {
    return Num(e, lookupRegister(e, index, table));
  }
  if (lanes == 1) {
    Value all = vector::BroadcastOp::create(e.b, e.loc, VectorType::get({16}, e.b.getI32Type()),
                                            index.v);
    return Num(e, vector::ExtractOp::create(e.b, e.loc, lookupRegister(e, all, table), int64_t(0)));
  }
  if (lanes < 16) {
    return Num(e, shuffle(lookupRegister(e, shuffle(index, 0, 16), table), 0, lanes));
  }
  Value all = arith::ConstantOp::create(
      e.b, e.loc, e.b.getZeroAttr(VectorType::get({lanes}, e.b.getF32Type())));
  for (int64_t from = 0; from < lanes; from += 16) {
    Value part = lookupRegister(e, shuffle(index, from, 16), table);
    all = vector::InsertStridedSliceOp::create(e.b, e.loc, part, all, ArrayRef<int64_t>{from},
                                               ArrayRef<int64_t>{1});
  }
  return Num(e, all);
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
    global = LLVM::GlobalOp::create(e.b, e.loc, LLVM::LLVMArrayType::get(f64, count), /*isConstant=*/true,
                                    LLVM::Linkage::Internal, name,
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
    Elem value = lanes == 1 ? loadElements(e, f64, base, place, 1) : gatherElements(e, f64, base, place);
    return Num(e, value.re);
  }
  auto type = VectorType::get({registerLanes}, f64);
  auto half = [&](ArrayRef<double> values) -> Value {
    return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, values));
  };
  Value low = half(table.take_front(8)), high = half(table.drop_front(8));
  auto lookRegisterUp = [&](Value places) -> Value {
    return LLVM::CallIntrinsicOp::create(e.b, e.loc, type, e.b.getStringAttr("llvm.x86.avx512.vpermi2var.pd.512"),
                                         ValueRange{low, places, high})
        .getResult(0);
  };
  auto shuffle = [&](Value v, int64_t from, int64_t count) -> Value {
    SmallVector<int64_t> order(count);
    for (int64_t l = 0; l < count; ++l) {
      order[l] = from + l % std::min(lanes, count);
    }
    return vector::ShuffleOp::create(e.b, e.loc, v, v, order);
  };
  if (lanes <= registerLanes) {
    Value found = lookRegisterUp(lanes == registerLanes ? index.v : shuffle(index, 0, registerLanes));
    return Num(e, lanes == registerLanes ? found : shuffle(found, 0, lanes));
  }
  Value all = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(laneType(f64, lanes)));
  for (int64_t from = 0; from < lanes; from += registerLanes) {
    all = vector::InsertStridedSliceOp::create(e.b, e.loc, lookRegisterUp(shuffle(index, from, registerLanes)), all,
                                               ArrayRef<int64_t>{from}, ArrayRef<int64_t>{1});
  }
  return Num(e, all);
}

Num oddPiecewise(Num a, double shift, int64_t dropped, ArrayRef<double[32]> rows) {
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

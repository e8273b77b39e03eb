//===- Estimate.cpp - Functions that are one instruction of a machine -----===//
//
// Applies the machine's own instructions (LaneFunction, Lookup) to scalars and to vectors that
// fill registers; null if the machine has none for them. These are estimates of reciprocals and
// of roots, which keep the divider free; exponents and fractions; minima and maxima that order
// zeros; look-ups in tables that registers hold.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/SlowPath.h"
#include "compiler/codegen/elementwise/functions/Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hlo::codegen {

/// Applies `apply`, which takes registers of so many lanes, to values of any size: a smaller value
/// is repeated to fill a register, a larger one is split into several.
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

Num inRegisters(const LaneFunction &f, ArrayRef<Num> operands) {
  Emission &e = *operands[0].e;
  return byRegisters(operands, f.registerLanes(operands[0].lanes()),
                     [&](ArrayRef<Value> of) { return f.emit(e, f, of); });
}

/// The machine's function of this kind for operands like these, applied to them; null if there is
/// none.
static Num applied(LaneFunction::Kind kind, ArrayRef<Num> operands, double mostError = 1) {
  Num x = operands[0];
  int bits = static_cast<int>(x.width());
  const LaneFunction *f = x.e->machine.function(kind, bits, x.lanes(), mostError);
  return f ? inRegisters(*f, operands) : Num();
}

Num estimate(Num x, LaneFunction::Kind kind) { return applied(kind, x, 0x1p-14); }

Num scaledInRegisters(Num x, Num n) { return applied(LaneFunction::ScaleByPower, {x, n}); }

Num exponentInRegisters(Num x) { return applied(LaneFunction::Exponent, x); }

Num fractionInRegisters(Num x) { return applied(LaneFunction::Fraction, x); }

Num unsignedToOdd(Num x) {
  Num down = applied(LaneFunction::UnsignedToFloatDown, x);
  Num up = down.v ? applied(LaneFunction::UnsignedToFloatUp, x) : Num();
  // Of two adjacent floats one is odd: the upper one; otherwise the lower one already is.
  return up.v ? floatOf(bitsOf(down) | (bitsOf(up) & 1)) : Num();
}

Num extremumInRegisters(Num a, Num b, bool maximum) {
  Emission &e = *a.e;
  LaneFunction::Kind kind = maximum ? LaneFunction::Maximum : LaneFunction::Minimum;
  const LaneFunction *f = e.machine.function(kind, static_cast<int>(a.width()), a.lanes());
  if (!f) {
    return {};
  }
  if (a.lanes() == 1) {
    // In vector registers throughout: a comparison of two scalars would go through flags and a
    // general register.
    Type type = laneType(a.scalar(), f->registerLanes(1));
    Value nothing = LLVM::UndefOp::create(e.b, e.loc, type);
    auto first = [&](Num x) {
      return Num(e, vector::InsertOp::create(e.b, e.loc, x.v, nothing, int64_t(0)));
    };
    Num result = extremumInRegisters(first(a), first(b), maximum);
    return Num(e, vector::ExtractOp::create(e.b, e.loc, result.v, int64_t(0)));
  }
  Num chosen = inRegisters(*f, {a, b});
  if (f->propagatesNan) {
    return chosen;
  }
  Num unordered(e, arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNO, a.v, b.v));
  return select(unordered, a + b, chosen);
}

Num quotientWithin(Num a, Num b) {
  Num start = estimate(b, LaneFunction::Reciprocal);
  if (!start.v) {
    return a / b;
  }
  // a r (1 + e + e^2) of e = 1 - b r, |e| < 2^-14.
  Num error = fma(-b, start, 1.0);
  Num product = a * start;
  return fma(product, fma(error, error, error), product);
}

Num rootWithin(Num a) {
  Num start = estimate(maxNum(a.of(0x1p-600), a), LaneFunction::ReciprocalRoot);
  if (!start.v) {
    return sqrt(a);
  }
  // a / sqrt(a) (1 + error / 2 + 3 error^2 / 8).
  Num product = a * start;
  Num error = fma(-product, start, 1.0);
  return fma(product * error, fma(error, 0.375, 0.5), product);
}

int64_t lookupEntries(Num x) {
  const Lookup *table = x.isFloat() && !x.isF64() ? x.e->machine.lookup(32) : nullptr;
  if (!table) {
    return 0;
  }
  int64_t lanes = x.lanes();
  if (lanes % table->lanes != 0 && (lanes > table->lanes || !llvm::isPowerOf2_64(lanes))) {
    return 0;
  }
  return table->entries >= 32 ? 32 : table->entries >= 8 ? 8 : 0;
}

bool hasLookupOf16(Num x) { return lookupEntries(x) && x.e->machine.lookup(32)->lanes == 16; }

static Value constantVector(Emission &e, Type element, ArrayRef<double> values) {
  auto attributes = llvm::map_to_vector(
      values, [&](double value) -> Attribute { return FloatAttr::get(element, value); });
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, element);
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, attributes));
}

/// The table entries selected by each lane of the index, for a table in registers.
static Num lookedUp(Num index, const Lookup &in, Type element, ArrayRef<double> table) {
  Emission &e = *index.e;
  SmallVector<Value> registers;
  for (; !table.empty(); table = table.drop_front(in.lanes)) {
    registers.push_back(constantVector(e, element, table.take_front(in.lanes)));
  }
  return byRegisters(index, in.lanes,
                     [&](ArrayRef<Value> of) { return in.emit(e, registers, of[0]); });
}

Num lookup(Num index, ArrayRef<double> table) {
  Emission &e = *index.e;
  return lookedUp(index, *e.machine.lookup(32), e.b.getF32Type(), table);
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
  Emission &e = *index.e;
  int64_t lanes = index.lanes();
  Type f64 = e.b.getF64Type();
  const Lookup *in = lanes == 1 ? nullptr : e.machine.lookup(64);
  if (!in || (lanes > in->lanes && lanes % in->lanes != 0)) {
    Value base = addressOfTable(e, name, table);
    Num place = index & 15;
    Elem value =
        lanes == 1 ? loadElements(e, f64, base, place, 1) : gatherElements(e, f64, base, place);
    return Num(e, value.re);
  }
  return lookedUp(index, *in, f64, table);
}

Num piecewise(Num a, double shift, int64_t dropped, ArrayRef<ArrayRef<double>> rows, bool isOdd) {
  Num bits = bitsOf(a + shift);
  Num index = shrS(bits, dropped);
  Num start = floatOf(bits & -(INT64_C(1) << dropped)) - shift;
  Num t = a - start;
  Num p = lookup(index, rows.back());
  for (size_t power = rows.size() - 1; power-- > 1;) {
    p = fma(t, p, lookup(index, rows[power]));
  }
  Num first = lookup(index, rows.front());
  return fma(t, p, isOdd ? select(equal(start, 0.0), t, first) : first);
}

} // namespace hlo::codegen

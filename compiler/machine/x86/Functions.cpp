//===- Functions.cpp - Lane functions and look-ups of x86 -----------------===//
//
// AVX-512 has estimates, exponents and fractions of f32 and f64, minima and maxima that order
// zeros, and look-ups in a table of two registers, of 16 bits in one. AVX has an estimate of 1 /
// sqrt(x), AVX2 a look-up in one register. Errors and immediate operands are those of the
// instructions' pages in Intel's SDM, volume 2.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Intrinsics.h"

using namespace mlir;

namespace hlo::x86 {

/// A mask with `lanes` lanes on.
static Value allLanes(Emitter &e, int64_t lanes) {
  Type type = e.b.getIntegerType(std::max<int64_t>(lanes, 8));
  return arith::ConstantOp::create(e.b, e.loc, e.b.getIntegerAttr(type, -1));
}

static Value emitEstimate(Emitter &e, const LaneFunction &self, ArrayRef<Value> of) {
  std::string name = self.kind == LaneFunction::Reciprocal ? "avx512.rcp14." : "avx512.rsqrt14.";
  name += (self.bits == 64 ? "pd." : "ps.") + std::to_string(bitsOf(of[0]));
  return call(e, of[0].getType(), name, {of[0], of[0], allLanes(e, lanesOf(of[0]))});
}

static Value emitCoarseRoot(Emitter &e, const LaneFunction &, ArrayRef<Value> of) {
  StringRef name = lanesOf(of[0]) == 4 ? "sse.rsqrt.ps" : "avx.rsqrt.ps.256";
  return call(e, of[0].getType(), name, {of[0]});
}

/// An AVX-512 instruction with a mask, and an immediate operand if it has one.
static Value emitMasked(Emitter &e, const LaneFunction &self, ArrayRef<Value> of) {
  StringRef instruction;
  std::optional<int32_t> flags;
  switch (self.kind) {
  case LaneFunction::ScaleByPower: instruction = "scalef"; break;
  case LaneFunction::Exponent: instruction = "getexp"; break;
  case LaneFunction::Fraction:
    instruction = "getmant";
    flags = 4; // VGETMANT: interval [1, 2) in bits 1:0, sign cleared by bits 3:2
    break;
  // VRANGE: bits 1:0 are 0 for the minimum and 1 for the maximum, bits 3:2 keep the chosen
  // operand's sign, so that -0 is less than +0. A number is chosen over a NaN.
  case LaneFunction::Minimum:
    instruction = "range";
    flags = 4;
    break;
  case LaneFunction::Maximum:
    instruction = "range";
    flags = 5;
    break;
  default: llvm_unreachable("not an instruction with a mask");
  }
  SmallVector<Value> arguments(of);
  if (flags) {
    arguments.push_back(i32Constant(e, *flags));
  }
  arguments.append({of[0], allLanes(e, lanesOf(of[0]))});
  int64_t bits = bitsOf(of[0]);
  if (bits == 512) {
    arguments.push_back(i32Constant(e, 4)); // rounding as MXCSR says
  }
  return call(e, of[0].getType(),
              "avx512.mask." + instruction + (self.bits == 64 ? ".pd." : ".ps.") + Twine(bits),
              arguments);
}

static Value emitUnsignedToFloat(Emitter &e, const LaneFunction &self, ArrayRef<Value> of) {
  constexpr int32_t up = 2, towardsZero = 3, noExceptions = 8;
  int32_t mode = self.kind == LaneFunction::UnsignedToFloatUp ? up : towardsZero;
  Type type = VectorType::get({lanesOf(of[0])}, e.b.getF32Type());
  return call(e, type, "avx512.uitofp.round.v16f32.v16i32",
              {of[0], i32Constant(e, mode | noExceptions)});
}

static Value emitSmallLookup(Emitter &e, ArrayRef<Value> table, Value index) {
  return call(e, table[0].getType(), "avx2.permps", {table[0], index});
}

static Value emitLargeLookup(Emitter &e, ArrayRef<Value> table, Value index) {
  bool isFloat = cast<VectorType>(table[0].getType()).getElementType().isF32();
  if (table.size() == 1) {
    StringRef name = isFloat ? "avx512.permvar.sf.512" : "avx512.permvar.df.512";
    return call(e, table[0].getType(), name, {table[0], index});
  }
  StringRef name = isFloat ? "avx512.vpermi2var.ps.512" : "avx512.vpermi2var.pd.512";
  return call(e, table[0].getType(), name, {table[0], index, table[1]});
}

static Value emitWordLookup(Emitter &e, ArrayRef<Value> table, Value index) {
  return call(e, table[0].getType(), "avx512.permvar.hi.512", {table[0], index});
}

void addCoarseRoot(Machine &machine) {
  // RSQRTPS: a relative error of at most 1.5 * 2^-12; subnormal operands count as zeros.
  machine.functions.push_back({.kind = LaneFunction::ReciprocalRoot,
                               .bits = 32,
                               .leastBytes = 16,
                               .mostBytes = 32,
                               .alone = true,
                               .error = 0x1p-11,
                               .subnormals = false,
                               .emit = emitCoarseRoot});
}

void addMaskedFunctions(Machine &machine) {
  for (int bits : {32, 64}) {
    for (LaneFunction::Kind kind : {LaneFunction::Reciprocal, LaneFunction::ReciprocalRoot}) {
      // VRCP14 and VRSQRT14: a relative error of at most 2^-14.
      machine.functions.push_back({.kind = kind,
                                   .bits = bits,
                                   .leastBytes = 16,
                                   .mostBytes = 64,
                                   .alone = true,
                                   .error = 0x1p-14,
                                   .emit = emitEstimate});
    }
    for (LaneFunction::Kind kind :
         {LaneFunction::ScaleByPower, LaneFunction::Exponent, LaneFunction::Fraction}) {
      machine.functions.push_back(
          {.kind = kind, .bits = bits, .leastBytes = 64, .mostBytes = 64, .emit = emitMasked});
    }
    for (LaneFunction::Kind kind : {LaneFunction::Minimum, LaneFunction::Maximum}) {
      machine.functions.push_back({.kind = kind,
                                   .bits = bits,
                                   .leastBytes = 16,
                                   .mostBytes = 64,
                                   .alone = true,
                                   .propagatesNan = false,
                                   .emit = emitMasked});
    }
  }
  if (machine.vectors.bytes < 64) {
    return;
  }
  for (LaneFunction::Kind kind :
       {LaneFunction::UnsignedToFloatUp, LaneFunction::UnsignedToFloatDown}) {
    machine.functions.push_back(
        {.kind = kind, .bits = 32, .leastBytes = 64, .mostBytes = 64, .emit = emitUnsignedToFloat});
  }
}

void addSmallLookup(Machine &machine) {
  machine.lookups.push_back({.bits = 32, .entries = 8, .lanes = 8, .emit = emitSmallLookup});
}

void addLargeLookups(Machine &machine, bool floats) {
  if (floats) {
    machine.lookups.push_back({.bits = 32, .entries = 32, .lanes = 16, .emit = emitLargeLookup});
  }
  machine.lookups.push_back({.bits = 64, .entries = 16, .lanes = 8, .emit = emitLargeLookup});
  if (machine.vectors.bytes >= 64) {
    machine.lookups.push_back({.bits = 16, .entries = 32, .lanes = 32, .emit = emitWordLookup});
  }
}

} // namespace hlo::x86

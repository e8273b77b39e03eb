//===- Functions.cpp - Functions of lanes and look-ups on x86 -------------===//
//
// AVX-512 has estimates, exponents and fractions of f32 and f64, minima and maxima that know zeros
// apart, and look-ups in a table of two registers; AVX has an estimate of roots, AVX2 a look-up in
// one register.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Intrinsics.h"

using namespace mlir;

namespace hlo::x86 {

/// The mask that lets so many lanes through.
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

/// An instruction of AVX-512 with a mask, and with flags or without.
static Value emitMasked(Emitter &e, const LaneFunction &self, ArrayRef<Value> of) {
  StringRef instruction;
  std::optional<int32_t> flags;
  switch (self.kind) {
  case LaneFunction::ScaleByPower: instruction = "scalef"; break;
  case LaneFunction::Exponent: instruction = "getexp"; break;
  case LaneFunction::Fraction:
    instruction = "getmant";
    flags = 4; // in [1, 2), without the sign
    break;
  // With the sign of what it chooses: -0 is less than 0. It chooses numbers before NaNs.
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
    arguments.push_back(i32Constant(e, 4)); // rounded as the control register says
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
  StringRef name = isFloat ? "avx512.vpermi2var.ps.512" : "avx512.vpermi2var.pd.512";
  return call(e, table[0].getType(), name, {table[0], index, table[1]});
}

void addCoarseRoot(Machine &machine) {
  // RSQRTPS: 1.5 * 2^-12, subnormal operands as zeros (Intel SDM, volume 2).
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
      // VRCP14PS and the like: 2^-14 (Intel SDM, volume 2).
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
}

} // namespace hlo::x86

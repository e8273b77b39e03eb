//===- Sixteenths.cpp - Logarithms with a table of sixteenths of an octave ===//
//
// Everything but z comes from one integer, the difference of a number's bits from those of 45/64:
// its upper bits are k, the next four the sixteenth of an octave.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/functions/Sixteenths.h"
#include "compiler/codegen/elementwise/functions/Coefficients.h"

using namespace mlir;

namespace hlo::codegen {

/// The bits of 45/64.
static int64_t firstBits(bool wide) {
  return wide ? INT64_C(0x3fe6800000000000) : INT64_C(0x3f340000);
}

Num offsetOfNormal(Num a) { return bitsOf(a) - firstBits(a.isF64()); }

Num offsetOf(Num a, Num rare) {
  FloatTraits traits(a);
  return rarely(rare, {offsetOfNormal(a)}, [&] {
    int64_t shift = traits.mantissaBits + 2;
    Num scaled = offsetOfNormal(a * std::ldexp(1.0, static_cast<int>(shift))) -
                 (shift << traits.mantissaBits);
    return SmallVector<Num>{select(less(a, traits.minNormal), scaled, offsetOfNormal(a))};
  })[0];
}

Num exponentOf(Num offset) { return shrS(offset, 52); }

Num mantissaOf(Num offset) {
  bool wide = offset.width() == 64;
  int64_t mask = (INT64_C(1) << (wide ? 52 : 23)) - 1;
  return floatOf((offset & mask) + firstBits(wide));
}

Num placeOf(Num offset) { return shrS(offset, 48); }

Num inverseAt(Num place) {
  return lookup16(place, "hlo_sixteenths_inverse", coefficients::sixteenthInverse);
}

LogParts logPartsOf(Num offset, Num r) {
  Num z = mantissaOf(offset);
  Num place = placeOf(offset);
  Num k = exponentToFloat(exponentOf(offset));
  if (!r.v) {
    Num inverse = inverseAt(place);
    if (z.e->machine.fma) {
      r = fma(z, inverse, -1.0);
    } else {
      // Exact without FMA too, since the inverse has few bits.
      Num top = floatOf(bitsOf(z) & ~INT64_C(0xffffffff));
      r = (top * inverse - 1.0) + (z - top) * inverse;
    }
  }
  // k ln 2 - log(c): the upper parts have so few bits that the sum is exact.
  Num base = fma(k, 0x1.62e42fefa3800p-1,
                 lookup16(place, "hlo_sixteenths_log", coefficients::sixteenthLog));
  Num baseLow = fma(k, 0x1.ef35793c76730p-45,
                    lookup16(place, "hlo_sixteenths_log_low", coefficients::sixteenthLogLow));
  return {r, base, baseLow};
}

} // namespace hlo::codegen

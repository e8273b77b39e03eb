//===- Functions.cpp - Functions of lanes on aarch64 ----------------------===//
//
// fmin and fmax take -0 for less than 0 and return a NaN for a NaN, which is what the ops of arith
// mean, so LLVM selects them. Estimates of 1 / x and 1 / sqrt(x) are good to 8 bits; division and
// square root of whole vectors take their place.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Emit.h"
#include "compiler/machine/aarch64/Capabilities.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace hlo::aarch64 {

static Value emitExtremum(Emitter &e, const LaneFunction &self, ArrayRef<Value> of) {
  if (self.kind == LaneFunction::Minimum) {
    return arith::MinimumFOp::create(e.b, e.loc, of[0], of[1]);
  }
  return arith::MaximumFOp::create(e.b, e.loc, of[0], of[1]);
}

void addExtrema(Machine &machine, bool half) {
  for (int bits : {16, 32, 64}) {
    for (LaneFunction::Kind kind : {LaneFunction::Minimum, LaneFunction::Maximum}) {
      if (bits != 16 || half) {
        machine.functions.push_back({.kind = kind,
                                     .bits = bits,
                                     .leastBytes = 16,
                                     .mostBytes = 16,
                                     .alone = true,
                                     .emit = emitExtremum});
      }
    }
  }
}

} // namespace hlo::aarch64

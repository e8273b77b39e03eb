//===- Buffers.cpp - Elements in buffers ----------------------------------===//
#include "compiler/codegen/contraction/Buffers.h"

using namespace mlir;

namespace hlo::codegen {

Value Buffers::address(Value base, Value index, int64_t fixed) const {
  Value at = addBytes(e, base, mulI(e, index, partBytes));
  return fixed == 0 ? at : addBytes(e, at, constI64(e, fixed * partBytes));
}

Elem Buffers::load(Value address, int64_t lanes, int64_t distance) const {
  Value zero = constI64(e, 0);
  Elem elem(loadElements(e, part, address, zero, lanes).re);
  if (parts == 2) {
    Value im = addBytes(e, address, constI64(e, distance * partBytes));
    elem.im = loadElements(e, part, im, zero, lanes).re;
  }
  return elem;
}

void Buffers::store(Value address, const Elem &value, int64_t distance, Value mask) const {
  Value zero = constI64(e, 0);
  storeElements(e, part, Elem(value.re), address, zero, mask);
  if (parts == 2) {
    Value im = addBytes(e, address, constI64(e, distance * partBytes));
    storeElements(e, part, Elem(value.im), im, zero, mask);
  }
}

void Buffers::fill(Value base, Value at, Value from, Value to, const Elem &value) const {
  emitFor(e, from, to, lanesOf(value.re),
          [&](Value i) { store(address(base, addI(e, at, i)), value); });
}

} // namespace hlo::codegen

//===- Pack.cpp - Copies and transposes of operands -----------------------===//
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

SmallVector<Elem> transposed(Emission &e, ArrayRef<Elem> square) {
  if (square.size() == 1) {
    return {square[0]};
  }
  SmallVector<Value> re, im;
  for (const Elem &row : square) {
    re.push_back(row.re);
    im.push_back(row.im);
  }
  re = transposeSquare(e, re);
  if (im[0]) {
    im = transposeSquare(e, im);
  }
  SmallVector<Elem> result;
  for (auto [real, imaginary] : llvm::zip(re, im)) {
    result.push_back(Elem(real, imaginary));
  }
  return result;
}

SmallVector<Elem> transposed(Emission &e, int64_t lanes, function_ref<Elem(int64_t)> read) {
  SmallVector<Elem> square;
  for (int64_t i = 0; i < lanes; ++i) {
    square.push_back(read(i));
  }
  return transposed(e, square);
}

SmallVector<Elem> readByLoop(const Buffers &buffers, int64_t lanes, int64_t count,
                             function_ref<Elem(Value)> read) {
  Emission &e = buffers.e;
  int64_t pitch = lanes * buffers.parts;
  Value square = stackBuffer(e, lanes * pitch * buffers.partBytes), zero = constI64(e, 0);
  emitFor(e, zero, constI64(e, count), 1, [&](Value i) {
    Elem value = read(i);
    buffers.store(buffers.address(square, mulI(e, i, pitch)), value, lanes);
  });
  SmallVector<Elem> vectors;
  for (int64_t i = 0; i < count; ++i) {
    vectors.push_back(buffers.load(buffers.address(square, zero, i * pitch), lanes, lanes));
  }
  return vectors;
}

void copyRun(const Buffers &buffers, Operand &from, Value offset, Value length, int64_t lanes,
             Value buffer, Value at) {
  Emission &e = buffers.e;
  auto copy = [&](Value i, Value mask) {
    Elem value = from.atOffset(Index(addI(e, offset, i), lanes > 1 ? 1 : 0), lanes, mask);
    buffers.store(buffers.address(buffer, addI(e, at, i)), value);
  };
  Value full = mulI(e, divI(e, length, lanes), lanes);
  emitFor(e, constI64(e, 0), full, lanes, [&](Value i) { copy(i, {}); });
  if (lanes > 1) {
    Value rest = subI(e, length, full);
    emitIf(e, compareI(e, arith::CmpIPredicate::ne, rest, 0),
           [&] { copy(full, lanesBelow(e, rest, lanes)); });
  }
}

} // namespace hlo::codegen

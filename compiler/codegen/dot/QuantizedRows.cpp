//===- QuantizedRows.cpp - Few rows as bytes with scales ------------------===//
#include "compiler/codegen/dot/QuantizedRows.h"
#include "compiler/codegen/dot/Scaled.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

QuantizedRows::QuantizedRows(Contraction &c)
    : c(c), e(c.kernel.e), buffers(e, c.element), m(c.mSize()), run(scaledRun(c)),
      most(mostInBlock(c)), perRun(llvm::divideCeil(run, most)), blocks(c.kSize() / run * perRun),
      rowBytes(run % 4 == 0 ? c.kSize() : blocks * most) {
  bytes = stackBuffer(e, m * rowBytes);
  if (c.element.isF32()) {
    plain = stackBuffer(e, m * c.kSize() * buffers.partBytes);
    scales = stackBuffer(e, m * blocks * 4);
  }
  totals = stackBuffer(e, m * blocks * 4);
}

void QuantizedRows::forEachBlock(function_ref<void(const Block &)> body) {
  emitFor(e, constI64(e, 0), constI64(e, c.kSize() / run), 1, [&](Value group) {
    forEachPiece(e, run, most, [&](Value at, int64_t count) {
      Value number = addI(e, mulI(e, group, perRun), divI(e, at, most));
      body({addI(e, mulI(e, group, run), at), number, count});
    });
  });
}

Value QuantizedRows::byteAt(int64_t row, const Block &block, Value at) const {
  Value start = run % 4 == 0 ? block.k : mulI(e, block.number, most);
  return byteAt(row, addI(e, start, at));
}

Value QuantizedRows::blockOf(Value k) const {
  return addI(e, mulI(e, divI(e, k, run), perRun), divI(e, remI(e, k, run), most));
}

static Type signedInteger(Emission &e, unsigned bits) {
  return IntegerType::get(e.b.getContext(), bits, IntegerType::Signed);
}

Value QuantizedRows::scaleOf(int64_t row, Value number) const {
  return loadElements(e, e.b.getF32Type(), scales, addI(e, number, row * blocks), 1).re;
}

Value QuantizedRows::totalOf(int64_t row, Value number) const {
  return loadElements(e, signedInteger(e, 32), totals, addI(e, number, row * blocks), 1).re;
}

void QuantizedRows::quantize(int64_t row, const Block &block) {
  // The largest byte, and a magnitude whose quotient is still finite.
  constexpr double kLargest = 127, kLeastMagnitude = 0x1p-110;
  int64_t lanes = std::gcd(block.count, e.machine.lanes(4));
  SmallVector<Value> values;
  Value largest;
  for (int64_t v = 0; v < block.count; v += lanes) {
    Value x = buffers.load(plainAt(row, addI(e, block.k, v)), lanes).re;
    Value size = math::AbsFOp::create(e.b, e.loc, x);
    largest = largest ? arith::MaximumFOp::create(e.b, e.loc, largest, size).getResult() : size;
    values.push_back(x);
  }
  if (lanes > 1) {
    largest = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::MAXIMUMF, largest);
  }
  largest = arith::MaximumFOp::create(e.b, e.loc, largest, constF32(e, kLeastMagnitude, 1).re);
  Value scale = arith::MulFOp::create(e.b, e.loc, largest, constF32(e, 1 / kLargest, 1).re);
  Value inverse = arith::DivFOp::create(e.b, e.loc, constF32(e, kLargest, 1).re, largest);
  Value factor = splat(e, Elem(inverse), lanes).re, total;
  for (auto [v, x] : llvm::enumerate(values)) {
    Value rounded =
        math::RoundEvenOp::create(e.b, e.loc, arith::MulFOp::create(e.b, e.loc, x, factor));
    Value integer = arith::FPToSIOp::create(e.b, e.loc, laneType(e.b.getI32Type(), lanes), rounded);
    total = total ? arith::AddIOp::create(e.b, e.loc, total, integer).getResult() : integer;
    Value narrow = arith::TruncIOp::create(e.b, e.loc, laneType(e.b.getI8Type(), lanes), integer);
    Value at = byteAt(row, block, constI64(e, static_cast<int64_t>(v) * lanes));
    storeElements(e, signedInteger(e, 8), Elem(narrow), at, constI64(e, 0));
  }
  if (lanes > 1) {
    total = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::ADD, total);
  }
  storeElements(e, e.b.getF32Type(), Elem(scale), scales, addI(e, block.number, row * blocks));
  finish(row, block, total);
}

void QuantizedRows::copy(int64_t row, ArrayRef<Index> batch, const Block &block) {
  SmallVector<Index> rowIndex = splitIndex(e, Index(constI64(e, row)), c.m, 1);
  Type byte = signedInteger(e, 8);
  Value total = emitForCarrying(
      e, constI64(e, 0), constI64(e, block.count), 1, zeroOf(e, e.b.getI32Type()),
      [&](Value at, ValueRange carried) -> SmallVector<Value> {
        SmallVector<Index> k = splitIndex(e, Index(addI(e, block.k, at)), c.k, 1);
        Value value = c.lhs.read(batch, rowIndex, k, 1, {}).re;
        Value narrow = arith::TruncIOp::create(e.b, e.loc, e.b.getI8Type(), value);
        storeElements(e, byte, Elem(narrow), byteAt(row, block, at), constI64(e, 0));
        return {arith::AddIOp::create(e.b, e.loc, carried[0], value)};
      })[0];
  finish(row, block, total);
}

/// The zeros behind a block, and its total.
void QuantizedRows::finish(int64_t row, const Block &block, Value total) {
  Type byte = signedInteger(e, 8);
  for (int64_t at = block.count; at % 4 != 0; ++at) {
    storeElements(e, byte, zeroElem(e, byte), byteAt(row, block, constI64(e, at)), constI64(e, 0));
  }
  storeElements(e, signedInteger(e, 32), Elem(total), totals, addI(e, block.number, row * blocks));
}

Value QuantizedRows::fill(ArrayRef<Index> batch) {
  if (!c.element.isF32()) {
    for (int64_t r = 0; r < m; ++r) {
      forEachBlock([&](const Block &block) { copy(r, batch, block); });
    }
    return {};
  }
  Value ordinary = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  for (int64_t r = 0; r < m; ++r) {
    ordinary = copyRow(c, batch, r, [&](Value at) { return plainAt(r, at); }, ordinary);
    forEachBlock([&](const Block &block) { quantize(r, block); });
  }
  return ordinary;
}

} // namespace hlo::codegen

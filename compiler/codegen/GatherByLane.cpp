//===- GatherByLane.cpp - Gathers of a load for each lane -----------------===//
//
// Splits a vector of i64 offsets into a uniform base, folded into one address, and a sign- or
// zero-extended narrow vector, whose lanes are extracted before the extension: one extract and one
// indexed load per lane. For CPUs whose gathers are slow (`Gather::blocks`).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Element.h"
#include "compiler/codegen/IndexMath.h"

using namespace mlir;

namespace hlo::codegen {

/// The scalar that all lanes of `value` equal, if `value` is a splat; else null.
static Value scalarOfAll(Emission &e, Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    return constI64(e, constant.getSplatValue<APInt>().getSExtValue());
  }
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isa<VectorType>(broadcast.getSource().getType()) ? broadcast.getSource()
                                                                        : Value();
}

/// Removes the uniform terms from the sum `indices`; returns their sum.
static Value takeUniform(Emission &e, Value &indices) {
  Value uniform = constI64(e, 0);
  while (auto sum = indices.getDefiningOp<arith::AddIOp>()) {
    Value left = scalarOfAll(e, sum.getLhs()), right = scalarOfAll(e, sum.getRhs());
    if (!left && !right) {
      break;
    }
    uniform = addI(e, uniform, left ? left : right);
    indices = left ? sum.getRhs() : sum.getLhs();
  }
  return uniform;
}

/// Lane `l` of `indices` as an i64.
static Value indexOfLane(Emission &e, Value indices, int64_t l) {
  DenseElementsAttr constant;
  if (matchPattern(indices, m_Constant(&constant))) {
    return constI64(e, constant.getValues<APInt>()[l].getSExtValue());
  }
  Type i64 = e.b.getI64Type();
  if (auto wide = indices.getDefiningOp<arith::ExtSIOp>()) {
    Value lane = vector::ExtractOp::create(e.b, e.loc, wide.getIn(), l);
    return arith::ExtSIOp::create(e.b, e.loc, i64, lane);
  }
  if (auto wide = indices.getDefiningOp<arith::ExtUIOp>()) {
    Value lane = vector::ExtractOp::create(e.b, e.loc, wide.getIn(), l);
    return arith::ExtUIOp::create(e.b, e.loc, i64, lane);
  }
  return vector::ExtractOp::create(e.b, e.loc, indices, l);
}

Value gatherByLane(Emission &e, Type memory, Value base, Value indices, Value mask) {
  int64_t lanes = lanesOf(indices);
  SmallVector<bool> on(lanes, true);
  DenseElementsAttr bits;
  if (mask && matchPattern(mask, m_Constant(&bits))) {
    on = llvm::to_vector(bits.getValues<bool>());
  }
  Value from = elementPointer(e, memory, base, takeUniform(e, indices));
  Value result = zeroOf(e, laneType(memory, lanes));
  for (int64_t l = 0; l < lanes; ++l) {
    if (!on[l]) {
      continue;
    }
    Value at = elementPointer(e, memory, from, indexOfLane(e, indices, l));
    Value lane = LLVM::LoadOp::create(e.b, e.loc, memory, at, memory.getIntOrFloatBitWidth() / 8);
    result = vector::InsertOp::create(e.b, e.loc, lane, result, l);
  }
  return result;
}

} // namespace hlo::codegen

//===- Groups.cpp - Narrow products, two or four at a time ----------------===//
//
// In: a side whose neighbours along k are multiplied in groups (contraction/Groups.h). Out: how the
// blocked form reads groups, and the sums of the columns of the rhs that a flipped lhs needs, which
// stand in a row of their own behind each panel. If the last group along k is not full, zeros of
// the rhs fill it.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

Elem BlockedEmitter::readGroup(const ContractionSide &side, const Block &block,
                               ArrayRef<Index> free, ArrayRef<Index> k, int64_t lanes, Value mask,
                               bool flip) {
  SmallVector<Value> values;
  int64_t size = c.k.back();
  for (int64_t j = 0; j < plan.kStep(); ++j) {
    SmallVector<Index> at(k);
    Value place = addI(e, k.back().base, j), exists;
    if (j > 0 && size % plan.kStep() != 0) {
      exists = compareI(e, arith::CmpIPredicate::slt, place, size);
      place = minI(e, place, size - 1);
    }
    at.back() = Index(place);
    Value value = side.read(block.batch, free, at, lanes, mask).re;
    if (exists) {
      value = arith::SelectOp::create(e.b, e.loc, exists, value, zeroElem(e, c.element, lanes).re);
    }
    values.push_back(flip && plan.flipLhs ? flipElements(e, value) : value);
  }
  return Elem(groupLanes(e, plan.group, values));
}

Value BlockedEmitter::loadColumnGroups(const Block &block, ArrayRef<Index> column,
                                       ArrayRef<Index> k) {
  Value address = c.rhs.address(e, block.batch, column, k), zero = constI64(e, 0);
  int64_t elements = plan.lanes * plan.kStep();
  if (c.k.back() % elements == 0) {
    return loadElements(e, part, address, zero, plan.lanes).re;
  }
  Value rest = subI(e, constI64(e, c.k.back()), k.back().base);
  auto below = [&](int64_t lanes, int64_t stride) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt,
                                 laneOffsets(e, lanes, stride), splat(e, rest, lanes).re);
  };
  if (c.k.back() % plan.kStep() == 0) {
    return loadElements(e, part, address, zero, plan.lanes, below(plan.lanes, plan.kStep())).re;
  }
  Type narrow = IntegerType::get(e.b.getContext(), 32 / plan.kStep(), IntegerType::Signed);
  Value bytes = loadElements(e, narrow, address, zero, elements, below(elements, 1)).re;
  return vector::BitCastOp::create(e.b, e.loc, laneType(computeType(part), plan.lanes), bytes);
}

void BlockedEmitter::sumColumns(const Block &block, const KBlock &k) {
  if (!plan.flipLhs) {
    return;
  }
  Value groups = groupsOf(k.length);
  // Flipped zeros are the lhs: the vectors of the rhs are rows of the tile.
  auto correct = [&](const Elem &sum, const Elem &row, const Elem &flip) {
    return multiplier()(sum, flip, row);
  };
  forEachPanel(block, [&](const Panel &panel) {
    Value start = panelStart(block, panel);
    Elem none = zeroElem(e, c.element, plan.lanes), flip = Elem(flippedZeros(e, plan.lanes));
    Sums sums(panel.vectors, none);
    carrySums(e, constI64(e, 0), groups, 1, sums, [&](Value i, Sums &inner) {
      Value row = addI(e, start, mulI(e, i, plan.columns()));
      multiplyStep(
          e, correct, panel.vectors, 1,
          [&](int64_t v) {
            return buffers.load(buffers.address(rhsBuffer, row, v * plan.lanes), plan.lanes, 0);
          },
          [&](int64_t) { return flip; }, inner);
    });
    for (auto [v, sum] : llvm::enumerate(sums)) {
      Value negative = arith::SubIOp::create(e.b, e.loc, none.re, sum.re);
      buffers.store(correctionAddress(block, panel, v), Elem(negative), 0);
    }
  });
}

Value BlockedEmitter::correctionAddress(const Block &block, const Panel &panel, int64_t v) {
  return buffers.address(rhsBuffer, panelStart(block, panel),
                         (plan.rhsRows - 1) * plan.columns() + v * plan.lanes);
}

Value BlockedEmitter::groupsOf(Value length) {
  return divI(e, addI(e, length, plan.kStep() - 1), plan.kStep());
}

} // namespace hlo::codegen

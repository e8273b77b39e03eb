//===- Packing.cpp - Operands into panels ---------------------------------===//
//
// Copies a block of an operand, through its reader, to a buffer in the type of accumulation and
// in the order in which the tiles read it. Vectors are loaded along the dimension that is
// contiguous in memory; a panel of the rhs that is loaded along k is transposed in registers,
// lanes x lanes elements at a time. Vectors may write past the end of a row or panel: what they
// overwrite is padding, or is written later.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

SmallVector<Index> BlockedEmitter::columnIndex(Value n, int64_t vector) {
  Index column(addI(e, n, vector * plan.lanes), plan.lanes > 1 ? 1 : 0, plan.lanes);
  return splitIndex(e, column, c.n, plan.lanes);
}

Value BlockedEmitter::columnMask(const Panel &panel, int64_t vector) {
  int64_t rest = c.nSize() % plan.lanes;
  if (!panel.tail || vector + 1 != panel.vectors || rest == 0) {
    return {};
  }
  return firstLanes(e, rest, plan.lanes);
}

void BlockedEmitter::packLhs(const Block &block, const KBlock &k, Value from, Value to) {
  if (plan.lhs == LhsForm::PackK) {
    if (plan.matrix && c.lhs.unit == UnitStride::Free) {
      packMatrixRows(block, k, from, to);
    } else {
      packLhsRows(block, k, from, to);
    }
    if (plan.padsK) {
      fillRowEnds(k, subI(e, to, from));
    }
  } else if (plan.lhs == LhsForm::PackM) {
    packLhsPanels(block, k, from, to);
  }
}

void BlockedEmitter::packLhsRows(const Block &block, const KBlock &k, Value from, Value to) {
  bool byLanes = c.lhs.unit == UnitStride::K && plan.kDim >= 0;
  int64_t lanes = byLanes ? std::min<int64_t>(lanesFor(c, c.k.back()), plan.lhsRow) : 1;
  bool narrow = plan.group != KGroup::None && c.lhs.strided &&
                storageBytes(c.lhs.strided->storage()) * plan.kStep() == plan.partBytes;
  if ((plan.matrix || narrow) && byLanes) {
    // Whole lines of narrow elements.
    lanes = std::min<int64_t>(plan.fullLanes * plan.kStep(), llvm::PowerOf2Ceil(c.k.back()));
  }
  emitFor(e, constI64(e, 0), subI(e, to, from), 1, [&](Value row) {
    SmallVector<Index> m = splitIndex(e, Index(addI(e, from, row)), c.m, 1);
    Value at = mulI(e, row, plan.lhsRow * plan.parts);
    forEachK(
        k, lanes,
        [&](ArrayRef<Index> index, Value local, Value mask) {
          Elem value = c.lhs.read(block.batch, m, index, lanes, mask);
          if (plan.group != KGroup::None) {
            int64_t width = plan.partBytes / plan.kStep();
            Value bytes = addI(e, mulI(e, at, plan.partBytes), mulI(e, local, width));
            Type narrow = IntegerType::get(e.b.getContext(), 8 * width, IntegerType::Signed);
            // The padding of a row is multiplied by zeros of the rhs, so it must not be NaN.
            if (plan.padsK || plan.group == KGroup::Bf16Pair) {
              value = zeroUnless(e, c.element, mask, value);
            }
            Value wide = plan.flipLhs ? flipElements(e, value.re) : value.re;
            storeElements(e, narrow, Elem(narrowLanes(e, plan.group, wide)),
                          addBytes(e, lhsBuffer, bytes), constI64(e, 0));
            return;
          }
          buffers.store(buffers.address(lhsBuffer, addI(e, at, local)), value, plan.lhsRow);
        },
        narrow);
  });
}

void BlockedEmitter::packLhsPanels(const Block &block, const KBlock &k, Value from, Value to) {
  int64_t lanes = plan.lhsWidth, panelParts = plan.mostSteps() * plan.parts * lanes;
  Value panels = divI(e, addI(e, subI(e, to, from), plan.rows - 1), plan.rows);
  struct PackedPanel {
    SmallVector<Index> m;
    Value mask, at;
  };
  auto panelAt = [&](Value panel) {
    Index row(addI(e, from, mulI(e, panel, plan.rows)), lanes > 1 ? 1 : 0, plan.rows);
    PackedPanel result{splitIndex(e, row, c.m, lanes), {}, mulI(e, panel, panelParts)};
    if (lanes != plan.rows || c.mSize() % lanes != 0) {
      result.mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, row, lanes), c.mSize());
    }
    return result;
  };
  auto pack = [&](const PackedPanel &panel, ArrayRef<Index> index, Value local) {
    Elem value = plan.group != KGroup::None
                     ? readGroup(c.lhs, block, panel.m, index, lanes, panel.mask, /*flip=*/true)
                     : c.lhs.read(block.batch, panel.m, index, lanes, panel.mask);
    Value place = addI(e, panel.at, mulI(e, divI(e, local, plan.kStep()), plan.parts * lanes));
    buffers.store(buffers.address(lhsBuffer, place), value, lanes);
  };
  Value zero = constI64(e, 0);
  if (c.m.size() == 1) {
    // Row by row through all panels, which is the order of memory. Whole vectors are read where the
    // row has them.
    Value whole = panels;
    if (lanes != plan.rows || c.mSize() % lanes != 0) {
      whole = divI(e, subI(e, constI64(e, c.mSize() - lanes + plan.rows), from), plan.rows);
      whole = maxI(e, zero, whole);
      whole = minI(e, whole, panels);
    }
    forEachK(k, plan.kStep(), [&](ArrayRef<Index> index, Value local, Value) {
      SmallVector<Index> row(index);
      emitFor(e, zero, whole, 1, [&](Value number) {
        PackedPanel panel = panelAt(number);
        panel.mask = Value();
        pack(panel, row, local);
      });
      emitFor(e, whole, panels, 1, [&](Value panel) { pack(panelAt(panel), row, local); });
    });
    return;
  }
  // Splitting an index over several dimensions costs more than the order of memory saves.
  emitFor(e, zero, panels, 1, [&](Value number) {
    PackedPanel panel = panelAt(number);
    forEachK(k, plan.kStep(),
             [&](ArrayRef<Index> index, Value local, Value) { pack(panel, index, local); });
  });
}

Value BlockedEmitter::panelStart(const Block &block, const Panel &panel) {
  return mulI(e, subI(e, panel.n, block.n0), plan.rhsRows * plan.parts);
}

void BlockedEmitter::packRhs(const Block &block, const KBlock &k) {
  if (!plan.packsRhs()) {
    return;
  }
  if (plan.rhs == RhsForm::PackTranspose && plan.lanes > 1) {
    forEachPanel(block, [&](const Panel &panel) { packRhsTransposed(block, k, panel); });
  } else {
    // Row by row through all panels, which is the order of memory.
    forEachK(k, plan.kStep(), [&](ArrayRef<Index> index, Value local, Value) {
      SmallVector<Index> row(index);
      Value number = divI(e, local, plan.kStep());
      forEachPanel(block, [&](const Panel &panel) { packRhsRow(block, row, number, panel); });
    });
  }
  sumColumns(block, k);
  if (plan.padsK) {
    fillPanelEnds(block, k);
  }
}

void BlockedEmitter::packRhsRow(const Block &block, ArrayRef<Index> k, Value local,
                                const Panel &panel) {
  Value row = addI(e, panelStart(block, panel), mulI(e, local, plan.parts * plan.columns()));
  for (int64_t v = 0; v < panel.vectors; ++v) {
    SmallVector<Index> column = columnIndex(panel.n, v);
    Value mask = columnMask(panel, v);
    Elem value = plan.group != KGroup::None
                     ? readGroup(c.rhs, block, column, k, plan.lanes, mask, /*flip=*/false)
                     : c.rhs.read(block.batch, column, k, plan.lanes, mask);
    buffers.store(buffers.address(rhsBuffer, row, v * plan.lanes), value, plan.columns());
  }
}

void BlockedEmitter::packRhsTransposed(const Block &block, const KBlock &k, const Panel &panel) {
  int64_t lanes = plan.lanes;
  bool storesGroups = plan.group != KGroup::None && c.rhs.strided &&
                      storageBytes(c.rhs.strided->storage()) * plan.kStep() == plan.partBytes;
  emitFor(e, constI64(e, 0), constI64(e, panel.vectors), 1, [&](Value v) {
    Value first = addI(e, panel.n, mulI(e, v, lanes));
    auto column = [&](Value i) {
      Value n = addI(e, first, i);
      return splitIndex(e, Index(panel.tail ? minI(e, n, c.nSize() - 1) : n), c.n, 1);
    };
    forEachK(k, lanes * plan.kStep(), [&](ArrayRef<Index> index, Value local, Value mask) {
      auto read = [&](Value i) -> Elem {
        return storesGroups ? Elem(loadColumnGroups(block, column(i), index))
               : plan.group != KGroup::None
                   ? Elem(readColumnGroups(block, column(i), index, mask))
                   : c.rhs.read(block.batch, column(i), index, lanes, mask);
      };
      SmallVector<Elem> rows =
          c.rhs.strided ? transposed(e, lanes, [&](int64_t i) { return read(constI64(e, i)); })
                        : transposed(e, readByLoop(buffers, lanes, lanes, read));
      Value place = addI(e, mulI(e, divI(e, local, plan.kStep()), plan.parts * plan.columns()),
                         mulI(e, v, lanes));
      place = addI(e, place, panelStart(block, panel));
      for (int64_t i = 0; i < lanes; ++i) {
        Value at = buffers.address(rhsBuffer, place, i * plan.parts * plan.columns());
        buffers.store(at, rows[i], plan.columns());
      }
    });
  });
}

} // namespace hlo::codegen

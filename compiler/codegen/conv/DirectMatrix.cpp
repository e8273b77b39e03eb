//===- DirectMatrix.cpp - The tile of the direct form in matrix registers -===//
//
// In: outputs (a rectangle, or a run of positions of the input's copy that goes over several
// lines), a panel of features, a piece of the sums; the channels are words (DirectGroups.cpp). Out:
//
//   clear, or load, the registers of sums
//   for each tap, or each row of taps: multiply registers of outputs x channels by channels x features
//   store the sums: to a buffer of the task, or to that of the tile, and through the epilogue
//
// A register of outputs is read from the copy of the input where the tap has its first output; its
// rows are at the distance from an output to the next. The elements of the copy between and after
// the lines make sums that are not stored.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

void DirectEmitter::configureMatrix() {
  if (!plan.matrix) {
    return;
  }
  MatrixShape shape{{}, {}, plan.tileGroups};
  for (int64_t i = 0; i < 2; ++i) {
    shape.rows[i] = i < plan.tilesDown() ? plan.tileRows : 0;
    shape.columns[i] = i < plan.vectors ? plan.lanes : 0;
  }
  plan.matrix->configure(e, describeShape(e, *plan.matrix, shape));
}

void DirectEmitter::releaseMatrix() {
  if (plan.matrix) {
    plan.matrix->release(e);
  }
}

void DirectEmitter::fillKernelEnds(const Block &block, const Chunk &chunk) {
  Value zeros = zeroElem(e, operands.element, plan.lanes).re;
  Value end = mulI(e, divI(e, addI(e, chunk.channels, plan.tileGroups - 1), plan.tileGroups),
                   plan.tileGroups);
  forEachTap(block, [&](ArrayRef<Index>, Value linear) {
    forEachPanel(block, [&](const Panel &panel) {
      Value start = panelStart(block, panel.n);
      emitFor(e, chunk.channels, end, 1, [&](Value c) {
        Value row = addI(e, mulI(e, linear, plan.kernelRows), c);
        Value at = elements.address(kernelBuffer, addI(e, start, mulI(e, row, plan.columns())));
        for (int64_t v = 0; v < panel.vectors; ++v) {
          elements.store(elements.address(at, constI64(e, 0), v * plan.lanes), zeros);
        }
      });
    });
  });
}

void DirectEmitter::forEachRunOfLines(const Block &block, function_ref<void(const Place &)> body) {
  auto with = [](Values at, Value q) {
    at.push_back(q);
    return at;
  };
  std::function<void(Values)> nest = [&](Values at) {
    const Range &range = block.dims[at.size()];
    if (at.size() + 2 < rank) {
      emitFor(e, range.q0, range.q1, 1, [&](Value q) { nest(with(at, q)); });
      return;
    }
    at.push_back(range.q0);
    Value lines = subI(e, range.q1, range.q0);
    Value positions = addI(e, mulI(e, addI(e, lines, -1), plan.linePitch), block.dims.back().q1);
    emitFor(e, constI64(e, 0), positions, plan.rowsW,
            [&](Value q) { body(Place{with(at, q), 1, plan.rowsW}); });
  };
  nest({});
}

void DirectEmitter::emitMatrixTile(const Block &block, const Chunk &chunk, const Panel &panel,
                                   const Place &place) {
  int64_t down = plan.tilesDown(), row = plan.columns() * plan.bytes;
  int64_t across = plan.lanes * plan.bytes;
  MatrixKernel kernel(e, *operands.product, operands.inputUnsigned, operands.kernelUnsigned, down,
                      panel.vectors);
  Value slot = plan.cut == DirectCut::None ? Value() : sumSlot(block, panel, place);
  MatrixSums rest{slot, row, plan.tileRows * row, across};
  kernel.start(chunk.isLater, rest);

  int64_t outputStep = plan.dims.back().step * plan.inputStrides.back() * plan.bytes;
  int64_t nextRows = place.rowsH > 1
                         ? plan.dims[rank - 2].step * plan.inputStrides[rank - 2] * plan.bytes
                         : plan.tileRows * outputStep;
  Value run = plan.merged ? mulI(e, chunk.to[rank - 1], plan.channels) : chunk.channels;
  Sums none;
  forEachTap(block, chunk, place, rank - plan.merged, startOf(block, chunk, panel, place), none,
             [&](Value input, Value weights, Sums &) {
               Value steps = divI(e, addI(e, run, plan.tileGroups - 1), plan.tileGroups);
               kernel.multiply({input, outputStep, nextRows, plan.tileGroups * plan.bytes},
                               {weights, row, across, plan.tileGroups * row}, steps);
             });

  int64_t line = (place.rowsH > 1 ? tileWidth : plan.tileRows) * row;
  auto finish = [&] {
    if (storesRegisters()) {
      kernel.store(resultAt(block, panel, place));
      return;
    }
    kernel.store({tileBuffer, row, line, across});
    plan.linePitch > 0 ? storeRunOfLines(block, panel, place) : storeBuffered(block, panel, place);
  };
  slot ? emitIfElse(e, chunk.isLast, finish, [&] { kernel.store(rest); }) : finish();
}

bool DirectEmitter::storesRegisters() const {
  auto isWhole = [&](size_t d) {
    return llvm::all_of(plan.dims[d].phases,
                        [&](const DirectPhase &phase) { return phase.count % plan.unit(d) == 0; });
  };
  return epilogue.isIdentity() && epilogue.heroElement() == sum && plan.linePitch == 0 &&
         g.outputFeatureDim == static_cast<int64_t>(rank) && plan.features % plan.columns() == 0 &&
         isWhole(rank - 2) && isWhole(rank - 1);
}

MatrixSums DirectEmitter::resultAt(const Block &block, const Panel &panel, const Place &place) {
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(op.getResult()));
  SmallVector<Index> full = outputAt(block, place, constI64(e, 0), Index(constI64(e, 0)));
  full[g.outputFeatureDim] = featureOf(block, panel.n, 0);
  auto step = [&](const DirectDim &dim) {
    return strides[dim.outputDim] * static_cast<int64_t>(dim.phases.size()) * plan.bytes;
  };
  int64_t row = step(plan.dims.back());
  return {epilogue.addressAt(offsetOf(e, full, strides)), row,
          place.rowsH > 1 ? step(plan.dims[rank - 2]) : plan.tileRows * row,
          plan.lanes * plan.bytes};
}

void DirectEmitter::storeRunOfLines(const Block &block, const Panel &panel, const Place &place) {
  const Range &h = block.dims[rank - 2];
  Value zero = constI64(e, 0), width = block.dims[rank - 1].q1, position = place.at.back();
  int64_t pitch = plan.linePitch;
  Value after = divI(e, addI(e, position, plan.rowsW + pitch - 1), pitch);
  emitFor(e, divI(e, position, pitch), minI(e, after, subI(e, h.q1, h.q0)), 1, [&](Value line) {
    // The line's outputs [from, to) are rows of the tile; its output 0 would be row `start`.
    Value start = subI(e, mulI(e, line, pitch), position);
    Value from = maxI(e, subI(e, zero, start), zero);
    Value to = minI(e, subI(e, constI64(e, plan.rowsW), start), width);
    Place part = place;
    part.at[rank - 2] = addI(e, h.q0, line);
    part.at[rank - 1] = from;
    part.firstRow = addI(e, start, from);
    part.outputs = subI(e, to, from);
    storeBuffered(block, panel, part);
  });
}

} // namespace hlo::codegen

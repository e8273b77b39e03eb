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
// rows are at the distance from an output to the next. What stands in the copy between and after
// the lines makes sums that are not stored.
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
        Value at = bufferAddress(kernelBuffer, addI(e, start, mulI(e, row, plan.columns())));
        for (int64_t v = 0; v < panel.vectors; ++v) {
          storeBuffer(bufferAddress(at, constI64(e, 0), v * plan.lanes), zeros);
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
  Value slot = plan.cut == DirectCut::None ? Value() : matrixSlot(block, panel, place);
  MatrixSums rest{slot, row, plan.tileRows * row, across};
  kernel.start(chunk.isLater, rest);

  // The first tap of the first output, in the copies of the input and of the kernel.
  Value inputAt = plan.inputChunks ? constI64(e, 0) : chunk.c0;
  Value kernelAt = panelStart(block, panel.n);
  SmallVector<int64_t> kernelSteps(rank, 0);
  int64_t linear = plan.kernelRows * plan.columns();
  for (size_t d = rank; d-- > 0;) {
    const DirectDim &dim = plan.dims[d];
    Value index = mulI(e, subI(e, place.at[d], block.dims[d].q0), dim.step);
    inputAt = addI(e, inputAt, mulI(e, index, plan.inputStrides[d]));
    if (dim.kernelDim >= 0) {
      kernelAt = addI(e, kernelAt, mulI(e, block.dims[d].firstTap, linear));
      kernelSteps[d] = dim.tapStride * linear;
      linear *= dim.kernel;
    }
  }
  int64_t outputStep = plan.dims.back().step * plan.inputStrides.back() * plan.bytes;
  int64_t nextRows = place.rowsH > 1
                         ? plan.dims[rank - 2].step * plan.inputStrides[rank - 2] * plan.bytes
                         : plan.tileRows * outputStep;
  std::function<void(size_t, Value, Value)> nest = [&](size_t d, Value input, Value weights) {
    if (d == rank || (plan.merged && d + 1 == rank)) {
      Value run = d == rank ? chunk.channels : mulI(e, chunk.to[d], plan.channels);
      Value steps = divI(e, addI(e, run, plan.tileGroups - 1), plan.tileGroups);
      kernel.multiply({input, outputStep, nextRows, plan.tileGroups * plan.bytes},
                      {weights, row, across, plan.tileGroups * row}, steps);
      return;
    }
    // A run of lines meets some of each row of taps.
    bool all = plan.linePitch > 0 && d + 2 == rank;
    auto [from, to] =
        all ? std::pair(chunk.from[d], chunk.to[d]) : validTaps(block, chunk, place, d);
    emitFor(e, from, to, 1, [&](Value j) {
      int64_t inputStep = plan.dims[d].tapStep * plan.inputStrides[d];
      nest(d + 1, bufferAddress(input, mulI(e, j, inputStep)),
           bufferAddress(weights, mulI(e, j, kernelSteps[d])));
    });
  };
  nest(0, bufferAddress(block.input, inputAt), bufferAddress(kernelBuffer, kernelAt));

  int64_t line = (place.rowsH > 1 ? tileWidth : plan.tileRows) * row;
  auto finish = [&] {
    if (storesRegisters()) {
      kernel.store(resultAt(block, panel, place));
      return;
    }
    kernel.store({tileBuffer, row, line, across});
    plan.linePitch > 0 ? storeRunOfLines(block, panel, place)
    : storesColumns    ? storeColumns(block, panel, place)
                       : storeRows(block, panel, place);
  };
  if (!slot) {
    finish();
    return;
  }
  auto last = scf::IfOp::create(e.b, e.loc, chunk.isLast, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(last.thenBlock());
  finish();
  e.b.setInsertionPointToStart(last.elseBlock());
  kernel.store(rest);
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
  Value linear = constI64(e, 0);
  for (auto [index, stride] : llvm::zip(full, strides)) {
    linear = addI(e, linear, mulI(e, index.base, stride));
  }
  auto step = [&](const DirectDim &dim) {
    return strides[dim.outputDim] * static_cast<int64_t>(dim.phases.size()) * plan.bytes;
  };
  int64_t row = step(plan.dims.back());
  return {epilogue.addressAt(linear), row,
          place.rowsH > 1 ? step(plan.dims[rank - 2]) : plan.tileRows * row,
          plan.lanes * plan.bytes};
}

Value DirectEmitter::matrixSlot(const Block &block, const Panel &panel, const Place &place) {
  Value slot = constI64(e, 0);
  for (size_t d = 0; d < rank; ++d) {
    int64_t outputs = plan.dims[d].block, unit = d + 1 == rank ? plan.rowsW : plan.unit(d);
    Value at = subI(e, place.at[d], block.dims[d].q0);
    if (plan.linePitch > 0 && d + 2 == rank) {
      continue;
    }
    if (plan.linePitch > 0 && d + 1 == rank) {
      outputs += (plan.dims[d - 1].block - 1) * plan.linePitch;
    }
    slot = addI(e, mulI(e, slot, llvm::divideCeil(outputs, unit)), divI(e, at, unit));
  }
  slot = addI(e, mulI(e, slot, plan.panels()), divI(e, subI(e, panel.n, block.n0), plan.columns()));
  return bufferAddress(sumBuffer, mulI(e, slot, plan.rows() * plan.columns()));
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
    storesColumns ? storeColumns(block, panel, part) : storeRows(block, panel, part);
  });
}

} // namespace hlo::codegen

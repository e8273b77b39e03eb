//===- Direct.cpp - Convolutions by taps, without a matrix of patches -----===//
//
// Emits a convolution with enough features for lanes. For each task (a block of outputs of some
// features):
//
//   for each phase (one, unless the input has holes)
//     copy the input that the block reads, with zeros around it, channels innermost
//       (not if it can be read in place)
//     for each piece of the sums (one, unless the kernel is large)
//       pack the kernel in panels of a tile's features (not if it is read in place)
//       for each tile of outputs, for each panel
//         for each tap, for each channel: multiply in registers
//
// A tile is a rectangle of outputs in the last two dimensions, so that its inputs are at constant
// distances from one address at every tap. Every element is copied once and read in place by all
// taps, by broadcasts. Taps of a row and channels are one loop if strides allow.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"

using namespace mlir;

namespace hlo::codegen {

DirectEmitter::DirectEmitter(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                             Epilogue &epilogue, const DirectPlan &plan, Type sum)
    : kernel(kernel), op(op), e(kernel.e), operands(operands), g(operands.g), epilogue(epilogue),
      plan(plan), sum(sum), elements(e, operands.element), results(e, sum), rank(plan.dims.size()) {
  int64_t innermost = static_cast<int64_t>(rank);
  storesColumns = plan.outputsInnermost() && plan.rowsW > 1;
  columnLanes = std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(plan.rowsW));
  tileWidth = storesColumns ? llvm::alignTo(plan.rowsW, columnLanes) : plan.rowsW;
  if (storesColumns && plan.linePitch > 0) {
    // The last line may start with the last row.
    tileWidth += columnLanes;
  }
  if (!plan.inputInPlace) {
    inputBuffer = stackBuffer(e, plan.inputBufferBytes());
  }
  if (plan.packsKernel()) {
    // A transposed block of rows may write past the last one.
    kernelBuffer =
        stackBuffer(e, plan.kernelBufferBytes() + plan.lanes * plan.columns() * plan.bytes);
  }
  if (operands.flipsInput) {
    int64_t lines = plan.panels() * kernelSumLines();
    kernelSums = stackBuffer(e, lines * plan.vectors * plan.lanes * plan.bytes);
  }
  if (plan.cut != DirectCut::None) {
    sumBuffer = stackBuffer(e, plan.sumBufferBytes());
  }
  bool inRegisters =
      epilogue.isIdentity() && plan.even && g.outputFeatureDim == innermost && !plan.alongChannels;
  if (!inRegisters || plan.featuresApart > 0) {
    // Vectors of few features may reach past the end.
    int64_t few = plan.featuresApart * plan.rowsApart;
    tileBuffer = stackBuffer(
        e, (std::max(plan.rowsH * tileWidth * plan.columns(), few) + 2 * plan.lanes) * plan.bytes);
  }
  if (plan.featuresApart > 0) {
    apartBuffer = stackBuffer(e, plan.apartBufferBytes());
  }
  storesTiles = !inRegisters;
  if (storesColumns) {
    squareBuffer = stackBuffer(e, columnLanes * columnLanes * plan.bytes);
  }
}

/// list[index], by selects between the different entries.
static Value choose(Emission &e, Value index, ArrayRef<int64_t> list) {
  Value result = constI64(e, list.back());
  if (llvm::all_equal(list)) {
    return result;
  }
  for (size_t i = list.size() - 1; i-- > 0;) {
    Value here = compareI(e, arith::CmpIPredicate::eq, index, i);
    result = arith::SelectOp::create(e.b, e.loc, here, constI64(e, list[i]), result);
  }
  return result;
}

DirectEmitter::Range DirectEmitter::rangeAt(const DirectDim &dim, Value block, Value phase) {
  auto value = [&](auto member) {
    SmallVector<int64_t> list;
    for (const DirectPhase &p : dim.phases) {
      list.push_back(p.*member);
    }
    return choose(e, phase, list);
  };
  Range range;
  Value count = value(&DirectPhase::count);
  range.q0 = dim.blocks == 1 ? constI64(e, 0) : mulI(e, block, dim.block);
  range.q1 = count;
  if (dim.blocks > 1) {
    Value end = addI(e, range.q0, dim.block);
    range.q1 = minI(e, end, count);
  }
  range.firstOutput = dim.phases.size() == 1 ? constI64(e, 0) : phase;
  range.firstTap = value(&DirectPhase::firstTap);
  range.taps = value(&DirectPhase::taps);
  range.firstInput = value(&DirectPhase::firstInput);
  return range;
}

void DirectEmitter::emit() {
  SmallVector<int64_t> sizes{plan.groups}, phases;
  int64_t phaseCount = 1;
  for (const DirectDim &dim : plan.dims) {
    sizes.push_back(dim.blocks);
    phases.push_back(dim.phases.size());
    phaseCount *= phases.back();
  }
  sizes.push_back(plan.featureBlocks);
  configureMatrix();
  emitTasks(kernel, llvm::product_of(sizes), [&](Value task) {
    SmallVector<Value> place = delinearize(e, task, sizes);
    Block block;
    block.group = place[0];
    std::tie(block.n0, block.n1) = pieceAt(e, place.back(), plan.features, plan.featureBlock);
    if (plan.packsKernel() && plan.cut == DirectCut::None) {
      packKernel(block, Chunk{{}, {}, {}, {}, constI64(e, 0), constI64(e, plan.channels)});
    }
    if (plan.featuresApart > 0) {
      emitIf(e, compareI(e, arith::CmpIPredicate::eq, block.n1, plan.features),
             [&] { packApart(); });
    }
    emitFor(e, constI64(e, 0), constI64(e, phaseCount), 1, [&](Value number) {
      SmallVector<Value> phase = delinearize(e, number, phases);
      Block part = block;
      for (size_t d = 0; d < rank; ++d) {
        part.dims.push_back(rangeAt(plan.dims[d], place[d + 1], phase[d]));
      }
      emitPhase(part);
    });
  });
  releaseMatrix();
}

void DirectEmitter::emitPhase(Block &block) {
  block.input = plan.inputInPlace ? inputAddress(block) : inputBuffer;
  if (!plan.inputInPlace && !plan.inputChunks) {
    packInput(block, constI64(e, 0));
  }
  forEachChunk(block, [&](const Chunk &chunk) {
    if (plan.inputChunks) {
      emitIf(e, chunk.isNewInput, [&] { packInput(block, chunk.c0); });
    }
    if (plan.packsKernel() && plan.cut != DirectCut::None) {
      packKernel(block, chunk);
    }
    emitChunk(block, chunk);
  });
  if (plan.featuresApart > 0) {
    emitIf(e, compareI(e, arith::CmpIPredicate::eq, block.n1, plan.features),
           [&] { emitApart(block); });
  }
}

void DirectEmitter::emitChunk(const Block &block, const Chunk &chunk) {
  if (plan.tilesOutside) {
    forEachPlace(block, [&](const Place &place) {
      forEachPanel(block, [&](const Panel &panel) { emitTile(block, chunk, panel, place); });
    });
    return;
  }
  forEachPanel(block, [&](const Panel &panel) {
    forEachPlace(block, [&](const Place &place) { emitTile(block, chunk, panel, place); });
  });
}

void DirectEmitter::forEachChunk(const Block &block, function_ref<void(const Chunk &)> body) {
  Chunk whole{{}, {}, {}, {}, constI64(e, 0), constI64(e, plan.channels)};
  // Channels outermost: the copy of some channels serves all taps.
  SmallVector<int64_t> sizes{plan.channelChunks};
  for (size_t d = 0; d < rank; ++d) {
    whole.from.push_back(constI64(e, 0));
    whole.to.push_back(block.dims[d].taps);
    sizes.push_back(plan.cut == DirectCut::Taps ? plan.dims[d].taps : 1);
  }
  if (plan.cut == DirectCut::None) {
    body(whole);
    return;
  }
  int64_t chunks = llvm::product_of(sizes);
  emitFor(e, constI64(e, 0), constI64(e, chunks), 1, [&](Value number) {
    Chunk chunk = whole;
    SmallVector<Value> place = delinearize(e, number, sizes);
    if (plan.cut == DirectCut::Taps) {
      for (size_t d = 0; d < rank; ++d) {
        chunk.from[d] = place[d + 1];
        chunk.to[d] = addI(e, place[d + 1], 1);
      }
    }
    chunk.c0 = mulI(e, place[0], plan.chunkChannels);
    if (plan.asksAhead) {
      SmallVector<Value> next = delinearize(e, addI(e, number, 1), sizes);
      chunk.nextC0 = mulI(e, next[0], plan.chunkChannels);
      chunk.nextFrom = plan.cut == DirectCut::Taps ? Values(llvm::drop_begin(next)) : chunk.from;
    }
    if (plan.channels % plan.chunkChannels == 0) {
      chunk.channels = constI64(e, plan.chunkChannels);
    } else {
      Value rest = subI(e, constI64(e, plan.channels), chunk.c0);
      chunk.channels = minI(e, rest, plan.chunkChannels);
    }
    int64_t taps = chunks / plan.channelChunks;
    chunk.isNewInput = taps == 1 ? constI64(e, 1)
                                 : compareI(e, arith::CmpIPredicate::eq, remI(e, number, taps), 0);
    chunk.isLater = compareI(e, arith::CmpIPredicate::ne, number, 0);
    chunk.isLast = compareI(e, arith::CmpIPredicate::eq, number, chunks - 1);
    body(chunk);
  });
}

void DirectEmitter::forEachPlace(const Block &block, function_ref<void(const Place &)> body) {
  if (plan.linePitch > 0) {
    forEachRunOfLines(block, body);
    return;
  }
  std::function<void(Values, int64_t)> nest = [&](Values at, int64_t rowsH) {
    size_t d = at.size();
    const Range &range = block.dims[d];
    bool isW = d + 1 == rank, isH = d + 2 == rank;
    int64_t rows = isW ? plan.rowsW : isH ? plan.rowsH : 1;
    auto next = [&](Value q, int64_t rowsHere) {
      Values deeper(at);
      deeper.push_back(q);
      if (isW) {
        body(Place{deeper, rowsH, rowsHere});
      } else {
        nest(deeper, isH ? rowsHere : rowsH);
      }
    };
    int64_t tail = plan.even ? plan.dims[d].count % rows : 0;
    if (tail == 0) {
      // If phases have different counts, the last tile may compute more than is stored.
      emitFor(e, range.q0, range.q1, rows, [&](Value q) { next(q, rows); });
      return;
    }
    Value full = mulI(e, divI(e, subI(e, range.q1, range.q0), rows), rows);
    emitFor(e, range.q0, addI(e, range.q0, full), rows, [&](Value q) { next(q, rows); });
    int64_t count = plan.dims[d].count;
    emitIf(e, compareI(e, arith::CmpIPredicate::eq, range.q1, count),
           [&] { next(constI64(e, count - tail), tail); });
  };
  nest({}, 1);
}

void DirectEmitter::forEachPanel(const Block &block, function_ref<void(const Panel &)> body) {
  forEachPiece(e, block.n0, block.n1, plan.features, plan.columns(), [&](Value n, int64_t count) {
    int64_t lanes = plan.alongChannels ? 1 : plan.lanes;
    body(Panel{n, static_cast<int64_t>(llvm::divideCeil(count, lanes)), count});
  });
}

Value DirectEmitter::columnMask(const Panel &panel, int64_t vector) const {
  int64_t rest = plan.alongChannels ? 0 : panel.features % plan.lanes;
  return rest != 0 && vector + 1 == panel.vectors ? firstLanes(e, rest, plan.lanes) : Value();
}

void emitDirect(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                Epilogue &epilogue, const DirectPlan &plan, Type sum) {
  DirectEmitter(kernel, op, operands, epilogue, plan, sum).emit();
}

} // namespace hlo::codegen

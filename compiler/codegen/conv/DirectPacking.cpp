//===- DirectPacking.cpp - Copies of the input and the kernel -------------===//
//
// Copies the elements of the input that a block of outputs reads, in the type of accumulation,
// channels innermost, with zeros in the padding; and the kernel in panels of a tile's features:
// for each tap, one row per channel.
//
// Vectors are loaded along the dimension that is contiguous in memory, and transposed in
// registers if the copy has another order. Rows are written in the order of the buffer: elements
// that a vector writes past the end of its row are overwritten later.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// The most entries of the table by which a kernel whose taps are inside its channels is reordered:
/// 32 KiB, an L1.
static constexpr int64_t kMostTable = 4096;

/// The index of the first input element that output q0 of a block reads.
static Value firstInput(Emission &e, const DirectDim &dim, Value q0, Value first) {
  return addI(e, mulI(e, q0, dim.step), first);
}

Value DirectEmitter::inputAddress(const Block &block) {
  ArrayRef<int64_t> strides = operands.input->strides();
  Value at = mulI(e, block.group, g.featureGroups > 1 ? g.kernelInputFeatures : 0);
  for (auto [d, dim] : llvm::enumerate(plan.dims)) {
    Value index = firstInput(e, dim, block.dims[d].q0, block.dims[d].firstInput);
    if (d == 0 && g.batchGroups > 1) {
      index = addI(e, index, mulI(e, block.group, g.outputBatch));
    }
    at = addI(e, at, mulI(e, index, strides[dim.inputDim]));
  }
  return elements.address(operands.input->pointer(), at);
}

void DirectEmitter::packInput(const Block &block, Value c0) {
  std::function<void(Values, Value, Value)> nest = [&](Values outer, Value inside, Value at) {
    size_t d = outer.size();
    if (d + 1 == rank) {
      packRow(block, c0, outer, inside, at);
      return;
    }
    const DirectDim &dim = plan.dims[d];
    const Range &range = block.dims[d];
    Value outputs = subI(e, range.q1, range.q0);
    Value extent = addI(e, mulI(e, outputs, dim.step), dim.extent(1) - dim.step);
    Value first = firstInput(e, dim, range.q0, range.firstInput);
    emitFor(e, constI64(e, 0), extent, 1, [&](Value x) {
      Value index = addI(e, first, x);
      Value here = inside;
      if (!dim.isInside()) {
        here = andMask(e, here, compareI(e, arith::CmpIPredicate::ult, index, dim.input));
      }
      if (d == 0 && g.batchGroups > 1) {
        index = addI(e, index, mulI(e, block.group, g.outputBatch));
      }
      Values deeper(outer);
      deeper.push_back(index);
      nest(deeper, here, addI(e, at, mulI(e, x, plan.inputStrides[d])));
    });
  };
  nest({}, {}, constI64(e, 0));
}

void DirectEmitter::packRow(const Block &block, Value c0, Values outer, Value inside, Value at) {
  const DirectDim &dim = plan.dims.back();
  const Range &range = block.dims.back();
  Value outputs = subI(e, range.q1, range.q0);
  Value extent = addI(e, mulI(e, outputs, dim.step), dim.extent(1) - dim.step);
  Value first = firstInput(e, dim, range.q0, range.firstInput);
  Value zero = constI64(e, 0), from = zero, to = extent;
  if (!dim.isInside()) {
    from = minI(e, maxI(e, subI(e, zero, first), zero), extent);
    to = maxI(e, minI(e, subI(e, constI64(e, dim.input), first), extent), from);
  }
  if (inside) {
    from = arith::SelectOp::create(e.b, e.loc, inside, from, extent);
    to = arith::SelectOp::create(e.b, e.loc, inside, to, extent);
  }
  SmallVector<Index> index(rank + 1);
  for (auto [d, i] : llvm::enumerate(outer)) {
    index[plan.dims[d].inputDim] = Index(i);
  }
  index[dim.inputDim] = Index(addI(e, first, from));
  index[g.inputFeatureDim] = Index(addI(
      e, c0, mulI(e, block.group, g.featureGroups > 1 ? plan.across * g.kernelInputFeatures : 0)));
  int64_t pixel = plan.inputStrides.back();
  Value start = addI(e, at, mulI(e, from, pixel)), length = subI(e, to, from);
  fillZero(at, zero, mulI(e, from, pixel));
  ArrayRef<int64_t> strides = operands.input->strides();
  if (plan.across == 1 && operands.input->isStrided() && strides[g.inputFeatureDim] == 1 &&
      strides[dim.inputDim] == pixel && pixel == plan.channels) {
    Value run = mulI(e, length, pixel);
    copyRun(elements, *operands.input, offsetOf(e, index, strides), run, plan.lanes, inputBuffer,
            start);
  } else if (strides[dim.inputDim] == 1 && strides[g.inputFeatureDim] != 1 && plan.lanes > 1) {
    copyTransposed(index, start, length);
  } else {
    Value copied = copySmallPixels(index, start, length);
    index[dim.inputDim] = addIndex(e, index[dim.inputDim], Index(copied), 1);
    copyPixels(index, addI(e, start, mulI(e, copied, pixel)), subI(e, length, copied));
  }
  fillZero(at, mulI(e, to, pixel), mulI(e, extent, pixel));
}

void DirectEmitter::fillZero(Value at, Value from, Value to) {
  elements.fill(inputBuffer, at, from, to, paddingLanes());
}

Value DirectEmitter::copySmallPixels(ArrayRef<Index> first, Value at, Value length) {
  int64_t lanes = plan.lanes, pixel = plan.inputStrides.back();
  unsigned spatial = plan.dims.back().inputDim;
  auto [pixels, read] = operands.input->positionsPerVector(spatial, lanes);
  if (pixels * pixel != lanes || plan.inputChannels() != plan.channels || g.groups() > 1) {
    return constI64(e, 0);
  }
  // The last vector may be read up to the end of the row.
  Value starts = maxI(e, addI(e, length, 1 - read), 0);
  Value copied = mulI(e, divI(e, addI(e, starts, pixels - 1), pixels), pixels);
  emitFor(e, constI64(e, 0), copied, pixels, [&](Value x) {
    SmallVector<Index> index(first);
    index[spatial] = addIndex(e, index[spatial], Index(x), 1);
    elements.store(elements.address(inputBuffer, addI(e, at, mulI(e, x, pixel))),
                   operands.input->positionsAt(index, spatial, lanes));
  });
  return copied;
}

void DirectEmitter::copyPixels(ArrayRef<Index> first, Value at, Value length) {
  int64_t lanes = plan.lanes, channels = plan.inputChannels();
  int64_t spatial = plan.dims.back().inputDim, stride = lanes > 1 ? 1 : 0;
  emitFor(e, constI64(e, 0), length, 1, [&](Value x) {
    SmallVector<Index> index(first);
    index[spatial] = addIndex(e, index[spatial], Index(x), 1);
    Value pixel = addI(e, at, mulI(e, x, plan.inputStrides.back()));
    if (plan.across > 1) {
      int64_t width = plan.across * plan.channels;
      index[g.inputFeatureDim].stride = 1;
      storeAcross(pixel, operands.input->at(index, width));
      return;
    }
    forEachPiece(e, channels, lanes, [&](Value c, int64_t count) {
      Value mask = count < lanes ? lanesBelow(e, constI64(e, count), lanes) : Value();
      SmallVector<Index> here(index);
      here[g.inputFeatureDim] = Index(addI(e, here[g.inputFeatureDim].base, c), stride);
      Elem value = operands.input->at(here, lanes, mask);
      // Elements after the channels are multiplied too, if lanes are along the channels.
      value = fillsChannels() ? zeroUnless(e, operands.element, mask, value) : value;
      elements.store(elements.address(inputBuffer, addI(e, pixel, c)), value);
    });
  });
}

/// Stores a pixel's channels of some groups, each channel once for each feature of its group.
void DirectEmitter::storeAcross(Value at, const Elem &pixel) {
  int64_t features = plan.lanes / plan.across;
  for (int64_t c = 0; c < plan.channels; ++c) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < plan.lanes; ++lane) {
      from.push_back(lane / features * plan.channels + c);
    }
    Value spread = vector::ShuffleOp::create(e.b, e.loc, pixel.re, pixel.re, from);
    elements.store(elements.address(inputBuffer, at, c * plan.lanes), Elem(spread));
  }
}

void DirectEmitter::copyTransposed(ArrayRef<Index> first, Value at, Value length) {
  int64_t lanes = plan.lanes, pixel = plan.inputStrides.back();
  int64_t spatial = plan.dims.back().inputDim;
  int64_t channels = plan.across > 1 ? plan.across * plan.channels : plan.inputChannels();
  emitFor(e, constI64(e, 0), length, lanes, [&](Value x) {
    Value mask = lanesBelow(e, subI(e, length, x), lanes);
    auto copy = [&](Value c, int64_t count) {
      SmallVector<Elem> square;
      for (int64_t i = 0; i < count; ++i) {
        SmallVector<Index> index(first);
        index[spatial] = Index(addI(e, index[spatial].base, x), 1);
        index[g.inputFeatureDim] = Index(addI(e, index[g.inputFeatureDim].base, addI(e, c, i)));
        square.push_back(operands.input->at(index, lanes, mask));
      }
      square.resize(lanes, fillsChannels() ? zeroElem(e, operands.element, lanes) : square[0]);
      square = transposed(e, square);
      if (plan.across > 1) {
        for (int64_t i = 0; i < lanes; ++i) {
          storeAcross(addI(e, addI(e, at, mulI(e, x, pixel)), i * pixel), square[i]);
        }
        return;
      }
      Value out = addI(e, at, addI(e, mulI(e, x, pixel), c));
      bool spoils = count < lanes && !fillsChannels();
      Value some = spoils ? lanesBelow(e, constI64(e, count), lanes) : Value();
      for (int64_t i = 0; i < lanes; ++i) {
        elements.store(elements.address(inputBuffer, out, i * pixel), square[i], 0, some);
      }
    };
    forEachPiece(e, channels, lanes, copy);
  });
}

Value DirectEmitter::panelStart(const Block &block, Value n) {
  return mulI(e, plan.kernelStored ? n : subI(e, n, block.n0), plan.taps * plan.kernelRows);
}

Index DirectEmitter::featureOf(const Block &block, Value n, int64_t stride) {
  Index feature(n, stride, stride == 0 ? 1 : plan.lanes);
  return g.groups() > 1
             ? addIndex(e, feature, mulIndex(e, Index(block.group), plan.features), plan.lanes)
             : feature;
}

void DirectEmitter::forEachTap(const Block &block,
                               function_ref<void(ArrayRef<Index>, Value)> body) {
  std::function<void(SmallVector<Index>, Value)> nest = [&](SmallVector<Index> tap, Value linear) {
    size_t d = tap.size();
    if (d == g.spatial.size()) {
      body(tap, linear);
      return;
    }
    bool inPhase = !block.dims.empty();
    Value first = inPhase ? block.dims[d + plan.firstSpatial].firstTap : constI64(e, 0);
    int64_t step = inPhase ? plan.dims[d + plan.firstSpatial].tapStride : 1;
    emitFor(e, first, constI64(e, g.spatial[d].kernel), step, [&](Value t) {
      SmallVector<Index> deeper(tap);
      deeper.push_back(Index(t));
      nest(deeper, addI(e, mulI(e, linear, g.spatial[d].kernel), t));
    });
  };
  nest({}, constI64(e, 0));
}

/// Whether the taps of a channel, and then the channels, are contiguous in memory (oi01).
static bool tapsAreInside(const ConvOperands &operands) {
  const ConvGeometry &g = operands.g;
  ArrayRef<int64_t> strides = operands.kernel->strides();
  int64_t stride = 1;
  for (const SpatialDim &dim : llvm::reverse(g.spatial)) {
    if (strides[dim.kernelDim] != stride) {
      return false;
    }
    stride *= dim.kernel;
  }
  return stride > 1 && operands.kernel->isStrided() && strides[g.kernelInputDim] == stride;
}

void DirectEmitter::packKernel(const Block &block, const Chunk &chunk) {
  packKernelPanels(block, chunk);
  if (operands.flipsInput) {
    sumKernel(block, chunk);
  }
  if (plan.padsChannels) {
    fillKernelEnds(block, chunk);
  }
}

void DirectEmitter::packKernelPanels(const Block &block, const Chunk &chunk) {
  if (plan.alongChannels) {
    packKernelChannels(block, chunk);
    return;
  }
  ArrayRef<int64_t> strides = operands.kernel->strides();
  // Squares of `lanes` channels, also in the last piece.
  bool wholeBlocks =
      plan.channels % plan.lanes == 0 && plan.chunkChannels % plan.lanes == 0 && plan.lanes > 1;
  if (strides[g.kernelOutputDim] != 1 && wholeBlocks &&
      (strides[g.kernelInputDim] == 1 ||
       (tapsAreInside(operands) && plan.taps * plan.lanes <= kMostTable))) {
    packKernelTransposed(block, chunk);
    return;
  }
  packKernelVectors(block, chunk);
}

void DirectEmitter::packKernelChannels(const Block &block, const Chunk &chunk) {
  forEachTap(block, [&](ArrayRef<Index> tap, Value linear) {
    SmallVector<Index> here(tap);
    forEachPanel(block, [&](const Panel &panel) {
      emitFor(e, constI64(e, 0), constI64(e, panel.vectors), 1, [&](Value f) {
        Index feature = featureOf(block, addI(e, panel.n, f), 0);
        emitFor(e, constI64(e, 0), chunk.channels, plan.lanes, [&](Value c) {
          Value mask = lanesBelow(e, subI(e, chunk.channels, c), plan.lanes);
          Elem value = operands.readKernel(e, Index(c, 1), feature, here, plan.lanes, mask);
          value = zeroUnless(e, operands.element, mask, value);
          Value row = addI(e, mulI(e, linear, plan.columns()), f);
          Value at = addI(e, panelStart(block, panel.n), mulI(e, row, plan.kernelRows));
          elements.store(elements.address(kernelBuffer, addI(e, at, c)), value);
        });
      });
    });
  });
}

void DirectEmitter::packKernelVectors(const Block &block, const Chunk &chunk) {
  forEachTap(block, [&](ArrayRef<Index> tap, Value linear) {
    SmallVector<Index> here(tap);
    emitFor(e, constI64(e, 0), chunk.channels, 1, [&](Value c) {
      Value row = addI(e, mulI(e, linear, plan.kernelRows), c);
      Index channel(addI(e, chunk.c0, c));
      forEachPanel(block, [&](const Panel &panel) {
        Value at = addI(e, panelStart(block, panel.n), mulI(e, row, plan.columns()));
        for (int64_t v = 0; v < panel.vectors; ++v) {
          Index feature =
              featureOf(block, addI(e, panel.n, v * plan.lanes), plan.lanes > 1 ? 1 : 0);
          Elem value =
              operands.readKernel(e, channel, feature, here, plan.lanes, columnMask(panel, v));
          elements.store(elements.address(kernelBuffer, at, v * plan.lanes), value);
        }
      });
    });
  });
}

void DirectEmitter::packKernelTransposed(const Block &block, const Chunk &chunk) {
  int64_t lanes = plan.lanes;
  bool inside = operands.kernel->strides()[g.kernelInputDim] != 1;
  int64_t taps = inside ? plan.taps : 1;
  if (inside && !tapTable) {
    // The position in a panel of each element of `lanes` channels.
    tapTable = stackBuffer(e, taps * lanes * 8);
  }
  Type index = IntegerType::get(e.b.getContext(), 64, IntegerType::Signed);
  if (inside) {
    emitFor(e, constI64(e, 0), constI64(e, taps * lanes), 1, [&](Value i) {
      Value linear = constI64(e, 0);
      SmallVector<int64_t> sizes;
      for (const SpatialDim &dim : g.spatial) {
        sizes.push_back(dim.kernel);
      }
      SmallVector<Value> tap = delinearize(e, remI(e, i, taps), sizes);
      for (auto [dim, t] : llvm::zip(g.spatial, tap)) {
        Value place = dim.reversed ? subI(e, constI64(e, dim.kernel - 1), t) : t;
        linear = addI(e, mulI(e, linear, dim.kernel), place);
      }
      Value row = addI(e, mulI(e, linear, plan.kernelRows), divI(e, i, taps));
      storeElements(e, index, Elem(mulI(e, row, plan.columns())), tapTable, i);
    });
  }
  auto square = [&](ArrayRef<Index> tap, Value linear, const Panel &panel, Value v) {
    Value first = addI(e, panel.n, mulI(e, v, lanes));
    emitFor(e, constI64(e, 0), chunk.channels, lanes, [&](Value c) {
      emitFor(e, constI64(e, 0), constI64(e, taps), 1, [&](Value part) {
        SmallVector<Elem> rows = transposed(e, lanes, [&](int64_t i) {
          Value n = addI(e, first, i);
          Index feature = featureOf(
              block, panel.features < plan.columns() ? minI(e, n, plan.features - 1) : n, 0);
          Index channel(addI(e, chunk.c0, c));
          if (!inside) {
            channel.stride = 1;
            return operands.readKernel(e, channel, feature, tap, lanes, {});
          }
          Index offset(addI(e, mulI(e, channel.base, taps), mulI(e, part, lanes)), 1);
          int64_t stride = operands.kernel->strides()[g.kernelOutputDim];
          offset = addIndex(e, offset, mulIndex(e, feature, stride), lanes);
          return operands.kernel->atOffset(offset, lanes);
        });
        Value at = addI(e, panelStart(block, panel.n), mulI(e, v, lanes));
        Value row = addI(e, mulI(e, linear, plan.kernelRows), c);
        at = addI(e, at, mulI(e, row, plan.columns()));
        for (int64_t i = 0; i < lanes; ++i) {
          Value place =
              inside
                  ? addI(e, at,
                         loadElements(e, index, tapTable, addI(e, mulI(e, part, lanes), i), 1).re)
                  : addI(e, at, i * plan.columns());
          elements.store(elements.address(kernelBuffer, place), rows[i]);
        }
      });
    });
  };
  auto all = [&](ArrayRef<Index> tap, Value linear) {
    SmallVector<Index> here(tap);
    forEachPanel(block, [&](const Panel &panel) {
      emitFor(e, constI64(e, 0), constI64(e, panel.vectors), 1,
              [&](Value v) { square(here, linear, panel, v); });
    });
  };
  inside ? all({}, constI64(e, 0)) : forEachTap(block, all);
}

} // namespace hlo::codegen

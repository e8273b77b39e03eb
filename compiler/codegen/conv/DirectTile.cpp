//===- DirectTile.cpp - The register tile of the direct form --------------===//
//
// Computes a rectangle of outputs for a panel of features and a piece of the sums: loops over
// taps and channels that carry rows x vectors sums. Each step loads the vectors of the kernel
// once and broadcasts one element of the input per row. The sums of all but the last piece are
// kept in a buffer; those of the last go to the epilogue. Where few tiles use a part of a kernel
// that comes from beyond L2, their steps ask for the part that follows.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/DirectEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

std::pair<Value, Value> DirectEmitter::validTaps(const Block &block, const Chunk &chunk,
                                                 const Place &place, size_t d) {
  const DirectDim &dim = plan.dims[d];
  // Outputs of several lines: some of them read the input at every row of taps.
  bool isRun = plan.linePitch > 0 && d + 2 == rank;
  if (d + 1 == rank || dim.kernelDim < 0 || dim.isInside() || isRun) {
    return {chunk.from[d], chunk.to[d]};
  }
  // The input positions that the first and the last row of the tile read at the first tap.
  Value first = addI(e, mulI(e, place.at[d], dim.step), block.dims[d].firstInput);
  Value last = addI(e, first, d + 2 == rank ? (place.rowsH - 1) * dim.step : 0);
  Value from = stepsBelow(e, subI(e, constI64(e, 0), last), dim.tapStep);
  Value to = stepsBelow(e, subI(e, constI64(e, dim.input), first), dim.tapStep);
  return {maxI(e, chunk.from[d], from), minI(e, chunk.to[d], to)};
}

Value DirectEmitter::inputOffset(const Block &block, const Place &place, Value offset) {
  for (size_t d = 0; d < rank; ++d) {
    Value index = mulI(e, subI(e, place.at[d], block.dims[d].q0), plan.dims[d].step);
    offset = addI(e, offset, mulI(e, index, plan.inputStrides[d]));
  }
  return offset;
}

void DirectEmitter::forEachTap(const Block &block, const Chunk &chunk, const Place &place,
                               size_t depth, const Start &start, Sums &sums,
                               function_ref<void(Value, Value, Sums &)> body) {
  std::function<void(size_t, Value, Value, Sums &)> nest = [&](size_t d, Value input, Value kernel,
                                                               Sums &outer) {
    if (d == depth) {
      body(input, kernel, outer);
      return;
    }
    auto [from, to] = validTaps(block, chunk, place, d);
    int64_t inputStep = plan.dims[d].tapStep * plan.inputStrides[d];
    carrySums(e, from, to, 1, outer, [&](Value j, Sums &inner) {
      nest(d + 1, elements.address(input, mulI(e, j, inputStep)),
           elements.address(kernel, mulI(e, j, start.kernelSteps[d])), inner);
    });
  };
  nest(0, start.input, start.kernel, sums);
}

int64_t DirectEmitter::kernelRow() const {
  return plan.kernelInPlace ? operands.kernel->strides()[g.kernelInputDim] : plan.columns();
}

DirectEmitter::Start DirectEmitter::startOf(const Block &block, const Chunk &chunk,
                                            const Panel &panel, const Place &place) {
  int64_t row = kernelRow(), linear = 1;
  Start start{{}, {}, SmallVector<int64_t>(rank, 0)};
  Value kernelAt = plan.kernelInPlace
                       ? addI(e, mulI(e, chunk.c0, row), featureOf(block, panel.n, 0).base)
                       : panelStart(block, panel.n);
  if (plan.kernelStored) {
    kernelAt = addI(e, kernelAt, mulI(e, chunk.c0, row));
  }
  for (size_t d = rank; d-- > 0;) {
    const DirectDim &dim = plan.dims[d];
    if (dim.kernelDim < 0) {
      continue;
    }
    int64_t stride = plan.kernelInPlace ? operands.kernel->strides()[dim.kernelDim]
                                        : linear * plan.kernelRows * row;
    Value first = block.dims[d].firstTap;
    bool backwards = plan.kernelInPlace && dim.reversed;
    if (backwards) {
      first = subI(e, constI64(e, dim.kernel - 1), first);
    }
    kernelAt = addI(e, kernelAt, mulI(e, first, stride));
    start.kernelSteps[d] = (backwards ? -1 : 1) * dim.tapStride * stride;
    linear *= dim.kernel;
  }
  Value inputAt = plan.inputChunks ? constI64(e, 0) : mulI(e, chunk.c0, plan.channelWidth());
  start.input = elements.address(block.input, inputOffset(block, place, inputAt));
  Value kernelStart = plan.kernelStored    ? operands.kernel->panels()->pointer
                      : plan.kernelInPlace ? operands.kernel->pointer()
                                           : kernelBuffer;
  start.kernel = elements.address(kernelStart, kernelAt);
  return start;
}

DirectEmitter::Values DirectEmitter::distancesAhead(const Block &block, const Chunk &chunk,
                                                    const Panel &panel, const Place &place,
                                                    const Start &start) {
  if (!plan.asksAhead) {
    return {};
  }
  Value distance = constI64(e, 0);
  if (chunk.nextC0) {
    distance = mulI(e, subI(e, chunk.nextC0, chunk.c0), kernelRow());
    for (size_t d = 0; d < rank; ++d) {
      Value taps = subI(e, chunk.nextFrom[d], chunk.from[d]);
      distance = addI(e, distance, mulI(e, taps, start.kernelSteps[d]));
    }
  }
  if (!plan.tilesOutside) {
    int64_t step = plan.columns() * (plan.kernelInPlace ? 1 : plan.taps * plan.kernelRows);
    int64_t back = (plan.panels() - 1) * step;
    Value isLast = compareI(e, arith::CmpIPredicate::sge,
                            subI(e, addI(e, panel.n, plan.columns()), block.n1), 0);
    distance =
        arith::SelectOp::create(e.b, e.loc, isLast, addI(e, distance, -back), constI64(e, step));
  }
  // The first and the last tiles may leave out taps: those between ask for different lines.
  int64_t lines = llvm::divideCeil(plan.columns() * plan.bytes, kLineBytes);
  int64_t each = llvm::divideCeil(lines, plan.tiles());
  int64_t groups = llvm::divideCeil(lines, each);
  Value group = addI(e, tileNumber(block, place), -((plan.tiles() - groups) / 2));
  group = minI(e, maxI(e, group, constI64(e, 0)), groups - 1);
  Value first = addI(e, mulI(e, distance, plan.bytes), mulI(e, group, each * kLineBytes));
  Values distances;
  for (int64_t line = 0; line < each; ++line) {
    distances.push_back(addI(e, first, line * kLineBytes));
  }
  return distances;
}

Sums DirectEmitter::multiply(const Block &block, const Chunk &chunk, const Panel &panel,
                             const Place &place) {
  Start start = startOf(block, chunk, panel, place);
  Values ahead = distancesAhead(block, chunk, panel, place, start);
  SmallVector<int64_t> rowOffsets;
  for (int64_t r = 0; r < place.rows(); ++r) {
    rowOffsets.push_back(r / place.rowsW * plan.dims[rank - 2].step * plan.inputStrides[rank - 2] +
                         r % place.rowsW * plan.dims[rank - 1].step * plan.inputStrides[rank - 1]);
  }
  Value zero = constI64(e, 0);
  auto readRow = [&](Value input, int64_t r, int64_t count) {
    return elements.load(elements.address(input, zero, rowOffsets[r]), count);
  };
  auto readColumn = [&](Value weights, int64_t v, int64_t column, Value mask) {
    return loadElements(e, operands.element, elements.address(weights, zero, v * column), zero,
                        plan.lanes, v + 1 == panel.vectors ? mask : Value());
  };
  SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, place.rows()));
  auto step = [&](Value input, Value weights, int64_t width, int64_t column, Value mask,
                  Sums &sums) {
    multiplyStep(
        e, multiplier(), static_cast<int64_t>(rows.size()), panel.vectors,
        [&](int64_t r) { return readRow(input, rows[r], width); },
        [&](int64_t v) { return readColumn(weights, v, column, mask); }, sums);
  };
  Value mask = plan.kernelInPlace ? columnMask(panel, panel.vectors - 1) : Value();
  // A step of lanes along the channels.
  auto channelStep = [&](Value input, Value weights, int64_t c, Sums &sums) {
    step(elements.address(input, zero, c), elements.address(weights, zero, c), plan.lanes,
         plan.kernelRows, {}, sums);
  };
  size_t depth = plan.merged || plan.skipsPadding ? rank - 1 : rank;
  auto run = [&](Value input, Value weights, Sums &outer) {
    if (plan.alongChannels) {
      int64_t unrolled = 4 * plan.lanes, whole = plan.channels / unrolled * unrolled;
      carrySums(e, zero, constI64(e, whole), unrolled, outer, [&](Value i, Sums &inner) {
        for (int64_t c = 0; c < unrolled; c += plan.lanes) {
          channelStep(elements.address(input, i), elements.address(weights, i), c, inner);
        }
      });
      for (int64_t c = whole; c < plan.channels; c += plan.lanes) {
        channelStep(input, weights, c, outer);
      }
      return;
    }
    Value length = plan.merged && !plan.skipsPadding ? mulI(e, chunk.to[rank - 1], plan.channels)
                                                     : chunk.channels;
    Value done = zero;
    if (plan.rowsAreLanes) {
      int64_t count = e.machine.lanes(static_cast<int>(elements.partBytes));
      done = mulI(e, divI(e, length, count), count);
      carrySums(e, zero, done, count, outer, [&](Value i, Sums &inner) {
        multiplySteps(
            e, multiplier(), count, place.rows(), panel.vectors,
            [&](int64_t r) { return readRow(elements.address(input, i), r, count); },
            [&](int64_t j, int64_t v) {
              Value row = elements.address(weights, mulI(e, addI(e, i, j), kernelRow()));
              return readColumn(row, v, plan.lanes, mask);
            },
            inner);
      });
    }
    carrySums(e, done, length, 1, outer, [&](Value i, Sums &inner) {
      Value from = elements.address(input, mulI(e, i, plan.channelWidth()));
      Value row = elements.address(weights, mulI(e, i, kernelRow()));
      for (Value distance : ahead) {
        emitPrefetch(e, addBytes(e, row, distance), 2);
      }
      step(from, row, plan.channelWidth(), plan.lanes, mask, inner);
    });
  };
  // The outputs of a line that a tap meets, one tap after the other.
  auto runApart = [&](Value input, Value weights, Sums &outer) {
    const DirectDim &last = plan.dims[rank - 1];
    for (int64_t tap = 0; tap < last.taps; ++tap) {
      auto [from, to] = outputsOfTap(last, tap);
      rows.clear();
      Sums met;
      for (int64_t r = 0; r < place.rows(); ++r) {
        if (int64_t w = r % place.rowsW; w >= from && w < to) {
          rows.push_back(r);
          met.append(outer.begin() + r * panel.vectors, outer.begin() + (r + 1) * panel.vectors);
        }
      }
      Value inputAt =
          elements.address(input, zero, tap * last.tapStep * plan.inputStrides[rank - 1]);
      Value weightsAt = elements.address(weights, zero, tap * start.kernelSteps[rank - 1]);
      if (plan.cut == DirectCut::Taps) {
        // Once if the piece has the tap.
        carrySums(e, maxI(e, chunk.from[rank - 1], tap), minI(e, chunk.to[rank - 1], tap + 1), 1,
                  met, [&](Value, Sums &inner) { run(inputAt, weightsAt, inner); });
      } else {
        run(inputAt, weightsAt, met);
      }
      for (auto [i, r] : llvm::enumerate(rows)) {
        std::copy_n(met.begin() + static_cast<int64_t>(i) * panel.vectors, panel.vectors,
                    outer.begin() + r * panel.vectors);
      }
    }
  };
  Sums sums = firstSums(block, chunk, panel, place);
  if (plan.skipsPadding) {
    forEachTap(block, chunk, place, depth, start, sums, runApart);
  } else {
    forEachTap(block, chunk, place, depth, start, sums, run);
  }
  convertSums(sums);
  return sums;
}

void DirectEmitter::convertSums(Sums &sums) {
  if (sum == operands.element) {
    return;
  }
  // A piece's sum may be negative, which unsigned sums are modulo 2^32.
  Type piece = sum;
  if (auto integer = dyn_cast<IntegerType>(sum)) {
    piece = IntegerType::get(e.b.getContext(), integer.getWidth(), IntegerType::Signed);
  }
  for (Elem &value : sums) {
    value = emitConvert(e, operands.element, piece, value);
  }
}

Value DirectEmitter::tileNumber(const Block &block, const Place &place) {
  Value slot = constI64(e, 0);
  for (size_t d = 0; d < rank; ++d) {
    bool isRun = plan.linePitch > 0 && d + 2 >= rank;
    if (isRun && d + 2 == rank) {
      continue;
    }
    int64_t outputs =
        plan.dims[d].block + (isRun ? (plan.dims[d - 1].block - 1) * plan.linePitch : 0);
    int64_t unit = isRun ? plan.rowsW : plan.unit(d);
    slot = mulI(e, slot, llvm::divideCeil(outputs, unit));
    slot = addI(e, slot, divI(e, subI(e, place.at[d], block.dims[d].q0), unit));
  }
  return slot;
}

Value DirectEmitter::sumSlot(const Block &block, const Panel &panel, const Place &place) {
  Value slot = tileNumber(block, place);
  slot = addI(e, mulI(e, slot, plan.panels()), divI(e, subI(e, panel.n, block.n0), plan.columns()));
  return elements.address(sumBuffer, mulI(e, slot, plan.rows() * plan.columns()));
}

void DirectEmitter::emitTile(const Block &block, const Chunk &chunk, const Panel &panel,
                             const Place &place) {
  if (plan.matrix) {
    emitMatrixTile(block, chunk, panel, place);
    return;
  }
  if (plan.cut == DirectCut::None) {
    store(block, panel, place, multiply(block, chunk, panel, place));
    return;
  }
  Value slot = sumSlot(block, panel, place);
  int64_t count = place.rows() * panel.vectors;
  Sums sums = multiply(block, chunk, panel, place);
  addEarlier(e, sum, chunk.isLater, sums, [&](int64_t i) {
    return results.load(elements.address(slot, constI64(e, 0), i * plan.lanes), plan.lanes);
  });
  emitIfElse(
      e, chunk.isLast, [&] { store(block, panel, place, sums); },
      [&] {
        for (int64_t i = 0; i < count; ++i) {
          results.store(elements.address(slot, constI64(e, 0), i * plan.lanes), sums[i]);
        }
      });
}

SmallVector<Index> DirectEmitter::outputAt(const Block &block, const Place &place, Value h,
                                           const Index &w) {
  SmallVector<Index> full(rank + 1);
  for (auto [d, dim] : llvm::enumerate(plan.dims)) {
    Index q(place.at[d]);
    if (d + 1 == rank) {
      q = addIndex(e, w, q, plan.lanes);
    } else if (d + 2 == rank) {
      q = Index(addI(e, q.base, h));
    }
    full[dim.outputDim] = addIndex(e, mulIndex(e, q, dim.phases.size()),
                                   Index(block.dims[d].firstOutput), plan.lanes);
  }
  return full;
}

Value DirectEmitter::validRows(const Block &block, const Place &place, size_t d, int64_t rows) {
  if (place.outputs && d + 1 == rank) {
    return place.outputs;
  }
  return plan.even ? constI64(e, rows) : minI(e, subI(e, block.dims[d].q1, place.at[d]), rows);
}

Value DirectEmitter::bufferRow(const Place &place, Value h, Value w) {
  Value row = addI(e, mulI(e, h, tileWidth), w);
  return mulI(e, place.firstRow ? addI(e, place.firstRow, row) : row, plan.columns());
}

void DirectEmitter::storeFew(const Block &block, const Panel &panel, const Place &place,
                             const Sums &sums) {
  // In the order of the stores: rows of a feature, or features of a row.
  int64_t rows = place.rows(), features = panel.vectors, count = rows * features;
  for (int64_t i = 0; i < count; i += plan.lanes) {
    SmallVector<Value> group;
    for (int64_t l = i; l < i + plan.lanes; ++l) {
      int64_t r = storesColumns ? l % rows : l / features,
              f = storesColumns ? l / rows : l % features;
      group.push_back(l < count ? sums[r * features + f].re : zeroElem(e, sum, plan.lanes).re);
    }
    results.store(elements.address(tileBuffer, constI64(e, 0), i),
                  Elem(plan.lanes > 1 ? addLanes(e, sum, group) : group[0]));
  }
  int64_t lanes =
      storesColumns ? columnLanes : std::min<int64_t>(plan.lanes, llvm::PowerOf2Ceil(features));
  int64_t stride = lanes > 1 ? 1 : 0;
  auto finish = [&](Value at, Value h, const Index &w, const Index &n, Value mask) {
    SmallVector<Index> full = outputAt(block, place, h, w);
    full[g.outputFeatureDim] = n;
    epilogue.store(sum, results.load(elements.address(tileBuffer, at), lanes), full, lanes, mask);
  };
  forEachOutput(block, place, storesColumns ? lanes : 1, [&](Value h, Value w, Value rowsW) {
    Value row = addI(e, mulI(e, h, place.rowsW), w);
    emitFor(e, constI64(e, 0), constI64(e, features), storesColumns ? 1 : lanes, [&](Value f) {
      if (storesColumns) {
        finish(addI(e, mulI(e, f, rows), row), h, Index(w, stride),
               featureOf(block, addI(e, panel.n, f), 0),
               lanes > 1 ? lanesBelow(e, Index(w, 1), rowsW, lanes) : Value());
        return;
      }
      Index feature = featureOf(block, addI(e, panel.n, f), stride);
      feature.known = {};
      Value mask = features % lanes == 0 ? Value()
                                         : lanesBelow(e, Index(f, 1), constI64(e, features), lanes);
      finish(addI(e, mulI(e, row, features), f), h, Index(w), feature, mask);
    });
  });
}

void DirectEmitter::store(const Block &block, const Panel &panel, const Place &place,
                          const Sums &sums) {
  if (plan.alongChannels) {
    storeFew(block, panel, place, sums);
    return;
  }
  if (!storesTiles) {
    SmallVector<int64_t> strides = rowMajorStrides(shapeOf(op.getResult()));
    for (int64_t i = 0; i < place.rows() * panel.vectors; ++i) {
      int64_t r = i / panel.vectors, v = i % panel.vectors;
      SmallVector<Index> full =
          outputAt(block, place, constI64(e, r / place.rowsW), Index(constI64(e, r % place.rowsW)));
      full[g.outputFeatureDim] = featureOf(block, addI(e, panel.n, v * plan.lanes), 0);
      epilogue.storeAt(sum, sums[i], offsetOf(e, full, strides), columnMask(panel, v));
    }
    return;
  }
  for (int64_t i = 0; i < place.rows() * panel.vectors; ++i) {
    int64_t r = i / panel.vectors, v = i % panel.vectors;
    int64_t row = r / place.rowsW * tileWidth + r % place.rowsW;
    results.store(
        elements.address(tileBuffer, constI64(e, 0), row * plan.columns() + v * plan.lanes),
        sums[i]);
  }
  storeBuffered(block, panel, place);
}

void DirectEmitter::storeBuffered(const Block &block, const Panel &panel, const Place &place) {
  storesColumns ? storeColumns(block, panel, place) : storeRows(block, panel, place);
}

void DirectEmitter::forEachOutput(const Block &block, const Place &place, int64_t step,
                                  function_ref<void(Value, Value, Value)> body) {
  Value zero = constI64(e, 0);
  Value rowsH = validRows(block, place, rank - 2, place.rowsH);
  Value rowsW = validRows(block, place, rank - 1, place.rowsW);
  emitFor(e, zero, rowsH, 1,
          [&](Value h) { emitFor(e, zero, rowsW, step, [&](Value w) { body(h, w, rowsW); }); });
}

void DirectEmitter::storeRows(const Block &block, const Panel &panel, const Place &place) {
  forEachOutput(block, place, 1, [&](Value h, Value w, Value) {
    SmallVector<Index> full = outputAt(block, place, h, Index(w));
    Value row = bufferRow(place, h, w);
    forEachVector(e, panel.features, plan.lanes, [&](Value column, Value mask) {
      full[g.outputFeatureDim] = featureOf(block, addI(e, panel.n, column), plan.lanes > 1 ? 1 : 0);
      Elem value = results.load(elements.address(tileBuffer, addI(e, row, column)), plan.lanes);
      epilogue.store(sum, value, full, plan.lanes, mask);
    });
  });
}

void DirectEmitter::storeColumns(const Block &block, const Panel &panel, const Place &place) {
  Value zero = constI64(e, 0);
  int64_t lanes = columnLanes, columns = panel.vectors * plan.lanes;
  Value features = minI(e, subI(e, block.n1, panel.n), columns);
  forEachOutput(block, place, lanes, [&](Value h, Value w, Value rowsW) {
    Value row = bufferRow(place, h, w), mask;
    if (!plan.even || place.rowsW % lanes != 0) {
      mask = lanesBelow(e, Index(w, 1), rowsW, lanes);
    }
    emitFor(e, zero, features, lanes, [&](Value column) {
      SmallVector<Elem> square = transposed(e, lanes, [&](int64_t i) {
        return results.load(elements.address(tileBuffer, addI(e, row, column), i * plan.columns()),
                            lanes);
      });
      for (int64_t i = 0; i < lanes; ++i) {
        results.store(elements.address(squareBuffer, zero, i * lanes), square[i]);
      }
      Value most = subI(e, features, column);
      emitFor(e, zero, minI(e, most, lanes), 1, [&](Value i) {
        SmallVector<Index> full = outputAt(block, place, h, Index(w, 1));
        full[g.outputFeatureDim] = featureOf(block, addI(e, addI(e, panel.n, column), i), 0);
        Elem value = results.load(elements.address(squareBuffer, mulI(e, i, lanes)), lanes);
        epilogue.store(sum, value, full, lanes, mask);
      });
    });
  });
}

} // namespace hlo::codegen

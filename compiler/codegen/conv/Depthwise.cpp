//===- Depthwise.cpp - Convolutions of one input feature per output -------===//
//
// Emits a convolution whose groups have one input feature each: a loop over rows of the output
// (all indices but those of the last spatial dimension, and of the features if they are
// innermost), and in it over vectors of the output, with lanes along the innermost dimension:
// features (NHWC) or positions (NCHW, or a single feature).
//
// There is no reuse to block for: each vector reads its taps, most of which are in L1, so the
// loop is bound by memory. Taps must not need checks, though. With lanes along features, taps
// outside the input are skipped by the bounds of loops. Otherwise rows, and vectors within a row,
// whose taps are all inside have code without checks, and the others check every tap. A feature's
// weights are loaded once per row.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/conv/DepthwiseEmitter.h"

using namespace mlir;

namespace hlo::codegen {

/// With lanes along features, kNeighbours adjacent outputs along the last dimension share the loads
/// of weights; in rows of kLongRow and more taps kManyNeighbours. Each output is one chain of
/// multiply-adds: eight of them hide a latency of 4 cycles at two a cycle. In shorter rows of taps
/// the next outputs start soon enough, and four leave registers for the weights.
static constexpr int64_t kNeighbours = 4, kManyNeighbours = 8, kLongRow = 5;

bool isDepthwise(const ConvGeometry &g) {
  // One feature to one feature, except kernel gradients, whose window is the image.
  bool single = g.groups() == 1 && g.outputFeatures == 1 &&
                llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.kernel <= d.output; });
  if ((g.featureGroups <= 1 && !single) || g.kernelInputFeatures != 1 || g.spatial.empty() ||
      g.inputBatch * g.inputFeatures == 0) {
    return false;
  }
  const SpatialDim &last = g.spatial.back();
  int64_t innermost = static_cast<int64_t>(g.spatial.size()) + 1;
  bool sizes =
      llvm::all_of(g.spatial, [](const SpatialDim &d) { return d.input > 0 && d.kernel > 0; });
  return sizes && (g.outputFeatureDim == innermost || last.outputDim == innermost);
}

namespace {
/// Outputs [lo, hi) of a dimension have all their taps inside the input.
struct Inside {
  int64_t lo, hi;
};
} // namespace

static Inside insideOf(const SpatialDim &dim) {
  if (dim.inputDilation > 1) {
    return {0, 0};
  }
  int64_t lo = dim.padLow <= 0 ? 0 : llvm::divideCeil(dim.padLow, dim.stride);
  int64_t room = dim.input - 1 + dim.padLow - (dim.kernel - 1) * dim.kernelDilation;
  int64_t hi = room < 0 ? 0 : room / dim.stride + 1;
  lo = std::min(lo, dim.output);
  return {lo, std::clamp(hi, lo, dim.output)};
}

/// With a single feature, positions are innermost wherever the feature dimension is.
static bool isAlongFeatures(const ConvGeometry &g) {
  return g.outputFeatureDim == static_cast<int64_t>(g.spatial.size()) + 1 && g.outputFeatures > 1;
}

DepthwiseEmitter::DepthwiseEmitter(KernelBuilder &kernel, ConvolutionOp op,
                                   const ConvOperands &operands, Epilogue &epilogue)
    : kernel(kernel), e(kernel.e), operands(operands), g(operands.g), epilogue(epilogue),
      rank(operands.g.spatial.size()), alongFeatures(isAlongFeatures(operands.g)) {
  int64_t count = alongFeatures ? g.outputFeatures : g.spatial.back().output;
  int64_t bytes = std::max<int64_t>(4, computeType(operands.element).getIntOrFloatBitWidth() / 8);
  lanes = std::min<int64_t>(std::max<int64_t>(1, e.machine.vectors.bytes / bytes),
                            llvm::PowerOf2Ceil(std::max<int64_t>(1, count)));
  for (const SpatialDim &dim : g.spatial) {
    taps *= dim.kernel;
  }
}

DepthwiseEmitter::Row DepthwiseEmitter::rowAt(Value number) {
  SmallVector<int64_t> sizes{g.outputBatch, alongFeatures ? pieces : g.outputFeatures};
  for (const SpatialDim &dim : llvm::drop_end(g.spatial)) {
    sizes.push_back(dim.output);
  }
  SmallVector<Value> place = delinearize(e, number, sizes);
  Row row{Index(place[0]), Index(place[1]), {}};
  for (Value index : llvm::drop_begin(place, 2)) {
    row.outer.push_back(Index(index));
  }
  return row;
}

void DepthwiseEmitter::emit() {
  int64_t rows = g.outputBatch * (alongFeatures ? 1 : g.outputFeatures);
  for (const SpatialDim &dim : llvm::drop_end(g.spatial)) {
    rows *= dim.output;
  }
  int64_t rowWork = g.spatial.back().output * taps * (alongFeatures ? g.outputFeatures : 1);
  if (rowWork == 0) {
    rows = 0;
  }
  // With one spatial dimension each image is a row. Rows are cut in two until there are 8 tasks,
  // which a few threads share evenly.
  constexpr int64_t fewRows = 8;
  while (sharing() && rows > 0 && rows < fewRows && rowWork >= 2 * kDepthwisePerTask &&
         g.spatial.back().output >= 4 * pieces * kManyNeighbours) {
    pieces *= 2;
    rows *= 2;
    rowWork /= 2;
  }
  packWeights();
  emitItems(kernel, rows, rowWork, kDepthwisePerTask, [&](Value number) {
    Row row = rowAt(number);
    Value inside;
    for (auto [index, dim] : llvm::zip(row.outer, g.spatial)) {
      Inside range = insideOf(dim);
      if (range.lo > 0) {
        inside = andMask(e, inside, compareI(e, arith::CmpIPredicate::sge, index.base, range.lo));
      }
      if (range.hi < dim.output) {
        inside = andMask(e, inside, compareI(e, arith::CmpIPredicate::slt, index.base, range.hi));
      }
    }
    if (sharing() && loopsOverRows()) {
      emitSharingRow(row, false);
      return;
    }
    if (!inside) {
      emitRow(row, true);
      return;
    }
    emitIfElse(e, inside, [&] { emitRow(row, true); }, [&] { emitRow(row, false); });
  });
}

void DepthwiseEmitter::emitRow(const Row &row, bool rowInside) {
  if (sharing()) {
    emitSharingRow(row, rowInside);
    return;
  }
  const SpatialDim &last = g.spatial.back();
  SmallVector<Elem> weights;
  if (!alongFeatures && unrolled()) {
    weights = loadWeights(row);
  }
  uint64_t outer = rowInside ? outerBits() : 0, all = outer | uint64_t(1) << (rank - 1);
  int64_t step = alongFeatures ? 1 : lanes;
  int64_t steps = llvm::divideCeil(last.output, step);
  // Steps [lo, hi) are entirely inside; in a row at the border there are none.
  Inside range = insideOf(last);
  int64_t lo = llvm::divideCeil(range.lo, step), hi = std::max(lo, range.hi / step);
  if (!rowInside) {
    lo = hi = steps;
  }
  lo = std::min(lo, steps);
  hi = std::min(hi, steps);
  auto run = [&](int64_t from, int64_t to, uint64_t inside) {
    emitFor(e, constI64(e, from * step), constI64(e, to * step), step, [&](Value position) {
      if (alongFeatures) {
        forEachVector(e, g.outputFeatures, lanes, [&](Value feature, Value mask) {
          emitVector(row, Index(feature, lanes > 1 ? 1 : 0, lanes), Index(position), inside, mask,
                     {});
        });
        return;
      }
      Index lane(position, lanes > 1 ? 1 : 0, lanes);
      Value mask = to == steps ? lanesInside(e, position, lanes, last.output) : Value();
      emitVector(row, row.feature, lane, inside, mask, weights);
    });
  };
  run(0, lo, outer);
  run(lo, hi, all);
  run(hi, steps, outer);
}

void DepthwiseEmitter::emitSharingRow(const Row &row, bool rowInside) {
  const SpatialDim &last = g.spatial.back();
  Inside range = insideOf(last);
  auto run = [&](int64_t from, int64_t to, int64_t count, bool edge) {
    int64_t steps = llvm::divideCeil(to - from, count);
    auto bound = [&](Value piece) {
      return addI(e, mulI(e, divI(e, mulI(e, piece, steps), pieces), count), from);
    };
    emitFor(e, pieces > 1 ? bound(row.feature.base) : constI64(e, from),
            pieces > 1 ? bound(addI(e, row.feature.base, 1)) : constI64(e, to), count,
            [&](Value position) {
              forEachVector(e, g.outputFeatures, lanes, [&](Value feature, Value mask) {
                emitNeighbours(row, Index(feature, lanes > 1 ? 1 : 0, lanes), position, mask, count,
                               rowInside, edge);
              });
            });
  };
  run(0, range.lo, 1, true);
  int64_t at = range.lo;
  for (int64_t count :
       {last.kernel >= kLongRow ? kManyNeighbours : kNeighbours, kNeighbours, int64_t(1)}) {
    int64_t end = at + (range.hi - at) / count * count;
    if (end > at) {
      run(at, end, count, false);
    }
    at = end;
  }
  run(range.hi, last.output, 1, true);
}

std::pair<Value, Value> DepthwiseEmitter::validTaps(const SpatialDim &dim, Value output) {
  Value first = addI(e, mulI(e, output, dim.stride), -dim.padLow);
  Value to = stepsBelow(e, subI(e, constI64(e, dim.input), first), dim.kernelDilation);
  to = minI(e, to, dim.kernel);
  return {stepsBelow(e, subI(e, constI64(e, 0), first), dim.kernelDilation), to};
}

/// Computes adjacent outputs, loading each input element and each weight once.
void DepthwiseEmitter::emitNeighbours(const Row &row, const Index &feature, Value position,
                                      Value mask, int64_t count, bool rowInside, bool edge) {
  const SpatialDim &last = g.spatial.back();
  Index zero(constI64(e, 0));
  SmallVector<Index> output(row.outer);
  output.push_back(Index(position));
  uint64_t inside = outerBits() | uint64_t(1) << (rank - 1);
  auto read = [&](const SmallVector<Index> &tap) {
    return readInput(row, feature, output, tap, mask, inside);
  };
  auto line = [&](SmallVector<Index> tap, Sums &sums) {
    tap.push_back(zero);
    if (edge) {
      auto [from, to] = validTaps(last, position);
      carrySums(e, from, to, 1, sums, [&](Value t, Sums &inner) {
        tap.back() = Index(t);
        Elem weight = readWeight(feature, tap, mask);
        inner[0] = multiplyAdd(e, operands.element, inner[0], read(tap), weight);
      });
      return;
    }
    SmallVector<Elem> inputs((count - 1) * last.stride + last.kernel);
    for (int64_t t = 0; t < last.kernel; ++t) {
      tap.back() = Index(constI64(e, t));
      Elem weight = readWeight(feature, tap, mask);
      for (int64_t p = 0; p < count; ++p) {
        int64_t x = p * last.stride + t;
        if (!inputs[x]) {
          tap.back() = Index(constI64(e, x));
          inputs[x] = read(tap);
        }
        sums[p] = multiplyAdd(e, operands.element, sums[p], inputs[x], weight);
      }
    }
  };
  std::function<void(SmallVector<Index>, Sums &)> nest = [&](SmallVector<Index> tap, Sums &outer) {
    size_t d = tap.size();
    if (d + 1 == rank) {
      line(tap, outer);
      return;
    }
    tap.emplace_back();
    auto at = [&](Value t, Sums &sums) {
      tap.back() = Index(t);
      nest(tap, sums);
    };
    if (rowInside) {
      for (int64_t t = 0; t < g.spatial[d].kernel; ++t) {
        at(constI64(e, t), outer);
      }
      return;
    }
    auto [from, to] = validTaps(g.spatial[d], row.outer[d].base);
    carrySums(e, from, to, 1, outer, at);
  };
  Sums sums = zeroSums(e, operands.element, count, lanes);
  nest({}, sums);
  for (int64_t p = 0; p < count; ++p) {
    storeVector(row, feature, Index(addI(e, position, p)), sums[p], mask);
  }
}

void DepthwiseEmitter::emitVector(const Row &row, const Index &feature, const Index &position,
                                  uint64_t inside, Value mask, ArrayRef<Elem> weights) {
  Elem sum = sumTaps(row, feature, position, inside, mask, weights, {},
                     zeroElem(e, operands.element, lanes));
  storeVector(row, feature, position, sum, mask);
}

void DepthwiseEmitter::storeVector(const Row &row, const Index &feature, const Index &position,
                                   const Elem &sum, Value mask) {
  SmallVector<Index> full(rank + 2);
  full[g.outputBatchDim] = row.batch;
  full[g.outputFeatureDim] = feature;
  for (auto [index, dim] : llvm::zip(row.outer, g.spatial)) {
    full[dim.outputDim] = index;
  }
  full[g.spatial.back().outputDim] = position;
  epilogue.store(operands.element, sum, full, lanes, mask);
}

/// With lanes along features any spatial dimension may be the last one, whose taps are unrolled:
/// one with few taps is chosen if the last has many, as in the gradient of an image.
static ConvOperands orderDims(ConvOperands operands) {
  ConvGeometry &g = operands.g;
  bool alongFeatures = isAlongFeatures(g);
  SpatialDim &last = g.spatial.back();
  if (!alongFeatures || last.kernel <= DepthwiseEmitter::kUnrolledRow) {
    return operands;
  }
  SpatialDim *best = &last;
  for (SpatialDim &dim : g.spatial) {
    bool isShort = dim.kernel <= DepthwiseEmitter::kUnrolledRow && dim.kernelDilation == 1;
    if (isShort && (best == &last || dim.output > best->output)) {
      best = &dim;
    }
  }
  std::swap(*best, last);
  return operands;
}

void emitDepthwise(KernelBuilder &kernel, ConvolutionOp op, const ConvOperands &operands,
                   Epilogue &epilogue) {
  if (!isAlongFeatures(operands.g) && emitDepthwisePlanes(kernel, operands, epilogue)) {
    return;
  }
  ConvOperands ordered = orderDims(operands);
  DepthwiseEmitter(kernel, op, ordered, epilogue).emit();
}

} // namespace hlo::codegen

//===- DepthwisePlanes.cpp - Depthwise, with positions innermost ----------===//
//
// Emits a depthwise convolution over two dimensions whose last one is innermost (NCHW). For each
// band of rows of an image's channel:
//
//   copy the rows of the input that it reads, widened, with zeros around them
//   for each feature of the channel
//     for each phase (one, unless the input has holes)
//       for each tile of vectors of positions: multiply by all taps, into a buffer
//     store the rows of that buffer
//
// The copy has a plane per residue of the indices modulo the stride, so that a vector of adjacent
// outputs reads one vector at every tap and stride, and no tap needs a check. A vector may reach
// past the end of a row: its last lanes are the start of the next row, or are not stored. Short
// rows are thus processed as one run (7x7: 4 vectors, not 7).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/conv/DirectPlan.h"

#include <map>

using namespace mlir;

namespace hlo::codegen {

/// Windows of at most 5 x 5 taps are unrolled: a bound on code.
static constexpr int64_t kUnrolledTaps = 25;
/// Windows of at most 3 x 3 taps read large images in place: few reads per element do not pay for a
/// copy.
static constexpr int64_t kFewTaps = 9;
/// The most taps of a row, which is unrolled, and the most phases: each has code of its own.
static constexpr int64_t kMostRowTaps = 16, kMostPhases = 4;
/// Channels of small images that are copied before any is multiplied: a vector load right after
/// stores of its parts waits for them (no store forwarding).
static constexpr int64_t kMostChannels = 8;

namespace {
/// A dimension of a plane's copy: element `i` of residue `r` is input element origin + r + i *
/// step, so that adjacent outputs of a phase read adjacent elements.
struct PlaneDim {
  DirectDim dim;
  int64_t origin; ///< the first input index that any output reads; may be in the padding
  int64_t extra; ///< elements of a residue that a line of outputs reads in addition to their number

  /// The distance, in input elements, from `origin` to the element that a phase's first output
  /// reads at tap `j`.
  int64_t offset(const DirectPhase &phase, int64_t j) const {
    return phase.firstInput - origin + j * dim.tapStep;
  }
};

/// All decisions that are made before code is emitted.
struct PlanesPlan {
  PlaneDim h, w;
  int64_t lanes, bytes;
  int64_t band, bands; ///< outputs of a phase along h that are computed together; number of bands
  int64_t channels;    ///< channels of small images that are copied before any is multiplied
  /// A tile is `tile` vectors, one per row or, if `flat`, consecutive ones across rows.
  int64_t tile;
  bool flat;
  bool zeroedOnce;     ///< the padding is zeroed only before the first image
  bool unrolled;       ///< all taps are unrolled; else those of a row
  int64_t pitch;       ///< stride of the rows of the copy's planes, in elements
  int64_t planeSize;   ///< elements of such a plane; there is one per pair of residues
  int64_t outputPitch; ///< stride of the rows of sums; there is one plane per pair of phases
  int64_t outputSize;

  int64_t planes() const { return h.dim.step * w.dim.step; }
  int64_t phases() const { return h.dim.phases.size() * w.dim.phases.size(); }
  /// Elements of a channel.
  int64_t inputSize() const { return planes() * planeSize; }
  int64_t sumsSize() const { return phases() * outputSize; }
};

/// Emits the loops of a plan.
class PlanesEmitter {
public:
  PlanesEmitter(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                const PlanesPlan &plan);
  void emit();

private:
  /// Some outputs of an image: rows [first, first + rows) of the phases along h.
  struct Band {
    Index batch, channel;
    Value first, rows;
    Value input, sums; ///< its buffers
  };
  void forEachChannel(const Band &band, Value end, function_ref<void(const Band &)> body);
  void copyInput(const Band &band);
  void copyRow(const Band &band, Value residue, Value row, Value input);
  void fillZero(Value buffer, Value at, int64_t from, int64_t to);
  void copyWeights(const Index &feature);
  void multiply(const Band &band, size_t phaseH, size_t phaseW);
  /// Adds the taps of rows [from, to) of the window to the sums of a tile; `at` is the address of
  /// its first output's place in the copy.
  void addTaps(size_t phaseH, size_t phaseW, Value at, Sums &sums, int64_t from, int64_t to,
               Value weights);
  void addRows(size_t phaseH, size_t phaseW, Value at, Sums &sums);
  void store(const Band &band, const Index &feature);
  Value address(Value buffer, Value index, int64_t fixed = 0);

  KernelBuilder &kernel;
  Emission &e;
  const ConvOperands &operands;
  const ConvGeometry &g;
  Epilogue &epilogue;
  const PlanesPlan &plan;
  Value input, sums, weights; ///< buffers
};
} // namespace

static std::optional<PlaneDim> planeDim(const SpatialDim &spatial) {
  std::optional<DirectDim> dim = directDim(spatial);
  if (!dim) {
    return std::nullopt;
  }
  PlaneDim result{*dim, std::numeric_limits<int64_t>::max(), 0};
  for (const DirectPhase &phase : dim->phases) {
    result.origin = phase.taps > 0 ? std::min(result.origin, phase.firstInput) : result.origin;
  }
  for (const DirectPhase &phase : dim->phases) {
    if (phase.taps > 0) {
      result.extra = std::max(result.extra, result.offset(phase, phase.taps - 1) / dim->step);
    }
  }
  return result;
}

/// Chooses the rows of a tile: the rows of taps share loads; rows beyond the last one are computed
/// in vain.
static void chooseTile(PlanesPlan &plan, const Machine &machine) {
  int64_t rows = plan.h.dim.count, columns = plan.w.dim.count, taps = plan.h.dim.taps;
  int64_t whole = llvm::alignTo(columns, plan.lanes);
  plan.pitch = columns + plan.w.extra;
  // A load that crosses a line takes 1.5 times as long as a multiply-add.
  auto cost = [&](int64_t tile) {
    double loads = plan.unrolled && plan.h.dim.step == 1 ? tile + taps - 1 : tile * taps;
    return llvm::divideCeil(rows, tile) * std::max<double>(1.5 * loads, tile * taps) * whole;
  };
  plan.tile = 4;
  plan.flat = true;
  double best = 1.5 * rows * taps * plan.pitch;
  for (int64_t tile : {4, 3, 2, 1}) {
    if (cost(tile) < best) {
      best = cost(tile);
      plan.tile = tile;
      plan.flat = false;
    }
  }
  plan.outputPitch = plan.flat ? plan.pitch : whole;
}

/// Chooses the rows of a band so that the copy and the sums stay in L1.
static void chooseBand(PlanesPlan &plan, const Machine &machine) {
  int64_t count = plan.h.dim.count, rows = plan.flat ? 1 : plan.tile;
  int64_t row = (plan.planes() * plan.pitch + plan.phases() * plan.outputPitch) * plan.bytes;
  int64_t fitting = std::max<int64_t>(4, machine.memory.l1 / row - plan.h.extra);
  plan.bands = llvm::divideCeil(count, fitting);
  plan.band = std::min<int64_t>(count, llvm::alignTo(llvm::divideCeil(count, plan.bands), rows));
  plan.bands = llvm::divideCeil(count, plan.band);
  // A tile may reach past the last row by its other rows, or by its vectors.
  int64_t past = plan.flat ? plan.tile * plan.lanes : plan.lanes;
  plan.planeSize =
      (llvm::alignTo(plan.band, rows) + plan.h.extra) * plan.pitch + plan.w.extra + 2 * past;
  plan.outputSize = llvm::alignTo(plan.band, rows) * plan.outputPitch + past;
  int64_t channel = (plan.inputSize() + plan.sumsSize()) * plan.bytes;
  plan.channels =
      plan.bands > 1 ? 1 : std::clamp<int64_t>(machine.memory.l1 / 4 / channel, 1, kMostChannels);
  plan.zeroedOnce = plan.bands == 1 && machine.vectors.hasPredicates();
}

/// The plan; nullopt if the form does not apply.
static std::optional<PlanesPlan> planPlanes(const ConvOperands &operands, const Machine &machine) {
  const ConvGeometry &g = operands.g;
  if (g.spatial.size() != 2 || isa<ComplexType>(operands.element) ||
      operands.element.isInteger(1)) {
    return std::nullopt;
  }
  std::optional<PlaneDim> h = planeDim(g.spatial[0]), w = planeDim(g.spatial[1]);
  if (!h || !w) {
    return std::nullopt;
  }
  PlanesPlan plan{*h, *w};
  plan.bytes = computeType(operands.element).getIntOrFloatBitWidth() / 8;
  plan.lanes = machine.vectors.bytes / std::max<int64_t>(plan.bytes, 4);
  // The sums of two phases of a row are interleaved when they are stored.
  if (plan.bytes < 4 || plan.lanes < 4 || w->dim.phases.size() > 2 || plan.phases() > kMostPhases ||
      w->dim.taps > kMostRowTaps) {
    return std::nullopt;
  }
  plan.unrolled = h->dim.taps * w->dim.taps <= kUnrolledTaps;
  chooseTile(plan, machine);
  chooseBand(plan, machine);
  // Little work per element of an image that does not fit L1: read it in place.
  if (plan.bands > 1 && operands.input->isStoredAs(operands.element) && h->dim.step == 1 &&
      w->dim.step == 1 && plan.phases() == 1 && h->dim.taps * w->dim.taps <= kFewTaps) {
    return std::nullopt;
  }
  // A quarter of L2: the kernel, the other operands and prefetched lines need room too.
  int64_t quarter = machine.memory.l2 / 4;
  bool fits = plan.channels * (plan.inputSize() + plan.sumsSize()) * plan.bytes <= quarter;
  return fits ? std::optional(plan) : std::nullopt;
}

PlanesEmitter::PlanesEmitter(KernelBuilder &kernel, const ConvOperands &operands,
                             Epilogue &epilogue, const PlanesPlan &plan)
    : kernel(kernel), e(kernel.e), operands(operands), g(operands.g), epilogue(epilogue),
      plan(plan) {
  input = stackBuffer(e, plan.channels * plan.inputSize() * plan.bytes);
  sums = stackBuffer(e, plan.channels * plan.sumsSize() * plan.bytes);
  weights = stackBuffer(e, plan.h.dim.kernel * plan.w.dim.kernel * plan.bytes);
  if (plan.zeroedOnce) {
    fillZero(input, constI64(e, 0), 0, plan.channels * plan.inputSize() / plan.lanes * plan.lanes);
  }
}

Value PlanesEmitter::address(Value buffer, Value index, int64_t fixed) {
  return addBytes(e, buffer, mulI(e, addI(e, index, fixed), plan.bytes));
}

void PlanesEmitter::emit() {
  int64_t features = g.groupFeatures(), channels = g.outputFeatures / features;
  int64_t groups = llvm::divideCeil(channels, plan.channels);
  const DirectDim &h = plan.h.dim, &w = plan.w.dim;
  int64_t work = plan.channels * features * plan.sumsSize() * h.taps * w.taps;
  int64_t items = g.outputBatch * groups * plan.bands;
  emitItems(kernel, items, work, kDepthwisePerTask, [&](Value number) {
    SmallVector<Value> place = delinearize(e, number, {g.outputBatch, groups, plan.bands});
    Value channel = mulI(e, place[1], plan.channels);
    Band first{Index(place[0]), Index(channel), mulI(e, place[2], plan.band), {}, input, sums};
    first.rows = constI64(e, plan.band);
    if (h.count % plan.band != 0) {
      first.rows = minI(e, subI(e, constI64(e, h.count), first.first), plan.band);
    }
    Value end = constI64(e, plan.channels);
    if (channels % plan.channels != 0) {
      end = minI(e, subI(e, constI64(e, channels), channel), plan.channels);
    }
    forEachChannel(first, end, [&](const Band &band) { copyInput(band); });
    emitFor(e, constI64(e, 0), constI64(e, features), 1, [&](Value f) {
      auto feature = [&](const Band &band) {
        return Index(addI(e, mulI(e, band.channel.base, features), f));
      };
      forEachChannel(first, end, [&](const Band &band) {
        copyWeights(feature(band));
        for (size_t phase = 0; phase < h.phases.size() * w.phases.size(); ++phase) {
          multiply(band, phase / w.phases.size(), phase % w.phases.size());
        }
      });
      forEachChannel(first, end, [&](const Band &band) { store(band, feature(band)); });
    });
  });
}

void PlanesEmitter::forEachChannel(const Band &band, Value end,
                                   function_ref<void(const Band &)> body) {
  emitFor(e, constI64(e, 0), end, 1, [&](Value i) {
    Band here = band;
    here.channel = Index(addI(e, band.channel.base, i));
    here.input = address(input, mulI(e, i, plan.inputSize()));
    here.sums = address(sums, mulI(e, i, plan.sumsSize()));
    body(here);
  });
}

void PlanesEmitter::copyInput(const Band &band) {
  const PlaneDim &h = plan.h;
  int64_t step = h.dim.step;
  // In the order of memory: elements that a vector writes past the end of a row are overwritten
  // later.
  Value rows = mulI(e, addI(e, band.rows, h.extra), step);
  // The last row of each plane may be unused, and then the input may have no such row.
  bool isInside = h.dim.isInside() && (h.dim.count + h.extra) * step + h.origin <= h.dim.input;
  emitFor(e, constI64(e, 0), rows, 1, [&](Value number) {
    Value from = addI(e, addI(e, mulI(e, band.first, step), number), h.origin);
    Value residue = remI(e, number, step), row = divI(e, number, step);
    if (isInside) {
      copyRow(band, residue, row, from);
      return;
    }
    Value inside = compareI(e, arith::CmpIPredicate::ult, from, h.dim.input);
    auto copy = [&] { copyRow(band, residue, row, from); };
    plan.zeroedOnce ? emitIf(e, inside, copy)
                    : emitIfElse(e, inside, copy, [&] { copyRow(band, residue, row, {}); });
  });
}

/// Copies a row of the input, or zeros if that is null.
void PlanesEmitter::copyRow(const Band &band, Value residue, Value row, Value from) {
  const PlaneDim &w = plan.w;
  int64_t step = w.dim.step, lanes = plan.lanes;
  for (int64_t r = 0; r < step; ++r) {
    Value at = addI(e, mulI(e, residue, step * plan.planeSize), r * plan.planeSize);
    at = addI(e, at, mulI(e, row, plan.pitch));
    // The elements [lo, hi) of the row are inside the input.
    auto below = [&](int64_t index) {
      int64_t elements = index - w.origin - r;
      return std::clamp<int64_t>(elements <= 0 ? 0 : llvm::divideCeil(elements, step), 0,
                                 plan.pitch);
    };
    int64_t lo = below(0), hi = below(w.dim.input);
    if (!from || lo == hi) {
      fillZero(band.input, at, 0, plan.zeroedOnce ? 0 : plan.pitch);
      continue;
    }
    fillZero(band.input, at, 0, plan.zeroedOnce ? 0 : lo);
    auto copy = [&](Value i, Value mask) {
      SmallVector<Index> index(4);
      index[g.inputBatchDim] = band.batch;
      index[g.inputFeatureDim] = band.channel;
      index[plan.h.dim.inputDim] = Index(from);
      index[w.dim.inputDim] = Index(addI(e, mulI(e, i, step), w.origin + r), step);
      Elem value = operands.input->at(index, lanes, mask);
      storeElements(e, operands.element, value, band.input, addI(e, at, i),
                    plan.zeroedOnce ? mask : Value());
    };
    int64_t full = lo + (hi - lo) / lanes * lanes;
    emitFor(e, constI64(e, lo), constI64(e, full), lanes, [&](Value i) { copy(i, {}); });
    if (full < hi) {
      copy(constI64(e, full), firstLanes(e, hi - full, lanes));
    }
    fillZero(band.input, at, hi, plan.zeroedOnce ? hi : plan.pitch);
  }
}

void PlanesEmitter::fillZero(Value buffer, Value at, int64_t from, int64_t to) {
  Elem zeros = zeroElem(e, operands.element, plan.lanes);
  emitFor(e, constI64(e, from), constI64(e, to), plan.lanes,
          [&](Value i) { storeElements(e, operands.element, zeros, buffer, addI(e, at, i)); });
}

void PlanesEmitter::copyWeights(const Index &feature) {
  SmallVector<int64_t> sizes{plan.h.dim.kernel, plan.w.dim.kernel};
  emitFor(e, constI64(e, 0), constI64(e, sizes[0] * sizes[1]), 1, [&](Value number) {
    SmallVector<Value> tap = delinearize(e, number, sizes);
    Elem weight = operands.readKernel(e, Index(constI64(e, 0)), feature,
                                      {Index(tap[0]), Index(tap[1])}, 1, {});
    storeElements(e, operands.element, weight, weights, number);
  });
}

void PlanesEmitter::multiply(const Band &band, size_t phaseH, size_t phaseW) {
  int64_t lanes = plan.lanes, below = plan.flat ? lanes : plan.outputPitch;
  int64_t start = (phaseH * plan.w.dim.phases.size() + phaseW) * plan.outputSize;
  Value zero = constI64(e, 0);
  Sums none = zeroSums(e, operands.element, plan.tile, lanes);
  auto tile = [&](Value from, Value to) {
    Sums result = none;
    addRows(phaseH, phaseW, address(band.input, from), result);
    for (auto [t, sum] : llvm::enumerate(result)) {
      storeElements(e, operands.element, sum, band.sums, addI(e, to, start + t * below));
    }
  };
  if (plan.flat) {
    emitFor(e, zero, mulI(e, band.rows, plan.pitch), plan.tile * lanes,
            [&](Value i) { tile(i, i); });
    return;
  }
  emitFor(e, zero, band.rows, plan.tile, [&](Value q) {
    emitFor(e, zero, constI64(e, plan.outputPitch), lanes, [&](Value x) {
      tile(addI(e, mulI(e, q, plan.pitch), x), addI(e, mulI(e, q, plan.outputPitch), x));
    });
  });
}

void PlanesEmitter::addRows(size_t phaseH, size_t phaseW, Value at, Sums &sums) {
  const PlaneDim &h = plan.h;
  const DirectPhase &phase = h.dim.phases[phaseH];
  int64_t row = plan.w.dim.kernel;
  Value weightsAt = address(weights, constI64(e, phase.firstTap * row));
  if (plan.unrolled) {
    addTaps(phaseH, phaseW, at, sums, 0, phase.taps, weightsAt);
    return;
  }
  carrySums(e, constI64(e, 0), constI64(e, phase.taps), 1, sums, [&](Value j, Sums &inner) {
    Value offset = addI(e, mulI(e, j, h.dim.tapStep), h.offset(phase, 0));
    Value place = mulI(e, remI(e, offset, h.dim.step), plan.w.dim.step * plan.planeSize);
    place = addI(e, place, mulI(e, divI(e, offset, h.dim.step), plan.pitch));
    Value taps = address(weightsAt, mulI(e, j, h.dim.tapStride * row));
    addTaps(phaseH, phaseW, address(at, place), inner, 0, 1, taps);
  });
}

void PlanesEmitter::addTaps(size_t phaseH, size_t phaseW, Value at, Sums &sums, int64_t from,
                            int64_t to, Value weights) {
  const PlaneDim &h = plan.h, &w = plan.w;
  const DirectPhase &rows = h.dim.phases[phaseH], &columns = w.dim.phases[phaseW];
  int64_t below = plan.flat ? plan.lanes : plan.pitch;
  // The products of each vector of the input that the tile reads.
  struct Product {
    int64_t sum;
    Elem weight;
  };
  std::map<int64_t, SmallVector<Product>> products;
  for (int64_t j = from; j < to; ++j) {
    int64_t down = plan.unrolled ? h.offset(rows, j) : 0;
    int64_t plane = down % h.dim.step * w.dim.step * plan.planeSize;
    for (int64_t i = 0; i < columns.taps; ++i) {
      int64_t right = w.offset(columns, i), tap = columns.firstTap + i * w.dim.tapStride;
      Value place = address(weights, constI64(e, 0), j * h.dim.tapStride * w.dim.kernel + tap);
      Elem weight = loadElements(e, operands.element, place, constI64(e, 0), 1);
      int64_t offset = plane + right % w.dim.step * plan.planeSize +
                       down / h.dim.step * plan.pitch + right / w.dim.step;
      for (int64_t t = 0; t < plan.tile; ++t) {
        products[offset + t * below].push_back({t, splat(e, weight, plan.lanes)});
      }
    }
  }
  for (auto &[offset, list] : products) {
    Elem value = loadElements(e, operands.element, address(at, constI64(e, 0), offset),
                              constI64(e, 0), plan.lanes);
    for (const Product &product : list) {
      Elem &sum = sums[product.sum];
      sum = multiplyAdd(e, operands.element, sum, value, product.weight);
    }
  }
}

/// Interleaves the lanes of a and b.
static Value interleave(Emission &e, Value a, Value b, int64_t lanes) {
  SmallVector<int64_t> from;
  for (int64_t l = 0; l < lanes; ++l) {
    from.push_back(l / 2 + l % 2 * lanes);
  }
  return vector::ShuffleOp::create(e.b, e.loc, a, b, from);
}

void PlanesEmitter::store(const Band &band, const Index &feature) {
  const DirectDim &h = plan.h.dim, &w = plan.w.dim;
  int64_t lanes = plan.lanes, phasesH = h.phases.size(), phasesW = w.phases.size();
  Value first = mulI(e, band.first, phasesH);
  Value rows = minI(e, mulI(e, band.rows, phasesH), subI(e, constI64(e, h.output), first));
  emitFor(e, constI64(e, 0), rows, 1, [&](Value y) {
    Value at = mulI(e, remI(e, y, phasesH), phasesW * plan.outputSize);
    at = addI(e, at, mulI(e, divI(e, y, phasesH), plan.outputPitch));
    auto finish = [&](Value x, Value mask) {
      Value from = addI(e, at, divI(e, x, phasesW));
      Value sum = loadElements(e, operands.element, band.sums, from, lanes).re;
      if (phasesW == 2) {
        Value other =
            loadElements(e, operands.element, band.sums, addI(e, from, plan.outputSize), lanes).re;
        sum = interleave(e, sum, other, lanes);
      }
      SmallVector<Index> index(4);
      index[g.outputBatchDim] = band.batch;
      index[g.outputFeatureDim] = feature;
      index[h.outputDim] = Index(addI(e, first, y));
      index[w.outputDim] = Index(x, 1, lanes);
      epilogue.store(operands.element, Elem(sum), index, lanes, mask);
    };
    forEachVector(e, w.output, lanes, finish);
  });
}

bool emitDepthwisePlanes(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue) {
  std::optional<PlanesPlan> plan = planPlanes(operands, kernel.e.machine);
  if (plan) {
    PlanesEmitter(kernel, operands, epilogue, *plan).emit();
  }
  return plan.has_value();
}

} // namespace hlo::codegen

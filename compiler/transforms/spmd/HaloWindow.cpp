//===- HaloWindow.cpp - Windows over a dimension that is split -------------===//
#include "compiler/transforms/spmd/HaloWindow.h"

#include "compiler/analysis/Shapes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

bool hlo::spmd::hasSmallPositions(const WindowDim &window, int64_t size) {
  constexpr int64_t most = int64_t(1) << 28;
  auto isSmall = [](int64_t number) { return number >= -most && number <= most; };
  return isSmall(window.low) && isSmall(window.high) && isSmall(window.stride) && isSmall(size) &&
         isSmall(window.baseDilation) && isSmall(size * window.baseDilation) &&
         isSmall(window.size) && isSmall(window.windowDilation) &&
         isSmall(window.size * window.windowDilation);
}

WindowDim hlo::spmd::windowDim(WindowAttr window, int64_t dim) {
  return {window.getSize()[dim],          window.getStrides()[dim],
          window.getPadLow()[dim],        window.getPadHigh()[dim],
          window.getBaseDilations()[dim], window.getWindowDilations()[dim],
          window.getReversal()[dim] != 0};
}

WindowAttr hlo::spmd::withDim(WindowAttr window, int64_t dim, const WindowDim &value) {
  SmallVector<int64_t> size(window.getSize()), strides(window.getStrides()),
      low(window.getPadLow()), high(window.getPadHigh()), base(window.getBaseDilations()),
      dilations(window.getWindowDilations()), reversal(window.getReversal());
  size[dim] = value.size;
  strides[dim] = value.stride;
  low[dim] = value.low;
  high[dim] = value.high;
  base[dim] = value.baseDilation;
  dilations[dim] = value.windowDilation;
  reversal[dim] = value.isReversed;
  return WindowAttr::get(window.getContext(), size, strides, low, high, base, dilations, reversal);
}

/// `start` and `reads` are positions of the dilated operand, of which each shard gets `length`.
static WindowHalo makeHalo(const WindowDim &window, int64_t size, ArrayRef<int64_t> start,
                           int64_t length, ArrayRef<Span> reads) {
  WindowHalo halo;
  halo.local = window;
  halo.local.low = halo.local.high = 0;
  Exchange &x = halo.exchange;
  x.domain = {0, size};
  x.held = shardSize(size, start.size());
  int64_t dilation = window.baseDilation;
  if (dilation == 1) {
    x.origin.assign(start.begin(), start.end());
    x.reads.assign(reads.begin(), reads.end());
    x.length = length;
    x.addShards(size);
    return halo;
  }
  SmallVector<int64_t> phases;
  x.length = 1;
  for (auto [first, span] : llvm::zip(start, reads)) {
    x.origin.push_back(llvm::divideCeilSigned(first, dilation));
    phases.push_back(x.origin.back() * dilation - first);
    if (phases.back() < length) {
      x.length = std::max(x.length, (length - 1 - phases.back()) / dilation + 1);
    }
    x.reads.push_back(span.isEmpty() ? Span()
                                     : Span{llvm::divideCeilSigned(span.begin, dilation),
                                            llvm::divideFloorSigned(span.end - 1, dilation) + 1});
  }
  x.addShards(size);
  int64_t dilated = (x.length - 1) * dilation + 1;
  if (llvm::all_equal(phases)) {
    halo.local.low = phases[0];
    halo.local.high = length - phases[0] - dilated;
    return halo;
  }
  halo.isDilatedBefore = true;
  halo.dilation = dilation;
  halo.dilatedLength = length;
  halo.local.baseDilation = 1;
  for (int64_t phase : phases) {
    halo.skip.push_back(-phase);
  }
  return halo;
}

WindowHalo hlo::spmd::haloOfResults(const WindowDim &window, int64_t size, int64_t results,
                                    int64_t shards, bool allResults) {
  int64_t local = allResults ? results : shardSize(results, shards);
  SmallVector<int64_t> start;
  SmallVector<Span> reads;
  for (int64_t t = 0; t < shards; ++t) {
    int64_t first = allResults ? 0 : t * local;
    start.push_back(first * window.stride - window.low);
    int64_t valid = std::min(local, results - first);
    reads.push_back(valid <= 0 ? Span()
                               : Span{start.back(), start.back() + (valid - 1) * window.stride +
                                                        window.extent()});
  }
  return makeHalo(window, size, start, (local - 1) * window.stride + window.extent(), reads);
}

WindowHalo hlo::spmd::haloOfTaps(const WindowDim &window, int64_t size, int64_t results,
                                 int64_t shards) {
  int64_t local = shardSize(window.size, shards);
  SmallVector<int64_t> start;
  SmallVector<Span> reads;
  for (int64_t t = 0; t < shards; ++t) {
    // A reversed window's last element is its first tap.
    int64_t first = window.isReversed ? window.size - (t + 1) * local : t * local;
    Span taps = Span{first, first + local} & Span{0, window.size};
    start.push_back(first * window.windowDilation - window.low);
    reads.push_back(taps.isEmpty() ? Span()
                                   : Span{taps.begin * window.windowDilation - window.low,
                                          (taps.end - 1) * window.windowDilation - window.low +
                                              (results - 1) * window.stride + 1});
  }
  WindowDim part = window;
  part.size = local;
  return makeHalo(part, size, start, (results - 1) * window.stride + part.extent(), reads);
}

ClampedHalo hlo::spmd::clampedHalo(const WindowDim &window, int64_t size, int64_t results,
                                   ArrayRef<Span> needed) {
  ClampedHalo halo;
  int64_t stride = window.stride;
  // Results of which a shard does not need the first ones of its local op are not at the front, so
  // their windows read no padding there: `front` windows do.
  int64_t front = window.low > 0 ? llvm::divideCeilSigned(window.low, stride) : 0;
  int64_t most = 0;
  for (Span span : needed) {
    most = std::max(most, span.end - span.begin);
  }
  Exchange &x = halo.exchange;
  x.held = shardSize(size, needed.size());
  x.domain = {0, size};
  // Buffers start at multiples of the stride; those at the end of the operand end with it.
  int64_t length = std::max<int64_t>(1, (front + most - 1) * stride - window.low + window.extent());
  if (length < size) {
    length += (size - length) % stride;
  }
  x.length = std::min(length, size);
  for (Span span : needed) {
    int64_t start = std::clamp<int64_t>((span.begin - front) * stride, 0, size - x.length);
    x.origin.push_back(start);
    halo.first.push_back(start / stride);
    if (!span.isEmpty()) {
      halo.results = std::max(halo.results, span.end - halo.first.back());
    }
    Span valid = span & Span{0, results};
    if (valid.isEmpty()) {
      x.reads.push_back({});
      continue;
    }
    Span read{valid.begin * stride - window.low,
              (valid.end - 1) * stride - window.low + window.extent()};
    x.reads.push_back(read & x.domain);
  }
  x.addShards(size);
  halo.local = window;
  halo.local.high = (halo.results - 1) * stride + window.extent() - window.low - x.length;
  return halo;
}

Value hlo::spmd::exchangeHalo(Emitter &e, Value array, int64_t dim, ArrayRef<Axis> axes,
                              const WindowHalo &halo, Value fill, bool masks) {
  const Exchange &x = halo.exchange;
  Value buffer = exchange(e, array, dim, axes, x, masks ? Value() : fill);
  if (masks) {
    SmallVector<Span> spans;
    for (Span span : x.reads) {
      spans.push_back(span & x.domain);
    }
    buffer = maskSpans(e, buffer, dim, axes, x.origin, spans, fill);
  }
  if (!halo.isDilatedBefore) {
    return buffer;
  }
  buffer = padDim(e, buffer, dim, 0, 0, halo.dilation - 1, fill);
  return sliceAt(e, buffer, dim, axes, halo.skip, halo.dilatedLength, fill);
}

//===- FftPlan.cpp - The plan of a Fourier transform ----------------------===//
//
// In: lengths, batch, element type, machine. Out: factors, the form of a line's transform, tasks
// and scratch memory. Costs are counted in vector operations per element:
//
//   passes        the butterflies of each radix, with their loads and stores
//   four steps    columns of length `rows`, twiddles and a transposition, columns of
//                 length `columns`; a partial last vector costs as much as a full one
//   lines         both ends are transposed; the last vector of lines may be partial;
//                 n vectors of scratch that exceed L1 cost extra
//
//===----------------------------------------------------------------------===//
#include "compiler/plans/FftPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hlo {

/// Odd primes with a butterfly of their own. The butterfly of a prime p costs about p^2 operations;
/// from 17 on Bluestein's convolution is cheaper.
static constexpr int64_t kOddRadices[] = {3, 5, 7, 11, 13};

bool isFftSmooth(int64_t n) {
  n >>= llvm::countr_zero(static_cast<uint64_t>(n));
  for (int64_t p : kOddRadices) {
    while (n % p == 0) {
      n /= p;
    }
  }
  return n == 1;
}

SmallVector<int64_t> fftRadices(int64_t n, int64_t largest) {
  SmallVector<int64_t> factors;
  if (!isFftSmooth(n)) {
    return factors;
  }
  int64_t twos = 0;
  for (; n % 2 == 0; n /= 2) {
    ++twos;
  }
  for (int64_t p : kOddRadices) {
    for (; n % p == 0; n /= p) {
      factors.push_back(p);
    }
  }
  // The smallest number of passes for the power of two, with radices as equal as possible: 16 is 4
  // x 4, 32 is 4 x 8.
  int64_t most = largest >= 8 ? 3 : 2;
  for (int64_t passes = llvm::divideCeil(twos, most); passes > 0; --passes) {
    int64_t bits = twos / passes;
    factors.push_back(int64_t(1) << bits);
    twos -= bits;
  }
  return factors;
}

int64_t fftConvolutionLength(int64_t n) {
  // The shortest of 2^k, 3 * 2^k and 5 * 2^k; for large lengths multiples of 256, because the four
  // steps divide them evenly.
  int64_t best = 0;
  for (int64_t odd : {1, 3, 5}) {
    int64_t m = odd * (n > 128 ? 256 : 1);
    while (m < 2 * n - 1) {
      m *= 2;
    }
    best = best == 0 ? m : std::min(best, m);
  }
  return best;
}

/// The relative cost of a pass of radix p over one element: loads and stores, some 2, and the
/// butterfly's arithmetic, which grows with p itself if p is no power of two. Estimates.
static double passCost(int64_t p) {
  switch (p) {
  case 2: return 2.5;
  case 4: return 3.5;
  case 8: return 5;
  default: return 2.5 + p;
  }
}

/// Counted in radices up to 8, also where registers allow 4 only: counted in those, a line of
/// 262144 is 256 x 1024 instead of 512 x 512, which takes 7 % longer with vectors of 32 bytes.
static double columnCost(int64_t n) {
  double cost = 0;
  for (int64_t p : fftRadices(n, 8)) {
    cost += passCost(p);
  }
  return cost;
}

static double waste(int64_t size, int64_t lanes) {
  return static_cast<double>(llvm::alignTo(size, lanes)) / static_cast<double>(size);
}

SmallVector<FftCandidate> fftLineCandidates(const Machine &machine, int64_t n, int64_t lines,
                                            int64_t partBytes, bool acrossLines) {
  SmallVector<FftCandidate> candidates;
  int64_t padded = isFftSmooth(n) ? 0 : fftConvolutionLength(n);
  int64_t length = padded ? padded : n;
  // Bluestein: a forward and an inverse transform of length `length`, and the products.
  double scale = padded ? 2.0 * static_cast<double>(length) / static_cast<double>(n) : 1;
  double extra = padded ? 6 : 0;
  int64_t lanes = std::max(1, machine.lanes(static_cast<int>(partBytes)));
  for (int64_t l = lanes; l >= 1; l /= 2) {
    FftLine line;
    line.n = n;
    line.lanes = l;
    line.padded = padded;
    double shuffles = l == 1 ? 1 : 2 * llvm::Log2_64(l) + 2;
    // Two buffers of real and imaginary parts.
    int64_t scratch = length * l * 4 * partBytes;
    // Extra cost of a pass whose buffers exceed L1, or L2. Fitted to 64 lines of length 1000, which
    // are 1.5 times as fast in four steps (25 x 40) as across lines.
    double far = scratch < machine.memory.l1 ? 0 : scratch <= machine.memory.l2 / 2 ? 2.5 : 4;
    double passes =
        columnCost(length) + far * static_cast<double>(fftRadices(length, 8).size() + 2);
    candidates.push_back(
        {line, waste(lines, l) * (scale * passes + extra + 2 * shuffles) / static_cast<double>(l)});
    line.fourSteps = true;
    // Of the matrices that a line can be, the cheapest one.
    std::optional<FftCandidate> steps;
    for (int64_t rows = acrossLines ? length : 2; rows <= length / 2; ++rows) {
      if (rows * rows > 4 * length) {
        break;
      }
      if (length % rows != 0 || rows < l / 2) {
        continue;
      }
      line.rows = rows;
      line.columns = length / rows;
      // The product of a convolution is kept in full vectors.
      if (padded && (line.rows % l != 0 || line.columns % l != 0)) {
        continue;
      }
      // Of two shapes that cost the same, the one with more rows: what follows from the number of
      // columns (twiddles, transposed blocks) is not in the other terms. A tie-breaker, not
      // measured.
      constexpr double kPreferRows = 0.02;
      double cost = waste(line.columns, l) * columnCost(rows) +
                    waste(rows, l) * columnCost(line.columns) +
                    waste(rows, l) * waste(line.columns, l) * (4 + shuffles) +
                    kPreferRows * static_cast<double>(line.columns) / static_cast<double>(rows);
      cost = (scale * cost + extra + 4) / static_cast<double>(l);
      if (!steps || cost < steps->cost) {
        steps = {line, cost};
      }
    }
    if (steps) {
      candidates.push_back(*steps);
    }
  }
  auto *best = llvm::min_element(
      candidates, [](const FftCandidate &a, const FftCandidate &b) { return a.cost < b.cost; });
  std::rotate(candidates.begin(), best, best + 1);
  return candidates;
}

int64_t fftBlockVectors(const Machine &machine, int64_t rows, int64_t vectors,
                        int64_t vectorBytes) {
  int64_t best = 1;
  for (int64_t v : {2, 4}) {
    // Two buffers of real and imaginary parts.
    if (vectors % v == 0 && rows * v * vectorBytes * 4 <= machine.memory.l1) {
      best = v;
    }
  }
  return best;
}

int64_t FftShape::workElements() const {
  int64_t elements = 1;
  for (int64_t size : work) {
    elements *= size;
  }
  return elements;
}

FftShape fftShape(const Machine &machine, FftOp op) {
  FftShape shape;
  auto in = cast<RankedTensorType>(op.getOperand().getType());
  auto out = cast<RankedTensorType>(op.getType());
  StringRef kind = op.getFftType();
  shape.realIn = kind == "RFFT";
  shape.realOut = kind == "IRFFT";
  shape.inverse = kind == "IFFT" || shape.realOut;
  Type part = in.getElementType();
  if (auto complex = dyn_cast<ComplexType>(part)) {
    part = complex.getElementType();
  }
  shape.partBytes = part.getIntOrFloatBitWidth() / 8;
  shape.lengths.assign(op.getFftLength().begin(), op.getFftLength().end());
  shape.work = shape.lengths;
  shape.lineLength = shape.lengths.back();
  if (shape.realIn || shape.realOut) {
    shape.halved = shape.lengths.back() % 2 == 0;
    shape.lineLength = shape.halved ? shape.lengths.back() / 2 : shape.lengths.back();
    shape.work.back() = shape.lengths.back() / 2 + 1;
  }
  for (int64_t size : out.getShape().drop_back(shape.lengths.size())) {
    shape.batches *= size;
  }
  // A task transforms about 16 Ki elements, and there are at most 32 tasks. Short lines are grouped
  // so that they fill the vectors.
  int64_t perTask = std::max(llvm::divideCeil(16 << 10, std::max<int64_t>(1, shape.workElements())),
                             llvm::divideCeil(shape.batches, 32));
  int64_t lanes = std::max(1, machine.lanes(static_cast<int>(shape.partBytes)));
  if (shape.lengths.size() == 1 && 2 * perTask >= lanes) {
    perTask = llvm::alignTo(perTask, lanes);
  }
  shape.batchesPerTask = std::max<int64_t>(1, std::min(perTask, shape.batches));
  return shape;
}

SmallVector<FftCandidate> fftLineCandidates(const Machine &machine, const FftShape &shape) {
  return fftLineCandidates(machine, shape.lineLength, shape.linesPerTask(), shape.partBytes,
                           shape.acrossLines());
}

double fftCycles(const Machine &machine, const FftShape &shape, const FftCandidate &candidate) {
  auto transforms = static_cast<double>(shape.batches);
  double lanes = std::max(1, machine.lanes(static_cast<int>(shape.partBytes)));
  double operations =
      candidate.cost * static_cast<double>(shape.linesPerBatch() * shape.lineLength);
  for (int64_t n : ArrayRef(shape.work).drop_back()) {
    operations += columnCost(n) * static_cast<double>(shape.workElements()) / lanes;
  }
  // Half of what starts in a cycle; the other half are loads and stores.
  return transforms * operations / (machine.issue.fma / 2);
}

/// Bytes of the two buffers for columns of length n that are `vectors` vectors wide; for
/// Bluestein's length if n is not smooth.
static int64_t columnBytes(int64_t n, int64_t vectors, int64_t vectorBytes) {
  int64_t length = isFftSmooth(n) ? n : fftConvolutionLength(n);
  return llvm::alignTo(length * vectors * vectorBytes * 4, 128);
}

int64_t FftShape::tasks(int64_t taskBytes) const {
  // Each task has scratch memory of its own: with large scratch only 4 tasks, so that the kernel's
  // total stays below megabytes.
  return !staged()                     ? llvm::divideCeil(batches, batchesPerTask)
         : taskBytes <= kFftStackBytes ? 16
                                       : 4;
}

int64_t FftShape::workBytes() const { return llvm::alignTo(workElements() * 2 * partBytes, 128); }

int64_t fftConvolutionBytes(const FftShape &shape, const FftLine &line) {
  return line.fourSteps && line.padded ? llvm::alignTo(4 * line.padded * shape.partBytes, 128) : 0;
}

int64_t fftTaskScratchBytes(const Machine &machine, const FftShape &shape, const FftLine &line) {
  int64_t lanes = std::max(1, machine.lanes(static_cast<int>(shape.partBytes))), bytes = 0;
  int64_t width = line.lanes * shape.partBytes;
  if (line.fourSteps) {
    int64_t first = fftBlockVectors(machine, line.rows, line.columns / line.lanes, width);
    int64_t second = fftBlockVectors(machine, line.columns, line.rows / line.lanes, width);
    bytes =
        std::max(columnBytes(line.rows, first, width), columnBytes(line.columns, second, width));
    bytes += fftConvolutionBytes(shape, line);
  } else {
    // One row more: a halved line of real numbers has one more complex element at one end.
    bytes = llvm::alignTo((line.transformed() + 1) * width * 4, 128);
  }
  int64_t inner = shape.work.back();
  for (size_t d = shape.work.size() - 1; d-- > 0;) {
    int64_t l = lanes;
    while (l > 1 && l >= 2 * inner) {
      l /= 2;
    }
    int64_t vectors = fftBlockVectors(machine, shape.work[d], inner / l, l * shape.partBytes);
    bytes = std::max(bytes, columnBytes(shape.work[d], vectors, l * shape.partBytes));
    inner *= shape.work[d];
  }
  if (shape.hasWork() && !shape.staged()) {
    bytes += shape.workBytes();
  }
  return bytes;
}

int64_t fftWorkBytes(const FftShape &shape) {
  return shape.hasWork() && shape.staged() ? shape.batches * shape.workBytes() : 0;
}

int64_t fftScratchBytes(const Machine &machine, const FftShape &shape, const FftLine &line) {
  int64_t bytes = fftTaskScratchBytes(machine, shape, line);
  return fftWorkBytes(shape) + (bytes <= kFftStackBytes ? 0 : bytes * shape.tasks(bytes));
}

} // namespace hlo

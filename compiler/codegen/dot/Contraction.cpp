//===- Contraction.cpp - A problem as the forms of dots take it -----------===//
//
// Makes a Contraction of a Problem. Dimensions that are adjacent and contiguous in every array that
// has them are merged, and dimensions of size 1 are dropped. For computed operands "in memory"
// means row-major order; a merged index is split when the operand is read.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Contraction.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;

namespace hlo::codegen {

Value ContractionSide::address(Emission &e, Indices batch, Indices free, Indices k) const {
  Value offset = offsetOf(e, batch, batchStrides);
  offset = addI(e, offset, offsetOf(e, free, freeStrides));
  offset = addI(e, offset, offsetOf(e, k, kStrides));
  return addBytes(e, strided->pointer(), mulI(e, offset, storageBytes(strided->storage())));
}

bool isStoredAsSummed(const Contraction &c, const ContractionSide &side) {
  return side.strided && side.strided->storage() == c.element;
}

void swapSides(Contraction &c) {
  std::swap(c.m, c.n);
  std::swap(c.lhs, c.rhs);
  std::swap(c.outM, c.outN);
  c.outIndex = [inner = c.outIndex](Contraction::Indices batch, Contraction::Indices m,
                                    Contraction::Indices n,
                                    int64_t lanes) { return inner(batch, n, m, lanes); };
}

int64_t lanesFor(const Contraction &c, int64_t count) {
  Type part = computeType(c.element);
  int64_t bytes = std::max<int64_t>(1, part.getIntOrFloatBitWidth() / 8);
  int64_t most =
      std::max<int64_t>(1, c.kernel.e.machine.vectors.bytes / std::max<int64_t>(bytes, 4));
  return std::min<int64_t>(most, llvm::PowerOf2Ceil(std::max<int64_t>(1, count)));
}

namespace {
using Dim = Problem::Dim;

/// One dimension of a group after merging: its parts, outermost first.
struct MergedDim {
  int64_t size = 1;
  SmallVector<Dim> parts;
};

} // namespace

static int64_t strideOf(const Dim &dim, ArrayRef<int64_t> strides, int64_t Dim::*array) {
  return dim.*array < 0 ? 0 : strides[dim.*array];
}

static SmallVector<MergedDim> mergeDims(ArrayRef<Dim> dims, const Problem &problem) {
  auto isRun = [](const Dim &outer, const Dim &dim, ArrayRef<int64_t> strides,
                  int64_t Dim::*array) {
    return strideOf(outer, strides, array) == strideOf(dim, strides, array) * dim.size;
  };
  SmallVector<MergedDim> merged;
  for (const Dim &dim : dims) {
    if (dim.size == 1) {
      continue;
    }
    if (!merged.empty() && !problem.hasBorders) {
      MergedDim &last = merged.back();
      const Dim &outer = last.parts.back();
      if (isRun(outer, dim, problem.lhs.strides, &Dim::lhs) &&
          isRun(outer, dim, problem.rhs.strides, &Dim::rhs) &&
          isRun(outer, dim, problem.outStrides, &Dim::out)) {
        last.size *= dim.size;
        last.parts.push_back(dim);
        continue;
      }
    }
    merged.push_back({dim.size, {dim}});
  }
  return merged;
}

static int64_t sizeOf(ArrayRef<Dim> dims) {
  return llvm::product_of(llvm::map_range(dims, [](const Dim &dim) { return dim.size; }));
}

/// Splits the indices of a group's merged dimensions into those of an array's dimensions.
static void spreadIndices(Emission &e, ArrayRef<MergedDim> group, ArrayRef<Index> indices,
                          int64_t lanes, int64_t Dim::*array, MutableArrayRef<Index> full) {
  for (auto [dim, index] : llvm::zip(group, indices)) {
    SmallVector<int64_t> sizes;
    for (const Dim &part : dim.parts) {
      sizes.push_back(part.size);
    }
    SmallVector<Index> parts = splitIndex(e, index, sizes, lanes);
    for (auto [part, partIndex] : llvm::zip(dim.parts, parts)) {
      if (part.*array >= 0) {
        full[part.*array] = partIndex;
      }
    }
  }
}

static SmallVector<int64_t> sizesOf(ArrayRef<MergedDim> group) {
  SmallVector<int64_t> sizes;
  for (const MergedDim &dim : group) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

static SmallVector<int64_t> stridesOf(ArrayRef<MergedDim> group, ArrayRef<int64_t> strides,
                                      int64_t Dim::*array) {
  return llvm::map_to_vector(
      group, [&](const MergedDim &dim) { return strideOf(dim.parts.back(), strides, array); });
}

static UnitStride unitOf(ArrayRef<int64_t> freeStrides, ArrayRef<int64_t> kStrides) {
  if (!kStrides.empty() && kStrides.back() == 1) {
    return UnitStride::K;
  }
  if (!freeStrides.empty() && freeStrides.back() == 1) {
    return UnitStride::Free;
  }
  return UnitStride::None;
}

static int64_t product(ArrayRef<MergedDim> group) { return llvm::product_of(sizesOf(group)); }

/// The run along a group that is one merged dimension, of which `runs` has those of its parts; 0:
/// the whole of it.
static int64_t runOf(ArrayRef<MergedDim> group, ArrayRef<int64_t> runs, int64_t Dim::*array) {
  if (group.size() != 1) {
    return group.empty() ? 0 : 1;
  }
  int64_t run = 1;
  for (const Dim &part : llvm::reverse(group[0].parts)) {
    int64_t along = runs[part.*array];
    if (along != 0) {
      return run * along;
    }
    run *= part.size;
  }
  return 0;
}

/// One side of the contraction. `freeDims`: m or n.
static ContractionSide makeSide(KernelBuilder &kernel, const Problem::Array &from,
                                SmallVector<MergedDim> batch, SmallVector<MergedDim> freeDims,
                                SmallVector<MergedDim> k, int64_t Dim::*array) {
  ContractionSide side;
  const std::shared_ptr<Operand> &operand = from.operand;
  side.batchStrides = stridesOf(batch, from.strides, array);
  side.freeStrides = stridesOf(freeDims, from.strides, array);
  side.kStrides = stridesOf(k, from.strides, array);
  side.unit = unitOf(side.freeStrides, side.kStrides);
  side.holdsBf16 = operand->holdsBf16();
  side.narrowInteger = operand->narrowInteger();
  side.storage = operand->storage();
  auto inArray = [&e = kernel.e, rank = from.strides.size(), batch, freeDims, k,
                  array](ArrayRef<Index> batchIndex, ArrayRef<Index> freeIndex,
                         ArrayRef<Index> kIndex, int64_t lanes) {
    SmallVector<Index> full(rank, Index(constI64(e, 0)));
    spreadIndices(e, batch, batchIndex, lanes, array, full);
    spreadIndices(e, freeDims, freeIndex, lanes, array, full);
    spreadIndices(e, k, kIndex, lanes, array, full);
    return full;
  };
  if ((side.scaled = from.scaled)) {
    side.scaledRun = runOf(k, from.scaled->runs(), array);
    side.coefficients = [scaled = from.scaled, inArray](ArrayRef<Index> batchIndex,
                                                        ArrayRef<Index> freeIndex,
                                                        ArrayRef<Index> kIndex, int64_t lanes) {
      return scaled->at(inArray(batchIndex, freeIndex, kIndex, lanes), lanes);
    };
  }
  int64_t elements = product(freeDims) * product(k);
  bool wholeIndices = llvm::all_of(
      side.batchStrides, [&](int64_t stride) { return elements > 0 && stride % elements == 0; });
  if (from.panels && wholeIndices) {
    side.panels = from.panels;
  }
  if (from.isStrided) {
    side.strided = operand;
    side.read = [&e = kernel.e, operand, batchStrides = side.batchStrides,
                 freeStrides = side.freeStrides,
                 kStrides = side.kStrides](ArrayRef<Index> batch, ArrayRef<Index> free,
                                           ArrayRef<Index> k, int64_t lanes, Value mask) {
      Index offset(constI64(e, 0));
      auto add = [&](ArrayRef<Index> indices, ArrayRef<int64_t> strides) {
        for (auto [index, stride] : llvm::zip(indices, strides)) {
          offset = addIndex(e, offset, mulIndex(e, index, stride), lanes);
        }
      };
      add(batch, batchStrides);
      add(free, freeStrides);
      add(k, kStrides);
      return operand->atOffset(offset, lanes, mask);
    };
    return side;
  }
  side.read = [read = from.read, inArray](ArrayRef<Index> batchIndex, ArrayRef<Index> freeIndex,
                                          ArrayRef<Index> kIndex, int64_t lanes, Value mask) {
    return read(inArray(batchIndex, freeIndex, kIndex, lanes), lanes, mask);
  };
  return side;
}

/// Whether each run of `inner` contiguous columns should be a product of its own; all share the
/// `rows` rows. True for few rows; for more rows only if runs end within a vector that they fill
/// well.
static bool separatesRuns(const Emission &e, Type element, int64_t inner, int64_t rows) {
  // Runs that stay together are packed or gathered. Up to 16 rows, those of the forms for few rows,
  // never repay that; up to 64, some five tiles, not if vectors lie across gaps. Timings were kept
  // for 1, 5 and 12 rows (NOTES.md, "a product per run"), none for 64.
  constexpr int64_t kFew = 16, kMost = 64;
  int64_t lanes = e.machine.lanes(std::max(4, static_cast<int>(storageBytes(element))));
  return rows <= kFew ||
         (rows <= kMost && !isa<ComplexType>(element) && inner % lanes != 0 && 2 * inner >= lanes);
}

void separateRuns(KernelBuilder &kernel, Type element, Problem &problem) {
  auto separate = [&](SmallVector<Dim> &columns, ArrayRef<Dim> rows, const Problem::Array &side,
                      const Problem::Array &other, int64_t Dim::*array) {
    SmallVector<MergedDim> runs = mergeDims(columns, problem);
    if (runs.size() < 2 || strideOf(runs.back().parts.back(), side.strides, array) != 1 ||
        !other.isStrided || !separatesRuns(kernel.e, element, runs.back().size, sizeOf(rows))) {
      return;
    }
    columns = runs.pop_back_val().parts;
    for (const MergedDim &outer : runs) {
      problem.batch.append(outer.parts);
    }
  };
  separate(problem.n, problem.m, problem.rhs, problem.lhs, &Dim::rhs);
  separate(problem.m, problem.n, problem.lhs, problem.rhs, &Dim::lhs);
}

/// Sorts the dimensions of k: the order of summation is free, so it is that of the larger side in
/// memory, or of the only strided one.
static void sortK(Problem &problem) {
  auto batchOf = [&](int64_t Dim::*side) {
    return sizeOf(
        llvm::filter_to_vector(problem.batch, [&](const Dim &d) { return d.*side >= 0; }));
  };
  bool byLhs =
      problem.lhs.isStrided == problem.rhs.isStrided
          ? batchOf(&Dim::lhs) * sizeOf(problem.m) >= batchOf(&Dim::rhs) * sizeOf(problem.n)
          : problem.lhs.isStrided;
  auto distance = [&](const Dim &d) {
    return std::abs(byLhs ? strideOf(d, problem.lhs.strides, &Dim::lhs)
                          : strideOf(d, problem.rhs.strides, &Dim::rhs));
  };
  for (auto last = problem.k.begin(); last != problem.k.end(); ++last) {
    auto place = std::upper_bound(problem.k.begin(), last, *last, [&](const Dim &a, const Dim &b) {
      return distance(a) > distance(b);
    });
    std::rotate(place, last, last + 1);
  }
}

Contraction makeContraction(KernelBuilder &kernel, Operation *hero, Type element, Problem problem) {
  if (!problem.hasBorders && !problem.lhs.panels && !problem.rhs.panels) {
    sortK(problem);
  }
  SmallVector<MergedDim> batch = mergeDims(problem.batch, problem),
                         m = mergeDims(problem.m, problem), n = mergeDims(problem.n, problem),
                         k = mergeDims(problem.k, problem);
  Contraction c{kernel, hero, element, sizesOf(batch), sizesOf(m), sizesOf(n), sizesOf(k)};
  c.lhs = makeSide(kernel, problem.lhs, batch, m, k, &Dim::lhs);
  c.rhs = makeSide(kernel, problem.rhs, batch, n, k, &Dim::rhs);
  c.outBatch = stridesOf(batch, problem.outStrides, &Dim::out);
  c.outM = stridesOf(m, problem.outStrides, &Dim::out);
  c.outN = stridesOf(n, problem.outStrides, &Dim::out);
  c.outIndex = [&e = kernel.e, batch, m, n, rank = problem.outStrides.size(),
                inArray = problem.outIndex](ArrayRef<Index> batchIndex, ArrayRef<Index> mIndex,
                                            ArrayRef<Index> nIndex, int64_t lanes) {
    SmallVector<Index> full(rank, Index(constI64(e, 0)));
    spreadIndices(e, batch, batchIndex, lanes, &Dim::out, full);
    spreadIndices(e, m, mIndex, lanes, &Dim::out, full);
    spreadIndices(e, n, nIndex, lanes, &Dim::out, full);
    return inArray ? inArray(full, lanes) : full;
  };
  return c;
}

} // namespace hlo::codegen

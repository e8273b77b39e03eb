//===- Contraction.cpp - The common form of dots and convolutions ---------===//
//
// Makes a Contraction of two operands and their dimensions in four groups. Dimensions that are
// adjacent and contiguous in every array that has them are merged, and dimensions of size 1 are
// dropped. For computed operands "in memory" means row-major order; a merged index is split when
// the operand is read.
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
using Dim = DimensionGroups::Dim;

/// One dimension of a group after merging: its parts, outermost first.
struct MergedDim {
  int64_t size = 1;
  SmallVector<Dim> parts;
};

struct Strides {
  ArrayRef<int64_t> lhs, rhs;
  SmallVector<int64_t> out;
  int64_t lhsOf(const Dim &d) const { return d.lhs < 0 ? 0 : lhs[d.lhs]; }
  int64_t rhsOf(const Dim &d) const { return d.rhs < 0 ? 0 : rhs[d.rhs]; }
  int64_t outOf(const Dim &d) const { return d.out < 0 ? 0 : out[d.out]; }
};
} // namespace

static SmallVector<MergedDim> mergeDims(ArrayRef<Dim> dims, const Strides &strides) {
  SmallVector<MergedDim> merged;
  for (const Dim &dim : dims) {
    if (dim.size == 1) {
      continue;
    }
    if (!merged.empty()) {
      MergedDim &last = merged.back();
      const Dim &outer = last.parts.back();
      if (strides.lhsOf(outer) == strides.lhsOf(dim) * dim.size &&
          strides.rhsOf(outer) == strides.rhsOf(dim) * dim.size &&
          strides.outOf(outer) == strides.outOf(dim) * dim.size) {
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

static UnitStride unitOf(ArrayRef<int64_t> freeStrides, ArrayRef<int64_t> kStrides) {
  if (!kStrides.empty() && kStrides.back() == 1) {
    return UnitStride::K;
  }
  if (!freeStrides.empty() && freeStrides.back() == 1) {
    return UnitStride::Free;
  }
  return UnitStride::None;
}

/// One side of the contraction. `freeDims`: m or n.
static ContractionSide makeSide(KernelBuilder &kernel, std::shared_ptr<Operand> operand,
                                SmallVector<MergedDim> batch, SmallVector<MergedDim> freeDims,
                                SmallVector<MergedDim> k, int64_t Dim::*array) {
  ContractionSide side;
  auto stridesOf = [&](ArrayRef<MergedDim> group) {
    SmallVector<int64_t> strides;
    for (const MergedDim &dim : group) {
      int64_t d = dim.parts.back().*array;
      strides.push_back(d < 0 ? 0 : operand->strides()[d]);
    }
    return strides;
  };
  side.batchStrides = stridesOf(batch);
  side.freeStrides = stridesOf(freeDims);
  side.kStrides = stridesOf(k);
  side.unit = unitOf(side.freeStrides, side.kStrides);
  side.holdsBf16 = operand->holdsBf16();
  side.narrowInteger = operand->narrowInteger();
  side.storage = operand->storage();
  if (operand->isStrided()) {
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
  side.read = [&e = kernel.e, operand, batch, freeDims, k,
               array](ArrayRef<Index> batchIndex, ArrayRef<Index> freeIndex, ArrayRef<Index> kIndex,
                      int64_t lanes, Value mask) {
    SmallVector<Index> full(operand->strides().size(), Index(constI64(e, 0)));
    spreadIndices(e, batch, batchIndex, lanes, array, full);
    spreadIndices(e, freeDims, freeIndex, lanes, array, full);
    spreadIndices(e, k, kIndex, lanes, array, full);
    return operand->at(full, lanes, mask);
  };
  return side;
}

/// Whether each run of `inner` contiguous columns should be a product of its own; all share the
/// `rows` rows. True for few rows; for more rows only if runs end within a vector that they fill
/// well.
static bool separatesRuns(const Emission &e, Type element, int64_t inner, int64_t rows) {
  constexpr int64_t kFew = 16, kMost = 64;
  int64_t lanes = e.machine.lanes(std::max(4, static_cast<int>(storageBytes(element))));
  return rows <= kFew ||
         (rows <= kMost && !isa<ComplexType>(element) && inner % lanes != 0 && 2 * inner >= lanes);
}

void separateRuns(KernelBuilder &kernel, Operation *hero, Type element, const Operand &lhs,
                  const Operand &rhs, DimensionGroups &groups) {
  auto resultType = cast<RankedTensorType>(hero->getResult(0).getType());
  Strides strides{lhs.strides(), rhs.strides(), rowMajorStrides(resultType.getShape())};
  auto separate = [&](SmallVector<Dim> &columns, ArrayRef<Dim> rows, const Operand &other,
                      auto strideOf) {
    SmallVector<MergedDim> runs = mergeDims(columns, strides);
    if (runs.size() < 2 || strideOf(runs.back().parts.back()) != 1 || !other.isStrided() ||
        !separatesRuns(kernel.e, element, runs.back().size, sizeOf(rows))) {
      return;
    }
    columns = runs.pop_back_val().parts;
    for (const MergedDim &outer : runs) {
      groups.batch.append(outer.parts);
    }
  };
  separate(groups.n, groups.m, lhs, [&](const Dim &d) { return strides.rhsOf(d); });
  separate(groups.m, groups.n, rhs, [&](const Dim &d) { return strides.lhsOf(d); });
}

Contraction makeContraction(KernelBuilder &kernel, Operation *hero, Type element,
                            std::shared_ptr<Operand> lhs, std::shared_ptr<Operand> rhs,
                            DimensionGroups groups) {
  auto resultType = cast<RankedTensorType>(hero->getResult(0).getType());
  Strides strides{lhs->strides(), rhs->strides(), rowMajorStrides(resultType.getShape())};
  // The order of summation is free: that of the larger side in memory, or of the only strided one.
  auto batchOf = [&](int64_t Dim::*side) {
    return sizeOf(llvm::filter_to_vector(groups.batch, [&](const Dim &d) { return d.*side >= 0; }));
  };
  bool byLhs = lhs->isStrided() == rhs->isStrided()
                   ? batchOf(&Dim::lhs) * sizeOf(groups.m) >= batchOf(&Dim::rhs) * sizeOf(groups.n)
                   : lhs->isStrided();
  auto strideOf = [&](const Dim &d) {
    return std::abs(byLhs ? strides.lhsOf(d) : strides.rhsOf(d));
  };
  for (auto last = groups.k.begin(); last != groups.k.end(); ++last) {
    auto place = std::upper_bound(groups.k.begin(), last, *last, [&](const Dim &a, const Dim &b) {
      return strideOf(a) > strideOf(b);
    });
    std::rotate(place, last, last + 1);
  }
  SmallVector<MergedDim> batch = mergeDims(groups.batch, strides);
  SmallVector<MergedDim> m = mergeDims(groups.m, strides), n = mergeDims(groups.n, strides);
  SmallVector<MergedDim> k = mergeDims(groups.k, strides);

  Contraction c{kernel, hero, element, sizesOf(batch), sizesOf(m), sizesOf(n), sizesOf(k)};
  c.lhs = makeSide(kernel, lhs, batch, m, k, &Dim::lhs);
  c.rhs = makeSide(kernel, rhs, batch, n, k, &Dim::rhs);
  auto outStrides = [&](ArrayRef<MergedDim> group) {
    SmallVector<int64_t> result;
    for (const MergedDim &dim : group) {
      result.push_back(strides.outOf(dim.parts.back()));
    }
    return result;
  };
  c.outBatch = outStrides(batch);
  c.outM = outStrides(m);
  c.outN = outStrides(n);
  c.outIndex = [&e = kernel.e, batch, m, n,
                rank = resultType.getRank()](ArrayRef<Index> batchIndex, ArrayRef<Index> mIndex,
                                             ArrayRef<Index> nIndex, int64_t lanes) {
    SmallVector<Index> full(rank, Index(constI64(e, 0)));
    spreadIndices(e, batch, batchIndex, lanes, &Dim::out, full);
    spreadIndices(e, m, mIndex, lanes, &Dim::out, full);
    spreadIndices(e, n, nIndex, lanes, &Dim::out, full);
    return full;
  };
  return c;
}

} // namespace hlo::codegen

//===- CollapseDims.cpp - Merging of adjacent dimensions ------------------===//
//
// In: a region. Out: the same with every run of dimensions that all ops keep together merged into
// one. The state is one bit for each pair of adjacent dimensions of each shape; ops clear bits
// until nothing changes:
//
//   element-wise, copy    all shapes are equal already
//   broadcast, transpose  a pair maps to an adjacent pair in the same order, or to nothing
//   reduce                a pair is reduced, or kept, entirely
//   slice, pad, reverse, concatenate, iota
//                         a pair whose second dimension is not cut, or that is reversed entirely
//   gather, dynamic-slice, dynamic-update-slice, reduce-window
//                         a pair that is not cut; of a gather's positions any
//   stack                 a pair of the parts
//   reshape               any pair; if both shapes split at the same place, both bits are equal,
//                         so that no index needs a division
//   anything else         refers to dimensions by number: no pair of its arrays
//
// Assumes nothing about the order of the results; shapes that are equal stay equal.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include "dialect/hlo/ops/KernelOps.h"
#include <map>

using namespace mlir;

namespace hlo::codegen {
namespace {

using Shape = std::vector<int64_t>;

class Collapser {
public:
  explicit Collapser(Block &body) : body(body) {}
  void run();

private:
  Shape shapeOfValue(Value v) const { return Shape(shapeOf(v).begin(), shapeOf(v).end()); }
  std::vector<bool> &pairs(Value v) {
    Shape shape = shapeOfValue(v);
    auto [it, isNew] = together.try_emplace(shape);
    if (isNew) {
      it->second.assign(shape.empty() ? 0 : shape.size() - 1, true);
    }
    return it->second;
  }
  void clear(Value v, size_t pair) {
    std::vector<bool> &bits = pairs(v);
    changed |= bits[pair];
    bits[pair] = false;
  }
  void clearAll(Value v) {
    for (size_t d = 0, count = pairs(v).size(); d < count; ++d) {
      clear(v, d);
    }
  }
  /// Pairs of `to` follow those of `from`; source[d] is the dimension of `from` that becomes
  /// dimension d of `to`, -1 for a new one.
  void link(Value to, Value from, ArrayRef<int64_t> source);
  /// Makes the bits of a pair of `a` and the same pair of `b` equal: both set or both clear.
  void same(Value a, Value b, size_t pair) {
    if (!pairs(a)[pair] || !pairs(b)[pair]) {
      clear(a, pair);
      clear(b, pair);
    }
  }
  bool visitMove(Operation &op);
  /// Links each pair of `a` that is not cut to pair wholePair(d) of `b`, and adds it to `linked`.
  void linkWhole(Value a, Value b, std::vector<bool> &linked,
                 function_ref<std::optional<size_t>(size_t)> wholePair);
  /// Clears the bits of all pairs of v that are not in `linked`.
  void clearOthers(Value v, const std::vector<bool> &linked);
  void visitGather(GatherOp gather);
  bool visitPart(Operation &op);
  void visitReshape(Value from, Value to);
  void rewrite(Operation &op);
  void visit(Operation &op);
  SmallVector<int64_t> merged(ArrayRef<int64_t> amounts, Value v);
  template <typename T = int64_t> SmallVector<T> firsts(ArrayRef<T> steps, Value v);
  SmallVector<int64_t> renumbered(ArrayRef<int64_t> dims, const std::vector<bool> &bits);

  Block &body;
  std::map<Shape, std::vector<bool>> together;
  bool changed = false;
};
} // namespace

void Collapser::link(Value to, Value from, ArrayRef<int64_t> source) {
  std::vector<bool> kept(pairs(from).size(), false);
  for (size_t d = 0; d + 1 < source.size(); ++d) {
    if (source[d] < 0 && source[d + 1] < 0) {
      continue;
    }
    bool inStep = source[d] >= 0 && source[d + 1] == source[d] + 1;
    if (!inStep || !pairs(from)[source[d]]) {
      clear(to, d);
    }
    if (inStep) {
      kept[source[d]] = true;
      if (!pairs(to)[d]) {
        clear(from, source[d]);
      }
    }
  }
  for (size_t d = 0; d < kept.size(); ++d) {
    if (!kept[d]) {
      clear(from, d);
    }
  }
}

/// Handles ops that keep their operands' dimensions; false for others.
bool Collapser::visitMove(Operation &op) {
  if (!isa<SliceOp, PadOp, ReverseOp, ConcatenateOp, IotaOp>(op)) {
    return false;
  }
  Value result = op.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  auto isWhole = [&](size_t d) {
    if (auto slice = dyn_cast<SliceOp>(op)) {
      return slice.getStrides()[d] == 1 && shape[d] == shapeOf(slice.getOperand())[d];
    }
    if (auto pad = dyn_cast<PadOp>(op)) {
      return pad.getPaddingLow()[d] == 0 && pad.getPaddingHigh()[d] == 0 &&
             pad.getPaddingInterior()[d] == 0;
    }
    if (auto parts = dyn_cast<ConcatenateOp>(op)) {
      return static_cast<size_t>(parts.getDimension()) != d;
    }
    if (auto iota = dyn_cast<IotaOp>(op)) {
      return static_cast<size_t>(iota.getIotaDimension()) != d;
    }
    return !llvm::is_contained(cast<ReverseOp>(op).getDimensions(), static_cast<int64_t>(d));
  };
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    bool together = isWhole(d + 1);
    if (auto slice = dyn_cast<SliceOp>(op)) {
      together &= slice.getStrides()[d] == 1;
    } else if (auto pad = dyn_cast<PadOp>(op)) {
      together &= pad.getPaddingInterior()[d] == 0;
    } else if (isa<IotaOp>(op)) {
      together &= isWhole(d);
    } else if (isa<ReverseOp>(op)) {
      together = isWhole(d) == isWhole(d + 1);
    }
    if (!together) {
      clear(result, d);
    }
    size_t arrays = isa<PadOp>(op) ? 1 : op.getNumOperands();
    for (Value operand : op.getOperands().take_front(arrays)) {
      same(result, operand, d);
    }
  }
  return true;
}

void Collapser::linkWhole(Value a, Value b, std::vector<bool> &linked,
                          function_ref<std::optional<size_t>(size_t)> wholePair) {
  for (size_t d = 0, count = pairs(a).size(); d < count; ++d) {
    std::optional<size_t> other = wholePair(d);
    if (!other) {
      clear(a, d);
      continue;
    }
    linked[*other] = true;
    if (!pairs(a)[d] || !pairs(b)[*other]) {
      clear(a, d);
      clear(b, *other);
    }
  }
}

void Collapser::clearOthers(Value v, const std::vector<bool> &linked) {
  for (size_t d = 0; d < linked.size(); ++d) {
    if (!linked[d]) {
      clear(v, d);
    }
  }
}

/// True if the window is trivial along dimension d.
static bool isTrivial(WindowAttr window, size_t d) {
  return window.getSize()[d] == 1 && window.getStrides()[d] == 1 && window.getPadLow()[d] == 0 &&
         window.getPadHigh()[d] == 0 && window.getBaseDilations()[d] == 1 &&
         window.getWindowDilations()[d] == 1;
}

void Collapser::visitGather(GatherOp gather) {
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return dims.value_or(ArrayRef<int64_t>());
  };
  ArrayRef<int64_t> shape = shapeOf(gather.getOperand()), offsets = gather.getOffsetDims();
  ArrayRef<int64_t> batching = list(gather.getOperandBatchingDims());
  auto isWhole = [&](int64_t d) {
    return gather.getSliceSizes()[d] == shape[d] &&
           !llvm::is_contained(gather.getStartIndexMap(), d) &&
           !llvm::is_contained(gather.getCollapsedSliceDims(), d) &&
           !llvm::is_contained(batching, d);
  };
  // The dimensions of the result that correspond to each dimension of the operand, and of the
  // indices.
  SmallVector<int64_t> shownAs(shape.size(), -1),
      countedAs(shapeOf(gather.getStartIndices()).size(), -1);
  size_t next = 0;
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d) {
    if (!llvm::is_contained(gather.getCollapsedSliceDims(), d) &&
        !llvm::is_contained(batching, d)) {
      shownAs[d] = offsets[next++];
    }
  }
  int64_t result = 0;
  for (int64_t d = 0, rank = countedAs.size(); d < rank; ++d) {
    if (d != static_cast<int64_t>(gather.getIndexVectorDim())) {
      for (; llvm::is_contained(offsets, result); ++result) {
      }
      countedAs[d] = result++;
    }
  }
  std::vector<bool> linked(pairs(gather.getResult()).size(), false);
  linkWhole(gather.getOperand(), gather.getResult(), linked,
            [&](size_t d) -> std::optional<size_t> {
              bool kept = isWhole(d) && isWhole(d + 1) && shownAs[d + 1] == shownAs[d] + 1;
              return kept ? std::optional<size_t>(shownAs[d]) : std::nullopt;
            });
  linkWhole(
      gather.getStartIndices(), gather.getResult(), linked, [&](size_t d) -> std::optional<size_t> {
        bool kept = batching.empty() && countedAs[d] >= 0 && countedAs[d + 1] == countedAs[d] + 1;
        return kept ? std::optional<size_t>(countedAs[d]) : std::nullopt;
      });
  clearOthers(gather.getResult(), linked);
}

/// Handles ops that take parts of their operands; false for others.
bool Collapser::visitPart(Operation &op) {
  if (auto gather = dyn_cast<GatherOp>(op)) {
    visitGather(gather);
    return true;
  }
  auto sameDims = [&](Value a, Value b, function_ref<bool(size_t)> isWhole) {
    std::vector<bool> linked(pairs(b).size(), false);
    linkWhole(a, b, linked, [&](size_t d) {
      return isWhole(d) && isWhole(d + 1) ? std::optional<size_t>(d) : std::nullopt;
    });
    clearOthers(b, linked);
  };
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(slice.getOperand()), to = shapeOf(slice.getResult());
    sameDims(slice.getOperand(), slice.getResult(), [&](size_t d) { return from[d] == to[d]; });
    return true;
  }
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
    ArrayRef<int64_t> whole = shapeOf(update.getOperand()), part = shapeOf(update.getUpdate());
    sameDims(update.getOperand(), update.getUpdate(),
             [&](size_t d) { return whole[d] == part[d]; });
    return true;
  }
  auto reduce = dyn_cast<ReduceWindowOp>(op);
  if (WindowAttr window = reduce ? reduce.getWindowAttr() : WindowAttr()) {
    for (size_t n = 0; n < reduce->getNumResults(); ++n) {
      sameDims(reduce.getInputs()[n], reduce->getResult(n),
               [&](size_t d) { return isTrivial(window, d); });
    }
    return true;
  }
  return false;
}

/// Dimensions that do not split at the same place in both shapes are unconstrained: a reshape only
/// preserves row-major order.
void Collapser::visitReshape(Value from, Value to) {
  auto borders = [](ArrayRef<int64_t> shape) {
    std::map<int64_t, SmallVector<size_t>> result;
    int64_t elements = 1;
    for (size_t d = 0; d + 1 < shape.size(); ++d) {
      elements *= shape[d];
      result[elements].push_back(d);
    }
    return result;
  };
  if (llvm::is_contained(shapeOf(from), 0)) {
    clearAll(from);
    clearAll(to);
    return;
  }
  auto own = borders(shapeOf(from)), other = borders(shapeOf(to));
  for (auto &[elements, ours] : own) {
    auto theirs = other.find(elements);
    if (theirs == other.end()) {
      continue;
    }
    bool together = llvm::all_of(ours, [&](size_t d) { return pairs(from)[d]; }) &&
                    llvm::all_of(theirs->second, [&](size_t d) { return pairs(to)[d]; });
    if (!together) {
      llvm::for_each(ours, [&](size_t d) { clear(from, d); });
      llvm::for_each(theirs->second, [&](size_t d) { clear(to, d); });
    }
  }
}

void Collapser::visit(Operation &op) {
  if (visitMove(op) || visitPart(op)) {
    return;
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    visitReshape(op.getOperand(0), op.getResult(0));
    return;
  }
  if (isElementwise(&op) || isa<CopyOp, ReturnOp>(op)) {
    return;
  }
  if (auto stack = dyn_cast<StackOp>(op)) {
    bool isFirst = stack.getDimension() == 0;
    size_t partPairs = pairs(stack.getParts()[0]).size();
    clear(stack.getResult(), isFirst ? 0 : partPairs);
    for (size_t d = 0; d < partPairs; ++d) {
      if (!pairs(stack.getParts()[0])[d] || !pairs(stack.getResult())[d + isFirst]) {
        clear(stack.getParts()[0], d);
        clear(stack.getResult(), d + isFirst);
      }
    }
    return;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return; // one repeated element
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    SmallVector<int64_t> source(shapeOf(broadcast.getResult()).size(), -1);
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      source[d] = i;
    }
    link(broadcast.getResult(), broadcast.getOperand(), source);
    return;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    link(transpose.getResult(), transpose.getOperand(), transpose.getDimensions());
    return;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    size_t count = reduce->getNumResults();
    for (size_t n = 0; n < count; ++n) {
      Value input = reduce.getInputs()[n], result = reduce->getResult(n);
      size_t rank = shapeOf(input).size();
      SmallVector<int64_t> keptAs(rank, -1);
      int64_t next = 0;
      for (size_t d = 0; d < rank; ++d) {
        if (!llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(d))) {
          keptAs[d] = next++;
        }
      }
      link(input, result, keptAs);
    }
    return;
  }
  llvm::for_each(op.getOperands(), [&](Value v) { clearAll(v); });
  llvm::for_each(op.getResults(), [&](Value v) { clearAll(v); });
}

/// The new numbers of `dims`, without repetition, in the old order.
SmallVector<int64_t> Collapser::renumbered(ArrayRef<int64_t> dims, const std::vector<bool> &bits) {
  SmallVector<int64_t> number(bits.size() + 1, 0), result;
  for (size_t d = 0; d < bits.size(); ++d) {
    number[d + 1] = number[d] + !bits[d];
  }
  for (int64_t d : dims) {
    if (!llvm::is_contained(result, number[d])) {
      result.push_back(number[d]);
    }
  }
  return result;
}

/// Sizes of v (or offsets along its dimensions) for the merged dimensions: within a run they are
/// multiplied by the sizes of the following dimensions.
SmallVector<int64_t> Collapser::merged(ArrayRef<int64_t> amounts, Value v) {
  ArrayRef<int64_t> shape = shapeOf(v);
  const std::vector<bool> &bits = pairs(v);
  SmallVector<int64_t> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d > 0 && bits[d - 1]) {
      result.back() *= shape[d];
    } else {
      result.push_back(amounts[d]);
    }
  }
  return result;
}

/// The entries of the first dimension of each run of v.
template <typename T> SmallVector<T> Collapser::firsts(ArrayRef<T> steps, Value v) {
  SmallVector<T> result;
  for (auto [d, step] : llvm::enumerate(steps)) {
    if (d == 0 || !pairs(v)[d - 1]) {
      result.push_back(step);
    }
  }
  return result;
}

/// Rewrites the op's attributes, and operands that correspond to one dimension each; types are
/// changed later.
void Collapser::rewrite(Operation &op) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    broadcast.setDimensions(renumbered(broadcast.getDimensions(), pairs(broadcast.getResult())));
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    transpose.setDimensions(renumbered(transpose.getDimensions(), pairs(transpose.getOperand())));
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    reduce.setDimensions(renumbered(reduce.getDimensions(), pairs(reduce.getInputs()[0])));
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    reverse.setDimensions(renumbered(reverse.getDimensions(), pairs(reverse.getOperand())));
  } else if (auto parts = dyn_cast<ConcatenateOp>(op)) {
    int64_t dimension = parts.getDimension();
    parts.setDimension(renumbered(dimension, pairs(parts.getResult()))[0]);
  } else if (auto stack = dyn_cast<StackOp>(op)) {
    int64_t dimension = stack.getDimension();
    stack.setDimension(renumbered(dimension, pairs(stack.getResult()))[0]);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    int64_t dimension = iota.getIotaDimension();
    iota.setIotaDimension(renumbered(dimension, pairs(iota.getResult()))[0]);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    slice.setStartIndices(merged(slice.getStartIndices(), slice.getOperand()));
    slice.setLimitIndices(merged(slice.getLimitIndices(), slice.getOperand()));
    slice.setStrides(firsts(slice.getStrides(), slice.getOperand()));
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    pad.setPaddingLow(merged(pad.getPaddingLow(), pad.getOperand()));
    pad.setPaddingHigh(merged(pad.getPaddingHigh(), pad.getOperand()));
    pad.setPaddingInterior(firsts(pad.getPaddingInterior(), pad.getOperand()));
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    const std::vector<bool> &operand = pairs(gather.getOperand());
    gather.setSliceSizes(merged(gather.getSliceSizes(), gather.getOperand()));
    gather.setOffsetDims(renumbered(gather.getOffsetDims(), pairs(gather.getResult())));
    gather.setCollapsedSliceDims(renumbered(gather.getCollapsedSliceDims(), operand));
    gather.setStartIndexMap(renumbered(gather.getStartIndexMap(), operand));
    // If the indices are scalars, the index vector dimension is one past the last dimension.
    int64_t vectorDim = gather.getIndexVectorDim();
    const std::vector<bool> &indices = pairs(gather.getStartIndices());
    gather.setIndexVectorDim(
        vectorDim - std::count(indices.begin(),
                               indices.begin() + std::min<int64_t>(vectorDim, indices.size()),
                               true));
    if (std::optional<ArrayRef<int64_t>> batching = gather.getOperandBatchingDims()) {
      gather.setOperandBatchingDims(renumbered(*batching, operand));
    }
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    SmallVector<Value> starts =
        firsts<Value>(SmallVector<Value>(slice.getStartIndices()), slice.getOperand());
    slice.getStartIndicesMutable().assign(starts);
    slice.setDynamicSliceSizes(merged(slice.getDynamicSliceSizes(), slice.getOperand()));
  } else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
    SmallVector<Value> starts =
        firsts<Value>(SmallVector<Value>(update.getStartIndices()), update.getOperand());
    update.getStartIndicesMutable().assign(starts);
  } else if (auto reduce = dyn_cast<ReduceWindowOp>(op); reduce && reduce.getWindowAttr()) {
    WindowAttr window = reduce.getWindowAttr();
    auto of = [&](ArrayRef<int64_t> steps) { return firsts(steps, reduce.getInputs()[0]); };
    reduce.setWindowAttr(WindowAttr::get(
        op.getContext(), of(window.getSize()), of(window.getStrides()), of(window.getPadLow()),
        of(window.getPadHigh()), of(window.getBaseDilations()), of(window.getWindowDilations()),
        of(window.getReversal())));
  }
}

void Collapser::run() {
  do {
    changed = false;
    llvm::for_each(body, [&](Operation &op) { visit(op); });
  } while (changed);
  // Attributes first: they are interpreted with the old ranks.
  llvm::for_each(body, [&](Operation &op) { rewrite(op); });
  SmallVector<std::pair<Value, Type>> types;
  auto retype = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    types.push_back({v, RankedTensorType::get(merged(type.getShape(), v), type.getElementType())});
  };
  llvm::for_each(body.getArguments(), retype);
  for (Operation &op : body) {
    llvm::for_each(op.getResults(), retype);
  }
  for (auto [v, type] : types) {
    v.setType(type);
  }
}

void collapseDims(Block &body) { Collapser(body).run(); }

} // namespace hlo::codegen

//===- CollapseDims.cpp - Neighbouring dimensions that stay together ------===//
//
// In: a region. Out: the same with every run of dimensions that all ops keep
// together merged into one. What is known is one bit for each pair of
// neighbours of each shape; ops clear bits until nothing changes:
//
//   element-wise, copy    all shapes are equal already
//   broadcast, transpose  a pair goes to a pair, in order, or to nothing
//   reduce                a pair is reduced, or kept, as a whole
//   slice, pad, reverse, concatenate, iota
//                         a pair whose second dimension is whole, or that is turned as a whole
//   anything else         knows dimensions by number: no pair of its arrays
//
// Assumes nothing of the results' order; shapes that are equal stay equal.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
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
  /// Pairs of `to` follow those of `from`; source[d] is the dimension of `from` that dimension d of `to` shows, -1 for a
  /// new one.
  void link(Value to, Value from, ArrayRef<int64_t> source);
  /// A pair of `a` and the same of `b` are kept together, or neither is.
  void same(Value a, Value b, size_t pair) {
    if (!pairs(a)[pair] || !pairs(b)[pair]) {
      clear(a, pair);
      clear(b, pair);
    }
  }
  bool visitMove(Operation &op);
  void visit(Operation &op);
  SmallVector<int64_t> merged(ArrayRef<int64_t> amounts, Value v);
  SmallVector<int64_t> firsts(ArrayRef<int64_t> steps, Value v);
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

/// Ops that keep their operands' dimensions. Gives false for any other.
bool Collapser::visitMove(Operation &op) {
  if (!isa<SliceOp, PadOp, ReverseOp, ConcatenateOp, IotaOp>(op) || op.hasAttr("paired")) {
    return false;
  }
  Value result = op.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  auto isWhole = [&](size_t d) {
    if (auto slice = dyn_cast<SliceOp>(op)) {
      return slice.getStrides()[d] == 1 && shape[d] == shapeOf(slice.getOperand())[d];
    }
    if (auto pad = dyn_cast<PadOp>(op)) {
      return pad.getPaddingLow()[d] == 0 && pad.getPaddingHigh()[d] == 0 && pad.getPaddingInterior()[d] == 0;
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

void Collapser::visit(Operation &op) {
  if (visitMove(op)) {
    return;
  }
  if (isElementwise(&op) || isa<CopyOp, ReturnOp>(op)) {
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

/// The new numbers of `dims`, once each, in the old order.
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

/// Sizes of v, or distances along its dimensions, in elements of the merged ones: of a run, only the first has a distance.
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

/// What the first dimension of each run of v has.
SmallVector<int64_t> Collapser::firsts(ArrayRef<int64_t> steps, Value v) {
  SmallVector<int64_t> result;
  for (auto [d, step] : llvm::enumerate(steps)) {
    if (d == 0 || !pairs(v)[d - 1]) {
      result.push_back(step);
    }
  }
  return result;
}

void Collapser::run() {
  do {
    changed = false;
    llvm::for_each(body, [&](Operation &op) { visit(op); });
  } while (changed);
  // Attributes first: they are read with the old ranks.
  for (Operation &op : body) {
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      broadcast.setDimensions(renumbered(broadcast.getDimensions(), pairs(broadcast.getResult())));
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      transpose.setDimensions(renumbered(transpose.getDimensions(), pairs(transpose.getOperand())));
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      reduce.setDimensions(renumbered(reduce.getDimensions(), pairs(reduce.getInputs()[0])));
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      reverse.setDimensions(renumbered(reverse.getDimensions(), pairs(reverse.getOperand())));
    } else if (auto parts = dyn_cast<ConcatenateOp>(op); parts && !op.hasAttr("paired")) {
      int64_t dimension = parts.getDimension();
      parts.setDimension(renumbered(dimension, pairs(parts.getResult()))[0]);
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
    }
  }
  SmallVector<std::pair<Value, Type>> types;
  auto retype = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    types.push_back({v, RankedTensorType::get(merged(type.getShape(), v),
                                              type.getElementType())});
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

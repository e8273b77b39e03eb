//===- CollapseDims.cpp - Neighbouring dimensions that stay together ------===//
//
// In: a region. Out: the same with every run of dimensions that all ops keep
// together merged into one. What is known is one bit for each pair of
// neighbours of each shape; ops clear bits until nothing changes:
//
//   element-wise, copy    all shapes are equal already
//   broadcast, transpose  a pair goes to a pair, in order, or to nothing
//   reduce                a pair is reduced, or kept, as a whole
//   anything else         knows dimensions by number: no pair of its arrays
//
// Reshapes of operands are taken into these first.
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
  void visit(Operation &op);
  SmallVector<int64_t> merged(ArrayRef<int64_t> shape, const std::vector<bool> &bits);
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

void Collapser::visit(Operation &op) {
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

SmallVector<int64_t> Collapser::merged(ArrayRef<int64_t> shape, const std::vector<bool> &bits) {
  SmallVector<int64_t> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d > 0 && bits[d - 1]) {
      result.back() *= shape[d];
    } else {
      result.push_back(shape[d]);
    }
  }
  return result;
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
    }
  }
  SmallVector<std::pair<Value, Type>> types;
  auto retype = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    types.push_back({v, RankedTensorType::get(merged(type.getShape(), pairs(v)),
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

/// An operand that is only read in another shape has that shape: memory is row-major, and reshapes would keep dimensions
/// apart.
static void takeReshapes(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    auto reshape = argument.use_empty() ? ReshapeOp() : dyn_cast<ReshapeOp>(*argument.user_begin());
    if (!reshape || shapeOf(argument).empty() || shapeOf(reshape.getResult()).empty() ||
        !llvm::all_of(argument.getUsers(), [&](Operation *user) {
          return isa<ReshapeOp>(user) && user->getResult(0).getType() == reshape.getType();
        })) {
      continue;
    }
    argument.setType(reshape.getType());
    for (Operation *user : llvm::to_vector(argument.getUsers())) {
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
  }
}

void collapseDims(Block &body) {
  takeReshapes(body);
  Collapser(body).run();
}

} // namespace hlo::codegen

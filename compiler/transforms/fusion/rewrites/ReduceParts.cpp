//===- ReduceParts.cpp - Reduces of concatenates --------------------------===//
//
// A reduce whose input is a concatenate, possibly with element-wise ops between, becomes a reduce
// of each part:
//
//   reduce(convert(concatenate(x, transpose(y))), init)
//     becomes   op(reduce(convert(x), init), reduce(convert(y), identity))
//
// If the concatenated dimension is not reduced, the partial results are concatenated; this holds
// for any computation. If it is reduced, they are combined by the computation, which must then be
// a single associative op and not a sum of narrow floats, whose partial results would be rounded.
// A part with a single element to reduce is combined as it is.
//
// No row is then walked in parts, no vector covers two arrays, and each part is read in its own
// order.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// Limits on the reduces made, each of which is a kernel or a pass of one, and on the parts. A
/// concatenate of more parts is reduced as a whole.
static constexpr size_t kMostReduces = 6, kMostElements = 32;

namespace {
/// The ops between a concatenate and a reduce.
class Between {
public:
  explicit Between(ReduceOp op) : reduce(op) {}
  /// Finds them. False if they are not element-wise, lead to several concatenates, or have other
  /// users.
  bool find();
  /// The concatenated dimension, as a dimension of the results; nullopt if it is reduced.
  std::optional<int64_t> keptDimension();
  /// The inputs of a reduce of part `n`: the ops, cloned for it.
  SmallVector<Value> part(size_t n, OpBuilder &builder);

  ConcatenateOp whole;

private:
  bool visit(Value v);
  ReduceOp reduce;
  SmallVector<Operation *> ops; ///< in program order: operands before users
  DenseSet<Operation *> seen;
};
} // namespace

bool Between::visit(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || seen.contains(op)) {
    return op;
  }
  if (auto parts = dyn_cast<ConcatenateOp>(op)) {
    if (whole) {
      return false;
    }
    whole = parts;
  } else if (!isa<BroadcastOp, IotaOp>(op) &&
             (!isElementwiseOp(op) || !llvm::all_of(op->getOperands(), [&](Value operand) {
               return shapeOf(operand).empty() || visit(operand);
             }))) {
    return false;
  }
  seen.insert(op);
  ops.push_back(op);
  return true;
}

bool Between::find() {
  if (!llvm::all_of(reduce.getInputs().take_front(reduce->getNumResults()),
                    [&](Value v) { return visit(v); }) ||
      !whole) {
    return false;
  }
  int64_t dimension = whole.getDimension();
  return llvm::all_of(ops, [&](Operation *op) {
    // A value that is the same for every part may have other users.
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      return !llvm::is_contained(broadcast.getDimensions(), dimension);
    }
    if (auto iota = dyn_cast<IotaOp>(op)) {
      return static_cast<int64_t>(iota.getIotaDimension()) != dimension;
    }
    return llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return user == reduce || seen.contains(user); });
  });
}

std::optional<int64_t> Between::keptDimension() {
  int64_t dimension = whole.getDimension(), before = 0;
  for (int64_t d : reduce.getDimensions()) {
    if (d == dimension) {
      return std::nullopt;
    }
    before += d < dimension;
  }
  return dimension - before;
}

SmallVector<Value> Between::part(size_t n, OpBuilder &builder) {
  Value array = whole->getOperand(n);
  IRMapping mapping;
  mapping.map(whole.getResult(), array);
  for (Operation *op : ops) {
    if (op != whole) {
      Operation *copy = builder.clone(*op, mapping);
      copy->getResult(0).setType(
          HloBuilder::array(shapeOf(array), elementTypeOf(op->getResult(0))));
    }
  }
  return llvm::map_to_vector(reduce.getInputs().take_front(reduce->getNumResults()),
                             [&](Value v) { return mapping.lookup(v); });
}

/// A copy of the reduce `like` for other inputs. If the input is a transpose that keeps the order
/// of the dimensions that remain, the transpose's operand is reduced instead.
static ReduceOp reduceOf(ReduceOp like, SmallVector<Value> inputs, ValueRange inits,
                         OpBuilder &builder) {
  SmallVector<int64_t> dims(like.getDimensions()), kept;
  auto transpose = inputs.size() == 1 ? inputs[0].getDefiningOp<TransposeOp>() : TransposeOp();
  if (transpose) {
    for (auto [d, from] : llvm::enumerate(transpose.getDimensions())) {
      if (!llvm::is_contained(like.getDimensions(), static_cast<int64_t>(d))) {
        kept.push_back(from);
      }
    }
    if (llvm::is_sorted(kept)) {
      inputs[0] = transpose.getOperand();
      for (int64_t &d : dims) {
        d = transpose.getDimensions()[d];
      }
      llvm::sort(dims);
    }
  }
  auto copy = cast<ReduceOp>(builder.clone(*like));
  SmallVector<int64_t> results;
  for (auto [d, size] : llvm::enumerate(shapeOf(inputs[0]))) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(d))) {
      results.push_back(size);
    }
  }
  llvm::append_range(inputs, inits);
  copy->setOperands(inputs);
  copy.setDimensions(dims);
  for (Value result : copy->getResults()) {
    result.setType(HloBuilder::array(results, elementTypeOf(result)));
  }
  return copy;
}

/// For a concatenated dimension that is not reduced: one reduce per part, results concatenated.
static void reduceApart(ReduceOp op, Between &between, int64_t dimension) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  SmallVector<ReduceOp> parts;
  for (size_t n = 0; n < between.whole->getNumOperands(); ++n) {
    ValueRange inits = op.getInputs().drop_front(op->getNumResults());
    parts.push_back(reduceOf(op, between.part(n, builder), inits, builder));
  }
  for (OpResult result : op->getResults()) {
    auto pieces = llvm::map_to_vector(
        parts, [&](ReduceOp part) -> Value { return part->getResult(result.getResultNumber()); });
    result.replaceAllUsesWith(b.concatenate(pieces, dimension));
  }
  op.erase();
}

static void reduceParts(ReduceOp op, Between &between, Operation *applied,
                        DenseElementsAttr identity) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  ArrayRef<int64_t> results = shapeOf(op->getResult(0));
  Value none = b.constant(identity), init = op.getInputs()[1];
  auto combine = [&](Value a, Value c) {
    Operation *both = builder.clone(*applied);
    both->setOperands({a, c});
    both->getResult(0).setType(op->getResult(0).getType());
    return both->getResult(0);
  };
  Value total;
  for (size_t n = 0; n < between.whole->getNumOperands(); ++n) {
    Value input = between.part(n, builder)[0];
    if (elementsOf(input) == resultElements(op)) {
      Value element = b.reshape(input, results);
      total = combine(total ? total : b.broadcastScalar(init, results), element);
    } else {
      Value part = reduceOf(op, {input}, total ? none : init, builder)->getResult(0);
      total = total ? combine(total, part) : part;
    }
  }
  op->getResult(0).replaceAllUsesWith(total);
  op.erase();
}

static void reduceParts(Block &block, SymbolTable &symbols) {
  for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (resultElements(op) == 0 || elementsOf(op.getInputs()[0]) == 0) {
      continue;
    }
    Between between(op);
    auto computation = symbols.lookup<ComputationOp>(op.getToApply());
    if (!computation || !between.find() || between.whole->getNumOperands() > kMostElements) {
      continue;
    }
    if (std::optional<int64_t> dimension = between.keptDimension()) {
      if (between.whole->getNumOperands() <= kMostReduces) {
        reduceApart(op, between, *dimension);
      }
      continue;
    }
    Operation *applied = associativeOp(computation);
    DenseElementsAttr identity = identityOfParts(computation, elementTypeOf(op.getInputs()[0]));
    size_t reduces = llvm::count_if(between.whole->getOperands(),
                                    [&](Value v) { return elementsOf(v) != resultElements(op); });
    if (op->getNumResults() == 1 && identity && reduces <= kMostReduces) {
      reduceParts(op, between, applied, identity);
    }
  }
}

namespace {
class ReducePartsPass : public TopLevelPass<ReducePartsPass, ReduceOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReducePartsPass)

  StringRef getArgument() const override { return "hlo-reduce-parts"; }
  StringRef getDescription() const override {
    return "Reduce each array of a concatenate by itself";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { reduceParts(block, symbols); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createReducePartsPass() {
  return std::make_unique<fusion::ReducePartsPass>();
}

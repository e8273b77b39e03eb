//===- ReduceParts.cpp - A reduce of what is put together -----------------===//
//
// In: a reduce over the dimension along which a concatenate puts arrays together, also with
// element-wise ops between. Out: a reduce of each array, and the op between them:
//
//   reduce(convert(concatenate(x, transpose(y))), init)
//     becomes   op(reduce(convert(x), init), reduce(convert(y), identity))
//
// Where the dimension is kept, the results are put together, of any computation. No row is walked
// in parts then, no vector covers two arrays, and nothing is read across that its own reduce reads
// in order. Over the dimension itself only for a single associative op, and not for sums of narrow
// floats: what is between would be rounded. An array with one element to reduce is taken as it is.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// More arrays are walked in parts: each reduce is a kernel, or a pass of one.
static constexpr size_t kMostReduces = 6, kMostElements = 32;

namespace {
/// The ops between one concatenate and a reduce.
class Between {
public:
  explicit Between(ReduceOp op) : reduce(op) {}
  /// Whether they are element-wise, of one concatenate, and nothing else needs them.
  bool find();
  /// The dimension of the results along which arrays are put together, if it is not reduced.
  std::optional<int64_t> keptDimension();
  /// What is reduced of array `n`.
  SmallVector<Value> part(size_t n, OpBuilder &builder);

  ConcatenateOp whole;

private:
  bool visit(Value v);
  ReduceOp reduce;
  SmallVector<Operation *> ops; ///< operands before users
  DenseSet<Operation *> seen;
};
} // namespace

bool Between::visit(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || seen.contains(op)) {
    return op;
  }
  if (auto parts = dyn_cast<ConcatenateOp>(op)) {
    if (whole || parts->hasAttr("paired")) {
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
    // What is the same for every array may be needed elsewhere too.
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

/// The reduce of `inputs` that `like` does of its own; of one across a transpose, if what is kept
/// stays in order.
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

/// Where the dimension of the concatenate is kept: any computation, in the order it has.
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
class ReducePartsPass : public TopLevelPass<ReducePartsPass> {
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

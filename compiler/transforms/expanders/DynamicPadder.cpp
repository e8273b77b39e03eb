//===- DynamicPadder.cpp - Bounded dynamic dimensions as sizes and masks ---===//
//
// An array with a dimension `<=N` is held as its bound, N; elements beyond the
// true size are arbitrary. The true sizes are scalars that go beside it:
//
//   set-dimension-size(x, n)   ->  x, with size n
//   get-dimension-size(x)      ->  n
//   reduce over the dimension  ->  reduce(select(iota < n, x, identity)), likewise dot with zeros
//   element-wise, broadcast, transpose, reshape of unit dimensions: sizes pass through
//
// An op for which the elements beyond would matter otherwise is refused, as are
// dynamic parameters and results, whose sizes the caller would have to pass.
// Runs on flat tuples, before layouts (which hold the dynamic bits) go.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Evaluator.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

/// One scalar for each dimension; null where the size is the bound.
using Sizes = SmallVector<Value>;

bool hasDynamicBit(Type type) {
  LayoutAttr layout = layoutOf(type);
  return layout && !layout.getDynamic().empty();
}

/// The type without its dynamic bits.
Type staticType(Type type) {
  if (!hasDynamicBit(type)) {
    return type;
  }
  auto array = cast<RankedTensorType>(type);
  LayoutAttr layout = layoutOf(type);
  if (isDefaultOrder(layout.getMinorToMajor()) && layout.getProperties().empty()) {
    return withoutLayout(array);
  }
  return RankedTensorType::get(array.getShape(), array.getElementType(),
                               LayoutAttr::get(type.getContext(), layout.getMinorToMajor(), {},
                                               layout.getProperties()));
}

/// The element that `computation` ignores: 0 for add and so on; null if none is known.
Value identityOf(HloBuilder &b, ComputationOp computation, Type element) {
  Operation *root = computation.getReturn()->getOperand(0).getDefiningOp();
  bool onParameters = root && root->getNumOperands() == 2 &&
                      llvm::all_of(root->getOperands(), llvm::IsaPred<BlockArgument>);
  if (!onParameters || isa<ComplexType>(element)) {
    return {};
  }
  RankedTensorType scalar = RankedTensorType::get({}, element);
  if (isa<AddOp, OrOp, XorOp>(root)) {
    return b.scalar(element, 0);
  }
  if (isa<MultiplyOp>(root)) {
    return b.scalar(element, 1);
  }
  if (isa<AndOp>(root)) {
    return b.scalar(element, -1);
  }
  if (!isa<MaximumOp, MinimumOp>(root)) {
    return {};
  }
  bool isMax = isa<MaximumOp>(root);
  if (auto floating = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    if (!APFloat::semanticsHasInf(semantics)) {
      return b.constant(DenseElementsAttr::get(scalar, APFloat::getLargest(semantics, isMax)));
    }
    return b.constant(DenseElementsAttr::get(scalar, APFloat::getInf(semantics, isMax)));
  }
  auto integer = cast<IntegerType>(element);
  unsigned width = integer.getWidth();
  APInt value = integer.isSigned()
                    ? (isMax ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width))
                    : (isMax ? APInt(width, 0) : APInt::getAllOnes(width));
  return b.constant(DenseElementsAttr::get(scalar, value));
}

/// Walks one module; `sizes` holds the arrays with a dynamic dimension.
class Padder {
public:
  explicit Padder(const ComputationGraph &graph) : graph(graph) {}

  LogicalResult run(ComputationOp computation) {
    LogicalResult result = success();
    Block &body = computation.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      if (hasDynamicBit(argument.getType())) {
        emitError(argument.getLoc()) << "dynamic dimensions of parameters are not supported yet";
        result = failure();
      }
    }
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (failed(visit(&op))) {
        result = failure();
      }
    }
    return result;
  }

private:
  bool isDynamic(Value value) const { return sizes.contains(value); }
  Value sizeOf(Value value, int64_t dim) const {
    auto found = sizes.find(value);
    return found == sizes.end() ? Value() : found->second[dim];
  }
  void bind(Value value, Sizes own) {
    value.setType(staticType(value.getType()));
    if (llvm::any_of(own, [](Value size) { return bool(size); })) {
      sizes[value] = std::move(own);
    }
  }

  /// `x` with `fill` in place of the elements beyond the true sizes of `dims`.
  Value masked(HloBuilder &b, Value x, ArrayRef<int64_t> dims, Value fill) {
    ArrayRef<int64_t> shape = shapeOf(x);
    for (int64_t dim : dims) {
      if (Value size = sizeOf(x, dim)) {
        RankedTensorType indices = HloBuilder::array(shape, elementTypeOf(size));
        Value inside =
            b.compare(b.iota(indices, dim), b.broadcastScalar(size, shape), "LT");
        Value plain = b.select(inside, x, b.broadcastScalar(fill, shape));
        if (auto found = sizes.find(x); found != sizes.end()) {
          Sizes own = found->second;
          sizes[plain] = own;
        }
        x = plain;
      }
    }
    return x;
  }

  LogicalResult refuse(Operation *op) {
    std::string name = op->getName().stripDialect().str();
    std::replace(name.begin(), name.end(), '_', '-');
    return op->emitError("dynamic dimensions through ") << name << " are not supported yet";
  }

  LogicalResult visit(Operation *op);
  LogicalResult visitReduce(ReduceOp op);
  LogicalResult visitDot(DotOp op);
  LogicalResult visitReshape(ReshapeOp op);
  LogicalResult visitCustomCall(CustomCallOp op);

  const ComputationGraph &graph;
  DenseMap<Value, Sizes> sizes;
};

class DynamicPadderPass : public PassWrapper<DynamicPadderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DynamicPadderPass)
  StringRef getArgument() const final { return "hlo-dynamic-padder"; }
  StringRef getDescription() const final {
    return "Replace bounded dynamic dimensions by sizes and masks";
  }

  void runOnOperation() final {
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    if (failed(graph)) {
      return signalPassFailure();
    }
    Padder padder(*graph);
    for (ComputationOp computation : graph->postOrder()) {
      if (failed(padder.run(computation))) {
        signalPassFailure();
      }
    }
  }
};

} // namespace

LogicalResult Padder::visit(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  if (auto set = dyn_cast<SetDimensionSizeOp>(op)) {
    Sizes own = sizes.lookup(set.getOperand());
    own.resize(rankOf(set.getOperand()));
    int64_t dim = set.getDimension();
    bool whole = constantInteger(set.getSize()) == shapeOf(set.getOperand())[dim];
    own[dim] = whole ? Value() : set.getSize();
    // A value of its own: its operand may be used with another size.
    Value copy = b.copy(set.getOperand(), staticType(set.getResult().getType()));
    set.getResult().replaceAllUsesWith(copy);
    bind(copy, own);
    op->erase();
    return success();
  }
  if (auto get = dyn_cast<GetDimensionSizeOp>(op)) {
    if (Value size = sizeOf(get.getOperand(), get.getDimension())) {
      get.getResult().replaceAllUsesWith(b.convert(size, elementTypeOf(get.getResult())));
      op->erase();
    }
    return success();
  }
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    return visitCustomCall(call);
  }
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return isDynamic(operand); })) {
    for (OpResult result : op->getResults()) {
      if (hasDynamicBit(result.getType())) {
        // A written bound without a size anywhere: the bound is the size.
        result.setType(staticType(result.getType()));
      }
    }
    return success();
  }
  if (isElementwiseOp(op) || isa<CopyOp>(op)) {
    Sizes own(rankOf(op->getResult(0)));
    for (Value operand : op->getOperands()) {
      for (auto [dim, size] : llvm::enumerate(sizes.lookup(operand))) {
        own[dim] = own[dim] ? own[dim] : size;
      }
    }
    bind(op->getResult(0), own);
    return success();
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Sizes own(rankOf(broadcast.getResult()));
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
      own[dim] = sizeOf(broadcast.getOperand(), i);
    }
    bind(broadcast.getResult(), own);
    return success();
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    Sizes own;
    for (int64_t dim : transpose.getDimensions()) {
      own.push_back(sizeOf(transpose.getOperand(), dim));
    }
    bind(transpose.getResult(), own);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ReduceOp reduce) { return visitReduce(reduce); })
      .Case([&](DotOp dot) { return visitDot(dot); })
      .Case([&](ReshapeOp reshape) { return visitReshape(reshape); })
      .Case([&](ReturnOp root) {
        return op->emitError("dynamic dimensions of results are not supported yet");
      })
      .Default([&](Operation *) { return refuse(op); });
}

LogicalResult Padder::visitReduce(ReduceOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  ComputationOp computation = graph.lookup(op.getToApplyAttr());
  Sizes own;
  for (int64_t dim = 0, rank = rankOf(op->getOperand(0)); dim < rank; ++dim) {
    if (!llvm::is_contained(op.getDimensions(), dim)) {
      Value size;
      for (Value input : op.getInputs().take_front(count)) {
        size = size ? size : sizeOf(input, dim);
      }
      own.push_back(size);
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    Value input = op->getOperand(i);
    // Without a known identity the initial value stands for it, as in XLA.
    Value fill = count == 1 ? identityOf(b, computation, elementTypeOf(input)) : Value();
    op->setOperand(i, masked(b, input, op.getDimensions(), fill ? fill : op->getOperand(count + i)));
  }
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
  return success();
}

LogicalResult Padder::visitDot(DotOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
  };
  Sizes own;
  auto freeSizes = [&](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim)) {
        own.push_back(sizeOf(operand, dim));
      }
    }
  };
  SmallVector<int64_t> lhsBatch = list(op.getLhsBatchDims()), rhsBatch = list(op.getRhsBatchDims());
  SmallVector<int64_t> lhsContract = list(op.getLhsContractingDims());
  SmallVector<int64_t> rhsContract = list(op.getRhsContractingDims());
  for (auto [lhs, rhs] : llvm::zip(lhsBatch, rhsBatch)) {
    Value size = sizeOf(op.getLhs(), lhs);
    own.push_back(size ? size : sizeOf(op.getRhs(), rhs));
  }
  freeSizes(op.getLhs(), lhsBatch, lhsContract);
  freeSizes(op.getRhs(), rhsBatch, rhsContract);
  // Both sides: zero times an arbitrary element need not be zero. A dimension may have its size on
  // one side only.
  for (auto [l, r] : llvm::zip(lhsContract, rhsContract)) {
    Value size = sizeOf(op.getLhs(), l) ? sizeOf(op.getLhs(), l) : sizeOf(op.getRhs(), r);
    if (!size) {
      continue;
    }
    for (auto [number, dim] : {std::pair(0u, l), std::pair(1u, r)}) {
      Value operand = op->getOperand(number);
      Sizes with = sizes.lookup(operand);
      with.resize(rankOf(operand));
      with[dim] = size;
      sizes[operand] = with;
      op->setOperand(number, masked(b, operand, {dim}, b.scalar(elementTypeOf(operand), 0)));
    }
  }
  bind(op.getResult(), own);
  return success();
}

LogicalResult Padder::visitReshape(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  Sizes own(to.size());
  size_t next = 0;
  for (auto [dim, size] : llvm::enumerate(from)) {
    Value dynamic = sizeOf(op.getOperand(), dim);
    if (size == 1 && !dynamic) {
      continue;
    }
    while (next < to.size() && to[next] != size && to[next] == 1) {
      ++next;
    }
    if (next == to.size() || to[next] != size) {
      return refuse(op);
    }
    own[next++] = dynamic;
  }
  bind(op.getResult(), own);
  return success();
}

/// PadToStatic gives an array and its sizes, SliceToDynamic joins them.
LogicalResult Padder::visitCustomCall(CustomCallOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  StringRef target = op.getCustomCallTarget();
  if (target == "PadToStatic" && op.getNumOperands() == 1) {
    Value array = op.getOperand(0);
    int64_t rank = rankOf(array);
    if (op->getNumResults() != rank + 1) {
      return op.emitError("custom call PadToStatic: expected 1 array and ")
             << rank << " sizes, got " << op->getNumResults() << " results";
    }
    op->getResult(0).replaceAllUsesWith(
        b.copy(array, staticType(op->getResult(0).getType())));
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value result = op->getResult(dim + 1), size = sizeOf(array, dim);
      result.replaceAllUsesWith(size ? b.convert(size, elementTypeOf(result))
                                     : b.scalar(elementTypeOf(result), shapeOf(array)[dim]));
    }
    op.erase();
    return success();
  }
  if (target == "SliceToDynamic" && op->getNumResults() == 1 &&
      op.getNumOperands() == rankOf(op.getOperand(0)) + 1) {
    Value copy = b.copy(op.getOperand(0), staticType(op.getOperand(0).getType()));
    Sizes own(rankOf(copy));
    LayoutAttr layout = layoutOf(op->getResult(0).getType());
    for (int64_t dim : layout ? layout.getDynamic() : ArrayRef<int64_t>()) {
      own[dim] = op.getOperand(dim + 1);
    }
    op->getResult(0).replaceAllUsesWith(copy);
    bind(copy, own);
    op.erase();
    return success();
  }
  bool dynamic = llvm::any_of(op.getOperands(), [&](Value v) { return isDynamic(v); }) ||
                 llvm::any_of(op->getResultTypes(), hasDynamicBit);
  return dynamic ? refuse(op) : success();
}

std::unique_ptr<Pass> hlo::createDynamicPadderPass() {
  return std::make_unique<DynamicPadderPass>();
}

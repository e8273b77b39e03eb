//===- DynamicPadder.cpp - Bounded dynamic dimensions as sizes and masks --===//
//
// An array with a dimension `<=N` is held as its bound, N; elements beyond the
// true size are arbitrary. The true sizes are s32 scalars that go beside it:
//
//   set-dimension-size(x, n)   ->  x, with size n
//   get-dimension-size(x)      ->  n
//   reduce over the dimension  ->  reduce(select(iota < n, x, identity)), likewise dot with zeros
//   element-wise               ->  the same op; where the operands have different sizes n and m,
//                                  min(n, m), or as a size of one that spreads to the other
//   loops and branches         ->  one more carry or result for each dynamic dimension
//
// The rules of the other ops stand in DynamicShape, -Index, -Windows and -Control. At the entry each
// dynamic dimension of a parameter becomes one more parameter, an s64[], after all others, and each
// one of a result one more result; analysis/EntryLayout.h says which is which.
//
// Sizes follow the values: a type that was written static is dynamic if its operands are. An op for
// which no rule is known is refused. Runs on flat tuples, before layouts (which hold the dynamic
// bits) go.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/DynamicPadder.h"
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/EntryLayout.h"
#include "compiler/analysis/Evaluator.h"
#include "compiler/analysis/OpKinds.h"

using namespace mlir;
using namespace hlo;

namespace {

class DynamicPadderPass : public PassWrapper<DynamicPadderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DynamicPadderPass)
  StringRef getArgument() const final { return "hlo-dynamic-padder"; }
  StringRef getDescription() const final {
    return "Replace bounded dynamic dimensions by sizes and masks";
  }

  void runOnOperation() final {
    if (!isNeeded()) {
      return;
    }
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    if (failed(graph) || failed(runOnEntry(graph->entry()))) {
      return signalPassFailure();
    }
    // What has been copied for its caller may be unused now.
    FailureOr<ComputationGraph> after = ComputationGraph::build(getOperation());
    if (failed(after)) {
      return signalPassFailure();
    }
    for (auto computation :
         llvm::make_early_inc_range(getOperation().getOps<ComputationOp>())) {
      if (!after->isReachable(computation)) {
        computation.erase();
      }
    }
  }

private:
  bool isNeeded() {
    return getOperation()
        .walk([](Operation *op) {
          bool dynamic = isa<SetDimensionSizeOp, DynamicReshapeOp>(op) ||
                         llvm::any_of(op->getResultTypes(), hasDynamicBit);
          if (auto call = dyn_cast<CustomCallOp>(op)) {
            dynamic |= call.getCustomCallTarget() == "PadToStatic" ||
                       call.getCustomCallTarget() == "SliceToDynamic";
          }
          if (auto computation = dyn_cast<ComputationOp>(op)) {
            dynamic |= llvm::any_of(computation.getArgumentTypes(), hasDynamicBit);
          }
          return dynamic ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  LogicalResult runOnEntry(ComputationOp entry);
};

/// The layout's entry for the size of dimension `dim` of leaf `array`.
EntryLeaf sizeLeaf(const EntryLeaf &array, int64_t leaf, int64_t dim, Type s64) {
  EntryLeaf size;
  size.name = array.name;
  size.type = RankedTensorType::get({}, s64);
  size.parameter = array.parameter;
  size.index = array.index;
  size.sizeOf = leaf;
  size.sizeDim = dim;
  return size;
}

/// Marks a dimension of the leaf as dynamic, whatever its type said.
void markDynamic(EntryLeaf &leaf, int64_t dim) {
  if (isDynamicDim(leaf.type, dim)) {
    return;
  }
  SmallVector<int64_t> dynamic(boundedDimensions(leaf.type)), order = majorToMinor(leaf.type);
  dynamic.push_back(dim);
  llvm::sort(dynamic);
  LayoutAttr layout = layoutOf(leaf.type);
  std::reverse(order.begin(), order.end());
  leaf.type = RankedTensorType::get(
      leaf.type.getShape(), leaf.type.getElementType(),
      LayoutAttr::get(leaf.type.getContext(), layout ? layout.getMinorToMajor() : ArrayRef(order),
                      dynamic, layout ? layout.getProperties() : StringRef()));
}

} // namespace

LogicalResult DynamicPadderPass::runOnEntry(ComputationOp entry) {
  FailureOr<EntryLayout> layout = EntryLayout::get(getOperation());
  if (failed(layout)) {
    return failure();
  }
  DynamicContext context(getOperation());
  DynamicPadder padder(context);
  Block &body = entry.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Type s32 = builder.getIntegerType(32, true), s64 = builder.getIntegerType(64, true);
  for (int64_t i = 0, count = body.getNumArguments(); i < count; ++i) {
    BlockArgument argument = body.getArgument(i);
    DynamicSizes own(isa<RankedTensorType>(argument.getType()) ? rankOf(argument) : 0);
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (isDynamicDim(argument.getType(), dim)) {
        HloBuilder b(builder, argument.getLoc());
        Value size = body.addArgument(RankedTensorType::get({}, s64), argument.getLoc());
        own[dim] = b.convert(size, s32);
        markDynamic(layout->inputs[i], dim);
        layout->inputs.push_back(sizeLeaf(layout->inputs[i], i, dim, s64));
      }
    }
    padder.bind(argument, own);
  }
  Operation *root = entry.getReturn();
  SmallVector<Type> resultTypes(root->getOperandTypes());
  if (failed(padder.run(entry))) {
    return failure();
  }
  builder.setInsertionPoint(root);
  HloBuilder b(builder, root->getLoc());
  SmallVector<Value> results(root->getOperands());
  for (int64_t i = 0, count = results.size(); i < count; ++i) {
    Value result = results[i];
    for (int64_t dim = 0, rank = arrayType(result) ? rankOf(result) : 0; dim < rank; ++dim) {
      if (!padder.sizeOf(result, dim) && !isDynamicDim(resultTypes[i], dim)) {
        continue;
      }
      // The caller may rely on a size within the bound.
      Value size = b.clamp(b.index(0), padder.sizeOrBound(b, result, dim),
                           b.index(shapeOf(result)[dim]));
      results.push_back(b.convert(size, s64));
      markDynamic(layout->outputs[i], dim);
      layout->outputs.push_back(sizeLeaf(layout->outputs[i], i, dim, s64));
    }
  }
  root->setOperands(results);
  updateFunctionType(entry);
  layout->set(getOperation());
  return success();
}

//===----------------------------------------------------------------------===//
// Types, sizes, masks
//===----------------------------------------------------------------------===//

bool hlo::hasDynamicBit(Type type) {
  LayoutAttr layout = layoutOf(type);
  return layout && !layout.getDynamic().empty();
}

bool hlo::isDynamicDim(Type type, int64_t dim) {
  LayoutAttr layout = layoutOf(type);
  return layout && llvm::is_contained(layout.getDynamic(), dim);
}

Type hlo::withoutDynamicBits(Type type) {
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

void hlo::updateFunctionType(ComputationOp computation) {
  Block &body = computation.getBody().front();
  computation.setFunctionType(FunctionType::get(computation.getContext(), body.getArgumentTypes(),
                                                body.getTerminator()->getOperandTypes()));
}

bool hlo::sameSize(Value a, Value b) {
  if (a == b) {
    return true;
  }
  std::optional<int64_t> known = constantInteger(a);
  return known && known == constantInteger(b);
}

Value hlo::extremeOf(HloBuilder &b, Type element, bool least) {
  RankedTensorType scalar = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    APFloat value = APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, least)
                                                        : APFloat::getLargest(semantics, least);
    return b.constant(DenseElementsAttr::get(scalar, value));
  }
  auto integer = cast<IntegerType>(element);
  unsigned width = integer.getWidth();
  APInt value = integer.isSigned()
                    ? (least ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width))
                    : (least ? APInt(width, 0) : APInt::getAllOnes(width));
  return b.constant(DenseElementsAttr::get(scalar, value));
}

Value hlo::identityOf(HloBuilder &b, Operation *root, Type element) {
  bool onParameters = root && root->getNumOperands() == 2 &&
                      root->getOperand(0) != root->getOperand(1) &&
                      llvm::all_of(root->getOperands(), llvm::IsaPred<BlockArgument>);
  if (!onParameters) {
    return {};
  }
  if (isa<AddOp, OrOp, XorOp>(root)) {
    return b.scalar(element, 0);
  }
  if (isa<MultiplyOp>(root)) {
    return b.scalar(element, 1);
  }
  if (isa<AndOp>(root)) {
    return b.scalar(element, -1);
  }
  if (isa<MaximumOp, MinimumOp>(root) && !isa<ComplexType>(element)) {
    return extremeOf(b, element, isa<MaximumOp>(root));
  }
  return {};
}

ComputationOp DynamicContext::lookup(FlatSymbolRefAttr name) {
  Operation *known = symbols.lookup(name.getAttr());
  if (!known) { // scalar computations are made without the table's knowledge
    known = SymbolTable::lookupSymbolIn(symbols.getOp(), name.getAttr());
    symbols.insert(known);
  }
  return cast<ComputationOp>(known);
}

ComputationOp DynamicContext::clone(FlatSymbolRefAttr name) {
  ComputationOp copy = lookup(name).clone();
  symbols.insert(copy);
  return copy;
}

void DynamicPadder::bind(Value value, DynamicSizes own) {
  value.setType(withoutDynamicBits(value.getType()));
  if (llvm::any_of(own, [](Value size) { return bool(size); })) {
    sizes[value] = std::move(own);
  }
}

DynamicSizes DynamicPadder::sizesOf(Value value) const {
  auto found = sizes.find(value);
  RankedTensorType type = arrayType(value);
  return found == sizes.end() ? DynamicSizes(type ? type.getRank() : 0) : found->second;
}

Value DynamicPadder::sizeOf(Value value, int64_t dim) const {
  auto found = sizes.find(value);
  return found == sizes.end() ? Value() : found->second[dim];
}

Value DynamicPadder::sizeOrBound(HloBuilder &b, Value value, int64_t dim) const {
  Value size = sizeOf(value, dim);
  return size ? size : b.index(shapeOf(value)[dim]);
}

SmallVector<DynamicDim> DynamicPadder::dynamicDims(ValueRange values) const {
  SmallVector<DynamicDim> result;
  for (auto [i, value] : llvm::enumerate(values)) {
    for (auto [dim, size] : llvm::enumerate(sizesOf(value))) {
      if (size) {
        result.push_back({static_cast<unsigned>(i), static_cast<int64_t>(dim)});
      }
    }
  }
  return result;
}

Value DynamicPadder::maskedBeyond(HloBuilder &b, Value x, int64_t dim, Value size, Value fill) {
  ArrayRef<int64_t> shape = shapeOf(x);
  RankedTensorType indices = HloBuilder::array(shape, elementTypeOf(size));
  Value inside = b.compare(b.iota(indices, dim), b.broadcastScalar(size, shape), "LT");
  Value plain = b.select(inside, x, b.broadcastScalar(fill, shape));
  if (isDynamic(x)) {
    sizes[plain] = sizesOf(x);
  }
  return plain;
}

Value DynamicPadder::masked(HloBuilder &b, Value x, ArrayRef<int64_t> dims, Value fill) {
  for (int64_t dim : dims) {
    if (Value size = sizeOf(x, dim)) {
      x = maskedBeyond(b, x, dim, size, fill);
    }
  }
  return x;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult DynamicPadder::run(ComputationOp computation) {
  Block &body = computation.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    argument.setType(withoutDynamicBits(argument.getType()));
  }
  LogicalResult result = success();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (failed(visit(&op))) {
      result = failure();
    }
  }
  updateFunctionType(computation);
  return result;
}

LogicalResult DynamicPadder::refuse(Operation *op, const Twine &why) {
  std::string name = op->getName().stripDialect().str();
  std::replace(name.begin(), name.end(), '_', '-');
  InFlightDiagnostic error = op->emitError("dynamic dimensions through ")
                             << name << " are not supported";
  if (!why.isTriviallyEmpty()) {
    error << ": " << why;
  }
  return error;
}

LogicalResult DynamicPadder::passOn(Operation *op) {
  Value operand = op->getOperand(0);
  for (OpResult result : op->getResults()) {
    if (!arrayType(result) || shapeOf(result) != shapeOf(operand)) {
      return refuse(op);
    }
    bind(result, sizesOf(operand));
  }
  return success();
}

LogicalResult DynamicPadder::visit(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  if (auto set = dyn_cast<SetDimensionSizeOp>(op)) {
    visitSet(set);
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
  if (auto loop = dyn_cast<WhileOp>(op)) {
    return visitWhile(loop);
  }
  if (auto conditional = dyn_cast<ConditionalOp>(op)) {
    return visitConditional(conditional);
  }
  if (auto reshape = dyn_cast<DynamicReshapeOp>(op)) {
    return visitDynamicReshape(reshape);
  }
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return isDynamic(operand); })) {
    for (OpResult result : op->getResults()) {
      // A written bound without a size anywhere: the bound is the size.
      result.setType(withoutDynamicBits(result.getType()));
    }
    return success();
  }
  if (isElementwiseOp(op) || isa<MapOp>(op)) {
    visitElementwise(op);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<CopyOp, BitcastOp, DomainOp, AddDependencyOp>([&](auto same) { return passOn(same); })
      .Case<AllGatherOp, AllReduceOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp,
            ReduceScatterOp>([&](auto collective) { return visitCollective(collective); })
      .Case([&](OptBarrierOp barrier) {
        for (auto [operand, result] : llvm::zip(barrier->getOperands(), barrier->getResults())) {
          bind(result, sizesOf(operand));
        }
        return success();
      })
      .Case([&](ReduceOp reduce) { return visitReduce(reduce); })
      .Case([&](DotOp dot) { return visitDot(dot); })
      .Case([&](SortOp sort) { return visitSort(sort); })
      .Case<BatchNormTrainingOp, BatchNormInferenceOp, BatchNormGradOp>(
          [&](auto norm) { return visitBatchNorm(norm); })
      .Case([&](TopkOp topk) { return visitTopk(topk); })
      .Case<CholeskyOp, TriangularSolveOp, FftOp>([&](auto linalg) { return visitLinalg(linalg); })
      .Case([&](DynamicSliceOp slice) { return visitDynamicSlice(slice); })
      .Case([&](DynamicUpdateSliceOp update) { return visitDynamicUpdateSlice(update); })
      .Case([&](GatherOp gather) { return visitGather(gather); })
      .Case([&](ScatterOp scatter) { return visitScatter(scatter); })
      .Case([&](ReduceWindowOp window) { return visitReduceWindow(window); })
      .Case([&](SelectAndScatterOp scatter) { return visitSelectAndScatter(scatter); })
      .Case([&](ConvolutionOp convolution) { return visitConvolution(convolution); })
      .Default([&](Operation *other) { return visitShape(other); });
}

void DynamicPadder::visitSet(SetDimensionSizeOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  DynamicSizes own = sizesOf(op.getOperand());
  int64_t dim = op.getDimension();
  bool whole = constantInteger(op.getSize()) == shapeOf(op.getOperand())[dim];
  own[dim] = whole ? Value() : op.getSize();
  // A value of its own: its operand may be used with another size.
  Value copy = b.copy(op.getOperand(), withoutDynamicBits(op.getResult().getType()));
  op.getResult().replaceAllUsesWith(copy);
  bind(copy, own);
  op->erase();
}

/// Operands of different sizes n and m: a size of 1 spreads to the other, as in a broadcast; else
/// the result has what both have. (A clamp takes the size of its last operand.)
void DynamicPadder::visitElementwise(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  int64_t rank = rankOf(op->getResult(0));
  DynamicSizes own(rank);
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool differ = false;
    for (Value operand : op->getOperands()) {
      Value next = rankOf(operand) == rank ? sizeOf(operand, dim) : Value();
      if (!next) {
        continue;
      }
      if (!own[dim] || sameSize(own[dim], next) || isa<ClampOp>(op)) {
        own[dim] = next;
        continue;
      }
      differ = true;
      Value one = b.index(1), least = b.binary<MinimumOp>(own[dim], next);
      Value most = b.binary<MaximumOp>(own[dim], next);
      own[dim] = b.select(b.compare(least, one, "EQ"), most, least);
    }
    if (!differ) {
      continue;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      Value x = operand.get(), size = rankOf(x) == rank ? sizeOf(x, dim) : Value();
      if (!size) {
        continue;
      }
      Value first = b.sliceDim(x, dim, 0, 1);
      SmallVector<int64_t> shape(shapeOf(x)), rest(shapeOf(x)), kept;
      rest.erase(rest.begin() + dim);
      for (int64_t other = 0; other < rank; ++other) {
        if (other != dim) {
          kept.push_back(other);
        }
      }
      Value spread = b.broadcast(b.reshape(first, rest), shape, kept);
      Value isOne = b.compare(size, b.index(1), "EQ");
      Value chosen = b.select(b.broadcastScalar(isOne, shape), spread, x);
      sizes[chosen] = sizesOf(x);
      operand.set(chosen);
    }
  }
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
}

//===----------------------------------------------------------------------===//
// Reductions, sort, linear algebra
//===----------------------------------------------------------------------===//

Value DynamicPadder::fillOf(HloBuilder &b, Operation *op, FlatSymbolRefAttr computation,
                            unsigned i) {
  unsigned count = op->getNumOperands() / 2;
  Operation *root = context.lookup(computation).getReturn()->getOperand(0).getDefiningOp();
  Value fill =
      count == 1 ? identityOf(b, root, elementTypeOf(op->getOperand(i))) : Value();
  return fill ? fill : op->getOperand(count + i);
}

LogicalResult DynamicPadder::visitReduce(ReduceOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  unsigned count = op->getNumOperands() / 2;
  DynamicSizes own;
  for (int64_t dim = 0, rank = rankOf(op->getOperand(0)); dim < rank; ++dim) {
    Value size;
    for (Value input : op.getInputs().take_front(count)) {
      size = size ? size : sizeOf(input, dim);
    }
    if (!llvm::is_contained(op.getDimensions(), dim)) {
      own.push_back(size);
      continue;
    }
    for (unsigned i = 0; size && i < count; ++i) {
      Value input = op->getOperand(i);
      op->setOperand(i, maskedBeyond(b, input, dim, size, fillOf(b, op, op.getToApplyAttr(), i)));
    }
  }
  for (OpResult result : op->getResults()) {
    bind(result, own);
  }
  return success();
}

LogicalResult DynamicPadder::visitDot(DotOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
  };
  DynamicSizes own;
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
    Value lhsSize = sizeOf(op.getLhs(), l), rhsSize = sizeOf(op.getRhs(), r);
    if (!lhsSize && !rhsSize) {
      continue;
    }
    for (auto [number, dim, size] : {std::tuple(0u, l, lhsSize ? lhsSize : rhsSize),
                                     std::tuple(1u, r, rhsSize ? rhsSize : lhsSize)}) {
      Value operand = op->getOperand(number);
      op->setOperand(number, maskedBeyond(b, operand, dim, size,
                                          b.scalar(elementTypeOf(operand), 0)));
    }
  }
  bind(op.getResult(), own);
  return success();
}

/// Elements beyond the size go last: a further operand says which they are, and the comparison
/// looks at it first.
LogicalResult DynamicPadder::visitSort(SortOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  int64_t dim = op.getDimension();
  unsigned count = op->getNumOperands();
  Value size;
  for (Value operand : op->getOperands()) {
    size = size ? size : sizeOf(operand, dim);
  }
  SmallVector<DynamicSizes> own;
  for (Value operand : op->getOperands()) {
    own.push_back(sizesOf(operand));
  }
  Operation *sort = op;
  if (size) {
    ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
    Value inside = b.compare(b.iota(HloBuilder::array(shape, elementTypeOf(size)), dim),
                             b.broadcastScalar(size, shape), "LT");
    ComputationOp before = context.clone(op.getToApplyAttr());
    Block &body = before.getBody().front();
    Type flag = RankedTensorType::get({}, b.b.getI1Type());
    Value left = body.addArgument(flag, op.getLoc()), right = body.addArgument(flag, op.getLoc());
    OpBuilder inner(body.getTerminator());
    HloBuilder c(inner, op.getLoc());
    Value rule = body.getTerminator()->getOperand(0);
    Value beyond = c.unary<NotOp>(right);
    body.getTerminator()->setOperand(
        0, c.binary<AndOp>(left, c.binary<OrOp>(rule, beyond)));
    updateFunctionType(before);
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Type> types = llvm::map_to_vector(op->getResultTypes(), withoutDynamicBits);
    operands.push_back(inside);
    types.push_back(inside.getType());
    OperationState state(op.getLoc(), op->getName(), operands, types, op->getAttrs());
    sort = builder.create(state);
    cast<SortOp>(sort).setToApply(before.getSymName());
    op->replaceAllUsesWith(sort->getResults().drop_back());
    op->erase();
  }
  for (unsigned i = 0; i < count; ++i) {
    bind(sort->getResult(i), own[i]);
  }
  return success();
}

/// The statistics are over the true number of elements.
LogicalResult DynamicPadder::visitBatchNorm(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  int64_t feature = op->getAttrOfType<IntegerAttr>("feature_index").getInt();
  Value operand = op->getOperand(0), count = b.index(1);
  for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
    if (dim != feature) {
      count = b.mul(count, sizeOrBound(b, operand, dim));
    }
  }
  Operation *before = count.getDefiningOp();
  return replaceBy(op, expandBatchNorm(op, b, context.scalars, count), before);
}

/// Elements beyond the size come last in the sort.
LogicalResult DynamicPadder::visitTopk(TopkOp op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Operation *before = b.index(0).getDefiningOp();
  FailureOr<SmallVector<Value>> values = expandTopk(op, b, context.scalars);
  if (failed(values)) {
    return failure();
  }
  // The indices have the sizes of the elements.
  for (Operation *made = before->getNextNode(); made != op; made = made->getNextNode()) {
    if (isa<IotaOp>(made)) {
      bind(made->getResult(0), sizesOf(op.getOperand()));
    }
  }
  return replaceBy(op, *values, before);
}

/// Visits what has been made between `before` and `op`, whose results `values` are.
LogicalResult DynamicPadder::replaceBy(Operation *op, ArrayRef<Value> values, Operation *before) {
  op->replaceAllUsesWith(ValueRange(values));
  for (Operation *made = before->getNextNode(); made != op;) {
    Operation *next = made->getNextNode();
    if (failed(visit(made))) {
      return failure();
    }
    made = next;
  }
  op->erase();
  return success();
}

/// With one rank nothing is exchanged. With more, a reduction of arrays of one size keeps it; what the others
/// give depends on the sizes of other ranks.
LogicalResult DynamicPadder::visitCollective(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  for (StringRef count : {"hlo.replica_count", "hlo.num_partitions"}) {
    auto ranks = module->getAttrOfType<IntegerAttr>(count);
    if (ranks && ranks.getInt() > 1 && !isa<AllReduceOp>(op)) {
      return refuse(op, "other ranks may have other sizes");
    }
  }
  for (OpResult result : op->getResults()) {
    Value operand = op->getOperand(result.getResultNumber());
    if (shapeOf(operand) != shapeOf(result)) {
      return refuse(op);
    }
    bind(result, sizesOf(operand));
  }
  return success();
}

/// A square matrix continues as the identity: what it is factored into, or divides, does not change before.
Value DynamicPadder::withIdentityBeyond(HloBuilder &b, Value x) {
  int64_t rank = rankOf(x), row = rank - 2, column = rank - 1;
  Value size = sizeOf(x, row) ? sizeOf(x, row) : sizeOf(x, column);
  if (!size) {
    return x;
  }
  ArrayRef<int64_t> shape = shapeOf(x);
  RankedTensorType indices = HloBuilder::array(shape, elementTypeOf(size));
  Value rows = b.iota(indices, row), columns = b.iota(indices, column);
  Value inside = b.compare(b.binary<MaximumOp>(rows, columns), b.broadcastScalar(size, shape), "LT");
  Value identity = b.convert(b.compare(rows, columns, "EQ"), elementTypeOf(x));
  return b.select(inside, x, identity);
}

/// Ops on matrices, rows or columns: the other dimensions are free.
LogicalResult DynamicPadder::visitLinalg(Operation *op) {
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  Value x = op->getOperand(0);
  int64_t rank = rankOf(x);
  DynamicSizes own = sizesOf(x);
  if (auto fft = dyn_cast<FftOp>(op)) {
    for (int64_t dim = rank - fft.getFftLength().size(); dim < rank; ++dim) {
      if (own[dim]) {
        return refuse(op, "dimension " + Twine(dim) + " is one that it works on");
      }
    }
  } else {
    op->setOperand(0, withIdentityBeyond(b, x));
  }
  if (auto solve = dyn_cast<TriangularSolveOp>(op)) {
    int64_t along = solve.getLeftSide().value_or(false) ? rank - 2 : rank - 1;
    Value size = own[rank - 2] ? own[rank - 2] : own[rank - 1], rhs = solve.getB();
    size = size ? size : sizeOf(rhs, along);
    own.resize(rank - 2);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value other = dim == along ? size : sizeOf(rhs, dim);
      if (dim < rank - 2) {
        own[dim] = own[dim] ? own[dim] : other;
      } else {
        own.push_back(other);
      }
    }
    if (size) {
      op->setOperand(1, maskedBeyond(b, rhs, along, size, b.scalar(elementTypeOf(rhs), 0)));
    }
  }
  bind(op->getResult(0), own);
  return success();
}

/// PadToStatic gives an array and its sizes, SliceToDynamic joins them.
LogicalResult DynamicPadder::visitCustomCall(CustomCallOp op) {
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
        b.copy(array, withoutDynamicBits(op->getResult(0).getType())));
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value result = op->getResult(dim + 1);
      result.replaceAllUsesWith(b.convert(sizeOrBound(b, array, dim), elementTypeOf(result)));
    }
    op.erase();
    return success();
  }
  if (target == "SliceToDynamic") {
    Value array = op.getNumOperands() ? op.getOperand(0) : Value();
    if (!array || op->getNumResults() != 1 || op.getNumOperands() != rankOf(array) + 1) {
      return op.emitError("custom call SliceToDynamic: expected 1 array and ")
             << (array ? rankOf(array) : 0) << " sizes, got " << op.getNumOperands()
             << " operands";
    }
    Type type = op->getResult(0).getType();
    Value copy = b.copy(array, withoutDynamicBits(type));
    DynamicSizes own(rankOf(copy));
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (isDynamicDim(type, dim)) {
        own[dim] = b.convert(op.getOperand(dim + 1), builder.getIntegerType(32, true));
      }
    }
    op->getResult(0).replaceAllUsesWith(copy);
    bind(copy, own);
    op.erase();
    return success();
  }
  bool dynamic = llvm::any_of(op.getOperands(), [&](Value v) { return isDynamic(v); }) ||
                 llvm::any_of(op->getResultTypes(), hasDynamicBit);
  return dynamic ? refuse(op, "target '" + target + "'") : success();
}

std::unique_ptr<Pass> hlo::createDynamicPadderPass() {
  return std::make_unique<DynamicPadderPass>();
}

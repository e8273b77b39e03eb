//===- Walk.cpp - The walk of the dynamic padder over a computation -------===//
//
// Sizes, masks, which op has which rule, and the rules of what sets and gets sizes and of
// element-wise ops. Padder.cpp says how arrays of bounded size are held.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/expanders/dynamic/Padder.h"

using namespace mlir;
using namespace hlo;

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
  return RankedTensorType::get(
      array.getShape(), array.getElementType(),
      LayoutAttr::get(type.getContext(), layout.getMinorToMajor(), {}, layout.getProperties()));
}

/// Levels of arithmetic in which two sizes are compared: those of `2*b + s - 1` are three.
static constexpr unsigned kMostLevels = 6;

/// True if all attributes of `a` that say what it computes are those of `b`.
static bool hasAttributesOf(Operation *a, Operation *b) {
  return llvm::all_of(a->getAttrs(), [&](NamedAttribute attr) {
    return attr.getName().strref().starts_with("hlo.") ||
           b->getAttr(attr.getName()) == attr.getValue();
  });
}

static bool sameSizeUpTo(Value a, Value b, unsigned levels) {
  if (a == b) {
    return true;
  }
  std::optional<int64_t> known = constantInteger(a);
  if (known) {
    return known == constantInteger(b);
  }
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (!levels || !left || !right || left->getName() != right->getName() ||
      !(isElementwiseOp(left) || isa<GetDimensionSizeOp>(left)) || left->getNumOperands() > 3 ||
      left->getNumOperands() != right->getNumOperands() || a.getType() != b.getType() ||
      !hasAttributesOf(left, right) || !hasAttributesOf(right, left)) {
    return false;
  }
  return llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()), [&](auto pair) {
    return sameSizeUpTo(std::get<0>(pair), std::get<1>(pair), levels - 1);
  });
}

bool hlo::sameSize(Value a, Value b) { return sameSizeUpTo(a, b, kMostLevels); }

Value hlo::ignoredBy(HloBuilder &b, Operation *root, Type element) {
  bool onParameters =
      isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp, XorOp>(root) &&
      root->getOperand(0) != root->getOperand(1) &&
      llvm::all_of(root->getOperands(), llvm::IsaPred<BlockArgument>);
  DenseElementsAttr identity = onParameters ? identityOf(root, element) : DenseElementsAttr();
  return identity ? b.constant(identity) : Value();
}

ComputationOp DynamicContext::lookup(FlatSymbolRefAttr name) {
  Operation *known = symbols.lookup(name.getAttr());
  if (!known) { // scalar computations are made without the table
    known = SymbolTable::lookupSymbolIn(symbols.getOp(), name.getAttr());
    symbols.insert(known);
  }
  return cast<ComputationOp>(known);
}

void DynamicContext::addSize(Value size, int64_t bound, bool checked) {
  Value source = size;
  if (auto convert = size.getDefiningOp<ConvertOp>()) {
    source = convert.getOperand();
  }
  auto argument = dyn_cast<BlockArgument>(source);
  auto computation =
      argument ? dyn_cast<ComputationOp>(argument.getOwner()->getParentOp()) : ComputationOp();
  if (!computation || !computation.getEntry()) {
    return;
  }
  for (Given &known : given) {
    if (known.argument == argument) {
      known.bound = std::max(known.bound, bound);
      sizes.insert(size);
      sizes.unionSets(size, known.size);
      return;
    }
  }
  sizes.insert(size);
  given.push_back({size, argument, bound, checked});
}

void DynamicContext::agree(Value a, Value b) {
  if (a != b && sizes.contains(a) && sizes.contains(b)) {
    sizes.unionSets(a, b);
  }
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
      // The type has a bound but no value has a size: the size is the bound.
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
  context.addSize(op.getSize(), shapeOf(op.getOperand())[dim], /*checked=*/false);
  // A separate value, because the operand may have other users that need another size.
  Value copy = b.copy(op.getOperand(), withoutDynamicBits(op.getResult().getType()));
  op.getResult().replaceAllUsesWith(copy);
  bind(copy, own);
  op->erase();
}

/// Operands of different sizes n and m: a size of 1 broadcasts; otherwise the result has min(n, m)
/// elements. (A clamp takes the size of its last operand.)
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
      context.agree(own[dim], next);
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

//===- Scan.cpp - scan ------------------------------------------------------===//
//
// A scan by one associative op over a split dimension: all shards get the totals of all shards, and
// each scans its elements from the combined totals of the shards before it. The last carry is the
// combination of all.
//
// The other dimensions pass through if all arrays of the computation have the same ones and each op
// is element-wise; the computation is then copied with the shards' shape.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Halo.h"
#include "compiler/transforms/spmd/rules/Window.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

using Results = FailureOr<SmallVector<Value>>;

/// The op of a scan whose results are both op(x, carry); null if it is another.
Operation *scannedOp(ScanOp op) {
  ComputationOp computation = computationOf(op, "to_apply");
  if (!computation || op.getNumCarries() != 1 || op->getNumOperands() != 2 ||
      op->getNumResults() != 2 || computation.getNumArguments() != 2) {
    return nullptr;
  }
  Operation *end = computation.getReturn();
  if (end->getNumOperands() != 2 || end->getOperand(0) != end->getOperand(1)) {
    return nullptr;
  }
  Operation *sum = end->getOperand(0).getDefiningOp();
  Value x = computation.getArgument(0), carry = computation.getArgument(1);
  if (!isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp>(sum) ||
      x.getType() != carry.getType()) {
    return nullptr;
  }
  Value lhs = sum->getOperand(0), rhs = sum->getOperand(1);
  bool isSum = (lhs == x && rhs == carry) || (lhs == carry && rhs == x);
  return isSum && identityOf(sum, elementTypeOf(x)) ? sum : nullptr;
}

/// The shape of one step's arrays: of the first input without the scanned dimension.
SmallVector<int64_t> stepShape(ScanOp op, Value input) {
  SmallVector<int64_t> shape(shapeOf(input));
  shape.erase(shape.begin() + op.getDimension());
  return shape;
}

/// Whether the computation does the same for each element of arrays of `shape`.
bool isElementwise(ComputationOp computation, ArrayRef<int64_t> shape) {
  auto fits = [&](Value value) {
    return isScalar(value) || (arrayType(value) && shapeOf(value) == shape);
  };
  auto isOfStep = [&](Value value) { return arrayType(value) && shapeOf(value) == shape; };
  Block &block = computation.getBody().front();
  return llvm::all_of(block.getArguments(), isOfStep) &&
         llvm::all_of(computation.getReturn()->getOperands(), isOfStep) &&
         llvm::all_of(block.without_terminator(), [&](Operation &op) {
           auto constant = dyn_cast<ConstantOp>(op);
           auto value =
               constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
           bool isKnown = isElementwiseOp(&op) || (value && value.isSplat()) ||
                          (isa<BroadcastOp>(op) && isScalar(op.getOperand(0)));
           return isKnown && llvm::all_of(op.getOperands(), fits) &&
                  llvm::all_of(op.getResults(), fits);
         });
}

/// A copy of an element-wise computation for arrays of another shape.
FlatSymbolRefAttr copyForShape(Emitter &e, ComputationOp computation, ArrayRef<int64_t> from,
                               ArrayRef<int64_t> to) {
  std::string name;
  for (int suffix = 0; name.empty() || SymbolTable::lookupSymbolIn(e.module, name); ++suffix) {
    name = (computation.getSymName() + ".shard" + (suffix ? Twine(suffix) : Twine())).str();
  }
  auto typeOf = [&](Value value) -> Type {
    return shapeOf(value) == from ? HloBuilder::array(to, elementTypeOf(value)) : value.getType();
  };
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPoint(computation);
  SmallVector<Type> arguments, results;
  for (Value argument : computation.getBody().getArguments()) {
    arguments.push_back(typeOf(argument));
  }
  for (Value result : computation.getReturn()->getOperands()) {
    results.push_back(typeOf(result));
  }
  auto copy = ComputationOp::create(e.builder, computation.getLoc(), name,
                                    e.builder.getFunctionType(arguments, results));
  Block &block = copy.getBody().emplaceBlock();
  block.addArguments(arguments, SmallVector<Location>(arguments.size(), computation.getLoc()));
  e.builder.setInsertionPointToStart(&block);
  IRMapping mapping;
  mapping.map(computation.getBody().getArguments(), block.getArguments());
  for (Operation &op : computation.getBody().front()) {
    Operation *clone = e.builder.clone(op, mapping);
    for (auto [result, old] : llvm::zip(clone->getResults(), op.getResults())) {
      result.setType(cast<RankedTensorType>(typeOf(old)));
    }
    if (auto constant = dyn_cast<ConstantOp>(clone)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      if (value.getType() != constant.getType()) {
        constant.setValueAttr(value.resizeSplat(cast<ShapedType>(constant.getType())));
      }
    }
  }
  return FlatSymbolRefAttr::get(copy.getSymNameAttr());
}

Rule scanRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto scan = cast<ScanOp>(op);
  ComputationOp computation = computationOf(op, "to_apply");
  int64_t dim = scan.getDimension(), carries = scan.getNumCarries();
  SmallVector<int64_t> shape = stepShape(scan, op->getOperand(0));
  int64_t inputs = op->getNumOperands() - carries, outputs = op->getNumResults() - carries;
  if (!computation || inputs < 1 || outputs < 0 || !isElementwise(computation, shape)) {
    rule.replicated = "the computation of the scan is not element-wise";
    return rule;
  }
  // Inputs and outputs have the scanned dimension, carries have not.
  if (scannedOp(scan) && shapeOf(op->getOperand(0))[dim] > 1) {
    unsigned factor = rule.addFactor(shapeOf(op->getOperand(0))[dim], FactorKind::Special);
    rule.operands[0][dim] = rule.results[0][dim] = {factor};
  }
  for (auto [step, size] : llvm::enumerate(shape)) {
    if (size <= 1) {
      continue;
    }
    unsigned factor = rule.addFactor(size);
    auto add = [&](SmallVectorImpl<DimFactors> &arrays, int64_t withDim) {
      for (auto [i, dims] : llvm::enumerate(arrays)) {
        bool isAfter = static_cast<int64_t>(i) < withDim && static_cast<int64_t>(step) >= dim;
        dims[step + (isAfter ? 1 : 0)] = {factor};
      }
    };
    add(rule.operands, inputs);
    add(rule.results, outputs);
  }
  if (rule.factors.empty()) {
    rule.replicated = "the computation of the scan is not one associative op";
  }
  return rule;
}

/// lhs and rhs combined by the scan's op.
Value combine(Emitter &e, Operation *sum, Value lhs, Value rhs) {
  Operation *copy = e.builder.clone(*sum);
  copy->setOperands({lhs, rhs});
  copy->setLoc(e.loc);
  copy->getResult(0).setType(lhs.getType());
  return copy->getResult(0);
}

Results emitScan(Site &site) {
  auto op = cast<ScanOp>(site.op);
  Emitter &e = site.e;
  HloBuilder b = e.b();
  int64_t dim = op.getDimension();
  AxisList axes = site.operandSharding(0).dims[dim];
  FlatSymbolRefAttr computation = op.getToApplyAttr();
  SmallVector<int64_t> whole = stepShape(op, op->getOperand(0));
  SmallVector<int64_t> shard = stepShape(op, site.operands[0]);
  if (whole != shard) {
    computation = copyForShape(e, computationOf(op, "to_apply"), whole, shard);
  }
  if (axes.empty()) {
    NamedAttribute changed(op.getToApplyAttrName(), computation);
    return SmallVector<Value>(site.cloneWith(changed)->getResults());
  }
  Operation *sum = scannedOp(op);
  Value x = site.operands[0], init = site.operands[1];
  Type element = elementTypeOf(x);
  Value identity = b.constant(identityOf(sum, element));
  x = e.maskPadding(x, dim, axes, shapeOf(op->getOperand(0))[dim], identity);
  SumKind kind = isa<AddOp>(sum)        ? SumKind::Add
                 : isa<MultiplyOp>(sum) ? SumKind::Multiply
                 : isa<MinimumOp>(sum)  ? SumKind::Minimum
                 : isa<MaximumOp>(sum)  ? SumKind::Maximum
                 : isa<AndOp>(sum)      ? SumKind::And
                                        : SumKind::Or;
  FlatSymbolRefAttr reducer = e.sumComputation(kind, element);
  auto reduced = [&](Value array, int64_t along) {
    SmallVector<int64_t> shape(shapeOf(array));
    shape.erase(shape.begin() + along);
    auto reduce =
        ReduceOp::create(b.b, b.loc, TypeRange(HloBuilder::array(shape, element)),
                         ValueRange({array, identity}), b.b.getDenseI64ArrayAttr({along}), reducer);
    return reduce->getResult(0);
  };
  // The totals of all shards along a new dimension 0, and of those before this one.
  Value total = reduced(x, dim);
  SmallVector<int64_t> line(shapeOf(total));
  line.insert(line.begin(), 1);
  Value totals = e.allGather(b.reshape(total, line), 0, axes);
  int64_t shards = e.mesh.count(axes);
  bool isReversed = op.getIsReverse().value_or(false);
  SmallVector<int64_t> zeros(shards, 0);
  SmallVector<Span> others;
  for (int64_t t = 0; t < shards; ++t) {
    others.push_back(isReversed ? Span{t + 1, shards} : Span{0, t});
  }
  Value before = reduced(maskSpans(e, totals, 0, axes, zeros, others, identity), 0);
  Value carry = combine(e, sum, init, before);
  Operation *local =
      ScanOp::create(b.b, b.loc, TypeRange({x.getType(), init.getType()}), ValueRange({x, carry}),
                     op.getDimensionAttr(), op.getNumCarriesAttr(), op.getIsReverseAttr(),
                     op.getIsAssociativeAttr(), computation);
  return SmallVector<Value>{local->getResult(0), combine(e, sum, init, reduced(totals, 0))};
}

int64_t scanBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto scan = cast<ScanOp>(op);
  int64_t shards = mesh.count(shardingOf(rule.operands[0], axes).dims[scan.getDimension()]);
  return (shards - 1) *
         shardBytes(op->getOperand(1).getType(), shardingOf(rule.operands[1], axes), mesh);
}

} // namespace

void hlo::spmd::registerScan(PartitionerTable &table) {
  table["hlo.scan"] = {.rule = scanRule, .emit = emitScan, .bytes = scanBytes};
}

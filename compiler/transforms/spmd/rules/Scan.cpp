//===- Scan.cpp - scan ------------------------------------------------------===//
//
// A scan by one associative op over a split dimension: all shards get the totals of all shards, and
// each scans its elements from the combined totals of the shards before it. The last carry is the
// combination of all.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Halo.h"
#include "compiler/transforms/spmd/rules/Window.h"

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

Rule scanRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto scan = cast<ScanOp>(op);
  if (!scannedOp(scan)) {
    rule.replicated = "the computation of the scan is not one associative op";
    return rule;
  }
  int64_t dim = scan.getDimension(), size = shapeOf(op->getOperand(0))[dim];
  if (size > 1) {
    rule.operands[0][dim] = rule.results[0][dim] = {rule.addFactor(size, FactorKind::Special)};
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
  if (axes.empty()) {
    return SmallVector<Value>(site.clone()->getResults());
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
                     op.getIsAssociativeAttr(), op.getToApplyAttr());
  return SmallVector<Value>{local->getResult(0), combine(e, sum, init, reduced(totals, 0))};
}

int64_t scanBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto scan = cast<ScanOp>(op);
  int64_t shards = mesh.count(shardingOf(rule.operands[0], axes).dims[scan.getDimension()]);
  return (shards - 1) * bytesOf(op->getOperand(1));
}

} // namespace

void hlo::spmd::registerScan(PartitionerTable &table) {
  table["hlo.scan"] = {.rule = scanRule, .emit = emitScan, .bytes = scanBytes};
}

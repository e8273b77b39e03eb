//===- ChloArrays.cpp - Rules of CHLO's ops on arrays ---------------------===//
//
// Ops that broadcast their operands as numpy does, or by `broadcast_dimensions` of the operand of
// the lower rank; constants in the shape of another value; products of ragged groups; scans.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Formula.h"
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/chlo/Dialect.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

/// `operand` in the sizes of the result. Its dimensions are the result's last ones, or `dims`.
static Value broadcastTo(Converter &c, Value operand, ArrayRef<int64_t> sizes,
                         ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> shape = HloBuilder::type(operand).getShape();
  SmallVector<int64_t> kept, keptSizes;
  for (int64_t i = 0, rank = shape.size(); i < rank; ++i) {
    int64_t dim = dims.empty() ? static_cast<int64_t>(sizes.size()) - rank + i : dims[i];
    if (shape[i] == sizes[dim]) {
      kept.push_back(dim);
      keptSizes.push_back(shape[i]);
    }
  }
  if (kept.size() == sizes.size()) {
    return operand;
  }
  return c.hlo().broadcast(c.hlo().reshape(operand, keptSizes), sizes, kept);
}

/// Both operands in the sizes of the result.
static Values broadcastOperands(Converter &c, Operation *op) {
  ArrayRef<int64_t> sizes = c.array(op->getResult(0)).getShape();
  auto given = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  Values operands;
  for (Value operand : c.get(op->getOperands())) {
    bool isLower = HloBuilder::type(operand).getRank() < static_cast<int64_t>(sizes.size());
    operands.push_back(broadcastTo(c, operand, sizes,
                                   given && isLower ? given.asArrayRef() : ArrayRef<int64_t>()));
  }
  return operands;
}

/// broadcast_X: the opcode X.
static LogicalResult convertBroadcasting(Converter &c, Operation *op) {
  StringRef name = op->getName().stripDialect();
  name.consume_front("broadcast_");
  return c.bind(
      op, c.create(("hlo." + name).str(), c.array(op->getResult(0)), broadcastOperands(c, op)));
}

template <Num (*function)(const Num &, const Num &), bool inF32>
static LogicalResult convertBroadcastFunction(Converter &c, Operation *op) {
  HloBuilder b = c.hlo();
  Values operands = broadcastOperands(c, op);
  Num x(b, operands[0]), y(b, operands[1]);
  return c.bind(op, evaluate<function, inF32>(x, y).value);
}

static LogicalResult convertCompare(Converter &c, chlo::BroadcastCompareOp op) {
  SmallVector<NamedAttribute> attributes{
      c.text("direction", chlo::stringifyComparisonDirection(op.getComparisonDirection()))};
  if (op.getCompareType() == chlo::ComparisonType::TOTALORDER) {
    attributes.push_back(c.text("type", "TOTALORDER"));
  }
  return c.bind(
      op, c.create("hlo.compare", c.array(op.getResult()), broadcastOperands(c, op), attributes));
}

static LogicalResult convertConstantLike(Converter &c, chlo::ConstantLikeOp op) {
  RankedTensorType type = c.array(op.getResult());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Attribute value = op.getValue();
  DenseElementsAttr made;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    made = DenseElementsAttr::get(scalar, number.getValue());
  } else if (auto number = dyn_cast<IntegerAttr>(value)) {
    made = DenseElementsAttr::get(scalar, number.getValue());
  } else {
    return op.emitOpError() << "of this element type is not supported";
  }
  return c.bind(op, c.hlo().broadcastScalar(c.hlo().constant(made), type.getShape()));
}

static LogicalResult convertRaggedDot(Converter &c, chlo::RaggedDotOp op) {
  chlo::RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
  SmallVector<NamedAttribute> attributes;
  addDims(c, "lhs_batch_dims", numbers.getLhsBatchingDimensions(), attributes);
  addDims(c, "rhs_batch_dims", numbers.getRhsBatchingDimensions(), attributes);
  addDims(c, "lhs_contracting_dims", numbers.getLhsContractingDimensions(), attributes);
  addDims(c, "rhs_contracting_dims", numbers.getRhsContractingDimensions(), attributes);
  addDims(c, "lhs_ragged_dims", numbers.getLhsRaggedDimensions(), attributes);
  addDims(c, "rhs_group_dims", numbers.getRhsGroupDimensions(), attributes);
  return c.bind(op, c.create("hlo.ragged_dot", c.array(op.getResult()), c.get(op->getOperands()),
                             attributes));
}

static LogicalResult convertScan(Converter &c, chlo::ScanOp op) {
  Computation body = c.computation(op.getBody());
  if (failed(body)) {
    return failure();
  }
  SmallVector<NamedAttribute> attributes{
      c.integer("dimension", op.getDimension()),
      c.integer("num_carries", static_cast<int64_t>(op.getInits().size())),
      c.named("to_apply", *body)};
  if (op.getIsReverse()) {
    attributes.push_back(c.flag("is_reverse", true));
  }
  if (std::optional<bool> isAssociative = op.getIsAssociative()) {
    attributes.push_back(c.flag("is_associative", *isAssociative));
  }
  // One result is a tuple too.
  SmallVector<Type> types =
      llvm::map_to_vector(op->getResultTypes(), [&](Type each) { return c.type(each); });
  Value scan =
      c.create("hlo.scan", TupleType::get(c.context, types), c.get(op->getOperands()), attributes);
  return c.bind(op, ValueRange(c.elements(scan, types.size())));
}

void hlo::stable::addChloArrayRules(Rules &rules) {
  for (StringRef name : {"add", "and", "atan2", "complex", "divide", "maximum", "minimum",
                         "multiply", "or", "power", "remainder", "select", "shift_left",
                         "shift_right_arithmetic", "shift_right_logical", "subtract", "xor"}) {
    rules.add(("chlo.broadcast_" + name).str(), convertBroadcasting);
  }
  rules.add<chlo::BroadcastCompareOp, convertCompare>();
  rules.add<chlo::ConstantLikeOp, convertConstantLike>();
  rules.add<chlo::RaggedDotOp, convertRaggedDot>();
  rules.add<chlo::ScanOp, convertScan>();
  rules.add("chlo.broadcast_next_after", convertBroadcastFunction<nextAfter, false>);
  rules.add("chlo.broadcast_polygamma", convertBroadcastFunction<polygamma, true>);
  rules.add("chlo.broadcast_zeta", convertBroadcastFunction<zeta, true>);
}

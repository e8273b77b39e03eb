//===- Elementwise.cpp - Rules of element-wise ops, constants, iota -------===//
//
// Most ops have an opcode of the same name, which takes the same operands. Exceptions:
//
//   select with a scalar predicate    HLO's predicate has the shape of the values: a broadcast
//   real, imag of real numbers        the number, and zero
//   constant                          elements are shared with the source, not copied, where types
//                                     differ in signs alone
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Fold.h"
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

LogicalResult hlo::stable::convertSame(Converter &c, Operation *op) {
  if (Value folded = foldConstants(c, op)) {
    return c.bind(op, folded);
  }
  std::string name = ("hlo." + op->getName().stripDialect()).str();
  SmallVector<NamedAttribute> attributes;
  if (Attribute accuracy = op->getAttr("result_accuracy")) {
    if (std::string text = accuracyText(accuracy); !text.empty()) {
      attributes.push_back(c.text("result_accuracy", text));
    }
  }
  return c.bind(
      op, c.create(name, c.type(op->getResult(0).getType()), c.get(op->getOperands()), attributes));
}

static LogicalResult convertCompare(Converter &c, stablehlo::CompareOp op) {
  SmallVector<NamedAttribute> attributes{
      c.text("direction", stablehlo::stringifyComparisonDirection(op.getComparisonDirection()))};
  // The other kinds follow from the element type.
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER) {
    attributes.push_back(c.text("type", "TOTALORDER"));
  }
  return c.bind(op, c.create("hlo.compare", c.array(op.getResult()),
                             {c.get(op.getLhs()), c.get(op.getRhs())}, attributes));
}

static LogicalResult convertSelect(Converter &c, stablehlo::SelectOp op) {
  RankedTensorType result = c.array(op.getResult());
  Value pred = c.get(op.getPred());
  if (HloBuilder::type(pred).getRank() == 0 && result.getRank() != 0) {
    pred = c.create("hlo.broadcast", result.clone(c.builder.getI1Type()), pred,
                    c.dims("dimensions", {}));
  }
  return c.bind(
      op, c.create("hlo.select", result, {pred, c.get(op.getOnTrue()), c.get(op.getOnFalse())}));
}

/// Of a complex number the real part is converted, also to a truth value; that of HLO is true for
/// imaginary numbers too.
static LogicalResult convertConversion(Converter &c, stablehlo::ConvertOp op) {
  RankedTensorType result = c.array(op.getResult());
  Value operand = c.get(op.getOperand());
  auto complex = dyn_cast<ComplexType>(HloBuilder::type(operand).getElementType());
  if (!complex || !result.getElementType().isInteger(1)) {
    return convertSame(c, op);
  }
  Value real = c.create("hlo.real", result.clone(complex.getElementType()), operand);
  return c.bind(op, c.create("hlo.convert", result, real));
}

template <typename Op> static LogicalResult convertPart(Converter &c, Op op) {
  Value operand = c.get(op.getOperand());
  if (isComplex(HloBuilder::type(operand).getElementType())) {
    return convertSame(c, op);
  }
  return c.bind(op, std::is_same_v<Op, stablehlo::RealOp>
                        ? operand
                        : c.hlo().splat(c.array(op.getResult()), 0));
}

static LogicalResult convertReducePrecision(Converter &c, stablehlo::ReducePrecisionOp op) {
  return c.bind(op,
                c.create("hlo.reduce_precision", c.array(op.getResult()), c.get(op.getOperand()),
                         {c.integer("exponent_bits", op.getExponentBits()),
                          c.integer("mantissa_bits", op.getMantissaBits())}));
}

static LogicalResult convertIota(Converter &c, stablehlo::IotaOp op) {
  return c.bind(op, c.create("hlo.iota", c.array(op.getResult()), {},
                             c.integer("iota_dimension", op.getIotaDimension())));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The bytes of a resource, in the form of DenseElementsAttr; null with an error if they do not
/// fit.
static DenseElementsAttr fromResource(Operation *op, DenseResourceElementsAttr resource,
                                      RankedTensorType type) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob) {
    op->emitOpError() << "the resource '" << resource.getRawHandle().getKey()
                      << "' has no data in this text";
    return {};
  }
  bool isSplat = false;
  ArrayRef<char> bytes = blob->getData();
  std::vector<char> packed;
  // Resources hold a byte for each predicate, attributes a bit.
  if (type.getElementType().isInteger(1)) {
    if (static_cast<int64_t>(bytes.size()) != type.getNumElements()) {
      op->emitOpError() << "the resource has " << bytes.size() << " bytes for "
                        << type.getNumElements() << " elements";
      return {};
    }
    packed.assign((bytes.size() + 7) / 8, 0);
    for (auto [i, byte] : llvm::enumerate(bytes)) {
      packed[i / 8] |= (byte & 1) << (i % 8);
    }
    bytes = packed;
  }
  if (!DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat) ||
      (isSplat && type.getNumElements() != 1)) {
    op->emitOpError() << "the resource has " << bytes.size() << " bytes, which are not those of "
                      << hloText(type);
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

LogicalResult hlo::stable::bindConstant(Converter &c, Operation *op, ElementsAttr value) {
  RankedTensorType type = c.array(op->getResult(0));
  DenseElementsAttr made;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    made = fromResource(op, resource, type);
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    made = dense.getElementType() == type.getElementType() ? dense
                                                           : dense.bitcast(type.getElementType());
  } else {
    op->emitOpError() << "has elements in a form that is not supported";
  }
  if (!made) {
    return failure();
  }
  return c.bind(op, ConstantOp::create(c.builder, c.location, type, made).getResult());
}

static LogicalResult convertConstant(Converter &c, stablehlo::ConstantOp op) {
  return bindConstant(c, op, op.getValue());
}

void hlo::stable::addElementwiseRules(Rules &rules) {
  for (StringRef name : {"abs",
                         "add",
                         "and",
                         "atan2",
                         "bitcast_convert",
                         "cbrt",
                         "ceil",
                         "clamp",
                         "complex",
                         "cosine",
                         "count_leading_zeros",
                         "divide",
                         "exponential_minus_one",
                         "floor",
                         "is_finite",
                         "logistic",
                         "maximum",
                         "minimum",
                         "multiply",
                         "negate",
                         "not",
                         "or",
                         "popcnt",
                         "power",
                         "remainder",
                         "round_nearest_afz",
                         "round_nearest_even",
                         "rsqrt",
                         "shift_left",
                         "shift_right_arithmetic",
                         "shift_right_logical",
                         "sign",
                         "sine",
                         "subtract",
                         "tan",
                         "tanh",
                         "xor"}) {
    rules.add(("stablehlo." + name).str(), convertSame);
  }
  rules.add<stablehlo::CompareOp, convertCompare>();
  rules.add<stablehlo::ConstantOp, convertConstant>();
  rules.add<stablehlo::ConvertOp, convertConversion>();
  rules.add<stablehlo::ImagOp, convertPart<stablehlo::ImagOp>>();
  rules.add<stablehlo::IotaOp, convertIota>();
  rules.add<stablehlo::RealOp, convertPart<stablehlo::RealOp>>();
  rules.add<stablehlo::ReducePrecisionOp, convertReducePrecision>();
  rules.add<stablehlo::SelectOp, convertSelect>();
}

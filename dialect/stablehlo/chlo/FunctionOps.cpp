//===- FunctionOps.cpp - Generated definitions of FunctionOps.td ----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/chlo/FunctionOps.cpp.inc"

void chlo::registerFunctionOps(Dialect &dialect) {
  stablehlo::FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/chlo/FunctionOps.cpp.inc"
      >(dialect);
}

//===----------------------------------------------------------------------===//
// constant: `chlo.constant dense<1> : tensor<4xi32>`
//===----------------------------------------------------------------------===//

OpFoldResult chlo::ConstantOp::fold(FoldAdaptor) { return getValue(); }

ParseResult chlo::ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  return stablehlo::parseConstant(parser, result);
}
void chlo::ConstantOp::print(OpAsmPrinter &printer) {
  stablehlo::printConstant(printer, *this, getValue());
}

//===----------------------------------------------------------------------===//
// scan: `chlo.scan(%x) inits (%c) dimension=0 attributes {...} { body } : (...) -> (...)`. The
// results behind the carried ones' number are outputs.
//===----------------------------------------------------------------------===//

void chlo::ScanOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments()) {
    setName(argument, argument.getArgNumber() < getInputs().size() ? "input" : "carry");
  }
}

ParseResult chlo::ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension = 0;
  FunctionType type;
  Region *body = result.addRegion();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("dimension") || parser.parseEqual() || parser.parseInteger(dimension)) {
    return failure();
  }
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes)) {
    return failure();
  }
  for (StringRef name : {"dimension", "operandSegmentSizes", "resultSegmentSizes"}) {
    if (result.attributes.get(name)) {
      return parser.emitError(attributesLoc, "'") << name << "' follows from the rest of the op";
    }
  }
  if (parser.parseRegion(*body) || parser.parseColonType(type)) {
    return failure();
  }
  size_t outputs = type.getNumResults() - inits.size();
  if (type.getNumResults() < inits.size()) {
    return parser.emitError(loc, "there are ")
           << inits.size() << " initial values and " << type.getNumResults() << " results";
  }
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  operands.append(inits);
  if (parser.resolveOperands(operands, type.getInputs(), loc, result.operands)) {
    return failure();
  }
  result.addTypes(type.getResults());
  Builder &builder = parser.getBuilder();
  auto count = [](size_t size) { return static_cast<int32_t>(size); };
  result.addAttribute("dimension", builder.getI64IntegerAttr(dimension));
  result.addAttribute("operandSegmentSizes",
                      builder.getDenseI32ArrayAttr({count(inputs.size()), count(inits.size())}));
  result.addAttribute("resultSegmentSizes",
                      builder.getDenseI32ArrayAttr({count(outputs), count(inits.size())}));
  return success();
}

void chlo::ScanOp::print(OpAsmPrinter &printer) {
  printer << '(' << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension()
          << ' ';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {"dimension", "operandSegmentSizes", "resultSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}

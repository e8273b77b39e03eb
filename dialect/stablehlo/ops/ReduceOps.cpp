//===- ReduceOps.cpp - Generated definitions of ReduceOps.td -----------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/stablehlo/ops/ReduceOps.cpp.inc"

void stablehlo::registerReduceOps(Dialect &dialect) {
  FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/ops/ReduceOps.cpp.inc"
      >(dialect);
}

//===----------------------------------------------------------------------===//
// reduce. The body is left out of the text if it applies one commutative op of stablehlo to its two
// arguments:
//   stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : ...
// else it follows, with the arguments in pairs:
//   stablehlo.reduce(%x init: %c), (%y init: %d) across dimensions = [0] : ...
//    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) { ... }
//===----------------------------------------------------------------------===//

/// True for the ops that the short form may apply.
static bool isShortFormOp(OperationName name) {
  return name.getDialectNamespace() == "stablehlo" && name.hasTrait<OpTrait::IsCommutative>() &&
         name.hasTrait<OpTrait::NOperands<2>::Impl>() && name.hasTrait<OpTrait::OneResult>() &&
         name.hasTrait<OpTrait::ZeroRegions>();
}

/// The op that the short form applies, or null if the body must be printed.
static Operation *shortFormOp(stablehlo::ReduceOp reduce) {
  Block &block = reduce.getBody().front();
  if (reduce.getInputs().empty() || !llvm::hasNItems(block, 2)) {
    return nullptr;
  }
  Operation &inner = block.front(), &last = block.back();
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(reduce.getInputs()[0].getType()));
  auto isScalar = [&](Type type) { return type == scalar; };
  bool matches =
      isShortFormOp(inner.getName()) && llvm::equal(block.getArguments(), inner.getOperands()) &&
      llvm::all_of(inner.getOperandTypes(), isScalar) && isScalar(inner.getResult(0).getType()) &&
      isa<stablehlo::ReturnOp>(last) && llvm::equal(inner.getResults(), last.getOperands());
  return matches ? &inner : nullptr;
}

void stablehlo::ReduceOp::print(OpAsmPrinter &printer) {
  size_t count = getInputs().size();
  llvm::interleaveComma(llvm::zip(getInputs(), getInitValues()), printer, [&](const auto &pair) {
    printer << '(' << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')';
  });
  Operation *inner = shortFormOp(*this);
  if (inner) {
    printer << " applies ";
    printer.printKeywordOrString(inner->getName().getStringRef());
  }
  printer << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), printer);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (inner) {
    return;
  }
  printer.printNewline();
  printer << " reducer";
  Block &block = getBody().front();
  for (size_t i = 0; i < count; ++i) {
    printer << '(';
    printer.printRegionArgument(block.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(block.getArgument(i + count));
    printer << ") ";
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// `(%x init: %c), (%y init: %d)`: the inputs, then all initial values. `reduce across ...` without
/// operands is read too; the verifier refuses it.
static ParseResult parseInputs(OpAsmParser &parser,
                               SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  SmallVector<OpAsmParser::UnresolvedOperand> initial;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseOperand(operands.emplace_back()) || parser.parseKeyword("init") ||
                   parser.parseColon() || parser.parseOperand(initial.emplace_back()) ||
                   parser.parseRParen());
  };
  if (succeeded(parser.parseOptionalLParen())) {
    do {
      if (parsePair()) {
        return failure();
      }
    } while (succeeded(parser.parseOptionalComma()) && succeeded(parser.parseLParen()));
  }
  operands.append(initial);
  return success();
}

/// Makes the body of the short form.
static ParseResult addShortBody(OpAsmParser &parser, SMLoc loc, OperationName inner,
                                FunctionType type, OperationState &result) {
  Type element = type.getNumInputs() ? getElementTypeOrSelf(type.getInput(0)) : Type();
  if (!element || !TensorType::isValidElementType(element)) {
    return parser.emitError(loc, "expected an array as the first operand");
  }
  auto scalar = RankedTensorType::get({}, element);
  Block &block = result.addRegion()->emplaceBlock();
  block.addArguments({scalar, scalar}, {result.location, result.location});
  // The region has no op yet that a builder could take the context from.
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  OperationState state(result.location, inner);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *applied = builder.create(state);
  OperationState end(result.location, stablehlo::ReturnOp::getOperationName());
  end.addOperands(applied->getResults());
  builder.create(end);
  return success();
}

/// `reducer(%a: tensor<f32>, %b: tensor<f32>) ... { }`
static ParseResult parseBody(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments, accumulators;
  auto parseArgument = [&](OpAsmParser::Argument &argument) {
    return ParseResult(failure(parser.parseArgument(argument, /*allowType=*/true) ||
                               parser.parseOptionalLocationSpecifier(argument.sourceLoc)));
  };
  if (parser.parseKeyword("reducer")) {
    return failure();
  }
  while (succeeded(parser.parseOptionalLParen())) {
    if (parseArgument(arguments.emplace_back()) || parser.parseComma() ||
        parseArgument(accumulators.emplace_back()) || parser.parseRParen()) {
      return failure();
    }
  }
  arguments.append(accumulators);
  return parser.parseRegion(*result.addRegion(), arguments);
}

ParseResult stablehlo::ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  std::optional<OperationName> inner;
  if (parseInputs(parser, operands)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    SMLoc innerLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name)) {
      return failure();
    }
    if (!isShortFormOp(*name)) {
      return parser.emitError(innerLoc, "'")
             << name->getStringRef() << "' is no commutative op of stablehlo with two operands";
    }
    inner = *name;
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseIntegers(parser, dimensions)) {
    return failure();
  }
  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes)) {
    return failure();
  }
  if (result.attributes.get("dimensions")) {
    return parser.emitError(attributesLoc, "'dimensions' is given twice");
  }
  result.addAttribute("dimensions", parser.getBuilder().getDenseI64ArrayAttr(dimensions));
  if (parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), loc, result.operands)) {
    return failure();
  }
  result.addTypes(type.getResults());
  if (!inner) {
    return parseBody(parser, result);
  }
  // The applied op gets the location of the reduce, wherever that is written.
  std::optional<Location> location;
  if (parser.parseOptionalLocationSpecifier(location)) {
    return failure();
  }
  result.location = location.value_or(result.location);
  return addShortBody(parser, loc, *inner, type, result);
}

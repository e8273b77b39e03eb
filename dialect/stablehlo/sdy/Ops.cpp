//===- Ops.cpp - Generated definitions of Ops.td --------------------------===//
#include "dialect/stablehlo/Assembly.h"
#include "dialect/stablehlo/ops/Families.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Parts of the ops' assembly
//===----------------------------------------------------------------------===//

namespace sdy {
/// `[<@mesh, [{"x"}]>, <@mesh, [{}]>]`
static ParseResult parseStrippedTensorShardingPerValueAttr(OpAsmParser &parser,
                                                           TensorShardingPerValueAttr &result) {
  SmallVector<TensorShardingAttr> shardings;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
        auto sharding = FieldParser<TensorShardingAttr>::parse(parser);
        if (failed(sharding)) {
          return failure();
        }
        shardings.push_back(*sharding);
        return success();
      })) {
    return failure();
  }
  result = TensorShardingPerValueAttr::get(parser.getContext(), shardings);
  return success();
}
static void printStrippedTensorShardingPerValueAttr(OpAsmPrinter &printer, Operation *,
                                                    TensorShardingPerValueAttr shardings) {
  printer << '[';
  printer.printStrippedAttrOrType(shardings.getShardings());
  printer << ']';
}

/// `(%a: tensor<4xf32>) { ... }`
static ParseResult parseSingleBlockRegionNoBlockId(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true, /*allowAttrs=*/true) ||
                 parser.parseRegion(region, arguments));
}
static void printSingleBlockRegionNoBlockId(OpAsmPrinter &printer, Operation *, Region &region) {
  printer << '(';
  llvm::interleaveComma(region.getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}
} // namespace sdy

#define GET_OP_CLASSES
#include "dialect/stablehlo/sdy/Ops.cpp.inc"

void sdy::registerOps(Dialect &dialect) {
  stablehlo::FamilyRegistrar::add<
#define GET_OP_LIST
#include "dialect/stablehlo/sdy/Ops.cpp.inc"
      >(dialect);
}

ParseResult sdy::ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  return stablehlo::parseConstant(parser, result);
}
void sdy::ConstantOp::print(OpAsmPrinter &printer) {
  stablehlo::printConstant(printer, *this, getValue());
}

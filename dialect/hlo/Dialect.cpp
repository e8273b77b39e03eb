//===- Dialect.cpp - Registration, types, attributes ----------------------===//
//
// Ops are registered by family (see the <Family>Ops.cpp files), so that each generated definition
// file is compiled separately.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/ops/Families.h"
#include "dialect/hlo/verify/SymbolCache.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#include "dialect/hlo/Dialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/hlo/Types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/hlo/Attrs.cpp.inc"

/// `[int, ...]` after an optional `, keyword =`.
static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    return parser.parseInteger(values.emplace_back());
  });
}

Attribute hlo::LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> minorToMajor, dynamic;
  std::string properties;
  if (parser.parseLess() || parseIntegers(parser, minorToMajor)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("dynamic"))) {
      if (parser.parseEqual() || parseIntegers(parser, dynamic)) {
        return {};
      }
    } else if (parser.parseKeyword("properties") || parser.parseEqual() ||
               parser.parseString(&properties)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), minorToMajor, dynamic, properties);
}

void hlo::LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<[" << getMinorToMajor() << ']';
  if (!getDynamic().empty()) {
    printer << ", dynamic = [" << getDynamic() << ']';
  }
  if (!getProperties().empty()) {
    printer << ", properties = ";
    printer.printString(getProperties());
  }
  printer << '>';
}

void hlo::HloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/hlo/Types.cpp.inc"
      >();
}

void hlo::HloDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/hlo/Attrs.cpp.inc"
      >();
}

void hlo::HloDialect::initialize() {
  registerTypes();
  registerAttributes();
  addInterfaces<SymbolCache>();
  registerElementwiseOps(*this);
  registerShapeOps(*this);
  registerReduceOps(*this);
  registerLinalgOps(*this);
  registerControlOps(*this);
  registerCommunicationOps(*this);
  registerKernelOps(*this);
}

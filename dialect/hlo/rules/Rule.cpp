//===- Rule.cpp - Context and helpers of shape rules ----------------------===//
//
// Access to operands, attributes and computations that reports missing or invalid ones, so that a
// rule never reads something absent; and checks shared by several families.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void RuleContext::append(llvm::raw_ostream &os, ArrayRef<int64_t> list) {
  os << '{';
  llvm::interleave(list, os, ",");
  os << '}';
}

InFlightDiagnostic RuleContext::report(StringRef label, StringRef message) {
  failed = true;
  StringRef mnemonic = name;
  mnemonic.consume_front("hlo.");
  InFlightDiagnostic diagnostic = emitError();
  diagnostic << opcode() << ": " << message << " [" << mnemonic << '_' << label << ']';
  return diagnostic;
}

void RuleContext::note(InFlightDiagnostic &diagnostic, int64_t i) {
  if (i < size()) {
    diagnostic.attachNote(operands[i].getLoc()) << "operand " << i << " is " << hloText(type(i));
  }
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

LogicalResult RuleContext::expectOperands(int64_t count) {
  if (size() == count) {
    return success();
  }
  return fail("c0", "expects ", count, count == 1 ? " operand" : " operands", ", has ", size());
}

LogicalResult RuleContext::expectAtLeast(int64_t count) {
  if (size() >= count) {
    return success();
  }
  return fail("c0", "expects at least ", count, count == 1 ? " operand" : " operands", ", has ",
              size());
}

RankedTensorType RuleContext::array(int64_t i) {
  if (i >= size()) {
    fail("c0", "operand ", i, " is missing, has ", size());
    return {};
  }
  RankedTensorType array = asArray(type(i));
  if (!array) {
    (void)failAt({i}, "c0", "operand ", i, " must be an array, is ", type(i));
  }
  return array;
}

FailureOr<SmallVector<RankedTensorType>> RuleContext::arrays() {
  SmallVector<RankedTensorType> types;
  for (int64_t i = 0; i < size(); ++i) {
    types.push_back(array(i));
  }
  if (llvm::is_contained(types, RankedTensorType())) {
    return failure();
  }
  return types;
}

ArrayRef<int64_t> RuleContext::list(StringRef attribute) const {
  auto array = get<DenseI64ArrayAttr>(attribute);
  return array ? array.asArrayRef() : ArrayRef<int64_t>();
}

FailureOr<ArrayRef<int64_t>> RuleContext::requiredList(StringRef attribute) {
  if (auto array = get<DenseI64ArrayAttr>(attribute)) {
    return array.asArrayRef();
  }
  return fail("c0", "attribute '", attribute, "' is missing");
}

std::optional<int64_t> RuleContext::integer(StringRef attribute) const {
  auto value = get<IntegerAttr>(attribute);
  if (!value || value.getValue().getBitWidth() > 64) {
    return std::nullopt;
  }
  return value.getValue().getSExtValue();
}

FailureOr<int64_t> RuleContext::requiredInteger(StringRef attribute) {
  if (std::optional<int64_t> value = integer(attribute)) {
    return *value;
  }
  return fail("c0", "attribute '", attribute, "' is missing");
}

bool RuleContext::flag(StringRef attribute, bool absent) const {
  auto value = get<BoolAttr>(attribute);
  return value ? value.getValue() : absent;
}

StringRef RuleContext::text(StringRef attribute) const {
  auto value = get<StringAttr>(attribute);
  return value ? value.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

Type RuleContext::Signature::result() const {
  if (results.size() == 1) {
    return results.front();
  }
  return TupleType::get(loc.getContext(), results);
}

FailureOr<RuleContext::Signature> RuleContext::computation(StringRef attribute) {
  Attribute symbol = attrs.get(attribute);
  if (!symbol) {
    return fail("c0", "attribute '", attribute, "' is missing");
  }
  return computation(symbol, attribute);
}

FailureOr<RuleContext::Signature> RuleContext::computation(Attribute symbol, StringRef role) {
  auto reference = dyn_cast_if_present<FlatSymbolRefAttr>(symbol);
  if (!reference) {
    return fail("c0", role, " must name a computation");
  }
  ComputationOp called = lookup(reference.getValue());
  if (!called) {
    return fail("c0", role, ": there is no computation '", reference.getValue(), "'");
  }
  auto typeAttr = called->getAttrOfType<TypeAttr>("function_type");
  auto type = typeAttr ? dyn_cast<FunctionType>(typeAttr.getValue()) : FunctionType();
  if (!type) {
    return fail("c0", role, ": computation '", reference.getValue(), "' has no signature");
  }
  calledGivesTuple |= type.getNumResults() == 1 && isa<TupleType>(type.getResult(0));
  return Signature{reference.getValue(), called.getLoc(), SmallVector<Type>(type.getInputs()),
                   SmallVector<Type>(type.getResults())};
}

LogicalResult checkScalarComputation(RuleContext &context, StringRef label, StringRef role,
                                     const RuleContext::Signature &called,
                                     ArrayRef<Type> parameterElements,
                                     ArrayRef<Type> resultElements, Precision precision) {
  auto fail = [&](const auto &...parts) -> LogicalResult {
    InFlightDiagnostic diagnostic = context.fail(label, role, " '", called.name, "' ", parts...);
    diagnostic.attachNote(called.loc) << "computation '" << called.name << "' is defined here";
    return diagnostic;
  };
  if (called.parameters.size() != parameterElements.size()) {
    return fail("takes ", called.parameters.size(), " parameters, ", parameterElements.size(),
                " are given");
  }
  bool good = true;
  for (auto [i, parameter, element] : llvm::enumerate(called.parameters, parameterElements)) {
    if (!sameShape(parameter, scalarType(element), precision)) {
      good = succeeded(fail("takes ", parameter, " as parameter ", i, ", ",
                            Type(scalarType(element)), " is given"));
    }
  }
  SmallVector<Type> results = leafTypes(called.results);
  if (results.size() != resultElements.size()) {
    return fail("gives ", called.result(), ", expected ", resultElements.size(),
                resultElements.size() == 1 ? " scalar" : " scalars");
  }
  for (auto [i, result, element] : llvm::enumerate(results, resultElements)) {
    if (!sameShape(result, scalarType(element), precision)) {
      good = succeeded(
          fail("gives ", result, " as result ", i, ", expected ", Type(scalarType(element))));
    }
  }
  return success(good);
}

//===----------------------------------------------------------------------===//
// Result
//===----------------------------------------------------------------------===//

Type RuleContext::writtenType() const {
  if (parsing) {
    return Type();
  }
  if (written.size() == 1) {
    return written.front();
  }
  return TupleType::get(attrs.getContext(), written);
}

FailureOr<Type> RuleContext::requiredWritten() {
  if (Type type = writtenType()) {
    return type;
  }
  return fail("c0", "the result shape does not follow from the operands and must be written");
}

FailureOr<RankedTensorType> RuleContext::requiredWrittenArray() {
  FailureOr<Type> type = requiredWritten();
  if (mlir::failed(type)) {
    return failure();
  }
  if (RankedTensorType array = asArray(*type)) {
    return array;
  }
  return fail("c0", "the result must be an array, is ", *type);
}

//===----------------------------------------------------------------------===//
// Helpers that families share
//===----------------------------------------------------------------------===//

RankedTensorType withElement(RankedTensorType array, Type element) {
  return RankedTensorType::get(array.getShape(), element, array.getEncoding());
}

bool sizesAgree(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

bool sameDims(RankedTensorType a, RankedTensorType b) {
  return a.getRank() == b.getRank() &&
         llvm::all_of(llvm::zip(a.getShape(), b.getShape()),
                      [](auto pair) { return sizesAgree(std::get<0>(pair), std::get<1>(pair)); });
}

LogicalResult checkDimensions(RuleContext &context, StringRef label, StringRef what,
                              ArrayRef<int64_t> dimensions, int64_t rank) {
  // Not a DenseSet, which reserves two keys.
  std::set<int64_t> seen;
  bool good = true;
  for (int64_t dim : dimensions) {
    if (dim < 0 || dim >= rank) {
      context.fail(label, what, " holds ", dim, ", the rank is ", rank);
      good = false;
    } else if (!seen.insert(dim).second) {
      context.fail(label, what, " holds ", dim, " twice");
      good = false;
    }
  }
  return success(good);
}

Type tupleUnlessSingle(ArrayRef<Type> types) {
  return types.size() == 1 ? types.front() : TupleType::get(types.front().getContext(), types);
}

/// (n - 1) * dilation + 1, and 0 for 0.
static bool dilatedOverflow(int64_t size, int64_t dilation, int64_t &result) {
  if (size == 0) {
    result = 0;
    return false;
  }
  return llvm::SubOverflow(size, int64_t{1}, result) ||
         llvm::MulOverflow(result, dilation, result) ||
         llvm::AddOverflow(result, int64_t{1}, result);
}

std::optional<int64_t> windowOutput(int64_t size, WindowAttr window, int64_t d) {
  if (ShapedType::isDynamic(size)) {
    return size;
  }
  int64_t padded = 0, dilatedWindow = 0;
  if (dilatedOverflow(size, window.getBaseDilations()[d], padded) ||
      llvm::AddOverflow(padded, window.getPadLow()[d], padded) ||
      llvm::AddOverflow(padded, window.getPadHigh()[d], padded) ||
      dilatedOverflow(window.getSize()[d], window.getWindowDilations()[d], dilatedWindow)) {
    return std::nullopt;
  }
  if (padded < dilatedWindow || padded <= 0) {
    return 0;
  }
  return (padded - dilatedWindow) / window.getStrides()[d] + 1;
}

LogicalResult checkWindow(RuleContext &context, StringRef label, WindowAttr window, int64_t rank) {
  if (!window) {
    if (rank == 0) {
      return success();
    }
    return context.fail(label, "window has rank 0, expected ", rank);
  }
  for (ArrayRef<int64_t> values :
       {window.getSize(), window.getStrides(), window.getPadLow(), window.getPadHigh(),
        window.getBaseDilations(), window.getWindowDilations(), window.getReversal()}) {
    if (static_cast<int64_t>(values.size()) != rank) {
      return context.fail(label, "window has rank ", values.size(), ", expected ", rank);
    }
  }
  bool good = true;
  auto positive = [&](StringRef what, ArrayRef<int64_t> values) {
    for (auto [d, value] : llvm::enumerate(values)) {
      if (value < 1) {
        context.fail(label, "window ", what, " of dimension ", d, " is ", value,
                     ", must be positive");
        good = false;
      }
    }
  };
  positive("size", window.getSize());
  positive("stride", window.getStrides());
  positive("lhs_dilate", window.getBaseDilations());
  positive("rhs_dilate", window.getWindowDilations());
  return success(good);
}

} // namespace hlo

//===- ScalarComputations.cpp - Reducers and comparators that expanders need ===//
//
// Each computation is made at the start of the module when it is first needed, with a unique name.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

FlatSymbolRefAttr ScalarComputations::get(StringRef name, ArrayRef<Type> elements,
                                          function_ref<Value(HloBuilder &, ValueRange)> build) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << name;
  SmallVector<Type> parameters;
  for (Type element : elements) {
    os << '.' << element;
    parameters.append(2, RankedTensorType::get({}, element));
  }
  for (char &c : key) {
    c = c == '<' || c == '>' ? '_' : c;
  }
  FlatSymbolRefAttr &symbol = made[key];
  if (symbol) {
    return symbol;
  }
  std::string unique = key;
  for (int suffix = 1; SymbolTable::lookupSymbolIn(module, unique); ++suffix) {
    unique = key + "." + std::to_string(suffix);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location loc = NameLoc::get(builder.getStringAttr(unique));
  auto computation =
      ComputationOp::create(builder, loc, unique, builder.getFunctionType(parameters, {}));
  Block &block = computation.getBody().emplaceBlock();
  block.addArguments(parameters, SmallVector<Location>(parameters.size(), loc));
  builder.setInsertionPointToStart(&block);
  HloBuilder b(builder, loc);
  Value root = build(b, block.getArguments());
  ReturnOp::create(builder, loc, root);
  computation.setFunctionType(builder.getFunctionType(parameters, root.getType()));
  symbol = FlatSymbolRefAttr::get(builder.getContext(), unique);
  return symbol;
}

FlatSymbolRefAttr ScalarComputations::comparator(StringRef direction, Type element, Type other) {
  StringRef kind = isa<FloatType>(element) ? "TOTALORDER" : "";
  return get(("compare_" + direction).str(), {element, other},
             [&](HloBuilder &b, ValueRange arguments) {
               return b.compare(arguments[0], arguments[1], direction, kind);
             });
}

//===- Control.cpp - Rules of control flow, calls, tuples -----------------===//
#include "dialect/stablehlo/rules/Region.h"

using namespace mlir;
using namespace stablehlo;

static bool isScalarOf(Type type, unsigned kind) {
  RankedTensorType array = arrayOf(type);
  return array && array.getRank() == 0 && kindOf(array.getElementType()) == kind;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

static void ifOp(Check &check) {
  check.require(isScalarOf(check.operandType(0), Pred), "i1", "pred is ", check.operandType(0),
                ", expected tensor<i1>");
}
static void ifBranches(Check &check) {
  auto op = cast<IfOp>(check.getOp());
  checkBranch(check, "c1", "c3", op.getTrueBranch(), "the true branch");
  checkBranch(check, "c1", "c2", op.getFalseBranch(), "the false branch");
}

static void caseOp(Check &check) {
  RankedTensorType index = check.operand(0);
  check.require(index.getRank() == 0 && index.getElementType().isSignlessInteger(32), "i1",
                "index is ", index, ", expected tensor<i32>");
  check.require(check->getNumRegions() > 0, "c1", "there are no branches");
}
static void caseBranches(Check &check) {
  for (auto [i, region] : llvm::enumerate(check->getRegions())) {
    checkBranch(check, "c2", i == 0 ? "c4" : "c3", region, "branch " + std::to_string(i));
  }
}

static void whileOp(Check &check) {
  if (!check.require(check->getNumOperands() == check->getNumResults(), "c3", "there are ",
                     check->getNumOperands(), " operands and ", check->getNumResults(),
                     " results")) {
    return;
  }
  for (auto [operand, result] :
       llvm::zip_equal(check->getOperandTypes(), check->getResultTypes())) {
    check.require(typesAgree(operand, result), "c3", "an operand is ", operand, ", its result ",
                  result);
  }
}
static void whileRegions(Check &check) {
  auto op = cast<WhileOp>(check.getOp());
  checkArguments(check, "c1", op.getCond(), "cond", check->getOperandTypes());
  checkReturned(check, "c1", op.getCond(), "cond", predicateType(op.getContext()));
  checkArguments(check, "c2", op.getBody(), "body", check->getOperandTypes());
  checkReturned(check, "c2", op.getBody(), "body", check->getOperandTypes());
}

static bool allAgree(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](const auto &pair) {
           return typesAgree(std::get<0>(pair), std::get<1>(pair));
         });
}

static void optimizationBarrier(Check &check) {
  check.require(allAgree(check->getOperandTypes(), check->getResultTypes()), "c1",
                "the types of the operands and of the results differ");
}

//===----------------------------------------------------------------------===//
// Futures
//===----------------------------------------------------------------------===//

static void asyncStart(Check &check) {
  auto op = cast<AsyncStartOp>(check.getOp());
  std::optional<ValueRange> values = returned(check, "c1", op.getBody(), "the body");
  if (!values) {
    return;
  }
  Block &block = op.getBody().front();
  if (!check.require(llvm::hasNItems(block, 2), "c1", "the body must be one op and a return")) {
    return;
  }
  Operation &inner = block.front();
  bool allowed = isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectivePermuteOp, ReduceScatterOp,
                     CollectiveBroadcastOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp>(inner);
  check.require(allowed, "c2", "the body has ", inner.getName(),
                ", expected a collective or a slice");
  checkArguments(check, "c3", op.getBody(), "the body", check->getOperandTypes());
  check.require(llvm::equal(inner.getOperands(), block.getArguments()), "c3",
                "the op in the body must take the body's arguments in order");
  ArrayRef<Type> promised = cast<FutureType>(check.resultType(0)).getTypes();
  check.require(llvm::equal(values->getTypes(), promised) &&
                    llvm::equal(inner.getResults(), *values),
                "c4", "the result is ", check.resultType(0), ", the body returns other types");
}

static void asyncDone(Check &check) {
  ArrayRef<Type> types = cast<FutureType>(check.operandType(0)).getTypes();
  check.require(llvm::equal(types, check->getResultTypes()), "c1", "the operand is ",
                check.operandType(0), ", the result ", check.resultType(0));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A `function` in a module around the op, by its signature; null if there is none.
static FunctionType functionType(Operation *from, FlatSymbolRefAttr symbol) {
  Operation *function = SymbolTable::lookupNearestSymbolFrom(from, symbol.getAttr());
  auto type = function ? function->getAttrOfType<TypeAttr>("function_type") : TypeAttr();
  return type ? dyn_cast<FunctionType>(type.getValue()) : FunctionType();
}

static void composite(Check &check) {
  auto op = cast<CompositeOp>(check.getOp());
  StringRef name = op.getName();
  auto [space, rest] = name.split('.');
  auto isWord = [](StringRef text, StringRef more) {
    return !text.empty() && (llvm::isAlpha(text.front()) || text.front() == '_') &&
           llvm::all_of(text,
                        [&](char c) { return llvm::isAlnum(c) || c == '_' || more.contains(c); });
  };
  check.require(isWord(space, "$") && isWord(rest, "$."), "c1", "name is '", name,
                "', expected a name with a dialect, such as chlo.top_k");
  FunctionType type = functionType(op, op.getDecompositionAttr());
  if (!check.require(type != nullptr, "c2", "there is no function '", op.getDecomposition(), "'")) {
    return;
  }
  auto same = [&](StringRef label, StringRef what, TypeRange types, TypeRange expected) {
    check.require(allAgree(types, expected), label, "the types of the ", what,
                  " differ from those of '", op.getDecomposition(), "', ", type);
  };
  same("c3", "inputs", op.getInputs().getTypes(), type.getInputs());
  same("c4", "results", op->getResultTypes(), type.getResults());
}

/// Layouts are permutations of the dimensions, one for each value.
static void checkLayouts(Check &check, StringRef what, TypeRange types, ArrayAttr layouts) {
  if (!check.require(types.size() == layouts.size(), "layouts", "there are ", layouts.size(),
                     " layouts of ", types.size(), " ", what)) {
    return;
  }
  for (auto [i, type, attribute] : llvm::enumerate(types, layouts)) {
    auto layout = cast<DenseIntElementsAttr>(attribute);
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank()) {
      check.require(shaped || (layout.empty() && !isa<TupleType>(type)), "layouts", "value ", i,
                    " of the ", what, " is ", type, ", which has no layout");
      continue;
    }
    std::string name = "a layout of the " + what.str();
    if (check.hasSize("layouts", name, layout.getNumElements(), shaped.getRank())) {
      SmallVector<int64_t> order = llvm::map_to_vector(
          layout.getValues<APInt>(), [](const APInt &entry) { return entry.getSExtValue(); });
      check.inRange("layouts", name, order, shaped.getRank());
      check.unique("layouts", name, order);
    }
  }
}

/// The part of a type that indices of nested tuples name; null if there is none.
static Type partOf(Type type, ArrayRef<int64_t> indices) {
  for (int64_t index : indices) {
    auto tuple = dyn_cast_if_present<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size())) {
      return nullptr;
    }
    type = tuple.getType(index);
  }
  return type;
}

static void customCall(Check &check) {
  auto op = cast<CustomCallOp>(check.getOp());
  std::optional<ArrayAttr> operands = op.getOperandLayouts(), results = op.getResultLayouts();
  TypeRange resultTypes = op->getResultTypes();
  auto tuple = resultTypes.size() == 1 ? dyn_cast<TupleType>(resultTypes[0]) : TupleType();
  if (check.require(operands.has_value() == results.has_value(), "layouts",
                    "layouts are given for operands and results, or for neither") &&
      operands) {
    checkLayouts(check, "operands", op.getInputs().getTypes(), *operands);
    checkLayouts(check, "results", tuple ? TypeRange(tuple.getTypes()) : resultTypes, *results);
  }
  Type all =
      resultTypes.size() == 1 ? resultTypes[0] : TupleType::get(op.getContext(), resultTypes);
  for (Attribute attribute : op.getOutputOperandAliases()) {
    auto alias = cast<OutputOperandAliasAttr>(attribute);
    int64_t index = alias.getOperandIndex();
    if (!check.inRange("i7", "operand_index of an alias", index, op.getInputs().size())) {
      continue;
    }
    Type operand = partOf(check.operandType(index), alias.getOperandTupleIndices());
    Type output = partOf(all, alias.getOutputTupleIndices());
    if (check.require(operand && output, "i7", "an alias names a part that does not exist")) {
      check.require(operand == output, "i7", "an operand of type ", operand,
                    " is the buffer of a result of type ", output);
    }
  }
  if (std::optional<Attribute> config = op.getBackendConfig()) {
    bool typed = op.getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI;
    check.require(isa<DictionaryAttr>(*config) == typed, "i4", "backend_config must be a ",
                  typed ? "dictionary" : "string", " with ",
                  stringifyCustomCallApiVersion(op.getApiVersion()));
  }
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

static void tuple(Check &check) {
  ArrayRef<Type> types = cast<TupleType>(check.resultType(0)).getTypes();
  check.require(allAgree(types, check->getOperandTypes()), "c1", "the result is ",
                check.resultType(0), ", the operands have other types");
}

static void getTupleElement(Check &check) {
  auto op = cast<GetTupleElementOp>(check.getOp());
  TupleType type = op.getOperand().getType();
  int64_t index = op.getIndexAttr().getValue().getSExtValue();
  if (check.inRange("c1", "index", index, type.size())) {
    check.require(typesAgree(type.getType(index), check.resultType(0)), "c2", "element ", index,
                  " is ", type.getType(index), ", the result ", check.resultType(0));
  }
}

ArrayRef<Row> stablehlo::controlRows() {
  static constexpr unsigned pred[] = {Pred};
  static constexpr unsigned index[] = {SInt};
  static constexpr unsigned any[] = {AnyQuant};
  static constexpr unsigned plain[] = {Any};
  static constexpr unsigned free[] = {0};
  static const Row rows[] = {
      {"async_done", {}, Any, asyncDone},
      {"async_start", any, 0, nullptr, asyncStart},
      {"case", index, AnyQuant, caseOp, caseBranches},
      {"composite", any, AnyQuant, composite},
      {"custom_call", free, 0, customCall},
      {"get_tuple_element", {}, AnyQuant, getTupleElement},
      {"if", pred, AnyQuant, ifOp, ifBranches},
      {"optimization_barrier", plain, Any, optimizationBarrier},
      {"tuple", any, 0, tuple},
      {"while", any, AnyQuant, whileOp, whileRegions},
  };
  return rows;
}

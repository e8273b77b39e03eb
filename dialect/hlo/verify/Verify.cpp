//===- Verify.cpp - Checks of one op --------------------------------------===//
//
// Each instruction is checked by its opcode's rule (Rule.h), which computes the shape from the
// operands and attributes; the written shape must equal it. Layouts are ignored: they do not change
// which elements an array has.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"
#include "dialect/hlo/verify/SymbolCache.h"

using namespace mlir;

namespace hlo {

/// Null if the context has not loaded the dialect: a module without our ops.
static const SymbolCache *cacheOf(MLIRContext *context) {
  Dialect *dialect = context->getLoadedDialect<HloDialect>();
  return dialect ? dialect->getRegisteredInterface<SymbolCache>() : nullptr;
}

SymbolScope::SymbolScope(ModuleOp module) : table(module), cache(cacheOf(module.getContext())) {
  if (cache) {
    cache->symbols = &*table;
  }
}

SymbolScope::SymbolScope(const SymbolTable &given) : cache(cacheOf(given.getOp()->getContext())) {
  if (cache) {
    cache->symbols = &given;
  }
}

SymbolScope::~SymbolScope() {
  if (cache) {
    cache->symbols = nullptr;
  }
}

Operation *findSymbol(Operation *op, StringAttr name) {
  const SymbolCache *cache = cacheOf(op->getContext());
  return cache && cache->symbols ? cache->symbols->lookup(name)
                                 : SymbolTable::lookupNearestSymbolFrom(op, name);
}

/// True for opcodes that only forward values, or return the results of their computation, so that
/// even the precision must agree.
static bool forwardsData(StringRef opName) {
  return shapeRule(opName) || indexRule(opName) || controlRule(opName) || collectiveRule(opName) ||
         llvm::is_contained({"hlo.sort", "hlo.topk", "hlo.map", "hlo.scan", "hlo.infeed",
                             "hlo.outfeed", "hlo.recv", "hlo.recv_done", "hlo.send",
                             "hlo.send_done"},
                            opName);
}

/// Checks the results against the rule's shape. Both one tuple result and its flattened leaves are
/// accepted.
static void checkResults(RuleContext &context, TypeRange written, Type inferred, StringRef opName) {
  Precision precision = forwardsData(opName) ? Precision::exact : Precision::anyFloat;
  if (written.size() == 1 && sameShape(written.front(), inferred, precision)) {
    return;
  }
  if (!context.isFlattened()) {
    // A flattened op may have a single leaf by chance; an op that takes or returns tuples is not
    // flattened.
    SmallVector<Type> leaves = leafTypes(inferred);
    bool mayBeFlattened = opName != "hlo.tuple" && !context.passesTuples();
    if (mayBeFlattened && leaves.size() == 1 && isa<TupleType>(inferred) &&
        sameShape(written.front(), leaves.front(), precision)) {
      return;
    }
    context.fail("c0", "the written shape is ", written.front(), ", the operands ask for ",
                 inferred);
    return;
  }
  SmallVector<Type> leaves = leafTypes(inferred), results = leafTypes(written);
  bool same =
      leaves.size() == results.size() && llvm::all_of(llvm::zip(leaves, results), [&](auto pair) {
        return sameShape(std::get<0>(pair), std::get<1>(pair), precision);
      });
  if (!same) {
    context.fail("c0", "the written shape is ", context.writtenType(), ", the operands ask for ",
                 inferred);
  }
}

/// True if a tuple consists of the operands' types, which were checked where they were made: nested
/// tuples need not be visited again at each level.
static bool isOfOperands(Operation *op, Type type) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    return false;
  }
  if (llvm::is_contained(op->getOperands().take_front(4).getTypes(), type)) {
    return true;
  }
  if (isa<TupleOp>(op)) {
    return TypeRange(tuple.getTypes()) == TypeRange(op->getOperandTypes());
  }
  if (auto element = dyn_cast<GetTupleElementOp>(op)) {
    auto whole = dyn_cast<TupleType>(element.getOperand().getType());
    int64_t index = element.getIndex();
    return whole && index >= 0 && index < static_cast<int64_t>(whole.size()) &&
           whole.getType(index) == type;
  }
  return false;
}

/// Checks a type by itself: sizes, their product, and the layout.
static void checkType(RuleContext &context, Type type) {
  for (Type leaf : leafTypes(type)) {
    if (auto buffer = dyn_cast<BufferType>(leaf)) {
      leaf = buffer.getArray();
    }
    RankedTensorType array = asArray(leaf);
    if (!array) {
      continue;
    }
    std::string problem = shapeProblem(array);
    if (!problem.empty()) {
      context.fail("c0", problem);
    }
  }
}

/// A fusion contains its computation or names it; a contained one must take the operands and return
/// the results.
static void checkRegion(RuleContext &context, Operation *op) {
  bool hasRegion = op->getNumRegions() == 1 && !op->getRegion(0).empty();
  if (hasRegion == op->hasAttr("calls")) {
    context.fail("c2",
                 hasRegion ? "has both a region and 'calls'" : "has neither a region nor 'calls'");
    return;
  }
  if (!hasRegion) {
    return;
  }
  Region &region = op->getRegion(0);
  if (!region.hasOneBlock()) {
    context.fail("c2", "the region must have one block");
    return;
  }
  Block &block = region.front();
  auto sameTypes = [](TypeRange a, TypeRange b) {
    return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
             return sameShape(std::get<0>(pair), std::get<1>(pair));
           });
  };
  auto tupleOf = [&](TypeRange types) -> Type { return TupleType::get(op->getContext(), types); };
  if (!sameTypes(block.getArgumentTypes(), op->getOperandTypes())) {
    context.fail("c1", "the region takes ", tupleOf(block.getArgumentTypes()),
                 ", the operands are ", tupleOf(op->getOperandTypes()));
  }
  auto root = block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
  if (!root) {
    context.fail("c2", "the region must end in hlo.return");
  } else if (!sameTypes(root->getOperandTypes(), op->getResultTypes())) {
    context.fail("c5", "the region gives ", tupleOf(root->getOperandTypes()), ", the results are ",
                 tupleOf(op->getResultTypes()));
  }
}

LogicalResult verifyOp(Operation *op) {
  StringRef opName = op->getName().getStringRef();
  Rule rule = findRule(opName);
  if (!rule) {
    return success();
  }
  auto lookup = [op](StringRef name) {
    return findSymbol<ComputationOp>(op, StringAttr::get(op->getContext(), name));
  };
  // Not emitOpError: messages carry the opcode, and the op need not be printed.
  auto emitError = [op] { return mlir::emitError(op->getLoc()); };
  RuleContext context(opName, op->getOperands(), op->getAttrDictionary(), op->getResultTypes(),
                      lookup, emitError);
  for (Type type : op->getResultTypes()) {
    if (!isOfOperands(op, type)) {
      checkType(context, type);
    }
  }
  // Shapes in attributes: outfeed_shape, operand_layout_constraints.
  for (NamedAttribute attribute : op->getAttrs()) {
    if (isa<TypeAttr, ArrayAttr>(attribute.getValue())) {
      attribute.getValue().walk([&](TypeAttr shape) { checkType(context, shape.getValue()); });
    }
  }
  if (context.hasFailed()) {
    return failure();
  }
  FailureOr<Type> inferred = rule(context);
  if (context.hasFailed() || failed(inferred)) {
    return failure();
  }
  if (isa<FusionOp>(op)) {
    checkRegion(context, op);
  }
  checkResults(context, op->getResultTypes(), *inferred, opName);
  return failure(context.hasFailed());
}

} // namespace hlo

//===- Converter.cpp - StableHLO ops to hlo ops ---------------------------===//
//
// In: a verified module of functions. Out: the module that the parser makes of HLO text.
//
//   func.func                  one computation for each that the entry reaches, callees first
//   a region                   a computation; what it uses from outside becomes a parameter
//   constants used in regions  are copied into the computation, as XLA does
//   N results                  a tuple and its elements
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Converter.h"
#include "compiler/parser/AttributeText.h"
#include "compiler/stablehlo/Annotations.h"
#include "compiler/stablehlo/Functions.h"
#include "compiler/stablehlo/Places.h"
#include "compiler/stablehlo/Rules.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

/// Errors of one kind that are shown.
constexpr unsigned kMostErrors = 20;

class Converter::Scope {
public:
  explicit Scope(Converter &converter)
      : block(std::make_unique<Block>()), converter(converter), guard(converter.builder),
        outer(converter.values), outerLocation(converter.location) {
    converter.values = &values;
    converter.builder.setInsertionPointToEnd(block.get());
  }
  ~Scope() {
    converter.values = outer;
    converter.location = outerLocation;
  }

  std::unique_ptr<Block> block;
  llvm::DenseMap<Value, Value> values;

private:
  Converter &converter;
  OpBuilder::InsertionGuard guard;
  llvm::DenseMap<Value, Value> *outer;
  Location outerLocation;
};

Converter::Converter(ModuleOp source, const Budget &budget)
    : context(source.getContext()), builder(context), location(UnknownLoc::get(context)),
      source(source), types(budget) {}

//===----------------------------------------------------------------------===//
// Values and types
//===----------------------------------------------------------------------===//

Value Converter::get(Value value) {
  if (Value known = values->lookup(value)) {
    return known;
  }
  // Only constants are used across regions without being parameters.
  Operation *constant = value.getDefiningOp();
  assert(constant && "a value that no scope has");
  Location outer = location;
  (void)convertOp(constant);
  location = outer;
  return values->lookup(value);
}

Values Converter::get(ValueRange sources) {
  return llvm::map_to_vector(sources, [&](Value value) { return get(value); });
}

Type Converter::type(Type source) {
  std::string why;
  Type converted = types.convert(source, why);
  assert(converted && "types were checked");
  return converted;
}

Type Converter::joined(TypeRange sources) {
  if (sources.size() == 1) {
    return type(sources.front());
  }
  return TupleType::get(context,
                        llvm::map_to_vector(sources, [&](Type each) { return type(each); }));
}

Value Converter::create(StringRef name, Type result, ValueRange operands,
                        ArrayRef<NamedAttribute> attributes) {
  OperationState state(location, name, operands, TypeRange(result), attributes);
  return builder.create(state)->getResult(0);
}

Value Converter::tuple(ValueRange parts) {
  return create("hlo.tuple", TupleType::get(context, llvm::to_vector(parts.getTypes())), parts);
}

Value Converter::element(Value tuple, int64_t index) {
  return create("hlo.get_tuple_element", cast<TupleType>(tuple.getType()).getType(index), tuple,
                integer("index", index));
}

Values Converter::elements(Value tuple, size_t count) {
  return llvm::map_to_vector(llvm::seq<size_t>(0, count),
                             [&](size_t index) { return element(tuple, index); });
}

Value Converter::packed(ValueRange parts) {
  return parts.size() == 1 ? parts.front() : tuple(parts);
}

Values Converter::unpacked(Value value, size_t count) {
  return count == 1 ? Values{value} : elements(value, count);
}

LogicalResult Converter::bind(Operation *op, Value value) {
  return bind(op, ValueRange(unpacked(value, op->getNumResults())));
}

LogicalResult Converter::bind(Operation *op, ValueRange parts) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), parts)) {
    (*values)[result] = value;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string Converter::uniqueName(StringRef stem) {
  std::string name = identifierText(stem);
  // A stem may itself end in a number: "x" and "x.1" must not both give "x.1".
  unsigned &count = stems[name];
  std::string full;
  do {
    full = name + "." + std::to_string(++count);
  } while (stems.contains(full));
  stems.try_emplace(full, 0);
  return full;
}

Location Converter::makeLocation(StringRef stem, Location at) {
  return NameLoc::get(builder.getStringAttr(uniqueName(stem)), placeOf(at));
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

ComputationOp Converter::finish(Scope &scope, StringRef stem, Location at, Value root) {
  Operation *producer = root.getDefiningOp();
  ReturnOp::create(builder, producer ? producer->getLoc() : cast<BlockArgument>(root).getLoc(),
                   root);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(result->getBody());
  Location named = makeLocation(stem, at);
  auto computation = ComputationOp::create(
      builder, named, cast<NameLoc>(named).getName().getValue(),
      builder.getFunctionType(scope.block->getArgumentTypes(), root.getType()));
  computation.getBody().push_back(scope.block.release());
  return computation;
}

FailureOr<Values> Converter::inlineBlock(Block &block, ValueRange arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments)) {
    (*values)[argument] = value;
  }
  for (Operation &op : block.without_terminator()) {
    if (failed(convertOp(&op))) {
      return failure();
    }
  }
  return get(block.getTerminator()->getOperands());
}

void Converter::capture(Region &region, Captures &captures) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(region, used);
  for (Value value : used) {
    if (!isa_and_nonnull<stablehlo::ConstantOp>(value.getDefiningOp())) {
      captures.insert(value);
    }
  }
}

/// A name for the computation of a region: "reduce_body".
static std::string regionStem(Region &region) {
  Operation *op = region.getParentOp();
  std::string stem = op->getName().stripDialect().str();
  return op->getNumRegions() == 1 ? stem + "_body"
                                  : stem + "_region_" + std::to_string(region.getRegionNumber());
}

Computation Converter::computation(Region &region, StringRef stem) {
  Captures captures;
  capture(region, captures);
  if (!captures.empty()) {
    InFlightDiagnostic diagnostic = region.getParentOp()->emitOpError()
                                    << "uses a value from outside in its region, which must "
                                       "compute with its arguments and constants alone";
    diagnostic.attachNote(captures.front().getLoc()) << "the value";
    return failure();
  }
  Scope scope(*this);
  for (BlockArgument argument : region.getArguments()) {
    scope.block->addArgument(type(argument.getType()), makeLocation("p", argument.getLoc()));
  }
  FailureOr<Values> roots = inlineBlock(region.front(), scope.block->getArguments());
  if (failed(roots)) {
    return failure();
  }
  Value root = packed(*roots);
  std::string named = stem.empty() ? regionStem(region) : stem.str();
  return FlatSymbolRefAttr::get(finish(scope, named, region.getLoc(), root).getSymNameAttr());
}

Computation Converter::tupleComputation(Region &region, const Captures &captures, bool passesOn) {
  Scope scope(*this);
  location = makeLocation("p", region.getLoc());
  Values sources(region.getArguments());
  sources.append(captures.begin(), captures.end());
  SmallVector<Type> parts =
      llvm::map_to_vector(sources, [&](Value each) { return type(each.getType()); });
  BlockArgument parameter = scope.block->addArgument(TupleType::get(context, parts), location);
  Values given = elements(parameter, sources.size());
  for (auto [source, value] : llvm::zip_equal(sources, given)) {
    (*values)[source] = value;
  }
  FailureOr<Values> roots =
      inlineBlock(region.front(), ValueRange(given).take_front(region.getNumArguments()));
  if (failed(roots)) {
    return failure();
  }
  if (passesOn) {
    for (Value each : captures) {
      roots->push_back(get(each));
    }
  }
  location = makeLocation("tuple", region.getLoc());
  Value root = passesOn ? tuple(*roots) : packed(*roots);
  return FlatSymbolRefAttr::get(
      finish(scope, regionStem(region), region.getLoc(), root).getSymNameAttr());
}

Computation Converter::function(Operation *user, StringRef name) {
  if (FlatSymbolRefAttr known = functions.lookup(name)) {
    return known;
  }
  return user->emitOpError() << "there is no function @" << name;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Converter::convertOp(Operation *op) {
  Origin origin = originOf(op->getLoc());
  bool isNamed = !origin.step().empty() && !isa<stablehlo::ConstantOp>(op);
  location = makeLocation(isNamed ? origin.step() : op->getName().stripDialect(), op->getLoc());
  Block *block = builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  if (failed(Rules::get().find(op)(*this, op))) {
    return failure();
  }
  Operation *first = before ? before->getNextNode() : block->empty() ? nullptr : &block->front();
  return annotate(op, first);
}

/// Gives the ops made from `op`, from `first` on, what the text says of it.
LogicalResult Converter::annotate(Operation *op, Operation *first) {
  Operation *main = nullptr;
  std::string metadata = first ? originOf(op->getLoc()).metadata() : "";
  for (Operation *made = first; made; made = made->getNextNode()) {
    if (!metadata.empty() && !made->hasAttr("hlo.metadata")) {
      made->setAttr("hlo.metadata", builder.getStringAttr(metadata));
    }
    main = isa<GetTupleElementOp>(made) ? main : made;
  }
  FailureOr<NamedAttrList> annotations =
      annotationsOf(op->getDiscardableAttrDictionary(), op->getLoc());
  if (failed(annotations)) {
    return failure();
  }
  for (NamedAttribute attribute : *annotations) {
    if (main && !main->hasAttr(attribute.getName())) {
      main->setAttr(attribute.getName(), attribute.getValue());
    }
  }
  return success();
}

LogicalResult Converter::checkTypes(Operation *op) {
  auto check = [&](Type each, Location at) {
    std::string why;
    if (types.convert(each, why)) {
      return true;
    }
    mlir::emitError(placeOf(at)) << op->getName().getStringRef() << ": " << why;
    return false;
  };
  for (OpResult each : op->getResults()) {
    if (!check(each.getType(), op->getLoc())) {
      return failure();
    }
  }
  for (Region &region : op->getRegions()) {
    for (BlockArgument argument : region.getArguments()) {
      if (!check(argument.getType(), argument.getLoc())) {
        return failure();
      }
    }
  }
  return success();
}

/// Reports what has no rule or no type in HLO, so that rules need not.
LogicalResult Converter::checkOps(func::FuncOp function) {
  unsigned errors = 0;
  function.walk([&](Operation *op) {
    bool isKnown =
        op == function || op->hasTrait<mlir::OpTrait::IsTerminator>() || Rules::get().find(op);
    if (!isKnown) {
      op->emitError() << "no conversion of '" << op->getName().getStringRef() << "' to HLO";
    }
    for (Region &region : op->getRegions()) {
      if (isKnown && !region.empty() && !region.hasOneBlock()) {
        op->emitError() << "'" << op->getName().getStringRef()
                        << "' has several blocks in a region";
        isKnown = false;
      }
    }
    errors += !isKnown || failed(checkTypes(op));
    return errors < kMostErrors ? WalkResult::advance() : WalkResult::interrupt();
  });
  return success(errors == 0);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult Converter::convertFunction(func::FuncOp function, bool isEntry) {
  Scope scope(*this);
  for (BlockArgument argument : function.getArguments()) {
    StringRef stem = "p";
    Origin origin = originOf(argument.getLoc());
    scope.block->addArgument(
        type(argument.getType()),
        makeLocation(origin.name.empty() ? stem : StringRef(origin.name), argument.getLoc()));
  }
  FailureOr<Values> roots = inlineBlock(function.front(), scope.block->getArguments());
  if (failed(roots)) {
    return failure();
  }
  location = makeLocation("result", function.getLoc());
  if (isEntry && failed(markResults(*this, function, *roots))) {
    return failure();
  }
  location = makeLocation("tuple", function.getLoc());
  Value root = packed(*roots);
  ComputationOp made = finish(scope, function.getSymName(), function.getLoc(), root);
  functions[function.getSymName()] = FlatSymbolRefAttr::get(made.getSymNameAttr());
  if (!isEntry) {
    return success();
  }
  made.setEntry(true);
  return annotateEntry(*result, function, made);
}

OwningOpRef<ModuleOp> Converter::convert() {
  func::FuncOp entry = findEntry(source);
  if (!entry) {
    source.emitError() << (source.getOps<func::FuncOp>().empty()
                               ? "the module has no function"
                               : "the module has no function @main, which is its entry");
    return nullptr;
  }
  FailureOr<std::vector<func::FuncOp>> order = callOrder(source, entry);
  if (failed(order)) {
    return nullptr;
  }
  bool valid = true;
  for (func::FuncOp function : *order) {
    valid &= succeeded(checkOps(function));
  }
  if (!valid) {
    return nullptr;
  }
  result = ModuleOp::create(placeOf(source.getLoc()), source.getSymName().value_or("module"));
  for (func::FuncOp function : *order) {
    if (failed(convertFunction(function, function == entry))) {
      return nullptr;
    }
  }
  return std::move(result);
}

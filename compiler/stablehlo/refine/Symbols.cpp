//===- Symbols.cpp - The symbols of a module and their bounds -------------===//
//
// The entry computes each named size from the sizes of its parameters' dimensions d:
//
//   b = d0,  s = d1 - b,  n = floordiv(d2, 4)  and asserts that nothing remains
//
// Solved for the dimensions, in turn: d0 = b, d1 = b + s, d2 = 4*n. A dimension that no name
// explains may be equal to an expression by an assertion; else it is a symbol by itself. Assertions
// of the form a*b + c >= 0 limit the values of b.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Places.h"
#include "compiler/stablehlo/refine/Refiner.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

Symbol *Refiner::findSymbol(StringRef name) {
  auto found = symbolNumbers.find(name);
  return found == symbolNumbers.end() ? nullptr : &symbols[found->second];
}

SizeRange Refiner::rangeOf(StringRef name) const {
  auto found = symbolNumbers.find(name);
  if (found == symbolNumbers.end()) {
    constexpr int64_t most = int64_t(1) << 62;
    return name.starts_with("%f") ? SizeRange{-most, most} : SizeRange{0, INT32_MAX};
  }
  const Symbol &symbol = symbols[found->second];
  return {symbol.low, symbol.bound ? *symbol.bound : symbol.high.value_or(INT32_MAX)};
}

SizeRange Refiner::rangeOf(const SizeExpr &expr) const {
  return expr.range([&](StringRef name) { return rangeOf(name); });
}

std::string refine::dimensionKey(BlockArgument argument, int64_t dim) {
  return "%" + std::to_string(argument.getArgNumber()) + ":" + std::to_string(dim);
}

/// `arg2:0`, which names a dimension of a parameter whatever the parameter's name is.
static std::string plainName(BlockArgument argument, int64_t dim) {
  return "arg" + std::to_string(argument.getArgNumber()) + ":" + std::to_string(dim);
}

/// The name that a flag gives a dimension of a parameter: `x:0`, or `arg2:0` if it has no name.
static std::string dimensionName(BlockArgument argument, int64_t dim) {
  std::string name = stable::originOf(argument.getLoc()).name;
  return name.empty() ? plainName(argument, dim) : name + ":" + std::to_string(dim);
}

using Dimension = std::pair<BlockArgument, int64_t>;

/// The `?` dimensions of the parameters.
static SmallVector<Dimension> unknownDimensions(Block &entry) {
  SmallVector<Dimension> found;
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim) {
      if (type.isDynamicDim(dim)) {
        found.push_back({argument, dim});
      }
    }
  }
  return found;
}

/// The operands of `a == b` or `a >= b`, if an assertion's predicate is that.
static stablehlo::CompareOp assertedCompare(Operation &op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call || call.getCallTargetName() != "shape_assertion" || call->getNumOperands() == 0) {
    return {};
  }
  return call->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
}

static std::string assertionText(Operation &op) {
  auto message = op.getAttrOfType<StringAttr>("error_message");
  return message ? message.str() : "";
}

/// Tries equations in order, and again those with a symbol that another has solved since, as often
/// as some are solved. `solve` tries one and gives the symbol that it has solved, "" for none.
static void solveInTurn(ArrayRef<std::vector<std::string>> symbols,
                        llvm::function_ref<std::string(size_t)> solve) {
  llvm::StringMap<SmallVector<size_t, 2>> readers;
  std::set<size_t> turn, next;
  for (auto [i, own] : llvm::enumerate(symbols)) {
    turn.insert(turn.end(), i);
    for (const std::string &symbol : own) {
      readers[symbol].push_back(i);
    }
  }
  for (; !turn.empty(); turn.swap(next)) {
    while (!turn.empty()) {
      size_t equation = *turn.begin();
      turn.erase(turn.begin());
      std::string solved = solve(equation);
      for (size_t reader : solved.empty() ? SmallVector<size_t, 2>() : readers.lookup(solved)) {
        (reader > equation ? turn : next).insert(reader);
      }
    }
  }
}

LogicalResult Refiner::findSymbols(ArrayRef<std::pair<std::string, Value>> names) {
  Block &entry = main.getBody().front();
  SmallVector<Dimension> dimensions = unknownDimensions(entry);
  llvm::StringSet<> open; // keys of those that are not solved yet
  for (auto [argument, dim] : dimensions) {
    open.insert(dimensionKey(argument, dim));
  }
  for (Operation &op : entry) {
    evaluate(&op);
  }
  auto known = [&](StringRef name) -> const SizeExpr * {
    auto found = solved.find(name);
    return found == solved.end() ? nullptr : &found->second;
  };
  auto solve = [&](const std::string &name, SizeExpr value) {
    solved.insert_or_assign(name, std::move(value));
    open.erase(name);
  };
  // Solves `expr` = 0 for its only open dimension, whose factor must be 1 or -1.
  auto solveZero = [&](const SizeExpr &expr) -> std::string {
    std::vector<std::string> names = expr.symbols();
    llvm::erase_if(names, [&](const std::string &name) { return !open.contains(name); });
    auto parts = names.size() == 1 ? expr.linearIn(names.front()) : std::nullopt;
    if (!parts || (parts->first != 1 && parts->first != -1) || isData(parts->second)) {
      return std::string();
    }
    solve(names.front(), parts->second * SizeExpr(-parts->first));
    return names.front();
  };
  struct Named {
    std::string name;
    Value value;
    bool isDone = false;
  };
  std::vector<Named> left;
  llvm::StringSet<> seen;
  for (const auto &[name, value] : names) {
    if (canTrackScalar(value) && seen.insert(name).second) {
      left.push_back({name, value});
    }
  }
  auto addSymbol = [&](const std::string &name, Value value) {
    symbolNumbers[name] = symbols.size();
    Symbol &symbol = symbols.emplace_back();
    symbol.name = name;
    symbol.value = value;
  };
  std::vector<std::vector<std::string>> inNames;
  for (const Named &named : left) {
    inNames.push_back(elementsOf(named.value).front().symbols());
  }
  solveInTurn(inNames, [&](size_t i) -> std::string {
    Named &named = left[i];
    SizeExpr value =
        named.isDone ? SizeExpr::unknown() : elementsOf(named.value).front().substitute(known);
    if (isData(value)) {
      return "";
    }
    SizeExpr name = SizeExpr::symbol(named.name);
    SizeExpr zero = value - name;
    // floordiv(d + r, k): the assertion that nothing remains is checked at run time.
    if (value.terms().size() == 1 && value.terms()[0].coefficient == 1 &&
        value.terms()[0].factors.size() == 1) {
      const SizeExpr::Atom &atom = *value.terms()[0].factors[0];
      if (atom.kind == SizeExpr::Kind::FloorDiv) {
        zero = atom.a - atom.b * name;
      }
    }
    std::string solvedName = solveZero(zero);
    if (!solvedName.empty()) {
      named.isDone = true;
      addSymbol(named.name, named.value);
    }
    return solvedName;
  });
  // Dimensions that assertions make equal to others.
  std::vector<stablehlo::CompareOp> equal;
  std::vector<std::vector<std::string>> inEqual;
  for (Operation &op : entry) {
    stablehlo::CompareOp compare = assertedCompare(op);
    if (compare && canTrackScalar(compare.getLhs()) &&
        compare.getComparisonDirection() == stablehlo::ComparisonDirection::EQ) {
      equal.push_back(compare);
      inEqual.push_back(
          (elementsOf(compare.getLhs()).front() - elementsOf(compare.getRhs()).front()).symbols());
    }
  }
  solveInTurn(inEqual, [&](size_t i) -> std::string {
    SizeExpr left = elementsOf(equal[i].getLhs()).front().substitute(known);
    SizeExpr right = elementsOf(equal[i].getRhs()).front().substitute(known);
    return isData(left) || isData(right) ? "" : solveZero(left - right);
  });
  for (auto [argument, dim] : dimensions) {
    std::string key = dimensionKey(argument, dim);
    if (!open.contains(key)) {
      continue;
    }
    // A name that expressions can be read with.
    std::string own = dimensionName(argument, dim);
    if (!llvm::all_of(own, [](char c) { return llvm::isAlnum(c) || c == '_' || c == ':'; })) {
      own = plainName(argument, dim);
    }
    addSymbol(own, Value());
    solve(key, SizeExpr::symbol(own));
  }
  for (auto &entry : solved) {
    entry.second = entry.second.substitute(known);
  }
  readAssertions();
  return success();
}

/// Reads limits of single symbols.
void Refiner::readAssertions() {
  using Direction = stablehlo::ComparisonDirection;
  auto known = [&](StringRef name) -> const SizeExpr * {
    auto found = solved.find(name);
    return found == solved.end() ? nullptr : &found->second;
  };
  for (Operation &op : main.getBody().front()) {
    stablehlo::CompareOp compare = assertedCompare(op);
    if (!compare || !canTrackScalar(compare.getLhs()) ||
        (compare.getComparisonDirection() != Direction::GE &&
         compare.getComparisonDirection() != Direction::LE)) {
      continue;
    }
    SizeExpr least = elementsOf(compare.getLhs()).front().substitute(known);
    least = least - elementsOf(compare.getRhs()).front().substitute(known);
    if (compare.getComparisonDirection() == Direction::LE) {
      least = SizeExpr(0) - least;
    }
    std::vector<std::string> names = least.isKnown() ? least.symbols() : std::vector<std::string>();
    Symbol *symbol = names.size() == 1 ? findSymbol(names.front()) : nullptr;
    auto parts = symbol ? least.linearIn(symbol->name) : std::nullopt;
    std::optional<int64_t> rest = parts ? parts->second.constant() : std::nullopt;
    if (!rest || *rest == INT64_MIN) {
      continue;
    }
    // factor * symbol + rest >= 0
    auto [factor, other] = *parts;
    if (factor > 0) {
      int64_t low = -*SizeExpr::floorDiv(SizeExpr(*rest), SizeExpr(factor)).constant();
      if (low > symbol->low) {
        symbol->low = low;
        symbol->lowMessage = assertionText(op);
      }
    } else if (factor != INT64_MIN) {
      int64_t high = *SizeExpr::floorDiv(SizeExpr(*rest), SizeExpr(-factor)).constant();
      symbol->high = symbol->high ? std::min(*symbol->high, high) : high;
    }
  }
}

std::string Refiner::listSymbols() const {
  std::vector<std::string> names;
  for (const Symbol &symbol : symbols) {
    names.push_back(symbol.name);
  }
  return llvm::join(names, ", ");
}

/// Sets the bound of one flag.
LogicalResult Refiner::applyBound(const SizeBound &bound) {
  std::string flag = "--bound=" + bound.name + "<=" + std::to_string(bound.bound);
  Symbol *symbol = findSymbol(bound.name);
  int64_t limit = bound.bound;
  if (!symbol) {
    // A dimension of a parameter: a*b + c <= bound limits b.
    for (BlockArgument argument : main.getBody().front().getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      for (int64_t dim = 0, rank = type ? type.getRank() : 0; dim < rank; ++dim) {
        if (bound.name != dimensionName(argument, dim) && bound.name != plainName(argument, dim)) {
          continue;
        }
        if (!type.isDynamicDim(dim)) {
          return main.emitError() << flag << ": the dimension is " << type.getDimSize(dim)
                                  << " in the program";
        }
        SizeExpr size = solved.find(dimensionKey(argument, dim))->second;
        std::vector<std::string> names = size.symbols();
        auto parts = names.size() == 1 ? size.linearIn(names.front()) : std::nullopt;
        std::optional<int64_t> rest = parts ? parts->second.constant() : std::nullopt;
        if (!rest || parts->first <= 0) {
          return main.emitError() << flag << ": the dimension is " << size.text()
                                  << "; give bounds of " << llvm::join(names, " and ");
        }
        symbol = findSymbol(names.front());
        limit = *(SizeExpr::floorDiv(SizeExpr(limit) - SizeExpr(*rest), SizeExpr(parts->first)))
                     .constant();
      }
    }
  }
  if (!symbol) {
    return main.emitError() << flag << ": the program has no size '" << bound.name
                            << "'; it has: " << listSymbols();
  }
  symbol->bound = symbol->bound ? std::min(*symbol->bound, limit) : limit;
  return success();
}

LogicalResult Refiner::applyBounds() {
  std::optional<int64_t> all;
  for (const SizeBound &bound : bounds) {
    if (bound.name == "all" && !findSymbol("all")) {
      all = all ? std::min(*all, bound.bound) : bound.bound;
    } else if (failed(applyBound(bound))) {
      return failure();
    }
  }
  std::vector<std::string> missing;
  for (Symbol &symbol : symbols) {
    // A bound above the program's own limit stays: the assertion says more than the bound.
    symbol.bound = symbol.bound ? symbol.bound : all ? all : symbol.high;
    if (!symbol.bound) {
      missing.push_back(symbol.name);
      continue;
    }
    if (*symbol.bound < symbol.low) {
      InFlightDiagnostic error = main.emitError()
                                 << "size '" << symbol.name << "' is bounded by " << *symbol.bound
                                 << ", but the program wants at least " << symbol.low;
      if (!symbol.lowMessage.empty()) {
        error.attachNote(main.getLoc()) << symbol.lowMessage;
      }
      return error;
    }
    if (*symbol.bound > INT32_MAX) {
      return main.emitError() << "size '" << symbol.name << "' is bounded by " << *symbol.bound
                              << "; the greatest bound is 2147483647";
    }
  }
  if (!missing.empty()) {
    return main.emitError() << "the program has sizes that are given at run time: " << listSymbols()
                            << "; bounds are missing: --bound="
                            << llvm::join(missing, "<=N --bound=") << "<=N, or --bound=all<=N";
  }
  return success();
}

/// Describes the parameters' dimensions in terms of the symbols that are dimensions themselves. A
/// dimension that takes another symbol, such as the only one of size 4*b, is a size of its own.
void Refiner::describeEntry() {
  Block &entry = main.getBody().front();
  llvm::StringMap<bool> exact;
  for (auto &[name, size] : solved) {
    if (std::optional<StringRef> symbol = size.asSymbol()) {
      exact[*symbol] = true;
    }
  }
  SmallVector<Attribute> parameters;
  for (BlockArgument argument : entry.getArguments()) {
    SmallVector<Attribute> dims;
    Sizes own = sizesOf(argument);
    bool varies = llvm::any_of(own, [](const SizeExpr &size) { return !size.constant(); });
    for (auto [dim, size] : llvm::enumerate(own)) {
      if (!varies) {
        break;
      }
      bool isKnown = llvm::all_of(size.symbols(),
                                  [&](const std::string &name) { return exact.contains(name); });
      if (!isKnown) {
        inexact.insert(dimensionKey(argument, dim));
      }
      dims.push_back(builder.getStringAttr(isKnown ? size.text() : plainName(argument, dim)));
    }
    parameters.push_back(builder.getArrayAttr(dims));
  }
  main->getParentOfType<ModuleOp>()->setAttr(kEntrySizes, builder.getArrayAttr(parameters));
}

/// Describes the results' dimensions in terms of the symbols that are dimensions of parameters.
void Refiner::describeResults() {
  SmallVector<Attribute> results;
  for (Value result : main.getBody().front().getTerminator()->getOperands()) {
    if (!isa<RankedTensorType>(result.getType())) {
      continue;
    }
    SmallVector<Attribute> dims;
    Sizes own = sizesOf(result);
    bool varies = llvm::any_of(own, [](const SizeExpr &size) { return !size.constant(); });
    bool isKnown = llvm::all_of(own, [&](const SizeExpr &size) {
      return size.isKnown() && llvm::all_of(size.symbols(), [&](const std::string &name) {
               Symbol *symbol = findSymbol(name);
               return symbol && symbol->isDimension;
             });
    });
    for (const SizeExpr &size : varies &&isKnown ? own : Sizes()) {
      dims.push_back(builder.getStringAttr(size.text()));
    }
    results.push_back(builder.getArrayAttr(dims));
  }
  main->getParentOfType<ModuleOp>()->setAttr(kResultSizes, builder.getArrayAttr(results));
}

LogicalResult Refiner::run(ArrayRef<std::pair<std::string, Value>> names) {
  if (failed(findSymbols(names)) || failed(applyBounds())) {
    return failure();
  }
  Block &entry = main.getBody().front();
  // Sizes are computed as soon as the symbols' values are there: those of dimensions at the start.
  sizesEnd = &entry.front();
  builder.setInsertionPoint(sizesEnd);
  for (auto [argument, dim] : unknownDimensions(entry)) {
    std::optional<StringRef> name = solved.find(dimensionKey(argument, dim))->second.asSymbol();
    Symbol *symbol = name ? findSymbol(*name) : nullptr;
    if (symbol && !symbol->isDimension) {
      symbol->value = make("stablehlo.get_dimension_size", argument,
                           RankedTensorType::get({}, builder.getI32Type()),
                           builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dim)));
      symbol->isDimension = true;
    }
  }
  for (const Symbol &symbol : symbols) {
    Operation *made = symbol.value.getDefiningOp();
    if (made && !made->isBeforeInBlock(sizesEnd)) {
      sizesEnd = made->getNextNode();
    }
  }
  namesAreSolved = true;
  elements.clear();
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape()) {
      continue;
    }
    Sizes own;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      own.push_back(type.isDynamicDim(dim) ? solved.find(dimensionKey(argument, dim))->second
                                           : SizeExpr(type.getDimSize(dim)));
    }
    if (failed(setSizes(argument, own))) {
      return failure();
    }
  }
  describeEntry();
  if (failed(refineBlock(entry))) {
    return failure();
  }
  describeResults();
  main.setFunctionType(FunctionType::get(main.getContext(), entry.getArgumentTypes(),
                                         entry.getTerminator()->getOperandTypes()));
  return success();
}

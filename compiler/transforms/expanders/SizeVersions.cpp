//===- SizeVersions.cpp - The program once for each class of sizes --------===//
//
// In: a module whose entry has sizes (hlo-dynamic-padder): arrays of the bounds' shape, and masks.
// Out: an entry that only chooses among copies of the program, each of which works on arrays of
// the largest size that it is for:
//
//   entry(x: f32[64,10], n)  ->  conditional(n <= 1 ? 0 : n <= 2 ? 1 : ..., x, n, x, n, ...)
//   version k                ->  x' = f32[k,10] resize(x), n' = clamp(0, n, k)
//                                the program on leading parts (Shrink.cpp)
//                                f32[64,10] resize(its result)
//
// So every kernel, whatever its strategy, is planned for, and does the work of, a size near the
// true one. A size that differs from its version's costs at most the next version's work.
//
// Sizes that must agree (hlo.size_arguments) share their versions, the last of which is for sizes
// that do not; classes multiply. How many versions there are depends on the program: more of a
// small one. Programs of which ranks must do the same have one version.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "compiler/transforms/expanders/sizes/Buffers.h"
#include "compiler/transforms/expanders/sizes/Choices.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

namespace {

/// Ops of all versions together, which bounds the time to compile them, and versions.
constexpr int64_t kMostOps = 6000, kMostVersions = 170;
/// Ops of all versions of a program that has one for each size. Of small arrays, copies between
/// dense buffers and those of a version for several sizes would take as long as the program.
constexpr int64_t kMostExactOps = 1200;
/// Versions of a program with some for sizes that the user gave.
constexpr int64_t kMostSpecialVersions = 1000;
/// Ops of one version: a text whose computations call others many times grows without bound.
constexpr int64_t kMostExpandedOps = 1 << 20;
/// Elements of the largest array below which versions are not worth their choice.
constexpr int64_t kLeastElements = 1024;

class SizeVersionsPass : public PassWrapper<SizeVersionsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SizeVersionsPass)
  StringRef getArgument() const final { return "hlo-size-versions"; }
  StringRef getDescription() const final {
    return "Copy the program for several sizes of its dynamic dimensions";
  }
  void runOnOperation() final {
    if (failed(run())) {
      signalPassFailure();
    }
  }

private:
  LogicalResult run();
  void choose(ComputationOp entry, ArrayRef<Choice> choices, const EntryLayout &layout);
  LogicalResult checkDense(const EntryLayout &layout);
  bool isWorthIt(const ComputationGraph &graph, int64_t &ops, bool &collectives);
  FailureOr<SmallVector<Choice>> chooseVersions(Choice classes, const EntryLayout &layout,
                                                int64_t ops);
  ComputationOp cloneTree(ComputationOp computation, StringRef name, SymbolTable &symbols);
  ComputationOp makeVersion(ComputationOp entry, ArrayRef<SizeClass> classes,
                            ArrayRef<size_t> which, const EntryLayout &layout,
                            SymbolTable &symbols);
  SmallVector<Extents> resultParts(ComputationOp version, const EntryLayout &layout,
                                   const Facts &facts);
};

} // namespace

/// Whether versions are worth their choice. `ops` becomes the number of ops of one version, in
/// which each call at top level has a computation of its own.
bool SizeVersionsPass::isWorthIt(const ComputationGraph &graph, int64_t &ops, bool &collectives) {
  int64_t elements = 0;
  DenseMap<Operation *, int64_t> expanded;
  for (ComputationOp computation : graph.postOrder()) {
    int64_t &own = expanded[computation];
    for (Operation &op : computation.getBody().front()) {
      collectives |= isCollectiveOp(&op);
      ++own;
      for (Value result : op.getResults()) {
        elements = std::max(elements, arrayType(result) ? elementsOf(result) : 0);
      }
      if (callsAtTopLevel(&op)) {
        forEachCallee(&op, [&](FlatSymbolRefAttr callee) {
          own = std::min(own + expanded.lookup(graph.lookup(callee)), kMostExpandedOps + 1);
        });
      }
    }
    own = std::min(own, kMostExpandedOps + 1);
  }
  ops = expanded.lookup(graph.entry());
  // Ranks with different sizes would do different things.
  bool isLarge = elements >= kLeastElements || getOperation()->hasAttr(kMostSizeVersions);
  return isLarge && !collectives && ops <= kMostExpandedOps;
}

/// The versions that the user asked for, and before those of all sizes.
FailureOr<SmallVector<Choice>>
SizeVersionsPass::chooseVersions(Choice classes, const EntryLayout &layout, int64_t ops) {
  int64_t budget = std::clamp<int64_t>(kMostOps / std::max<int64_t>(ops, 1), 1, kMostVersions);
  if (auto most = getOperation()->getAttrOfType<IntegerAttr>(kMostSizeVersions)) {
    budget = std::clamp<int64_t>(most.getInt(), 1, kMostVersions);
  }
  bool dense = getOperation()->hasAttr(kDenseBuffers);
  int64_t exact = dense ? kMostExactOps / std::max<int64_t>(ops, 1) : 0;
  FailureOr<SmallVector<Choice>> choices = specialChoices(getOperation(), layout, classes);
  if (failed(choices)) {
    return failure();
  }
  choices->push_back(std::move(classes));
  int64_t versions = 0;
  for (Choice &choice : *choices) {
    chooseGrids(choice, budget, exact);
    versions += countVersions(choice);
  }
  if (choices->size() > 1 && versions > kMostSpecialVersions) {
    return getOperation().emitError("--specialize: the program would have ")
           << versions << " versions, more than " << kMostSpecialVersions
           << "; --size-versions=N has fewer for the other sizes";
  }
  return choices;
}

/// A copy of a computation and of those that it calls at top level, one for each call.
ComputationOp SizeVersionsPass::cloneTree(ComputationOp computation, StringRef name,
                                          SymbolTable &symbols) {
  ComputationOp copy = computation.clone();
  copy.setName(name);
  symbols.insert(copy);
  for (Operation &op : copy.getBody().front()) {
    if (callsAtTopLevel(&op)) {
      renameCallees(&op, [&](FlatSymbolRefAttr callee) {
        auto original = symbols.lookup<ComputationOp>(callee.getValue());
        ComputationOp own = cloneTree(original, original.getName(), symbols);
        return FlatSymbolRefAttr::get(own.getSymNameAttr());
      });
    }
  }
  return copy;
}

/// For each result, the part that holds its true elements.
SmallVector<Extents> SizeVersionsPass::resultParts(ComputationOp version, const EntryLayout &layout,
                                                   const Facts &facts) {
  SmallVector<Extents> parts;
  Operation *root = version.getReturn();
  for (Value result : root->getOperands()) {
    parts.push_back(wholeOf(result));
  }
  for (auto [i, leaf] : llvm::enumerate(layout.outputs)) {
    if (leaf.sizeOf < 0) {
      continue;
    }
    RankedTensorType type = layout.outputs[leaf.sizeOf].type;
    Value array = root->getOperand(leaf.sizeOf);
    std::optional<Interval> range = facts.intervalOf(root->getOperand(i));
    // Packed elements have other shapes than the user's.
    if (!range || arrayType(array).getShape() != physicalType(type).getShape()) {
      continue;
    }
    SmallVector<int64_t> order = majorToMinor(type);
    size_t dim = llvm::find(order, leaf.sizeDim) - order.begin();
    int64_t &extent = parts[leaf.sizeOf][dim];
    extent = limitedTo(range->hi, extent);
  }
  return parts;
}

/// Replaces the sizes of a class in the block of its version `which` by values with the limits that
/// the choice of the version has tested.
static void limitSizes(HloBuilder &b, Block &body, const SizeClass &own, size_t which,
                       DenseMap<unsigned, Value> &limited) {
  Value first; // of the sizes, which equal it
  for (const SizeArgument &given : own.sizes) {
    BlockArgument size = body.getArgument(given.number);
    if (first && !own.isForAny(which)) {
      limited[given.number] = b.convert(first, elementTypeOf(size));
      size.replaceAllUsesWith(limited[given.number]);
      continue;
    }
    int64_t most = std::min(given.bound, own.grid[which]);
    int64_t least = std::min(own.least(which), most);
    // The smallest and the largest number of a size that nobody checks are those of its type.
    auto type = cast<IntegerType>(elementTypeOf(size));
    auto limit = [&](int64_t value) {
      return b.constant(DenseElementsAttr::get(RankedTensorType::get({}, type),
                                               APInt(type.getWidth(), value, true, true)));
    };
    Value low = limit(least), high = limit(most);
    bool isChecked = given.checked || own.isFixed;
    if (!isChecked && (which == 0 || own.isForAny(which))) {
      low = b.constant(extremeOf(type, /*least=*/true));
    }
    if (!isChecked && own.grid[which] == own.bound()) {
      high = b.constant(extremeOf(type, /*least=*/false));
    }
    bool exact = least == most && constantInteger(low) == constantInteger(high);
    first = exact ? high : b.clamp(low, size, high);
    size.replaceUsesWithIf(first,
                           [&](OpOperand &use) { return use.getOwner() != first.getDefiningOp(); });
    limited[given.number] = first;
  }
}

ComputationOp SizeVersionsPass::makeVersion(ComputationOp entry, ArrayRef<SizeClass> classes,
                                            ArrayRef<size_t> which, const EntryLayout &layout,
                                            SymbolTable &symbols) {
  std::string name = entry.getName().str();
  for (auto [sizes, i] : llvm::zip(classes, which)) {
    name += "." + std::to_string(sizes.grid[i]);
  }
  ComputationOp version = cloneTree(entry, name, symbols);
  version.setEntry(false);
  Block &body = version.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  HloBuilder b(builder, version.getLoc());
  DenseMap<unsigned, Value> limited;
  for (auto [sizes, i] : llvm::zip(classes, which)) {
    limitSizes(b, body, sizes, i, limited);
  }
  SmallVector<RankedTensorType> types = llvm::map_to_vector(
      version.getReturn()->getOperands(), [](Value result) { return arrayType(result); });
  bool dense = getOperation()->hasAttr(kDenseBuffers);
  SmallVector<LeafSizes> given;
  if (dense) {
    given = sizesOfLeaves(b, layout.inputs, [&](size_t leaf) {
      auto known = limited.find(leaf);
      return known == limited.end() ? Value(body.getArgument(leaf)) : known->second;
    });
  }
  Facts facts(symbols);
  facts.collect(version);
  if (dense) {
    unpackParameters(b, body, given, facts);
  }
  shrink(version, resultParts(version, layout, facts), facts);
  Operation *root = version.getReturn();
  builder.setInsertionPoint(root);
  SmallVector<Value> results(root->getOperands());
  SmallVector<LeafSizes> sizes(types.size());
  if (dense) {
    sizes = sizesOfLeaves(b, layout.outputs, [&](size_t leaf) { return results[leaf]; });
  }
  for (auto [i, type] : llvm::enumerate(types)) {
    if (!sizes[i].dims.empty()) {
      root->setOperand(i, packed(b, results[i], type, i, sizes[i], facts));
    } else if (type) {
      root->setOperand(i, grown(b, results[i], type));
    }
  }
  updateFunctionType(version);
  return version;
}

/// Refuses what has no dense form yet.
LogicalResult SizeVersionsPass::checkDense(const EntryLayout &layout) {
  for (const SmallVector<EntryLeaf> *leaves : {&layout.inputs, &layout.outputs}) {
    for (const EntryLeaf &leaf : *leaves) {
      if (!boundedDimensions(leaf.type).empty() && isPacked(leaf.type.getElementType())) {
        return getOperation().emitError("--dynamic-buffers=dense: ")
               << hloText(leaf.type) << " has several elements in a byte, which is not supported; "
               << "--dynamic-buffers=bound has buffers of the bounds' shape";
      }
    }
  }
  return success();
}

/// Replaces the program of the entry by a choice among versions, or by the only one.
void SizeVersionsPass::choose(ComputationOp entry, ArrayRef<Choice> choices,
                              const EntryLayout &layout) {
  SymbolTable symbols(getOperation());
  SmallVector<Attribute> names;
  for (const Choice &choice : choices) {
    for (int64_t number = 0, count = countVersions(choice); number < count; ++number) {
      ComputationOp version =
          makeVersion(entry, choice, versionsOf(choice, number), layout, symbols);
      names.push_back(FlatSymbolRefAttr::get(version.getSymNameAttr()));
    }
  }
  if (names.size() == 1) {
    auto version = symbols.lookup<ComputationOp>(cast<FlatSymbolRefAttr>(names.front()).getValue());
    std::string name = entry.getName().str();
    symbols.erase(entry);
    version.setName(name);
    version.setEntry(true);
    return;
  }
  Block &body = entry.getBody().front();
  Operation *root = entry.getReturn();
  SmallVector<Type> types(root->getOperandTypes());
  OpBuilder builder(root);
  HloBuilder b(builder, root->getLoc());
  SmallVector<Value> operands{selectorOf(b, entry, choices)};
  for (size_t version = 0; version < names.size(); ++version) {
    llvm::append_range(operands, body.getArguments());
  }
  SmallVector<int64_t> counts(names.size(), body.getNumArguments());
  auto chosen = ConditionalOp::create(builder, root->getLoc(), types, operands[0],
                                      ArrayRef(operands).drop_front(), builder.getArrayAttr(names),
                                      builder.getDenseI64ArrayAttr(counts));
  root->setOperands(chosen->getResults());
  // The versions have the program now.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (&op != root && op.use_empty()) {
      op.erase();
    }
  }
}

/// True if every size that the versions depend on is a leaf of the entry.
static bool areLeaves(const Choice &classes, const EntryLayout &layout) {
  return llvm::all_of(classes, [&](const SizeClass &own) {
    return llvm::all_of(own.sizes, [&](const SizeArgument &size) {
      return layout.inputs[size.number].sizeOf >= 0;
    });
  });
}

static bool hasBoundedLeaves(const EntryLayout &layout) {
  return llvm::any_of(llvm::concat<const EntryLeaf>(layout.inputs, layout.outputs),
                      [](const EntryLeaf &leaf) { return !boundedDimensions(leaf.type).empty(); });
}

/// A dense buffer of an input is none for an output: what an alias needs, a copy of the input or a
/// move of the result, is of the bounds' shape.
static void dropAliases(EntryLayout &layout) {
  llvm::erase_if(layout.aliases, [&](const LeafAlias &alias) {
    return !boundedDimensions(layout.outputs[alias.output].type).empty() ||
           !boundedDimensions(layout.inputs[alias.input].type).empty();
  });
}

LogicalResult SizeVersionsPass::run() {
  ModuleOp module = getOperation();
  Choice classes = sizeClasses(module);
  bool dense = module->hasAttr(kDenseBuffers), isSpecial = module->hasAttr(kSpecialSizes);
  if (classes.empty() && !dense && !isSpecial) {
    return success();
  }
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(layout) || failed(graph)) {
    return failure();
  }
  dense &= hasBoundedLeaves(*layout);
  if (classes.empty() && !dense && !isSpecial) {
    return success();
  }
  if (dense && failed(checkDense(*layout))) {
    return failure();
  }
  int64_t ops = 0;
  bool collectives = false;
  bool worthIt = isWorthIt(*graph, ops, collectives);
  if (isSpecial && collectives) {
    // Ranks with different sizes would do different things.
    return module.emitError("--specialize: not supported for programs with collectives");
  }
  if ((dense || isSpecial) && ops > kMostExpandedOps) {
    return module.emitError(dense ? "--dynamic-buffers=dense" : "--specialize")
           << ": the program has more than " << kMostExpandedOps
           << " operations if each call has its own";
  }
  if (!worthIt && !dense && !isSpecial) {
    return success();
  }
  if (dense) {
    dropAliases(*layout);
    layout->set(module);
  }
  bool inLeaves = areLeaves(classes, *layout);
  FailureOr<SmallVector<Choice>> choices =
      chooseVersions(std::move(classes), *layout, worthIt ? ops : kMostOps);
  if (failed(choices)) {
    return failure();
  }
  bool isOne = choices->size() == 1 && countVersions(choices->front()) == 1;
  if (isOne && !dense) {
    return success();
  }
  choose(graph->entry(), *choices, *layout);
  if (inLeaves && !isOne) {
    module->setAttr(kSizeChoices, Builder(module).getDenseI64ArrayAttr(encode(*choices)));
  }
  return eraseUnreachable(module);
}

std::unique_ptr<Pass> hlo::createSizeVersionsPass() { return std::make_unique<SizeVersionsPass>(); }

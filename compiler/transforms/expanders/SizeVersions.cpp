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
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/ops/KernelOps.h"
#include "mlir/Pass/Pass.h"
#include <map>
#include <set>

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

namespace {

/// Ops of all versions together, which bounds the time to compile them, and versions.
constexpr int64_t kMostOps = 6000, kMostVersions = 170;
/// Ops of one version: a text whose computations call others many times grows without bound.
constexpr int64_t kMostExpandedOps = 1 << 20;
/// Elements of the largest array below which versions are not worth their choice.
constexpr int64_t kLeastElements = 1024;

/// An argument of the entry that is a size. The runtime refuses sizes outside of 0 to the bound if
/// it is `checked`.
struct SizeArgument {
  unsigned number;
  int64_t bound;
  bool checked;
};

/// Sizes that must agree.
struct SizeClass {
  SmallVector<SizeArgument> sizes;
  /// The largest size of each version, ascending. Of several sizes all versions but the last are
  /// for equal ones, the last for any.
  SmallVector<int64_t> grid;
  int64_t bound() const {
    int64_t most = 0;
    for (const SizeArgument &size : sizes) {
      most = std::max(most, size.bound);
    }
    return most;
  }
  bool isOne() const { return sizes.size() == 1; }
  bool isForAny(size_t version) const { return !isOne() && version + 1 == grid.size(); }
  /// The smallest size that a version is for.
  int64_t least(size_t version) const {
    return version == 0 || isForAny(version) ? 0 : grid[version - 1] + 1;
  }
};

/// The sizes up to `bound` that have versions, ascending: at most `count`, with the smallest
/// factors between them that allows. A size that follows its predecessor by one has an exact
/// version, whose masks go away: the smallest sizes, powers of two and the bound.
SmallVector<int64_t> gridOf(int64_t bound, int64_t count) {
  // How many sizes there are up to the next power of two, and up to which size all are taken.
  for (auto [steps, all] : {std::pair(4, 8), std::pair(2, 8), std::pair(1, 8), std::pair(1, 2)}) {
    std::set<int64_t> grid{bound};
    for (int64_t size = 0; size <= std::min<int64_t>(all, bound); ++size) {
      grid.insert(size);
    }
    grid.insert(std::max<int64_t>(bound - 1, 0));
    for (int64_t power = 4; power < bound; power *= 2) {
      if (power > 8) {
        grid.insert(power - 1);
      }
      for (int64_t step = 0; step < steps; ++step) {
        if (power >= all || step == 0) {
          grid.insert(std::min(power + power / steps * step, bound));
        }
      }
    }
    if (static_cast<int64_t>(grid.size()) <= count) {
      return SmallVector<int64_t>(grid.begin(), grid.end());
    }
  }
  SmallVector<int64_t> powers, grid;
  for (int64_t power = 1; power < bound; power *= 2) {
    powers.push_back(power);
  }
  powers.push_back(bound);
  // Every second, third, ... of the powers, from the bound down.
  int64_t last = powers.size() - 1;
  for (int64_t i = 0; i < std::min<int64_t>(count, last + 1); ++i) {
    grid.push_back(powers[count > last ? i : count == 1 ? last : i * last / (count - 1)]);
  }
  return grid;
}

class SizeVersionsPass : public PassWrapper<SizeVersionsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SizeVersionsPass)
  StringRef getArgument() const final { return "hlo-size-versions"; }
  StringRef getDescription() const final {
    return "Copy the program for several sizes of its dynamic dimensions";
  }
  void runOnOperation() final;

private:
  SmallVector<SizeClass> classesOf();
  LogicalResult checkDense(const EntryLayout &layout);
  bool isWorthIt(const ComputationGraph &graph, int64_t &ops);
  void chooseGrids(MutableArrayRef<SizeClass> classes, int64_t ops);
  ComputationOp cloneTree(ComputationOp computation, StringRef name, SymbolTable &symbols);
  ComputationOp makeVersion(ComputationOp entry, ArrayRef<SizeClass> classes,
                            ArrayRef<size_t> which, const EntryLayout &layout,
                            SymbolTable &symbols);
  SmallVector<Extents> resultParts(ComputationOp version, const EntryLayout &layout,
                                   const Facts &facts);
  Value selectorOf(HloBuilder &b, ComputationOp entry, ArrayRef<SizeClass> classes);
};

} // namespace

SmallVector<SizeClass> SizeVersionsPass::classesOf() {
  std::map<int64_t, SizeClass> byNumber;
  auto sizes = getOperation()->getAttrOfType<DenseI64ArrayAttr>(kSizeArguments);
  ArrayRef<int64_t> rest = sizes ? sizes.asArrayRef() : ArrayRef<int64_t>();
  for (; rest.size() >= 4; rest = rest.drop_front(4)) {
    byNumber[rest[2]].sizes.push_back({static_cast<unsigned>(rest[0]), rest[1], rest[3] != 0});
  }
  return llvm::map_to_vector(byNumber, [](auto &entry) { return entry.second; });
}

/// Whether versions are worth their choice. `ops` becomes the number of ops of one version, in
/// which each call at top level has a computation of its own.
bool SizeVersionsPass::isWorthIt(const ComputationGraph &graph, int64_t &ops) {
  int64_t elements = 0;
  bool collectives = false;
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

void SizeVersionsPass::chooseGrids(MutableArrayRef<SizeClass> classes, int64_t ops) {
  int64_t budget = std::clamp<int64_t>(kMostOps / std::max<int64_t>(ops, 1), 1, kMostVersions);
  if (auto most = getOperation()->getAttrOfType<IntegerAttr>(kMostSizeVersions)) {
    budget = std::clamp<int64_t>(most.getInt(), 1, kMostVersions);
  }
  // Each class gets the same share, and what the ones before it left.
  for (size_t i = 0; i < classes.size(); ++i) {
    int64_t share = 1;
    auto fits = [&](int64_t count) {
      int64_t total = 1;
      for (size_t rest = classes.size() - i; rest > 0 && total <= budget; --rest) {
        total *= count;
      }
      return total <= budget;
    };
    while (share < budget && fits(share + 1)) {
      ++share;
    }
    SmallVector<int64_t> &grid = classes[i].grid;
    bool one = classes[i].isOne();
    grid = gridOf(classes[i].bound(), one ? share : std::max<int64_t>(share - 1, 1));
    if (!one && share > 1) {
      grid.push_back(grid.back());
    }
    budget /= classes[i].grid.size();
  }
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
    extent = std::clamp<int64_t>(range->hi, std::min<int64_t>(1, extent), extent);
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
    if (!given.checked && (which == 0 || own.isForAny(which))) {
      low = b.constant(extremeOf(type, /*least=*/true));
    }
    if (!given.checked && own.grid[which] == own.bound()) {
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
  Facts facts(symbols);
  facts.collect(version);
  bool dense = getOperation()->hasAttr(kDenseBuffers);
  if (dense) {
    unpackParameters(
        b, body, layout.inputs,
        [&](size_t leaf) {
          auto known = limited.find(leaf);
          return known == limited.end() ? Value(body.getArgument(leaf)) : known->second;
        },
        facts);
  }
  shrink(version, resultParts(version, layout, facts), facts);
  Operation *root = version.getReturn();
  builder.setInsertionPoint(root);
  SmallVector<Value> results(root->getOperands());
  for (auto [i, type] : llvm::enumerate(types)) {
    LeafSizes sizes = sizesOfLeaf(layout.outputs, i, [&](size_t leaf) { return results[leaf]; });
    if (dense && !sizes.dims.empty()) {
      root->setOperand(i, packed(b, results[i], type, sizes, facts));
    } else if (type) {
      root->setOperand(i, grown(b, results[i], type));
    }
  }
  version.setFunctionType(
      FunctionType::get(version.getContext(), body.getArgumentTypes(), root->getOperandTypes()));
  return version;
}

/// The number of the version: of each class how many versions are for smaller sizes; the last class
/// counts fastest.
Value SizeVersionsPass::selectorOf(HloBuilder &b, ComputationOp entry,
                                   ArrayRef<SizeClass> classes) {
  Value selector = b.index(0);
  Type s32 = elementTypeOf(selector);
  for (const SizeClass &sizes : classes) {
    Value size = entry.getBody().getArgument(sizes.sizes[0].number), own = b.index(0), equal;
    size_t others = sizes.isOne() ? 1 : 2; // the bound, and any
    for (int64_t most : ArrayRef(sizes.grid).drop_back(std::min(others, sizes.grid.size()))) {
      Value limit = b.scalar(elementTypeOf(size), static_cast<double>(most));
      own = b.add(own, b.convert(b.compare(size, limit, "GT"), s32));
    }
    for (const SizeArgument &other : ArrayRef(sizes.sizes).drop_front()) {
      Value also = b.convert(entry.getBody().getArgument(other.number), elementTypeOf(size));
      Value same = b.compare(size, also, "EQ");
      equal = equal ? b.binary<AndOp>(equal, same) : same;
    }
    Value count = b.index(sizes.grid.size());
    if (equal) {
      own = b.select(equal, own, b.sub(count, b.index(1)));
    }
    selector = b.add(b.mul(selector, count), own);
  }
  return selector;
}

/// Refuses what has no dense form yet.
LogicalResult SizeVersionsPass::checkDense(const EntryLayout &layout) {
  for (const SmallVector<EntryLeaf> *leaves : {&layout.inputs, &layout.outputs}) {
    for (const EntryLeaf &leaf : *leaves) {
      if (leaf.sizeOf >= 0 && isPacked((*leaves)[leaf.sizeOf].type.getElementType())) {
        return getOperation().emitError("--dynamic-buffers=dense: ")
               << hloText((*leaves)[leaf.sizeOf].type)
               << " has several elements in a byte, which is not supported";
      }
    }
  }
  return success();
}

void SizeVersionsPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  if (failed(layout)) {
    return signalPassFailure();
  }
  SmallVector<SizeClass> classes = classesOf();
  if (classes.empty()) {
    return markAllAnalysesPreserved();
  }
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return signalPassFailure();
  }
  bool dense = module->hasAttr(kDenseBuffers);
  if (dense && failed(checkDense(*layout))) {
    return signalPassFailure();
  }
  int64_t ops = 0, versions = 1;
  bool worthIt = isWorthIt(*graph, ops);
  if (!worthIt && !dense) {
    return markAllAnalysesPreserved();
  }
  if (ops > kMostExpandedOps) {
    module.emitError("--dynamic-buffers=dense: the program has more than ")
        << kMostExpandedOps << " operations if each call has its own";
    return signalPassFailure();
  }
  chooseGrids(classes, worthIt ? ops : kMostOps);
  for (const SizeClass &sizes : classes) {
    versions *= sizes.grid.size();
  }
  if (versions == 1 && !dense) {
    return markAllAnalysesPreserved();
  }
  SymbolTable symbols(module);
  ComputationOp entry = graph->entry();
  SmallVector<Attribute> names;
  for (int64_t number = 0; number < versions; ++number) {
    SmallVector<size_t> which(classes.size());
    int64_t rest = number;
    for (size_t i = classes.size(); i-- > 0;) {
      which[i] = rest % classes[i].grid.size();
      rest /= classes[i].grid.size();
    }
    ComputationOp version = makeVersion(entry, classes, which, *layout, symbols);
    names.push_back(FlatSymbolRefAttr::get(version.getSymNameAttr()));
  }
  Block &body = entry.getBody().front();
  Operation *root = entry.getReturn();
  SmallVector<Type> types(root->getOperandTypes());
  OpBuilder builder(root);
  HloBuilder b(builder, root->getLoc());
  SmallVector<Value> operands{selectorOf(b, entry, classes)};
  for (int64_t number = 0; number < versions; ++number) {
    llvm::append_range(operands, body.getArguments());
  }
  SmallVector<int64_t> counts(versions, body.getNumArguments());
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
  FailureOr<ComputationGraph> after = ComputationGraph::build(module);
  if (failed(after)) {
    return signalPassFailure();
  }
  for (auto computation : llvm::make_early_inc_range(module.getOps<ComputationOp>())) {
    if (!after->isReachable(computation)) {
      computation.erase();
    }
  }
}

std::unique_ptr<Pass> hlo::createSizeVersionsPass() { return std::make_unique<SizeVersionsPass>(); }

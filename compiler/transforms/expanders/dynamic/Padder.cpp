//===- Padder.cpp - Bounded dynamic dimensions as sizes and masks ---------===//
//
// An array with a dimension `<=N` is stored with size N; elements beyond the true size are
// arbitrary. The true sizes are s32 scalars kept alongside:
//
//   set-dimension-size(x, n)   ->  x, with size n
//   get-dimension-size(x)      ->  n
//   reduce over the dimension  ->  reduce(select(iota < n, x, identity)), likewise dot with zeros
//   element-wise               ->  the same op; if the operands have different sizes n and m,
//                                  min(n, m), or the other size if one is a broadcast size of 1
//   loops and branches         ->  one more carry or result for each dynamic dimension
//
// The rules are in DynamicWalk, -Shape, -Index, -Windows, -Compute and -Control. At the entry each
// dynamic dimension of a parameter becomes another parameter, an s64[], after all others, and each
// one of a result another result; analysis/entry/EntryLayout.h records which. Where the program has
// names for sizes, each name is one parameter, and other sizes are computed from them.
//
// Sizes follow the values: a type that was written static is dynamic if its operands are. An op
// without a rule is refused, and so is a dimension without a bound, `?`: no later pass expects one.
// Runs on flat tuples, before layouts are removed, because layouts hold the dynamic bits.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/dynamic/Padder.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/transforms/expanders/SizeEmitter.h"

using namespace mlir;
using namespace hlo;

namespace {

class DynamicPadderPass : public PassWrapper<DynamicPadderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DynamicPadderPass)
  StringRef getArgument() const final { return "hlo-dynamic-padder"; }
  StringRef getDescription() const final {
    return "Replace bounded dynamic dimensions by sizes and masks";
  }

  void runOnOperation() final {
    if (failed(refuseUnbounded())) {
      return signalPassFailure();
    }
    if (!isNeeded()) {
      return markAllAnalysesPreserved();
    }
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    // Computations that are copied for their callers may be unused at the end.
    if (failed(graph) || failed(runOnEntry(graph->entry())) ||
        failed(eraseUnreachable(getOperation()))) {
      return signalPassFailure();
    }
  }

private:
  LogicalResult refuseUnbounded() {
    LogicalResult result = success();
    auto check = [&](Value value) {
      auto array = dyn_cast<RankedTensorType>(value.getType());
      if (array && !array.hasStaticShape()) {
        emitError(value.getLoc()) << "unbounded dynamic dimensions are not supported yet: "
                                  << hloText(array);
        result = failure();
      }
    };
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getResults(), check);
      if (auto computation = dyn_cast<ComputationOp>(op)) {
        llvm::for_each(computation.getBody().getArguments(), check);
      }
    });
    return result;
  }

  bool isNeeded() {
    return getOperation()
        .walk([](Operation *op) {
          bool dynamic = isa<SetDimensionSizeOp, DynamicReshapeOp>(op) ||
                         llvm::any_of(op->getResultTypes(), hasDynamicBit);
          if (auto call = dyn_cast<CustomCallOp>(op)) {
            dynamic |= llvm::is_contained({"PadToStatic", "SliceToDynamic", "SetBound"},
                                          call.getCustomCallTarget());
          }
          if (auto computation = dyn_cast<ComputationOp>(op)) {
            dynamic |= llvm::any_of(computation.getArgumentTypes(), hasDynamicBit);
          }
          return dynamic ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  LogicalResult runOnEntry(ComputationOp entry);
};

/// The layout's entry for the size of dimension `dim` of leaf `array`.
EntryLeaf sizeLeaf(const EntryLeaf &array, int64_t leaf, int64_t dim, Type s64) {
  EntryLeaf size;
  size.name = array.name;
  size.type = RankedTensorType::get({}, s64);
  size.parameter = array.parameter;
  size.index = array.index;
  size.sizeOf = leaf;
  size.sizeDim = dim;
  return size;
}

/// Marks a dimension of the leaf as dynamic, whatever its type said.
void markDynamic(EntryLeaf &leaf, int64_t dim) {
  if (isDynamicDim(leaf.type, dim)) {
    return;
  }
  SmallVector<int64_t> dynamic(boundedDimensions(leaf.type)), order = majorToMinor(leaf.type);
  dynamic.push_back(dim);
  llvm::sort(dynamic);
  LayoutAttr layout = layoutOf(leaf.type);
  std::reverse(order.begin(), order.end());
  leaf.type = RankedTensorType::get(
      leaf.type.getShape(), leaf.type.getElementType(),
      LayoutAttr::get(leaf.type.getContext(), layout ? layout.getMinorToMajor() : ArrayRef(order),
                      dynamic, layout ? layout.getProperties() : StringRef()));
}

/// The sizes of the dimensions of each parameter or result as a module's attribute has them.
FailureOr<SmallVector<SmallVector<SizeExpr>>> readSizes(ModuleOp module, StringRef name) {
  SmallVector<SmallVector<SizeExpr>> all;
  auto list = module->getAttrOfType<ArrayAttr>(name);
  for (Attribute parameter : list ? list.getValue() : ArrayRef<Attribute>()) {
    SmallVector<SizeExpr> &sizes = all.emplace_back();
    auto dims = dyn_cast<ArrayAttr>(parameter);
    for (Attribute dim : dims ? dims.getValue() : ArrayRef<Attribute>()) {
      auto text = dyn_cast<StringAttr>(dim);
      std::optional<SizeExpr> size = text ? SizeExpr::parse(text) : std::nullopt;
      if (!size) {
        return module.emitError("malformed ") << name << " attribute: " << dim;
      }
      sizes.push_back(*size);
    }
  }
  return all;
}

} // namespace

LogicalResult DynamicPadderPass::runOnEntry(ComputationOp entry) {
  FailureOr<EntryLayout> layout = EntryLayout::get(getOperation());
  if (failed(layout)) {
    return failure();
  }
  DynamicContext context(getOperation());
  DynamicPadder padder(context);
  Block &body = entry.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Type s32 = builder.getIntegerType(32, true), s64 = builder.getIntegerType(64, true);
  FailureOr<SmallVector<SmallVector<SizeExpr>>> named = readSizes(getOperation(), kEntrySizes),
                                                ofResults = readSizes(getOperation(), kResultSizes);
  if (failed(named) || failed(ofResults)) {
    return failure();
  }
  int64_t count = body.getNumArguments();
  named->resize(count);
  ofResults->resize(entry.getReturn()->getNumOperands());
  auto addSize = [&](int64_t i, int64_t dim, StringRef symbol) {
    BlockArgument argument = body.getArgument(i);
    HloBuilder b(builder, argument.getLoc());
    Value size = body.addArgument(RankedTensorType::get({}, s64), argument.getLoc());
    layout->inputs.push_back(sizeLeaf(layout->inputs[i], i, dim, s64));
    layout->inputs.back().symbol = symbol.str();
    Value own = b.convert(size, s32);
    context.addSize(own, shapeOf(argument)[dim], /*checked=*/true);
    return own;
  };
  // One parameter for each symbol, at the first dimension that it is the size of.
  llvm::StringMap<Value> symbols;
  for (int64_t i = 0; i < count; ++i) {
    for (auto [dim, size] : llvm::enumerate((*named)[i])) {
      std::optional<StringRef> symbol = size.asSymbol();
      if (symbol && !symbols.contains(*symbol) &&
          isDynamicDim(body.getArgument(i).getType(), dim)) {
        Value value = addSize(i, dim, *symbol);
        symbols[*symbol] = value;
      }
    }
  }
  // True if the sizes of an array of so many dimensions can be computed from the symbols.
  auto areKnown = [&](ArrayRef<SizeExpr> dims, size_t rank) {
    return rank > 0 && dims.size() == rank && llvm::all_of(dims, [&](const SizeExpr &size) {
             return llvm::all_of(size.symbols(),
                                 [&](const std::string &name) { return symbols.contains(name); });
           });
  };
  auto noteSizes = [](ArrayRef<SizeExpr> dims, bool isKnown, EntryLeaf &leaf) {
    for (const SizeExpr &size : isKnown ? dims : ArrayRef<SizeExpr>()) {
      leaf.sizes.push_back(size.text());
    }
  };
  for (int64_t i = 0; i < count; ++i) {
    BlockArgument argument = body.getArgument(i);
    DynamicSizes own(isa<RankedTensorType>(argument.getType()) ? rankOf(argument) : 0);
    bool isNamed = areKnown((*named)[i], own.size());
    for (size_t dim = 0; dim < own.size(); ++dim) {
      if (isDynamicDim(argument.getType(), dim)) {
        HloBuilder b(builder, argument.getLoc());
        own[dim] = isNamed ? SizeEmitter(b, symbols).emit((*named)[i][dim]) : addSize(i, dim, "");
        markDynamic(layout->inputs[i], dim);
      }
    }
    noteSizes((*named)[i], isNamed, layout->inputs[i]);
    padder.bind(argument, own);
  }
  getOperation()->removeAttr(kEntrySizes);
  getOperation()->removeAttr(kResultSizes);
  Operation *root = entry.getReturn();
  SmallVector<Type> resultTypes(root->getOperandTypes());
  if (failed(padder.run(entry))) {
    return failure();
  }
  SmallVector<int64_t> sizes;
  DenseMap<Value, int64_t> classes; // the first of the sizes that must agree
  for (auto [number, given] : llvm::enumerate(context.given)) {
    Value leader = context.sizes.getLeaderValue(given.size);
    int64_t first = classes.try_emplace(leader, number).first->second;
    sizes.append({given.argument.getArgNumber(), given.bound, first, given.checked});
  }
  if (!sizes.empty()) {
    getOperation()->setAttr(kSizeArguments, builder.getDenseI64ArrayAttr(sizes));
  }
  builder.setInsertionPoint(root);
  HloBuilder b(builder, root->getLoc());
  SmallVector<Value> results(root->getOperands());
  for (int64_t i = 0, count = results.size(); i < count; ++i) {
    Value result = results[i];
    int64_t rank = arrayType(result) ? rankOf(result) : 0;
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!padder.sizeOf(result, dim) && !isDynamicDim(resultTypes[i], dim)) {
        continue;
      }
      // Clamps the size to the bound, which the caller may rely on.
      Value size =
          b.clamp(b.index(0), padder.sizeOrBound(b, result, dim), b.index(shapeOf(result)[dim]));
      results.push_back(b.convert(size, s64));
      markDynamic(layout->outputs[i], dim);
      layout->outputs.push_back(sizeLeaf(layout->outputs[i], i, dim, s64));
    }
    if (rank > 0 && !boundedDimensions(layout->outputs[i].type).empty()) {
      noteSizes((*ofResults)[i], areKnown((*ofResults)[i], rank), layout->outputs[i]);
    }
  }
  root->setOperands(results);
  updateFunctionType(entry);
  layout->set(getOperation());
  return success();
}

std::unique_ptr<Pass> hlo::createDynamicPadderPass() {
  return std::make_unique<DynamicPadderPass>();
}

//===- Refine.cpp - Bounds for the sizes of a StableHLO module ------------===//
//
// In: a module with `?` dimensions, as jax.export writes it, and bounds of its sizes. Out: one
// function in which every array has bounds, `tensor<?x3xf32, #stablehlo.bounds<64, ?>>`, and no op
// takes sizes as operands but set_dimension_size, get_dimension_size and dynamic_reshape.
//
//   1. calls are inlined, so that each op has the sizes of one call (Inline.cpp);
//   2. the symbols are found and solved for the parameters' dimensions (Symbols.cpp);
//   3. a walk gives each dimension an expression over the symbols, from the operands' (Shapes.cpp)
//      or from the integers that the program computes (Integers.cpp);
//   4. the interval of the expression is the bound; equal expressions are one value, computed at
//      the entry's start (Build.cpp).
//
// Elements beyond an array's sizes are arbitrary from then on. hlo-dynamic-padder masks them where
// they would count.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refine.h"
#include "compiler/stablehlo/Functions.h"
#include "compiler/stablehlo/Places.h"
#include "compiler/stablehlo/refine/Refiner.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

static bool isUnknown(Type type) {
  auto array = dyn_cast<RankedTensorType>(type);
  if (!array || array.hasStaticShape()) {
    return isa<UnrankedTensorType>(type);
  }
  auto bounds = dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(array.getEncoding());
  for (int64_t dim = 0; dim < array.getRank(); ++dim) {
    bool isBounded = bounds && static_cast<int64_t>(bounds.getBounds().size()) > dim &&
                     !ShapedType::isDynamic(bounds.getBounds()[dim]);
    if (array.isDynamicDim(dim) && !isBounded) {
      return true;
    }
  }
  return false;
}

bool hlo::hasUnknownSizes(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        bool unknown = llvm::any_of(op->getResultTypes(), isUnknown);
        for (Region &region : op->getRegions()) {
          for (Block &block : region) {
            unknown |= llvm::any_of(block.getArgumentTypes(), isUnknown);
          }
        }
        return unknown ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True for "arg0", which MLIR itself calls a parameter without a name.
static bool isNumbered(StringRef name) {
  return name.consume_front("arg") && llvm::all_of(name, llvm::isDigit);
}

/// Names of the entry's values, from the attributes of the functions that it calls. Parameters of
/// the entry that are passed on get the name that they have there.
static std::vector<std::pair<std::string, Value>> readNames(ModuleOp module, func::FuncOp main) {
  std::vector<std::pair<std::string, Value>> names;
  SymbolTable symbols(module);
  for (auto call : main.getBody().front().getOps<func::CallOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || callee.getNumArguments() != call.getNumOperands()) {
      continue;
    }
    for (auto [i, operand] : llvm::enumerate(call.getOperands())) {
      auto name = callee.getArgAttrOfType<StringAttr>(i, "jax.global_constant");
      if (name && !name.getValue().empty()) {
        // Calls are inlined and their results go: a marker keeps the value.
        OpBuilder builder(call);
        auto marker =
            UnrealizedConversionCastOp::create(builder, call.getLoc(), operand.getType(), operand);
        names.push_back({name.getValue().str(), marker.getResult(0)});
      }
      auto argument = dyn_cast<BlockArgument>(operand);
      std::string known = stable::originOf(callee.getBody().front().getArgument(i).getLoc()).name;
      if (argument && !known.empty() && !isNumbered(known)) {
        Location place = stable::placeOf(argument.getLoc());
        argument.setLoc(FusedLoc::get(module.getContext(), place,
                                      NameLoc::get(StringAttr::get(module.getContext(), known))));
      }
    }
  }
  return names;
}

/// A composite is a call of its decomposition.
static LogicalResult openComposites(ModuleOp module) {
  SmallVector<Operation *> composites;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "stablehlo.composite") {
      composites.push_back(op);
    }
  });
  for (Operation *op : composites) {
    auto name = op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
    if (!name) {
      return op->emitError("composite: it has no decomposition");
    }
    OpBuilder builder(op);
    auto call =
        func::CallOp::create(builder, op->getLoc(), name, op->getResultTypes(), op->getOperands());
    op->replaceAllUsesWith(call.getResults());
    op->erase();
  }
  return success();
}

/// Erases the functions that the entry does not name, because their calls are inlined.
static void eraseUnused(ModuleOp module, func::FuncOp main) {
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(main);
  if (!uses) {
    return;
  }
  DenseSet<StringAttr> used;
  for (SymbolTable::SymbolUse use : *uses) {
    used.insert(use.getSymbolRef().getRootReference());
  }
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function != main && !used.contains(function.getSymNameAttr())) {
      function.erase();
    }
  }
}

LogicalResult hlo::refineSizes(ModuleOp module, ArrayRef<SizeBound> bounds, const Budget &budget) {
  func::FuncOp main = stable::findEntry(module);
  if (!hasUnknownSizes(module)) {
    for (const SizeBound &bound : bounds) {
      if (bound.name != "all") {
        return module.emitError() << "--bound=" << bound.name << "<=" << bound.bound
                                  << ": the program has no sizes that are given at run time";
      }
    }
    return success();
  }
  if (!main || main.isExternal() || main.getBody().getBlocks().size() != 1) {
    return module.emitError("expected one function that is not private, of one block");
  }
  if (failed(openComposites(module))) {
    return failure();
  }
  std::vector<std::pair<std::string, Value>> names = readNames(module, main);
  LogicalResult inlined = inlineCalls(module, main, budget);
  for (auto &[name, value] : names) {
    Operation *marker = value.getDefiningOp();
    value = marker->getOperand(0);
    marker->erase();
  }
  if (failed(inlined) || failed(Refiner(main, bounds).run(names))) {
    return failure();
  }
  eraseUnused(module, main);
  return success();
}

namespace {
class RefineSizesPass : public PassWrapper<RefineSizesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefineSizesPass)
  RefineSizesPass() = default;
  RefineSizesPass(const RefineSizesPass &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "stablehlo-refine-sizes"; }
  StringRef getDescription() const final {
    return "Give the sizes that StableHLO leaves open expressions and bounds";
  }

  void runOnOperation() final {
    SmallVector<SizeBound> given;
    for (const std::string &text : bounds) {
      if (std::string fault = parseSizeBound(text, given.emplace_back()); !fault.empty()) {
        getOperation().emitError() << "bound " << text << ": " << fault;
        return signalPassFailure();
      }
    }
    if (failed(refineSizes(getOperation(), given))) {
      signalPassFailure();
    }
  }

private:
  ListOption<std::string> bounds{*this, "bound", llvm::cl::desc("Bounds, as of --bound: b<=64")};
};
} // namespace

void hlo::registerRefineSizesPass() { PassRegistration<RefineSizesPass>(); }

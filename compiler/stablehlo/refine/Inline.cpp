//===- Inline.cpp - Calls replaced by the functions' bodies ---------------===//
//
// JAX writes a function for each jitted one and passes sizes as arguments. Sizes are followed
// through one body only, so that each copy has the sizes of its call.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

/// Of functions that call each other; each level takes stack here.
static constexpr unsigned kMostDepth = 500;

namespace {
class Inliner {
public:
  Inliner(ModuleOp module, const Budget &budget) : symbols(module), budget(budget) {}

  /// Inlines all calls in a function, after those in the functions that it calls.
  LogicalResult run(func::FuncOp function, unsigned depth = 0) {
    if (depth > kMostDepth) {
      return function.emitError() << "calls of functions are nested more than " << kMostDepth
                                  << " deep";
    }
    auto [state, isNew] = states.try_emplace(function, State::InWork);
    if (!isNew) {
      return state->second == State::InWork
                 ? LogicalResult(function.emitError()
                                 << "function '" << function.getSymName() << "' calls itself")
                 : success();
    }
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = dyn_cast_or_null<func::FuncOp>(symbols.lookup(call.getCallee()));
      if (!callee || callee.isExternal()) {
        return call.emitError() << "there is no function '" << call.getCallee() << "'";
      }
      if (callee.getBody().getBlocks().size() != 1 ||
          callee.getBody().front().getArgumentTypes() != call.getOperandTypes()) {
        return call.emitError() << "function '" << call.getCallee()
                                << "' has parameters of other types";
      }
      if (failed(run(callee, depth + 1)) || failed(inlineCall(call, callee))) {
        return failure();
      }
    }
    states[function] = State::Done;
    return success();
  }

private:
  LogicalResult inlineCall(func::CallOp call, func::FuncOp callee) {
    OpBuilder builder(call);
    IRMapping map;
    Block &body = callee.getBody().front();
    bool isFirst = called.insert(callee).second;
    map.map(body.getArguments(), call.getOperands());
    for (Operation &op : body.without_terminator()) {
      // The first copy takes the function's place.
      if (!isFirst) {
        op.walk([&](Operation *) { ++made; });
      }
      if (made > budget.inlined) {
        return call.emitError() << "the calls of functions add more than " << budget.inlined
                                << " ops; " << budget.text(&Budget::inlined);
      }
      builder.clone(op, map);
    }
    for (auto [result, value] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands())) {
      result.replaceAllUsesWith(map.lookupOrDefault(value));
    }
    call.erase();
    return success();
  }

  enum class State { InWork, Done };
  SymbolTable symbols;
  const Budget &budget;
  uint64_t made = 0;
  llvm::DenseSet<Operation *> called;
  DenseMap<Operation *, State> states;
};
} // namespace

LogicalResult refine::inlineCalls(ModuleOp module, func::FuncOp main, const Budget &budget) {
  return Inliner(module, budget).run(main);
}

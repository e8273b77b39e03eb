//===- Functions.cpp - The entry, and the functions that it calls ---------===//
//
// The walk over calls has a stack of its own, so that the depth of calls in the text does not
// become depth of the compiler's stack.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Functions.h"
#include "compiler/stablehlo/Places.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace hlo::stable;
using llvm::StringRef;

func::FuncOp hlo::stable::findEntry(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  SmallVector<func::FuncOp> open;
  for (func::FuncOp function : functions) {
    if (function.getSymName() == "main" || functions.size() == 1) {
      return function;
    }
    if (!function.isPrivate()) {
      open.push_back(function);
    }
  }
  return open.size() == 1 ? open.front() : func::FuncOp();
}

namespace {
enum class State { Open, Done };

/// A function whose callees are being visited.
struct Visit {
  func::FuncOp function;
  /// Those not visited yet, the next one last.
  SmallVector<std::pair<StringRef, Location>> callees;
};
} // namespace

/// Names of functions that an op refers to.
static SmallVector<StringRef> calleesOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    return {call.getCallee()};
  }
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op)) {
    return {composite.getDecomposition()};
  }
  SmallVector<StringRef> names;
  if (auto custom = dyn_cast<stablehlo::CustomCallOp>(op)) {
    for (auto symbol : custom.getCalledComputations().getAsRange<FlatSymbolRefAttr>()) {
      names.push_back(symbol.getValue());
    }
  }
  return names;
}

static Visit visit(func::FuncOp function) {
  Visit made{function, {}};
  function.walk([&](Operation *op) {
    for (StringRef name : calleesOf(op)) {
      made.callees.emplace_back(name, op->getLoc());
    }
  });
  std::reverse(made.callees.begin(), made.callees.end());
  return made;
}

static bool hasOneBlock(func::FuncOp function) {
  if (!function.isExternal() && function.getBody().hasOneBlock()) {
    return true;
  }
  function.emitError() << "function @" << function.getSymName()
                       << (function.isExternal() ? " has no body" : " has several blocks");
  return false;
}

FailureOr<std::vector<func::FuncOp>> hlo::stable::callOrder(ModuleOp module, func::FuncOp entry) {
  SymbolTable symbols(module);
  llvm::StringMap<State> states;
  std::vector<func::FuncOp> order;
  std::vector<Visit> stack;
  bool valid = true;
  auto enter = [&](func::FuncOp function) {
    valid &= hasOneBlock(function);
    states[function.getSymName()] = State::Open;
    stack.push_back(visit(function));
  };
  enter(entry);
  while (!stack.empty()) {
    Visit &top = stack.back();
    if (top.callees.empty()) {
      states[top.function.getSymName()] = State::Done;
      order.push_back(top.function);
      stack.pop_back();
      continue;
    }
    auto [name, at] = top.callees.pop_back_val();
    auto found = states.find(name);
    if (found == states.end()) {
      // The op reports a function that does not exist.
      if (auto callee = symbols.lookup<func::FuncOp>(name)) {
        enter(callee);
      }
    } else if (found->second == State::Open) {
      mlir::emitError(placeOf(at)) << "function @" << name << " calls itself";
      return failure();
    }
  }
  if (!valid) {
    return failure();
  }
  return order;
}

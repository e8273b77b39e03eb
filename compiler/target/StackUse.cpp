//===- StackUse.cpp - Stack bound of a program ----------------------------===//
//
// In: LLVM IR of an object's modules, and the frame sizes from the code generator. Out: a bound on
// the stack of the whole program.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/StackUse.h"
#include "compiler/support/Stack.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Added to a frame: the return address, and padding to align the frame to a cache line.
static constexpr uint64_t besideFrame = 8 + 64;

void hlo::StackUse::addCalls(Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration()) {
      continue;
    }
    function.addFnAttr("warn-stack-size", "0");
    Function &known = functions[function.getName()];
    for (const Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&instruction);
      const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      if (call && !(callee && callee->isIntrinsic())) {
        known.callees.insert(callee ? callee->getName() : "");
      }
    }
  }
}

void hlo::StackUse::addFrame(StringRef function, uint64_t bytes) {
  Function &known = functions[function];
  known.frame = std::max(known.frame, bytes);
}

void hlo::StackUse::add(const StackUse &other) {
  for (const auto &each : other.functions) {
    addFrame(each.first(), each.second.frame);
    for (const auto &callee : each.second.callees) {
      functions[each.first()].callees.insert(callee.first());
    }
  }
}

bool hlo::isTaskFunction(StringRef name) {
  return name.starts_with("task.") || name.starts_with("stage.") || name == "copy.task";
}

/// Bounds of functions, each computed once. There is no recursion among generated functions.
class hlo::StackUse::Bounds {
public:
  Bounds(const StringMap<Function> &functions, ArrayRef<std::string> kernels)
      : functions(functions), kernels(kernels) {}

  uint64_t of(StringRef name) {
    auto function = functions.find(name);
    if (function == functions.end()) {
      return ofRuntime(name);
    }
    if (auto bound = known.find(name); bound != known.end()) {
      return bound->second;
    }
    uint64_t most = 0;
    for (const auto &callee : function->second.callees) {
      most = std::max(most, callee.first().empty() ? ofKernels() : of(callee.first()));
    }
    return known[name] = function->second.frame + besideFrame + most;
  }

private:
  uint64_t ofRuntime(StringRef name) {
    if (name.starts_with("hlo_rt_collective_")) {
      return kRuntimeStackBytes + kCollectiveStackBytes + ofKernels();
    }
    return kRuntimeStackBytes + (name.starts_with("hlo_rt_parallel") ? ofTasks() : 0);
  }
  uint64_t ofKernels() {
    if (!mostOfKernels) {
      mostOfKernels = 0;
      for (const std::string &kernel : kernels) {
        mostOfKernels = std::max(*mostOfKernels, of(kernel));
      }
    }
    return *mostOfKernels;
  }
  uint64_t ofTasks() {
    if (!mostOfTasks) {
      mostOfTasks = 0;
      for (const auto &task : functions) {
        if (isTaskFunction(task.first())) {
          mostOfTasks = std::max(*mostOfTasks, of(task.first()));
        }
      }
    }
    return *mostOfTasks;
  }

  const StringMap<Function> &functions;
  ArrayRef<std::string> kernels;
  StringMap<uint64_t> known;
  std::optional<uint64_t> mostOfKernels, mostOfTasks;
};

uint64_t hlo::StackUse::boundOf(StringRef function, ArrayRef<std::string> kernels) const {
  return Bounds(functions, kernels).of(function);
}

std::pair<std::string, uint64_t> hlo::StackUse::largest() const {
  std::pair<std::string, uint64_t> result;
  for (const auto &each : functions) {
    if (std::pair(each.second.frame, result.first) > std::pair(result.second, each.first().str())) {
      result = {each.first().str(), each.second.frame};
    }
  }
  return result;
}

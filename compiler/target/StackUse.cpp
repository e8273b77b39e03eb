//===- StackUse.cpp - How much stack a program needs ----------------------===//
//
// In: LLVM IR of an object's modules, and the frames that the code generator gave its
// functions. Out: a bound for the whole program.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/StackUse.h"
#include "compiler/support/Stack.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Beside a frame: the return address, and what aligning the frame to a cache line may skip.
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

uint64_t hlo::StackUse::boundOfKernels(ArrayRef<std::string> kernels) const {
  uint64_t most = 0;
  for (const std::string &kernel : kernels) {
    most = std::max(most, boundOf(kernel, kernels));
  }
  return most;
}

uint64_t hlo::StackUse::boundOf(StringRef function, ArrayRef<std::string> kernels) const {
  // No function calls itself, so that the recursion ends; each result is needed once or twice.
  auto known = functions.find(function);
  if (known == functions.end()) {
    return kRuntimeStackBytes;
  }
  uint64_t most = 0;
  for (const auto &callee : known->second.callees) {
    StringRef name = callee.first();
    if (name.empty()) {
      most = std::max(most, boundOfKernels(kernels));
      continue;
    }
    uint64_t below = boundOf(name, kernels);
    if (name.starts_with("hlo_rt_parallel")) {
      for (const auto &task : functions) {
        if (isTaskFunction(task.first())) {
          below = std::max(below, kRuntimeStackBytes + boundOf(task.first(), kernels));
        }
      }
    }
    if (name == "hlo_rt_collective_run") {
      below += kCollectiveStackBytes + boundOfKernels(kernels);
    }
    most = std::max(most, below);
  }
  return known->second.frame + besideFrame + most;
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

//===- Kernels.cpp - Phase emit: kernels to functions, in groups ----------===//
//
// In: a planned module. Out: one module of llvm.func per group of kernels; each function
// has the form of compiler/README.md, "A kernel". Their pointers are marked with what the
// plan promises: a result overlaps an operand only where the fusion lists the pair.
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Kernels.h"
#include "compiler/codegen/Kernel.h"

using namespace mlir;
using namespace hlo;

/// Weight from which a group is split off: a few tens of milliseconds of LLVM's time, next to
/// which the fixed cost of a module (about 1 ms) does not count.
static constexpr int64_t groupWeight = 200;
static constexpr int64_t maxGroups = 32;

/// A guess at how much code a kernel becomes.
static int64_t weigh(FusionOp fusion) {
  int64_t weight = 4;
  fusion.getBody().walk([&](Operation *op) {
    weight += isa<DotOp, ConvolutionOp, SortOp, FftOp>(op) ? 60
              : isa<ReduceOp, ReduceWindowOp, ScatterOp>(op) ? 12
                                                             : 2;
  });
  return weight;
}

std::vector<KernelUnit> hlo::collectKernels(ModuleOp planned, StringRef prefix) {
  std::vector<KernelUnit> units;
  for (auto kernel : planned.getOps<cpurt::KernelOp>()) {
    std::string symbol = (prefix + (prefix.empty() ? "" : ".") + kernel.getSymName()).str();
    units.push_back({kernel, symbol, weigh(kernel.getFusion())});
  }
  return units;
}

std::vector<KernelGroup> hlo::groupKernels(ArrayRef<KernelUnit> units, bool single) {
  int64_t total = 0;
  for (const KernelUnit &unit : units) {
    total += unit.weight;
  }
  int64_t count = single ? 1 : std::clamp<int64_t>(total / groupWeight + 1, 1, maxGroups);
  count = std::min<int64_t>(count, units.size());
  std::vector<KernelGroup> groups(count);
  // The heaviest first, each to the group that has least so far; ties by place.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, units.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-units[a].weight, a) < std::pair(-units[b].weight, b);
  });
  SmallVector<int64_t> load(count, 0);
  for (unsigned unit : order) {
    size_t least = llvm::min_element(load) - load.begin();
    load[least] += units[unit].weight;
    groups[least].units.push_back(unit);
  }
  for (KernelGroup &group : groups) {
    llvm::sort(group.units);
  }
  return groups;
}

/// Which operands share a buffer with a result, and which results with an operand.
static void collectPairs(FusionOp fusion, StringRef name, SmallVectorImpl<bool> &sharedOperand,
                         SmallVectorImpl<bool> &sharedResult) {
  if (auto pairs = fusion->getAttrOfType<DenseI64ArrayAttr>(name)) {
    for (size_t i = 0; i + 1 < pairs.asArrayRef().size(); i += 2) {
      sharedResult[pairs[i]] = true;
      sharedOperand[pairs[i + 1]] = true;
    }
  }
}

/// Marks the pointers of a kernel. An operand that no result shares is only read, and may be
/// marked noalias even if another operand is the same buffer.
static void markPointers(FusionOp fusion, LLVM::LLVMFuncOp function) {
  unsigned operands = fusion->getNumOperands(), results = fusion->getNumResults();
  SmallVector<bool> sharedOperand(operands, false), sharedResult(results, false);
  collectPairs(fusion, "in_place", sharedOperand, sharedResult);
  collectPairs(fusion, "may_alias", sharedOperand, sharedResult);
  Attribute unit = UnitAttr::get(function.getContext());
  for (unsigned i = 0; i < operands + results; ++i) {
    bool shared = i < operands ? sharedOperand[i] : sharedResult[i - operands];
    function.setArgAttr(i, LLVM::LLVMDialect::getNoCaptureAttrName(), unit);
    if (!shared) {
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    }
    if (!shared && i < operands) {
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), unit);
    }
  }
}

/// Emits one fusion; returns its number of tasks.
static FailureOr<int64_t> emitOne(FusionOp fusion, StringRef symbol, const Target &target,
                                  ModuleOp computations, ModuleOp into) {
  FailureOr<int64_t> tasks = codegen::emitKernel(fusion, symbol, target, computations, into);
  if (succeeded(tasks)) {
    markPointers(fusion, cast<LLVM::LLVMFuncOp>(into.getBody()->back()));
  }
  return tasks;
}

LogicalResult hlo::emitGroup(KernelGroup &group, MutableArrayRef<KernelUnit> units,
                             ModuleOp planned, const Target &target) {
  group.module = ModuleOp::create(planned.getLoc());
  for (unsigned index : group.units) {
    KernelUnit &unit = units[index];
    FailureOr<int64_t> tasks =
        emitOne(unit.op.getFusion(), unit.symbol, target, planned, *group.module);
    if (failed(tasks)) {
      return failure();
    }
    unit.tasks = *tasks;
  }
  return success();
}

LogicalResult hlo::emitAllKernels(ModuleOp module, const Target &target, ModuleOp into) {
  for (KernelUnit &unit : collectKernels(module, "")) {
    if (failed(emitOne(unit.op.getFusion(), unit.symbol, target, module, into))) {
      return failure();
    }
  }
  unsigned number = 0;
  WalkResult result = module.walk([&](FusionOp fusion) {
    if (!fusion.getStrategy() || fusion->getParentOfType<cpurt::KernelOp>()) {
      return WalkResult::advance();
    }
    std::string name = "kernel" + std::to_string(number++);
    FailureOr<int64_t> tasks = emitOne(fusion, name, target, module, into);
    if (failed(tasks)) {
      return WalkResult::interrupt();
    }
    into.getBody()->back().setAttr("tasks", Builder(module.getContext()).getI64IntegerAttr(*tasks));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===- Kernels.cpp - Phase emit: kernels to functions, in groups ----------===//
//
// In: a planned module. Out: one module of llvm.func per group of kernels; each function has the
// form of compiler/README.md, "A kernel". Pointer attributes state the plan's aliasing: a result
// overlaps an operand only if the fusion lists the pair and some launch gives both one buffer.
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Kernels.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/Outline.h"
#include "compiler/codegen/Scratch.h"

#include <set>

using namespace mlir;
using namespace hlo;

/// Weight from which a group is split: a few tens of milliseconds of LLVM's time, so that the fixed
/// cost of a module (about 1 ms) does not matter.
static constexpr int64_t groupWeight = 200;
static constexpr int64_t maxGroups = 32;

/// An estimate of the kernel's code size.
static int64_t weigh(FusionOp fusion) {
  int64_t weight = 4;
  fusion.getBody().walk([&](Operation *op) { weight += propertiesOf(op).codeWeight; });
  return weight;
}

/// Pairs of an output and an input that the caller may pass one buffer for. A std::set, since no
/// value of a module given as MLIR is reserved.
using LeafAliases = std::set<std::pair<int64_t, int64_t>>;

/// True if two buffers may be the same. Slices of the arena overlap only if they start at one
/// place; an input and an output, if the module lets the caller pass one buffer for both.
static bool mayBeSame(Value a, Value b, const LeafAliases &aliases) {
  if (a == b) {
    return true;
  }
  auto sliceA = a.getDefiningOp<cpurt::ArenaOp>(), sliceB = b.getDefiningOp<cpurt::ArenaOp>();
  if (sliceA && sliceB) {
    return sliceA.getOffset() == sliceB.getOffset();
  }
  auto input = a.getDefiningOp<cpurt::InputOp>();
  auto output = b.getDefiningOp<cpurt::OutputOp>();
  if (!input && !output) {
    input = b.getDefiningOp<cpurt::InputOp>();
    output = a.getDefiningOp<cpurt::OutputOp>();
  }
  return input && output && aliases.count({output.getIndex(), input.getIndex()}) != 0;
}

/// Visits the pairs of a fusion's attribute: result, operand, result, operand, ...
static void forEachPair(FusionOp fusion, llvm::function_ref<void(unsigned, unsigned)> visit) {
  for (StringRef name : {"in_place", "may_alias"}) {
    if (auto pairs = fusion->getAttrOfType<DenseI64ArrayAttr>(name)) {
      for (size_t i = 0; i + 1 < pairs.asArrayRef().size(); i += 2) {
        visit(pairs[i], pairs[i + 1]);
      }
    }
  }
}

std::vector<KernelUnit> hlo::collectKernels(ModuleOp planned, StringRef prefix) {
  std::vector<KernelUnit> units;
  llvm::StringMap<unsigned> byName;
  for (auto kernel : planned.getOps<cpurt::KernelOp>()) {
    std::string symbol = (prefix + (prefix.empty() ? "" : ".") + kernel.getSymName()).str();
    byName[kernel.getSymName()] = units.size();
    units.push_back({kernel, symbol, weigh(kernel.getFusion())});
  }
  LeafAliases aliases;
  if (auto pairs = planned->getAttrOfType<DenseI64ArrayAttr>("hlo.leaf_alias")) {
    for (size_t i = 0; i + 1 < pairs.asArrayRef().size(); i += 2) {
      aliases.insert({pairs[i], pairs[i + 1]});
    }
  }
  // The runtime may call a kernel with any sharing that the pairs allow.
  planned.walk([&](cpurt::CallOp call) {
    for (Attribute name :
         call.getKernelsAttr() ? call.getKernelsAttr().getValue() : ArrayRef<Attribute>()) {
      KernelUnit &unit = units[byName.lookup(cast<FlatSymbolRefAttr>(name).getValue())];
      unit.calledByRuntime = true;
      if (unit.shared.empty()) {
        forEachPair(unit.op.getFusion(), [&](unsigned result, unsigned operand) {
          unit.shared.push_back({result, operand});
        });
      }
    }
  });
  planned.walk([&](cpurt::LaunchOp launch) {
    auto known = byName.find(launch.getKernel());
    if (known == byName.end()) {
      return;
    }
    KernelUnit &unit = units[known->second];
    FusionOp fusion = unit.op.getFusion();
    forEachPair(fusion, [&](unsigned result, unsigned operand) {
      Value out = launch.getBuffers()[fusion->getNumOperands() + result];
      std::pair<unsigned, unsigned> pair(result, operand);
      if (mayBeSame(launch.getBuffers()[operand], out, aliases) &&
          !llvm::is_contained(unit.shared, pair)) {
        unit.shared.push_back(pair);
      }
    });
  });
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
  // Assigns units by decreasing weight, each to the lightest group so far; ties by position.
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

/// Sets the pointer attributes of a kernel. An operand that no result shares is only read, so it
/// may be noalias even if another operand is the same buffer.
static void markPointers(FusionOp fusion, ArrayRef<std::pair<unsigned, unsigned>> pairs,
                         LLVM::LLVMFuncOp function) {
  unsigned operands = fusion->getNumOperands(), results = fusion->getNumResults();
  SmallVector<bool> sharedOperand(operands, false), sharedResult(results, false);
  for (auto [result, operand] : pairs) {
    sharedResult[result] = true;
    sharedOperand[operand] = true;
  }
  // All at once: to set an attribute of one argument makes the list of all of them anew.
  MLIRContext *context = function.getContext();
  Attribute unit = UnitAttr::get(context);
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  for (unsigned i = 0; i < operands + results; ++i) {
    bool shared = i < operands ? sharedOperand[i] : sharedResult[i - operands];
    NamedAttrList list(attributes[i]);
    list.set(LLVM::LLVMDialect::getNoCaptureAttrName(), unit);
    if (!shared) {
      list.set(LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    }
    if (!shared && i < operands) {
      list.set(LLVM::LLVMDialect::getReadonlyAttrName(), unit);
    }
    attributes[i] = list.getDictionary(context);
  }
  function.setAllArgAttrs(attributes);
}

namespace {
/// Facts about an emitted function.
struct EmittedKernel {
  codegen::KernelTasks tasks;
  codegen::KernelMemory memory;
};
} // namespace

/// Emits one fusion. `fixedType`: without an argument for scratch memory or for a table of buffers.
static FailureOr<EmittedKernel> emitOne(FusionOp fusion,
                                        ArrayRef<std::pair<unsigned, unsigned>> shared,
                                        StringRef symbol, const Machine &machine,
                                        ModuleOp computations, ModuleOp into,
                                        bool fixedType = false, KernelChoice *choice = nullptr) {
  FailureOr<codegen::KernelTasks> tasks =
      codegen::emitKernel(fusion, symbol, machine, computations, into, choice);
  if (failed(tasks)) {
    return failure();
  }
  auto function = into.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  markPointers(fusion, shared, function);
  FailureOr<codegen::KernelMemory> memory = codegen::giveScratch(function, fixedType);
  if (failed(memory)) {
    return failure();
  }
  if (!fixedType) {
    codegen::takeTable(function, fusion.getNumOperands() + fusion.getNumResults());
  }
  codegen::outlineLoops(function);
  return EmittedKernel{*tasks, *memory};
}

/// Whether a kernel uses matrix registers.
static bool usesTiles(LLVM::LLVMFuncOp kernel, const Machine &machine) {
  return llvm::any_of(machine.products, [&](const Product &product) {
    return product.tiles && product.tiles->areUsedBy(kernel);
  });
}

LogicalResult hlo::emitGroup(KernelGroup &group, MutableArrayRef<KernelUnit> units,
                             ModuleOp planned, const Machine &machine) {
  group.module = ModuleOp::create(planned.getLoc());
  for (unsigned index : group.units) {
    KernelUnit &unit = units[index];
    FailureOr<EmittedKernel> kernel =
        emitOne(unit.op.getFusion(), unit.shared, unit.symbol, machine, planned, *group.module,
                unit.calledByRuntime, unit.choice ? &*unit.choice : nullptr);
    if (failed(kernel)) {
      return failure();
    }
    unit.tasks = kernel->tasks.count;
    unit.barriers = kernel->tasks.barriers;
    unit.variableBytes = kernel->memory.variables;
    unit.scratchBytes = kernel->memory.scratch;
    unit.usesTiles = usesTiles(group.module->lookupSymbol<LLVM::LLVMFuncOp>(unit.symbol), machine);
  }
  return success();
}

LogicalResult hlo::emitAllKernels(ModuleOp module, const Machine &machine, ModuleOp into) {
  for (KernelUnit &unit : collectKernels(module, "")) {
    if (failed(emitOne(unit.op.getFusion(), unit.shared, unit.symbol, machine, module, into))) {
      return failure();
    }
  }
  unsigned number = 0;
  WalkResult result = module.walk([&](FusionOp fusion) {
    if (!fusion.getStrategy() || fusion->getParentOfType<cpurt::KernelOp>()) {
      return WalkResult::advance();
    }
    std::string name = "kernel" + std::to_string(number++);
    SmallVector<std::pair<unsigned, unsigned>> shared;
    forEachPair(fusion,
                [&](unsigned result, unsigned operand) { shared.emplace_back(result, operand); });
    FailureOr<EmittedKernel> kernel = emitOne(fusion, shared, name, machine, module, into);
    if (failed(kernel)) {
      return WalkResult::interrupt();
    }
    Builder builder(module.getContext());
    Operation *function = into.lookupSymbol(name);
    function->setAttr("tasks", builder.getI64IntegerAttr(kernel->tasks.count));
    if (!kernel->tasks.barriers.empty()) {
      function->setAttr("barriers", builder.getDenseI64ArrayAttr(kernel->tasks.barriers));
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

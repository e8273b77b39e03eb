//===- SmallLoops.cpp - Loops that become one function --------------------===//
//
// In: a planned entry. Out: the loops that become a function of their own. In such a function
// kernels are inlined, the arena is a noalias pointer, and LLVM keeps the loop's carries in
// registers: an iteration of a counting loop costs a nanosecond instead of a call and a round trip
// through memory per kernel.
//
// The decision uses only the plan and static sizes.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/entry/SmallLoops.h"
#include "compiler/plans/Strategies.h"
#include "compiler/target/entry/Entry.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hlo;

/// Most elements that one kernel of a small loop may write or reduce, and most ops in it.
static constexpr int64_t maxElements = 256;
static constexpr int64_t maxKernelOps = 128;
/// Most launches and ops in a whole loop: bounds its compile time.
static constexpr int64_t maxLaunches = 48;
static constexpr int64_t maxLoopOps = 512;

static int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : maxElements + 1;
}

std::optional<int64_t> hlo::opsOfSmallKernel(FusionOp fusion) {
  std::optional<Strategy> strategy = kernelStrategy(fusion);
  SmallForm form = strategy ? propertiesOf(*strategy).small : SmallForm::Never;
  if (form == SmallForm::Never) {
    return std::nullopt;
  }
  int64_t ops = 0;
  bool small = true;
  fusion.getBody().walk([&](Operation *op) {
    ++ops;
    if (auto update = dyn_cast<DynamicUpdateSliceOp>(op); update && form == SmallForm::Update) {
      small &= elementsOf(update.getUpdate().getType()) <= maxElements;
    } else if (isa<ReduceOp, ReduceWindowOp>(op)) {
      small &= elementsOf(op->getOperand(0).getType()) <= maxElements;
    } else if (!isa<ReturnOp>(op)) {
      small &= form == SmallForm::Update || llvm::all_of(op->getResultTypes(), [](Type type) {
                 return elementsOf(type) <= maxElements;
               });
    }
  });
  return small && ops <= maxKernelOps ? std::optional<int64_t>(ops) : std::nullopt;
}

namespace {
struct Finder {
  StringRef prefix;
  const llvm::StringMap<KernelInfo> &kernels;
  SmallLoops found;

  bool isSmall(cpurt::WhileOp loop);
  void visit(Block &block);
};
} // namespace

bool Finder::isSmall(cpurt::WhileOp loop) {
  int64_t launches = 0, ops = 0;
  // Outer loops first: a nest that is too large is left at once, not walked at each of its levels.
  WalkResult result = loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (launches > maxLaunches || ops > maxLoopOps) {
      return WalkResult::interrupt();
    }
    if (auto copy = dyn_cast<cpurt::CopyOp>(op)) {
      ++ops;
      return copy.getBytes() <= 4 * maxElements ? WalkResult::advance() : WalkResult::interrupt();
    }
    if (isa<cpurt::CallOp>(op)) {
      return WalkResult::interrupt();
    }
    auto launch = dyn_cast<cpurt::LaunchOp>(op);
    if (!launch) {
      return WalkResult::advance();
    }
    auto info = kernels.find(launch.getKernel());
    if (info == kernels.end() || !info->second.smallOps || info->second.tasks > 1) {
      return WalkResult::interrupt();
    }
    ++launches;
    ops += *info->second.smallOps;
    return WalkResult::advance();
  });
  // A loop without kernels has nothing to inline.
  return !result.wasInterrupted() && launches > 0 && launches <= maxLaunches && ops <= maxLoopOps;
}

/// Leaves that a loop refers to.
template <typename LeafOp> static llvm::SmallVector<int64_t> leavesOf(cpurt::WhileOp loop) {
  llvm::SetVector<int64_t> leaves;
  loop->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (auto leaf = operand.getDefiningOp<LeafOp>()) {
        leaves.insert(leaf.getIndex());
      }
    }
  });
  llvm::SmallVector<int64_t> sorted(leaves.begin(), leaves.end());
  llvm::sort(sorted);
  return sorted;
}

void Finder::visit(Block &block) {
  for (Operation &op : block) {
    auto loop = dyn_cast<cpurt::WhileOp>(op);
    if (loop && isSmall(loop)) {
      SmallLoop &entry = found[&op];
      entry.symbol = (prefix + ".loop" + llvm::Twine(found.size() - 1)).str();
      entry.inputs = leavesOf<cpurt::InputOp>(loop);
      entry.outputs = leavesOf<cpurt::OutputOp>(loop);
      continue;
    }
    for (Region &region : op.getRegions()) {
      for (Block &inner : region) {
        visit(inner);
      }
    }
  }
}

SmallLoops hlo::findSmallLoops(cpurt::EntryOp entry, StringRef prefix,
                               const llvm::StringMap<KernelInfo> &kernels) {
  Finder finder{prefix, kernels, {}};
  finder.visit(entry.getBody().front());
  ArenaUses uses(entry, [&](Operation *op) { return finder.found.contains(op); });
  for (auto &[loop, small] : finder.found) {
    small.slots = loopSlots(cast<cpurt::WhileOp>(loop), uses);
  }
  return std::move(finder.found);
}

llvm::MapVector<StringRef, bool> hlo::kernelsOf(const SmallLoops &loops, ModuleOp planned) {
  llvm::StringMap<unsigned> launches, inLoops;
  planned.walk([&](cpurt::LaunchOp launch) { ++launches[launch.getKernel()]; });
  for (const auto &loop : loops) {
    loop.first->walk([&](cpurt::LaunchOp launch) { ++inLoops[launch.getKernel()]; });
  }
  llvm::MapVector<StringRef, bool> kernels;
  for (auto kernel : planned.getOps<cpurt::KernelOp>()) {
    StringRef name = kernel.getSymName();
    if (unsigned count = inLoops.lookup(name)) {
      kernels[name] = count < launches.lookup(name);
    }
  }
  return kernels;
}

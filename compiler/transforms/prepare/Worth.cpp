//===- Worth.cpp - The cost rule of prepared values -----------------------===//
//
// A prepared array occupies memory for the life of the program, and every call reads it. In return
// a call saves the work that computes it. In terms of
//
//   bytes    of the value
//   sources  bytes of the parameters, constants and prepared arrays that it is computed from
//   work     cost per element of all ops on the way (fusion's costs: 1 an addition, about 20
//            an exponential); reductions, dots and the like count as much
//
// the rule before fusion is
//
//   only relabelled, broadcast or widened     no: its reader does that while it reads
//   result of an op that is its own kernel    yes: it would be stored in every call
//   small (64 KiB)                            yes, if there is any work or a transpose
//   no larger than its sources                yes, from a division on, or if it is a transpose
//   larger                                    from an exponential on, up to 16 MiB
//   read in parts (gather, slice)             no, unless its op is its own kernel
//   read from memory, for instance by a dot   yes, if no larger than its sources and there is
//                                             any work, or if it is a transpose of up to 4 times
//                                             their bytes (panels); dequantized weights are left
//                                             to the second round: the dot may read them directly
//
// and after fusion, for a kernel, whose result would be stored in every call,
//
//   at most 4 times its operands, or small    yes (an operand read directly has no kernel)
//   larger                                    from an addition and a division on, up to 16 MiB
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/prepare/Worth.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Cost.h"

using namespace mlir;
using namespace hlo;

static constexpr int64_t smallBytes = 64 << 10, mostBytes = 16 << 20;
/// Most bytes of an array per byte of its sources.
static constexpr int64_t mostGrowth = 4;
static constexpr double someWork = 4, muchWork = 16;
/// Ops of a chain that are examined; longer chains are always worth it.
static constexpr size_t mostOps = 256;

Use hlo::useOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<GatherOp, DynamicSliceOp, SliceOp>(op) && operand.getOperandNumber() == 0) {
    return Use::Parts;
  }
  if (isa<ReturnOp>(op)) {
    return Use::Registers;
  }
  Role role = fusion::roleOf(op);
  return role == Role::Hero || role == Role::TopLevel ? Use::Memory : Use::Registers;
}

/// True if the op's result is stored anyway, because the op is a kernel or a loop.
static bool standsAlone(Operation *op) {
  Role role = fusion::roleOf(op);
  return role == Role::Hero || isa<WhileOp, ConditionalOp>(op) ||
         (role == Role::Reduce && fusion::costOf(op) > someWork);
}

namespace {
/// The ops that compute a value, down to arrays that exist in the entry.
struct Chain {
  int64_t sources = 0;
  double work = 0; ///< summed over all elements
  bool permutes = false, standsAlone = false;
};
} // namespace

static Chain follow(Value value, const llvm::SetVector<Value> &kept) {
  Chain chain;
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    Operation *op = seen[i].getDefiningOp();
    if (!op || (isa<ConstantOp>(op) && !fusion::isSplatConstant(op)) || kept.contains(seen[i])) {
      chain.sources += bytesOf(seen[i]);
      continue;
    }
    if (seen.size() > mostOps || standsAlone(op)) {
      chain.standsAlone = true;
      return chain;
    }
    chain.work += static_cast<double>(fusion::costOf(op)) * fusion::resultElements(op);
    chain.permutes |= isa<TransposeOp, ReverseOp, GatherOp, ConcatenateOp, PadOp>(op);
    seen.insert(op->operand_begin(), op->operand_end());
  }
  return chain;
}

/// The rule for kernels, after fusion.
static bool isKernelWorthKeeping(FusionOp kernel, Value value) {
  int64_t bytes = bytesOf(value), sources = 0;
  for (Value operand : kernel->getOperands()) {
    sources += bytesOf(operand);
  }
  double work = 0;
  bool alone = false;
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<ReturnOp>(op)) {
      work += static_cast<double>(fusion::costOf(op)) * fusion::resultElements(op);
      alone |= standsAlone(op);
    }
  });
  if (bytes <= mostGrowth * sources || (bytes <= smallBytes && work > 0)) {
    return true;
  }
  return bytes <= mostBytes &&
         (alone || work > someWork * static_cast<double>(std::max<int64_t>(1, elementsOf(value))));
}

bool hlo::isWorthKeeping(Value value, Use use, const llvm::SetVector<Value> &kept) {
  Operation *op = value.getDefiningOp();
  if (isa<BitcastOp, ReshapeOp, BroadcastOp, IotaOp, CopyOp>(op)) {
    return false;
  }
  if (auto kernel = dyn_cast<FusionOp>(op)) {
    return isKernelWorthKeeping(kernel, value);
  }
  if (standsAlone(op)) {
    return true;
  }
  if (use == Use::Parts) {
    return false;
  }
  int64_t bytes = bytesOf(value);
  if (auto convert = dyn_cast<ConvertOp>(op);
      convert && use == Use::Registers && bytes < bytesOf(convert.getOperand())) {
    return true;
  }
  Chain chain = follow(value, kept);
  if (chain.standsAlone) {
    return bytes <= mostBytes || bytes <= mostGrowth * chain.sources;
  }
  double work = chain.work / static_cast<double>(std::max<int64_t>(1, elementsOf(value)));
  if (use == Use::Memory) {
    return (work > 0 && bytes <= chain.sources) ||
           (chain.permutes && bytes <= mostGrowth * chain.sources);
  }
  if (bytes <= smallBytes) {
    return work > 0 || chain.permutes;
  }
  if (bytes <= chain.sources) {
    return work >= someWork || chain.permutes;
  }
  return work >= muchWork && bytes <= mostBytes;
}

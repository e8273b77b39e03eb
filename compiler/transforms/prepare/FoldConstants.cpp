//===- FoldConstants.cpp - Values of constants, computed here -------------===//
//
// In: a value of the entry. Out: if it depends on constants only, its elements as one constant,
// under these conditions:
//
//   its ops        are those of analysis/evaluator/LargeArrays.h, up to 256
//   its sources    constants with elements of their own, have 4 KiB or more: what is computed from
//                  smaller ones is left to hlo-constant-folding
//   its bytes      are at most twice those of its sources, as the object grows by the difference
//   on the way     no array has more than 8 times the bytes of the sources
//
// All that one module computes is bounded by a multiple of the bytes of its constants.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/prepare/FoldConstants.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/LargeArrays.h"
#include "dialect/hlo/Builder.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hlo;

static constexpr int64_t leastBytes = 4096, mostGrowth = 2, mostGrowthOnTheWay = 8;
static constexpr size_t mostOps = 256;
/// Bytes of arrays that are computed per byte of a constant; and at least so many.
static constexpr int64_t workPerByte = 64, leastWork = int64_t(64) << 20;

/// A constant whose elements are not all equal; else null.
static DenseElementsAttr sourceOf(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return value && !value.isSplat() ? value : DenseElementsAttr();
}

static int64_t sourceBytes(Operation *op) { return sourceOf(op) ? bytesOf(op->getResult(0)) : 0; }

bool hlo::hasLargeConstants(ComputationOp computation) {
  return llvm::any_of(computation.getBody().front(),
                      [](Operation &op) { return sourceBytes(&op) >= leastBytes; });
}

using Ops = llvm::SetVector<Operation *>;

/// The ops that compute a value, if it may be folded.
static std::optional<Ops> foldableOps(Value value) {
  Ops ops;
  auto add = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op) {
      ops.insert(op);
    }
    return op != nullptr;
  };
  if (!add(value)) {
    return std::nullopt;
  }
  int64_t sources = 0, largest = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *op = ops[i];
    if (ops.size() > mostOps || !canEvaluateLarge(op) || !llvm::all_of(op->getOperands(), add)) {
      return std::nullopt;
    }
    sources += sourceBytes(op);
    op->walk([&](Operation *inner) {
      if (inner->getNumResults() == 1) {
        largest = std::max(largest, bytesOf(inner->getResult(0)));
      }
    });
  }
  bool fits = sources >= leastBytes && bytesOf(value) / mostGrowth <= sources &&
              largest / mostGrowthOnTheWay <= sources;
  return fits ? std::optional(ops) : std::nullopt;
}

bool hlo::isFoldable(Value value) { return foldableOps(value).has_value(); }

DenseElementsAttr hlo::largestSource(Value value) {
  Operation *largest = nullptr;
  const Ops ops = *foldableOps(value);
  for (Operation *op : ops) {
    if (sourceOf(op) && (!largest || sourceBytes(op) > sourceBytes(largest))) {
      largest = op;
    }
  }
  return sourceOf(largest);
}

/// What equal values have in common: their ops with attributes and types, which exist once in a
/// context, and whose results each op reads. Empty if there are regions.
static std::vector<const void *> describe(const Ops &ops) {
  llvm::DenseMap<Operation *, size_t> numbers;
  for (Operation *op : ops) {
    numbers.insert({op, numbers.size()});
  }
  std::vector<const void *> text;
  for (Operation *op : ops) {
    if (op->getNumRegions()) {
      return {};
    }
    text.insert(text.end(),
                {op->getName().getAsOpaquePointer(), op->getAttrDictionary().getAsOpaquePointer(),
                 op->getResult(0).getType().getAsOpaquePointer()});
    for (Value operand : op->getOperands()) {
      text.push_back(reinterpret_cast<const void *>(numbers.lookup(operand.getDefiningOp())));
    }
  }
  return text;
}

ConstantFolder::ConstantFolder(ArrayRef<ComputationOp> programs) : budget(leastWork) {
  llvm::SetVector<Attribute> seen;
  for (ComputationOp program : programs) {
    for (Operation &op : program.getBody().front()) {
      if (DenseElementsAttr source = sourceOf(&op); source && seen.insert(source)) {
        budget += sourceBytes(&op) * workPerByte;
      }
    }
  }
}

bool ConstantFolder::fold(Value value) {
  std::optional<Ops> ops = foldableOps(value);
  if (!ops) {
    return false;
  }
  std::vector<const void *> text = describe(*ops);
  auto found = text.empty() ? known.end() : known.find(text);
  DenseElementsAttr folded = found != known.end() ? found->second : evaluateLarge(value, budget);
  if (!folded) {
    return false;
  }
  if (!text.empty()) {
    known[std::move(text)] = folded;
  }
  OpBuilder builder(value.getDefiningOp());
  value.replaceAllUsesWith(HloBuilder(builder, value.getLoc()).constant(folded));
  return true;
}

//===- Prologue.cpp - What a dot computes while it reads its operands -----===//
//
// Decides whether a dot's kernel evaluates an op while it reads an operand (8-bit weights are
// widened and scaled in registers), or reads the op's result from memory.
//
// A dot reads each element of an operand once if the other side has few rows. Otherwise it reads
// it once per block of the other side, when it packs the operand; one element then serves as many
// multiply-adds as the block has rows. An op joins if it is cheap for that number of reads and
// spares its array a trip through memory. It does not join if
//
// - the array is small, and stays in a cache;
// - another kernel writes the array anyway and can compute the op as well: an op after another
//   dot is that dot's epilogue;
// - the hero is a convolution, which reads each element many times. Only converts of bytes join,
//   which its kernel multiplies without converting them.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/Prologue.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/DotOrder.h"

using namespace mlir;

namespace hlo::fusion {

/// The largest cost per element for an operand that is read once, or once per block. Below it the
/// arithmetic is hidden behind the loads from memory, or behind the copy to the packed block.
static constexpr int64_t kMostCostOnce = 6, kMostCostPerBlock = 4;
/// With at most 16 rows on the other side, the forms for few rows (kMostRows in
/// codegen/dot/Forms.cpp) read the operand once.
static constexpr int64_t kFewRows = 16;
/// The cost of rounding to a narrower float: an add and a shift or two where the machine has no
/// instruction for it.
static constexpr int64_t kRoundingCost = 2;
/// Search limit: the length of a chain of producers.
static constexpr int kMaxDepth = 12;

bool isBeforeHero(const Group &group, Operation *op) {
  if (!group.hero && group.prologue.empty()) {
    return false;
  }
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return user == group.hero || group.prologue.contains(user);
  });
}

/// Whether all large values that `op` is computed from are arrays in memory behind free or cheap
/// element-wise ops: no other kernel writes an array of this size that could evaluate `op` as its
/// epilogue.
static bool readsMemoryOnly(Operation *op, int64_t elements, int depth = 0) {
  if (depth > kMaxDepth) {
    return false;
  }
  for (Value v : op->getOperands()) {
    Operation *def = v.getDefiningOp();
    if (!def || roleOf(def) == Role::TopLevel || isSplatConstant(def)) {
      continue;
    }
    // An operand of at most an eighth of the size is cheap to store.
    if (elementsOf(v) * 8 <= elements) {
      continue;
    }
    Role role = roleOf(def);
    bool inPlace = role == Role::Free ||
                   (role == Role::Compute &&
                    !isa<GatherOp, MapOp, PadOp, ConcatenateOp, DynamicUpdateSliceOp>(def));
    if (!inPlace || costOf(def) > kMostCostOnce || !readsMemoryOnly(def, elements, depth + 1)) {
      return false;
    }
  }
  return true;
}

/// Whether the reshape only adds or drops dimensions of size 1.
static bool keepsDimensions(Operation *reshape) {
  auto sizes = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(shape);
    llvm::erase(kept, 1);
    return kept;
  };
  return sizes(shapeOf(reshape->getOperand(0))) == sizes(shapeOf(reshape->getResult(0)));
}

/// The number of rows (or columns) of the dot's other side.
static int64_t otherSide(DotOp dot, unsigned operand) {
  Value other = dot->getOperand(1 - operand);
  ArrayRef<int64_t> shape = shapeOf(other);
  auto dims = [](std::optional<ArrayRef<int64_t>> list) {
    return list.value_or(ArrayRef<int64_t>());
  };
  ArrayRef<int64_t> batch = dims(operand == 0 ? dot.getRhsBatchDims() : dot.getLhsBatchDims());
  ArrayRef<int64_t> contracted =
      dims(operand == 0 ? dot.getRhsContractingDims() : dot.getLhsContractingDims());
  int64_t rows = 1;
  for (auto [d, size] : llvm::enumerate(shape)) {
    int64_t dim = static_cast<int64_t>(d);
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim)) {
      rows *= size;
    }
  }
  return rows;
}

/// The union of the ops between `op` and the dot over all uses of `op`; nullopt if the epilogue
/// uses it too. Sets `once` to whether every use is read once.
static std::optional<Prologue> prologueOfUses(const Group &group, Operation *op, bool &once) {
  Prologue sum;
  auto dot = cast<DotOp>(group.hero);
  once = true;
  for (OpOperand &use : op->getUses()) {
    Operation *user = use.getOwner();
    if (user == group.hero) {
      once &= otherSide(dot, use.getOperandNumber()) <= kFewRows;
      continue;
    }
    auto known = group.prologue.find(user);
    if (known == group.prologue.end()) {
      if (group.members.contains(user) && costOf(op) > 0) {
        return std::nullopt; // the epilogue uses it too
      }
      continue;
    }
    sum.cost = std::max(sum.cost, known->second.cost);
    sum.oneArray &= known->second.oneArray;
    sum.relabelled |= known->second.relabelled;
    once &= known->second.once;
  }
  return sum;
}

static int64_t prologueCost(Operation *op) {
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type from = elementTypeOf(convert.getOperand()), to = elementTypeOf(convert.getResult());
    bool rounds =
        isa<FloatType>(from) && isa<FloatType>(to) && elementBytes(to) < elementBytes(from);
    return rounds ? kRoundingCost : 0;
  }
  return isa<DynamicSliceOp>(op) ? 0 : costOf(op);
}

/// Whether `op` widens bytes to 32-bit integers for the convolution alone. The convolution's kernel
/// then multiplies the bytes themselves, which is faster.
static bool widensBytes(const Group &group, Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (!convert) {
    return false;
  }
  auto from = dyn_cast<IntegerType>(elementTypeOf(convert.getOperand()));
  auto to = dyn_cast<IntegerType>(elementTypeOf(convert.getResult()));
  return from && to && from.getWidth() == 8 && to.getWidth() == 32 &&
         (from.isUnsigned() || !to.isUnsigned()) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) { return user == group.hero; });
}

std::optional<Prologue> prologueOf(const Machine &machine, const Group &group, Operation *op) {
  if (op->hasAttr(kPanels)) {
    return Prologue();
  }
  if (!isa<DotOp>(group.hero)) {
    // A convolution reads each element many times.
    return widensBytes(group, op) ? std::optional(Prologue()) : std::nullopt;
  }
  bool once = true;
  std::optional<Prologue> prologue = prologueOfUses(group, op, once);
  if (!prologue) {
    return std::nullopt;
  }
  prologue->once = once;
  if (isa<ReshapeOp, BitcastOp>(op)) {
    prologue->relabelled |= !keepsDimensions(op);
    return prologue;
  }
  // Behind a reshape that splits or merges dimensions, or beside another array of another order, a
  // transposed operand would be read element by element.
  bool straight = prologue->oneArray && !prologue->relabelled;
  if (isa<TransposeOp>(op) && llvm::any_of(op->getUses(), [&](OpOperand &use) {
        return use.getOwner() == group.hero &&
               isStoredAcrossBatch(machine, cast<DotOp>(group.hero), use.getOperandNumber());
      })) {
    return std::nullopt;
  }
  if (isa<TransposeOp, ReverseOp, SliceOp, DynamicSliceOp>(op)) {
    return straight ? prologue : std::nullopt;
  }
  if (isa<CopyOp, BroadcastOp, IotaOp>(op)) {
    return prologue;
  }
  if (roleOf(op) != Role::Compute ||
      isa<PadOp, ConcatenateOp, GatherOp, MapOp, DynamicUpdateSliceOp>(op)) {
    return std::nullopt;
  }
  int64_t cost = prologueCost(op);
  prologue->cost += cost;
  prologue->oneArray &= op->getNumOperands() == 1;
  if (cost == 0) {
    return prologue;
  }
  // Half of L2 or less stays there: it is computed once and stored.
  if (bytesOf(op->getResult(0)) < machine.memory.l2 / 2) {
    return std::nullopt;
  }
  bool cheap = prologue->cost <= (prologue->once ? kMostCostOnce : kMostCostPerBlock);
  return cheap && readsMemoryOnly(op, resultElements(op)) ? prologue : std::nullopt;
}

} // namespace hlo::fusion

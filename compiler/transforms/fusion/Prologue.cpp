//===- Prologue.cpp - What a dot computes while it reads its operands -----===//
//
// In: a dot's group and an op whose users in the group produce an operand of the
// dot. Out: whether the dot's kernel should evaluate it while it reads (weights of
// 8 bits are widened, scaled and multiplied in registers), or read it from memory.
//
// An operand is read a few times at most: once where the other side has few rows,
// else once per block of the other side, when it is packed; each time an element
// serves as many multiply-adds as such a block has rows. So what costs little joins
// if it spares an array the trip through memory. It does not where the array is
// written anyhow as the result of a kernel that can compute the op just as well:
// what follows another dot is an epilogue there. Nor does it where the array is small.
// A convolution reads each element many times: only bytes that are widened for it join.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/Prologue.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/DotOrder.h"

using namespace mlir;

namespace hlo::fusion {

/// Most cost for an element that is read once, or once per block.
static constexpr int64_t kMostCostOnce = 6, kMostCostPerBlock = 4;
/// With so few rows on the other side an operand is read once.
static constexpr int64_t kFewRows = 16;
/// An array of fewer bytes stays in a cache: it is computed once and stored, unless it is widened
/// only.
static constexpr int64_t kLargeBytes = 512 << 10;
/// Rounding to a narrower float.
static constexpr int64_t kRoundingCost = 2;
/// How far sources are looked for.
static constexpr int kMaxDepth = 12;

bool isBeforeHero(const Group &group, Operation *op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return user == group.hero || group.prologue.contains(user);
  });
}

/// Whether an elementwise op or a relabelling leads from arrays in memory alone to op: no other
/// kernel of this size would be the place to compute it.
static bool readsMemoryOnly(Operation *op, int64_t elements, int depth = 0) {
  if (depth > kMaxDepth) {
    return false;
  }
  for (Value v : op->getOperands()) {
    Operation *def = v.getDefiningOp();
    if (!def || roleOf(def) == Role::TopLevel || isSplatConstant(def)) {
      continue;
    }
    // What is small is cheap to store.
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

/// Whether a reshape only adds or drops dimensions of size 1.
static bool keepsDimensions(Operation *reshape) {
  auto sizes = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept(shape);
    llvm::erase(kept, 1);
    return kept;
  };
  return sizes(shapeOf(reshape->getOperand(0))) == sizes(shapeOf(reshape->getResult(0)));
}

/// Rows (or columns) of the side of the dot that the operand is multiplied with.
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

/// What stands between a user's result and the dot, with the user itself.
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
        return std::nullopt; // the epilogue needs it too
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

/// Whether `op` widens bytes to 32-bit integers for the convolution alone, which multiplies bytes
/// faster.
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

std::optional<Prologue> prologueOf(const Group &group, Operation *op) {
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
  // Behind a reshape, or beside another array, another order of dimensions would be read element by
  // element.
  bool straight = prologue->oneArray && !prologue->relabelled;
  if (isa<TransposeOp>(op) && llvm::any_of(op->getUses(), [&](OpOperand &use) {
        return use.getOwner() == group.hero &&
               isStoredAcrossBatch(cast<DotOp>(group.hero), use.getOperandNumber());
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
  if (bytesOf(op->getResult(0)) < kLargeBytes) {
    return std::nullopt;
  }
  bool cheap = prologue->cost <= (prologue->once ? kMostCostOnce : kMostCostPerBlock);
  return cheap && readsMemoryOnly(op, resultElements(op)) ? prologue : std::nullopt;
}

} // namespace hlo::fusion

//===- Cost.cpp - Roles, strategies and costs of ops ----------------------===//
//
// An op's role, strategy and cost are those of its row in analysis/OpKinds.cpp, corrected by its
// shapes and users: small products and updates are computed in loops.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;

namespace hlo::fusion {

/// A dynamic-update-slice of at most 64 elements is a select in its consumer: a few vectors, which
/// cost less than the launch of a kernel.
static constexpr int64_t kSmallUpdateElements = 64;
/// A dot of at most 512 multiplications is a loop in its consumer, which costs less than a launch.
static constexpr int64_t kSmallDotWork = 512;

/// The next update in a chain: the only dynamic-update-slice of the result of `update`, if every
/// other user is a dynamic-slice of it; null otherwise.
static DynamicUpdateSliceOp nextUpdate(DynamicUpdateSliceOp update) {
  DynamicUpdateSliceOp next;
  for (OpOperand &use : update->getUses()) {
    auto user = dyn_cast<DynamicUpdateSliceOp>(use.getOwner());
    if (user && use.getOperandNumber() == 0 && !next) {
      next = user;
    } else if (!isa<DynamicSliceOp>(use.getOwner()) || use.getOperandNumber() != 0) {
      return {};
    }
  }
  return next;
}

/// Whether the update, or a chain of updates that it is in, overwrites at most a quarter of a loop
/// carry, and the result is that carry's next value. It is then done in place, at the cost of the
/// overwritten part. (A select would store the whole array as vectors; the next iteration's loads
/// of single elements would wait for these stores.) A chain of more updates than the array has
/// elements is none: it writes more than the selects' stores do.
static bool isCarriedUpdate(DynamicUpdateSliceOp update) {
  if (elementsOf(update.getUpdate()) * 4 > elementsOf(update.getOperand())) {
    return false;
  }
  int64_t others = elementsOf(update.getOperand()) - 1; // updates that the chain may still have
  Value array = update.getOperand();
  while (auto before = array.getDefiningOp<DynamicUpdateSliceOp>()) {
    if (others-- == 0) {
      return false;
    }
    array = before.getOperand();
  }
  auto carry = dyn_cast<BlockArgument>(array);
  if (!carry || carry.getOwner() != update->getBlock()) {
    return false;
  }
  while (auto next = nextUpdate(update)) {
    if (others-- == 0) {
      return false;
    }
    update = next;
  }
  if (!update->hasOneUse()) {
    return false;
  }
  OpOperand &use = *update->use_begin();
  return isa<ReturnOp>(use.getOwner()) && use.getOperandNumber() == carry.getArgNumber();
}

/// Whether only slices of the result are read, of less than half its elements in all, and the array
/// is an operand of the block, which a kernel in place would have to copy first.
static bool isReadInPart(DynamicUpdateSliceOp update) {
  int64_t read = 0;
  for (Operation *user : update->getUsers()) {
    if (!isa<SliceOp, DynamicSliceOp>(user)) {
      return false;
    }
    read += resultElements(user);
  }
  return isa<BlockArgument>(update.getOperand()) && read > 0 && 2 * read <= resultElements(update);
}

/// Whether the update is computed by its consumer's loop rather than in place.
static bool isSmallUpdate(DynamicUpdateSliceOp update) {
  return (resultElements(update) <= kSmallUpdateElements && !isCarriedUpdate(update)) ||
         isReadInPart(update);
}

int64_t resultElements(Operation *op) {
  return op->getNumResults() == 0 || !arrayType(op->getResult(0)) ? 0
                                                                  : elementsOf(op->getResult(0));
}

bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  if (!constant) {
    return false;
  }
  auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
  return literal && (literal.isSplat() || literal.getNumElements() == 1);
}

bool isTrailingReduce(ReduceOp op) {
  int64_t rank = cast<RankedTensorType>(op.getInputs()[0].getType()).getRank();
  SmallVector<int64_t> dims(op.getDimensions());
  llvm::sort(dims);
  int64_t first = rank - static_cast<int64_t>(dims.size());
  for (auto [i, d] : llvm::enumerate(dims)) {
    if (d != first + static_cast<int64_t>(i)) {
      return false;
    }
  }
  return !dims.empty();
}

static bool isSmallDot(DotOp op) {
  int64_t lhs = elementsOf(op.getLhs());
  int64_t contracted = 1;
  auto shape = cast<RankedTensorType>(op.getLhs().getType()).getShape();
  for (int64_t d : op.getLhsContractingDims().value_or(ArrayRef<int64_t>())) {
    contracted *= shape[d];
  }
  return lhs > 0 && resultElements(op) * contracted <= kSmallDotWork;
}

/// A scan of at most 8 elements is recomputed for each result, inside a loop: up to eight
/// additions, in vectors and within the consumer's kernel. The scan's own kernel makes one addition
/// per element, one after the other. No timings around the bound were kept.
static constexpr int64_t kShortScan = 8;

std::optional<int64_t> cumulativeDimension(ReduceWindowOp op) {
  WindowAttr window = op.getWindowAttr();
  std::optional<int64_t> dimension;
  if (!window) {
    return dimension;
  }
  for (auto [d, size] : llvm::enumerate(shapeOf(op.getInputs()[0]))) {
    int64_t low = window.getPadLow()[d], high = window.getPadHigh()[d];
    if (window.getStrides()[d] != 1 || window.getBaseDilations()[d] != 1 ||
        (window.getSize()[d] > 1 && window.getWindowDilations()[d] != 1)) {
      return std::nullopt;
    }
    if (window.getSize()[d] == 1 && low == 0 && high == 0) {
      continue;
    }
    bool all = window.getSize()[d] == size && std::min(low, high) == 0 && low + high == size - 1;
    // A scan that rounds after each step (narrow floats along the minor dimension) has one legal
    // order, and its kernel gains nothing from vectors; it needs more elements to pay.
    auto real = dyn_cast<FloatType>(elementTypeOf(op->getResult(0)));
    bool isMinor = llvm::product_of(shapeOf(op->getResult(0)).drop_front(d + 1)) == 1;
    bool inOrder = real && real.getWidth() < 32 && isMinor;
    if (!all || dimension || size <= (inOrder ? kMostRoundedScan : kShortScan)) {
      return std::nullopt;
    }
    dimension = d;
  }
  return dimension;
}

Role roleOf(Operation *op) {
  for (Type type : op->getOperandTypes()) {
    if (!isa<RankedTensorType>(type)) {
      return Role::TopLevel;
    }
  }
  return llvm::TypeSwitch<Operation *, Role>(op)
      .Case([](ConstantOp constant) {
        return isSplatConstant(constant) ? Role::Free : Role::TopLevel;
      })
      .Case([](DynamicUpdateSliceOp update) {
        return isSmallUpdate(update) ? Role::Compute : Role::Hero;
      })
      .Case([](ReduceWindowOp window) {
        return cumulativeDimension(window) ? Role::Hero : Role::Reduce;
      })
      .Case([](DotOp dot) { return isSmallDot(dot) ? Role::Reduce : Role::Hero; })
      .Default([](Operation *op) { return propertiesOf(op).role; });
}

Strategy strategyOf(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  bool isOwn = reduce ? isTrailingReduce(reduce) : roleOf(op) == Role::Hero;
  return isOwn ? propertiesOf(op).strategy : Strategy::Loop;
}

int64_t costOf(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    return elementsOf(reduce.getInputs()[0]) / std::max<int64_t>(1, resultElements(reduce));
  }
  auto window = dyn_cast<ReduceWindowOp>(op);
  if (window && window.getWindow() && !cumulativeDimension(window)) {
    return llvm::product_of(window.getWindow()->getSize());
  }
  return propertiesOf(op).cost;
}

/// Whether the conversion has no vector instruction on most CPUs: between floats and 64-bit
/// integers, or of floats of 8 bits and less.
static bool isLongConvert(ConvertOp op) {
  Type from = elementTypeOf(op.getOperand()), to = elementTypeOf(op.getResult());
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
  };
  return isNarrow(from) || isNarrow(to) || (isa<FloatType>(from) && to.isInteger(64)) ||
         (from.isInteger(64) && isa<FloatType>(to));
}

int64_t codeOf(Operation *op) {
  // Ops of higher cost are loops or calls, whose code does not grow with the cost.
  constexpr int64_t most = 20;
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    // A conversion may be free where it is evaluated, but its code is not. Without an instruction
    // for it LLVM takes several times as long (NOTES.md, "LLVM's passes, and compiling").
    return isLongConvert(convert) ? most : 4;
  }
  return isSplatConstant(op) ? 0 : std::clamp<int64_t>(costOf(op), 1, most);
}

} // namespace hlo::fusion

//===- SplitColumns.cpp - Arrays of few columns: which ops are split ------===//
//
// Points, pixels and quaternions are arrays [rows, C] of few columns. Programs take their columns
// apart and concatenate new ones:
//
//   x = slice(v)[:,0], y = slice(v)[:,1]         [rows]
//   c = concatenate(f(x, y), g(x, y))            [rows, 2]
//   r = c * v + broadcast(w)
//
// In a loop over the elements of c every lane would compute all columns and select one; otherwise
// each column would be an array in memory. This pass replaces arrays like r by stacks of their
// columns, at the point where they are needed as a whole. A stack is the root of a kernel that
// walks the rows, one row per lane:
//
//   r = stack(f(x, y) * x + w, g(x, y) * y + w), dimension=1
//
// Splitting starts at a seed: a concatenate of columns, a pad of rows (the gradient of a slice),
// a reduce of short rows, or a product with a matrix of few columns. From there the element-wise
// users are split too, and the producers that only split ops need. Reduces and products of short
// rows are written out over the columns. TurnColumns.cpp has transposed stacks [C, rows] before.
//
// A reduce along a long dimension of rows (forces of all points on each: [points, others, C] over
// others) becomes one reduce per column. One row kernel computes all of them with their
// producers, so that no array of all pairs is stored.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/rewrites/SplitColumns.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"

using namespace mlir;

namespace hlo::fusion {

/// The least length of a reduce along rows: a row kernel evaluates its producers in registers.
/// Shorter ones are loops over a stored array.
static constexpr int64_t kLeastSummed = 64;
/// Bound on computing ops, times their columns, so that they stay one kernel (kEnoughMembers in
/// Groups.cpp, with room for the kernel's other ops).
static constexpr int64_t kMostWork = 256;

bool isMove(Operation *op) {
  return isa<SliceOp, ReshapeOp, BitcastOp, BroadcastOp, IotaOp, ConstantOp>(op);
}

bool ColumnSplitter::canSplit(Operation *op) const {
  if (op->getNumResults() != 1 || !arrayType(op->getResult(0)) || !isRowArray(op->getResult(0)) ||
      shapeOf(op->getResult(0)).back() > kMostSplitColumns) {
    return false;
  }
  int64_t minor = rows.size();
  if (isElementwiseOp(op)) {
    return hasOneShape(op);
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    return isRowArray(slice.getOperand()) &&
           llvm::all_of(slice.getStrides().drop_back(), [](int64_t stride) { return stride == 1; });
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    return static_cast<int64_t>(concatenate.getDimension()) == minor;
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    return llvm::is_sorted(broadcast.getDimensions());
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    return shapeOf(op->getResult(0)).back() == 1 &&
           elementTypeOf(op->getOperand(0)) == elementTypeOf(op->getResult(0));
  }
  if (auto pad = dyn_cast<PadOp>(op)) {
    auto inside = [](ArrayRef<int64_t> padding) {
      return llvm::all_of(padding.drop_back(), [](int64_t size) { return size == 0; });
    };
    return isRowArray(pad.getOperand()) && inside(pad.getPaddingLow()) &&
           inside(pad.getPaddingHigh()) && inside(pad.getPaddingInterior());
  }
  return isa<IotaOp>(op) || isSplatConstant(op) || canMultiply(op);
}

bool ColumnSplitter::canMultiply(Operation *op) const {
  std::optional<RowProduct> dot = rowProduct(op);
  return dot && isRowArray(dot->array) && shapeOf(dot->array).back() <= kMostSplitColumns;
}

/// Whether the op transposes [rows, columns] to [columns, rows], as gradients of a stack do.
bool ColumnSplitter::isTurned(Operation *op) const {
  auto transpose = dyn_cast<TransposeOp>(op);
  return transpose && isRowArray(transpose.getOperand()) &&
         transpose.getDimensions().front() == static_cast<int64_t>(rows.size()) &&
         llvm::is_sorted(transpose.getDimensions().drop_front());
}

bool ColumnSplitter::isSplitUser(Operation *user) const {
  return split.contains(user) || exits.contains(user) || sums.contains(user) ||
         (isTurned(user) &&
          llvm::all_of(user->getUsers(), [&](Operation *next) { return exits.contains(next); }));
}

bool ColumnSplitter::isReduceOfRows(Operation *op, int64_t along) const {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce->getNumResults() != 1 || !isRowArray(reduce.getInputs()[0]) ||
      reduce.getDimensions() != ArrayRef<int64_t>{along} ||
      shapeOf(reduce.getInputs()[0]).back() > kMostSplitColumns ||
      isa<ComplexType>(elementTypeOf(op->getResult(0)))) {
    return false;
  }
  auto computation = symbols.lookup<ComputationOp>(reduce.getToApply());
  return computation && associativeOp(computation);
}

bool ColumnSplitter::canFold(Operation *op) const {
  return isReduceOfRows(op, static_cast<int64_t>(rows.size()));
}

/// Whether the op reduces along the last dimension of rows, such as the sum of the forces of all
/// others on each point.
bool ColumnSplitter::isSumOfRows(Operation *op) const {
  int64_t along = static_cast<int64_t>(rows.size()) - 1;
  return along >= 1 && rows[along] >= kLeastSummed && isReduceOfRows(op, along);
}

/// Whether the op makes an array [rows] of a split array.
bool ColumnSplitter::isExit(Operation *op) const {
  if (canFold(op) || (canMultiply(op) && shapeOf(op->getResult(0)) == ArrayRef<int64_t>(rows))) {
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    // A slice [1, rows] of a transposed array [columns, rows].
    Operation *source = slice.getOperand().getDefiningOp();
    return source && isTurned(source) && shapeOf(slice.getResult())[0] == 1 &&
           resultElements(op) == llvm::product_of(rows);
  }
  return isa<ReshapeOp, BitcastOp>(op) && isRowArray(op->getOperand(0)) &&
         shapeOf(op->getOperand(0)).back() == 1 &&
         shapeOf(op->getResult(0)) == ArrayRef<int64_t>(rows) &&
         elementTypeOf(op->getOperand(0)) == elementTypeOf(op->getResult(0));
}

bool ColumnSplitter::isNeededWhole(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return !isSplitUser(user) || (isMove(user) && kept.contains(user));
  });
}

/// Whether the op's columns fit the bound on work; adds them if so.
bool ColumnSplitter::fits(Operation *op) {
  bool computes = costOf(op) > 0 && !isa<ConcatenateOp, PadOp>(op);
  int64_t more = !computes ? 0 : isExit(op) ? 1 : shapeOf(op->getResult(0)).back();
  if (isa<DotOp>(op)) {
    more *= shapeOf(rowProduct(op)->array).back();
  }
  if (work + more > kMostWork) {
    return false;
  }
  work += more;
  return true;
}

/// Adds the seed and its users, in program order: arrays that can be split, exits, sums, and ops on
/// [rows] through which further users are reached.
void ColumnSplitter::findUsers() {
  DenseSet<Operation *> following;
  auto add = [&](Operation *op) {
    if (isExit(op)) {
      fits(op);
      exits.insert(op);
    } else if (isSumOfRows(op)) {
      if (fits(op)) {
        sums.insert(op);
      }
      return;
    } else if (canSplit(op) && fits(op)) {
      split.insert(op);
    } else if (op->getNumResults() != 1 || !arrayType(op->getResult(0))) {
      return;
    } else if (!isTurned(op) && (resultElements(op) != llvm::product_of(rows) ||
                                 !(isElementwiseOp(op) || isa<ReshapeOp, BitcastOp>(op)))) {
      return;
    }
    following.insert(op);
  };
  add(seed);
  for (Operation *op = seed->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::any_of(op->getOperands(), [&](Value v) {
          return v.getDefiningOp() && following.contains(v.getDefiningOp());
        })) {
      add(op);
    }
  }
}

/// Adds producers, in reverse program order, so that all users of an op have been visited before
/// it.
void ColumnSplitter::findProducers() {
  int64_t count = llvm::product_of(rows);
  DenseSet<Operation *> reached(split);
  reached.insert(seed);
  for (Operation &op : llvm::reverse(block)) {
    if (split.contains(&op)) {
      if (isNeededWhole(&op)) {
        kept.insert(&op);
      }
    } else {
      bool leads =
          op.getNumResults() == 1 && arrayType(op.getResult(0)) &&
          llvm::any_of(op.getUsers(), [&](Operation *user) { return reached.contains(user); });
      if (!leads) {
        continue;
      }
      Value v = op.getResult(0);
      if (exits.contains(&op)) {
        // Already an exit.
      } else if (isExit(&op)) {
        exits.insert(&op);
      } else if (canSplit(&op) &&
                 llvm::any_of(op.getUsers(), [&](Operation *user) { return isSplitUser(user); })) {
        bool whole = isNeededWhole(&op);
        if ((whole && !isMove(&op)) || !fits(&op)) {
          continue;
        }
        split.insert(&op);
        if (whole) {
          kept.insert(&op);
        }
      } else if (isTurned(&op)) {
        // isSplitUser asks its users.
      } else if (elementsOf(v) == count && roleOf(&op) == Role::Compute) {
        work += costOf(&op) > 0;
      } else if (elementsOf(v) != count || roleOf(&op) != Role::Free) {
        continue;
      }
    }
    reached.insert(&op);
  }
}

void ColumnSplitter::run(DenseSet<Operation *> &done, SmallVectorImpl<Operation *> &seeds) {
  findUsers();
  findProducers();
  // A sum of an array that is stored as a whole reads it from memory, and is not split.
  for (Operation *op : llvm::to_vector(sums)) {
    Operation *def = op->getOperand(0).getDefiningOp();
    if (!def || !split.contains(def) || kept.contains(def)) {
      sums.erase(op);
      if (def && split.contains(def)) {
        kept.insert(def);
      }
    }
  }
  // If another kernel also needs the seed's operand, it is stored for both.
  Value array = seed->getOperand(0);
  bool isStored = exits.contains(seed) && array.getDefiningOp() &&
                  roleOf(array.getDefiningOp()) == Role::Compute &&
                  !split.contains(array.getDefiningOp());
  if (work > 0 && !isStored && (split.contains(seed) || exits.contains(seed))) {
    done.insert(split.begin(), split.end());
    done.insert(exits.begin(), exits.end());
    rewrite(seeds);
    eraseUnused(block, [&](Operation *op) { done.insert(op); });
  }
}

static void splitColumns(Block &block, SymbolTable &symbols) {
  SmallVector<Operation *> seeds;
  for (Operation &op : block) {
    if (rowsAround(&op)) {
      seeds.push_back(&op);
    }
  }
  DenseSet<Operation *> done;
  for (size_t i = 0; i < seeds.size(); ++i) {
    auto rows = done.contains(seeds[i]) ? std::nullopt : rowsAround(seeds[i]);
    if (rows) {
      ColumnSplitter(block, symbols, seeds[i], *rows).run(done, seeds);
    }
  }
}

namespace {
class SplitColumnsPass : public TopLevelPass<SplitColumnsPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitColumnsPass)

  StringRef getArgument() const override { return "hlo-split-columns"; }
  StringRef getDescription() const override {
    return "Compute arrays of few columns column by column";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { splitColumns(block, symbols); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createSplitColumnsPass() {
  return std::make_unique<fusion::SplitColumnsPass>();
}

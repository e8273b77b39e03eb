//===- SplitColumns.cpp - Short rows, computed column by column -----------===//
//
// In: a block that runs at top level. Points, pixels and quaternions are arrays [rows, C] of
// few columns, and what is computed of them takes the columns apart and puts others
// together again:
//
//   x = slice(v)[:,0], y = slice(v)[:,1]         [rows]
//   c = concatenate(f(x, y), g(x, y))            [rows, 2]
//   r = c * v + broadcast(w)
//
// An element of such a concatenate is one of several things, so that in a loop over the
// elements each lane would compute all of them, or each column be an array in memory.
// Out: arrays like r as `paired` concatenates of their columns, to where they are needed as
// a whole, each the root of a kernel that walks the rows, a row in each lane:
//
//   r = concatenate(f(x, y) * x + w, g(x, y) * y + w) {paired}
//
// From a concatenate on element-wise users are split, too, and so are the producers that
// only they need. Reduces of a row, and products with a matrix of as few columns, are
// written out, and are such a beginning themselves; so are pads of rows, which gradients of
// slices are. Columns that were stacked otherwise TurnColumns.cpp has turned. Reduces of long
// rows of points, such as forces of all on each, become one of each column, which one kernel
// by rows computes with all that they are made of: nothing of all pairs is stored.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/fusion/SplitColumns.h"
#include "compiler/analysis/Columns.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/TopLevelPass.h"

using namespace mlir;

namespace hlo::fusion {

/// Fewer rows are not worth the code; kernels by rows are good at sums of a few hundred short ones.
static constexpr int64_t kLeastRows = 32, kLeastReduced = 256;
/// Rows added up in a kernel by rows with all that they are made of; of fewer, loops store that.
static constexpr int64_t kLeastSummed = 64;
/// Bound on the ops that compute something, all columns counted, to stay one kernel (see
/// Groups.cpp).
static constexpr int64_t kMostWork = 256;

std::optional<RowProduct> rowProduct(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  if (!dot || !dot.getLhsBatchDims().value_or(ArrayRef<int64_t>()).empty()) {
    return std::nullopt;
  }
  ArrayRef<int64_t> left = dot.getLhsContractingDims().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> right = dot.getRhsContractingDims().value_or(ArrayRef<int64_t>());
  if (left.size() != 1 || isa<ComplexType>(elementTypeOf(dot.getResult()))) {
    return std::nullopt;
  }
  if (rankOf(dot.getRhs()) <= 2 && left[0] > 0 && left[0] + 1 == rankOf(dot.getLhs())) {
    return RowProduct{dot.getLhs(), dot.getRhs(), right[0]};
  }
  if (rankOf(dot.getLhs()) == 1 && right[0] > 0 && right[0] + 1 == rankOf(dot.getRhs())) {
    return RowProduct{dot.getRhs(), dot.getLhs(), 0};
  }
  return std::nullopt;
}

bool isMove(Operation *op) {
  return isa<SliceOp, ReshapeOp, BitcastOp, BroadcastOp, IotaOp, ConstantOp>(op);
}

bool ColumnSplitter::canSplit(Operation *op) const {
  if (op->getNumResults() != 1 || !arrayType(op->getResult(0)) || !isRowArray(op->getResult(0)) ||
      shapeOf(op->getResult(0)).back() > kMostSplitColumns || op->hasAttr("paired")) {
    return false;
  }
  int64_t minor = rows.size();
  if (isElementwiseOp(op)) {
    return llvm::all_of(op->getOperands(), [&](Value v) {
      return isScalar(v) || shapeOf(v) == shapeOf(op->getResult(0));
    });
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

/// Whether the op makes an array [columns, rows] of one [rows, columns], as gradients of a stack
/// do.
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

/// Whether the op reduces rows along the last of their dimensions, as the sum of forces from all
/// others on each of some points.
bool ColumnSplitter::isSumOfRows(Operation *op) const {
  int64_t along = static_cast<int64_t>(rows.size()) - 1;
  return along >= 1 && rows[along] >= kLeastSummed && isReduceOfRows(op, along);
}

/// Whether the op turns an array that is split to one of [rows].
bool ColumnSplitter::isExit(Operation *op) const {
  if (canFold(op) || (canMultiply(op) && shapeOf(op->getResult(0)) == ArrayRef<int64_t>(rows))) {
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    // A row of what was turned.
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

/// Whether the op's columns do not make too large a kernel; counts them if so.
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

/// What follows from the seed: arrays that are split, and what of [rows] leads from one to another.
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

/// From the last op to the first, so that all users of an op have been looked at.
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
        // Known from its operand.
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
        // Known from its users.
      } else if (elementsOf(v) == count && roleOf(&op) == Role::Compute) {
        work += costOf(&op) > 0;
      } else if (elementsOf(v) != count || roleOf(&op) != Role::Free) {
        continue;
      }
    }
    reached.insert(&op);
  }
}

/// What is left without uses would be kernels of their own.
void ColumnSplitter::eraseUnused(DenseSet<Operation *> &done) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.use_empty() && op.getNumResults() > 0 && roleOf(&op) != Role::TopLevel) {
      done.insert(&op);
      op.erase();
    }
  }
}

void ColumnSplitter::run(DenseSet<Operation *> &done, SmallVectorImpl<Operation *> &seeds) {
  findUsers();
  findProducers();
  // What is stored is added up from memory.
  for (Operation *op : llvm::to_vector(sums)) {
    Operation *def = op->getOperand(0).getDefiningOp();
    if (!def || !split.contains(def) || kept.contains(def)) {
      sums.erase(op);
      if (def && split.contains(def)) {
        kept.insert(def);
      }
    }
  }
  // A row that another kernel reduces, too, is stored for both.
  Value array = seed->getOperand(0);
  bool isStored = exits.contains(seed) && array.getDefiningOp() &&
                  roleOf(array.getDefiningOp()) == Role::Compute &&
                  !split.contains(array.getDefiningOp());
  if (work > 0 && !isStored && (split.contains(seed) || exits.contains(seed))) {
    done.insert(split.begin(), split.end());
    done.insert(exits.begin(), exits.end());
    rewrite(seeds);
    eraseUnused(done);
  }
}

/// The rows of the arrays around an op where splitting may begin; none for any other op.
static std::optional<ArrayRef<int64_t>> rowsAround(Operation *op) {
  auto minorOf = [](ArrayRef<int64_t> shape) { return static_cast<int64_t>(shape.size()) - 1; };
  Value array;
  int64_t along = 0, least = kLeastReduced;
  if (auto concatenate = dyn_cast<ConcatenateOp>(op); concatenate && !op->hasAttr("paired")) {
    array = concatenate.getResult();
    along = concatenate.getDimension();
    least = kLeastRows;
  } else if (isa<PadOp>(op)) {
    array = op->getResult(0);
    along = minorOf(shapeOf(array));
    least = kLeastRows;
  } else if (std::optional<RowProduct> dot = rowProduct(op)) {
    array = dot->array;
    along = minorOf(shapeOf(array));
    if (elementsOf(dot->weights) > kMostSplitColumns * shapeOf(array).back()) {
      return std::nullopt;
    }
  } else if (auto reduce = dyn_cast<ReduceOp>(op);
             reduce && reduce->getNumResults() == 1 && reduce.getDimensions().size() == 1) {
    array = reduce.getInputs()[0];
    along = reduce.getDimensions()[0];
  } else {
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = shapeOf(array);
  if (shape.size() < 2 || along != minorOf(shape) || shape.back() < 2 ||
      shape.back() > kMostSplitColumns || elementsOf(array) < least * shape.back()) {
    return std::nullopt;
  }
  return shape.drop_back();
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

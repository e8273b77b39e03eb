//===- MultiOutputFusion.cpp - hlo-multi-output-fusion: kernels of several results --===//
//
// Merges pairs of kernels that walk the same iteration space, if both read the same array or the
// later one reads a result of the earlier one:
//
//   %m = hlo.fusion %g, %m0 {...}
//   %v = hlo.fusion %g, %v0 {...}       =>   %m, %v, %p = hlo.fusion %g, %m0, %v0, %p0 {...}
//   %p = hlo.fusion %m, %v, %p0 {...}
//
// The shared array is then read once, and a result that only the other kernel reads is not
// stored. Runs on what hlo-fusion and hlo-split-prepare leave.
//
// For each kernel, in program order: it is merged with the earlier kernel that saves most bytes,
// as long as there is one. The merged kernel stands where the later one stood, and the users of
// the earlier one's results that are between them move behind it. If the later one needs such a
// user, merging would make a cycle, and both stay.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/KernelSpace.h"
#include "dialect/hlo/ops/KernelOps.h"
#include "llvm/ADT/SetVector.h"
#include <unordered_map>

using namespace mlir;

namespace hlo {
namespace {

using namespace hlo::fusion;

/// The least bytes saved by a merge of two loops, which also saves a launch and costs nothing.
static constexpr int64_t kLeastSavedInLoops = 4 << 10;
/// Bounds on one kernel: ops (LLVM's time and registers), operands, and large arrays walked at the
/// same time (a core's prefetchers follow a limited number of streams, often 32).
static constexpr size_t kMaxOps = 160, kMaxOperands = 48, kMaxStreams = 16;
/// Search limits: candidate kernels per merge, and ops visited by the cycle check.
static constexpr size_t kMaxCandidates = 12, kMaxMoved = 64;
/// A row kernel of more than 64 Ki elements needs at least 16 rows to have enough tasks.
static constexpr int64_t kFewRows = 16, kLargeElements = 64 << 10;
/// Rows of less than four vectors (64 bytes of f32 each) may be computed one row per lane, through
/// transposed copies. Loops do not need the copies and stay apart.
static constexpr int64_t kShortRow = 64;
/// A kernel by columns needs at least one vector of columns. It replaces a loop over more than 64
/// Ki elements only if it has 128 columns: tasks are ranges of columns.
static constexpr int64_t kFewColumns = 16, kManyColumns = 128;

class Merger {
public:
  Merger(Block &block, const Machine &machine) : block(block), leastSaved(machine.memory.l1 / 2) {}
  void run();

private:
  const KernelSpace &spaceOf(FusionOp kernel) {
    auto [known, isNew] = spaces.try_emplace(kernel);
    if (isNew) {
      known->second = fusion::spaceOf(kernel);
    }
    return known->second;
  }
  FusionOp findPartner(FusionOp later);
  int64_t savedBytes(FusionOp earlier, FusionOp later);
  bool canShareSpace(FusionOp earlier, FusionOp later);
  bool canShareColumns(FusionOp earlier, FusionOp later);
  bool isOverColumns(FusionOp earlier, FusionOp later);
  std::optional<SmallVector<Operation *>> findMoved(FusionOp earlier, FusionOp later);
  FusionOp merge(FusionOp earlier, FusionOp later, ArrayRef<Operation *> moved);

  Block &block;
  /// The least bytes that a merge saves. Fewer stay in L1 from one kernel to the next.
  int64_t leastSaved;
  std::unordered_map<Operation *, KernelSpace> spaces; ///< node-based: references stay valid
};

} // namespace

static size_t opsIn(FusionOp kernel) { return kernel.getBody().front().getOperations().size(); }

/// The kernel's argument for operand v; null if v is not an operand.
static BlockArgument argumentOf(FusionOp kernel, Value v) {
  for (auto [operand, argument] :
       llvm::zip(kernel->getOperands(), kernel.getBody().front().getArguments())) {
    if (operand == v) {
      return argument;
    }
  }
  return {};
}

/// Whether all ops are element-wise on arrays of one size or scalars.
static bool isLinear(FusionOp kernel) {
  return llvm::all_of(kernel.getBody().front().without_terminator(), [](Operation &op) {
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      return elementsOf(broadcast.getOperand()) == 1;
    }
    return roleOf(&op) != Role::Reduce && !hasFlag(&op, OpFlag::Displaces) &&
           !isa<TransposeOp, IotaOp>(op);
  });
}

/// Whether an op is an expensive function, whose coefficients fill the registers.
static bool isExpensive(FusionOp kernel) {
  return llvm::any_of(kernel.getBody().front().without_terminator(),
                      [](Operation &op) { return isExpensiveElementwise(&op); });
}

/// Whether the kernel's loop has only the plain form: no transposed reads, which are tiled, and no
/// windows or products, which are loops within the loop.
static bool isPlain(FusionOp kernel) {
  return llvm::none_of(kernel.getBody().front(), [](Operation &op) {
    return isa<TransposeOp>(op) || (roleOf(&op) == Role::Reduce && !isa<ReduceOp>(op));
  });
}

/// Whether a result is a stack, which only loop kernels can store.
static bool hasStack(FusionOp kernel) {
  return !kernel.getBody().front().getOps<StackOp>().empty();
}

bool Merger::canShareSpace(FusionOp earlier, FusionOp later) {
  const KernelSpace &a = spaceOf(earlier), &b = spaceOf(later);
  if ((a.form != Form::Loop || b.form != Form::Loop) && (hasStack(earlier) || hasStack(later))) {
    return false;
  }
  if (a.form == Form::Columns || b.form == Form::Columns) {
    return canShareColumns(earlier, later);
  }
  if (a.form == Form::Other || b.form == Form::Other || a.shape != b.shape || a.shape.empty()) {
    return false;
  }
  if (a.form == Form::Loop && b.form == Form::Loop) {
    return a.shape.back() >= kShortRow || isLinear(earlier) == isLinear(later);
  }
  if (a.form == b.form) {
    return a.reduced == b.reduced;
  }
  // A loop over the elements that the other kernel reduces.
  const KernelSpace &rows = a.form == Form::Rows ? a : b;
  int64_t count = rows.keptElements(), elements = rows.elements();
  if (count < kFewRows && elements > kLargeElements) {
    return false;
  }
  return count * kShortRow <= elements;
}

/// Whether the later kernel is a loop over the results of the earlier one, which reduces by
/// columns.
bool Merger::isOverColumns(FusionOp earlier, FusionOp later) {
  const KernelSpace &a = spaceOf(earlier), &b = spaceOf(later);
  return a.form == Form::Columns && b.form == Form::Loop && a.shape != b.shape &&
         a.shape.back() >= kFewColumns && a.mapOfResult(b.shape) && isLinear(later);
}

/// Whether two kernels, at least one by columns, can be merged: they walk one space, or the later
/// one is over the earlier one's results. If the later one reads in the full space what the earlier
/// one reduces, the rows have to be walked twice in any case, and two kernels walk them
/// contiguously.
bool Merger::canShareColumns(FusionOp earlier, FusionOp later) {
  const KernelSpace &a = spaceOf(earlier), &b = spaceOf(later);
  if (isOverColumns(earlier, later)) {
    return true;
  }
  const KernelSpace &space = a.form == Form::Columns ? a : b;
  bool sameSpace =
      a.shape == b.shape &&
      (a.form == b.form ? a.reduced == b.reduced : a.form == Form::Loop || b.form == Form::Loop);
  if (!sameSpace || space.shape.back() < kFewColumns) {
    return false;
  }
  if (a.form != b.form && space.elements() > kLargeElements &&
      space.keptElements() < kManyColumns) {
    return false;
  }
  return a.form != Form::Columns || llvm::none_of(later->getOperands(), [&](Value v) {
           return v.getDefiningOp() == earlier && shapeOf(v) != ArrayRef<int64_t>(a.shape);
         });
}

/// The bytes that merging saves in reads and writes. 0 if the kernels cannot be merged: the later
/// one reads elements of the earlier one's results that are not yet computed at that index, or a
/// result would lose the operand whose buffer it shares.
int64_t Merger::savedBytes(FusionOp earlier, FusionOp later) {
  const KernelSpace &joint = spaceOf(spaceOf(earlier).form == Form::Loop ? later : earlier);
  KernelSpace a = spaceFor(earlier, joint), b = spaceFor(later, joint);
  int64_t saved = 0;
  for (Value v : later->getOperands()) {
    BlockArgument in = argumentOf(later, v);
    if (v.getDefiningOp() == earlier) {
      std::optional<DimMap> own = joint.mapOfResult(shapeOf(v));
      auto read = b.maps.find(in);
      if (!own || read == b.maps.end() || !(read->second == *own)) {
        return 0;
      }
      bool onlyRead = llvm::all_of(v.getUsers(), [&](Operation *user) { return user == later; });
      saved += bytesOf(v) * (onlyRead ? 2 : 1);
    } else if (BlockArgument other = argumentOf(earlier, v)) {
      saved += a.isFull(other) && b.isFull(in) ? bytesOf(v) : 0;
    }
  }
  // True unless `other` reads an operand of `one` at other indices than its own while a result of
  // `one` may share that operand's buffer.
  auto keepsPlaces = [&](FusionOp one, FusionOp other, const KernelSpace &space) {
    auto pairs = one->getAttrOfType<DenseI64ArrayAttr>("may_alias");
    for (int64_t i = 1; pairs && i < pairs.size(); i += 2) {
      BlockArgument read = argumentOf(other, one->getOperand(pairs[i]));
      if (read && shapeOf(read) == ArrayRef<int64_t>(space.shape) && !space.isFull(read)) {
        return false;
      }
    }
    return true;
  };
  return keepsPlaces(earlier, later, b) && keepsPlaces(later, earlier, a) ? saved : 0;
}

/// The ops that must move behind `later` if `earlier` does, in program order. nullopt if they
/// include `later` itself, too many ops, or an op with side effects.
std::optional<SmallVector<Operation *>> Merger::findMoved(FusionOp earlier, FusionOp later) {
  llvm::SetVector<Operation *> moved;
  auto addUsers = [&](Operation *op) {
    for (Operation *user : op->getUsers()) {
      if (user == later) {
        if (op != earlier) {
          return false;
        }
        continue;
      }
      if (user->isBeforeInBlock(later)) {
        if (!isa<FusionOp, BitcastOp>(user)) {
          return false;
        }
        moved.insert(user);
      }
    }
    return moved.size() <= kMaxMoved;
  };
  if (!addUsers(earlier)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < moved.size(); ++i) {
    if (!addUsers(moved[i])) {
      return std::nullopt;
    }
  }
  SmallVector<Operation *> order(moved.begin(), moved.end());
  llvm::sort(order, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

FusionOp Merger::merge(FusionOp earlier, FusionOp later, ArrayRef<Operation *> moved) {
  OpBuilder builder(later), inside(later.getContext());
  auto *body = new Block;
  IRMapping mapping;
  llvm::SetVector<Value> operands;
  auto addOperands = [&](FusionOp kernel) {
    for (auto [operand, argument] :
         llvm::zip(kernel->getOperands(), kernel.getBody().front().getArguments())) {
      if (operand.getDefiningOp() == earlier) {
        auto result = cast<OpResult>(operand);
        Operation *end = earlier.getBody().front().getTerminator();
        mapping.map(argument, mapping.lookup(end->getOperand(result.getResultNumber())));
        continue;
      }
      if (operands.insert(operand)) {
        body->addArgument(operand.getType(), operand.getLoc());
      }
      size_t number = llvm::find(operands, operand) - operands.begin();
      mapping.map(argument, body->getArgument(number));
    }
  };
  // Equal ops of both kernels become one.
  DenseMap<llvm::hash_code, SmallVector<Operation *, 1>> known;
  inside.setInsertionPointToEnd(body);
  auto addOps = [&](FusionOp kernel) {
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      Operation *copy = inside.clone(op, mapping);
      auto hash = OperationEquivalence::computeHash(copy, OperationEquivalence::directHashValue,
                                                    OperationEquivalence::ignoreHashValue,
                                                    OperationEquivalence::IgnoreLocations);
      SmallVector<Operation *, 1> &same = known[hash];
      auto equal = llvm::find_if(same, [&](Operation *other) {
        return OperationEquivalence::isEquivalentTo(other, copy,
                                                    OperationEquivalence::IgnoreLocations);
      });
      if (equal == same.end()) {
        same.push_back(copy);
        continue;
      }
      mapping.map(op.getResults(), (*equal)->getResults());
      copy->erase();
    }
  };
  addOperands(earlier);
  addOps(earlier);
  addOperands(later);
  addOps(later);

  // Results with users outside, each value once.
  llvm::SetVector<Value> roots;
  SmallVector<std::pair<Value, size_t>> replaced;
  for (FusionOp kernel : {earlier, later}) {
    Operation *end = kernel.getBody().front().getTerminator();
    for (auto [result, root] : llvm::zip(kernel->getResults(), end->getOperands())) {
      bool isRead = llvm::any_of(result.getUsers(), [&](Operation *user) { return user != later; });
      if (isRead || (kernel == later && !result.use_empty())) {
        roots.insert(mapping.lookup(root));
        replaced.push_back({result, llvm::find(roots, mapping.lookup(root)) - roots.begin()});
      }
    }
  }
  ReturnOp::create(inside, later.getLoc(), roots.getArrayRef());
  Form form = std::max(spaceOf(earlier).form, spaceOf(later).form);
  Strategy strategy = form == Form::Loop      ? Strategy::Loop
                      : form == Form::Columns ? Strategy::Columns
                                              : Strategy::Row;
  if (form == Form::Rows && kernelStrategy(earlier) == kernelStrategy(later)) {
    strategy = *kernelStrategy(later);
  }
  OperationState state(later.getLoc(), FusionOp::getOperationName());
  state.addOperands(operands.getArrayRef());
  state.addTypes(llvm::to_vector(llvm::map_range(roots, [](Value v) { return v.getType(); })));
  state.addAttribute("strategy", builder.getStringAttr(stringifyStrategy(strategy)));
  state.addRegion()->push_back(body);
  auto merged = cast<FusionOp>(builder.create(state));
  setMayAlias(merged);
  for (auto [result, number] : replaced) {
    result.replaceUsesWithIf(merged->getResult(number),
                             [&](OpOperand &use) { return use.getOwner() != later; });
  }
  Operation *behind = merged;
  for (Operation *op : moved) {
    op->moveAfter(behind);
    behind = op;
  }
  spaces.erase(later);
  spaces.erase(earlier);
  later->erase();
  earlier->erase();
  return merged;
}

/// The earlier kernel whose merge with `later` saves most bytes; null if there is none.
FusionOp Merger::findPartner(FusionOp later) {
  if (spaceOf(later).form == Form::Other || !isPlain(later)) {
    return {};
  }
  llvm::SetVector<Operation *> candidates;
  for (Value v : later->getOperands()) {
    bool small = bytesOf(v) * 2 < kLeastSavedInLoops;
    if (auto producer = v.getDefiningOp<FusionOp>()) {
      if (!small || isOverColumns(producer, later)) {
        candidates.insert(producer);
      }
    }
    if (small) {
      continue;
    }
    size_t looked = 0;
    for (Operation *user : v.getUsers()) {
      if (++looked > kMaxCandidates) {
        break;
      }
      if (isa<FusionOp>(user) && user != later && user->isBeforeInBlock(later)) {
        candidates.insert(user);
      }
    }
  }
  FusionOp best;
  int64_t most = 0;
  for (Operation *candidate : candidates.getArrayRef().take_front(kMaxCandidates)) {
    auto earlier = cast<FusionOp>(candidate);
    if (!canShareSpace(earlier, later) || !isPlain(earlier) ||
        opsIn(earlier) + opsIn(later) > kMaxOps) {
      continue;
    }
    int64_t saved = savedBytes(earlier, later);
    bool loops = spaceOf(earlier).form == Form::Loop && spaceOf(later).form == Form::Loop &&
                 !(isExpensive(earlier) && isExpensive(later));
    int64_t least = isOverColumns(earlier, later) ? 1 : loops ? kLeastSavedInLoops : leastSaved;
    if (saved <= most || saved < least) {
      continue;
    }
    llvm::SmallDenseSet<Value> streams, small;
    for (FusionOp kernel : {earlier, later}) {
      for (ValueRange values :
           {ValueRange(kernel->getOperands()), ValueRange(kernel->getResults())}) {
        for (Value v : values) {
          (bytesOf(v) >= leastSaved ? streams : small).insert(v);
        }
      }
    }
    if (streams.size() > kMaxStreams || streams.size() + small.size() > kMaxOperands ||
        !findMoved(earlier, later)) {
      continue;
    }
    best = earlier;
    most = saved;
  }
  return best;
}

void Merger::run() {
  for (FusionOp kernel : llvm::make_early_inc_range(block.getOps<FusionOp>())) {
    while (FusionOp partner = findPartner(kernel)) {
      kernel = merge(partner, kernel, *findMoved(partner, kernel));
    }
  }
}

namespace {
class HloMultiOutputFusionPass
    : public PassWrapper<HloMultiOutputFusionPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HloMultiOutputFusionPass)
  explicit HloMultiOutputFusionPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "hlo-multi-output-fusion"; }
  StringRef getDescription() const override {
    return "Make one kernel of kernels that read the same arrays in step";
  }
  StringRef getName() const override { return "HloMultiOutputFusionPass"; }

  void runOnOperation() override {
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      Merger(computation.getBody().front(), machine).run();
    }
  }

private:
  Machine machine;
};
} // namespace

std::unique_ptr<Pass> createHloMultiOutputFusionPass(const Machine &machine) {
  return std::make_unique<HloMultiOutputFusionPass>(machine);
}

} // namespace hlo

//===- AttentionFusion.cpp - hlo-attention-fusion -------------------------===//
//
// In: ops at top level. Out: where a dot multiplies weights that are computed from the scores of
// another dot by reduces of rows (plans/AttentionPlan.h), a kernel of strategy `attention` around
// both, if a plan for its blocks says that it pays.
//
// The kernel also computes what the scores are combined with, if that is made from nothing or
// needed by no one else: masks of positions, broadcast biases. Arrays that other kernels compute
// anyway are read from memory.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/AttentionPlan.h"
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/KernelBody.h"
#include "compiler/transforms/fusion/TopLevelPass.h"

#include <set>

using namespace mlir;

namespace hlo {
namespace {

using namespace hlo::fusion;

/// Search limit: ops that the scores are combined with.
constexpr size_t kMostOthers = 256;

bool isFree(Operation *op) {
  return isa<IotaOp, BroadcastOp, TransposeOp>(op) || isSplatConstant(op) ||
         (isa<ReshapeOp, BitcastOp>(op) && keepsSizes(op));
}

/// Collects the members of the kernel of an attention.
class Members {
public:
  Members(Attention &attention) : a(attention) {
    ops.insert(a.between.begin(), a.between.end());
    ops.insert(a.weighted);
    ops.insert(a.epilogue.begin(), a.epilogue.end());
    for (Value v : {a.scores.getLhs(), a.scores.getRhs(), a.values()}) {
      takeOrder(v);
    }
    takeOthers();
  }

  SmallVector<Operation *> inOrder() const {
    SmallVector<Operation *> sorted(ops.begin(), ops.end());
    llvm::sort(sorted, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    return sorted;
  }

private:
  /// A dot reads its operands through transposes.
  void takeOrder(Value v) {
    while (auto transpose = v.getDefiningOp<TransposeOp>()) {
      ops.insert(transpose);
      v = transpose.getOperand();
    }
  }

  /// Whether the op is computed from positions and constants alone.
  bool isMadeFromNothing(Operation *op) {
    auto [known, isNew] = madeFromNothing.try_emplace(op, false);
    if (isNew) {
      bool result = (isFree(op) || (isElementwiseOp(op) && costOf(op) <= 1)) &&
                    llvm::all_of(op->getOperands(), [&](Value v) {
                      return v.getDefiningOp() && isMadeFromNothing(v.getDefiningOp());
                    });
      madeFromNothing[op] = result;
      return result;
    }
    return known->second;
  }

  bool takes(Operation *op) {
    if (isFree(op)) {
      return true;
    }
    return isElementwiseOp(op) && costOf(op) <= 1 &&
           (isMadeFromNothing(op) ||
            llvm::all_of(op->getUsers(), [&](Operation *user) { return ops.contains(user); }));
  }

  void takeOthers() {
    // Users first: whether an op is taken depends on them.
    auto later = [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); };
    std::set<Operation *, decltype(later)> work(later);
    auto visit = [&](Operation *op) {
      for (Value v : op->getOperands()) {
        Operation *def = v.getDefiningOp();
        if (def && !ops.contains(def) && arrayType(v)) {
          work.insert(def);
        }
      }
    };
    for (Operation *op : a.between) {
      if (op != a.scores) {
        visit(op);
      }
    }
    for (size_t visited = 0; !work.empty() && visited < kMostOthers; ++visited) {
      Operation *op = *work.begin();
      work.erase(work.begin());
      if (takes(op)) {
        ops.insert(op);
        visit(op);
      }
    }
  }

  Attention &a;
  llvm::SetVector<Operation *> ops;
  DenseMap<Operation *, bool> madeFromNothing;
};

void buildKernel(Attention &attention) {
  SmallVector<Operation *> members = Members(attention).inOrder();
  Value root = attention.root();
  llvm::SetVector<Value> operands;
  for (Operation *member : members) {
    for (Value v : member->getOperands()) {
      if (!llvm::is_contained(members, v.getDefiningOp())) {
        operands.insert(v);
      }
    }
  }
  OpBuilder builder(root.getDefiningOp());
  OperationState state(root.getLoc(), FusionOp::getOperationName());
  state.addOperands(operands.getArrayRef());
  state.addTypes(root.getType());
  state.addAttribute("strategy", builder.getStringAttr(stringifyStrategy(Strategy::Attention)));
  auto *body = new Block;
  state.addRegion()->push_back(body);
  IRMapping mapping;
  for (Value operand : operands) {
    mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
  }
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(body);
  for (Operation *member : members) {
    copyIntoKernel(inside, member, mapping);
  }
  ReturnOp::create(inside, root.getLoc(), mapping.lookup(root));
  root.replaceAllUsesWith(builder.create(state)->getResult(0));
  for (Operation *member : llvm::reverse(members)) {
    if (member->use_empty()) {
      member->erase();
    }
  }
}

class HloAttentionFusionPass : public TopLevelPass<HloAttentionFusionPass, DotOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HloAttentionFusionPass)
  explicit HloAttentionFusionPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "hlo-attention-fusion"; }
  StringRef getDescription() const override {
    return "Make one kernel of two dots with a softmax of rows between them";
  }
  void runOnBlock(Block &block, SymbolTable &) {
    for (DotOp weighted : llvm::to_vector(block.getOps<DotOp>())) {
      std::optional<Attention> attention = matchAttention(weighted);
      if (attention && planAttention(machine, *attention)) {
        buildKernel(*attention);
      }
    }
  }

private:
  Machine machine;
};

} // namespace

std::unique_ptr<Pass> createHloAttentionFusionPass(const Machine &machine) {
  return std::make_unique<HloAttentionFusionPass>(machine);
}

} // namespace hlo

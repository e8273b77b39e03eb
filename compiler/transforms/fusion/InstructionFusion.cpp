//===- InstructionFusion.cpp - hlo-fusion: kernels as regions -------------===//
//
// Rewrites every computation that runs at top level, from core ops on dense row-major arrays to
// hlo.fusion, hlo.bitcast, hlo.constant, hlo.while, hlo.conditional and runtime ops only:
//
//   %e = hlo.exponential %x          %s = hlo.fusion %x {
//   %s = hlo.reduce %e, %zero   =>     ^bb0(%a): ... hlo.return %r
//                                    } {strategy = "reduce"}
//
// Groups.cpp decides which ops form a kernel. This file moves them into regions and sets which
// buffers a kernel may or must share.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/plans/SortPlan.h"
#include "compiler/plans/Strategies.h"
#include "compiler/transforms/fusion/Fusion.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/KernelBody.h"
#include "compiler/transforms/fusion/KernelSpace.h"
#include "compiler/transforms/fusion/TopLevelPass.h"

using namespace mlir;

namespace hlo {
namespace {

using namespace hlo::fusion;

/// The number of operands of members that are v.
int64_t countReads(ArrayRef<Operation *> members, Value v) {
  int64_t reads = 0;
  for (Operation *member : members) {
    reads += llvm::count(member->getOperands(), v);
  }
  return reads;
}

/// The pairs (result, operand) of a kernel that works in place: the operand's array must be in the
/// result's buffer. If the kernel reads such an array elsewhere too, those reads must not see what
/// is written: the array becomes an additional operand, listed in `again` with its result's number,
/// and only that operand is in place.
SmallVector<int64_t> findInPlace(Group &group, ArrayRef<Operation *> members,
                                 ArrayRef<Value> operands,
                                 SmallVectorImpl<std::pair<unsigned, Value>> &again) {
  SmallVector<int64_t> pairs;
  auto require = [&](int64_t result, Value array) {
    int64_t operand = llvm::find(operands, array) - operands.begin();
    if (countReads(members, array) > 1) {
      operand = operands.size() + again.size();
      again.push_back({static_cast<unsigned>(result), array});
    }
    pairs.append({result, operand});
  };
  if (propertiesOf(group.strategy).sharing == Sharing::InPlace) {
    for (unsigned n = 0; n < group.root->getNumResults(); ++n) {
      require(n, group.root->getOperand(n));
    }
  }
  return pairs;
}

/// The results of an op that its kernel writes: all, but of a sort by keys only those with users
/// (an argsort uses only the positions).
static SmallVector<Value> wantedResults(const Machine &machine, Operation *root) {
  SmallVector<Value> wanted(root->getResults());
  auto sort = dyn_cast<SortOp>(root);
  if (sort && planSort(machine, sort).method != SortPlan::Method::Merge && !root->use_empty()) {
    llvm::erase_if(wanted, [](Value v) { return v.use_empty(); });
  }
  return wanted;
}

/// Whether a kernel should read a bitcast of the array instead of reshaping indices. True if the
/// reshape does more than add or drop dimensions of size 1, which would need divisions, or if the
/// array is large, since its dimensions then merge.
bool isWorthRelabelling(Operation *op) {
  constexpr int64_t large = 16 << 10; // bytes; in less, merged dimensions save little (estimate)
  auto sizes = [](Value v) {
    SmallVector<int64_t> kept(shapeOf(v));
    llvm::erase(kept, 1);
    return kept;
  };
  return isa<ReshapeOp, BitcastOp>(op) && (bytesOf(op->getResult(0)) >= large ||
                                           sizes(op->getOperand(0)) != sizes(op->getResult(0)));
}

/// Makes top-level bitcasts of the arrays that a group reads through reshapes, so that the kernel
/// does not divide indices.
class Relabels {
public:
  explicit Relabels(Block &block) : block(block) {}

  /// Maps the result of each reshape of an outside array, among the members (in program order), to
  /// a bitcast before the group.
  DenseMap<Value, Value> find(const Group &group, ArrayRef<Operation *> members) {
    DenseMap<Value, Value> outside;
    for (Operation *member : members) {
      if (!isWorthRelabelling(member) || member == group.root) {
        continue;
      }
      Value from = member->getOperand(0), to = member->getResult(0);
      if (auto known = outside.find(from); known != outside.end()) {
        from = known->second;
      } else if (Operation *def = from.getDefiningOp(); def && group.members.contains(def)) {
        continue;
      }
      outside[to] = relabel(from, to);
    }
    return outside;
  }

private:
  Value relabel(Value from, Value like) {
    while (auto bitcast = from.getDefiningOp<BitcastOp>()) {
      if (!made.contains(bitcast)) {
        break;
      }
      from = bitcast.getOperand();
    }
    if (from.getType() == like.getType()) {
      return from;
    }
    Value &known = bitcasts[{from, like.getType()}];
    if (!known) {
      OpBuilder builder(block.getParentOp()->getContext());
      if (Operation *def = from.getDefiningOp()) {
        builder.setInsertionPointAfter(def);
      } else {
        builder.setInsertionPointToStart(&block);
      }
      auto bitcast = BitcastOp::create(builder, like.getLoc(), like.getType(), from);
      made.insert(bitcast);
      known = bitcast.getResult();
    }
    return known;
  }

  Block &block;
  DenseMap<std::pair<Value, Type>, Value> bitcasts;
  DenseSet<Operation *> made;
};

/// Makes the kernel of a group. `wanted`: the results of the root that the kernel writes.
FusionOp buildFusion(const Machine &machine, Group &group, ArrayRef<Value> wanted,
                     Relabels &relabels) {
  // Members in program order, and the values they read from outside.
  SmallVector<Operation *> members(group.members.begin(), group.members.end());
  llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  DenseMap<Value, Value> relabelled = relabels.find(group, members);
  llvm::erase_if(members, [&](Operation *op) {
    return op->getNumResults() == 1 && relabelled.contains(op->getResult(0));
  });
  llvm::SetVector<Value> operands;
  for (Operation *member : members) {
    for (Value v : member->getOperands()) {
      if (auto outside = relabelled.find(v); outside != relabelled.end()) {
        operands.insert(outside->second);
      } else if (Operation *def = v.getDefiningOp(); !def || !group.members.contains(def)) {
        operands.insert(v);
      }
    }
  }
  SmallVector<std::pair<unsigned, Value>> again;
  SmallVector<int64_t> inPlace = findInPlace(group, members, operands.getArrayRef(), again);

  OpBuilder builder(group.root);
  Type scratch;
  auto scratchOf = propertiesOf(group.strategy).scratchBytes;
  if (int64_t scratchBytes = scratchOf ? scratchOf(machine, group.root) : 0; scratchBytes > 0) {
    scratch = RankedTensorType::get({scratchBytes}, builder.getIntegerType(8, /*isSigned=*/false));
  }
  OperationState state(group.root->getLoc(), FusionOp::getOperationName());
  state.addOperands(operands.getArrayRef());
  for (auto [number, array] : again) {
    state.addOperands(array);
  }
  state.addTypes(TypeRange(ValueRange(wanted)));
  if (scratch) {
    state.addTypes(scratch);
  }
  state.addAttribute("strategy", builder.getStringAttr(stringifyStrategy(group.strategy)));
  if (!inPlace.empty()) {
    state.addAttribute("in_place", builder.getDenseI64ArrayAttr(inPlace));
  }
  Region *region = state.addRegion();
  auto *body = new Block;
  region->push_back(body);
  IRMapping mapping;
  for (Value operand : operands) {
    mapping.map(operand, body->addArgument(operand.getType(), operand.getLoc()));
  }
  for (auto [inner, outer] : relabelled) {
    mapping.map(inner, mapping.lookupOrDefault(outer));
  }
  SmallVector<Value> arrays;
  for (auto [number, array] : again) {
    arrays.push_back(body->addArgument(array.getType(), array.getLoc()));
  }
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(body);
  for (Operation *member : members) {
    Operation *copy = copyIntoKernel(inside, member, mapping);
    if (member == group.root) {
      for (auto [written, value] : llvm::zip(again, arrays)) {
        copy->setOperand(written.first, value);
      }
    }
  }
  SmallVector<Value> roots;
  for (Value v : wanted) {
    roots.push_back(mapping.lookup(v));
  }
  if (scratch) {
    auto none = DenseElementsAttr::get(
        cast<ShapedType>(scratch),
        builder.getIntegerAttr(cast<ShapedType>(scratch).getElementType(), 0));
    roots.push_back(ConstantOp::create(inside, group.root->getLoc(), scratch, none).getResult());
  }
  ReturnOp::create(inside, group.root->getLoc(), roots);
  auto fusion = cast<FusionOp>(builder.create(state));
  setMayAlias(fusion);
  return fusion;
}

void fuseBlock(Block &block, const Machine &machine) {
  Grouping grouping = groupOps(block, machine);
  Relabels relabels(block);
  SmallVector<std::pair<SmallVector<Value>, FusionOp>> built;
  for (auto &group : grouping.groups) {
    SmallVector<Value> wanted = wantedResults(machine, group->root);
    FusionOp fusion = buildFusion(machine, *group, wanted, relabels);
    built.push_back({std::move(wanted), fusion});
  }
  for (auto &[wanted, fusion] : built) {
    for (auto [value, result] : llvm::zip(wanted, fusion->getResults())) {
      value.replaceAllUsesWith(result);
    }
  }
  for (Operation *relabel : grouping.relabels) {
    OpBuilder builder(relabel);
    auto bitcast = BitcastOp::create(builder, relabel->getLoc(), relabel->getResult(0).getType(),
                                     relabel->getOperand(0));
    relabel->getResult(0).replaceAllUsesWith(bitcast.getResult());
    relabel->erase();
  }
  // Ops without uses have been cloned into kernels.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isa<FusionOp, ReturnOp, BitcastOp>(op) && op.use_empty() &&
        (isPure(&op) || roleOf(&op) != Role::TopLevel)) {
      op.erase();
    } else if (isa<BitcastOp, FusionOp>(op) && op.use_empty()) {
      op.erase();
    }
  }
}

class HloFusionPass : public TopLevelPass<HloFusionPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HloFusionPass)
  explicit HloFusionPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "hlo-fusion"; }
  StringRef getDescription() const override {
    return "Gather ops into kernels: hlo.fusion regions with a strategy";
  }
  void runOnBlock(Block &block, SymbolTable &) { fuseBlock(block, machine); }

private:
  Machine machine;
};

} // namespace

std::unique_ptr<Pass> createHloFusionPass(const Machine &machine) {
  return std::make_unique<HloFusionPass>(machine);
}

void registerFusionPasses(const Machine &machine) {
  registerPass([&machine] { return createHloAttentionFusionPass(machine); });
  registerPass([&machine] { return createHloFusionPass(machine); });
  registerPass([&machine] { return createHloMultiOutputFusionPass(machine); });
}

} // namespace hlo

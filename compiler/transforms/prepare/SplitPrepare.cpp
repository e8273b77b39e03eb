//===- SplitPrepare.cpp - hlo-split-prepare: two functions of one module --===//
//
// In: a module with immutable leaves, before or after fusion. Out: the same with a prepare
// computation for values that depend only on immutable values, and an entry that takes its results
// as arguments:
//
//   entry(x, w)                        prepare(x, w)           entry(x, w, p)
//     t = rsqrt(w)                =>     t = rsqrt(w)             y = x * p
//     y = x * t                          return t                 return y
//     return y
//
// Values that depend on large constants only become constants, also in a module without immutable
// leaves, which gets no prepare computation. A value is prepared only if it is worth its memory;
// values that are cheap to derive from it, such as a broadcast, stay in the entry. The pass may run
// again: prepared arguments are immutable too, and those no longer used are removed.
//
// Branches of the entry's conditional, such as versions of the program for some sizes, get prepared
// arrays through the entry. What several of them compute in the same way is prepared once.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/prepare/FoldConstants.h"
#include "compiler/transforms/prepare/Immutable.h"
#include "compiler/transforms/prepare/Prepare.h"
#include "compiler/transforms/prepare/Worth.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace hlo;

namespace {
class Splitter {
public:
  Splitter(ModuleOp module, const ComputationGraph &graph)
      : module(module), entry(graph.entry()), prepare(graph.prepare()) {
    if (!prepare && declaresImmutable(module)) {
      makePrepare();
    }
    leaves = (prepare ? prepare : entry).getBody().getNumArguments();
    immutable.emplace(graph, module);
  }

  void run();

private:
  void makePrepare();
  void choose();
  void consider(Value value, Use use);
  DenseSet<Operation *> neededOps();
  Operation *copied(Operation &op, IRMapping &mapping, OpBuilder &b);
  void foldConstants();
  void move();
  Value inEntry(Value prepared);
  Value inBranch(ComputationOp branch, Value argument);
  void dropUnused();

  ModuleOp module;
  ComputationOp entry, prepare;
  unsigned leaves = 0;
  std::optional<ImmutableValues> immutable;
  llvm::SetVector<Value> wanted;
  DenseSet<std::pair<Value, int>> considered;
  /// Ops of the prepare computation by what they compute, but for regions.
  DenseMap<llvm::hash_code, SmallVector<Operation *, 1>> made;
};
} // namespace

/// Makes a prepare computation with the entry's arguments and no results.
void Splitter::makePrepare() {
  OpBuilder b(module.getContext());
  b.setInsertionPointAfter(entry);
  std::string name = (entry.getSymName() + ".prepare").str();
  while (SymbolTable::lookupSymbolIn(module, name)) {
    name += "_";
  }
  ArrayRef<Type> types = entry.getArgumentTypes();
  prepare = ComputationOp::create(b, NameLoc::get(b.getStringAttr(name), entry.getLoc()), name,
                                  b.getFunctionType(types, {}));
  prepare->setAttr(kPrepare, b.getUnitAttr());
  Block &body = prepare.getBody().emplaceBlock();
  for (BlockArgument argument : entry.getBody().getArguments()) {
    body.addArgument(argument.getType(), argument.getLoc());
  }
  b.setInsertionPointToEnd(&body);
  ReturnOp::create(b, entry.getReturn()->getLoc(), ValueRange());
}

/// Notes how many arguments a branch has.
static void setOperandCount(ConditionalOp op, ComputationOp branch) {
  SmallVector<int64_t> counts(*op.getBranchOperandCounts());
  for (auto [i, name] : llvm::enumerate(op.getBranchComputations())) {
    if (cast<FlatSymbolRefAttr>(name).getAttr() == branch.getSymNameAttr()) {
      counts[i] = branch.getBody().getNumArguments();
    }
  }
  op.setBranchOperandCounts(counts);
}

/// Decides whether to prepare a value that an op of the entry reads.
void Splitter::consider(Value value, Use use) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op) || wanted.contains(value) ||
      !considered.insert({value, static_cast<int>(use)}).second) {
    return;
  }
  if (Value panels = panelsBehind(op)) {
    // The hero's kernel reads the panels; what stands between is never computed.
    if (Operation *source = panels.getDefiningOp(); source && !isa<ConstantOp>(source)) {
      wanted.insert(panels);
    }
    return;
  }
  if (isWorthKeeping(value, use, wanted) && (prepare || isFoldable(value))) {
    wanted.insert(value);
    return;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    consider(operand.get(), useOf(operand));
  }
}

void Splitter::choose() {
  for (ComputationOp program : immutable->programs()) {
    for (Operation &op : program.getBody().front()) {
      for (OpOperand &operand : op.getOpOperands()) {
        bool stays = op.getNumResults() == 0 || !immutable->contains(op.getResult(0));
        // What branches read is considered there.
        if (stays && immutable->contains(operand.get()) && !isa<ConditionalOp>(op)) {
          consider(operand.get(), useOf(operand));
        }
      }
    }
  }
}

/// Computes what depends on constants only; what is left of `wanted` is prepared, if anything is.
void Splitter::foldConstants() {
  ConstantFolder folder(immutable->programs());
  llvm::SetVector<Value> rest;
  for (Value value : wanted) {
    if (!folder.fold(value)) {
      rest.insert(value);
    }
  }
  wanted = std::move(rest);
}

/// The ops that compute the wanted values.
DenseSet<Operation *> Splitter::neededOps() {
  DenseSet<Operation *> needed;
  DenseSet<Value> seen;
  SmallVector<Value> work(wanted.begin(), wanted.end());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner()->getParentOp() != entry && seen.insert(value).second) {
        work.push_back(immutable->outside(argument));
      }
    } else if (needed.insert(value.getDefiningOp()).second) {
      llvm::append_range(work, value.getDefiningOp()->getOperands());
    }
  }
  return needed;
}

/// The op of the prepare computation that computes what `op` does.
Operation *Splitter::copied(Operation &op, IRMapping &mapping, OpBuilder &b) {
  constexpr auto flags = OperationEquivalence::Flags::IgnoreLocations;
  Operation *copy = b.clone(op, mapping);
  auto &equal = made[OperationEquivalence::computeHash(
      copy, OperationEquivalence::directHashValue, OperationEquivalence::ignoreHashValue, flags)];
  for (Operation *other : equal) {
    if (OperationEquivalence::isEquivalentTo(copy, other, flags)) {
      mapping.map(op.getResults(), other->getResults());
      copy->erase();
      return other;
    }
  }
  equal.push_back(copy);
  return copy;
}

/// The entry's argument that is a value of the prepare computation.
Value Splitter::inEntry(Value prepared) {
  Block &from = entry.getBody().front();
  Operation *end = prepare.getReturn();
  auto known = llvm::find(end->getOperands(), prepared);
  if (known != end->operand_end()) {
    return from.getArgument(leaves + (known - end->operand_begin()));
  }
  end->insertOperands(end->getNumOperands(), prepared);
  return from.addArgument(prepared.getType(), prepared.getLoc());
}

/// The argument of a branch that is one of the entry.
Value Splitter::inBranch(ComputationOp branch, Value argument) {
  Block &body = branch.getBody().front();
  auto [op, first] = immutable->callOf(branch);
  unsigned count = body.getNumArguments();
  for (unsigned i = 0; i < count; ++i) {
    if (op->getOperand(first + i) == argument) {
      return body.getArgument(i);
    }
  }
  op->insertOperands(first + count, argument);
  Value inside = body.addArgument(argument.getType(), argument.getLoc());
  setOperandCount(op, branch);
  return inside;
}

void Splitter::move() {
  Block &from = entry.getBody().front(), &into = prepare.getBody().front();
  DenseSet<Operation *> needed = neededOps();
  Operation *end = into.getTerminator();
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    mapping.map(argument, number < leaves ? Value(into.getArgument(number))
                                          : end->getOperand(number - leaves));
  }
  OpBuilder b(end);
  for (ComputationOp program : immutable->programs()) {
    Block &body = program.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      if (program != entry && immutable->contains(argument)) {
        mapping.map(argument, mapping.lookupOrNull(immutable->outside(argument)));
      }
    }
    for (Operation &op : body) {
      if (needed.contains(&op)) {
        copied(op, mapping, b);
      }
    }
  }
  for (Value value : wanted) {
    Value argument = inEntry(mapping.lookup(value));
    auto program = cast<ComputationOp>(value.getParentBlock()->getParentOp());
    value.replaceAllUsesWith(program == entry ? argument : inBranch(program, argument));
  }
}

/// Removes arguments of branches and prepared arrays that nothing reads.
void Splitter::dropUnused() {
  for (ComputationOp branch : immutable->programs().drop_front()) {
    Block &body = branch.getBody().front();
    auto [op, first] = immutable->callOf(branch);
    for (unsigned i = body.getNumArguments(); i-- > 0;) {
      if (body.getArgument(i).use_empty()) {
        body.eraseArgument(i);
        op->eraseOperand(first + i);
      }
    }
    setOperandCount(op, branch);
    updateFunctionType(branch);
  }
  immutable->removeDead(entry);
  Block &body = entry.getBody().front();
  Operation *end = prepare.getReturn();
  for (unsigned i = body.getNumArguments(); i-- > leaves;) {
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      end->eraseOperand(i - leaves);
    }
  }
}

void Splitter::run() {
  choose();
  foldConstants();
  if (!prepare) {
    immutable->removeDead();
    return;
  }
  move();
  immutable->removeDead();
  dropUnused();
  immutable->removeDead(prepare);
  updateFunctionType(entry);
  updateFunctionType(prepare);
}

namespace {
class SplitPreparePass : public PassWrapper<SplitPreparePass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitPreparePass)
  StringRef getArgument() const final { return "hlo-split-prepare"; }
  StringRef getDescription() const final {
    return "Move ops on immutable values to the prepare computation";
  }

  void runOnOperation() final {
    if (failed(changeImmutable(getOperation(), [&](const ComputationGraph &graph) {
          Splitter(getOperation(), graph).run();
        }))) {
      signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createSplitPreparePass() { return std::make_unique<SplitPreparePass>(); }

void hlo::registerPreparePasses() {
  registerPass([] { return createFoldScalesPass(); });
  registerPass([] { return createPackOperandsPass(); });
  registerPass([] { return createSplitPreparePass(); });
}

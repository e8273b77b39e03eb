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
// A value is prepared only if it is worth its memory; values that are cheap to derive from it, such
// as a broadcast, stay in the entry. The pass may run again: prepared arguments are immutable too,
// and those no longer used are removed.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
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
    if (!prepare) {
      makePrepare();
    }
    leaves = prepare.getBody().getNumArguments();
    immutable.emplace(graph, module);
  }

  void run();

private:
  void makePrepare();
  void choose();
  void consider(Value value, Use use);
  void move();
  void dropUnused();

  ModuleOp module;
  ComputationOp entry, prepare;
  unsigned leaves = 0;
  std::optional<ImmutableValues> immutable;
  llvm::SetVector<Value> wanted;
  DenseSet<std::pair<Value, int>> considered;
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

/// Decides whether to prepare a value that an op of the entry reads.
void Splitter::consider(Value value, Use use) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op) || wanted.contains(value) ||
      !considered.insert({value, static_cast<int>(use)}).second) {
    return;
  }
  if (Value panels = panelsBehind(op)) {
    // The hero's kernel reads the panels; what stands between is never computed.
    if (panels.getDefiningOp()) {
      wanted.insert(panels);
    }
    return;
  }
  if (isWorthKeeping(value, use, wanted)) {
    wanted.insert(value);
    return;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    consider(operand.get(), useOf(operand));
  }
}

void Splitter::choose() {
  for (Operation &op : entry.getBody().front()) {
    for (OpOperand &operand : op.getOpOperands()) {
      bool stays = op.getNumResults() == 0 || !immutable->contains(op.getResult(0));
      if (stays && immutable->contains(operand.get())) {
        consider(operand.get(), useOf(operand));
      }
    }
  }
}

void Splitter::move() {
  Block &from = entry.getBody().front(), &into = prepare.getBody().front();
  // The ops that compute the wanted values, in text order.
  DenseSet<Operation *> needed;
  SmallVector<Value> work(wanted.begin(), wanted.end());
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && needed.insert(op).second) {
      llvm::append_range(work, op->getOperands());
    }
  }
  Operation *end = into.getTerminator();
  IRMapping mapping;
  for (BlockArgument argument : from.getArguments()) {
    unsigned number = argument.getArgNumber();
    mapping.map(argument, number < leaves ? Value(into.getArgument(number))
                                          : end->getOperand(number - leaves));
  }
  OpBuilder b(end);
  for (Operation &op : from) {
    if (needed.contains(&op)) {
      b.clone(op, mapping);
    }
  }
  for (Value value : wanted) {
    end->insertOperands(end->getNumOperands(), mapping.lookup(value));
    value.replaceAllUsesWith(from.addArgument(value.getType(), value.getLoc()));
  }
}

/// Removes prepared arrays that nothing reads any more.
void Splitter::dropUnused() {
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
  move();
  immutable->removeDead(entry);
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

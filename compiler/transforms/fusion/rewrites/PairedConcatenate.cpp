//===- PairedConcatenate.cpp - Parts of a concatenate computed together ---===//
//
// A random generator makes two words from one counter, and its result is the concatenate of all
// first and all second words. Most of the work is common to both. Evaluated at an index of the
// result, it would be done twice, and half of it discarded.
//
//   f(reshape(concatenate(a, b)), c, 1.0)  =>
//   reshape(stack(f(a, c[:n], 1.0), f(b, c[n:], 1.0)), dimension=0)
//
// A stack is the root of a kernel that walks its parts: an iteration computes element i of each
// part and stores it at its place. (SplitColumns.cpp stacks along the minor dimension.)
// Element-wise users move before the stack if exactly one array remains to be stored then;
// otherwise the stack stays before them.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/fusion/Cost.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/LaneDimension.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

namespace {
/// Rewrites one concatenate and its users.
class Pairing {
public:
  explicit Pairing(ConcatenateOp op) : op(op), part(elementsOf(op.getInputs()[0])) {}
  void run();

private:
  bool canGoBefore(Operation *user);
  SmallVector<Value> partsOf(HloBuilder &b, Value operand);
  void goBefore(Operation *user);

  ConcatenateOp op;
  int64_t part;
  /// Values that are computed as two parts, and the users whose results are such values, in program
  /// order.
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> users;
  DenseMap<Value, SmallVector<Value>> parts;
};
} // namespace

bool Pairing::canGoBefore(Operation *user) {
  if (user->getNumResults() != 1 || resultElements(user) != 2 * part) {
    return false;
  }
  if (isa<ReshapeOp, BitcastOp>(user)) {
    return elementTypeOf(user->getOperand(0)) == elementTypeOf(user->getResult(0));
  }
  return isElementwiseOp(user) && hasOneShape(user) &&
         llvm::all_of(user->getOperands(), [&](Value operand) {
           if (values.contains(operand) || shapeOf(operand).empty()) {
             return true;
           }
           // The parts of another operand are slices of it. An operand that is broadcast is
           // excluded: reading its parts would need divisions.
           Operation *def = operand.getDefiningOp();
           auto broadcast = operand.getDefiningOp<BroadcastOp>();
           return !def || roleOf(def) != Role::Free || isa<ReshapeOp, BitcastOp, IotaOp>(def) ||
                  (broadcast && shapeOf(broadcast.getOperand()).empty());
         });
}

SmallVector<Value> Pairing::partsOf(HloBuilder &b, Value operand) {
  if (auto known = parts.find(operand); known != parts.end()) {
    return known->second;
  }
  if (shapeOf(operand).empty()) {
    return {operand, operand};
  }
  if (auto broadcast = operand.getDefiningOp<BroadcastOp>()) {
    Value splat = b.broadcastScalar(broadcast.getOperand(), {part});
    return {splat, splat};
  }
  Value flat = b.reshape(operand, {2 * part});
  return {b.sliceDim(flat, 0, 0, part), b.sliceDim(flat, 0, part, 2 * part)};
}

void Pairing::goBefore(Operation *user) {
  if (isa<ReshapeOp, BitcastOp>(user)) {
    parts[user->getResult(0)] = parts[user->getOperand(0)];
    return;
  }
  OpBuilder builder(user);
  HloBuilder b(builder, user->getLoc());
  SmallVector<Value> first, second;
  for (Value operand : user->getOperands()) {
    SmallVector<Value> both = partsOf(b, operand);
    first.push_back(both[0]);
    second.push_back(both[1]);
  }
  Value a = copyFor(b, user, first, {part});
  parts[user->getResult(0)] = {a, copyFor(b, user, second, {part})};
}

void Pairing::run() {
  values.insert(op.getResult());
  for (Operation *at = op->getNextNode(); at; at = at->getNextNode()) {
    if (llvm::any_of(at->getOperands(), [&](Value v) { return values.contains(v); }) &&
        canGoBefore(at)) {
      users.insert(at);
      values.insert(at->getResult(0));
    }
  }
  // The values that are still read as a whole. A reshape counts as the array that it relabels.
  auto isRead = [&](Value v) {
    return llvm::any_of(v.getUsers(), [&](Operation *user) { return !users.contains(user); });
  };
  llvm::SetVector<Value> made;
  for (Value v : values) {
    if (isRead(v)) {
      while (v != op.getResult() && isa<ReshapeOp, BitcastOp>(v.getDefiningOp())) {
        v = v.getDefiningOp()->getOperand(0);
      }
      made.insert(v);
    }
  }
  if (made.size() != 1) {
    users.clear();
    values.clear();
    values.insert(op.getResult());
  }
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  for (Value input : op.getInputs()) {
    parts[op.getResult()].push_back(b.reshape(input, {part}));
  }
  for (Operation *user : users) {
    goBefore(user);
  }
  Value whole = made.size() == 1 ? made.front() : op.getResult();
  builder.setInsertionPointAfterValue(whole);
  HloBuilder after(builder, whole.getLoc());
  Value stack = StackOp::create(builder, whole.getLoc(), parts[whole], 0);
  whole.replaceAllUsesWith(after.reshape(stack, shapeOf(whole)));
  for (Operation *user : llvm::reverse(users)) {
    if (user->use_empty()) {
      user->erase();
    }
  }
  if (op->use_empty()) {
    op.erase();
  }
}

static void pairConcatenates(Block &block) {
  for (ConcatenateOp op : llvm::make_early_inc_range(block.getOps<ConcatenateOp>())) {
    if (isWorthPairing(op)) {
      Pairing(op).run();
    }
  }
}

namespace {
class PairedConcatenatePass : public TopLevelPass<PairedConcatenatePass, ConcatenateOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PairedConcatenatePass)

  StringRef getArgument() const override { return "hlo-paired-concatenate"; }
  StringRef getDescription() const override {
    return "Compute the parts of a concatenate together that share their work";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { pairConcatenates(block); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createPairedConcatenatePass() {
  return std::make_unique<fusion::PairedConcatenatePass>();
}

//===- Attention.cpp - Strategy "attention": rows from scores to result ---===//
//
// In: a region of two dots with reduces of rows between them (plans/AttentionPlan.h). Out, for each
// block of rows that share keys and values:
//
//   scores  = dot(queries, keys), with the element-wise ops before the first reduce     strategy dot
//   weights = the rest up to the second dot                                             strategy row
//   result  = dot(weights, values), with the conversions behind it                      strategy dot
//   its place in the array                                                     strategy update-slice
//
// Where a mask of positions is false for all keys behind some, those keys are left out
// (MaskedKeys.h): blocks of rows have up to four numbers of keys, each with code of its own. That
// gives the same result if the masked weights are zero, which follows from the maxima of the rows,
// and if the values that they multiply are finite. Otherwise the block is computed again, with all
// keys.
//
// Scores, weights and the result of a block are in buffers of the task, which stay in L2. Each step
// is a kernel of its own region, on blocks of the arrays (BlockKernel.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/attention/BlockKernel.h"
#include "compiler/codegen/attention/MaskedKeys.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/loops/EmitterImpl.h"

using namespace mlir;

namespace hlo::codegen {

/// Numbers of keys that blocks may have. Each has code of its own.
static constexpr int64_t kMostLengths = 4;
/// Keys are left out in steps of so many: whole registers, and whole vectors of a row kernel.
static constexpr int64_t kKeyStep = 64;

namespace {

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &kernel, Attention attention, const AttentionBlocks &plan)
      : kernel(kernel), e(kernel.e), a(std::move(attention)), plan(plan) {}
  LogicalResult emit();

private:
  Value findScores();
  void makeBuffers();
  /// Stores an s64.
  void store(Value buffer, Value number);
  void setStart(int64_t axis, Value start) { store(starts[axis], start); }
  void emitTask(Value task);
  using Root = function_ref<SmallVector<Value>(BlockKernel &)>;
  void emitStep(ArrayRef<int64_t> sizes, LogicalResult (*emitter)(KernelBuilder &),
                ArrayRef<Value> buffers, Root root);
  void emitWeights(ArrayRef<int64_t> sizes, ReduceOp maximum);
  void emitResult(ArrayRef<int64_t> sizes);
  void emitWhole(Value block);
  int64_t keysNeeded(int64_t block);
  void findLengths();
  void emitShort(int64_t keys);
  Value masksVanish(int64_t keys);
  bool isTurned();

  /// Blocks from `first` on, up to those of the next entry, need so many keys.
  struct Length {
    int64_t first, keys;
  };

  KernelBuilder &kernel;
  Emission &e;
  Attention a;
  AttentionBlocks plan;
  Value scores; ///< the value of the region that the first step computes
  SmallVector<Value> starts;
  std::optional<MaskedSoftmax> softmax; ///< if some blocks leave keys out
  SmallVector<Length> lengths;
  Value scoresBuffer, weightsBuffer, resultBuffer, maximaBuffer, finiteBuffer, doneBuffer;
  LogicalResult result = success();
};

} // namespace

/// The value that the first dot's kernel computes: the only one that reduces, and ops behind them,
/// take of what does not depend on a reduce. Several: the dot itself.
Value AttentionEmitter::findScores() {
  llvm::SetVector<Value> before, taken;
  for (Operation *op : a.between) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value v) {
      return v.getDefiningOp() && a.between.contains(v.getDefiningOp()) && !before.contains(v);
    });
    if (!reads && !isa<ReduceOp>(op)) {
      before.insert(op->getResult(0));
      continue;
    }
    for (Value v : op->getOperands()) {
      if (before.contains(v)) {
        taken.insert(v);
      }
    }
  }
  return taken.size() == 1 ? taken.front() : a.scores.getResult();
}

void AttentionEmitter::makeBuffers() {
  int64_t rows = 1, columns = 1, keys = plan.sizes[a.key];
  for (auto [number, axis] : llvm::enumerate(a.axes)) {
    bool isColumn = axis.kind == AttentionAxis::Whole && llvm::is_contained(a.ofValues, number);
    (axis.kind == AttentionAxis::Row ? rows : columns) *=
        axis.kind == AttentionAxis::Row || isColumn ? plan.sizes[number] : 1;
  }
  int64_t ofScore = storageBytes(elementType(scores.getType()));
  int64_t ofWeight = storageBytes(elementType(a.weights().getType()));
  scoresBuffer = stackBuffer(e, rows * keys * ofScore);
  // A row kernel reads the elements of a row before it writes the same ones.
  weightsBuffer = ofScore == ofWeight ? scoresBuffer : stackBuffer(e, rows * keys * ofWeight);
  resultBuffer = stackBuffer(e, rows * columns * storageBytes(elementType(a.root().getType())));
  for (int64_t axis = 0; axis < static_cast<int64_t>(a.axes.size()); ++axis) {
    starts.push_back(stackBuffer(e, 8));
    setStart(axis, constI64(e, 0));
  }
  if (!lengths.empty()) {
    maximaBuffer = stackBuffer(e, rows * 4);
    finiteBuffer = stackBuffer(e, 4);
    doneBuffer = stackBuffer(e, 8);
  }
}

void AttentionEmitter::store(Value buffer, Value number) {
  Type s64 = IntegerType::get(e.b.getContext(), 64, IntegerType::Signed);
  storeElements(e, s64, Elem(number), buffer, constI64(e, 0));
}

/// Whether rows are the last dimension of the root.
bool AttentionEmitter::isTurned() {
  AxisNumbers axes = a.axesOf.find(a.root())->second;
  llvm::erase_if(axes, [&](int64_t axis) { return axis == kNoAxis || plan.sizes[axis] == 1; });
  return !axes.empty() && a.axes[axes.back()].kind == AttentionAxis::Row;
}

void AttentionEmitter::emitStep(ArrayRef<int64_t> sizes, LogicalResult (*emitter)(KernelBuilder &),
                                ArrayRef<Value> buffers, Root root) {
  if (succeeded(result)) {
    BlockKernel part(kernel, a, AttentionBlock{sizes, starts});
    SmallVector<Value> roots = root(part);
    result = part.emit(roots, buffers, emitter);
  }
}

/// Emits the first two steps. `maximum`, if it is not null, is stored beside the weights.
void AttentionEmitter::emitWeights(ArrayRef<int64_t> sizes, ReduceOp maximum) {
  emitStep(sizes, emitDotKernel, scoresBuffer,
           [&](BlockKernel &part) { return SmallVector<Value>{part.rebuild(scores)}; });
  SmallVector<Value> buffers{weightsBuffer};
  if (maximum) {
    buffers.push_back(maximaBuffer);
  }
  emitStep(sizes, emitRowKernel, buffers, [&](BlockKernel &part) {
    part.read(scores, part.kept(a.axesOf[scores]), scoresBuffer);
    SmallVector<Value> roots{part.rebuild(a.weights())};
    if (maximum) {
      roots.push_back(part.rebuild(maximum.getResult(0)));
    }
    return roots;
  });
}

/// Emits the last two steps.
void AttentionEmitter::emitResult(ArrayRef<int64_t> sizes) {
  bool turned = isTurned();
  emitStep(sizes, emitDotKernel, resultBuffer, [&](BlockKernel &part) {
    part.read(a.weights(), part.kept(a.axesOf[a.weights()]), weightsBuffer);
    return SmallVector<Value>{part.weighted(turned)};
  });
  emitStep(sizes, emitUpdateSliceKernel, kernel.resultPtrs[0], [&](BlockKernel &part) {
    AxisNumbers axes = part.kept(a.axesOf[a.root()]);
    if (turned) {
      auto isRow = [&](int64_t axis) { return a.axes[axis].kind == AttentionAxis::Row; };
      std::stable_partition(axes.begin(), axes.end(), [&](int64_t axis) { return !isRow(axis); });
    }
    Value array = part.argument(a.root().getType(), kernel.resultPtrs[0]);
    Type of = RankedTensorType::get(part.shapeOfBlock(axes), elementType(a.root().getType()));
    Value update = part.argument(of, resultBuffer);
    return SmallVector<Value>{part.update(array, a.axesOf[a.root()], update, axes)};
  });
}

/// Emits a block with all keys. `block`: its number on the axis that is cut.
void AttentionEmitter::emitWhole(Value block) {
  auto emitSizes = [&](ArrayRef<int64_t> sizes) {
    emitWeights(sizes, {});
    emitResult(sizes);
  };
  SmallVector<int64_t> rest(plan.sizes);
  rest[plan.cut] = a.axes[plan.cut].size % plan.sizes[plan.cut];
  if (rest[plan.cut] == 0) {
    emitSizes(plan.sizes);
    return;
  }
  Value isLast = compareI(e, arith::CmpIPredicate::eq, block, plan.blocks - 1);
  emitIfElse(e, isLast, [&] { emitSizes(rest); }, [&] { emitSizes(plan.sizes); });
}

/// The keys behind which all are masked in a block of the cut axis.
int64_t AttentionEmitter::keysNeeded(int64_t block) {
  AxisRanges ranges;
  for (const AttentionAxis &axis : a.axes) {
    ranges.push_back({0, axis.size - 1});
  }
  int64_t first = block * plan.sizes[plan.cut], keys = a.axes[a.key].size;
  ranges[plan.cut] = {first, std::min(first + plan.sizes[plan.cut], a.axes[plan.cut].size) - 1};
  int64_t step = llvm::alignTo(llvm::divideCeil(keys, kMostLengths), kKeyStep);
  int64_t needed = llvm::alignTo(keys, step);
  while (needed > step) {
    ranges[a.key] = {needed - step, keys - 1};
    if (!isFalseWithin(a, softmax->mask, ranges)) {
      break;
    }
    needed -= step;
  }
  return std::min(needed, keys);
}

void AttentionEmitter::findLengths() {
  softmax = findMaskedSoftmax(kernel, a, scores);
  if (!softmax) {
    return;
  }
  bool ascends = true;
  for (int64_t block = 0; block < plan.blocks; ++block) {
    int64_t keys = keysNeeded(block);
    if (lengths.empty() || keys != lengths.back().keys) {
      ascends &= lengths.empty() || keys > lengths.back().keys;
      lengths.push_back({block, keys});
    }
  }
  // A last block that is smaller has all keys.
  if (!ascends || lengths.front().keys == a.axes[a.key].size) {
    lengths.clear();
  }
}

/// Whether the weights of the keys from `keys` on are zero, and their values finite.
Value AttentionEmitter::masksVanish(int64_t keys) {
  SmallVector<int64_t> sizes(plan.sizes);
  sizes[a.key] = a.axes[a.key].size - keys;
  setStart(a.key, constI64(e, keys));
  emitStep(sizes, emitReduceKernel, finiteBuffer, [&](BlockKernel &part) {
    return SmallVector<Value>{part.valuesTimesZero(softmax->sum.getToApplyAttr())};
  });
  setStart(a.key, constI64(e, 0));
  Type f32 = e.b.getF32Type();
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(f32, value));
  };
  Value total = loadElements(e, f32, finiteBuffer, constI64(e, 0), 1).re;
  Value vanish = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, total, number(0));
  if (std::isinf(softmax->leastMaximum())) {
    return vanish;
  }
  int64_t rows = 1;
  for (auto [number, axis] : llvm::enumerate(a.axes)) {
    rows *= axis.kind == AttentionAxis::Row ? plan.sizes[number] : 1;
  }
  return emitForCarrying(
      e, constI64(e, 0), constI64(e, rows), 1, vanish, [&](Value row, ValueRange all) {
        Value maximum = loadElements(e, f32, maximaBuffer, row, 1).re;
        Value above = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UGT, maximum,
                                            number(softmax->leastMaximum()));
        return SmallVector<Value>{andMask(e, all[0], above)};
      })[0];
}

/// Emits a block with the first `keys` keys. Says in doneBuffer whether that gave the result.
void AttentionEmitter::emitShort(int64_t keys) {
  SmallVector<int64_t> sizes(plan.sizes);
  sizes[a.key] = keys;
  emitWeights(sizes, softmax->maximum);
  emitIf(e, masksVanish(keys), [&] {
    emitResult(sizes);
    store(doneBuffer, constI64(e, 1));
  });
}

void AttentionEmitter::emitTask(Value task) {
  SmallVector<int64_t> counts, walked;
  for (auto [number, axis] : llvm::enumerate(a.axes)) {
    if (plan.sizes[number] != axis.size) {
      walked.push_back(number);
      counts.push_back(llvm::divideCeil(axis.size, plan.sizes[number]));
    }
  }
  Value block = constI64(e, 0);
  for (auto [axis, place] : llvm::zip(walked, delinearize(e, task, counts))) {
    setStart(axis, mulI(e, place, plan.sizes[axis]));
    block = axis == plan.cut ? place : block;
  }
  if (lengths.empty()) {
    emitWhole(block);
    return;
  }
  store(doneBuffer, constI64(e, 0));
  for (size_t n = 0; n < lengths.size() && lengths[n].keys < a.axes[a.key].size; ++n) {
    int64_t end = n + 1 < lengths.size() ? lengths[n + 1].first : plan.blocks;
    if (a.axes[plan.cut].size % plan.sizes[plan.cut] != 0) {
      end = std::min(end, plan.blocks - 1);
    }
    Value from = compareI(e, arith::CmpIPredicate::sge, block, lengths[n].first);
    Value to = compareI(e, arith::CmpIPredicate::slt, block, end);
    emitIf(e, andMask(e, from, to), [&] { emitShort(lengths[n].keys); });
  }
  Type s64 = IntegerType::get(e.b.getContext(), 64, IntegerType::Signed);
  Value done = loadElements(e, s64, doneBuffer, constI64(e, 0), 1).re;
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, done, 0), [&] { emitWhole(block); });
}

LogicalResult AttentionEmitter::emit() {
  scores = findScores();
  findLengths();
  makeBuffers();
  int64_t tasks = 1;
  for (auto [number, axis] : llvm::enumerate(a.axes)) {
    tasks *= llvm::divideCeil(axis.size, plan.sizes[number]);
  }
  emitTasks(kernel, tasks, [&](Value task) { emitTask(task); });
  return result;
}

LogicalResult emitAttentionKernel(KernelBuilder &kernel) {
  DotOp weighted;
  for (DotOp dot : kernel.body().getOps<DotOp>()) {
    weighted = dot;
  }
  std::optional<Attention> attention = weighted ? matchAttention(weighted) : std::nullopt;
  std::optional<AttentionBlocks> plan =
      attention ? planAttention(kernel.e.machine, *attention) : std::nullopt;
  if (!plan || attention->root() != kernel.body().getTerminator()->getOperand(0)) {
    return kernel.fusion.emitOpError("of strategy 'attention' holds no attention");
  }
  return AttentionEmitter(kernel, std::move(*attention), *plan).emit();
}

} // namespace hlo::codegen

//===- LoopKernel.cpp - Strategy "loop": a nest over the results ----------===//
//
// In: a region whose results all have one shape (or one number of elements). Out: loops over that
// shape; the innermost runs along the minor dimension in vectors, and each iteration evaluates the
// roots at its index and stores them.
//
// For a stack, the loop runs over its parts in lockstep; the results are stored one after the
// other, or interleaved.
//
//   tasks: blocks of the outer dimensions, about 16 Ki elements each, fewer for expensive ones
//
// A region of element-wise ops on arrays of one size needs no shape: it runs over one linear index.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Columns.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"
#include "dialect/hlo/ops/KernelOps.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// The scalars of the region and the ops that compute only them: hoistScalars computes them before
/// the loops (the two halves of a generator's key).
static DenseSet<Operation *> scalarOps(KernelBuilder &kernel) {
  DenseSet<Operation *> ops;
  for (Operation &op : llvm::reverse(kernel.body().without_terminator())) {
    if (op.getNumResults() != 1 || isa<ConstantOp>(op)) {
      continue;
    }
    bool scalar = cast<RankedTensorType>(op.getResult(0).getType()).getRank() == 0;
    bool stored = llvm::is_contained(op.getUsers(), kernel.body().getTerminator());
    if (!stored && (scalar || llvm::all_of(op.getUsers(),
                                           [&](Operation *user) { return ops.contains(user); }))) {
      ops.insert(&op);
    }
  }
  return ops;
}

/// The array whose dimensions the loops walk: the first result, or a part of it if it is stacked.
static Value walkedArray(KernelBuilder &kernel) {
  Value root = kernel.body().getTerminator()->getOperand(0);
  auto stack = root.getDefiningOp<StackOp>();
  return stack ? Value(stack.getParts()[0]) : root;
}

static bool hasStack(KernelBuilder &kernel) { return !kernel.body().getOps<StackOp>().empty(); }

/// Stores the parts of a result: interleaved, or one after the other.
static void storeParts(Emission &e, StackOp stack, ArrayRef<Elem> parts, Value base, Value linear,
                       Value mask) {
  Type element = elementType(stack.getType());
  if (stack.getDimension() != 0) {
    storeColumns(e, element, parts, base, linear, mask);
    return;
  }
  int64_t size = elementsOf(stack.getParts()[0]);
  for (auto [n, part] : llvm::enumerate(parts)) {
    storeElements(e, element, part, base, addI(e, linear, n * size), mask);
  }
}

/// The lanes of a region in which only few ops compute in the widest type: one register holds a
/// vector of the prevailing type. A value of the widest type then takes two registers (an f64 made
/// of random bits), or four if there are only one or two such ops (the final widening of a sum of
/// bytes).
static int64_t mixedLanes(KernelBuilder &kernel, int64_t lanes) {
  if (lanes == 1) {
    return lanes;
  }
  int64_t widest = kernel.e.machine.lanes(1) / lanes, wide = 0, narrow = 0, ofNarrow = 1;
  auto bytesOfLane = [](Value v) {
    Type part = computeType(elementType(v.getType()));
    return (part.getIntOrFloatBitWidth() + 7) / 8;
  };
  DenseSet<Operation *> scalars = scalarOps(kernel);
  for (Operation &op : kernel.body().without_terminator()) {
    if (scalars.contains(&op) || isa<StackOp>(op)) {
      continue;
    }
    auto slice = dyn_cast<SliceOp>(op);
    bool dense = slice && !slice.getStrides().empty() && slice.getStrides().back() == 1;
    bool moves = dense || isa<BroadcastOp, ReshapeOp, BitcastOp, IotaOp, ConstantOp>(op);
    if (!moves && !isElementwise(&op)) {
      return lanes;
    }
    int64_t bytes = 0;
    for (Value v : op.getOperands()) {
      bytes = std::max<int64_t>(bytes, bytesOfLane(v));
    }
    bytes = std::max<int64_t>(bytes, bytesOfLane(op.getResult(0)));
    if (!moves) {
      ++(bytes == widest ? wide : narrow);
      ofNarrow = bytes == widest ? ofNarrow : std::max(ofNarrow, bytes);
    }
  }
  if (wide <= 2 && narrow >= 4 * std::max<int64_t>(wide, 1)) {
    return lanes * std::min<int64_t>(4, widest / ofNarrow);
  }
  // At least 32 bits: lanes of bytes would make vectors of words span many registers.
  return widest == 8 && narrow >= 2 * wide ? lanes * 2 : lanes;
}

/// True if every array of the region has `elements` elements or is a broadcast scalar, and every op
/// is element-wise.
static bool isLinear(KernelBuilder &kernel, int64_t elements) {
  auto sizeFits = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    return type.getRank() == 0 || type.getNumElements() == elements;
  };
  DenseSet<Operation *> scalars = scalarOps(kernel);
  for (Operation &op : kernel.body().without_terminator()) {
    if (scalars.contains(&op) || isa<StackOp>(op)) {
      continue;
    }
    bool fits = llvm::all_of(op.getOperands(), sizeFits) && llvm::all_of(op.getResults(), sizeFits);
    if (!fits) {
      return false;
    }
    if (isa<BitcastConvertOp>(op) && !isElementwise(&op)) {
      return false;
    }
    // An iota of rank one equals the linear index.
    bool counts =
        isa<IotaOp>(op) && cast<RankedTensorType>(op.getResult(0).getType()).getRank() == 1;
    if (isElementwise(&op) || isa<CopyOp>(op) || counts) {
      continue;
    }
    if (isa<ReshapeOp, BitcastOp>(op)) {
      auto from = cast<RankedTensorType>(op.getOperand(0).getType());
      auto to = cast<RankedTensorType>(op.getResult(0).getType());
      if ((from.getRank() == 0) != (to.getRank() == 0)) {
        return false; // a scalar has no index, an array of one element has
      }
      continue;
    }
    if (isa<ConstantOp>(op)) {
      continue;
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      if (cast<RankedTensorType>(broadcast.getOperand().getType()).getRank() == 0) {
        continue;
      }
    }
    return false;
  }
  return true;
}

/// Computes expensive scalars of the region once, before the loops.
static void hoistScalars(KernelBuilder &kernel, ArrayRef<ElementEmitter *> emitters) {
  for (Operation &op : kernel.body().without_terminator()) {
    if (op.getNumResults() != 1 || isa<ConstantOp>(op)) {
      continue;
    }
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    if (type.getRank() != 0 || llvm::is_contained(op.getUsers(), kernel.body().getTerminator())) {
      continue;
    }
    Elem value = emitters.back()->emit(op.getResult(0), {});
    for (ElementEmitter *emitter : emitters) {
      emitter->bind(op.getResult(0), value);
    }
  }
  for (BlockArgument argument : kernel.body().getArguments()) {
    if (cast<RankedTensorType>(argument.getType()).getRank() == 0) {
      Elem value = emitters.back()->emit(argument, {});
      for (ElementEmitter *emitter : emitters) {
        emitter->bind(argument, value);
      }
    }
  }
}

static void storeRoots(KernelBuilder &kernel, ElementEmitter &emitter, ArrayRef<Index> index,
                       Value linear, Value mask) {
  SmallVector<SmallVector<Elem>> values;
  Operation *end = kernel.body().getTerminator();
  for (Value root : end->getOperands()) {
    SmallVector<Elem> &parts = values.emplace_back();
    if (auto stack = root.getDefiningOp<StackOp>()) {
      for (Value part : stack.getParts()) {
        parts.push_back(emitter.emit(part, index, mask));
      }
    } else {
      parts.push_back(emitter.emit(root, index, mask));
    }
  }
  // The conversion's branch splits the loop, which costs loops as fast as memory 5 to 15 %. What it
  // saves is arithmetic, where functions are computed.
  bool computes =
      llvm::any_of(kernel.body(), [](Operation &op) { return isExpensiveElementwise(&op); });
  // All loads come before the first store: results may share an operand's buffer.
  for (auto [n, parts] : llvm::enumerate(values)) {
    Value root = end->getOperand(n);
    for (Elem &part : parts) {
      part = computes ? roundedForStore(kernel.e, elementType(root.getType()), part) : part;
    }
    if (parts.size() > 1) {
      storeParts(kernel.e, root.getDefiningOp<StackOp>(), parts, kernel.resultPtrs[n], linear,
                 mask);
    } else {
      storeElements(kernel.e, elementType(root.getType()), parts[0], kernel.resultPtrs[n], linear,
                    mask);
    }
  }
}

/// Elements of a task: fewer for expensive ones. Scheduling a task costs 0.5 us, or 5 us if the
/// other threads are asleep. So a task should take at least 2 us, and work of less than 6 us is a
/// single task.
static int64_t elementsPerTask(KernelBuilder &kernel, int64_t elements) {
  int64_t weight = 1;
  auto product = [](ArrayRef<int64_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
  };
  for (Operation &op : kernel.body()) {
    if (isExpensiveElementwise(&op)) {
      weight += 2;
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      for (int64_t dim : reduce.getDimensions()) {
        weight += shapeOf(reduce.getInputs()[0])[dim];
      }
    } else if (auto window = dyn_cast<ReduceWindowOp>(op); window && window.getWindowAttr()) {
      weight += product(window.getWindowAttr().getSize());
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      for (int64_t dim : dot.getLhsContractingDims().value_or(ArrayRef<int64_t>())) {
        weight += shapeOf(dot.getLhs())[dim];
      }
    }
  }
  // The largest number of parts of a result.
  size_t most = 1;
  for (StackOp stack : kernel.body().getOps<StackOp>()) {
    most = std::max<size_t>(most, stack.getParts().size());
  }
  weight *= static_cast<int64_t>(most);
  // A multiple of a vector of any type.
  return elements < 2 * kElementsPerTask / weight
             ? kElementsPerTask
             : std::max<int64_t>(kElementsPerTask / weight / 64 * 64, 512);
}

/// Reshapes column results to rows, because a loop over one element has no vectors: [1000,1] ->
/// [1000].
static void storeColumnsAsRows(Block &body) {
  Operation *end = body.getTerminator();
  ArrayRef<int64_t> shape = shapeOf(end->getOperand(0));
  bool isColumn =
      shape.size() > 1 && shape.back() == 1 && llvm::any_of(shape, [](int64_t d) { return d > 1; });
  bool walksAll = llvm::all_of(
      body, [&](Operation &op) { return !isa<ReduceOp, ReduceWindowOp, DotOp, StackOp>(op); });
  if (!isColumn || !walksAll ||
      !llvm::all_of(end->getOperands(), [&](Value root) { return shapeOf(root) == shape; })) {
    return;
  }
  SmallVector<int64_t> row(llvm::make_filter_range(shape, [](int64_t d) { return d > 1; }));
  OpBuilder b(end);
  for (OpOperand &root : end->getOpOperands()) {
    Type type = RankedTensorType::get(row, elementType(root.get().getType()));
    root.set(ReshapeOp::create(b, end->getLoc(), type, root.get()));
  }
}

/// Number of vectors after which the lanes that interior padding leaves empty repeat; 0 if there is
/// no such padding, or if there are more than 8, each of which is code of its own.
static int64_t vectorsOfPeriod(KernelBuilder &kernel, int64_t lanes) {
  constexpr int64_t mostVectors = 8;
  int64_t period = 1;
  for (PadOp pad : kernel.body().getOps<PadOp>()) {
    ArrayRef<int64_t> interior = pad.getPaddingInterior();
    if (!interior.empty() && shapeOf(pad.getOperand()).back() > 1) {
      period = std::lcm(period, interior.back() + 1);
    }
    if (period > mostVectors * lanes) {
      return 0;
    }
  }
  int64_t vectors = std::lcm(period, lanes) / lanes;
  return period == 1 || vectors > mostVectors ? 0 : vectors;
}

/// Emits elements `from` to `to` of a row of the results that starts at element `base`; `index`
/// holds the dimensions before it.
static void emitNestRow(KernelBuilder &kernel, const SegmentPlan &segments, ElementEmitter &vectors,
                        ElementEmitter &scalars, SmallVectorImpl<Index> &index, Value base,
                        Value from, Value to, bool wholeRow) {
  Emission &e = kernel.e;
  auto body = [&](Index i, ElementEmitter &emitter, Value mask) {
    index.push_back(i);
    storeRoots(kernel, emitter, index, addI(e, base, i.base), mask);
    index.pop_back();
  };
  auto run = [&](Value first, Value last, int64_t align) {
    emitVectorLoop(e, first, last, vectors, scalars, body, align);
  };
  if (int64_t together = vectorsOfPeriod(kernel, vectors.lanes())) {
    ArrayRef<int64_t> cuts = segments.cuts;
    int64_t row = shapeOf(walkedArray(kernel)).back();
    auto part = [&](int64_t begin, int64_t end) {
      // Pieces of a row end at the end of a block of vectors.
      auto bound = [&](Value at) {
        int64_t block = vectors.lanes() * together;
        Value blocks = divI(e, addI(e, maxI(e, addI(e, at, -begin), 0), block - 1), block);
        return minI(e, addI(e, mulI(e, blocks, block), begin), end);
      };
      emitPeriodicLoop(e, begin, together, wholeRow ? constI64(e, begin) : bound(from),
                       wholeRow ? constI64(e, end) : bound(to), vectors, scalars, body);
    };
    cuts.empty() ? part(0, row) : emitSegments(segments, {&vectors, &scalars}, part);
    return;
  }
  if (segments.ops.empty()) {
    run(from, to, /*align=*/0);
    return;
  }
  emitSegments(segments, {&vectors, &scalars}, [&](int64_t begin, int64_t end) {
    Value first = maxI(e, from, begin);
    run(first, wholeRow ? constI64(e, end) : maxI(e, minI(e, to, end), first), begin);
  });
}

/// Loops over all dimensions. The leading ones are merged into one that is split into tasks; a row
/// longer than a task is split as well.
static void emitNest(KernelBuilder &kernel, ArrayRef<int64_t> shape, bool stacks,
                     ElementEmitter &vectors, ElementEmitter &scalars) {
  Emission &e = kernel.e;
  size_t rank = shape.size(), split = 0;
  int64_t elements = llvm::product_of(shape), inner = elements, outer = 1;
  int64_t wanted = elementsPerTask(kernel, elements);
  while (split + 1 < rank && inner > wanted) {
    outer *= shape[split];
    inner /= shape[split++];
  }
  int64_t cuts = split + 1 == rank ? llvm::divideCeil(inner, wanted) : 1;
  int64_t perTask = std::max<int64_t>(1, wanted / std::max<int64_t>(1, inner));
  auto [lo, hi] = splitTasks(kernel, outer * cuts, perTask);
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  SegmentPlan all = stacks || rank == 0 ? SegmentPlan() : planSegments(kernel, shape, rank - 1);
  for (const SegmentPlan &segments : groupSegments(all)) {
    emitFor(e, lo, hi, 1, [&](Value piece) {
      SmallVector<Index> index;
      Value block = divI(e, piece, cuts);
      Value from = constI64(e, 0), to = constI64(e, rank == 0 ? 1 : shape.back());
      if (cuts > 1) {
        from = mulI(e, remI(e, piece, cuts), wanted);
        to = minI(e, addI(e, from, wanted), to);
      }
      for (auto [d, i] : llvm::enumerate(delinearize(e, block, shape.take_front(split)))) {
        index.push_back(Index(i));
      }
      std::function<void(size_t)> nest = [&](size_t d) {
        if (d + 1 < rank) {
          emitFor(e, constI64(e, 0), constI64(e, shape[d]), 1, [&](Value i) {
            index.push_back(Index(i));
            nest(d + 1);
            index.pop_back();
          });
          return;
        }
        Value base = constI64(e, 0);
        for (size_t k = 0; k < index.size(); ++k) {
          base = addI(e, base, mulI(e, index[k].base, strides[k]));
        }
        if (rank == 0) {
          storeRoots(kernel, scalars, {}, base, {});
        } else {
          emitNestRow(kernel, segments, vectors, scalars, index, base, from, to,
                      /*wholeRow=*/cuts == 1);
        }
      };
      nest(split);
    });
  }
}

LogicalResult emitLoops(KernelBuilder &kernel, EmitColumnReduces emitColumnReduces) {
  Emission &e = kernel.e;
  storeColumnsAsRows(kernel.body());
  collapseDims(kernel.body());
  moveAsBits(kernel.body());
  bool stacks = hasStack(kernel);
  auto type = cast<RankedTensorType>(walkedArray(kernel).getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t elements = type.getNumElements();
  if (elements == 0) {
    kernel.tasks = 0;
    return success();
  }
  bool linear = type.getRank() > 0 && isLinear(kernel, elements);
  int64_t lanes = mixedLanes(kernel, kernelLanes(kernel));
  // If a row is one shorter vector, use that width without a mask: later loads in a small loop can
  // be forwarded from the store, which is not possible from a masked store.
  int64_t row = linear ? elements : type.getRank() > 0 ? shape.back() : 1;
  std::optional<ShortRowPlan> shortRows;
  // If a few rows are less than a block of whole vectors, halve the lanes: 32 pairs of u16 are 16
  // rows of 32 lanes.
  for (int64_t fewer = lanes; !linear && !shortRows && fewer >= 8 && row < fewer; fewer /= 2) {
    shortRows = planShortRows(kernel, shape, fewer);
    lanes = shortRows ? fewer : lanes;
  }
  std::optional<TilePlan> tiles = linear || stacks ? std::nullopt : planTiles(kernel, shape);
  if (row < lanes && !shortRows && (llvm::isPowerOf2_64(row) || !tiles)) {
    lanes = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(row)));
  }
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);

  if (linear) {
    hoistScalars(kernel, {&vectors, &scalars});
    vectors.useLinearIndex();
    scalars.useLinearIndex();
    auto [lo, hi] =
        splitTasks(kernel, elements, std::min(elements, elementsPerTask(kernel, elements)));
    emitVectorLoop(e, lo, hi, vectors, scalars, [&](Index i, ElementEmitter &emitter, Value mask) {
      storeRoots(kernel, emitter, {i}, i.base, mask);
    });
    return success();
  }

  auto store = [&](ElementEmitter &emitter, ArrayRef<Index> index, Value base, Value mask) {
    storeRoots(kernel, emitter, index, base, mask);
  };
  hoistScalars(kernel, {&vectors, &scalars});
  if (tiles && emitSmallMatrices(kernel, *tiles, shape, vectors, store)) {
    return success();
  }
  if (tiles) {
    emitTiledLoop(kernel, *tiles, vectors, scalars, store);
  } else if (shortRows) {
    emitShortRows(kernel, *shortRows, vectors, scalars, store);
  } else if (stacks || !emitColumnReduces(kernel, vectors, scalars)) {
    emitNest(kernel, shape, stacks, vectors, scalars);
  }
  return success();
}

} // namespace hlo::codegen

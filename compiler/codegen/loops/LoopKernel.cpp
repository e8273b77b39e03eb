//===- LoopKernel.cpp - Strategy "loop": a nest over the results ----------===//
//
// In: a region whose results all have one shape (or one number of elements).
// Out: loops over that shape; the innermost runs along the minor dimension in
// vectors, and each iteration evaluates the roots at its index and stores them.
//
//   tasks: blocks of the outer dimensions, some 16 thousand elements each
//
// A region of element-wise ops on arrays of one size needs no shape at all: it
// runs over one linear index.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace hlo::codegen {

std::pair<Value, Value> splitTasks(KernelBuilder &kernel, int64_t total, int64_t perTask) {
  Emission &e = kernel.e;
  kernel.tasks = llvm::divideCeil(total, perTask);
  if (kernel.tasks <= 1) {
    return {constI64(e, 0), constI64(e, total)};
  }
  Value hi = e.b.createOrFold<arith::MinSIOp>(e.loc, mulI(e, kernel.last, perTask),
                                              constI64(e, total));
  return {mulI(e, kernel.first, perTask), hi};
}

/// Whether a computation that the kernel applies to scalars holds a loop or a branch.
static bool appliesControlFlow(KernelBuilder &kernel) {
  llvm::SmallSetVector<Operation *, 4> callees;
  auto addCallees = [&](Block &block) {
    for (Operation &op : block) {
      forEachCallee(&op, [&](FlatSymbolRefAttr name) {
        if (ComputationOp callee = kernel.lookup(name)) {
          callees.insert(callee);
        }
      });
    }
  };
  addCallees(kernel.body());
  for (size_t i = 0; i < callees.size(); ++i) {
    Block &body = cast<ComputationOp>(callees[i]).getBody().front();
    for (Operation &op : body) {
      if (isa<WhileOp, ConditionalOp>(op)) {
        return true;
      }
    }
    addCallees(body);
  }
  return false;
}

int64_t kernelLanes(KernelBuilder &kernel) {
  if (appliesControlFlow(kernel)) {
    return 1;
  }
  int64_t widest = 1;
  auto visit = [&](Type type) {
    if (auto array = dyn_cast<RankedTensorType>(type)) {
      Type part = computeType(array.getElementType());
      widest = std::max<int64_t>(widest, (part.getIntOrFloatBitWidth() + 7) / 8);
    }
  };
  for (BlockArgument argument : kernel.body().getArguments()) {
    visit(argument.getType());
  }
  for (Operation &op : kernel.body()) {
    llvm::for_each(op.getResultTypes(), visit);
  }
  return std::max<int64_t>(1, kernel.e.target.lanes(widest));
}

void emitVectorLoop(Emission &e, Value lo, Value hi, ElementEmitter &vectors,
                    ElementEmitter &scalars,
                    function_ref<void(Index, ElementEmitter &, Value)> body) {
  int64_t lanes = vectors.lanes();
  std::optional<int64_t> from = constantOf(lo), to = constantOf(hi);
  auto scalarLoop = [&](Value a, Value b) {
    emitFor(e, a, b, 1, [&](Value i) {
      ElementEmitter::Scope scope(scalars);
      body(Index(i), scalars, {});
    });
  };
  if (lanes == 1 || (from && to && *to - *from < lanes && !e.target.avx512)) {
    scalarLoop(lo, hi);
    return;
  }
  Value whole;
  if (from && to) {
    whole = constI64(e, *from + (*to - *from) / lanes * lanes);
  } else {
    Value count = subI(e, hi, lo);
    whole = addI(e, lo, mulI(e, divI(e, count, lanes), lanes));
  }
  emitFor(e, lo, whole, lanes, [&](Value i) {
    ElementEmitter::Scope scope(vectors);
    body(Index(i, 1, lanes), vectors, {});
  });
  if (from && to && (*to - *from) % lanes == 0) {
    return;
  }
  // One element left is a scalar: LLVM 22 stores too many bytes for a truncated vector under a constant
  // mask of one lane.
  bool single = from && to && (*to - *from) % lanes == 1;
  if (!e.target.avx512 || single) {
    scalarLoop(whole, hi);
    return;
  }
  Value rest = subI(e, hi, whole);
  Value restLanes = splat(e, rest, lanes).re;
  Value mask = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt,
                                               laneOffsets(e, lanes, 1), restLanes);
  auto tail = [&](Value i) {
    ElementEmitter::Scope scope(vectors);
    body(Index(i, 1, lanes), vectors, mask);
  };
  if (from && to) {
    tail(whole);
    return;
  }
  Value any = compareI(e, arith::CmpIPredicate::sgt, rest, 0);
  auto branch = scf::IfOp::create(e.b, e.loc, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  tail(whole);
}

/// Whether every array of the region has `elements` elements or is a scalar that is broadcast, and every op
/// treats them element by element.
static bool isLinear(KernelBuilder &kernel, int64_t elements) {
  auto sizeFits = [&](Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    return type.getRank() == 0 || type.getNumElements() == elements;
  };
  for (Operation &op : kernel.body().without_terminator()) {
    bool fits = llvm::all_of(op.getOperands(), sizeFits) && llvm::all_of(op.getResults(), sizeFits);
    if (!fits) {
      return false;
    }
    if (isa<BitcastConvertOp>(op) && !isElementwise(&op)) {
      return false;
    }
    if (isElementwise(&op) || isa<CopyOp>(op)) {
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

/// Scalars of the region that cost something, computed once before the loops.
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
  SmallVector<Elem> values;
  for (Value root : kernel.body().getTerminator()->getOperands()) {
    values.push_back(emitter.emit(root, index, mask));
  }
  // All loads come before the first store: results may share an operand's buffer.
  for (auto [n, value] : llvm::enumerate(values)) {
    Type element = elementType(kernel.body().getTerminator()->getOperand(n).getType());
    storeElements(kernel.e, element, value, kernel.resultPtrs[n], linear, mask);
  }
}

LogicalResult emitLoopKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  collapseDims(kernel.body());
  auto type = cast<RankedTensorType>(kernel.body().getTerminator()->getOperand(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t elements = type.getNumElements();
  if (elements == 0) {
    kernel.tasks = 0;
    return success();
  }
  bool linear = type.getRank() > 0 && isLinear(kernel, elements);
  int64_t lanes = kernelLanes(kernel);
  // A row that is a shorter vector needs no mask; loads that follow in a small loop can then take
  // their data from the store, which they cannot from a masked one.
  int64_t row = linear ? elements : type.getRank() > 0 ? shape.back() : 1;
  if (row < lanes && llvm::isPowerOf2_64(row)) {
    lanes = row;
  }
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);

  if (linear) {
    hoistScalars(kernel, {&vectors, &scalars});
    vectors.useLinearIndex();
    scalars.useLinearIndex();
    auto [lo, hi] = splitTasks(kernel, elements, std::min(elements, kElementsPerTask));
    emitVectorLoop(e, lo, hi, vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     storeRoots(kernel, emitter, {i}, i.base, mask);
                   });
    return success();
  }

  auto store = [&](ElementEmitter &emitter, ArrayRef<Index> index, Value base, Value mask) {
    storeRoots(kernel, emitter, index, base, mask);
  };
  std::optional<TilePlan> tiles = planTiles(kernel, shape);
  hoistScalars(kernel, {&vectors, &scalars});
  if (tiles) {
    emitTiledLoop(kernel, *tiles, vectors, scalars, store);
    return success();
  }
  if (emitColumnReduces(kernel, vectors, scalars, store)) {
    return success();
  }
  // The leading dimensions are merged into one that is split over tasks; the others are loops.
  size_t rank = shape.size(), split = 0;
  int64_t inner = elements, outer = 1;
  while (split + 1 < rank && inner > kElementsPerTask) {
    outer *= shape[split];
    inner /= shape[split++];
  }
  int64_t perTask = std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, inner));
  auto [lo, hi] = splitTasks(kernel, outer, perTask);
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  emitFor(e, lo, hi, 1, [&](Value block) {
    SmallVector<Index> index;
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
        return;
      }
      emitVectorLoop(e, constI64(e, 0), constI64(e, shape[d]), vectors, scalars,
                     [&](Index i, ElementEmitter &emitter, Value mask) {
                       index.push_back(i);
                       storeRoots(kernel, emitter, index, addI(e, base, i.base), mask);
                       index.pop_back();
                     });
    };
    nest(split);
  });
  return success();
}

} // namespace hlo::codegen

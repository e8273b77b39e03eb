//===- ColumnReduces.cpp - Reductions over other than the minor dimension -===//
//
// In: a loop region with reduces whose result is used at the loop's own index,
// over dimensions before the minor one (a column sum, a mean over batch and
// space). Out, for each block of columns, with accumulators in a buffer that
// stays in L1:
//
//   for each reduce: fill the buffer with the init value
//     for each few rows: for each vector of columns: buffer (+)= row, row, ...
//   for each vector of columns: results, reading the buffers
//
// So memory is read in runs of a block's width, several rows at once, where a
// loop over the rows for each vector would touch a page per vector. Each
// column is still reduced in the order of its rows.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Regions.h"
#include "compiler/codegen/reduce/Reducer.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Widest block of columns, and the least that a block is narrowed to for the sake of having tasks.
static constexpr int64_t kMostColumns = 4096, kLeastColumns = 64, kWantedTasks = 8;
/// Rows that are added to the accumulators at a time.
static constexpr int64_t kRowsAtOnce = 8;

namespace {
/// One reduce: its parts, and a buffer for each accumulator.
struct ColumnReduce {
  ReduceOp op;
  ValueRange inputs, inits;
  Reducer reducer;
  SmallVector<Type> stored; ///< HLO type of each accumulator in its buffer
  SmallVector<Value> buffers;
  SmallVector<int64_t> reduced; ///< dimensions that are reduced
};
} // namespace

static std::optional<SmallVector<ReduceOp>> columnReduces(KernelBuilder &kernel,
                                                          ArrayRef<int64_t> shape, int64_t lanes) {
  SmallVector<ReduceOp> reduces(kernel.body().getOps<ReduceOp>());
  if (reduces.empty() || shape.empty() || shape.back() < lanes || lanes == 1) {
    return std::nullopt;
  }
  for (Value root : kernel.body().getTerminator()->getOperands()) {
    if (shapeOf(root) != shape) {
      return std::nullopt;
    }
  }
  DenseMap<Value, RootDims> dims = separateReads(kernel);
  reduces.assign(kernel.body().getOps<ReduceOp>().begin(), kernel.body().getOps<ReduceOp>().end());
  RootDims identity(shape.size());
  std::iota(identity.begin(), identity.end(), 0);
  for (ReduceOp op : reduces) {
    ArrayRef<int64_t> input = shapeOf(op.getInputs()[0]);
    if (op.getDimensions().empty() || llvm::is_contained(input, 0) ||
        llvm::is_contained(op.getDimensions(), static_cast<int64_t>(input.size()) - 1)) {
      return std::nullopt;
    }
    for (Value result : op->getResults()) {
      bool own = op->getNumResults() > 1
                     ? llvm::all_of(result.getUsers(), llvm::IsaPred<ReturnOp>)
                     : dims.lookup(result) == identity;
      if (shapeOf(result) != shape || !own) {
        return std::nullopt;
      }
    }
  }
  return reduces;
}

/// Adds all rows of the block to the accumulators. `index` holds the loop's indices but for the columns.
static void accumulate(KernelBuilder &kernel, ColumnReduce &reduce, ArrayRef<Index> index,
                       Value column0, Value columns, ElementEmitter &vectors,
                       ElementEmitter &scalars) {
  Emission &e = kernel.e;
  ArrayRef<int64_t> input = shapeOf(reduce.inputs[0]);
  auto forColumns = [&](function_ref<void(Index, ElementEmitter &, Value)> body) {
    emitVectorLoop(e, constI64(e, 0), columns, vectors, scalars, body);
  };
  SmallVector<Elem> start = reduce.reducer.start(e, reduce.inits, scalars);
  forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
    for (auto [n, value] : llvm::enumerate(start)) {
      storeElements(e, reduce.stored[n], splat(e, value, emitter.lanes()), reduce.buffers[n],
                    i.base, mask);
    }
  });
  auto addRows = [&](ArrayRef<Value> outer, Value first, int64_t count) {
    forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
      SmallVector<Elem> state;
      for (auto [n, buffer] : llvm::enumerate(reduce.buffers)) {
        state.push_back(loadElements(e, reduce.stored[n], buffer, i.base, emitter.lanes(), mask));
      }
      for (int64_t k = 0; k < count; ++k) {
        SmallVector<Index> at;
        size_t kept = 0, nextOuter = 0;
        for (size_t d = 0; d + 1 < input.size(); ++d) {
          if (!llvm::is_contained(reduce.reduced, static_cast<int64_t>(d))) {
            at.push_back(index[kept++]);
          } else if (static_cast<int64_t>(d) == reduce.reduced.back()) {
            at.push_back(Index(addI(e, first, k)));
          } else {
            at.push_back(Index(outer[nextOuter++]));
          }
        }
        at.push_back(Index(addI(e, column0, i.base), i.stride));
        SmallVector<Elem> elems;
        for (auto [n, value] : llvm::enumerate(reduce.inputs)) {
          elems.push_back(reduce.reducer.convertInput(e, elementType(value.getType()), n,
                                                      emitter.emit(value, at, mask)));
        }
        state = reduce.reducer.combine(e, state, elems);
      }
      for (auto [n, value] : llvm::enumerate(state)) {
        storeElements(e, reduce.stored[n], value, reduce.buffers[n], i.base, mask);
      }
    });
  };
  int64_t rows = input[reduce.reduced.back()], whole = rows / kRowsAtOnce * kRowsAtOnce;
  SmallVector<Value> outer;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d + 1 < reduce.reduced.size()) {
      emitFor(e, constI64(e, 0), constI64(e, input[reduce.reduced[d]]), 1, [&](Value i) {
        outer.push_back(i);
        nest(d + 1);
        outer.pop_back();
      });
      return;
    }
    emitFor(e, constI64(e, 0), constI64(e, whole), kRowsAtOnce,
            [&](Value r) { addRows(outer, r, kRowsAtOnce); });
    if (whole < rows) {
      addRows(outer, constI64(e, whole), rows - whole);
    }
  };
  nest(0);
}

bool emitColumnReduces(KernelBuilder &kernel, ElementEmitter &vectors, ElementEmitter &scalars,
                       function_ref<void(ElementEmitter &, ArrayRef<Index>, Value, Value)> store) {
  Emission &e = kernel.e;
  SmallVector<int64_t> shape(shapeOf(kernel.body().getTerminator()->getOperand(0)));
  auto ops = columnReduces(kernel, shape, vectors.lanes());
  if (!ops) {
    return false;
  }
  int64_t minor = static_cast<int64_t>(shape.size()) - 1, outerUnits = 1, work = 0;
  SmallVector<int64_t> units(ArrayRef<int64_t>(shape).drop_back());
  for (int64_t size : units) {
    outerUnits *= size;
  }
  int64_t width = std::min(shape[minor], kMostColumns);
  if (outerUnits < kWantedTasks) {
    int64_t part = llvm::alignTo(llvm::divideCeil(shape[minor], kWantedTasks), 64);
    width = std::min(shape[minor], std::clamp(part, kLeastColumns, kMostColumns));
  }
  units.push_back(llvm::divideCeil(shape[minor], width));

  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  std::vector<ColumnReduce> reduces;
  for (ReduceOp op : *ops) {
    size_t count = op->getNumResults();
    ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
    SmallVector<Type> accumulators = elementTypes(inits);
    ColumnReduce reduce{op, inputs, inits, Reducer(kernel.lookup(op.getToApplyAttr()), accumulators),
                        accumulators, {}, SmallVector<int64_t>(op.getDimensions())};
    llvm::sort(reduce.reduced);
    for (Type &type : reduce.stored) {
      if (reduce.reducer.isAssociative() && isNarrowFloat(type)) {
        type = e.b.getF32Type();
      }
      reduce.buffers.push_back(LLVM::AllocaOp::create(
          e.b, e.loc, pointer, e.b.getI8Type(), constI64(e, width * storageBytes(type)), 64));
    }
    ArrayRef<int64_t> input = shapeOf(inputs[0]);
    int64_t rows = 1;
    for (int64_t d : reduce.reduced) {
      rows *= input[d];
    }
    work = std::max(work, rows * width);
    reduces.push_back(std::move(reduce));
  }
  auto [lo, hi] = splitTasks(kernel, outerUnits * units.back(),
                             std::max<int64_t>(1, kElementsPerTask / work));
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  emitFor(e, lo, hi, 1, [&](Value unit) {
    SmallVector<Index> index;
    for (Value i : delinearize(e, unit, units)) {
      index.push_back(Index(i));
    }
    Value column0 = mulI(e, index[minor].base, width), columns = constI64(e, width);
    if (shape[minor] % width != 0) {
      columns = e.b.createOrFold<arith::MinSIOp>(e.loc, columns,
                                                 subI(e, constI64(e, shape[minor]), column0));
    }
    for (ColumnReduce &reduce : reduces) {
      accumulate(kernel, reduce, index, column0, columns, vectors, scalars);
      for (auto [n, buffer] : llvm::enumerate(reduce.buffers)) {
        Type to = elementType(reduce.op->getResult(n).getType()), from = reduce.stored[n];
        if (to != from) {
          // Narrower results are written over accumulators that are read already.
          emitVectorLoop(e, constI64(e, 0), columns, vectors, scalars,
                         [&](Index i, ElementEmitter &emitter, Value mask) {
                           Elem value = loadElements(e, from, buffer, i.base, emitter.lanes(), mask);
                           storeElements(e, to, reduce.reducer.finish(e, n, to, value), buffer,
                                         i.base, mask);
                         });
        }
        Value base = addBytes(e, buffer, mulI(e, column0, -storageBytes(to)));
        SmallVector<int64_t> alongColumns(shape.size(), 0);
        alongColumns[minor] = 1;
        for (ElementEmitter *emitter : {&vectors, &scalars}) {
          emitter->materialize(reduce.op->getResult(n), base, alongColumns, /*asStored=*/true);
        }
      }
    }
    Value base = column0;
    for (int64_t d = 0; d < minor; ++d) {
      base = addI(e, base, mulI(e, index[d].base, strides[d]));
    }
    emitVectorLoop(e, constI64(e, 0), columns, vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     index[minor] = Index(addI(e, column0, i.base), i.stride);
                     store(emitter, index, addI(e, base, i.base), mask);
                   });
  });
  return true;
}

} // namespace hlo::codegen

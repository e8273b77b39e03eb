//===- ColumnReduces.cpp - Reductions over other than the minor dimension -===//
//
// In: a region with reduces over dimensions before the minor one (a column sum, a mean over batch
// and space) whose results are used at the same column. Results of the kernel have an element per
// column or, with strategy `columns`, per element that is reduced. Out, for each block of columns:
//
//   for each reduce: fill a buffer, which stays in L1, with the init value
//   for each few rows: for each vector of columns
//     for each reduce: buffer (+)= row, row, ...
//     store the results of each element
//   for each vector of columns: results, reading the buffers
//
// Memory is read once, in runs of a block's width and several rows at a time; a loop over all rows
// for each vector would touch a page per vector. Each column is still reduced in the order of its
// rows. Reduces over other shapes, or that need another reduce's result, walk the rows in a pass of
// their own.
//
// Mean, variance and normalization in one kernel, with blocks narrow enough for L2, was slower than
// a kernel each: narrow rows that are far apart cost more than the saved reads.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Reducer.h"
#include "compiler/codegen/loops/Regions.h"

using namespace mlir;

namespace hlo::codegen {

/// A block has at most kMostColumns columns: 16 KiB of f32 accumulators, half of an L1 of 32 KiB;
/// the rows stream through the rest. Blocks are narrowed to get kWantedTasks tasks, which two
/// threads or four share evenly, but rows keep at least kLeastBytes, because narrower blocks waste
/// most of each page's TLB entry; to get two tasks at all, kLeastBytesForTwo (NOTES.md, "a column
/// block narrowed").
static constexpr int64_t kMostColumns = 4096, kWantedTasks = 4, kLeastBytes = 512,
                         kLeastBytesForTwo = 256;
/// Rows that are added per load and store of an accumulator in the buffer: 8 make these a small
/// part of the work. 4 with more than two reduces, or if elements are stored, so that all values
/// stay in registers.
static constexpr int64_t kRowsAtOnce = 8, kFewRowsAtOnce = 4;

namespace {
/// One reduce: its parts, and a buffer for each accumulator.
struct ColumnReduce {
  ReduceOp op;
  ValueRange inputs, inits;
  Reducer reducer;
  SmallVector<Type> stored; ///< HLO type of each accumulator in its buffer
  SmallVector<Value> buffers;
  SmallVector<int64_t> reduced; ///< reduced dimensions

  ArrayRef<int64_t> shape() const { return shapeOf(inputs[0]); }
};

/// The work of one walk over the rows.
struct Pass {
  std::vector<ColumnReduce *> reduces;
  bool storesElements = false;
};

class ColumnEmission {
public:
  ColumnEmission(KernelBuilder &kernel, ElementEmitter &vectors, ElementEmitter &scalars)
      : kernel(kernel), e(kernel.e), vectors(vectors), scalars(scalars) {}
  /// True if the region has this form. `inStep`: indices are known to agree.
  bool analyze(bool inStep);
  void emit();

private:
  bool areInStep();
  void planPasses();
  int64_t chooseWidth(int64_t outerUnits);
  void allocate();
  void readFrom(Value v, Value buffer);
  SmallVector<Index> indexOf(ArrayRef<int64_t> shape, Index column);
  void forColumns(function_ref<void(Index, ElementEmitter &, Value)> body);
  void walkRows(const Pass &pass);
  void addRows(const Pass &pass, ArrayRef<Value> outer, Value first, int64_t count);
  void storeColumns();

  KernelBuilder &kernel;
  Emission &e;
  ElementEmitter &vectors, &scalars;
  SmallVector<int64_t> kept; ///< shape of the kept dimensions
  std::vector<ColumnReduce> reduces;
  SmallVector<unsigned> elementRoots, columnRoots;
  DenseMap<Value, int64_t> level; ///< number of passes before the value is known
  std::vector<Pass> passes;
  int64_t width = 0;
  SmallVector<Index> outerIndex; ///< of the kept dimensions except the minor one
  Value column0, columns;        ///< the block
};
} // namespace

static SmallVector<int64_t> withoutOnes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  llvm::erase(sizes, 1);
  return sizes;
}

/// True if each reduce's result is read only at the index of the current column.
bool ColumnEmission::areInStep() {
  DenseMap<Value, RootDims> dims = separateReads(kernel);
  for (ReduceOp op : kernel.body().getOps<ReduceOp>()) {
    for (Value result : op->getResults()) {
      if (op->getNumResults() > 1) {
        if (!llvm::all_of(result.getUsers(), llvm::IsaPred<ReturnOp>)) {
          return false;
        }
        continue;
      }
      // Without dimensions of size 1, the root's dimensions are those of the reduce, in order.
      ArrayRef<int64_t> root = shapeOf(kernel.body().getTerminator()->getOperand(0));
      RootDims own = dims.lookup(result);
      int64_t next = 0;
      for (auto [d, size] : llvm::enumerate(shapeOf(result))) {
        if (size == 1) {
          continue;
        }
        while (root[next] == 1) {
          ++next;
        }
        if (own.size() <= d || own[d] != next++) {
          return false;
        }
      }
    }
  }
  return true;
}

bool ColumnEmission::analyze(bool inStep) {
  auto roots = kernel.body().getTerminator()->getOperands();
  auto ops = kernel.body().getOps<ReduceOp>();
  if (ops.empty()) {
    return false;
  }
  ReduceOp first = *ops.begin();
  kept.assign(shapeOf(first->getResult(0)).begin(), shapeOf(first->getResult(0)).end());
  SmallVector<int64_t> sizes = withoutOnes(kept);
  for (ReduceOp op : ops) {
    ArrayRef<int64_t> input = shapeOf(op.getInputs()[0]);
    if (shapeOf(op->getResult(0)) != ArrayRef<int64_t>(kept) || op.getDimensions().empty() ||
        llvm::is_contained(input, 0) ||
        llvm::is_contained(op.getDimensions(), static_cast<int64_t>(input.size()) - 1)) {
      return false;
    }
  }
  for (auto [n, root] : llvm::enumerate(roots)) {
    bool perColumn = withoutOnes(shapeOf(root)) == sizes;
    if (!perColumn && !inStep) {
      return false;
    }
    if (!perColumn && shapeOf(root) != shapeOf(first.getInputs()[0])) {
      return false;
    }
    (perColumn ? columnRoots : elementRoots).push_back(n);
  }
  if (!inStep) {
    bool alike = llvm::all_of(roots, [&](Value v) { return shapeOf(v) == shapeOf(roots[0]); });
    if (!alike || kept.empty() || kept.back() < vectors.lanes() || vectors.lanes() == 1 ||
        !areInStep()) {
      return false;
    }
  }
  planPasses();
  return true;
}

void ColumnEmission::planPasses() {
  int64_t last = 0;
  for (Operation &op : kernel.body().without_terminator()) {
    int64_t known = 0;
    for (Value v : op.getOperands()) {
      known = std::max(known, level.lookup(v));
    }
    known += isa<ReduceOp>(op);
    for (Value v : op.getResults()) {
      level[v] = known;
    }
    last = isa<ReduceOp>(op) ? std::max(last, known) : last;
  }
  for (unsigned n : elementRoots) {
    last = std::max(last, level.lookup(kernel.body().getTerminator()->getOperand(n)) + 1);
  }
  for (ReduceOp op : kernel.body().getOps<ReduceOp>()) {
    size_t count = op->getNumResults();
    ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
    SmallVector<Type> accumulators = elementTypes(inits);
    ColumnReduce reduce{op,
                        inputs,
                        inits,
                        Reducer(kernel.lookup(op.getToApplyAttr()), accumulators),
                        accumulators,
                        {},
                        SmallVector<int64_t>(op.getDimensions())};
    llvm::sort(reduce.reduced);
    for (Type &type : reduce.stored) {
      if (reduce.reducer.isAssociative() && isNarrowFloat(type)) {
        type = e.b.getF32Type();
      }
    }
    reduces.push_back(std::move(reduce));
  }
  // Reduces of one level and one shape share a walk over the rows.
  for (int64_t at = 1; at <= last; ++at) {
    size_t begin = passes.size();
    for (ColumnReduce &reduce : reduces) {
      if (level.lookup(reduce.op->getResult(0)) != at) {
        continue;
      }
      auto same = std::find_if(passes.begin() + begin, passes.end(), [&](Pass &pass) {
        return pass.reduces[0]->shape() == reduce.shape() &&
               pass.reduces[0]->reduced == reduce.reduced;
      });
      if (same == passes.end()) {
        passes.emplace_back();
        same = std::prev(passes.end());
      }
      same->reduces.push_back(&reduce);
    }
    if (at == last && !elementRoots.empty()) {
      if (begin == passes.size()) {
        passes.emplace_back();
      }
      passes.back().storesElements = true;
    }
  }
}

int64_t ColumnEmission::chooseWidth(int64_t outerUnits) {
  int64_t minor = kept.back(), width = std::min(minor, kMostColumns);
  if (outerUnits < kWantedTasks) {
    int64_t bytes = 8;
    for (BlockArgument argument : kernel.body().getArguments()) {
      if (shapeOf(argument) == reduces[0].shape()) {
        bytes = std::min(bytes, storageBytes(elementType(argument.getType())));
      }
    }
    auto narrowed = [&](int64_t tasks, int64_t least) {
      int64_t part = llvm::alignTo(llvm::divideCeil(minor, tasks), 64);
      return std::min(minor, std::clamp(part, least / bytes, kMostColumns));
    };
    width = narrowed(kWantedTasks, kLeastBytes);
    width = width < minor ? width : narrowed(2, kLeastBytesForTwo);
  }
  return width;
}

void ColumnEmission::allocate() {
  for (ColumnReduce &reduce : reduces) {
    for (Type type : reduce.stored) {
      reduce.buffers.push_back(stackBuffer(e, width * storageBytes(type)));
    }
  }
}

/// From here on v, with an element per column, is read from its buffer.
void ColumnEmission::readFrom(Value v, Value buffer) {
  Value base = addBytes(e, buffer, mulI(e, column0, -storageBytes(elementType(v.getType()))));
  SmallVector<int64_t> alongColumns(shapeOf(v).size(), 0);
  for (size_t d = alongColumns.size(); d-- > 0;) {
    if (shapeOf(v)[d] != 1) {
      alongColumns[d] = 1;
      break;
    }
  }
  for (ElementEmitter *emitter : {&vectors, &scalars}) {
    emitter->materialize(v, base, alongColumns, /*asStored=*/true);
  }
}

/// The index of a column of the block in an array of the kept dimensions, with or without
/// dimensions of size 1.
SmallVector<Index> ColumnEmission::indexOf(ArrayRef<int64_t> shape, Index column) {
  SmallVector<Index> index, own(outerIndex);
  own.push_back(column);
  size_t next = 0;
  for (int64_t size : shape) {
    if (size == 1 && shape != ArrayRef<int64_t>(kept)) {
      index.push_back(Index(constI64(e, 0)));
      continue;
    }
    while (shape != ArrayRef<int64_t>(kept) && kept[next] == 1) {
      ++next;
    }
    index.push_back(own[next++]);
  }
  return index;
}

void ColumnEmission::forColumns(function_ref<void(Index, ElementEmitter &, Value)> body) {
  emitVectorLoop(e, constI64(e, 0), columns, vectors, scalars, body);
}

/// Adds `count` rows of the block to the accumulators. `outer`: the indices of the reduced
/// dimensions except the last.
void ColumnEmission::addRows(const Pass &pass, ArrayRef<Value> outer, Value first, int64_t count) {
  ArrayRef<int64_t> space = reduces[0].shape(), reduced = reduces[0].reduced;
  if (!pass.reduces.empty()) {
    space = pass.reduces[0]->shape();
    reduced = pass.reduces[0]->reduced;
  }
  SmallVector<int64_t> strides = rowMajorStrides(space);
  Operation *end = kernel.body().getTerminator();
  forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
    SmallVector<SmallVector<Elem>> states;
    for (ColumnReduce *reduce : pass.reduces) {
      states.emplace_back();
      for (auto [type, buffer] : llvm::zip(reduce->stored, reduce->buffers)) {
        states.back().push_back(loadElements(e, type, buffer, i.base, emitter.lanes(), mask));
      }
    }
    for (int64_t k = 0; k < count; ++k) {
      SmallVector<Index> at;
      size_t next = 0, nextOuter = 0;
      for (size_t d = 0; d + 1 < space.size(); ++d) {
        if (!llvm::is_contained(reduced, static_cast<int64_t>(d))) {
          at.push_back(outerIndex[next++]);
        } else if (static_cast<int64_t>(d) == reduced.back()) {
          at.push_back(Index(addI(e, first, k)));
        } else {
          at.push_back(Index(outer[nextOuter++]));
        }
      }
      at.push_back(Index(addI(e, column0, i.base), i.stride));
      // All results of an element are computed before the first is stored: a result may overwrite
      // its operand.
      SmallVector<Elem> values;
      for (auto [reduce, state] : llvm::zip(pass.reduces, states)) {
        SmallVector<Elem> elems;
        for (auto [n, value] : llvm::enumerate(reduce->inputs)) {
          elems.push_back(reduce->reducer.convertInput(e, elementType(value.getType()), n,
                                                       emitter.emit(value, at, mask)));
        }
        state = reduce->reducer.combine(e, state, elems);
      }
      if (!pass.storesElements) {
        continue;
      }
      for (unsigned n : elementRoots) {
        values.push_back(emitter.emit(end->getOperand(n), at, mask));
      }
      Value linear = constI64(e, 0);
      for (auto [index, stride] : llvm::zip(at, strides)) {
        linear = addI(e, linear, mulI(e, index.base, stride));
      }
      for (auto [n, value] : llvm::zip(elementRoots, values)) {
        storeElements(e, elementType(end->getOperand(n).getType()), value, kernel.resultPtrs[n],
                      linear, mask);
      }
    }
    for (auto [reduce, state] : llvm::zip(pass.reduces, states)) {
      for (auto [n, value] : llvm::enumerate(state)) {
        storeElements(e, reduce->stored[n], value, reduce->buffers[n], i.base, mask);
      }
    }
  });
}

void ColumnEmission::walkRows(const Pass &pass) {
  if (!pass.reduces.empty()) {
    SmallVector<SmallVector<Elem>> starts;
    for (ColumnReduce *reduce : pass.reduces) {
      starts.push_back(reduce->reducer.start(e, reduce->inits, scalars));
    }
    forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
      for (auto [reduce, start] : llvm::zip(pass.reduces, starts)) {
        for (auto [n, value] : llvm::enumerate(start)) {
          storeElements(e, reduce->stored[n], splat(e, value, emitter.lanes()), reduce->buffers[n],
                        i.base, mask);
        }
      }
    });
  }
  const ColumnReduce &like = pass.reduces.empty() ? reduces[0] : *pass.reduces[0];
  ArrayRef<int64_t> space = like.shape(), reduced = like.reduced;
  int64_t atOnce = pass.reduces.size() > 2 || pass.storesElements ? kFewRowsAtOnce : kRowsAtOnce;
  int64_t rows = space[reduced.back()], whole = rows / atOnce * atOnce;
  SmallVector<Value> outer;
  std::function<void(size_t)> nest = [&](size_t d) {
    if (d + 1 < reduced.size()) {
      emitFor(e, constI64(e, 0), constI64(e, space[reduced[d]]), 1, [&](Value i) {
        outer.push_back(i);
        nest(d + 1);
        outer.pop_back();
      });
      return;
    }
    emitFor(e, constI64(e, 0), constI64(e, whole), atOnce,
            [&](Value r) { addRows(pass, outer, r, atOnce); });
    if (whole < rows) {
      addRows(pass, outer, constI64(e, whole), rows - whole);
    }
  };
  nest(0);
  for (ColumnReduce *reduce : pass.reduces) {
    for (auto [n, buffer] : llvm::enumerate(reduce->buffers)) {
      Type to = elementType(reduce->op->getResult(n).getType()), from = reduce->stored[n];
      if (to != from) {
        // Narrower results overwrite accumulators that have been read.
        forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
          Elem value = loadElements(e, from, buffer, i.base, emitter.lanes(), mask);
          storeElements(e, to, reduce->reducer.finish(e, n, to, value), buffer, i.base, mask);
        });
      }
      readFrom(reduce->op->getResult(n), buffer);
    }
  }
}

/// Stores results with an element per column: all are computed before the first is stored, as
/// above.
void ColumnEmission::storeColumns() {
  if (columnRoots.empty()) {
    return;
  }
  Operation *end = kernel.body().getTerminator();
  Value base = column0;
  SmallVector<int64_t> strides = rowMajorStrides(kept);
  for (auto [index, stride] : llvm::zip(outerIndex, strides)) {
    base = addI(e, base, mulI(e, index.base, stride));
  }
  forColumns([&](Index i, ElementEmitter &emitter, Value mask) {
    Index column(addI(e, column0, i.base), i.stride);
    SmallVector<Elem> values;
    for (unsigned n : columnRoots) {
      Value root = end->getOperand(n);
      values.push_back(emitter.emit(root, indexOf(shapeOf(root), column), mask));
    }
    for (auto [n, value] : llvm::zip(columnRoots, values)) {
      storeElements(e, elementType(end->getOperand(n).getType()), value, kernel.resultPtrs[n],
                    addI(e, base, i.base), mask);
    }
  });
}

void ColumnEmission::emit() {
  int64_t outerUnits = 1, work = 1;
  SmallVector<int64_t> units(ArrayRef<int64_t>(kept).drop_back());
  for (int64_t size : units) {
    outerUnits *= size;
  }
  width = chooseWidth(outerUnits);
  units.push_back(llvm::divideCeil(kept.back(), width));
  allocate();
  for (const ColumnReduce &reduce : reduces) {
    int64_t rows = 1;
    for (int64_t d : reduce.reduced) {
      rows *= reduce.shape()[d];
    }
    work = std::max(work, rows * width);
  }
  auto [lo, hi] =
      splitTasks(kernel, outerUnits * units.back(), std::max<int64_t>(1, kElementsPerTask / work));
  emitFor(e, lo, hi, 1, [&](Value unit) {
    outerIndex.clear();
    SmallVector<Value> at = delinearize(e, unit, units);
    for (Value i : ArrayRef<Value>(at).drop_back()) {
      outerIndex.push_back(Index(i));
    }
    column0 = mulI(e, at.back(), width);
    columns = constI64(e, width);
    if (kept.back() % width != 0) {
      columns = minI(e, columns, subI(e, constI64(e, kept.back()), column0));
    }
    for (const Pass &pass : passes) {
      walkRows(pass);
    }
    storeColumns();
  });
}

bool emitColumnReduces(KernelBuilder &kernel, ElementEmitter &vectors, ElementEmitter &scalars) {
  ColumnEmission emission(kernel, vectors, scalars);
  if (!emission.analyze(/*inStep=*/false)) {
    return false;
  }
  emission.emit();
  return true;
}

LogicalResult emitColumnsKernel(KernelBuilder &kernel) {
  // Column dimensions are not merged if other arrays have them with additional dimensions of size
  // 1.
  auto reduces = kernel.body().getOps<ReduceOp>();
  SmallVector<int64_t> kept;
  if (!reduces.empty()) {
    kept.append(shapeOf((*reduces.begin())->getResult(0)).begin(),
                shapeOf((*reduces.begin())->getResult(0)).end());
  }
  auto hasOnes = [&](Value v) {
    return shapeOf(v).size() > kept.size() && withoutOnes(shapeOf(v)) == withoutOnes(kept);
  };
  bool apart = llvm::any_of(kernel.body().getArguments(), hasOnes) ||
               llvm::any_of(kernel.body().without_terminator(),
                            [&](Operation &op) { return llvm::any_of(op.getResults(), hasOnes); });
  if (!apart || kept.size() == 1) {
    collapseDims(kernel.body());
  }
  ElementEmitter vectors(kernel, kernelLanes(kernel)), scalars(kernel, 1);
  ColumnEmission emission(kernel, vectors, scalars);
  if (!emission.analyze(/*inStep=*/true)) {
    return kernel.fusion.emitOpError(
        "of strategy 'columns' has no reduces of one shape over other than the minor dimension");
  }
  emission.emit();
  return success();
}

} // namespace hlo::codegen

//===- Sort.cpp - Strategy "sort": rows sorted by an inlined comparator ----===//
//
// In: a region whose root is a sort of N arrays along one dimension. Out, for each
// row (one task): the row's N arrays are copied to contiguous scratch, sorted by a
// stable bottom-up merge sort, and copied to the results.
//
//   runs of kRun elements by insertion; then merges of width 8, 16, ... between two
//   buffers, without branches on the comparison
//
// The comparator is inlined: there is no call per comparison. The scratch of a
// row is on the stack if it is small, else a part of the kernel's last result,
// which the fusion pass adds for this purpose (see sortScratchBytes).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"

using namespace mlir;

namespace hlo::codegen {

static constexpr int64_t kRun = 8;

namespace {
struct SortEmission {
  KernelBuilder &kernel;
  Emission &e;
  SortOp op;
  size_t count;
  int64_t n;
  SmallVector<Type> elements;
  ComputationOp comparator;

  SortEmission(KernelBuilder &kernel, SortOp op)
      : kernel(kernel), e(kernel.e), op(op), count(op.getInputs().size()),
        n(arrayType(op.getInputs()[0]).getShape()[op.getDimension()]),
        comparator(kernel.lookup(op.getToApplyAttr())) {
    for (Value v : op.getInputs()) {
      elements.push_back(arrayType(v).getElementType());
    }
  }

  SmallVector<Elem> load(ValueRange buffers, Value i) {
    SmallVector<Elem> elems;
    for (size_t k = 0; k < count; ++k) {
      elems.push_back(loadElements(e, elements[k], buffers[k], i, 1));
    }
    return elems;
  }
  void store(ValueRange buffers, Value i, ArrayRef<Elem> elems) {
    for (size_t k = 0; k < count; ++k) {
      storeElements(e, elements[k], elems[k], buffers[k], i);
    }
  }
  /// comparator(a, b), with the operands interleaved as HLO has them.
  Value less(ArrayRef<Elem> a, ArrayRef<Elem> b) {
    SmallVector<Elem> arguments;
    for (size_t k = 0; k < count; ++k) {
      arguments.push_back(a[k]);
      arguments.push_back(b[k]);
    }
    SmallVector<Elem> result = inlineComputation(e, comparator, arguments);
    return result.empty() ? arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(false)).getResult()
                          : result[0].re;
  }
  Value minI(Value a, Value b) { return e.b.createOrFold<arith::MinSIOp>(e.loc, a, b); }

  void insertionSort(ValueRange buffers, Value begin, Value end);
  void merge(ValueRange from, ValueRange to, Value begin, Value middle, Value end);
  /// Sorts `from`; returns the buffers that hold the result, `from` or `other`.
  SmallVector<Value> mergeSort(ValueRange from, ValueRange other);
};
} // namespace

void SortEmission::insertionSort(ValueRange buffers, Value begin, Value end) {
  emitFor(e, addI(e, begin, 1), end, 1, [&](Value i) {
    SmallVector<Elem> x = load(buffers, i);
    // while (j > begin && x < buffer[j-1]) { buffer[j] = buffer[j-1]; --j; }
    auto loop = scf::WhileOp::create(e.b, e.loc, TypeRange{e.b.getI64Type()}, ValueRange{i});
    OpBuilder::InsertionGuard guard(e.b);
    Block *before = e.b.createBlock(&loop.getBefore(), {}, {e.b.getI64Type()}, {e.loc});
    Value j = before->getArgument(0);
    Value inside = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::sgt, j, begin);
    Value previous = e.b.createOrFold<arith::SelectOp>(e.loc, inside, addI(e, j, -1), j);
    Value smaller = less(x, load(buffers, previous));
    Value go = e.b.createOrFold<arith::AndIOp>(e.loc, inside, smaller);
    scf::ConditionOp::create(e.b, e.loc, go, ValueRange{j});
    Block *after = e.b.createBlock(&loop.getAfter(), {}, {e.b.getI64Type()}, {e.loc});
    Value at = after->getArgument(0), left = addI(e, at, -1);
    store(buffers, at, load(buffers, left));
    scf::YieldOp::create(e.b, e.loc, left);
    e.b.setInsertionPointAfter(loop);
    store(buffers, loop.getResult(0), x);
  });
}

void SortEmission::merge(ValueRange from, ValueRange to, Value begin, Value middle, Value end) {
  Value last = addI(e, end, -1);
  emitForCarrying(e, begin, end, 1, {begin, middle}, [&](Value k, ValueRange carried) {
    Value i = carried[0], j = carried[1];
    // Positions past a run's end are replaced by some valid one; the choice below ignores them.
    SmallVector<Elem> left = load(from, minI(i, last)), right = load(from, minI(j, last));
    Value leftDone = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::sge, i, middle);
    Value rightLeft = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt, j, end);
    Value before = e.b.createOrFold<arith::OrIOp>(e.loc, leftDone, less(right, left));
    Value takeRight = e.b.createOrFold<arith::AndIOp>(e.loc, rightLeft, before);
    SmallVector<Elem> chosen;
    for (size_t c = 0; c < count; ++c) {
      chosen.push_back(selectElem(e, takeRight, right[c], left[c]));
    }
    store(to, k, chosen);
    Value step = e.b.createOrFold<arith::ExtUIOp>(e.loc, e.b.getI64Type(), takeRight);
    Value one = constI64(e, 1);
    return SmallVector<Value>{addI(e, i, subI(e, one, step)), addI(e, j, step)};
  });
}

SmallVector<Value> SortEmission::mergeSort(ValueRange from, ValueRange other) {
  Value length = constI64(e, n);
  emitFor(e, constI64(e, 0), length, kRun, [&](Value begin) {
    insertionSort(from, begin, minI(addI(e, begin, kRun), length));
  });
  if (n <= kRun) {
    return SmallVector<Value>(from);
  }
  // Passes over doubling widths; the buffers change places after each.
  SmallVector<Value> init{constI64(e, kRun)};
  llvm::append_range(init, from);
  llvm::append_range(init, other);
  SmallVector<Type> types(ValueRange(init).getTypes());
  SmallVector<Location> places(types.size(), e.loc);
  auto loop = scf::WhileOp::create(e.b, e.loc, types, init);
  OpBuilder::InsertionGuard guard(e.b);
  Block *before = e.b.createBlock(&loop.getBefore(), {}, types, places);
  Value more = compareI(e, arith::CmpIPredicate::slt, before->getArgument(0), n);
  scf::ConditionOp::create(e.b, e.loc, more, before->getArguments());
  Block *after = e.b.createBlock(&loop.getAfter(), {}, types, places);
  Value width = after->getArgument(0);
  ValueRange source = after->getArguments().slice(1, count);
  ValueRange target = after->getArguments().slice(1 + count, count);
  Value twice = addI(e, width, width);
  auto pass = scf::ForOp::create(e.b, e.loc, constI64(e, 0), length, twice);
  {
    OpBuilder::InsertionGuard inner(e.b);
    e.b.setInsertionPoint(pass.getBody()->getTerminator());
    Value begin = pass.getInductionVar();
    merge(source, target, begin, minI(addI(e, begin, width), length),
          minI(addI(e, begin, twice), length));
  }
  SmallVector<Value> next{twice};
  llvm::append_range(next, target);
  llvm::append_range(next, source);
  scf::YieldOp::create(e.b, e.loc, next);
  return SmallVector<Value>(loop.getResults().slice(1, count));
}

LogicalResult emitSortKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<SortOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'sort' must return a sort");
  }
  RankedTensorType type = arrayType(op.getInputs()[0]);
  if (type.getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  SortEmission sort(kernel, op);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t dimension = op.getDimension();
  SmallVector<int64_t> strides = rowMajorStrides(shape), others, otherStrides;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d != dimension) {
      others.push_back(shape[d]);
      otherStrides.push_back(strides[d]);
    }
  }
  kernel.tasks = type.getNumElements() / sort.n;

  // Two buffers for each array.
  bool onHeap = kernel.resultPtrs.size() > sort.count;
  SmallVector<Value> stack;
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  int64_t rowBytes = 0;
  for (Type element : sort.elements) {
    rowBytes += llvm::alignTo(sort.n * storageBytes(element), 64);
  }
  if (!onHeap) {
    for (int twice = 0; twice < 2; ++twice) {
      for (Type element : sort.elements) {
        stack.push_back(LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getI8Type(),
                                               constI64(e, sort.n * storageBytes(element)), 64));
      }
    }
  }
  emitFor(e, kernel.first, kernel.last, 1, [&](Value row) {
    SmallVector<Value> buffers(stack);
    if (onHeap) {
      Value at = addBytes(e, kernel.resultPtrs.back(), mulI(e, row, 2 * rowBytes));
      for (int twice = 0; twice < 2; ++twice) {
        for (Type element : sort.elements) {
          buffers.push_back(at);
          at = addBytes(e, at, constI64(e, llvm::alignTo(sort.n * storageBytes(element), 64)));
        }
      }
    }
    ValueRange from = ValueRange(buffers).take_front(sort.count);
    ValueRange other = ValueRange(buffers).drop_front(sort.count);
    Value base = constI64(e, 0);
    for (auto [i, stride] : llvm::zip(delinearize(e, row, others), otherStrides)) {
      base = addI(e, base, mulI(e, i, stride));
    }
    auto rowElement = [&](Value i) { return addI(e, base, mulI(e, i, strides[dimension])); };
    ElementEmitter scalars(kernel, 1);
    SmallVector<Value> position = delinearize(e, row, others);
    emitFor(e, constI64(e, 0), constI64(e, sort.n), 1, [&](Value i) {
      ElementEmitter::Scope scope(scalars);
      SmallVector<Index> index(position.begin(), position.end());
      index.insert(index.begin() + dimension, Index(i));
      SmallVector<Elem> elems;
      for (Value input : op.getInputs()) {
        elems.push_back(scalars.emit(input, index));
      }
      sort.store(from, i, elems);
    });
    SmallVector<Value> sorted = sort.mergeSort(from, other);
    emitFor(e, constI64(e, 0), constI64(e, sort.n), 1, [&](Value i) {
      Value linear = rowElement(i);
      SmallVector<Elem> elems = sort.load(sorted, i);
      sort.store(ValueRange(kernel.resultPtrs).take_front(sort.count), linear, elems);
    });
  });
  return success();
}

} // namespace hlo::codegen

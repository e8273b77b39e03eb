//===- MergeSort.cpp - Rows sorted by any comparator ----------------------===//
//
// In: a sort whose comparator is not an order by keys. Out, for each row: the row's N arrays are
// copied to contiguous scratch, sorted by a stable bottom-up merge sort, and copied to the results.
//
//   runs of kRun elements by insertion; then merges of width 8, 16, ... between two
//   buffers, without branches on the comparison
//
// The comparator is inlined: there is no call per comparison. A comparator that is not an order
// terminates too: a merge sort makes a bounded number of comparisons.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Elements of a run. An insertion sort of n elements makes about n^2 / 4 comparisons and moves: 16
/// for 8, as many as the merges that it replaces (17), without their copies to another buffer; 64
/// for 16, where merges need 49. Not measured.
static constexpr int64_t kRun = 8;

namespace {
struct MergeSort {
  KernelBuilder &kernel;
  Emission &e;
  SortOp op;
  size_t count;
  int64_t n;
  SmallVector<Type> elements;
  ComputationOp comparator;

  MergeSort(KernelBuilder &kernel, SortOp op)
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
  /// comparator(a, b), with the operands interleaved as in HLO.
  Value less(ArrayRef<Elem> a, ArrayRef<Elem> b) {
    SmallVector<Elem> arguments;
    for (size_t k = 0; k < count; ++k) {
      arguments.push_back(a[k]);
      arguments.push_back(b[k]);
    }
    SmallVector<Elem> result = inlineComputation(e, comparator, arguments);
    return result.empty()
               ? arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(false)).getResult()
               : result[0].re;
  }

  void insertionSort(ValueRange buffers, Value begin, Value end);
  void merge(ValueRange from, ValueRange to, Value begin, Value middle, Value end);
  /// Sorts `from`; returns the buffers with the result, `from` or `other`.
  SmallVector<Value> mergeSort(ValueRange from, ValueRange other);
};
} // namespace

void MergeSort::insertionSort(ValueRange buffers, Value begin, Value end) {
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

void MergeSort::merge(ValueRange from, ValueRange to, Value begin, Value middle, Value end) {
  Value last = addI(e, end, -1);
  emitForCarrying(e, begin, end, 1, {begin, middle}, [&](Value k, ValueRange carried) {
    Value i = carried[0], j = carried[1];
    // Positions past a run's end are clamped to a valid one; the selection below ignores their
    // elements.
    SmallVector<Elem> left = load(from, minI(e, i, last)), right = load(from, minI(e, j, last));
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

SmallVector<Value> MergeSort::mergeSort(ValueRange from, ValueRange other) {
  Value length = constI64(e, n);
  emitFor(e, constI64(e, 0), length, kRun,
          [&](Value begin) { insertionSort(from, begin, minI(e, addI(e, begin, kRun), length)); });
  if (n <= kRun) {
    return SmallVector<Value>(from);
  }
  // Merge passes of doubling width; the buffers are exchanged after each.
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
    merge(source, target, begin, minI(e, addI(e, begin, width), length),
          minI(e, addI(e, begin, twice), length));
  }
  SmallVector<Value> next{twice};
  llvm::append_range(next, target);
  llvm::append_range(next, source);
  scf::YieldOp::create(e.b, e.loc, next);
  return SmallVector<Value>(loop.getResults().slice(1, count));
}

void emitMergeSort(KernelBuilder &kernel, SortOp op, const SortPlan &plan,
                   function_ref<void(function_ref<void(Value, Value)>)> forEachBlock) {
  MergeSort sort(kernel, op);
  Emission &e = kernel.e;
  SmallVector<Value> stack;
  for (int twice = 0; plan.onStack && twice < 2; ++twice) {
    for (Type element : sort.elements) {
      stack.push_back(stackBuffer(e, sort.n * storageBytes(element)));
    }
  }
  SmallVector<int64_t> others(arrayType(op.getInputs()[0]).getShape());
  others.erase(others.begin() + op.getDimension());
  forEachBlock([&](Value row, Value scratch) {
    SmallVector<Value> buffers(stack);
    for (int twice = 0; !plan.onStack && twice < 2; ++twice) {
      for (Type element : sort.elements) {
        buffers.push_back(scratch);
        scratch =
            addBytes(e, scratch, constI64(e, llvm::alignTo(sort.n * storageBytes(element), 64)));
      }
    }
    ValueRange from = ValueRange(buffers).take_front(sort.count);
    ValueRange other = ValueRange(buffers).drop_front(sort.count);
    // The array is [outer, n, inner].
    Value base =
        addI(e, mulI(e, divI(e, row, plan.inner), plan.n * plan.inner), remI(e, row, plan.inner));
    ElementEmitter scalars(kernel, 1);
    SmallVector<Value> position = delinearize(e, row, others);
    Value zero = constI64(e, 0), length = constI64(e, sort.n);
    emitFor(e, zero, length, 1, [&](Value i) {
      ElementEmitter::Scope scope(scalars);
      SmallVector<Index> index(position.begin(), position.end());
      index.insert(index.begin() + op.getDimension(), Index(i));
      SmallVector<Elem> elems;
      for (Value input : op.getInputs()) {
        elems.push_back(scalars.emit(input, index));
      }
      sort.store(from, i, elems);
    });
    SmallVector<Value> sorted = sort.mergeSort(from, other);
    emitFor(e, zero, length, 1, [&](Value i) {
      Value linear = addI(e, base, mulI(e, i, plan.inner));
      sort.store(ValueRange(kernel.resultPtrs).take_front(sort.count), linear,
                 sort.load(sorted, i));
    });
  });
}

} // namespace hlo::codegen

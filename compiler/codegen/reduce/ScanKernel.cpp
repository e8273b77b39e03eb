//===- ScanKernel.cpp - Strategy "scan": cumulative reductions ------------===//
//
// In: a region whose root is a reduce-window that accumulates along one dimension: result i
// combines all elements up to i (or from i on). Out: one pass over that dimension. Unless it is the
// minor dimension, lanes are independent columns:
//
//   for each column block: state = init; for each i: state (+)= x[i]; store
//
// Along the minor dimension a vector is scanned within itself in log2 L steps, each combining it
// with itself shifted by 1, 2, 4, ... lanes; then the state before it is added to all lanes:
//
//   for each row: state = init; for each vector: v = scan(x); store state (+) v
//
// Ops before the reduction are computed on the fly.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/codegen/loops/Reducer.h"

using namespace mlir;

namespace hlo::codegen {
namespace {

struct ScanEmission {
  KernelBuilder &kernel;
  Emission &e;
  ReduceWindowOp op;
  ValueRange inputs, inits;
  Reducer reducer;
  SmallVector<int64_t> shape;
  int64_t dimension;
  bool backward; ///< the window extends from an element to the end
  SmallVector<Elem> start;

  Value place(Value i) const {
    return backward ? subI(e, constI64(e, shape[dimension] - 1), i) : i;
  }
  SmallVector<Elem> inputsAt(ElementEmitter &emitter, ArrayRef<Index> index, Value mask);
  void store(ArrayRef<Elem> state, ArrayRef<Index> index, Value mask);
  void emitColumns(int64_t lanes);
  void emitRows(int64_t lanes);
  SmallVector<Elem> scanLanes(SmallVector<Elem> elems, int64_t lanes);
};
} // namespace

SmallVector<Elem> ScanEmission::inputsAt(ElementEmitter &emitter, ArrayRef<Index> index,
                                         Value mask) {
  SmallVector<Elem> elems;
  for (auto [n, input] : llvm::enumerate(inputs)) {
    elems.push_back(
        reducer.convertInput(e, elementType(input.getType()), n, emitter.emit(input, index, mask)));
  }
  return elems;
}

/// Stores the results whose first lane is at `index`.
void ScanEmission::store(ArrayRef<Elem> state, ArrayRef<Index> index, Value mask) {
  Value at = constI64(e, 0);
  for (auto [i, stride] : llvm::zip(index, rowMajorStrides(shape))) {
    at = addI(e, at, mulI(e, i.base, stride));
  }
  for (auto [n, value] : llvm::enumerate(state)) {
    Type to = elementType(op->getResult(n).getType());
    storeElements(e, to, reducer.finish(e, n, to, value), kernel.resultPtrs[n], at, mask);
  }
}

void ScanEmission::emitColumns(int64_t lanes) {
  int64_t last = static_cast<int64_t>(shape.size()) - 1, n = shape[dimension];
  int64_t width = shape[last] >= 4 * lanes ? 4 * lanes : lanes;
  if (shape[last] < width && llvm::isPowerOf2_64(shape[last])) {
    width = shape[last];
  }
  ElementEmitter vectors(kernel, width), scalars(kernel, 1);
  SmallVector<int64_t> units;
  for (int64_t d = 0; d < last; ++d) {
    units.push_back(d == dimension ? 1 : shape[d]);
  }
  units.push_back(llvm::divideCeil(shape[last], width));
  int64_t total = 1;
  for (int64_t size : units) {
    total *= size;
  }
  auto [lo, hi] = splitTasks(kernel, total, std::max<int64_t>(1, kElementsPerTask / (n * width)));
  emitFor(e, lo, hi, 1, [&](Value unit) {
    SmallVector<Index> index;
    for (Value i : delinearize(e, unit, units)) {
      index.push_back(Index(i));
    }
    Value first = mulI(e, index[last].base, width);
    Value count = constI64(e, width);
    if (shape[last] % width != 0) {
      count = minI(e, count, subI(e, constI64(e, shape[last]), first));
    }
    emitVectorLoop(e, constI64(e, 0), count, vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     index[last] = Index(addI(e, first, i.base), i.stride);
                     SmallVector<Elem> begin;
                     for (const Elem &value : start) {
                       begin.push_back(splat(e, value, emitter.lanes()));
                     }
                     emitForCarrying(e, constI64(e, 0), constI64(e, n), 1, flattenElems(begin),
                                     [&](Value k, ValueRange carried) {
                                       ElementEmitter::Scope scope(emitter);
                                       index[dimension] = Index(place(k));
                                       SmallVector<Elem> state =
                                           reducer.combine(e, unflattenElems(carried, begin),
                                                           inputsAt(emitter, index, mask));
                                       if (n <= kMostRoundedScan) {
                                         state = reducer.rounded(e, state);
                                       }
                                       store(state, index, mask);
                                       return flattenElems(state);
                                     });
                   });
  });
}

/// Lane l becomes lanes 0 (+) ... (+) l.
SmallVector<Elem> ScanEmission::scanLanes(SmallVector<Elem> elems, int64_t lanes) {
  for (int64_t step = 1; step < lanes; step *= 2) {
    SmallVector<int64_t> order(lanes);
    for (int64_t l = 0; l < lanes; ++l) {
      order[l] = std::max<int64_t>(0, l - step);
    }
    auto moved = [&](Value v) -> Value {
      return v ? vector::ShuffleOp::create(e.b, e.loc, v, v, order).getResult() : v;
    };
    Value mask = lastLanes(e, lanes - step, lanes);
    SmallVector<Elem> earlier;
    for (const Elem &elem : elems) {
      earlier.push_back(Elem(moved(elem.re), moved(elem.im)));
    }
    SmallVector<Elem> sums = reducer.combine(e, earlier, elems);
    for (auto [elem, sum] : llvm::zip(elems, sums)) {
      elem = selectElem(e, mask, sum, elem);
    }
  }
  return elems;
}

void ScanEmission::emitRows(int64_t lanes) {
  int64_t n = shape[dimension], rows = 1;
  lanes = std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(n));
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);
  SmallVector<int64_t> units(shape);
  units[dimension] = 1;
  for (int64_t size : units) {
    rows *= size;
  }
  SmallVector<int64_t> backwards(lanes);
  for (int64_t l = 0; l < lanes; ++l) {
    backwards[l] = lanes - 1 - l;
  }
  auto [lo, hi] = splitTasks(kernel, rows, std::max<int64_t>(1, kElementsPerTask / n));
  emitFor(e, lo, hi, 1, [&](Value unit) {
    SmallVector<Index> index;
    for (Value i : delinearize(e, unit, units)) {
      index.push_back(Index(i));
    }
    int64_t whole = lanes > 1 ? n / lanes * lanes : 0;
    SmallVector<Value> state = emitForCarrying(
        e, constI64(e, 0), constI64(e, whole), lanes, flattenElems(start),
        [&](Value i, ValueRange carried) {
          ElementEmitter::Scope scope(vectors);
          index[dimension] = Index(place(i), backward ? -1 : 1);
          SmallVector<Elem> sums = scanLanes(inputsAt(vectors, index, {}), lanes), before;
          for (const Elem &value : unflattenElems(carried, start)) {
            before.push_back(splat(e, value, lanes));
          }
          sums = reducer.combine(e, before, sums);
          SmallVector<Elem> next, inPlace;
          auto lastLane = [&](Value v) -> Value {
            return v ? vector::ExtractOp::create(e.b, e.loc, v, ArrayRef<int64_t>{lanes - 1})
                           .getResult()
                     : v;
          };
          auto turned = [&](Value v) -> Value {
            return v && backward
                       ? vector::ShuffleOp::create(e.b, e.loc, v, v, backwards).getResult()
                       : v;
          };
          for (const Elem &sum : sums) {
            next.push_back(Elem(lastLane(sum.re), lastLane(sum.im)));
            inPlace.push_back(Elem(turned(sum.re), turned(sum.im)));
          }
          if (backward) {
            index[dimension] = Index(addI(e, place(i), 1 - lanes), 1);
          }
          store(inPlace, index, {});
          return flattenElems(next);
        });
    emitForCarrying(
        e, constI64(e, whole), constI64(e, n), 1, state, [&](Value i, ValueRange carried) {
          ElementEmitter::Scope scope(scalars);
          index[dimension] = Index(place(i));
          SmallVector<Elem> next =
              reducer.combine(e, unflattenElems(carried, start), inputsAt(scalars, index, {}));
          store(next, index, {});
          return flattenElems(next);
        });
  });
}

LogicalResult emitScanKernel(KernelBuilder &kernel) {
  auto op = dyn_cast_or_null<ReduceWindowOp>(kernel.root());
  if (!op || !op.getWindow()) {
    return kernel.fusion.emitOpError("of strategy 'scan' has no reduce-window as its root");
  }
  size_t count = op->getNumResults();
  ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
  SmallVector<int64_t> shape(shapeOf(inputs[0]));
  auto size = op.getWindowAttr().getSize();
  int64_t dimension = llvm::find_if(size, [](int64_t n) { return n > 1; }) - size.begin();
  if (llvm::is_contained(shape, 0)) {
    kernel.tasks = 0;
    return success();
  }
  ScanEmission scan{
      kernel, kernel.e,  op,
      inputs, inits,     Reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits)),
      shape,  dimension, op.getWindowAttr().getPadLow()[dimension] == 0,
      {}};
  ElementEmitter scalars(kernel, 1);
  scan.start = scan.reducer.start(kernel.e, inits, scalars);
  int64_t behind = 1;
  for (int64_t extent : ArrayRef<int64_t>(shape).drop_front(dimension + 1)) {
    behind *= extent;
  }
  int64_t lanes = kernelLanes(kernel);
  if (behind == 1) {
    scan.emitRows(lanes);
  } else {
    scan.emitColumns(lanes);
  }
  return success();
}

} // namespace hlo::codegen

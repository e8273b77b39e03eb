//===- Scatter.cpp - Strategy "scatter": updates at indices, in place -----===//
//
// In: a region whose root is a scatter of N arrays; the results' buffers hold the
// arrays already (`in_place`). Out, for each position among the indices, in the
// order of the text:
//
//   start = indices[position]            skip unless the whole window fits
//   for each element of the window:      array = computation(array, update)
//
// The innermost window dimension runs in vectors where it is the minor one of array
// and updates: a window never meets itself. With `unique_indices` positions are
// independent and become tasks.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
/// Where each dimension of array, indices and updates corresponds.
struct ScatterDims {
  SmallVector<int64_t> positionDims; ///< update dimensions that walk the indices
  SmallVector<int64_t> windowDims;   ///< update dimensions inside the window, in order
  SmallVector<int64_t> windowToArray; ///< array dimension of each window dimension

  ScatterDims(ScatterOp op, int64_t updateRank, int64_t arrayRank) {
    auto batching = op.getInputBatchingDims().value_or(ArrayRef<int64_t>());
    for (int64_t d = 0; d < updateRank; ++d) {
      (llvm::is_contained(op.getUpdateWindowDims(), d) ? windowDims : positionDims).push_back(d);
    }
    for (int64_t d = 0; d < arrayRank; ++d) {
      if (!llvm::is_contained(op.getInsertedWindowDims(), d) && !llvm::is_contained(batching, d)) {
        windowToArray.push_back(d);
      }
    }
  }
};
} // namespace

/// i64 value of an index element; the sign is kept, unsigned types extend with zeros.
static Value wideIndex(Emission &e, Type element, Value raw) {
  Type i64 = e.b.getI64Type();
  if (raw.getType() == i64) {
    return raw;
  }
  return isUnsignedElement(element) ? e.b.createOrFold<arith::ExtUIOp>(e.loc, i64, raw)
                                    : e.b.createOrFold<arith::ExtSIOp>(e.loc, i64, raw);
}

LogicalResult emitScatterKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<ScatterOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'scatter' must return a scatter");
  }
  size_t count = op.getInputs().size() / 2;
  Value indices = op.getInputs()[count];
  ValueRange updates = op.getInputs().drop_front(count + 1);
  ArrayRef<int64_t> shape = arrayType(op.getInputs()[0]).getShape();
  ArrayRef<int64_t> updateShape = arrayType(updates[0]).getShape();
  ArrayRef<int64_t> indicesShape = arrayType(indices).getShape();
  ScatterDims dims(op, updateShape.size(), shape.size());
  auto batching = op.getInputBatchingDims().value_or(ArrayRef<int64_t>());
  auto indicesBatching = op.getScatterIndicesBatchingDims().value_or(ArrayRef<int64_t>());
  if (arrayType(updates[0]).getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  ComputationOp computation = kernel.lookup(op.getToApplyAttr());

  SmallVector<int64_t> positionShape, windowShape, windowSizes(shape.size(), 1);
  for (int64_t d : dims.positionDims) {
    positionShape.push_back(updateShape[d]);
  }
  for (auto [k, d] : llvm::enumerate(dims.windowDims)) {
    windowShape.push_back(updateShape[d]);
    windowSizes[dims.windowToArray[k]] = updateShape[d];
  }
  int64_t positions = 1, windowElements = 1;
  for (int64_t size : positionShape) {
    positions *= size;
  }
  for (int64_t size : windowShape) {
    windowElements *= size;
  }
  bool minorWindow = !windowShape.empty() && dims.windowToArray.back() + 1 == (int64_t)shape.size() &&
                     dims.windowDims.back() + 1 == (int64_t)updateShape.size();
  int64_t lanes = minorWindow ? kernelLanes(kernel) : 1;
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);
  // A short window is whole vectors of decreasing widths: what a masked store has left in its buffer cannot be loaded
  // from there, when the next update meets the same window.
  SmallVector<std::unique_ptr<ElementEmitter>> widths;
  for (int64_t rest = minorWindow ? windowShape.back() : 0, width = lanes; rest > 0 && rest < 4 * lanes;) {
    width = std::min<int64_t>(width, llvm::bit_floor<uint64_t>(rest));
    widths.push_back(std::make_unique<ElementEmitter>(kernel, width));
    rest -= width;
  }
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  // Short rows that do not fit go to a place of their own, without a branch that nobody could predict (50000 rows of 8,
  // half of them out of bounds: 0.06 ms for 0.21). What is read instead comes from another place, so that such updates do
  // not wait for each other. Single elements that all fit would take a quarter longer so.
  Value nowhere, sink;
  if (!widths.empty() && windowElements > 1 && windowElements == windowShape.back()) {
    int64_t words = 2 * windowElements; // elements have at most 16 bytes
    nowhere = LLVM::AllocaOp::create(e.b, e.loc, kernel.resultPtrs[0].getType(), e.b.getI64Type(),
                                     constI64(e, 2 * words), 64);
    sink = addBytes(e, nowhere, constI64(e, 8 * words));
    emitFor(e, constI64(e, 0), constI64(e, words), 1, [&](Value word) {
      LLVM::StoreOp::create(e.b, e.loc, constI64(e, 0), addBytes(e, nowhere, mulI(e, word, 8)));
    });
  }

  auto emitPosition = [&](Value positionNumber) {
    ElementEmitter::Scope scope(scalars);
    SmallVector<Value> position = delinearize(e, positionNumber, positionShape);
    // Where the window starts, and whether it fits.
    Value fits, base = constI64(e, 0);
    for (auto [k, d] : llvm::enumerate(op.getScatterDimsToOperandDims())) {
      SmallVector<Index> at(position.begin(), position.end());
      if (op.getIndexVectorDim() < static_cast<uint64_t>(indicesShape.size())) {
        at.insert(at.begin() + op.getIndexVectorDim(), Index(constI64(e, k)));
      }
      Elem raw = scalars.emit(indices, at);
      Value start = wideIndex(e, arrayType(indices).getElementType(), raw.re);
      // Negative starts are huge as unsigned numbers.
      Value inside = compareI(e, arith::CmpIPredicate::ult, start, shape[d] - windowSizes[d] + 1);
      fits = andMask(e, fits, inside);
      base = addI(e, base, mulI(e, start, strides[d]));
    }
    for (auto [operandDim, indicesDim] : llvm::zip(batching, indicesBatching)) {
      int64_t at = indicesDim > static_cast<int64_t>(op.getIndexVectorDim()) ? indicesDim - 1 : indicesDim;
      base = addI(e, base, mulI(e, position[at], strides[operandDim]));
    }
    SmallVector<Value> from(kernel.resultPtrs.begin(), kernel.resultPtrs.begin() + count), to(from);
    if (fits && nowhere) {
      base = e.b.createOrFold<arith::SelectOp>(e.loc, fits, base, constI64(e, 0));
      for (size_t n = 0; n < count; ++n) {
        from[n] = LLVM::SelectOp::create(e.b, e.loc, fits, from[n], nowhere);
        to[n] = LLVM::SelectOp::create(e.b, e.loc, fits, to[n], sink);
      }
      fits = {};
    }
    auto update = [&] {
      SmallVector<Index> at(updateShape.size());
      for (auto [k, d] : llvm::enumerate(dims.positionDims)) {
        at[d] = Index(position[k]);
      }
      auto combine = [&](ElementEmitter &emitter, Value target, Value mask) {
        SmallVector<Elem> arguments;
        for (size_t n = 0; n < count; ++n) {
          Type element = arrayType(op.getInputs()[n]).getElementType();
          arguments.push_back(loadElements(e, element, from[n], target, emitter.lanes(), mask));
        }
        for (Value v : updates) {
          arguments.push_back(emitter.emit(v, at, mask));
        }
        SmallVector<Elem> results = inlineComputation(e, computation, arguments);
        for (auto [n, result] : llvm::enumerate(results)) {
          Type element = arrayType(op->getResult(n)).getElementType();
          storeElements(e, element, result, to[n], target, mask);
        }
      };
      std::function<void(size_t, Value)> nest = [&](size_t k, Value target) {
        if (k == windowShape.size()) {
          ElementEmitter::Scope inner(scalars);
          combine(scalars, target, {});
          return;
        }
        int64_t d = dims.windowDims[k], stride = strides[dims.windowToArray[k]];
        Value zero = constI64(e, 0), size = constI64(e, windowShape[k]);
        if (k + 1 == windowShape.size() && !widths.empty()) {
          int64_t begin = 0;
          for (auto &emitter : widths) {
            ElementEmitter::Scope inner(*emitter);
            Value first = constI64(e, begin);
            at[d] = Index(first, emitter->lanes() > 1 ? 1 : 0);
            combine(*emitter, addI(e, target, first), {});
            begin += emitter->lanes();
          }
          return;
        }
        if (k + 1 == windowShape.size() && lanes > 1) {
          emitVectorLoop(e, zero, size, vectors, scalars,
                         [&](Index i, ElementEmitter &emitter, Value mask) {
                           at[d] = i;
                           combine(emitter, addI(e, target, i.base), mask);
                         });
          return;
        }
        emitFor(e, zero, size, 1, [&](Value i) {
          at[d] = Index(i);
          nest(k + 1, addI(e, target, mulI(e, i, stride)));
        });
      };
      nest(0, base);
    };
    if (!fits) {
      update();
      return;
    }
    auto branch = scf::IfOp::create(e.b, e.loc, fits, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    update();
  };

  bool independent = op.getUniqueIndices().value_or(false);
  int64_t perTask = independent ? std::max<int64_t>(1, kElementsPerTask / windowElements) : positions;
  auto [lo, hi] = splitTasks(kernel, positions, perTask);
  emitFor(e, lo, hi, 1, emitPosition);
  return success();
}

} // namespace hlo::codegen

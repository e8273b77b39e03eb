//===- SelectAndScatter.cpp - Strategy "select-and-scatter" ---------------===//
//
// In: a region whose root is a select-and-scatter (the gradient of a pooling).
// Out: the result is filled with the init value; then, for each element of the
// source, the window of the operand is searched for the position that `select`
// keeps, and `scatter` combines the element into the result there:
//
//   kept = first element of the window; for each next x: if !select(kept, x): kept = x
//
// Dimensions where the window is trivial (size and stride 1, no padding) do
// not meet: the leading one of them gives the tasks.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
struct SelectAndScatter {
  KernelBuilder &kernel;
  Emission &e;
  SelectAndScatterOp op;
  ArrayRef<int64_t> shape, sourceShape;
  Type element;
  ElementEmitter scalars;
  SmallVector<int64_t> strides, size, stride, padLow;
  SmallVector<bool> trivial;

  SelectAndScatter(KernelBuilder &kernel, SelectAndScatterOp op)
      : kernel(kernel), e(kernel.e), op(op), shape(arrayType(op.getOperand()).getShape()),
        sourceShape(arrayType(op.getSource()).getShape()),
        element(arrayType(op.getOperand()).getElementType()), scalars(kernel, 1),
        strides(rowMajorStrides(shape)), size(shape.size(), 1), stride(shape.size(), 1),
        padLow(shape.size(), 0) {
    SmallVector<int64_t> padHigh(shape.size(), 0);
    if (auto window = op.getWindow()) {
      size.assign(window->getSize().begin(), window->getSize().end());
      stride.assign(window->getStrides().begin(), window->getStrides().end());
      padLow.assign(window->getPadLow().begin(), window->getPadLow().end());
      padHigh.assign(window->getPadHigh().begin(), window->getPadHigh().end());
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      trivial.push_back(size[d] == 1 && stride[d] == 1 && padLow[d] == 0 && padHigh[d] == 0);
    }
  }

  /// Linear position of the kept element of the window at `at`; -1 if the window is all padding.
  Value search(ArrayRef<Value> at);
  void scatterOne(ArrayRef<Value> at);
};
} // namespace

Value SelectAndScatter::search(ArrayRef<Value> at) {
  ComputationOp select = kernel.lookup(op.getSelectAttr());
  Elem zero = zeroElem(e, element);
  SmallVector<Value> init = flattenElems(zero);
  init.push_back(constI64(e, -1));
  SmallVector<Value> counters;
  std::function<SmallVector<Value>(ValueRange)> nest = [&](ValueRange carried) {
    size_t d = counters.size();
    if (d < shape.size()) {
      return emitForCarrying(e, constI64(e, 0), constI64(e, size[d]), 1, carried,
                             [&](Value i, ValueRange inner) {
                               counters.push_back(i);
                               SmallVector<Value> next = nest(inner);
                               counters.pop_back();
                               return next;
                             });
    }
    SmallVector<Index> position;
    Value inside, linear = constI64(e, 0);
    for (size_t k = 0; k < shape.size(); ++k) {
      Value p = addI(e, addI(e, mulI(e, at[k], stride[k]), counters[k]), -padLow[k]);
      if (!trivial[k]) {
        inside = andMask(e, inside, compareI(e, arith::CmpIPredicate::ult, p, shape[k]));
      }
      position.push_back(Index(p));
      linear = addI(e, linear, mulI(e, p, strides[k]));
    }
    auto step = [&]() -> SmallVector<Value> {
      ElementEmitter::Scope scope(scalars);
      Elem candidate = scalars.emit(op.getOperand(), position);
      Elem kept = unflattenElems(carried.drop_back(), {zero})[0];
      SmallVector<Elem> keep = inlineComputation(e, select, {kept, candidate});
      if (keep.empty()) {
        return SmallVector<Value>(carried);
      }
      Value none = compareI(e, arith::CmpIPredicate::slt, carried.back(), 0);
      Value yes = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
      Value drop = e.b.createOrFold<arith::XOrIOp>(e.loc, keep[0].re, yes);
      Value take = e.b.createOrFold<arith::OrIOp>(e.loc, none, drop);
      SmallVector<Value> next = flattenElems(selectElem(e, take, candidate, kept));
      next.push_back(e.b.createOrFold<arith::SelectOp>(e.loc, take, linear, carried.back()));
      return next;
    };
    if (!inside) {
      return step();
    }
    auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(carried), inside, true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(e.b, e.loc, step());
    e.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e.b, e.loc, carried);
    return SmallVector<Value>(branch.getResults());
  };
  return nest(init).back();
}

void SelectAndScatter::scatterOne(ArrayRef<Value> at) {
  ElementEmitter::Scope scope(scalars);
  Value target = search(at);
  Value found = compareI(e, arith::CmpIPredicate::sge, target, 0);
  auto branch = scf::IfOp::create(e.b, e.loc, found, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Index> index(at.begin(), at.end());
  Elem source = scalars.emit(op.getSource(), index);
  Elem old = loadElements(e, element, kernel.resultPtrs[0], target, 1);
  SmallVector<Elem> sum = inlineComputation(e, kernel.lookup(op.getScatterAttr()), {old, source});
  if (!sum.empty()) {
    storeElements(e, element, sum[0], kernel.resultPtrs[0], target);
  }
}

LogicalResult emitSelectAndScatterKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<SelectAndScatterOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError(
        "of strategy 'select-and-scatter' must return a select-and-scatter");
  }
  SelectAndScatter emission(kernel, op);
  if (arrayType(op.getOperand()).getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  // Leading trivial dimensions split result and source into independent slabs.
  ArrayRef<int64_t> shape = emission.shape, sourceShape = emission.sourceShape;
  size_t lead = 0;
  int64_t slabs = 1;
  while (lead < shape.size() && emission.trivial[lead]) {
    slabs *= shape[lead++];
  }
  kernel.tasks = slabs;
  int64_t slabElements = arrayType(op.getOperand()).getNumElements() / slabs;
  Elem init = emission.scalars.emit(op.getInitValue(), {});
  int64_t lanes = kernelLanes(kernel);
  emitFor(e, kernel.first, kernel.last, 1, [&](Value slab) {
    Value base = mulI(e, slab, slabElements);
    int64_t whole = slabElements / lanes * lanes;
    Elem initLanes = splat(e, init, lanes);
    emitFor(e, constI64(e, 0), constI64(e, whole), lanes, [&](Value i) {
      storeElements(e, emission.element, initLanes, kernel.resultPtrs[0], addI(e, base, i));
    });
    emitFor(e, constI64(e, whole), constI64(e, slabElements), 1, [&](Value i) {
      storeElements(e, emission.element, init, kernel.resultPtrs[0], addI(e, base, i));
    });
    SmallVector<Value> at = delinearize(e, slab, shape.take_front(lead));
    std::function<void()> nest = [&] {
      size_t d = at.size();
      if (d == shape.size()) {
        emission.scatterOne(at);
        return;
      }
      emitFor(e, constI64(e, 0), constI64(e, sourceShape[d]), 1, [&](Value i) {
        at.push_back(i);
        nest();
        at.pop_back();
      });
    };
    nest();
  });
  return success();
}

} // namespace hlo::codegen

//===- SelectAndScatter.cpp - Strategy "select-and-scatter" ---------------===//
//
// In: a region whose root is a select-and-scatter (the gradient of a pooling). Out: the result is
// filled with the init value. Then, for each element of the source, the window of the operand is
// searched for the position that `select` keeps, and `scatter` combines the element into the result
// there:
//
//   kept = first element of the window; for each next x: if !select(kept, x): kept = x
//
// If the window does not extend along the minor dimension, its lanes are independent: they are
// searched together, and each position of the window is then combined with the source in the lanes
// that kept it. If it does, MinorWindows.cpp vectorizes it in another way.
//
// In dimensions where the window is trivial (size and stride 1, no padding) windows do not overlap:
// the leading ones provide the tasks.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Num.h"
#include "compiler/codegen/scatter/SelectAndScatterEmission.h"

using namespace mlir;

namespace hlo::codegen {

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

SmallVector<Value> SelectAndScatter::overWindow(ArrayRef<Value> at, ValueRange init,
                                                WindowStep step) {
  SmallVector<Value> position;
  std::function<SmallVector<Value>(Value, Value, ValueRange)> nest = [&](Value ordinal,
                                                                         Value inside,
                                                                         ValueRange carried) {
    size_t d = position.size();
    if (d + 1 < shape.size()) {
      return emitForCarrying(
          e, constI64(e, 0), constI64(e, size[d]), 1, carried, [&](Value i, ValueRange inner) {
            Value p = addI(e, addI(e, mulI(e, at[d], stride[d]), i), -padLow[d]);
            Value within = inside;
            if (!trivial[d]) {
              within = andMask(e, inside, compareI(e, arith::CmpIPredicate::ult, p, shape[d]));
            }
            position.push_back(p);
            SmallVector<Value> next = nest(addI(e, mulI(e, ordinal, size[d]), i), within, inner);
            position.pop_back();
            return next;
          });
    }
    Value number = e.b.createOrFold<arith::TruncIOp>(e.loc, e.b.getI32Type(), ordinal);
    if (!inside) {
      return step(position, number, carried);
    }
    auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(carried), inside, !carried.empty());
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> next = step(position, number, carried);
    if (!carried.empty()) {
      scf::YieldOp::create(e.b, e.loc, next);
      e.b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(e.b, e.loc, carried);
    }
    return SmallVector<Value>(branch.getResults());
  };
  return nest(constI64(e, 0), {}, init);
}

SmallVector<Value> SelectAndScatter::nothingKept(int64_t lanes) {
  SmallVector<Value> none = flattenElems({zeroElem(e, element, lanes)});
  Value ordinal = arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(-1));
  none.push_back(splat(e, Elem(ordinal), lanes).re);
  return none;
}

SmallVector<Value> SelectAndScatter::keepOne(ValueRange before, const Elem &candidate,
                                             Value ordinal) {
  Elem kept = unflattenElems(before.drop_back(), {candidate})[0];
  SmallVector<Elem> keep =
      inlineComputation(e, kernel.lookup(op.getSelectAttr()), {kept, candidate});
  if (keep.empty()) {
    return SmallVector<Value>(before);
  }
  Num place(e, before.back());
  Num take = less(place, 0) | logicalNot(Num(e, keep[0].re));
  SmallVector<Value> next = flattenElems(selectElem(e, take, candidate, kept));
  Num ordinals(e, splat(e, Elem(ordinal), lanesOf(candidate.re)).re);
  next.push_back(hlo::codegen::select(take, ordinals, place));
  return next;
}

void SelectAndScatter::scatterLanes(ArrayRef<Value> at, Index c, ElementEmitter &emitter,
                                    Value mask) {
  int64_t lanes = emitter.lanes();
  ComputationOp scatter = kernel.lookup(op.getScatterAttr());
  auto indexAt = [&](ArrayRef<Value> position) {
    SmallVector<Index> index(position.begin(), position.end());
    index.push_back(c);
    return index;
  };
  auto search = [&](ArrayRef<Value> position, Value ordinal, ValueRange carried) {
    ElementEmitter::Scope scope(emitter);
    return keepOne(carried, emitter.emit(op.getOperand(), indexAt(position), mask), ordinal);
  };
  Num kept(e, overWindow(at, nothingKept(lanes), search).back());
  Elem source = emitter.emit(op.getSource(), indexAt(at), mask);
  overWindow(at, {}, [&](ArrayRef<Value> position, Value ordinal, ValueRange) {
    Value target = c.base;
    for (auto [p, s] : llvm::zip(position, strides)) {
      target = addI(e, target, mulI(e, p, s));
    }
    Elem old = loadElements(e, element, kernel.resultPtrs[0], target, lanes, mask);
    SmallVector<Elem> sum = inlineComputation(e, scatter, {old, source});
    if (!sum.empty()) {
      Num ordinals(e, splat(e, Elem(ordinal), lanes).re);
      Elem value = selectElem(e, equal(kept, ordinals), sum[0], old);
      storeElements(e, element, value, kernel.resultPtrs[0], target, mask);
    }
    return SmallVector<Value>();
  });
}

void SelectAndScatter::overSlabs(size_t end, ElementEmitter &vectors, const Elem &init,
                                 function_ref<void(SmallVector<Value> &)> body) {
  size_t lead = leadingTrivial(end);
  int64_t slabs = llvm::product_of(shape.take_front(lead));
  kernel.tasks = slabs;
  int64_t slabElements = arrayType(op.getOperand()).getNumElements() / slabs;
  emitFor(e, kernel.first, kernel.last, 1, [&](Value slab) {
    Value base = mulI(e, slab, slabElements);
    emitVectorLoop(e, constI64(e, 0), constI64(e, slabElements), vectors, scalars,
                   [&](Index i, ElementEmitter &emitter, Value mask) {
                     storeElements(e, element, splat(e, init, emitter.lanes()),
                                   kernel.resultPtrs[0], addI(e, base, i.base), mask);
                   });
    SmallVector<Value> at = delinearize(e, slab, shape.take_front(lead));
    std::function<void()> nest = [&] {
      if (at.size() == end) {
        body(at);
        return;
      }
      emitFor(e, constI64(e, 0), constI64(e, sourceShape[at.size()]), 1, [&](Value i) {
        at.push_back(i);
        nest();
        at.pop_back();
      });
    };
    nest();
  });
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
  Elem init = emission.scalars.emit(op.getInitValue(), {});
  int64_t lanes = kernelLanes(kernel);
  ElementEmitter vectors(kernel, lanes);
  if (emission.fitsMinorWindows(lanes)) {
    emission.emitMinorWindows(vectors, init);
    return success();
  }
  ArrayRef<int64_t> shape = emission.shape;
  if (lanes > 1 && !shape.empty() && emission.trivial.back() && shape.back() > 1) {
    emission.overSlabs(shape.size() - 1, vectors, init, [&](SmallVector<Value> &at) {
      emitVectorLoop(e, constI64(e, 0), constI64(e, emission.sourceShape.back()), vectors,
                     emission.scalars, [&](Index c, ElementEmitter &emitter, Value mask) {
                       emission.scatterLanes(at, c, emitter, mask);
                     });
    });
    return success();
  }
  emission.overSlabs(shape.size(), vectors, init,
                     [&](SmallVector<Value> &at) { emission.scatterOne(at); });
  return success();
}

} // namespace hlo::codegen

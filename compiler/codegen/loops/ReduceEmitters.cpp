//===- ReduceEmitters.cpp - Reductions inside a fused loop ----------------===//
//
// In: the index of an element of the result of reduce, reduce-window or a small dot. Out: the
// element, by loops over the reduced elements. Lanes run along the result, so each lane keeps the
// order of the text.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Reducer.h"
#include "compiler/codegen/loops/Regions.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Nested loops over `extents`, carrying `init`; the body gets one counter per loop. If unrolled,
/// counters are constants.
static SmallVector<Value>
emitNest(Emission &e, ArrayRef<int64_t> extents, SmallVector<Value> &counters, ValueRange init,
         function_ref<SmallVector<Value>(ArrayRef<Value>, ValueRange)> body, bool unroll = false) {
  if (counters.size() == extents.size()) {
    return body(counters, init);
  }
  int64_t extent = extents[counters.size()];
  if (unroll) {
    SmallVector<Value> carried(init);
    for (int64_t i = 0; i < extent; ++i) {
      counters.push_back(constI64(e, i));
      carried = emitNest(e, extents, counters, carried, body, unroll);
      counters.pop_back();
    }
    return carried;
  }
  return emitForCarrying(e, constI64(e, 0), constI64(e, extent), 1, init,
                         [&](Value i, ValueRange carried) {
                           counters.push_back(i);
                           auto next = emitNest(e, extents, counters, carried, body);
                           counters.pop_back();
                           return next;
                         });
}

Elem ElementEmitter::Impl::reduce(OpResult result, ArrayRef<Index> index, Value mask) {
  auto op = cast<ReduceOp>(result.getOwner());
  size_t count = op.getInputs().size() / 2;
  ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);

  SmallVector<Elem> start = reducer.start(e(), inits, *self);
  SmallVector<int64_t> extents;
  SmallVector<bool> reduced(shape.size(), false);
  for (int64_t d : op.getDimensions()) {
    reduced[d] = true;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (reduced[d]) {
      extents.push_back(shape[d]);
    }
  }
  SmallVector<Value> counters;
  SmallVector<Value> flat = emitNest(
      e(), extents, counters, flattenElems(start), [&](ArrayRef<Value> at, ValueRange carried) {
        ElementEmitter::Scope scope(*self);
        SmallVector<Index> source;
        size_t nextReduced = 0, nextKept = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
          source.push_back(reduced[d] ? Index(at[nextReduced++]) : index[nextKept++]);
        }
        SmallVector<Elem> elems;
        for (auto [n, input] : llvm::enumerate(inputs)) {
          elems.push_back(reducer.convertInput(e(), elementType(input.getType()), n,
                                               self->emit(input, source, mask)));
        }
        return flattenElems(reducer.combine(e(), unflattenElems(carried, start), elems));
      });
  SmallVector<Elem> totals = unflattenElems(flat, start);
  for (auto [n, total] : llvm::enumerate(totals)) {
    total = reducer.finish(e(), n, elementType(op->getResult(n).getType()), total);
    if (n != result.getResultNumber()) {
      memoize(op->getResult(n), index, mask, total);
    }
  }
  return totals[result.getResultNumber()];
}

/// True if all lanes are in [0, extent); null unless their distances from a base are known, so that
/// the test is cheap.
static Value allInRange(Emission &e, const Index &index, int64_t extent, int64_t lanes) {
  SmallVector<int64_t> offsets =
      index.isUniform() ? SmallVector<int64_t>() : knownOffsets(index, lanes);
  if (offsets.empty() || constantOf(index.base)) {
    return {};
  }
  auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  int64_t room = extent - (*most - *least);
  return room <= 0 ? Value()
                   : compareI(e, arith::CmpIPredicate::ult, addI(e, index.base, *least), room);
}

/// True if a window along dimension d stays inside its array at every index.
static bool staysInside(WindowAttr window, size_t d, int64_t size, int64_t results) {
  int64_t reach = (window.getSize()[d] - 1) * window.getWindowDilations()[d];
  return window.getPadLow()[d] <= 0 && window.getBaseDilations()[d] == 1 &&
         (results - 1) * window.getStrides()[d] + reach - window.getPadLow()[d] < size;
}

/// A scalar condition: the windows of all lanes are inside the array. Null if it would need a test
/// per lane, or is known to be always or never true.
static Value allInside(Emission &e, ReduceWindowOp op, ArrayRef<Index> index, int64_t lanes) {
  WindowAttr window = op.getWindowAttr();
  ArrayRef<int64_t> shape = shapeOf(op.getInputs()[0]), results = shapeOf(op->getResult(0));
  Value all;
  for (size_t d = 0; window && d < shape.size(); ++d) {
    if (staysInside(window, d, shape[d], results[d])) {
      continue;
    }
    SmallVector<int64_t> offsets =
        index[d].isUniform() ? SmallVector<int64_t>{0} : knownOffsets(index[d], lanes);
    if (offsets.empty() || window.getBaseDilations()[d] != 1 || constantOf(index[d].base)) {
      return {};
    }
    auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
    int64_t stride = window.getStrides()[d];
    int64_t reach =
        (*most - *least) * stride + (window.getSize()[d] - 1) * window.getWindowDilations()[d];
    if (reach >= shape[d]) {
      return {};
    }
    Value first = addI(e, mulI(e, addI(e, index[d].base, *least), stride), -window.getPadLow()[d]);
    Value inside = compareI(e, arith::CmpIPredicate::ult, first, shape[d] - reach);
    all = all ? andMask(e, all, inside) : inside;
  }
  return all;
}

Elem ElementEmitter::Impl::reduceWindow(OpResult result, ArrayRef<Index> index, Value mask) {
  auto op = cast<ReduceWindowOp>(result.getOwner());
  size_t count = op.getInputs().size() / 2;
  ValueRange inputs = op.getInputs().take_front(count), inits = op.getInputs().drop_front(count);
  Reducer reducer(kernel.lookup(op.getToApplyAttr()), elementTypes(inits));
  ArrayRef<int64_t> shape = shapeOf(inputs[0]);

  SmallVector<Elem> start = reducer.start(e(), inits, *self);
  SmallVector<int64_t> extents(shape.size(), 1);
  WindowAttr window = op.getWindowAttr();
  if (window) {
    llvm::copy(window.getSize(), extents.begin());
  }
  int64_t taps = llvm::product_of(extents);
  bool isShort = taps <= kMostRoundedWindow;
  // If lanes belong to several rows, it must be known statically which are in the padding: see
  // ShortRows.cpp.
  bool unroll = taps <= kMostUnrolledTaps &&
                llvm::any_of(index, [](const Index &i) { return !i.offsets.empty(); });
  auto nest = [&](bool knownInside) {
    SmallVector<Value> counters;
    return emitNest(
        e(), extents, counters, flattenElems(start),
        [&](ArrayRef<Value> at, ValueRange carried) {
          ElementEmitter::Scope scope(*self);
          SmallVector<Elem> accumulators = unflattenElems(carried, start);
          SmallVector<Index> source;
          // Conditions on the window's position: uniform; per lane; per lane, but implied by the
          // uniform condition `all`.
          Value scalarCondition, laneCondition, borderCondition, all;
          auto require = [&](Value condition) {
            Value &slot = isa<VectorType>(condition.getType()) ? laneCondition : scalarCondition;
            slot = andMask(e(), slot, condition);
          };
          for (size_t d = 0; d < shape.size(); ++d) {
            if (!window) {
              source.push_back(index[d]);
              continue;
            }
            int64_t dilation = window.getBaseDilations()[d];
            Index p = mulIndex(e(), index[d], window.getStrides()[d]);
            p = addIndex(e(), p, Index(mulI(e(), at[d], window.getWindowDilations()[d])), lanes);
            p = addIndex(e(), p, -window.getPadLow()[d]);
            int64_t extent = shape[d] == 0 ? 0 : (shape[d] - 1) * dilation + 1;
            if (!knownInside && !staysInside(window, d, shape[d], shapeOf(result)[d])) {
              Value condition = indexInRange(e(), p, 0, extent, lanes);
              if (Value known = dilation == 1 ? allInRange(e(), p, extent, lanes) : Value()) {
                all = andMask(e(), all, known);
                borderCondition = andMask(e(), borderCondition, condition);
              } else {
                require(condition);
              }
            }
            if (dilation > 1) {
              Index q, r;
              if (p.isUniform()) {
                q = Index(divI(e(), p.base, dilation));
                r = Index(remI(e(), p.base, dilation));
              } else {
                Value lanesAt = laneIndices(e(), p, lanes);
                q.lanes = divI(e(), lanesAt, dilation);
                r.lanes = remI(e(), lanesAt, dilation);
              }
              require(indexInRange(e(), r, 0, 1, lanes));
              p = q;
            }
            source.push_back(p);
          }
          // Padding is skipped: it stands for the init value, which is already included.
          auto step = [&](Value lanesIn) {
            ElementEmitter::Scope inner(*self);
            SmallVector<Elem> elems;
            for (auto [n, input] : llvm::enumerate(inputs)) {
              elems.push_back(
                  reducer.convertInput(e(), elementType(input.getType()), n,
                                       self->emit(input, source, andMask(e(), lanesIn, mask))));
            }
            SmallVector<Elem> next = reducer.combine(e(), accumulators, elems);
            if (isShort) {
              next = reducer.rounded(e(), next);
            }
            if (lanesIn) {
              for (auto [value, old] : llvm::zip(next, accumulators)) {
                value = selectElem(e(), lanesIn, value, old);
              }
            }
            return flattenElems(next);
          };
          auto branchOn = [&](Value condition, function_ref<SmallVector<Value>()> then,
                              function_ref<SmallVector<Value>()> otherwise) {
            auto branch = scf::IfOp::create(e().b, e().loc, TypeRange(carried), condition, true);
            OpBuilder::InsertionGuard guard(e().b);
            e().b.setInsertionPointToStart(branch.thenBlock());
            scf::YieldOp::create(e().b, e().loc, then());
            e().b.setInsertionPointToStart(branch.elseBlock());
            scf::YieldOp::create(e().b, e().loc, otherwise());
            return SmallVector<Value>(branch.getResults());
          };
          auto guardedStep = [&](Value lanesIn) -> SmallVector<Value> {
            DenseElementsAttr known;
            bool isKnown = lanesIn && matchPattern(lanesIn, m_Constant(&known));
            if (isKnown && known.isSplat()) {
              if (!known.getSplatValue<bool>()) {
                return SmallVector<Value>(carried);
              }
              lanesIn = {};
            }
            Value any = scalarCondition;
            if (lanesIn && !isKnown) {
              any = andMask(e(), anyLane(e(), lanesIn), scalarCondition);
            }
            auto skip = [&] { return SmallVector<Value>(carried); };
            return any ? branchOn(any, [&] { return step(lanesIn); }, skip) : step(lanesIn);
          };
          if (!all) {
            return guardedStep(laneCondition);
          }
          return branchOn(
              all, [&] { return guardedStep(laneCondition); },
              [&] { return guardedStep(andMask(e(), laneCondition, borderCondition)); });
        },
        unroll);
  };
  // A window inside the array needs no tests. Not with several windows in the kernel: the branch
  // would duplicate their code.
  bool isOnly = llvm::hasSingleElement(kernel.body().getOps<ReduceWindowOp>());
  Value inside = isOnly ? allInside(e(), op, index, lanes) : Value();
  SmallVector<Value> flat;
  if (inside) {
    auto branch =
        scf::IfOp::create(e().b, e().loc, ValueRange(flattenElems(start)).getTypes(), inside, true);
    OpBuilder::InsertionGuard guard(e().b);
    e().b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(e().b, e().loc, nest(true));
    e().b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e().b, e().loc, nest(false));
    flat.assign(branch.result_begin(), branch.result_end());
  } else {
    flat = nest(false);
  }
  SmallVector<Elem> totals = unflattenElems(flat, start);
  for (auto [n, total] : llvm::enumerate(totals)) {
    total = reducer.finish(e(), n, elementType(op->getResult(n).getType()), total);
    if (n != result.getResultNumber()) {
      memoize(op->getResult(n), index, mask, total);
    }
  }
  return totals[result.getResultNumber()];
}

Elem ElementEmitter::Impl::smallDot(DotOp op, ArrayRef<Index> index, Value mask) {
  auto list = [](std::optional<ArrayRef<int64_t>> dims) {
    return dims.value_or(ArrayRef<int64_t>());
  };
  ArrayRef<int64_t> lhsBatch = list(op.getLhsBatchDims()), rhsBatch = list(op.getRhsBatchDims());
  ArrayRef<int64_t> lhsContract = list(op.getLhsContractingDims());
  ArrayRef<int64_t> rhsContract = list(op.getRhsContractingDims());
  ArrayRef<int64_t> lhsShape = shapeOf(op.getLhs()), rhsShape = shapeOf(op.getRhs());
  Type result = elementType(op.getType());
  Type accumulate = isNarrowFloat(result) ? Type(e().b.getF32Type()) : result;
  SmallVector<int64_t> extents;
  for (int64_t d : lhsContract) {
    extents.push_back(lhsShape[d]);
  }
  // Two alternating sums hide the latency of additions; not for a few products, which keep the
  // text's order.
  Elem zero = zeroElem(e(), accumulate, lanes);
  SmallVector<Elem> sums{zero};
  if (std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>()) >= 6) {
    sums.push_back(zero);
  }
  SmallVector<Value> counters;
  SmallVector<Value> flat = emitNest(
      e(), extents, counters, flattenElems(sums), [&](ArrayRef<Value> at, ValueRange carried) {
        ElementEmitter::Scope scope(*self);
        size_t next = lhsBatch.size();
        auto sideIndex = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> batch,
                             ArrayRef<int64_t> contract) {
          SmallVector<Index> side(shape.size());
          for (auto [k, d] : llvm::enumerate(batch)) {
            side[d] = index[k];
          }
          for (auto [k, d] : llvm::enumerate(contract)) {
            side[d] = Index(at[k]);
          }
          for (size_t d = 0; d < shape.size(); ++d) {
            if (!llvm::is_contained(batch, static_cast<int64_t>(d)) &&
                !llvm::is_contained(contract, static_cast<int64_t>(d))) {
              side[d] = index[next++];
            }
          }
          return side;
        };
        SmallVector<Index> lhsIndex = sideIndex(lhsShape, lhsBatch, lhsContract);
        SmallVector<Index> rhsIndex = sideIndex(rhsShape, rhsBatch, rhsContract);
        Elem a = emitConvert(e(), elementType(op.getLhs().getType()), accumulate,
                             self->emit(op.getLhs(), lhsIndex, mask));
        Elem b = emitConvert(e(), elementType(op.getRhs().getType()), accumulate,
                             self->emit(op.getRhs(), rhsIndex, mask));
        Elem product = emitNamed(e(), "multiply", accumulate, accumulate, {a, b});
        SmallVector<Elem> before = unflattenElems(carried, sums);
        Elem sum = emitNamed(e(), "add", accumulate, accumulate, {before[0], product});
        before.push_back(sum);
        return flattenElems(ArrayRef<Elem>(before).drop_front());
      });
  SmallVector<Elem> totals = unflattenElems(flat, sums);
  Elem total =
      totals.size() > 1 ? emitNamed(e(), "add", accumulate, accumulate, totals) : totals[0];
  return emitConvert(e(), accumulate, result, total);
}

} // namespace hlo::codegen

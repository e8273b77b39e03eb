//===- Lanes.cpp - Tasks, and the vectors of a kernel ---------------------===//
//
// In: a kernel's region. Out: the number of lanes of its vectors, the units of work of a call, and
// the loop over a minor dimension: whole vectors, then the remainder under a mask, or as scalars.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Lanes.h"
#include "compiler/analysis/Computations.h"
#include "compiler/codegen/IndexMath.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

std::pair<Value, Value> splitTasks(KernelBuilder &kernel, int64_t total, int64_t perTask) {
  Emission &e = kernel.e;
  kernel.tasks = llvm::divideCeil(total, perTask);
  if (kernel.tasks <= 1) {
    return {constI64(e, 0), constI64(e, total)};
  }
  Value hi = minI(e, mulI(e, kernel.last, perTask), total);
  return {mulI(e, kernel.first, perTask), hi};
}

/// True if a computation that the kernel applies to scalars contains a loop or a branch.
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

/// True if `v` is a scalar computed from scalars, such as the start of a slice: it has no lanes.
static bool isOfNumbers(Value v) {
  auto isNumber = [](Value value) {
    auto array = dyn_cast<RankedTensorType>(value.getType());
    return array && array.getRank() == 0;
  };
  Operation *op = v.getDefiningOp();
  return isNumber(v) && (!op || llvm::all_of(op->getOperands(), isNumber));
}

int64_t kernelLanes(KernelBuilder &kernel, function_ref<bool(Value)> counts) {
  if (appliesControlFlow(kernel)) {
    return 1;
  }
  int64_t widest = 0, widestNumber = 1;
  auto visit = [&](Value v) {
    if (auto array = dyn_cast<RankedTensorType>(v.getType()); array && (!counts || counts(v))) {
      Type part = computeType(array.getElementType());
      int64_t &known = isOfNumbers(v) ? widestNumber : widest;
      known = std::max<int64_t>(known, (part.getIntOrFloatBitWidth() + 7) / 8);
    }
  };
  llvm::for_each(kernel.body().getArguments(), visit);
  for (Operation &op : kernel.body()) {
    llvm::for_each(op.getResults(), visit);
  }
  return std::max<int64_t>(1, kernel.e.machine.lanes(widest > 0 ? widest : widestNumber));
}

void emitVectorLoop(Emission &e, Value lo, Value hi, ElementEmitter &vectors,
                    ElementEmitter &scalars,
                    function_ref<void(Index, ElementEmitter &, Value)> body, int64_t align) {
  int64_t lanes = vectors.lanes();
  std::optional<int64_t> from = constantOf(lo), to = constantOf(hi);
  align = std::gcd(lanes, from ? *from : align);
  auto scalarLoop = [&](Value a, Value b) {
    emitFor(e, a, b, 1, [&](Value i) {
      ElementEmitter::Scope scope(scalars);
      body(Index(i), scalars, {});
    });
  };
  if (lanes == 1) {
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
    body(Index(i, 1, align), vectors, {});
  });
  if (from && to && (*to - *from) % lanes == 0) {
    return;
  }
  // A remainder of one element is a scalar, because LLVM 22 stores too many bytes for a truncated
  // vector under a constant mask with one lane. Masks that are not constant need a target with
  // masked accesses.
  bool single = from && to && (*to - *from) % lanes == 1;
  if (single || (!e.machine.vectors.hasPredicates() && !(from && to))) {
    scalarLoop(whole, hi);
    return;
  }
  auto tail = [&](Value i, Value mask) {
    ElementEmitter::Scope scope(vectors);
    body(Index(i, 1, align), vectors, mask);
  };
  if (from && to) {
    tail(whole, firstLanes(e, (*to - *from) % lanes, lanes));
    return;
  }
  Value rest = subI(e, hi, whole);
  Value restLanes = splat(e, rest, lanes).re;
  Value mask = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt,
                                               laneOffsets(e, lanes, 1), restLanes);
  Value any = compareI(e, arith::CmpIPredicate::sgt, rest, 0);
  emitIf(e, any, [&] { tail(whole, mask); });
}

void emitPeriodicLoop(Emission &e, int64_t origin, int64_t together, Value lo, Value hi,
                      ElementEmitter &vectors, ElementEmitter &scalars,
                      function_ref<void(Index, ElementEmitter &, Value)> body) {
  int64_t lanes = vectors.lanes(), block = lanes * together;
  auto at = [&](Value i, int64_t v) {
    Index index(addI(e, i, v * lanes), lanes > 1 ? 1 : 0);
    index.known = Congruence(block, origin + v * lanes);
    return index;
  };
  Value whole = addI(e, lo, mulI(e, divI(e, subI(e, hi, lo), block), block));
  emitFor(e, lo, whole, block, [&](Value i) {
    for (int64_t v = 0; v < together; ++v) {
      ElementEmitter::Scope scope(vectors);
      body(at(i, v), vectors, {});
    }
  });
  // The remainder: known vectors, the last one under a mask.
  for (int64_t v = 0; v < together; ++v) {
    Value from = addI(e, whole, v * lanes), rest = subI(e, hi, from);
    emitIf(e, compareI(e, arith::CmpIPredicate::sgt, rest, 0), [&] {
      Value to = minI(e, addI(e, from, lanes), hi);
      Index index = at(whole, v);
      emitVectorLoop(e, from, to, vectors, scalars,
                     [&](Index i, ElementEmitter &emitter, Value mask) {
                       bool isVector = emitter.lanes() == lanes;
                       index.base = i.base;
                       body(isVector ? index : i, emitter, mask);
                     });
    });
  }
}

} // namespace hlo::codegen

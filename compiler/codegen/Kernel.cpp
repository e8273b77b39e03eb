//===- Kernel.cpp - Loops, stages and variables of a kernel's function ----===//
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/IndexMath.h"

using namespace mlir;

namespace hlo::codegen {

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * shape[d + 1];
  }
  return strides;
}

SmallVector<Value> delinearize(Emission &e, Value linear, ArrayRef<int64_t> shape) {
  SmallVector<Value> indices(shape.size());
  Value rest = linear;
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (d == 0) {
      indices[d] = rest;
    } else if (shape[d] == 1) {
      indices[d] = constI64(e, 0);
    } else {
      indices[d] = remI(e, rest, std::max<int64_t>(1, shape[d]));
      rest = divI(e, rest, std::max<int64_t>(1, shape[d]));
    }
  }
  return indices;
}

Value stackBuffer(Emission &e, int64_t bytes) {
  OpBuilder::InsertionGuard guard(e.b);
  Operation *function = e.b.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(function)) {
    function = function->getParentOp();
  }
  e.b.setInsertionPointToStart(&cast<FunctionOpInterface>(function).getFunctionBody().front());
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  return LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getI8Type(), constI64(e, bytes),
                                /*alignment=*/64);
}

void emitIf(Emission &e, Value condition, function_ref<void()> body) {
  if (std::optional<int64_t> known = constantOf(condition)) {
    if (*known != 0) {
      body();
    }
    return;
  }
  auto branch = scf::IfOp::create(e.b, e.loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void emitFor(Emission &e, Value lo, Value hi, int64_t step, function_ref<void(Value)> body) {
  std::optional<int64_t> from = constantOf(lo), to = constantOf(hi);
  if (from && to && *to <= *from) {
    return;
  }
  if (from && to && *to - *from <= step) {
    body(lo);
    return;
  }
  auto loop = scf::ForOp::create(e.b, e.loc, lo, hi, constI64(e, step));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

SmallVector<Value> emitForCarrying(Emission &e, Value lo, Value hi, int64_t step, ValueRange init,
                                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> from = constantOf(lo), to = constantOf(hi);
  if (from && to && *to <= *from) {
    return SmallVector<Value>(init);
  }
  if (from && to && *to - *from <= step) {
    return body(lo, init);
  }
  if (init.empty()) {
    emitFor(e, lo, hi, step, [&](Value i) { body(i, {}); });
    return {};
  }
  auto loop = scf::ForOp::create(e.b, e.loc, lo, hi, constI64(e, step), init);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(e.b, e.loc, next);
  return SmallVector<Value>(loop.getResults());
}

void emitStages(KernelBuilder &kernel, ArrayRef<int64_t> counts,
                function_ref<void(size_t, Value, Value)> body) {
  Emission &e = kernel.e;
  kernel.tasks = 0;
  for (auto [s, count] : llvm::enumerate(counts)) {
    if (s > 0) {
      kernel.barriers.push_back(kernel.tasks);
    }
    Value begin = constI64(e, kernel.tasks), end = constI64(e, kernel.tasks + count);
    Value lo = maxI(e, kernel.first, begin);
    Value hi = minI(e, kernel.last, end);
    Value any = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt, lo, hi);
    auto branch = scf::IfOp::create(e.b, e.loc, any, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    body(s, e.b.createOrFold<arith::SubIOp>(e.loc, lo, begin),
         e.b.createOrFold<arith::SubIOp>(e.loc, hi, begin));
    kernel.tasks += count;
  }
}

size_t chooseCandidate(KernelBuilder &kernel, std::vector<PlanCandidate> candidates, size_t best) {
  if (!kernel.choice) {
    return best;
  }
  KernelChoice &choice = *kernel.choice;
  choice.candidates = std::move(candidates);
  choice.chosen = best;
  for (auto [i, candidate] : llvm::enumerate(choice.candidates)) {
    if (candidate.name == choice.forced) {
      choice.chosen = i;
    }
  }
  return choice.chosen;
}

} // namespace hlo::codegen

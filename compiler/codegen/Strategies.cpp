//===- Strategies.cpp - From a fusion op to a function --------------------===//
//
// In: a fusion op with a strategy. Out: an llvm.func of (ptr operand..., ptr
// result..., i64 first, i64 last) whose body is scf/arith/math/vector ops and
// LLVM pointer loads and stores. The strategy's emitter fills it: the table below.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/HeroKernel.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/codegen/loops/Regions.h"
#include "dialect/hlo/Strategy.h"

using namespace mlir;

namespace hlo::codegen {

/// `loops` is below `reduce`, and gets what it needs of it.
LogicalResult emitLoopKernel(KernelBuilder &kernel) { return emitLoops(kernel, emitColumnReduces); }

namespace {
using Emitter = LogicalResult (*)(KernelBuilder &);
struct EmitterRow {
  Strategy strategy;
  Emitter emitter;
};
} // namespace

static constexpr EmitterRow table[] = {
    {Strategy::Loop, emitLoopKernel},
    {Strategy::Range, emitRangeKernel},
    {Strategy::Reduce, emitReduceKernel},
    {Strategy::Row, emitRowKernel},
    {Strategy::Columns, emitColumnsKernel},
    {Strategy::Scan, emitScanKernel},
    {Strategy::Dot, emitDotKernel},
    {Strategy::Conv, emitConvKernel},
    {Strategy::Sort, emitSortKernel},
    {Strategy::Topk, emitTopkKernel},
    {Strategy::Scatter, emitScatterKernel},
    {Strategy::SelectAndScatter, emitSelectAndScatterKernel},
    {Strategy::UpdateSlice, emitUpdateSliceKernel},
    {Strategy::Rng, emitRngKernel},
    {Strategy::Fft, emitFftKernel},
    {Strategy::Cholesky, emitCholeskyKernel},
    {Strategy::TriangularSolve, emitTriangularSolveKernel},
    {Strategy::Attention, emitAttentionKernel},
};

/// Whether row n is that of strategy n, for each strategy.
static constexpr bool isComplete() {
  for (size_t n = 0; n < std::size(table); ++n) {
    if (static_cast<size_t>(table[n].strategy) != n || !table[n].emitter) {
      return false;
    }
  }
  return std::size(table) == getMaxEnumValForStrategy() + 1;
}
static_assert(isComplete(), "one emitter for each strategy, in the order of Strategy.td");

static FailureOr<KernelTasks> emit(FusionOp fusion, StringRef name, const Machine &machine,
                                   ModuleOp computations, ModuleOp into, KernelChoice *choice,
                                   PanelRequest *panels) {
  std::optional<Strategy> strategy = kernelStrategy(fusion);
  if (!strategy) {
    return fusion.emitOpError("has no strategy");
  }
  OpBuilder builder(into.getContext());
  builder.setInsertionPointToEnd(into.getBody());
  auto pointer = LLVM::LLVMPointerType::get(into.getContext());
  unsigned operands = fusion.getNumOperands(), results = fusion.getNumResults();
  SmallVector<Type> parameters(operands + results, pointer);
  parameters.append(2, builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(into.getContext()), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, fusion.getLoc(), name, type);
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(body);
  auto end = LLVM::ReturnOp::create(builder, fusion.getLoc(), ValueRange{});
  builder.setInsertionPoint(end);

  // Emitters may rewrite the region; the fusion stays as it is.
  OwningOpRef<FusionOp> work(cast<FusionOp>(fusion->clone()));
  KernelBuilder kernel{
      Emission{{builder, fusion.getLoc()}, machine},
      *work,
      computations,
      SmallVector<Value>(body->args_begin(), body->args_begin() + operands),
      SmallVector<Value>(body->args_begin() + operands, body->args_begin() + operands + results),
      body->getArgument(operands + results),
      body->getArgument(operands + results + 1)};
  kernel.choice = choice;
  kernel.panels = panels;
  bool failedBefore = false;
  // An emitter may report an error deep inside and still return success.
  ScopedDiagnosticHandler watch(into.getContext(), [&](Diagnostic &diagnostic) {
    failedBefore |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure();
  });
  Emitter emitter = table[static_cast<size_t>(*strategy)].emitter;
  if (failed(emitter(kernel)) || failedBefore) {
    return failure();
  }
  return KernelTasks{kernel.tasks, kernel.barriers};
}

FailureOr<KernelTasks> emitKernel(FusionOp fusion, StringRef name, const Machine &machine,
                                  ModuleOp computations, ModuleOp into, KernelChoice *choice) {
  return emit(fusion, name, machine, computations, into, choice, /*panels=*/nullptr);
}

std::optional<PanelLayout> wantedPanels(Operation *hero, unsigned operand, const Machine &machine) {
  OwningOpRef<FusionOp> fusion =
      heroKernel(hero, isa<DotOp>(hero) ? Strategy::Dot : Strategy::Conv);
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(hero->getLoc()));
  PanelRequest request{operand, {}};
  FailureOr<KernelTasks> answered = emit(*fusion, "panels", machine, *scratch, *scratch,
                                         /*choice=*/nullptr, &request);
  return succeeded(answered) ? request.layout : std::nullopt;
}

} // namespace hlo::codegen

//===- LowerToLLVM.cpp - Kernel functions to the LLVM dialect -------------===//
//
// In: llvm.func with scf, cf, arith, math, vector and ub ops on i1, iN, f16, bf16, f32, f64,
// vectors of them, and !llvm.ptr. Out: the same in the LLVM dialect.
//
// One conversion does everything: structured loops become blocks, and each op is replaced by its
// LLVM counterpart in the same visit. Patterns that lower vector ops to simpler vector ops take
// part in it, so no greedy rewriting is needed before. LLVM's passes clean up afterwards; nothing
// is folded twice.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/LowerToLLVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

/// Vector ops without an LLVM counterpart, in terms of those that have one.
static void addVectorLoweringPatterns(RewritePatternSet &patterns) {
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorMaskOpLoweringPatterns(patterns);
  vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorInterleaveLoweringPatterns(patterns);
  vector::populateVectorBitCastLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  vector::populateVectorTransposeLoweringPatterns(patterns,
                                                  vector::VectorTransposeLowering::Shuffle1D);
  vector::populateVectorMultiReductionLoweringPatterns(
      patterns, vector::VectorMultiReductionLowering::InnerParallel);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorToElementsUnrollPatterns(patterns);
  vector::populateVectorFromElementsUnrollPatterns(patterns);
}

/// Whether an op only computes its results, so that it may be computed earlier or in vain. An
/// instruction's intrinsic without pointers does, though MLIR does not know it.
static bool onlyComputes(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    WalkResult all = branch.walk([&](Operation *inner) {
      bool computes = inner == op || isa<scf::YieldOp, scf::IfOp>(inner) || onlyComputes(inner);
      return computes ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !all.wasInterrupted();
  }
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    return intrinsic->getNumResults() > 0 &&
           llvm::none_of(intrinsic.getArgs().getTypes(), llvm::IsaPred<LLVM::LLVMPointerType>);
  }
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && isSpeculatable(op);
}

/// Moves invariant ops out of the loops that compute a value by a branch, innermost loops first.
static void moveInvariantBranches(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    if (llvm::none_of(loop.getOps<scf::IfOp>(), [](scf::IfOp branch) {
          return branch.getNumResults() > 0 && onlyComputes(branch);
        })) {
      return;
    }
    moveLoopInvariantCode(
        &loop.getRegion(),
        [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [](Operation *op, Region *) { return onlyComputes(op); },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
}

LogicalResult hlo::lowerToLLVM(ModuleOp module) {
  moveInvariantBranches(module);
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  addVectorLoweringPatterns(patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns, /*reassociateFPReductions=*/false,
                                         /*force32BitVectorIndices=*/true);

  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addIllegalDialect<scf::SCFDialect, cf::ControlFlowDialect, arith::ArithDialect,
                           math::MathDialect, vector::VectorDialect, ub::UBDialect>();
  ConversionConfig config;
  // Replaced source ops are not needed any more, and a failed conversion is not rolled back.
  config.allowPatternRollback = false;
  return applyFullConversion(module, target, std::move(patterns), config);
}

//===- Flops.cpp - Arithmetic operations of a kernel ----------------------===//
//
// In: a fusion. Out: a number for the table of operations that an object describes itself with.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Flops.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;

static uint64_t times(uint64_t a, uint64_t b) { return llvm::SaturatingMultiply(a, b); }

/// Elements of an array; 0 for values that are not arrays.
static uint64_t countOf(Value value) {
  RankedTensorType type = arrayType(value);
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

/// A complex product and sum are four of each.
static uint64_t realFactor(Value value) {
  RankedTensorType type = arrayType(value);
  return type && isa<ComplexType>(type.getElementType()) ? 4 : 1;
}

static uint64_t product(ArrayRef<int64_t> sizes) {
  uint64_t result = 1;
  for (int64_t size : sizes) {
    result = times(result, std::max<int64_t>(size, 0));
  }
  return result;
}

static uint64_t flopsOfDot(DotOp dot) {
  uint64_t depth = 1;
  for (int64_t dim : dot.getLhsContractingDims().value_or(ArrayRef<int64_t>())) {
    depth = times(depth, shapeOf(dot.getLhs())[dim]);
  }
  return times(times(countOf(dot->getResult(0)), depth), 2 * realFactor(dot->getResult(0)));
}

static uint64_t flopsOfConvolution(ConvolutionOp conv) {
  // Each result element sums over the kernel elements of one output feature.
  uint64_t features = shapeOf(conv.getRhs())[conv.getDimLabels().getKernelOutputFeature()];
  uint64_t taps = countOf(conv.getRhs()) / std::max<uint64_t>(features, 1);
  return times(times(countOf(conv->getResult(0)), taps), 2 * realFactor(conv->getResult(0)));
}

static uint64_t flopsOfFft(FftOp fft) {
  uint64_t length = product(fft.getFftLength());
  uint64_t elements = std::max(countOf(fft.getOperand()), countOf(fft->getResult(0)));
  return times(elements, 5 * llvm::Log2_64_Ceil(std::max<uint64_t>(length, 1)));
}

static uint64_t flopsOfOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, uint64_t>(op)
      .Case([](DotOp dot) { return flopsOfDot(dot); })
      .Case([](ConvolutionOp conv) { return flopsOfConvolution(conv); })
      .Case([](FftOp fft) { return flopsOfFft(fft); })
      .Case([](CholeskyOp cholesky) {
        return times(countOf(cholesky.getOperand()), shapeOf(cholesky.getOperand()).back()) / 3;
      })
      .Case([](TriangularSolveOp solve) {
        return times(countOf(solve.getB()), shapeOf(solve.getA()).back());
      })
      .Case<ReduceOp, ReduceWindowOp>([](Operation *reduce) {
        return std::max(countOf(reduce->getOperand(0)), countOf(reduce->getResult(0)));
      })
      .Default([](Operation *other) {
        bool counts = other->getNumResults() == 1 && isElementwiseOp(other) &&
                      !isa<ConvertOp, CopyOp, SelectOp>(other);
        return counts ? countOf(other->getResult(0)) : 0;
      });
}

Operation *hlo::mainOpOf(FusionOp fusion) {
  Operation *most = nullptr;
  for (Operation &op : fusion.getBody().front()) {
    if (isa<DotOp, ConvolutionOp, FftOp, CholeskyOp, TriangularSolveOp>(op) &&
        (!most || flopsOfOp(&op) > flopsOfOp(most))) {
      most = &op;
    }
  }
  return most ? most : fusion.getOperation();
}

uint64_t hlo::flopsOf(FusionOp fusion) {
  uint64_t flops = 0;
  // Computations that an op applies (reducers, comparators) are counted with that op, not here.
  for (Operation &op : fusion.getBody().front()) {
    flops = llvm::SaturatingAdd(flops, flopsOfOp(&op));
  }
  return flops;
}

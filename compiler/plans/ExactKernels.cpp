//===- ExactKernels.cpp - Kernels whose bits no machine changes -----------===//
#include "compiler/plans/ExactKernels.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/machine/Costs.h"
#include "dialect/hlo/ops/KernelOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hlo {

/// A level's own code must be this much faster than that of an earlier level: closer than this the
/// model does not know (NOTES.md, "The model of time").
static constexpr double kLeastGain = 0.05;

static bool hasIntegers(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped && isa<IntegerType>(shaped.getElementType());
}

static bool isExactOp(Operation *op) {
  const OpProperties &properties = propertiesOf(op);
  if (op->hasTrait<mlir::OpTrait::IsTerminator>()) {
    return true;
  }
  if (op->getNumRegions() > 0 ||
      (properties.role != Role::Free && properties.role != Role::Compute)) {
    return false;
  }
  if ((properties.flags & OpFlag::HandsOn) || isa<IotaOp, CompareOp, BitcastConvertOp>(op)) {
    return true;
  }
  return (properties.flags & OpFlag::Elementwise) &&
         llvm::all_of(op->getOperandTypes(), hasIntegers) &&
         llvm::all_of(op->getResultTypes(), hasIntegers);
}

bool isExact(FusionOp fusion) {
  return llvm::all_of(fusion.getBody().front(), [](Operation &op) { return isExactOp(&op); });
}

static double totalBytes(ValueRange values) {
  double bytes = 0;
  for (Value value : values) {
    bytes += static_cast<double>(bytesOf(value));
  }
  return bytes;
}

/// Modelled cycles of one call of an exact kernel on one core of `machine` if all data is in L1.
static double cyclesOfExact(FusionOp fusion, const Machine &machine) {
  // One trip: the whole kernel, in whole vectors.
  LoopBody body;
  auto vectors = [&](double bytes) { return std::ceil(bytes / machine.vectors.bytes); };
  double read = totalBytes(fusion->getOperands()), written = totalBytes(fusion->getResults());
  body.loads = vectors(read);
  body.stores = vectors(written);
  for (Operation &op : fusion.getBody().front()) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>() || isa<ConstantOp>(op)) {
      continue;
    }
    Value result = op.getResult(0);
    double lanes = machine.lanes(static_cast<int>(elementBytes(elementTypeOf(result))));
    double each = std::ceil(static_cast<double>(elementsOf(result)) / lanes);
    body.others += propertiesOf(&op).cost * each;
    if (hasFlag(&op, OpFlag::Displaces) || isa<TransposeOp>(op)) {
      body.shuffles += each * std::log2(std::max(2.0, lanes));
    }
  }
  // Not the bandwidth of caches and memory: narrower vectors reach less of it (NOTES.md, "Code of
  // another CPU level"), which the model does not know.
  return cyclesOfLoop(machine, body);
}

bool gainsNothing(FusionOp exact, const Machine &earlier, const Machine &machine) {
  Machine narrow = machine;
  narrow.vectors = earlier.vectors;
  return cyclesOfExact(exact, machine) > (1 - kLeastGain) * cyclesOfExact(exact, narrow);
}

} // namespace hlo

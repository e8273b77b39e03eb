//===- OpKinds.cpp - Classes of ops ---------------------------------------===//
//
// By opcode, except that a bitcast-convert is element-wise only between types
// of one width.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;

bool hlo::isExpensiveElementwise(Operation *op) {
  return isa<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanhOp, Atan2Op, CbrtOp, CosineOp, CoshOp, ErfOp,
             ExponentialOp, ExponentialMinusOneOp, LogOp, LogPlusOneOp, LogisticOp, PowerOp, SineOp,
             SinhOp, TanOp, TanhOp>(op);
}

bool hlo::isRuntimeOp(Operation *op) {
  return isa<CustomCallOp, InfeedOp, OutfeedOp, SendOp, SendDoneOp, RecvOp, RecvDoneOp>(op) ||
         isCollectiveOp(op);
}

bool hlo::isCollectiveOp(Operation *op) {
  return isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, RaggedAllToAllOp,
             CollectiveBroadcastOp, CollectivePermuteOp, ReplicaIdOp, PartitionIdOp>(op);
}

bool hlo::isElementwiseOp(Operation *op) {
  if (isa<BitcastConvertOp>(op)) {
    return shapeOf(op->getOperand(0)) == shapeOf(op->getResult(0));
  }
  return isExpensiveElementwise(op) ||
         isa<AbsOp, CeilOp, CountLeadingZerosOp, FloorOp, ImagOp, IsFiniteOp, NegateOp, NotOp,
             PopcntOp, RealOp, RoundNearestAfzOp, RoundNearestEvenOp, RsqrtOp, SignOp, SqrtOp,
             AddOp, AndOp, ComplexOp, DivideOp, MaximumOp, MinimumOp, MulhiOp, MultiplyOp, OrOp,
             RemainderOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, SubtractOp,
             XorOp, StochasticConvertOp, CompareOp, SelectOp, ClampOp, ConvertOp,
             ReducePrecisionOp>(op);
}

//===- ScaledDotExpander.cpp - scaled-dot as a dot of scaled operands -----===//
//
//   scaled-dot(x, y, sx, sy)  ->  dot(x * spread(sx), y * spread(sy))
//
// A scale has the rank of its operand; each of its elements applies to a block of d / s elements
// along each dimension. Products are computed in f32, in which products of the op's 4- to 8-bit
// types are exact, or in f64 if an operand is f64.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class ScaledDotExpanderPass : public OpExpanderPass<ScaledDotExpanderPass, ScaledDotOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScaledDotExpanderPass)
  StringRef getArgument() const final { return "hlo-scaled-dot-expander"; }
  StringRef getDescription() const final { return "Expand scaled-dot to a dot of scaled operands"; }

  FailureOr<Values> expand(ScaledDotOp op, HloBuilder &b, ScalarComputations &) {
    bool isDouble = llvm::any_of(op->getOperands(),
                                 [](Value operand) { return elementTypeOf(operand).isF64(); });
    Type wide = isDouble ? Type(b.b.getF64Type()) : Type(b.b.getF32Type());
    FailureOr<Value> lhs = scaled(op, b, op.getLhs(), op.getLhsScale(), wide);
    FailureOr<Value> rhs = scaled(op, b, op.getRhs(), op.getRhsScale(), wide);
    if (failed(lhs) || failed(rhs)) {
      return failure();
    }
    auto result = cast<RankedTensorType>(op.getResult().getType());
    Value dot = DotOp::create(b.b, b.loc, HloBuilder::array(result.getShape(), wide), *lhs, *rhs,
                              op.getLhsBatchDimsAttr(), op.getRhsBatchDimsAttr(),
                              op.getLhsContractingDimsAttr(), op.getRhsContractingDimsAttr(),
                              op.getOperandPrecisionAttr(), StringAttr());
    return Values{b.convert(dot, result.getElementType())};
  }

private:
  FailureOr<Value> scaled(ScaledDotOp op, HloBuilder &b, Value operand, Value scale, Type type) {
    Value wide = b.convert(operand, type);
    Value factor = b.convert(scale, type);
    if (isScalar(scale)) {
      return b.mul(wide, b.broadcastScalar(factor, shapeOf(operand)));
    }
    if (rankOf(scale) != rankOf(operand)) {
      return op.emitError("scaled-dot: scale of rank ")
             << rankOf(scale) << " for an operand of rank " << rankOf(operand);
    }
    // [s0, s1, ...] -> [s0, d0 / s0, s1, d1 / s1, ...] -> [d0, d1, ...]
    SmallVector<int64_t> blocks, dimensions;
    for (auto [size, scales] : llvm::zip(shapeOf(operand), shapeOf(scale))) {
      if (scales == 0 ? size != 0 : size % scales != 0) {
        return op.emitError("scaled-dot: ") << scales << " scales do not divide " << size;
      }
      dimensions.push_back(blocks.size());
      blocks.append({scales, scales == 0 ? 1 : size / scales});
    }
    Value spread = b.reshape(b.broadcast(factor, blocks, dimensions), shapeOf(operand));
    return b.mul(wide, spread);
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createScaledDotExpanderPass() {
  return std::make_unique<ScaledDotExpanderPass>();
}

//===- ProductTypeExpander.cpp - Products of any result type --------------===//
//
// A dot or convolution may have any result type. Kernels multiply in the operands' type or a wider
// one; this pass adds the conversions around them:
//
//   dot(x, y): narrower class or integer, f64 -> f32   ->  convert(dot(x, y))
//   dot(x, y): integer x, floating or complex result    ->  dot(convert(x), y)
//
// Runs after the expanders of other products (ragged-dot, scaled-dot).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class ProductTypeExpanderPass
    : public PassWrapper<ProductTypeExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProductTypeExpanderPass)
  StringRef getArgument() const final { return "hlo-product-type-expander"; }
  StringRef getDescription() const final {
    return "Give dots and convolutions result types that hold their products";
  }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<DotOp, ConvolutionOp>()) {
      return markAllAnalysesPreserved();
    }
    getOperation().walk([](Operation *op) {
      if (isa<DotOp, ConvolutionOp>(op)) {
        convertOperands(op);
        convertResult(op);
      }
    });
  }

private:
  /// Converts integer operands of a product with a floating or complex result.
  static void convertOperands(Operation *op) {
    Type asked = elementTypeOf(op->getResult(0));
    if (elementClass(asked) < 2) {
      return;
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op->getLoc());
    for (OpOperand &operand : op->getOpOperands()) {
      Type type = elementTypeOf(operand.get());
      if (elementClass(type) == 1) {
        operand.set(b.convert(operand.get(), isComplex(asked) ? componentType(asked) : asked));
      }
    }
  }

  /// If the result type cannot hold the products, computes in one that can and converts.
  static void convertResult(Operation *op) {
    Type asked = elementTypeOf(op->getResult(0));
    Type natural = productType(elementTypeOf(op->getOperand(0)), elementTypeOf(op->getOperand(1)));
    int classes = elementClass(asked) - elementClass(natural);
    bool narrower = elementBits(asked) < elementBits(natural);
    // Kernels themselves round f32 products to floats of up to 32 bits, once.
    bool rounded = isFloat(natural) && elementBits(natural) <= 32;
    if (classes > 0 || (classes == 0 && (!narrower || rounded))) {
      return;
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    HloBuilder b(builder, op->getLoc());
    Value result = op->getResult(0);
    result.setType(HloBuilder::array(result, natural));
    Value converted = b.convert(result, asked);
    result.replaceAllUsesExcept(converted, converted.getDefiningOp());
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createProductTypeExpanderPass() {
  return std::make_unique<ProductTypeExpanderPass>();
}

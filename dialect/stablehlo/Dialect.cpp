//===- Dialect.cpp - Registration of stablehlo ----------------------------===//
//
// Ops are registered by family (ops/), so that each generated file is compiled separately.
//
//===----------------------------------------------------------------------===//
#include "dialect/stablehlo/Dialect.h"
#include "dialect/stablehlo/Register.h"
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/ops/Families.h"
#include "dialect/stablehlo/sdy/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

#include "dialect/stablehlo/Dialect.cpp.inc"

void stablehlo::StablehloDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerUnaryOps(*this);
  registerBinaryOps(*this);
  registerShapeOps(*this);
  registerLinalgOps(*this);
  registerReduceOps(*this);
  registerControlOps(*this);
  registerCommunicationOps(*this);
}

void stablehlo::registerStablehloDialects(DialectRegistry &registry) {
  registry.insert<StablehloDialect, chlo::ChloDialect, sdy::SdyDialect, func::FuncDialect,
                  quant::QuantDialect>();
}

//===- HeroKernel.cpp - A kernel of one op alone --------------------------===//
#include "compiler/codegen/HeroKernel.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace hlo::codegen {

OwningOpRef<FusionOp> heroKernel(Operation *hero, Strategy strategy) {
  OperationState state(hero->getLoc(), FusionOp::getOperationName());
  state.addOperands(hero->getOperands());
  state.addTypes(hero->getResultTypes());
  state.addRegion();
  OwningOpRef<FusionOp> fusion(cast<FusionOp>(Operation::create(state)));
  fusion->setStrategy(stringifyStrategy(strategy));
  Block &body = fusion->getBody().emplaceBlock();
  IRMapping mapping;
  for (Value value : hero->getOperands()) {
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  }
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Operation *copy = inside.clone(*hero, mapping);
  ReturnOp::create(inside, hero->getLoc(), copy->getResults());
  return fusion;
}

} // namespace hlo::codegen

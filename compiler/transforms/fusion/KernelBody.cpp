//===- KernelBody.cpp - Ops copied into a kernel --------------------------===//
#include "compiler/transforms/fusion/KernelBody.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/QuantizedActivations.h"

using namespace mlir;

Operation *hlo::fusion::copyIntoKernel(OpBuilder &inside, Operation *member, IRMapping &mapping) {
  Operation *copy = inside.clone(*member, mapping);
  for (NamedAttribute attribute : llvm::to_vector(copy->getDiscardableAttrs())) {
    StringRef name = attribute.getName().strref();
    if (name.starts_with("hlo.") && name != kPanels && name != kQuantizeActivations) {
      copy->removeAttr(attribute.getName());
    }
  }
  return copy;
}

//===- Dialect.cpp - The cpurt dialect: registration and verifiers --------===//
//
// The verifiers check the assumptions of the translation to LLVM: a kernel is one fusion, a launch
// names one buffer per operand and result, regions end in the right terminator.
//
//===----------------------------------------------------------------------===//
#include "dialect/cpurt/Dialect.h"
#include "dialect/hlo/verify/SymbolCache.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace hlo;

#include "dialect/cpurt/Dialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/cpurt/Ops.cpp.inc"

void cpurt::CpurtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/cpurt/Ops.cpp.inc"
      >();
}

/// True if the region's block ends in the op `Terminator`.
template <typename Terminator> static bool endsIn(Region &region) {
  Block &block = region.front();
  return !block.empty() && isa<Terminator>(block.back());
}

LogicalResult cpurt::EntryOp::verify() {
  if (!endsIn<ReturnOp>(getBody())) {
    return emitOpError("body must end in cpurt.return");
  }
  int64_t bytes = getArenaBytesAttr().getInt();
  if (bytes < 0) {
    return emitOpError("arena_bytes is negative: ") << bytes;
  }
  return success();
}

/// Verifies the pairs of a fusion: result, operand, result, operand, ...
static LogicalResult verifyPairs(FusionOp fusion, StringRef name) {
  auto pairs = fusion->getAttrOfType<DenseI64ArrayAttr>(name);
  if (!pairs) {
    return fusion->hasAttr(name) ? fusion.emitOpError() << name << " is no list of numbers"
                                 : success();
  }
  bool fits = pairs.size() % 2 == 0;
  for (int64_t i = 0; fits && i < pairs.size(); i += 2) {
    fits = pairs[i] >= 0 && pairs[i] < fusion->getNumResults() && pairs[i + 1] >= 0 &&
           pairs[i + 1] < fusion->getNumOperands();
  }
  return fits ? success()
              : fusion.emitOpError()
                    << name << " must pair results with operands; there are "
                    << fusion->getNumResults() << " and " << fusion->getNumOperands();
}

LogicalResult cpurt::KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getOperations().size() != 2 || !isa<FusionOp>(block.front()) ||
      !isa<YieldOp>(block.back())) {
    return emitOpError("body must be one hlo.fusion and a cpurt.yield");
  }
  FusionOp fusion = getFusion();
  if (!llvm::equal(fusion->getOperands(), block.getArguments())) {
    return emitOpError("the fusion's operands must be the block's arguments, in order");
  }
  if (!llvm::equal(fusion->getResults(), block.back().getOperands())) {
    return emitOpError("cpurt.yield must give the fusion's results, in order");
  }
  return success(succeeded(verifyPairs(fusion, "in_place")) &&
                 succeeded(verifyPairs(fusion, "may_alias")));
}

LogicalResult cpurt::ConstantOp::verifySymbolUses(SymbolTableCollection &) {
  if (!findSymbol<GlobalOp>(*this, getGlobalAttr().getAttr())) {
    return emitOpError("no cpurt.global is named ") << getGlobalAttr();
  }
  return success();
}

LogicalResult cpurt::LaunchOp::verifySymbolUses(SymbolTableCollection &) {
  auto kernel = findSymbol<KernelOp>(*this, getKernelAttr().getAttr());
  if (!kernel) {
    return emitOpError("no cpurt.kernel is named ") << getKernelAttr();
  }
  FusionOp fusion = kernel.getFusion();
  unsigned expected = fusion->getNumOperands() + fusion->getNumResults();
  if (getBuffers().size() != expected) {
    return emitOpError("kernel ") << getKernelAttr() << " takes " << expected << " buffers, got "
                                  << getBuffers().size();
  }
  return success();
}

LogicalResult cpurt::CallOp::verify() {
  unsigned expected = getOperandTypes().size() + getResultTypes().size();
  expected += getScratchBytes() ? 1 : 0;
  if (getBuffers().size() != expected) {
    return emitOpError("takes ") << expected << " buffers, got " << getBuffers().size();
  }
  return success();
}

LogicalResult cpurt::CallOp::verifySymbolUses(SymbolTableCollection &) {
  for (Attribute kernel : getKernelsAttr() ? getKernelsAttr().getValue() : ArrayRef<Attribute>()) {
    auto name = dyn_cast<FlatSymbolRefAttr>(kernel);
    if (!name || !findSymbol<KernelOp>(*this, name.getAttr())) {
      return emitOpError("no cpurt.kernel is named ") << kernel;
    }
  }
  return success();
}

LogicalResult cpurt::WhileOp::verify() {
  if (getTripCount() && !getCondition().empty()) {
    return emitOpError("has a trip_count and a condition");
  }
  if (!getTripCount() && (getCondition().empty() || !endsIn<ConditionOp>(getCondition()))) {
    return emitOpError("condition must end in cpurt.condition");
  }
  if (!endsIn<YieldOp>(getBody())) {
    return emitOpError("body must end in cpurt.yield");
  }
  return success();
}

LogicalResult cpurt::CaseOp::verify() {
  if (getBranches().empty()) {
    return emitOpError("needs at least one branch");
  }
  if (getPredicated() && getBranches().size() != 2) {
    return emitOpError("a predicated case has 2 branches, got ") << getBranches().size();
  }
  for (Region &branch : getBranches()) {
    if (!endsIn<YieldOp>(branch)) {
      return emitOpError("every branch must end in cpurt.yield");
    }
  }
  return success();
}

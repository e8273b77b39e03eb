//===- EntryPacking.cpp - Types smaller than a byte, packed at the entry --===//
//
// Inside a program every element has a byte or more. The caller's buffers hold elements
// of 1, 2 and 4 bits packed, the first one in the lowest bits, as XLA:CPU's do:
//
//   entry parameter s4[...]   a parameter u8[bytes], bitcast-convert, slice, reshape
//   entry result s4[...]      reshape, pad, bitcast-convert, returned as u8[bytes]
//
// pred has a byte, and 6 bits do not divide one, so those types stay. Runs after layouts
// are gone, so that the elements are in the order of their bytes.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/EntryLayout.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/layout/Layout.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

namespace {
class EntryPackingPass : public PassWrapper<EntryPackingPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EntryPackingPass)
  StringRef getArgument() const final { return "hlo-entry-packing"; }
  StringRef getDescription() const final { return "Pack types smaller than a byte at the entry"; }

  void runOnOperation() final {
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      if (computation.getEntry()) {
        pack(computation);
      }
    }
  }

private:
  static bool isPackedArray(Value value) {
    RankedTensorType type = arrayType(value);
    return type && type.hasStaticShape() && isPacked(type.getElementType());
  }
  static void pack(ComputationOp entry);
};
} // namespace

void EntryPackingPass::pack(ComputationOp entry) {
  Block &body = entry.getBody().front();
  Operation *root = body.getTerminator();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Type byte = builder.getIntegerType(8, /*isSigned=*/false);
  bool changed = false;
  for (BlockArgument argument : body.getArguments()) {
    if (!isPackedArray(argument)) {
      continue;
    }
    changed = true;
    HloBuilder b(builder, argument.getLoc());
    RankedTensorType type = arrayType(argument);
    int64_t count = type.getNumElements(), bytes = entryBytes(type);
    int64_t perByte = 8 / elementBits(type.getElementType());
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(argument.getUses(), [](OpOperand &use) { return &use; });
    argument.setType(HloBuilder::array({bytes}, byte));
    Value elements =
        b.bitcastConvert(argument, HloBuilder::array({bytes, perByte}, type.getElementType()));
    elements = b.sliceDim(b.reshape(elements, {bytes * perByte}), 0, 0, count);
    elements = b.reshape(elements, type.getShape());
    for (OpOperand *use : uses) {
      use->set(elements);
    }
  }
  builder.setInsertionPoint(root);
  for (OpOperand &operand : root->getOpOperands()) {
    if (!isPackedArray(operand.get())) {
      continue;
    }
    changed = true;
    HloBuilder b(builder, operand.get().getLoc());
    RankedTensorType type = arrayType(operand.get());
    int64_t count = type.getNumElements(), bytes = entryBytes(type);
    int64_t perByte = 8 / elementBits(type.getElementType());
    Value elements = b.reshape(operand.get(), {count});
    if (count != bytes * perByte) {
      elements = b.pad(elements, b.scalar(type.getElementType(), 0), {0},
                       {bytes * perByte - count}, {0});
    }
    elements = b.reshape(elements, {bytes, perByte});
    operand.set(b.bitcastConvert(elements, HloBuilder::array({bytes}, byte)));
  }
  if (changed) {
    entry.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), root->getOperandTypes()));
  }
}

std::unique_ptr<Pass> hlo::createEntryPackingPass() { return std::make_unique<EntryPackingPass>(); }

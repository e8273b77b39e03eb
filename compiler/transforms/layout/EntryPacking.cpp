//===- EntryPacking.cpp - Types smaller than a byte, packed at the entry --===//
//
// Inside a program every element takes at least a byte. The caller's buffers hold elements of 1, 2
// and 4 bits packed, the first one in the lowest bits, as in XLA:CPU:
//
//   entry parameter s4[...]   a parameter u8[bytes], bitcast-convert, slice, reshape
//   entry result s4[...]      reshape, pad, bitcast-convert, returned as u8[bytes]
//   custom call, feeds        the same for their results and operands; `operand_leaves` and
//                             `result_leaves` keep the types
//
// pred takes a byte, and 6-bit types do not divide a byte, so those are not packed. Runs after
// layouts are removed, so elements are in the order of their bytes.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/EntryLayout.h"
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
    bool callsRuntime =
        getAnalysis<OpsPresent>().has<CustomCallOp, InfeedOp, OutfeedOp, SendOp, RecvOp>();
    if (!callsRuntime && llvm::none_of(getOperation().getOps<ComputationOp>(), hasPackedEntry)) {
      return markAllAnalysesPreserved();
    }
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        if (isa<CustomCallOp, InfeedOp, OutfeedOp, SendOp, RecvOp>(op)) {
          packRuntimeOp(&op);
        }
      }
      if (computation.getEntry()) {
        packEntry(computation);
      }
    }
  }

private:
  static bool isPackedArray(Value value);
  /// Whether the computation is the entry, and takes or returns an array that is packed.
  static bool hasPackedEntry(ComputationOp computation);
  static Type byteType(HloBuilder &b) { return b.b.getIntegerType(8, /*isSigned=*/false); }
  /// The packed bytes of an array.
  static Value packed(HloBuilder &b, Value value);
  /// Changes `value` to packed bytes, and gives its users the unpacked elements.
  static void unpack(HloBuilder &b, Value value);
  static void packOperands(Operation *op);
  static void packRuntimeOp(Operation *op);
  static void packEntry(ComputationOp entry);
};
} // namespace

bool EntryPackingPass::isPackedArray(Value value) {
  RankedTensorType type = arrayType(value);
  return type && type.hasStaticShape() && isPacked(type.getElementType());
}

bool EntryPackingPass::hasPackedEntry(ComputationOp computation) {
  return computation.getEntry() &&
         (llvm::any_of(computation.getBody().getArguments(), isPackedArray) ||
          llvm::any_of(computation.getReturn()->getOperands(), isPackedArray));
}

Value EntryPackingPass::packed(HloBuilder &b, Value value) {
  RankedTensorType type = arrayType(value);
  int64_t count = type.getNumElements(), bytes = entryBytes(type);
  int64_t perByte = 8 / elementBits(type.getElementType());
  Value elements = b.reshape(value, {count});
  if (count != bytes * perByte) {
    elements =
        b.pad(elements, b.scalar(type.getElementType(), 0), {0}, {bytes * perByte - count}, {0});
  }
  elements = b.reshape(elements, {bytes, perByte});
  return b.bitcastConvert(elements, HloBuilder::array({bytes}, byteType(b)));
}

void EntryPackingPass::unpack(HloBuilder &b, Value value) {
  RankedTensorType type = arrayType(value);
  int64_t count = type.getNumElements(), bytes = entryBytes(type);
  int64_t perByte = 8 / elementBits(type.getElementType());
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
  value.setType(HloBuilder::array({bytes}, byteType(b)));
  Value elements =
      b.bitcastConvert(value, HloBuilder::array({bytes, perByte}, type.getElementType()));
  elements = b.sliceDim(b.reshape(elements, {bytes * perByte}), 0, 0, count);
  elements = b.reshape(elements, type.getShape());
  for (OpOperand *use : uses) {
    use->set(elements);
  }
}

void EntryPackingPass::packOperands(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (isPackedArray(operand.get())) {
      OpBuilder builder(op);
      HloBuilder b(builder, operand.get().getLoc());
      operand.set(packed(b, operand.get()));
    }
  }
}

void EntryPackingPass::packRuntimeOp(Operation *op) {
  packOperands(op);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (isPackedArray(result)) {
      HloBuilder b(builder, op->getLoc());
      unpack(b, result);
    }
  }
}

void EntryPackingPass::packEntry(ComputationOp entry) {
  Block &body = entry.getBody().front();
  Operation *root = body.getTerminator();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    if (isPackedArray(argument)) {
      HloBuilder b(builder, argument.getLoc());
      unpack(b, argument);
    }
  }
  packOperands(root);
  updateFunctionType(entry);
}

std::unique_ptr<Pass> hlo::createEntryPackingPass() { return std::make_unique<EntryPackingPass>(); }

//===- LayoutNormalization.cpp - Dense row-major arrays only --------------===//
//
// Before: array types may have a layout (order of dimensions in memory). After: none has. HLO's ops
// refer to logical dimensions, so inside the program a layout is a hint: it is dropped, and a copy
// that only changes it vanishes. Where bytes are visible the order becomes explicit, with M the
// dimensions from slowest to fastest:
//
//   entry parameter        a parameter of the physical shape, then transpose
//   entry result           transpose by M, returned in the physical shape
//   bitcast                transpose by M of the operand, reshape, inverse
//                          transpose by M of the result
//   custom call, feeds     as at the entry; `operand_types` and `result_types`
//                          keep the types as written, `operand_leaves` and
//                          `result_leaves` the logical type of each array with
//                          the layout of its bytes
//
// Assumes flat tuples, and the entry's layout recorded (analysis/EntryLayout.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/transforms/layout/Layout.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;

namespace {

class LayoutNormalizationPass
    : public PassWrapper<LayoutNormalizationPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayoutNormalizationPass)
  StringRef getArgument() const final { return "hlo-layout-normalization"; }
  StringRef getDescription() const final { return "Make every array dense and row-major"; }

  void runOnOperation() final {
    FailureOr<EntryLayout> layout = EntryLayout::get(getOperation());
    if (failed(layout)) {
      return signalPassFailure();
    }
    bool ok = true;
    for (auto computation : getOperation().getOps<ComputationOp>()) {
      for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
        ok &= succeeded(normalizeBytes(&op));
      }
      if (computation.getEntry()) {
        ok &= succeeded(normalizeEntry(computation, *layout));
      }
      stripTypes(computation);
    }
    if (!ok) {
      signalPassFailure();
    }
  }

private:
  LogicalResult normalizeBytes(Operation *op);
  LogicalResult normalizeBitcast(BitcastOp op);
  void normalizeCall(Operation *op);
  LogicalResult normalizeEntry(ComputationOp entry, const EntryLayout &layout);
  void stripTypes(ComputationOp computation);
};

/// The inverse of the permutation `order`.
SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result(order.size());
  for (auto [i, dim] : llvm::enumerate(order)) {
    result[dim] = i;
  }
  return result;
}

/// The row-major array whose bytes are those of `value` in the layout of `type`.
Value toPhysical(HloBuilder &b, Value value, RankedTensorType type) {
  return b.transpose(value, majorToMinor(type));
}

/// The inverse of toPhysical.
Value toLogical(HloBuilder &b, Value value, RankedTensorType type) {
  return b.transpose(value, inverse(majorToMinor(type)));
}

/// The elements of `value`, row-major, bit-converted to type `to`: an array of rank one.
Value convertBits(HloBuilder &b, Value value, Type to) {
  int64_t count = elementsOf(value);
  if (auto complex = dyn_cast<ComplexType>(elementTypeOf(value))) {
    Value parts[2];
    for (auto [i, part] : llvm::enumerate(parts)) {
      RankedTensorType type = HloBuilder::array(value, complex.getElementType());
      part = i ? Value(ImagOp::create(b.b, b.loc, type, value, StringAttr()))
               : Value(RealOp::create(b.b, b.loc, type, value, StringAttr()));
      part = b.reshape(part, {count, 1});
    }
    return convertBits(b, b.concatenate(parts, 1), to);
  }
  if (auto complex = dyn_cast<ComplexType>(to)) {
    Value parts = convertBits(b, value, complex.getElementType());
    int64_t half = elementsOf(parts) / 2;
    parts = b.reshape(parts, {half, 2});
    Value real = b.reshape(b.sliceDim(parts, 1, 0, 1), {half});
    Value imaginary = b.reshape(b.sliceDim(parts, 1, 1, 2), {half});
    return ComplexOp::create(b.b, b.loc, HloBuilder::array({half}, to), real, imaginary);
  }
  int64_t fromBits = elementBits(elementTypeOf(value)), toBits = elementBits(to);
  SmallVector<int64_t> shape{count};
  value = b.reshape(value, shape);
  if (fromBits < toBits) {
    shape = {count * fromBits / toBits};
    value = b.reshape(value, {shape[0], toBits / fromBits});
  } else if (fromBits > toBits) {
    shape.push_back(fromBits / toBits);
  }
  value = b.bitcastConvert(value, HloBuilder::array(shape, to));
  return b.reshape(value, {elementsOf(value)});
}

} // namespace

LogicalResult LayoutNormalizationPass::normalizeBytes(Operation *op) {
  if (auto bitcast = dyn_cast<BitcastOp>(op)) {
    return normalizeBitcast(bitcast);
  }
  if (isa<CustomCallOp, InfeedOp, OutfeedOp, SendOp, RecvOp>(op)) {
    normalizeCall(op);
  }
  return success();
}

LogicalResult LayoutNormalizationPass::normalizeBitcast(BitcastOp op) {
  RankedTensorType from = arrayType(op.getOperand());
  RankedTensorType to = arrayType(op.getResult());
  OpBuilder builder(op);
  HloBuilder b(builder, op.getLoc());
  Value value = toPhysical(b, op.getOperand(), from);
  RankedTensorType physical = physicalType(to);
  if (from.getElementType() != to.getElementType()) {
    if (from.getNumElements() * elementBits(from.getElementType()) !=
        to.getNumElements() * elementBits(to.getElementType())) {
      return op.emitError("bitcast from ") << hloText(from) << " to " << hloText(to)
                                           << ": the arrays have different sizes in bytes";
    }
    value = convertBits(b, value, to.getElementType());
  }
  value = b.reshape(value, physical.getShape());
  op.getResult().replaceAllUsesWith(toLogical(b, value, to));
  op.erase();
  return success();
}

/// Gives operands and results of runtime ops their physical shapes. Once: phase partition
/// normalizes layouts too.
void LayoutNormalizationPass::normalizeCall(Operation *op) {
  if (op->hasAttr("operand_leaves")) {
    return;
  }
  OpBuilder builder(op);
  HloBuilder b(builder, op->getLoc());
  SmallVector<Type> seen(op->getOperandTypes());
  ArrayAttr constraints;
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    constraints = call.getOperandLayoutConstraintsAttr();
  } else if (auto outfeed = dyn_cast<OutfeedOp>(op)) {
    if (TypeAttr shape = outfeed.getOutfeedShapeAttr()) {
      constraints = builder.getArrayAttr(shape);
    }
  }
  if (constraints) {
    SmallVector<Type> leaves;
    SmallVector<Type> stack;
    for (Attribute type : llvm::reverse(constraints)) {
      stack.push_back(cast<TypeAttr>(type).getValue());
    }
    while (!stack.empty()) {
      Type type = stack.pop_back_val();
      if (auto tuple = dyn_cast<TupleType>(type)) {
        llvm::append_range(stack, llvm::reverse(tuple.getTypes()));
      } else if (!isa<TokenType>(type)) {
        leaves.push_back(type);
      }
    }
    if (leaves.size() == seen.size()) {
      seen = leaves;
    }
  } else if (isa<CustomCallOp, OutfeedOp, SendOp>(op)) {
    for (Type &type : seen) {
      type = arrayType(type) ? withoutLayout(arrayType(type)) : type;
    }
  }
  auto types = [&](TypeRange range) {
    return builder.getArrayAttr(
        llvm::map_to_vector(range, [](Type type) -> Attribute { return TypeAttr::get(type); }));
  };
  if (!op->hasAttr("operand_types")) {
    op->setAttr("operand_types", types(seen));
  }
  if (!op->hasAttr("result_types")) {
    op->setAttr("result_types", types(op->getResultTypes()));
  }
  op->setAttr("operand_leaves", types(seen));
  // These attributes describe the operands' former shapes.
  op->removeAttr("outfeed_shape");
  op->removeAttr("operand_layout_constraints");
  op->setAttr("result_leaves", types(op->getResultTypes()));
  for (auto [operand, type] : llvm::zip(op->getOpOperands(), seen)) {
    if (RankedTensorType array = arrayType(type)) {
      operand.set(toPhysical(b, operand.get(), array));
    }
  }
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    RankedTensorType array = arrayType(result);
    if (!array || !layoutOf(array)) {
      continue;
    }
    result.setType(physicalType(array));
    Value logical = toLogical(b, result, array);
    if (logical != result) {
      result.replaceAllUsesExcept(logical, logical.getDefiningOp());
    }
  }
}

LogicalResult LayoutNormalizationPass::normalizeEntry(ComputationOp entry,
                                                      const EntryLayout &layout) {
  Block &body = entry.getBody().front();
  Operation *root = body.getTerminator();
  if (layout.inputs.size() != body.getNumArguments() ||
      layout.outputs.size() != root->getNumOperands()) {
    return entry.emitError("entry has ")
           << body.getNumArguments() << " parameters and " << root->getNumOperands()
           << " results, its layout " << layout.inputs.size() << " and " << layout.outputs.size();
  }
  // Tiles describe the memory of other machines. Buffers here are dense, as in XLA:CPU.
  auto check = [&](const EntryLeaf &leaf, Location loc) {
    LayoutAttr attr = layoutOf(leaf.type);
    if (attr && StringRef(attr.getProperties()).contains("T(")) {
      emitWarning(loc) << "the tiles of " << hloText(leaf.type)
                       << " are left out: buffers at the entry are dense";
    }
  };
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (auto [argument, leaf] : llvm::zip(body.getArguments(), layout.inputs)) {
    check(leaf, argument.getLoc());
    HloBuilder b(builder, argument.getLoc());
    argument.setType(physicalType(leaf.type));
    Value logical = toLogical(b, argument, leaf.type);
    if (logical != argument) {
      argument.replaceAllUsesExcept(logical, logical.getDefiningOp());
    }
  }
  builder.setInsertionPoint(root);
  for (auto [operand, leaf] : llvm::zip(root->getOpOperands(), layout.outputs)) {
    check(leaf, root->getLoc());
    HloBuilder b(builder, operand.get().getLoc());
    operand.set(toPhysical(b, operand.get(), leaf.type));
  }
  return success();
}

void LayoutNormalizationPass::stripTypes(ComputationOp computation) {
  Block &body = computation.getBody().front();
  auto strip = [](Value value) {
    if (RankedTensorType type = arrayType(value); type && type.getEncoding()) {
      value.setType(withoutLayout(type));
    }
  };
  llvm::for_each(body.getArguments(), strip);
  for (Operation &op : llvm::make_early_inc_range(body)) {
    llvm::for_each(op.getResults(), strip);
    if (auto copy = dyn_cast<CopyOp>(op)) {
      copy.getResult().replaceAllUsesWith(copy.getOperand());
      copy.erase();
    }
  }
  updateFunctionType(computation);
}

std::unique_ptr<Pass> hlo::createLayoutNormalizationPass() {
  return std::make_unique<LayoutNormalizationPass>();
}

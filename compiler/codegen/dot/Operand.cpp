//===- Operand.cpp - Reading an operand of a contraction ------------------===//
//
// In: a value of a fusion's region. Out: its elements, scalar or by lanes, in the
// type in which products are accumulated.
//
// Most operands are arguments of the kernel behind a transpose, a reversal or a
// convert; those become a base address and strides, so that the cores can merge
// dimensions, step pointers and read without index arithmetic. Whatever else
// stands before the hero is evaluated by an ElementEmitter at each index.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Operand.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
/// An array in memory: argument number, element offset, strides, and the types passed through.
struct View {
  unsigned argument;
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  Type storage;
  SmallVector<Type> conversions;
};
} // namespace

/// Whether every value of `from` has an equal value in `to`.
static bool isExactConvert(Type from, Type to) {
  if (from == to) {
    return true;
  }
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    return to.isF64() || (to.isF32() && !from.isF64());
  }
  if (isa<IntegerType>(from) && isa<IntegerType>(to)) {
    unsigned wide = to.getIntOrFloatBitWidth(), narrow = from.getIntOrFloatBitWidth();
    bool fromUnsigned = isUnsignedElement(from), toUnsigned = isUnsignedElement(to);
    return wide > narrow && (fromUnsigned || !toUnsigned);
  }
  return false;
}

static std::optional<View> viewOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    return View{argument.getArgNumber(), 0, rowMajorStrides(shapeOf(v)),
                elementType(v.getType()), {}};
  }
  Operation *op = v.getDefiningOp();
  if (!isa<ConvertOp, CopyOp, BitcastOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ReverseOp>(
          op)) {
    return std::nullopt;
  }
  Value source = op->getOperand(0);
  std::optional<View> view = viewOf(source);
  if (!view) {
    return std::nullopt;
  }
  Type from = elementType(source.getType()), to = elementType(v.getType());
  if (isa<ConvertOp>(op)) {
    view->conversions.push_back(to);
    return isExactConvert(from, to) ? view : std::nullopt;
  }
  if (from != to) {
    return std::nullopt;
  }
  SmallVector<int64_t> inner = view->strides;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      view->strides[i] = inner[d];
    }
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    view->strides.assign(shapeOf(v).size(), 0);
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      view->strides[d] = inner[i];
    }
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t d = 0; d < inner.size(); ++d) {
      view->offset += slice.getStartIndices()[d] * inner[d];
      view->strides[d] = inner[d] * slice.getStrides()[d];
    }
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    for (int64_t d : reverse.getDimensions()) {
      view->offset += (shapeOf(v)[d] - 1) * inner[d];
      view->strides[d] = -inner[d];
    }
  } else if (shapeOf(v) != shapeOf(source)) {
    if (inner != rowMajorStrides(shapeOf(source))) {
      return std::nullopt;
    }
    view->strides = rowMajorStrides(shapeOf(v));
  }
  return view;
}

Operand::Operand(KernelBuilder &kernel, Value value, Type as)
    : kernel(&kernel), value(value), as(as), steps(shapeOf(value).size(), 1) {
  std::optional<View> view = viewOf(value);
  dimStrides = view ? view->strides : rowMajorStrides(shapeOf(value));
  if (!view) {
    return;
  }
  Emission &e = kernel.e;
  storageType = view->storage;
  conversions = view->conversions;
  base = kernel.operandPtrs[view->argument];
  if (view->offset != 0) {
    base = addBytes(e, base, constI64(e, view->offset * storageBytes(storageType)));
  }
}

bool Operand::holdsBf16() const {
  return as.isF32() &&
         (elementType(value.getType()).isBF16() || (isStrided() && storageType.isBF16()));
}

void Operand::setStep(unsigned dim, int64_t step) {
  steps[dim] *= step;
  dimStrides[dim] *= step;
}

Elem Operand::converted(Type from, const Elem &elem) {
  Elem result = elem;
  auto convertTo = [&](Type to) {
    if (from != to) {
      result = emitConvert(kernel->e, from, to, result);
      from = to;
    }
  };
  for (Type type : conversions) {
    convertTo(type);
  }
  convertTo(as);
  return result;
}

Elem Operand::at(ArrayRef<Index> index, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  if (isStrided()) {
    Index offset(constI64(e, 0));
    for (auto [i, stride] : llvm::zip(index, dimStrides)) {
      if (stride != 0) {
        offset = addIndex(e, offset, mulIndex(e, i, stride), lanes);
      }
    }
    return atOffset(offset, lanes, mask);
  }
  SmallVector<Index> stepped;
  for (auto [i, step] : llvm::zip(index, steps)) {
    stepped.push_back(mulIndex(e, i, step));
  }
  ElementEmitter emitter(*kernel, lanes);
  return converted(elementType(value.getType()), emitter.emit(value, stepped, mask));
}

Elem Operand::atOffset(const Index &offset, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  if (!offset.lanes && (lanes <= 1 || offset.stride == 0)) {
    Value at = offset.base;
    if (mask) {
      // Where the element is not wanted, element 0 is read: it exists.
      at = e.b.createOrFold<arith::SelectOp>(e.loc, anyLane(e, mask), at, constI64(e, 0));
    }
    Elem scalar = converted(storageType, loadElements(e, storageType, base, at, 1));
    return lanes <= 1 ? scalar : splat(e, scalar, lanes);
  }
  if (!offset.lanes && offset.stride == 1) {
    return converted(storageType, loadElements(e, storageType, base, offset.base, lanes, mask));
  }
  return converted(storageType,
                   gatherElements(e, storageType, base, laneIndices(e, offset, lanes), mask));
}

Elem Operand::atPointer(Value address, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  return converted(storageType, loadElements(e, storageType, address, constI64(e, 0), lanes, mask));
}

} // namespace hlo::codegen

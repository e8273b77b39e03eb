//===- Evaluator.cpp - Ops on constants, exactly --------------------------===//
//
// An array is a list of bit patterns in row-major order. Element-wise ops go
// through EvaluatorScalar.h one element at a time; ops that move data compute
// for each result element the operand element it comes from. Integer division
// and remainder by zero, shifts by the width or more, and conversions follow
// the rules of HLO, not of C++.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/Evaluator.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/EvaluatorScalar.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace hlo;

namespace {

using Bits = SmallVector<APInt>;

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * shape[i + 1];
  }
  return strides;
}

/// Calls `visit(linear, index)` for every index of `shape` in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0)) {
    return;
  }
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t linear = 0;; ++linear) {
    visit(linear, index);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim]) {
      index[dim--] = 0;
    }
    if (dim < 0) {
      return;
    }
  }
}

/// One op under evaluation.
struct Evaluation {
  Operation *op;
  RankedTensorType type;
  SmallVector<Bits> operands;

  ArrayRef<int64_t> shape() const { return type.getShape(); }
  ArrayRef<int64_t> operandShape(unsigned i = 0) const { return shapeOf(op->getOperand(i)); }

  /// Gathers from operand 0: the result element at index i is its element number `source(i)`.
  Bits gather(function_ref<int64_t(ArrayRef<int64_t>)> source) const {
    Bits result;
    result.reserve(type.getNumElements());
    forEachIndex(shape(), [&](int64_t, ArrayRef<int64_t> index) {
      result.push_back(operands[0][source(index)]);
    });
    return result;
  }

  std::optional<Bits> elementwise() const {
    Bits result;
    int64_t count = type.getNumElements();
    result.reserve(count);
    ScalarOp scalar(op);
    SmallVector<APInt> inputs(operands.size());
    for (int64_t i = 0; i < count; ++i) {
      for (auto [input, operand] : llvm::zip(inputs, operands)) {
        input = operand[operand.size() == 1 ? 0 : i];
      }
      std::optional<APInt> element = scalar.apply(inputs);
      if (!element) {
        return std::nullopt;
      }
      result.push_back(*element);
    }
    return result;
  }

  Bits broadcast(BroadcastOp broadcast) const {
    SmallVector<int64_t> strides = stridesOf(operandShape());
    ArrayRef<int64_t> dimensions = broadcast.getDimensions();
    return gather([&](ArrayRef<int64_t> index) {
      int64_t source = 0;
      for (auto [stride, dim] : llvm::zip(strides, dimensions)) {
        source += stride * index[dim];
      }
      return source;
    });
  }

  Bits transpose(TransposeOp transpose) const {
    SmallVector<int64_t> strides = stridesOf(operandShape());
    ArrayRef<int64_t> dimensions = transpose.getDimensions();
    return gather([&](ArrayRef<int64_t> index) {
      int64_t source = 0;
      for (auto [i, dim] : llvm::enumerate(dimensions)) {
        source += strides[dim] * index[i];
      }
      return source;
    });
  }

  Bits slice(SliceOp slice) const {
    SmallVector<int64_t> strides = stridesOf(operandShape());
    ArrayRef<int64_t> starts = slice.getStartIndices(), steps = slice.getStrides();
    return gather([&](ArrayRef<int64_t> index) {
      int64_t source = 0;
      for (size_t i = 0; i < index.size(); ++i) {
        source += strides[i] * (starts[i] + index[i] * steps[i]);
      }
      return source;
    });
  }

  Bits reverse(ReverseOp reverse) const {
    SmallVector<int64_t> strides = stridesOf(operandShape());
    ArrayRef<int64_t> dimensions = reverse.getDimensions();
    return gather([&](ArrayRef<int64_t> index) {
      int64_t source = 0;
      for (auto [i, position] : llvm::enumerate(index)) {
        bool mirrored = llvm::is_contained(dimensions, static_cast<int64_t>(i));
        source += strides[i] * (mirrored ? shape()[i] - 1 - position : position);
      }
      return source;
    });
  }

  Bits pad(PadOp pad) const {
    Bits result(type.getNumElements(), operands[1][0]);
    SmallVector<int64_t> strides = stridesOf(shape());
    ArrayRef<int64_t> low = pad.getPaddingLow(), interior = pad.getPaddingInterior();
    forEachIndex(operandShape(), [&](int64_t linear, ArrayRef<int64_t> index) {
      int64_t target = 0;
      for (size_t i = 0; i < index.size(); ++i) {
        int64_t position = low[i] + index[i] * (interior[i] + 1);
        if (position < 0 || position >= shape()[i]) {
          return;
        }
        target += strides[i] * position;
      }
      result[target] = operands[0][linear];
    });
    return result;
  }

  Bits concatenate(ConcatenateOp concatenate) const {
    Bits result(type.getNumElements(), APInt());
    SmallVector<int64_t> strides = stridesOf(shape());
    int64_t dim = concatenate.getDimension(), offset = 0;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      forEachIndex(operandShape(i), [&](int64_t linear, ArrayRef<int64_t> index) {
        int64_t target = offset * strides[dim];
        for (auto [stride, position] : llvm::zip(strides, index)) {
          target += stride * position;
        }
        result[target] = operand[linear];
      });
      offset += operandShape(i)[dim];
    }
    return result;
  }

  std::optional<Bits> iota(IotaOp iota) const {
    Bits result;
    int64_t dim = iota.getIotaDimension();
    Type element = type.getElementType();
    bool ok = true;
    forEachIndex(shape(), [&](int64_t, ArrayRef<int64_t> index) {
      std::optional<APInt> bits = bitsOfInteger(element, index[dim]);
      ok &= bits.has_value();
      result.push_back(bits.value_or(APInt()));
    });
    return ok ? std::optional<Bits>(result) : std::nullopt;
  }

  std::optional<Bits> run() const {
    return TypeSwitch<Operation *, std::optional<Bits>>(op)
        .Case([&](BroadcastOp o) { return broadcast(o); })
        .Case([&](TransposeOp o) { return transpose(o); })
        .Case([&](SliceOp o) { return slice(o); })
        .Case([&](ReverseOp o) { return reverse(o); })
        .Case([&](PadOp o) { return pad(o); })
        .Case([&](ConcatenateOp o) { return concatenate(o); })
        .Case([&](IotaOp o) { return iota(o); })
        .Case<ReshapeOp, CopyOp>([&](Operation *) { return operands[0]; })
        .Default([&](Operation *other) -> std::optional<Bits> {
          return isElementwiseOp(other) ? elementwise() : std::nullopt;
        });
  }
};

} // namespace

std::optional<SmallVector<APInt>> hlo::elementBits(DenseElementsAttr value) {
  Type element = value.getElementType();
  Bits bits;
  bits.reserve(value.getNumElements());
  if (isa<FloatType>(element)) {
    for (APFloat number : value.getValues<APFloat>()) {
      bits.push_back(number.bitcastToAPInt());
    }
    return bits;
  }
  if (isa<IntegerType>(element)) {
    llvm::append_range(bits, value.getValues<APInt>());
    return bits;
  }
  return std::nullopt;
}

DenseElementsAttr hlo::fromElementBits(RankedTensorType type, ArrayRef<APInt> bits) {
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    SmallVector<APFloat> numbers;
    numbers.reserve(bits.size());
    for (const APInt &number : bits) {
      numbers.emplace_back(element.getFloatSemantics(), number);
    }
    return DenseElementsAttr::get(type, numbers);
  }
  return DenseElementsAttr::get(type, bits);
}

DenseElementsAttr hlo::evaluate(Operation *op, ArrayRef<DenseElementsAttr> operands) {
  auto type = op->getNumResults() == 1 ? arrayType(op->getResult(0)) : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getEncoding()) {
    return {};
  }
  if (isa<ReshapeOp>(op)) {
    return DenseElementsAttr(operands[0]).reshape(type);
  }
  Evaluation evaluation{op, type, {}};
  for (DenseElementsAttr operand : operands) {
    std::optional<Bits> bits = elementBits(operand);
    if (!bits) {
      return {};
    }
    evaluation.operands.push_back(std::move(*bits));
  }
  if (!isa<IntegerType, FloatType>(type.getElementType())) {
    return {};
  }
  std::optional<Bits> result = evaluation.run();
  return result ? fromElementBits(type, *result) : DenseElementsAttr();
}

std::optional<int64_t> hlo::constantInteger(Value value) {
  RankedTensorType type = arrayType(value);
  DenseElementsAttr attr;
  if (!type || type.getNumElements() != 1 || !isa<IntegerType>(type.getElementType()) ||
      !matchPattern(value, m_Constant(&attr))) {
    return std::nullopt;
  }
  APInt bits = *attr.value_begin<APInt>();
  return cast<IntegerType>(type.getElementType()).isSigned()
             ? bits.getSExtValue()
             : static_cast<int64_t>(bits.getZExtValue());
}

std::optional<SmallVector<int64_t>> hlo::constantIntegers(Value value) {
  RankedTensorType type = arrayType(value);
  auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
  DenseElementsAttr attr;
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    std::optional<int64_t> scalar = constantInteger(broadcast.getOperand());
    if (scalar && type.getNumElements() <= 4096) {
      return SmallVector<int64_t>(type.getNumElements(), *scalar);
    }
  }
  if (!element || !matchPattern(value, m_Constant(&attr))) {
    return std::nullopt;
  }
  SmallVector<int64_t> values;
  for (APInt bits : attr.getValues<APInt>()) {
    values.push_back(element.isSigned() ? bits.getSExtValue()
                                        : static_cast<int64_t>(bits.getZExtValue()));
  }
  return values;
}

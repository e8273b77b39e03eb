//===- LargeArrays.cpp - Ops on weights, as bytes -------------------------===//
//
// In: an array computed from constants. Out: its elements. Ops that move elements are in
// LargeMoves.cpp. An op of one operand whose elements have up to 16 bits is a table; element-wise
// arithmetic in f32 and f64 is the host's; the rest goes through EvaluatorScalar.h, one element at
// a time.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/LargeArrays.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/evaluator/EvaluatorScalar.h"
#include "compiler/analysis/evaluator/LargeMoves.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace mlir;
using namespace hlo;
using hlo::large::Array;

//===----------------------------------------------------------------------===//
// What is supported.
//===----------------------------------------------------------------------===//

/// Elements that are whole bytes in memory; not pred, which MLIR packs.
static bool isWholeBytes(Type element) {
  return (isa<FloatType>(element) || isInteger(element)) && !element.isInteger(1);
}

static bool isPlainArray(Value value) {
  RankedTensorType type = arrayType(value);
  return type && type.hasStaticShape() && !type.getEncoding() && type.getNumElements() > 0 &&
         isWholeBytes(type.getElementType());
}

/// The float types whose conversions EvaluatorScalar.h knows.
static bool isNumber(Type element) {
  return isInteger(element) || isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element);
}

static bool canEvaluateElements(Operation *op) {
  Type element = elementTypeOf(op->getResult(0));
  if (isa<ConvertOp>(op)) {
    return isNumber(element) && isNumber(elementTypeOf(op->getOperand(0)));
  }
  if (!llvm::all_of(op->getOperands(), [&](Value value) {
        return elementTypeOf(value) == element && shapeOf(value) == shapeOf(op->getResult(0));
      })) {
    return false;
  }
  if (element.isF32() || element.isF64()) {
    return isa<AddOp, SubtractOp, MultiplyOp, DivideOp, NegateOp, AbsOp>(op);
  }
  return isInteger(element) &&
         isa<AddOp, SubtractOp, MultiplyOp, NegateOp, MaximumOp, MinimumOp, AndOp, OrOp, XorOp,
             NotOp, ShiftLeftOp, ShiftRightLogicalOp, ShiftRightArithmeticOp>(op);
}

/// Ops whose result has elements of the operands, in another place.
static bool movesElements(Operation *op) {
  return isa<ReshapeOp, BitcastOp, CopyOp, TransposeOp, SliceOp, ReverseOp, BroadcastOp, PadOp,
             ConcatenateOp>(op);
}

bool hlo::canEvaluateLarge(Operation *op) {
  if (op->getNumResults() != 1 || !isPlainArray(op->getResult(0)) ||
      !llvm::all_of(op->getOperands(), isPlainArray)) {
    return false;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return isa<DenseElementsAttr>(constant.getValue());
  }
  if (auto kernel = dyn_cast<FusionOp>(op)) {
    return llvm::all_of(kernel.getBody().front(), [](Operation &inner) {
      return isa<ReturnOp>(inner) || (!isa<FusionOp>(inner) && canEvaluateLarge(&inner));
    });
  }
  if (movesElements(op)) {
    Type element = elementTypeOf(op->getResult(0));
    return llvm::all_of(op->getOperands(),
                        [&](Value value) { return elementTypeOf(value) == element; });
  }
  return canEvaluateElements(op);
}

//===----------------------------------------------------------------------===//
// Element-wise ops.
//===----------------------------------------------------------------------===//

static uint64_t load(const char *at, int64_t bytes) {
  using namespace llvm::support;
  switch (bytes) {
  case 1: return static_cast<uint8_t>(*at);
  case 2: return endian::read16le(at);
  case 4: return endian::read32le(at);
  default: return endian::read64le(at);
  }
}

static void store(char *at, uint64_t bits, int64_t bytes) {
  using namespace llvm::support;
  switch (bytes) {
  case 1: *at = static_cast<char>(bits); return;
  case 2: endian::write16le(at, bits); return;
  case 4: endian::write32le(at, bits); return;
  default: endian::write64le(at, bits);
  }
}

/// A number that is not NaN as it is; all NaNs are one, whatever the host makes of them.
template <typename T> static T sameNan(T value) {
  return value == value ? value : std::numeric_limits<T>::quiet_NaN();
}

template <typename T>
static void computeFloats(Operation *op, char *to, ArrayRef<Array> operands, int64_t count) {
  auto at = [&](const Array &array, int64_t i) {
    T value;
    std::memcpy(&value, array.data.data() + (array.isSplat ? 0 : i * sizeof(T)), sizeof(T));
    return value;
  };
  auto loop = [&](auto compute) {
    for (int64_t i = 0; i < count; ++i) {
      T value = sameNan<T>(compute(at(operands.front(), i), at(operands.back(), i)));
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AddOp) { loop([](T x, T y) { return x + y; }); })
      .Case([&](SubtractOp) { loop([](T x, T y) { return x - y; }); })
      .Case([&](MultiplyOp) { loop([](T x, T y) { return x * y; }); })
      .Case([&](DivideOp) { loop([](T x, T y) { return x / y; }); })
      .Case([&](NegateOp) { loop([](T x, T) { return -x; }); })
      .Case([&](AbsOp) { loop([](T x, T) { return std::abs(x); }); });
}

static uint16_t roundToBf16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return (bits >> 16) | 0x40;
  }
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

namespace {
class Evaluation {
public:
  explicit Evaluation(int64_t &budget) : budget(budget) {}
  std::optional<Array> valueOf(Value value);

private:
  std::optional<Array> compute(Operation *op);
  std::optional<Array> computeMove(Operation *op, ArrayRef<Array> operands);
  std::optional<Array> computeElements(Operation *op, ArrayRef<Array> operands);
  std::optional<Array> computeKernel(FusionOp kernel, ArrayRef<Array> operands);
  bool computeSlowly(Operation *op, char *to, ArrayRef<Array> operands, int64_t count);
  std::optional<Array> make(int64_t elements, int64_t bytes);

  int64_t &budget;
  llvm::DenseMap<Value, Array> known;
};
} // namespace

/// Elements that cost as much as so many bytes that are copied.
static constexpr int64_t slowBytes = 64;

std::optional<Array> Evaluation::make(int64_t elements, int64_t bytes) {
  int64_t all;
  if (llvm::MulOverflow(elements, bytes, all) || all > budget) {
    return std::nullopt;
  }
  budget -= all;
  Array array;
  array.owner = std::make_shared<std::vector<char>>(all);
  array.data = *array.owner;
  return array;
}

std::optional<Array> Evaluation::computeMove(Operation *op, ArrayRef<Array> operands) {
  RankedTensorType type = arrayType(op->getResult(0));
  bool combines = isa<PadOp, ConcatenateOp>(op);
  if (isa<ReshapeOp, BitcastOp, CopyOp>(op) || (operands[0].isSplat && !combines)) {
    return operands[0];
  }
  std::optional<Array> result = make(type.getNumElements(), elementBytes(type.getElementType()));
  if (!result) {
    return std::nullopt;
  }
  large::moveElements(op, operands, result->owner->data());
  return result;
}

/// One element at a time, or one per value of an element of few bits.
bool Evaluation::computeSlowly(Operation *op, char *to, ArrayRef<Array> operands, int64_t count) {
  ScalarOp scalar(op);
  int64_t bytes = elementBytes(elementTypeOf(op->getResult(0)));
  SmallVector<APInt, 2> inputs;
  SmallVector<int64_t, 2> sizes;
  for (Value operand : op->getOperands()) {
    inputs.emplace_back(elementTypeOf(operand).getIntOrFloatBitWidth(), 0);
    sizes.push_back(elementBytes(elementTypeOf(operand)));
  }
  auto charge = [&](int64_t elements) {
    int64_t cost;
    bool fits = !llvm::MulOverflow(elements, slowBytes, cost) && cost <= budget;
    budget -= fits ? cost : 0;
    return fits;
  };
  unsigned width = inputs[0].getBitWidth();
  if (operands.size() == 1 && width <= 16 && count > int64_t(1) << width) {
    std::vector<uint64_t> table(size_t(1) << width);
    if (!charge(table.size())) {
      return false;
    }
    for (auto [i, entry] : llvm::enumerate(table)) {
      inputs[0] = APInt(width, i);
      std::optional<APInt> value = scalar.apply(inputs);
      if (!value) {
        return false;
      }
      entry = value->getZExtValue();
    }
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = load(operands[0].data.data() + i * sizes[0], sizes[0]);
      store(to + i * bytes, table[bits & (table.size() - 1)], bytes);
    }
    return true;
  }
  if (!charge(count)) {
    return false;
  }
  for (int64_t i = 0; i < count; ++i) {
    for (auto [input, size, operand] : llvm::zip(inputs, sizes, operands)) {
      unsigned bits = input.getBitWidth();
      uint64_t all = load(operand.data.data() + (operand.isSplat ? 0 : i * size), size);
      input = APInt(bits, all & llvm::maskTrailingOnes<uint64_t>(bits));
    }
    std::optional<APInt> value = scalar.apply(inputs);
    if (!value) {
      return false;
    }
    store(to + i * bytes, value->getZExtValue(), bytes);
  }
  return true;
}

std::optional<Array> Evaluation::computeElements(Operation *op, ArrayRef<Array> operands) {
  RankedTensorType type = arrayType(op->getResult(0));
  Type element = type.getElementType();
  bool isSplat = llvm::all_of(operands, [](const Array &array) { return array.isSplat; });
  int64_t count = isSplat ? 1 : type.getNumElements();
  std::optional<Array> result = make(count, elementBytes(element));
  if (!result) {
    return std::nullopt;
  }
  result->isSplat = isSplat;
  char *to = result->owner->data();
  if (!isa<ConvertOp>(op) && element.isF32()) {
    computeFloats<float>(op, to, operands, count);
  } else if (!isa<ConvertOp>(op) && element.isF64()) {
    computeFloats<double>(op, to, operands, count);
  } else if (element.isBF16() && elementTypeOf(op->getOperand(0)).isF32()) {
    for (int64_t i = 0; i < count; ++i) {
      store(to + i * 2, roundToBf16(load(operands[0].data.data() + i * 4, 4)), 2);
    }
  } else if (!computeSlowly(op, to, operands, count)) {
    return std::nullopt;
  }
  return result;
}

std::optional<Array> Evaluation::computeKernel(FusionOp kernel, ArrayRef<Array> operands) {
  Block &body = kernel.getBody().front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), operands)) {
    known[argument] = operand;
  }
  return valueOf(body.getTerminator()->getOperand(0));
}

std::optional<Array> Evaluation::compute(Operation *op) {
  if (!canEvaluateLarge(op)) {
    return std::nullopt;
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto value = cast<DenseElementsAttr>(constant.getValue());
    Array array;
    array.data = value.getRawData();
    array.isSplat = value.isSplat();
    return array;
  }
  SmallVector<Array> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(known.lookup(operand));
  }
  if (auto kernel = dyn_cast<FusionOp>(op)) {
    return computeKernel(kernel, operands);
  }
  return movesElements(op) ? computeMove(op, operands) : computeElements(op, operands);
}

std::optional<Array> Evaluation::valueOf(Value wanted) {
  SmallVector<Value> work{wanted};
  while (!work.empty()) {
    Value value = work.back();
    Operation *op = value.getDefiningOp();
    if (known.contains(value)) {
      work.pop_back();
      continue;
    }
    if (!op) {
      return std::nullopt;
    }
    size_t before = work.size();
    llvm::copy_if(op->getOperands(), std::back_inserter(work),
                  [&](Value operand) { return !known.contains(operand); });
    if (work.size() > before) {
      continue;
    }
    std::optional<Array> array = compute(op);
    if (!array) {
      return std::nullopt;
    }
    known[value] = std::move(*array);
  }
  return known.lookup(wanted);
}

DenseElementsAttr hlo::evaluateLarge(Value value, int64_t &budget) {
  std::optional<Array> array = Evaluation(budget).valueOf(value);
  if (!array || array->isSplat) {
    return {};
  }
  return DenseElementsAttr::getFromRawBuffer(arrayType(value), array->data);
}

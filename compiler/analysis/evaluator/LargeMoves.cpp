//===- LargeMoves.cpp - Elements of large arrays in other places ----------===//
//
// In: an op that moves elements, and its operands as bytes. Out: the bytes of its result. Each is
// one copy between two arrays with a stride for each dimension:
//
//   transpose, slice, reverse, broadcast    reads with strides, writes in order
//   pad, concatenate                        reads in order, writes with strides
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/LargeMoves.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace hlo;
using hlo::large::Array;

namespace {
/// A dimension of a copy: its size, and the distance of neighbours in both arrays.
struct Dimension {
  int64_t size, from, to;
};
} // namespace

/// Leaves out dimensions of one element, and joins those that are one in both arrays.
static SmallVector<Dimension> simplify(ArrayRef<Dimension> dimensions) {
  SmallVector<Dimension> result;
  for (const Dimension &dim : dimensions) {
    if (dim.size == 1) {
      continue;
    }
    if (!result.empty() && result.back().from == dim.from * dim.size &&
        result.back().to == dim.to * dim.size) {
      result.back() = {result.back().size * dim.size, dim.from, dim.to};
    } else {
      result.push_back(dim);
    }
  }
  if (result.empty()) {
    result.push_back({1, 1, 1});
  }
  return result;
}

template <unsigned size>
static void copyRow(char *to, const char *from, const Dimension &dim, size_t bytes) {
  for (int64_t i = 0; i < dim.size; ++i) {
    std::memcpy(to + i * dim.to, from + i * dim.from, size ? size : bytes);
  }
}

/// Copies elements of `bytes` bytes.
static void copyElements(char *to, const char *from, ArrayRef<Dimension> all, size_t bytes) {
  if (llvm::any_of(all, [](const Dimension &dim) { return dim.size == 0; })) {
    return;
  }
  SmallVector<Dimension> dims = simplify(all);
  if (dims.back().from == 1 && dims.back().to == 1) {
    // One row is one piece.
    int64_t size = dims.back().size;
    for (Dimension &dim : dims) {
      dim.from *= bytes;
      dim.to *= bytes;
    }
    dims.back().size = 1;
    bytes *= size;
  } else {
    for (Dimension &dim : dims) {
      dim.from *= bytes;
      dim.to *= bytes;
    }
  }
  Dimension row = dims.pop_back_val();
  auto *copy = bytes == 1   ? copyRow<1>
               : bytes == 2 ? copyRow<2>
               : bytes == 4 ? copyRow<4>
               : bytes == 8 ? copyRow<8>
                            : copyRow<0>;
  SmallVector<int64_t> index(dims.size(), 0);
  while (true) {
    copy(to, from, row, bytes);
    int64_t d = static_cast<int64_t>(dims.size()) - 1;
    for (; d >= 0; --d) {
      if (++index[d] < dims[d].size) {
        to += dims[d].to;
        from += dims[d].from;
        break;
      }
      to -= dims[d].to * (dims[d].size - 1);
      from -= dims[d].from * (dims[d].size - 1);
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

/// Distances of neighbours in an array; 0 if it has one element for all.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape, bool isSplat = false) {
  SmallVector<int64_t> strides(shape.size(), isSplat ? 0 : 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0 && !isSplat; --i) {
    strides[i] = strides[i + 1] * shape[i + 1];
  }
  return strides;
}

/// For each dimension of the result, the distance of neighbours in the operand; `first` is where
/// the result's first element is.
static SmallVector<int64_t> readStrides(Operation *op, int64_t &first) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  SmallVector<int64_t> strides = stridesOf(shape), result(rankOf(op->getResult(0)), 0);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
      result[i] = strides[dim];
    }
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
      result[dim] = shape[i] == 1 ? 0 : strides[i];
    }
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [i, stride] : llvm::enumerate(strides)) {
      first += stride * slice.getStartIndices()[i];
      result[i] = stride * slice.getStrides()[i];
    }
  } else {
    result = strides;
    for (int64_t dim : cast<ReverseOp>(op).getDimensions()) {
      first += strides[dim] * (shape[dim] - 1);
      result[dim] = -strides[dim];
    }
  }
  return result;
}

/// Copies an operand to the place in the result that `low` and `step` give in each dimension, as
/// far as it is inside.
static void place(char *to, ArrayRef<int64_t> shape, const Array &from, ArrayRef<int64_t> own,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> step, int64_t bytes) {
  SmallVector<int64_t> toStrides = stridesOf(shape), fromStrides = stridesOf(own, from.isSplat);
  SmallVector<Dimension> dims;
  const char *source = from.data.data();
  for (size_t i = 0; i < own.size(); ++i) {
    // Elements begin..end-1 are inside.
    int64_t begin = low[i] < 0 ? llvm::divideCeil(-low[i], step[i]) : 0;
    int64_t room = shape[i] - low[i];
    int64_t end = std::min<int64_t>(own[i], room <= 0 ? 0 : llvm::divideCeil(room, step[i]));
    if (begin >= end) {
      return;
    }
    source += begin * fromStrides[i] * bytes;
    to += (low[i] + begin * step[i]) * toStrides[i] * bytes;
    dims.push_back({end - begin, fromStrides[i], step[i] * toStrides[i]});
  }
  copyElements(to, source, dims, bytes);
}

void hlo::large::moveElements(Operation *op, ArrayRef<Array> operands, char *to) {
  RankedTensorType type = arrayType(op->getResult(0));
  ArrayRef<int64_t> shape = type.getShape();
  int64_t bytes = elementBytes(type.getElementType());
  if (auto pad = dyn_cast<PadOp>(op)) {
    copyElements(to, operands[1].data.data(), {{type.getNumElements(), 0, 1}}, bytes);
    SmallVector<int64_t> step;
    for (int64_t interior : pad.getPaddingInterior()) {
      step.push_back(interior + 1);
    }
    place(to, shape, operands[0], shapeOf(op->getOperand(0)), pad.getPaddingLow(), step, bytes);
  } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    SmallVector<int64_t> low(shape.size(), 0), step(shape.size(), 1);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      ArrayRef<int64_t> own = shapeOf(op->getOperand(i));
      place(to, shape, operand, own, low, step, bytes);
      low[concatenate.getDimension()] += own[concatenate.getDimension()];
    }
  } else {
    int64_t first = 0;
    SmallVector<int64_t> from = readStrides(op, first), strides = stridesOf(shape);
    SmallVector<Dimension> dims;
    for (auto [size, read, write] : llvm::zip(shape, from, strides)) {
      dims.push_back({size, read, write});
    }
    copyElements(to, operands[0].data.data() + first * bytes, dims, bytes);
  }
}

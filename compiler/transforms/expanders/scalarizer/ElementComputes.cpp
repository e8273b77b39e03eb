//===- ElementComputes.cpp - Elements of reduces, maps, dots and sorts ----===//
//
// Elements of ops that compute with several elements: their computation applied to each (reduce,
// map), sums of products in order (dot), compare-exchange of neighbours by selects (sort). Input
// and output as in ElementRewriter.h.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/scalarizer/ElementRewriter.h"

using namespace mlir;
using namespace hlo;

bool ElementRewriter::emitReduce(ReduceOp op) {
  size_t count = op->getNumResults();
  ArrayRef<int64_t> dims = op.getDimensions();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0)), kept = shapeOf(op->getResult(0));
  SmallVector<Elements> results(count);
  for (size_t i = 0; i < count; ++i) {
    results[i].assign(elementsOf(op->getResult(0)), of(op->getOperand(count + i)).front());
  }
  for (const auto &[number, position] : llvm::enumerate(positionsOf(shape))) {
    Position rest;
    for (auto [dim, at] : llvm::enumerate(position)) {
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) {
        rest.push_back(at);
      }
    }
    int64_t target = numberOf(kept, rest);
    SmallVector<Value> arguments;
    for (Elements &result : results) {
      arguments.push_back(result[target]);
    }
    for (size_t i = 0; i < count; ++i) {
      arguments.push_back(of(op->getOperand(i))[number]);
    }
    for (auto [i, value] : llvm::enumerate(applied(op.getToApplyAttr(), arguments))) {
      results[i][target] = value;
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results)) {
    elements[result] = values;
  }
  return true;
}

bool ElementRewriter::emitMap(MapOp op) {
  SmallVector<Elements> results(op->getNumResults());
  for (int64_t i = 0, end = elementsOf(op->getResult(0)); i < end; ++i) {
    SmallVector<Value> arguments;
    for (Value operand : op->getOperands()) {
      arguments.push_back(of(operand)[i]);
    }
    for (auto [number, value] : llvm::enumerate(applied(op.getToApplyAttr(), arguments))) {
      results[number].push_back(value);
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results)) {
    elements[result] = values;
  }
  return true;
}

bool ElementRewriter::emitDot(DotOp op) {
  HloBuilder b{builder, op.getLoc()};
  Type element = elementTypeOf(op.getResult());
  struct Side {
    ArrayRef<int64_t> shape, batch, contracting;
    SmallVector<int64_t> free;
  };
  auto sideOf = [](Value value, std::optional<ArrayRef<int64_t>> batch,
                   std::optional<ArrayRef<int64_t>> contracting) {
    Side side{shapeOf(value),
              batch.value_or(ArrayRef<int64_t>()),
              contracting.value_or(ArrayRef<int64_t>()),
              {}};
    for (int64_t dim = 0, rank = side.shape.size(); dim < rank; ++dim) {
      if (!llvm::is_contained(side.batch, dim) && !llvm::is_contained(side.contracting, dim)) {
        side.free.push_back(dim);
      }
    }
    return side;
  };
  Side sides[] = {sideOf(op.getLhs(), op.getLhsBatchDims(), op.getLhsContractingDims()),
                  sideOf(op.getRhs(), op.getRhsBatchDims(), op.getRhsContractingDims())};
  Position contracted =
      llvm::map_to_vector(sides[0].contracting, [&](int64_t dim) { return sides[0].shape[dim]; });
  Elements result;
  for (const Position &position : positionsOf(shapeOf(op.getResult()))) {
    Value sum = b.scalar(element, 0);
    for (const Position &term : positionsOf(contracted)) {
      Value product;
      size_t freeFrom = sides[0].batch.size();
      for (auto [side, operand] : llvm::zip(sides, op->getOperands())) {
        Position at(side.shape.size());
        for (auto [i, dim] : llvm::enumerate(side.batch)) {
          at[dim] = position[i];
        }
        for (auto [i, dim] : llvm::enumerate(side.contracting)) {
          at[dim] = term[i];
        }
        for (int64_t dim : side.free) {
          at[dim] = position[freeFrom++];
        }
        Value factor = b.convert(of(operand)[numberOf(side.shape, at)], element);
        product = product ? b.mul(product, factor) : factor;
      }
      sum = b.add(sum, product);
    }
    result.push_back(sum);
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

bool ElementRewriter::emitSort(SortOp op) {
  HloBuilder b{builder, op.getLoc()};
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  int64_t dim = op.getDimension(), size = shape[dim];
  if (size * elementsOf(op->getOperand(0)) > maxElements) {
    return false;
  }
  SmallVector<Elements> arrays;
  for (Value operand : op->getOperands()) {
    arrays.push_back(of(operand));
  }
  Position others(shape);
  others[dim] = 1;
  for (Position position : positionsOf(others)) {
    for (int64_t end = size - 1; end > 0; --end) {
      for (int64_t i = 0; i < end; ++i) {
        position[dim] = i;
        int64_t first = numberOf(shape, position);
        position[dim] = i + 1;
        int64_t second = numberOf(shape, position);
        SmallVector<Value> arguments;
        for (Elements &array : arrays) {
          arguments.append({array[second], array[first]});
        }
        Value swap = applied(op.getToApplyAttr(), arguments).front();
        for (Elements &array : arrays) {
          Value low = array[first], high = array[second];
          array[first] = b.select(swap, high, low);
          array[second] = b.select(swap, low, high);
        }
      }
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), arrays)) {
    elements[result] = values;
  }
  return true;
}

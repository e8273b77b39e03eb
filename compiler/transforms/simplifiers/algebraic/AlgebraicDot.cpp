//===- AlgebraicDot.cpp - Rules of dot ------------------------------------===//
//
// A dot accepts any order of dimensions, so it absorbs transposes of its operands, and the
// transpose of its result that exchanges them. Only an operand whose batch is innermost in memory
// is transposed first. A dot without contracted dimensions is a multiplication.
//
//===----------------------------------------------------------------------===//
#include "compiler/plans/DotOrder.h"
#include "compiler/transforms/simplifiers/algebraic/AlgebraicRules.h"

using namespace mlir;
using namespace hlo;

static ArrayRef<int64_t> orEmpty(std::optional<ArrayRef<int64_t>> list) {
  return list.value_or(ArrayRef<int64_t>());
}

// dot(x, y) with no contracted dimensions, or only of size one -> broadcast(x) * broadcast(y)
static Value outerProduct(DotOp op, HloBuilder &b) {
  ArrayRef<int64_t> lhsBatch = orEmpty(op.getLhsBatchDims()),
                    rhsBatch = orEmpty(op.getRhsBatchDims());
  ArrayRef<int64_t> lhsContract = orEmpty(op.getLhsContractingDims());
  ArrayRef<int64_t> rhsContract = orEmpty(op.getRhsContractingDims());
  Type element = elementTypeOf(op.getResult());
  if (elementTypeOf(op.getLhs()) != element || elementTypeOf(op.getRhs()) != element ||
      isa<ComplexType>(element)) {
    return {};
  }
  for (int64_t dim : lhsContract) {
    if (shapeOf(op.getLhs())[dim] != 1) {
      return {};
    }
  }
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  int64_t next = lhsBatch.size();
  // The operand, without its contracted dimensions, broadcast to the result.
  auto spread = [&](Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
    SmallVector<int64_t> kept, dimensions;
    for (int64_t dim = 0, rank = rankOf(operand); dim < rank; ++dim) {
      if (llvm::is_contained(contract, dim)) {
        continue;
      }
      kept.push_back(shapeOf(operand)[dim]);
      auto place = llvm::find(batch, dim);
      dimensions.push_back(place != batch.end() ? place - batch.begin() : next++);
    }
    return b.broadcast(b.reshape(operand, kept), shape, dimensions);
  };
  Value lhs = spread(op.getLhs(), lhsBatch, lhsContract);
  Value rhs = spread(op.getRhs(), rhsBatch, rhsContract);
  return b.mul(lhs, rhs);
}

// dot over contracted dimensions of size zero -> 0
static Value emptyDot(DotOp op, HloBuilder &b) {
  for (int64_t dim : orEmpty(op.getLhsContractingDims())) {
    if (shapeOf(op.getLhs())[dim] == 0) {
      return b.splat(HloBuilder::type(op.getResult()), 0);
    }
  }
  return {};
}

// dot(transpose(x), y) -> dot(x, y) with other dimension numbers, if the free dimensions of x keep
// their order; the same for y
static Value absorbTranspose(const Machine &machine, DotOp op, HloBuilder &b) {
  auto absorb = [](Value &operand, SmallVector<int64_t> &batch, SmallVector<int64_t> &contract) {
    auto transpose = operand.getDefiningOp<TransposeOp>();
    if (!transpose) {
      return false;
    }
    ArrayRef<int64_t> dimensions = transpose.getDimensions();
    int64_t last = -1;
    for (auto [i, dim] : llvm::enumerate(dimensions)) {
      int64_t place = i;
      if (llvm::is_contained(batch, place) || llvm::is_contained(contract, place)) {
        continue;
      }
      if (dim < last) {
        return false;
      }
      last = dim;
    }
    for (SmallVector<int64_t> *list : {&batch, &contract}) {
      for (int64_t &dim : *list) {
        dim = dimensions[dim];
      }
    }
    operand = transpose.getOperand();
    return true;
  };
  Value lhs = op.getLhs(), rhs = op.getRhs();
  SmallVector<int64_t> lhsBatch(orEmpty(op.getLhsBatchDims()));
  SmallVector<int64_t> rhsBatch(orEmpty(op.getRhsBatchDims()));
  SmallVector<int64_t> lhsContract(orEmpty(op.getLhsContractingDims()));
  SmallVector<int64_t> rhsContract(orEmpty(op.getRhsContractingDims()));
  bool keepsLhs = isStoredAcrossBatch(machine, op, 0),
       keepsRhs = isStoredAcrossBatch(machine, op, 1);
  bool changed = !keepsLhs && absorb(lhs, lhsBatch, lhsContract);
  changed |= !keepsRhs && absorb(rhs, rhsBatch, rhsContract);
  if (!changed) {
    return {};
  }
  auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
  return DotOp::create(b.b, b.loc, op.getResult().getType(), lhs, rhs, list(lhsBatch),
                       list(rhsBatch), list(lhsContract), list(rhsContract),
                       op.getOperandPrecisionAttr(), op.getAlgorithmAttr());
}

// dot(x, y) -> dot(transpose(x), y) if elements of x that are adjacent in memory belong to
// different batch indices: the transpose makes each batch index contiguous; the same for y
static Value gatherBatch(const Machine &machine, DotOp op, HloBuilder &b) {
  Value operands[2] = {op.getLhs(), op.getRhs()};
  SmallVector<int64_t> batch[2], contract[2];
  batch[0] = llvm::to_vector(orEmpty(op.getLhsBatchDims()));
  batch[1] = llvm::to_vector(orEmpty(op.getRhsBatchDims()));
  contract[0] = llvm::to_vector(orEmpty(op.getLhsContractingDims()));
  contract[1] = llvm::to_vector(orEmpty(op.getRhsContractingDims()));
  bool changed = false;
  for (unsigned i : {0u, 1u}) {
    if (operands[i].getDefiningOp<TransposeOp>() || !isStoredAcrossBatch(machine, op, i)) {
      continue;
    }
    changed = true;
    SmallVector<int64_t> order(batch[i]);
    for (int64_t dim = 0, rank = rankOf(operands[i]); dim < rank; ++dim) {
      if (!llvm::is_contained(batch[i], dim)) {
        order.push_back(dim);
      }
    }
    // Within a row, use the other operand's order of dimensions.
    if (order.size() == batch[i].size() + contract[i].size()) {
      std::sort(order.begin() + batch[i].size(), order.end(), [&](int64_t x, int64_t y) {
        auto other = [&](int64_t dim) {
          return contract[1 - i][llvm::find(contract[i], dim) - contract[i].begin()];
        };
        return other(x) < other(y);
      });
    }
    operands[i] = b.transpose(operands[i], order);
    for (SmallVector<int64_t> *list : {&batch[i], &contract[i]}) {
      for (int64_t &dim : *list) {
        dim = llvm::find(order, dim) - order.begin();
      }
    }
  }
  if (!changed) {
    return {};
  }
  auto list = [&](ArrayRef<int64_t> dims) { return b.b.getDenseI64ArrayAttr(dims); };
  return DotOp::create(b.b, b.loc, op.getResult().getType(), operands[0], operands[1],
                       list(batch[0]), list(batch[1]), list(contract[0]), list(contract[1]),
                       op.getOperandPrecisionAttr(), op.getAlgorithmAttr());
}

// transpose(dot(x, y)) -> transpose(dot(y, x)), if the last dimension is one of x's and stays last.
// If the free dimensions of x and y change places as two groups, as in the gradient of a weight
// matrix, the remaining transpose is the identity. Otherwise (the scores of grouped attention) it
// at least reads rows of the product as rows, not element by element.
static Value exchangeOperands(const Machine &machine, TransposeOp op, HloBuilder &b) {
  auto dot = op.getOperand().getDefiningOp<DotOp>();
  if (!dot || !dot->hasOneUse() || elementTypeOf(dot.getLhs()) != elementTypeOf(dot.getRhs())) {
    return {};
  }
  int64_t batch = orEmpty(dot.getLhsBatchDims()).size();
  int64_t lhsEnd = rankOf(dot.getLhs()) - orEmpty(dot.getLhsContractingDims()).size();
  int64_t rank = rankOf(dot.getResult()), rhsFree = rank - lhsEnd;
  // The position in dot(y, x) of a dimension of dot(x, y).
  auto exchanged = [&](int64_t dim) {
    return dim < batch ? dim : dim < lhsEnd ? dim + rhsFree : dim - lhsEnd + batch;
  };
  SmallVector<int64_t> dimensions, shape(rank);
  for (int64_t dim : op.getDimensions()) {
    dimensions.push_back(exchanged(dim));
    shape[dimensions.back()] = shapeOf(dot.getResult())[dim];
  }
  // Narrow elements are computed in lanes of 32 bits.
  int64_t lanes =
      machine.lanes(std::max(4, static_cast<int>(elementBytes(elementTypeOf(dot.getResult())))));
  bool rows =
      lhsEnd > batch && rhsFree > 0 && dimensions.back() == rank - 1 && shape.back() >= lanes;
  if (!rows && !llvm::is_sorted(dimensions)) {
    return {};
  }
  // The operand precisions are exchanged as well.
  ArrayAttr precision = dot.getOperandPrecisionAttr();
  if (precision && precision.size() == 2) {
    precision = b.b.getArrayAttr({precision[1], precision[0]});
  }
  auto type = RankedTensorType::get(shape, elementTypeOf(dot.getResult()));
  Value product =
      DotOp::create(b.b, b.loc, type, dot.getRhs(), dot.getLhs(), dot.getRhsBatchDimsAttr(),
                    dot.getLhsBatchDimsAttr(), dot.getRhsContractingDimsAttr(),
                    dot.getLhsContractingDimsAttr(), precision, dot.getAlgorithmAttr());
  return b.transpose(product, dimensions);
}

void hlo::populateDotRules(RewritePatternSet &patterns, const Machine &machine) {
  auto on = [&]<typename Op>(Value (*rule)(const Machine &, Op, HloBuilder &)) -> Rule<Op> {
    return [&machine, rule](Op op, HloBuilder &b) { return rule(machine, op, b); };
  };
  addRules<TransposeOp>(patterns, {on(exchangeOperands)});
  addRules<DotOp>(patterns, {emptyDot, outerProduct, on(absorbTranspose), on(gatherBatch)});
}

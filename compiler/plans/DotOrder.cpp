//===- DotOrder.cpp - In which order memory holds a dot's operands --------===//
#include "compiler/plans/DotOrder.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;

namespace hlo {

/// A smaller operand is read element by element in less time than it takes to start another kernel.
static constexpr int64_t kLeastElements = 16 << 10;
/// With fewer batch neighbours per cache line, strided reads waste little of each line.
static constexpr int64_t kLeastNeighbours = 4;

namespace {
/// An operand's sizes by role.
struct Side {
  int64_t rows = 1, k = 1;
  int64_t neighbours = 0; ///< adjacent elements along the batch; 0 if the batch is not innermost
};
} // namespace

static Side sideOf(Value operand, std::optional<ArrayRef<int64_t>> batch,
                   std::optional<ArrayRef<int64_t>> contracted) {
  Side side;
  auto isIn = [](std::optional<ArrayRef<int64_t>> dims, int64_t dim) {
    return dims && llvm::is_contained(*dims, dim);
  };
  auto transpose = operand.getDefiningOp<TransposeOp>();
  int64_t rank = rankOf(operand);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = shapeOf(operand)[dim];
    int64_t inMemory = transpose ? transpose.getDimensions()[dim] : dim;
    if (isIn(contracted, dim)) {
      side.k *= size;
    } else if (!isIn(batch, dim)) {
      side.rows *= size;
    } else if (inMemory == rank - 1) {
      side.neighbours = size;
    }
  }
  return side;
}

/// True if a batch of `neighbours` elements leaves at most a third of its vectors' lanes unused.
static bool fillsVectors(const Machine &machine, int64_t neighbours, int64_t bytes) {
  int64_t lanes = machine.lanes(static_cast<int>(std::max<int64_t>(4, bytes)));
  return 2 * static_cast<int64_t>(llvm::alignTo(neighbours, lanes)) <= 3 * neighbours;
}

bool isStoredAcrossBatch(const Machine &machine, DotOp dot, unsigned operand) {
  Side sides[2] = {sideOf(dot.getLhs(), dot.getLhsBatchDims(), dot.getLhsContractingDims()),
                   sideOf(dot.getRhs(), dot.getRhsBatchDims(), dot.getRhsContractingDims())};
  const Side &side = sides[operand], &other = sides[1 - operand];
  if (side.neighbours < kLeastNeighbours || (side.rows == 1 && other.rows == 1) ||
      elementsOf(dot->getOperand(operand)) < kLeastElements) {
    return false;
  }
  Type element = elementTypeOf(dot->getOperand(operand));
  if (isa<ComplexType>(element) || !fillsVectors(machine, side.neighbours, elementBytes(element))) {
    return true;
  }
  // The batch strategy takes such operands without a copy: one, if the other has one row per batch
  // index; two, within its bounds.
  if (other.rows == 1 || (side.rows == 1 && other.neighbours != 0)) {
    return false;
  }
  return other.neighbours == 0 ||
         (side.rows + other.rows) * side.k * machine.vectors.bytes > kMostCopied ||
         (side.k < kLeastBatchSum && side.rows * other.rows > kSmallBatchResult);
}

} // namespace hlo

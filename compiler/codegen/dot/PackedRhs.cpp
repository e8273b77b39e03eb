//===- PackedRhs.cpp - The rhs of a dot, stored as panels -----------------===//
//
// Decides whether an immutable rhs is stored as panels, and how wide they are. The width is that
// of the register tile that the blocked form will choose for the same sizes (BlockPlan.cpp), so
// that it reads the panels in place. This is done only for dots that would pack the rhs
// themselves.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/PackedRhs.h"
#include "compiler/codegen/Element.h"
#include "compiler/codegen/dot/BlockPlan.h"

using namespace mlir;

namespace hlo::codegen {

/// Dots of at most 16 rows take the forms for few rows (kMostRows of each), which read the rhs once
/// and in order.
static constexpr int64_t kFewRows = 16;
/// A rhs of at most 32 KiB fits the smallest L1 of any machine, where panels are no faster.
static constexpr int64_t kSmallBytes = 32 << 10;

static int64_t freeSize(Value side, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  int64_t size = 1;
  for (auto [dim, extent] : llvm::enumerate(cast<RankedTensorType>(side.getType()).getShape())) {
    int64_t d = dim;
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d)) {
      size *= extent;
    }
  }
  return size;
}

std::optional<PackedRhs> packedRhsOf(DotOp dot, const Machine &machine) {
  auto orEmpty = [](std::optional<ArrayRef<int64_t>> dims) {
    return dims.value_or(ArrayRef<int64_t>());
  };
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  Type element = lhs.getElementType();
  auto result = cast<RankedTensorType>(dot.getResult().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  if ((!element.isF32() && !element.isF64()) || rhs.getElementType() != element ||
      result.getElementType() != element) {
    return std::nullopt;
  }
  ArrayRef<int64_t> lhsK = orEmpty(dot.getLhsContractingDims());
  // A transposed lhs is loaded in vectors along m, with other tile shapes.
  if (lhsK.size() != 1 || lhsK[0] != lhs.getRank() - 1) {
    return std::nullopt;
  }
  int64_t m = freeSize(dot.getLhs(), orEmpty(dot.getLhsBatchDims()), lhsK);
  int64_t n =
      freeSize(dot.getRhs(), orEmpty(dot.getRhsBatchDims()), orEmpty(dot.getRhsContractingDims()));
  int64_t k = lhs.getShape()[lhsK[0]], bytes = element.getIntOrFloatBitWidth() / 8;
  int64_t lanes = machine.vectors.bytes / bytes;
  if (m <= kFewRows || n <= kFewRows || n < lanes || k * n * bytes <= kSmallBytes) {
    return std::nullopt;
  }
  TileShape tile =
      chooseTile(machine, m, n, k, lanes, /*parts=*/1, /*rowMultiple=*/0,
                 rowsInL1(machine, k * bytes), /*narrowLast=*/false, /*products=*/0,
                 machine.vectors.laneOperands ? RowOperands::Lanes : RowOperands::Broadcast);
  int64_t width = tile.vectors * lanes;
  if (n % width != 0 || n == width) {
    return std::nullopt;
  }
  return PackedRhs{width, element};
}

} // namespace hlo::codegen

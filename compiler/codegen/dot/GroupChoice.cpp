//===- GroupChoice.cpp - The products that multiply groups ----------------===//
//
// Decides whether a Product of the machine multiplies groups of elements adjacent along k, in
// vectors or in matrix registers. Groups.cpp and Matrix.cpp have the form of groups in buffers.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/machine/Costs.h"

using namespace mlir;

namespace hlo::codegen {

/// The least odd k whose last element is paired with a zero: below it the padding is more than a
/// fifth.
static constexpr int64_t kLeastFilled = 5;

/// The kind of every element of a side, if a product may know it; integers must be summed in 32
/// bits, bf16 in f32.
static std::optional<Number> narrowNumber(const Contraction &c, const ContractionSide &side) {
  if (c.element.isF32()) {
    return side.holdsBf16 ? std::optional(kBf16) : std::nullopt;
  }
  bool sums = isa<IntegerType>(c.element) && c.element.getIntOrFloatBitWidth() == 32;
  return sums && side.narrowInteger ? std::optional(numberOf(side.narrowInteger)) : std::nullopt;
}

const Product *chooseProduct(const Contraction &c, int64_t lanes) {
  if (c.k.empty() || lanes < 4 || (c.k.size() > 1 && c.k.back() % 4 != 0)) {
    return nullptr;
  }
  std::optional<Number> lhs = narrowNumber(c, c.lhs), rhs = narrowNumber(c, c.rhs);
  if (!lhs || !rhs) {
    return nullptr;
  }
  bool integers = lhs->isInteger();
  // The last pair of bf16 is padded if a side is packed by lanes.
  bool pairs =
      c.k.back() % 2 == 0 || (c.k.back() >= kLeastFilled && c.lhs.unit != UnitStride::None);
  if (integers ? c.kSize() < 8 : !pairs) {
    return nullptr;
  }
  auto isStored = [&](const Product &product) {
    if (c.rhs.unit != UnitStride::K) {
      return true;
    }
    return c.rhs.strided && (integers ? storageBytes(c.rhs.strided->storage()) * product.group == 4
                                      : c.rhs.strided->storage().isBF16());
  };
  const Machine &machine = c.kernel.e.machine;
  for (const Product *product : machine.vectorProducts(*lhs, *rhs, integers ? kS32 : kF32)) {
    if (isStored(*product)) {
      return product;
    }
  }
  return nullptr;
}

bool canUseGroups(const Contraction &c) {
  return canBlock(c) && chooseProduct(c, lanesFor(c, c.nSize()));
}

const Product *matrixProduct(const Contraction &c) {
  const Machine &machine = c.kernel.e.machine;
  std::optional<Number> lhs = narrowNumber(c, c.lhs), rhs = narrowNumber(c, c.rhs);
  if (!lhs || !rhs) {
    return nullptr;
  }
  const Product *product = squareProduct(machine, *lhs, *rhs, lhs->isInteger() ? kS32 : kF32);
  // Groups never cross the end of a dimension of k.
  bool isCut = product && c.k.size() > 1 && c.k.back() % product->group != 0;
  return isCut || c.k.empty() ? nullptr : product;
}

bool canUseMatrix(const Contraction &c) {
  const Product *product = matrixProduct(c);
  if (!product || !canBlock(c)) {
    return false;
  }
  // Rows are packed along k, in vectors along k, or along m through a transposition.
  return c.lhs.unit == UnitStride::K ||
         (c.lhs.unit == UnitStride::Free &&
          (c.m.size() == 1 || c.m.back() % product->tiles->rows == 0));
}

/// Packing a group of each side takes about a quarter of a cycle: four cycles for a vector of 16.
static double cyclesOfGroupPacking(const Product &product, double m, double n, double k) {
  return (m + n) * k / (4.0 * product.group);
}

double cyclesOfMatrix(const Machine &machine, const Product &product, int64_t m, int64_t n,
                      int64_t k) {
  int64_t side = product.tiles->rows;
  LoopBody body;
  body.extra = product.cost;
  body.start = product.tiles->startCycles;
  body.trips = llvm::divideCeil(k, product.group * side);
  double tiles = llvm::divideCeil(m, side) * llvm::divideCeil(n, side);
  return tiles * cyclesOfLoop(machine, body) + cyclesOfGroupPacking(product, m, n, k);
}

bool prefersMatrix(const Contraction &c) {
  int64_t m = c.mSize(), n = c.nSize(), k = c.kSize();
  // The forms for fewer rows (or columns) read the other side once, at the speed of memory.
  if (!canUseMatrix(c) || std::min(m, n) <= 8) {
    return false;
  }
  const Product *product = matrixProduct(c);
  const Machine &machine = c.kernel.e.machine;
  auto vectors =
      machine.vectorProducts(*narrowNumber(c, c.lhs), *narrowNumber(c, c.rhs), product->sum);
  double speed = vectors.empty() ? 1 : vectors.front()->speed();
  double perCycle = machine.issue.fma * machine.lanes(4) * speed;
  double byVectors =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / perCycle +
      cyclesOfGroupPacking(*product, m, n, k);
  double byMatrix = cyclesOfMatrix(machine, *product, m, n, k) +
                    product->tiles->callCycles / static_cast<double>(c.batchSize());
  // byVectors counts multiplications and packing only, so it is too low.
  return byMatrix < 0.8 * byVectors;
}

} // namespace hlo::codegen

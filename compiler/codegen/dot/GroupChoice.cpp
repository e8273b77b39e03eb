//===- GroupChoice.cpp - Which products one instruction adds up ----------===//
//
// In: a contraction of narrow elements, and the machine. Out: whether a Product of the machine
// multiplies its neighbours along k in groups, by vectors or by matrix registers. What the groups
// then look like in buffers is in Groups.cpp and Matrix.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/machine/Costs.h"

using namespace mlir;

namespace hlo::codegen {

/// Fewest rows and columns of integers whose products are added up in pairs, though a side is
/// packed for that; fours of bytes pay always: s8 16x1000x1000 0.59 and 0.09 ms, 1x1000x1000 0.048
/// and 0.040.
static constexpr int64_t kFewestPaired = 3;

/// Fewest rows and columns of bf16 that are multiplied in pairs, and how many of a large side from
/// memory. In this form and in pairs: 1000 x 5 x 500 0.0516 and 0.0504 ms, 1000 x 16 x 500
/// 0.168 and 0.094; 4096 x 8 x 4096 2.9 and 3.7, 4096 x 16 x 4096 6.0 and 5.0.
static constexpr int64_t kFewestBf16 = 5, kMostStreamed = 12;
/// More rows than this have no form of their own.
static constexpr int64_t kMostRows = 16;
/// Fewest elements along k, an odd number, of which the last is paired with a zero.
static constexpr int64_t kLeastFilled = 5;

/// What every element of a side is, if products know it; integers at least: sums of 32 bits of
/// integers, of f32 of bf16.
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
  // What the last pair of bf16 lacks is filled up where a side is packed by lanes.
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

/// Whether pairs of bf16 are faster than the forms for few rows, which widen them and read the
/// large side as it is.
static bool prefersPairs(const Contraction &c) {
  int64_t few = std::min(c.mSize(), c.nSize());
  int64_t l2 = c.kernel.e.machine.memory.l2, bytes = 2 * c.kSize() * std::max(c.mSize(), c.nSize());
  bool isTall = c.nSize() == few, isOdd = c.k.back() % 2 != 0;
  if (few < kFewestBf16 + (isTall && isOdd ? 2 : 0)) {
    return false;
  }
  if (few > kMostRows || (isTall && c.lhs.unit == UnitStride::K && !isOdd)) {
    return true;
  }
  // A tall lhs of columns would be read in pieces of rows, from another page at each k: better as
  // the rhs.
  if (isTall && c.lhs.unit == UnitStride::Free && bytes > l2 / 8) {
    return false;
  }
  if (few > kMostStreamed) {
    return true;
  }
  return bytes <= 4 * l2;
}

bool canUseGroups(const Contraction &c) {
  return canBlock(c) && chooseProduct(c, lanesFor(c, c.nSize()));
}

bool prefersGroups(const Contraction &c) {
  if (!canUseGroups(c)) {
    return false;
  }
  KGroup group = groupOf(chooseProduct(c, lanesFor(c, c.nSize())));
  if (group == KGroup::Bf16Pair) {
    return prefersPairs(c);
  }
  return group == KGroup::ByteQuad ||
         (group == KGroup::WordPair && std::min(c.mSize(), c.nSize()) >= kFewestPaired);
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

/// Packing a group of each side takes about a quarter of a cycle.
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
  // A call configures the registers once, in 64 cycles, and each batch index once more per kind of
  // remainder.
  return tiles * cyclesOfLoop(machine, body) + cyclesOfGroupPacking(product, m, n, k) + 64;
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
  // The model knows the vectors better: no CPU with matrix registers was at hand.
  return cyclesOfMatrix(machine, *product, m, n, k) < 0.8 * byVectors;
}

} // namespace hlo::codegen

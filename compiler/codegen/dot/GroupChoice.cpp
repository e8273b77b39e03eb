//===- GroupChoice.cpp - Which products one instruction adds up ----------===//
//
// In: a contraction of narrow elements, and the target. Out: whether its neighbours along k are
// multiplied in groups of two or four (vdpbf16ps, vpmaddwd, vpdpbusd), by vectors or by the tiles
// of AMX. What the groups then look like in buffers is in Groups.cpp and Amx.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"

using namespace mlir;

namespace hlo::codegen {

/// Fewest rows and columns of integers whose products are added up in pairs, though a side is
/// packed for that; fours of bytes pay always: s8 16x1000x1000 0.59 and 0.09 ms, 1x1000x1000 0.048
/// and 0.040.
static constexpr int64_t kFewestPaired = 3;

/// Fewest rows and columns of bf16 that are multiplied in pairs, and how many of a large side from
/// memory. Zen 4, in this form and in pairs: 1000 x 5 x 500 0.0516 and 0.0504 ms, 1000 x 16 x 500
/// 0.168 and 0.094; 4096 x 8 x 4096 2.9 and 3.7, 4096 x 16 x 4096 6.0 and 5.0.
static constexpr int64_t kFewestBf16 = 5, kMostStreamed = 12;
/// More rows than this have no form of their own.
static constexpr int64_t kMostRows = 16;
/// Fewest elements along k, an odd number, of which the last is paired with a zero.
static constexpr int64_t kLeastFilled = 5;

/// Whether every element of the side is an integer of at most `bits` bits, with its sign (unsigned
/// ones in one bit less, unless that is how the instruction takes them).
static bool holdsInteger(const ContractionSide &side, unsigned bits, bool takesUnsigned) {
  Type type = side.narrowInteger;
  return type && type.getIntOrFloatBitWidth() + (!takesUnsigned && isUnsignedElement(type)) <= bits;
}

KGroup chooseGroup(const Contraction &c, int64_t lanes) {
  const Target &target = c.kernel.e.target;
  if (c.k.empty() || lanes < 4 || (c.k.size() > 1 && c.k.back() % 4 != 0)) {
    return KGroup::None;
  }
  auto isStored = [&](int64_t bytes) {
    return c.rhs.unit != UnitStride::K ||
           (c.rhs.strided && storageBytes(c.rhs.strided->storage()) == bytes);
  };
  // What the last pair lacks is filled up where a side is packed by lanes.
  bool pairs =
      c.k.back() % 2 == 0 || (c.k.back() >= kLeastFilled && c.lhs.unit != UnitStride::None);
  if (target.fastBf16Dot && target.vectorBytes == 64 && c.element.isF32() && c.lhs.holdsBf16 &&
      c.rhs.holdsBf16 && lanes >= 4 && pairs &&
      (c.rhs.unit != UnitStride::K || (c.rhs.strided && c.rhs.strided->storage().isBF16()))) {
    return KGroup::Bf16Pair;
  }
  bool integers = isa<IntegerType>(c.element) && c.element.getIntOrFloatBitWidth() == 32;
  if (!integers || target.vectorBytes < 32 || c.kSize() < 8) {
    return KGroup::None;
  }
  if (target.avx512vnni && holdsInteger(c.lhs, 8, true) && holdsInteger(c.rhs, 8, true) &&
      isStored(1)) {
    return KGroup::ByteQuad;
  }
  if (holdsInteger(c.lhs, 16, false) && holdsInteger(c.rhs, 16, false) && isStored(2)) {
    return KGroup::WordPair;
  }
  return KGroup::None;
}

/// Whether pairs of bf16 are faster than the forms for few rows, which widen them and read the
/// large side as it is.
static bool prefersPairs(const Contraction &c) {
  int64_t few = std::min(c.mSize(), c.nSize());
  int64_t l2 = c.kernel.e.target.l2Bytes, bytes = 2 * c.kSize() * std::max(c.mSize(), c.nSize());
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

bool prefersGroups(const Contraction &c) {
  if (!canBlock(c)) {
    return false;
  }
  KGroup group = chooseGroup(c, lanesFor(c, c.nSize()));
  if (group == KGroup::Bf16Pair) {
    return prefersPairs(c);
  }
  return group == KGroup::ByteQuad ||
         (group == KGroup::WordPair && std::min(c.mSize(), c.nSize()) >= kFewestPaired);
}

KGroup amxGroup(const Contraction &c) {
  const Target &target = c.kernel.e.target;
  // Groups never cross the end of a dimension of k.
  if (!target.avx512 || target.vectorBytes != kTileBytes || c.k.empty() ||
      (c.k.size() > 1 && c.k.back() % 4 != 0)) {
    return KGroup::None;
  }
  if (target.amxBf16 && c.element.isF32() && c.lhs.holdsBf16 && c.rhs.holdsBf16) {
    return KGroup::Bf16Pair;
  }
  bool sums = isa<IntegerType>(c.element) && c.element.getIntOrFloatBitWidth() == 32;
  if (target.amxInt8 && sums && holdsInteger(c.lhs, 8, true) && holdsInteger(c.rhs, 8, true)) {
    return KGroup::ByteQuad;
  }
  return KGroup::None;
}

bool prefersAmx(const Contraction &c) {
  KGroup group = amxGroup(c);
  if (group == KGroup::None || !canBlock(c)) {
    return false;
  }
  // Rows are packed along k, in vectors along k, or along m through a transposition.
  bool lanes = c.lhs.unit == UnitStride::K ||
               (c.lhs.unit == UnitStride::Free && (c.m.size() == 1 || c.m.back() % kTileRows == 0));
  double m = c.mSize(), n = c.nSize(), k = c.kSize();
  // The forms for fewer rows (or columns) read the other side once, at the speed of memory.
  if (!lanes || std::min(m, n) <= 8) {
    return false;
  }
  // Cycles: a multiplication of tiles takes 16, storing a tile 16, packing a group of each side
  // about a quarter; a call configures tiles once, and each batch index once more per kind of
  // remainder.
  double step = group == KGroup::Bf16Pair ? 2 : 4;
  double tiles = llvm::divideCeil(c.mSize(), kTileRows) * llvm::divideCeil(c.nSize(), kTileRows);
  double steps = std::ceil(k / (step * kTileRows));
  double packing = (m + n) * k / (4 * step);
  double amx = tiles * (16 * steps + 32) + packing + 64;
  double perCycle = group == KGroup::Bf16Pair ? 32 : c.kernel.e.target.avx512vnni ? 128 : 32;
  double vectors = m * n * k / perCycle + packing;
  return amx < 0.8 * vectors;
}

} // namespace hlo::codegen

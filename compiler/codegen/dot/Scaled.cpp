//===- Scaled.cpp - The forms for few rows and scaled integers ------------===//
#include "compiler/codegen/dot/Scaled.h"
#include "compiler/analysis/QuantizedActivations.h"
#include "compiler/codegen/dot/QuantizedRows.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Bytes are unpacked in tiles of so many vectors: enough sums to hide the latency of their chains.
static constexpr int64_t kByteVectors = 8;

/// A scale that fewer elements along k share costs as much as it saves.
static constexpr int64_t kLeastRun = 8;
/// Most steps along k whose products are added up before the scale: the bias of packed integers,
/// which these sums have, costs a few bits, and as many are gained by the shorter sums.
static constexpr int64_t kMostSteps = 32;
/// The same without a bias: as many products are added up in f32 elsewhere.
static constexpr int64_t kMostUnbiased = 256;
/// The same of a lane, where lanes go along k.
static constexpr int64_t kMostInLane = 16;
/// Sums of a tile: for 16 registers, which also hold what is multiplied, and for 32.
static constexpr int64_t kFewSums = 8, kManySums = 16;
/// Rows of a register tile: with four, the integers are unpacked once for half of the registers.
static constexpr int64_t kTileRows = 4;

static int64_t mostSums(const Contraction &c) {
  return c.kernel.e.machine.vectors.registers >= 32 ? kManySums : kFewSums;
}

/// What all forms ask. One column is the single row of the exchanged product.
static bool canUseIntegers(const Contraction &c) {
  if (!c.rhs.scaled || c.mSize() > kMostRows || c.mSize() == 0 || c.batchSize() == 0 ||
      c.nSize() < 2 || c.k.size() != 1 || c.mSize() * c.kSize() * 4 > kMostCopied ||
      !linearStride(c.n, c.rhs.freeStrides) || c.kernel.e.machine.lanes(4) < 4) {
    return false;
  }
  int64_t bits = c.rhs.scaled->bits();
  bool areBytes =
      llvm::all_of(c.rhs.batchStrides, [&](int64_t stride) { return stride * bits % 8 == 0; });
  return areBytes && (c.rhs.scaledRun == 0 || c.rhs.scaledRun >= kLeastRun);
}

static bool canUseScaled(const Contraction &c) { return c.element.isF32() && canUseIntegers(c); }

bool canUseScaledStream(const Contraction &c) {
  if (!canUseScaled(c) || *linearStride(c.n, c.rhs.freeStrides) != 1) {
    return false;
  }
  Unpacker unpack = unpackerOf(c, UnitStride::Free);
  // The last tile ends with the columns, and begins with a byte.
  return c.nSize() >= unpack.span() && c.nSize() * unpack.bits % 8 == 0 &&
         c.rhs.kStrides.back() * unpack.bits % 8 == 0;
}

bool canUseScaledInner(const Contraction &c) {
  if (!canUseScaled(c) || !stepsAlongK(c.rhs)) {
    return false;
  }
  Unpacker unpack = unpackerOf(c, UnitStride::K);
  // Inner.cpp widens bytes alike, and has nothing to copy.
  if (!unpack.isPacked() && !c.rhs.scaled->hasScale()) {
    return false;
  }
  // A word has one scale, also in the last step, which ends with k.
  return c.kSize() >= unpack.span() && c.rhs.scaledRun % unpack.parts == 0 &&
         c.kSize() % unpack.parts == 0 &&
         *linearStride(c.n, c.rhs.freeStrides) * unpack.bits % 8 == 0;
}

/// What both forms by bytes ask: rows that are signed bytes or may be quantized, and a product for
/// the integers.
static bool canUseBytes(const Contraction &c) {
  auto lhs = dyn_cast_or_null<IntegerType>(c.lhs.narrowInteger);
  bool areBytes = c.element.isF32() ? c.hero->hasAttr(kQuantizeActivations)
                                    : lhs && lhs.getWidth() <= 8 && lhs.isSigned() &&
                                          c.rhs.scaled && !c.rhs.scaled->hasScale();
  return areBytes && canUseIntegers(c) &&
         byteProduct(c.kernel.e.machine, c.rhs.scaled->bits(), c.rhs.scaled->isSigned());
}

bool canUseByteStream(const Contraction &c) {
  if (!canUseBytes(c) || *linearStride(c.n, c.rhs.freeStrides) != 1) {
    return false;
  }
  // The last tile ends with the columns, and begins with a byte.
  ByteUnpacker unpack = byteUnpackerOf(c);
  return c.nSize() >= unpack.span() && c.nSize() * unpack.bits % 8 == 0 &&
         c.rhs.kStrides.back() * unpack.bits % 8 == 0;
}

bool canUseByteInner(const Contraction &c) {
  if (!canUseBytes(c) || !stepsAlongK(c.rhs)) {
    return false;
  }
  // A lane of four bytes has one scale, also in the last step, which ends with k. Without scales it
  // begins with a byte.
  ByteUnpacker unpack = byteUnpackerOf(c);
  int64_t perLane = (c.element.isF32() ? 4 : 1) * unpack.planes();
  return c.kSize() >= unpack.span() && c.rhs.scaledRun % perLane == 0 && c.kSize() % perLane == 0 &&
         *linearStride(c.n, c.rhs.freeStrides) * unpack.bits % 8 == 0;
}

ByteUnpacker byteUnpackerOf(const Contraction &c) {
  const ScaledOperand &scaled = *c.rhs.scaled;
  Emission &e = c.kernel.e;
  return {e, scaled.bits(), scaled.isSigned(), e.machine.lanes(4),
          *byteProduct(e.machine, scaled.bits(), scaled.isSigned())};
}

int64_t scaledRun(const Contraction &c) { return c.rhs.scaledRun ? c.rhs.scaledRun : c.kSize(); }

static int64_t tileRows(const Contraction &c) {
  return llvm::divideCeil(c.mSize(), llvm::divideCeil(c.mSize(), kTileRows));
}

ScaledTile scaledStreamTile(const Contraction &c) {
  Unpacker unpack = unpackerOf(c, UnitStride::Free);
  int64_t rows = tileRows(c), run = scaledRun(c);
  int64_t atOnce = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(mostSums(c) / rows)));
  // Blocks of one length, of whole steps.
  int64_t most = unpack.pairs ? kMostUnbiased : kMostSteps;
  int64_t depth = static_cast<int64_t>(
      llvm::alignTo(llvm::divideCeil(run, llvm::divideCeil(run, most)), rowsAtOnce(unpack)));
  return {rows, std::min(atOnce, unpack.parts), depth};
}

ScaledTile scaledInnerTile(const Contraction &c) {
  // Steps of a block are unrolled.
  constexpr int64_t kMostColumns = 4, kMostUnrolled = 8;
  Unpacker unpack = unpackerOf(c, UnitStride::K);
  int64_t rows = tileRows(c), run = scaledRun(c);
  int64_t columns = std::clamp<int64_t>(mostSums(c) / rows, 1, kMostColumns);
  columns = std::min<int64_t>(llvm::bit_floor(static_cast<uint64_t>(columns)),
                              llvm::PowerOf2Ceil(c.nSize()));
  int64_t depth = std::clamp<int64_t>(kMostInLane / unpack.parts, 1, kMostUnrolled);
  if (run < c.kSize()) {
    depth = run % unpack.span() == 0 ? std::gcd(depth, run / unpack.span()) : 1;
  }
  return {rows, columns, depth};
}

ScaledTile byteStreamTile(const Contraction &c) {
  ByteUnpacker unpack = byteUnpackerOf(c);
  int64_t rows = tileRows(c), run = scaledRun(c);
  auto planes = static_cast<uint64_t>(std::max<int64_t>(1, mostSums(c) / (4 * rows)));
  return {rows, std::min(static_cast<int64_t>(llvm::bit_floor(planes)), unpack.planes()),
          std::min(run, QuantizedRows::mostInBlock(c))};
}

ScaledTile byteInnerTile(const Contraction &c) {
  constexpr int64_t kMostColumns = 4;
  int64_t rows = tileRows(c);
  auto columns = static_cast<uint64_t>(std::clamp<int64_t>(mostSums(c) / rows, 1, kMostColumns));
  return {rows, std::min<int64_t>(llvm::bit_floor(columns), llvm::PowerOf2Ceil(c.nSize())),
          byteUnpackerOf(c).span()};
}

using CanUse = bool (*)(const Contraction &);
/// The first of the kinds that takes the contraction, as it is described or exchanged.
static std::optional<ContractionForm> firstForm(const Contraction &described,
                                                ArrayRef<std::pair<FormKind, CanUse>> kinds) {
  Contraction c = described;
  for (bool swapped : {false, true}) {
    for (auto [kind, canUse] : kinds) {
      if (canUse(c)) {
        return ContractionForm{kind, swapped};
      }
    }
    swapSides(c);
  }
  return std::nullopt;
}

std::optional<ContractionForm> formForBytes(const Contraction &c) {
  return firstForm(
      c, {{FormKind::ByteStream, canUseByteStream}, {FormKind::ByteInner, canUseByteInner}});
}

std::optional<ContractionForm> formForScaled(const Contraction &c) {
  if (!c.element.isF32()) {
    return std::nullopt;
  }
  if (std::optional<ContractionForm> form = formForBytes(c)) {
    return form;
  }
  return firstForm(c, {{FormKind::ScaledStream, canUseScaledStream},
                       {FormKind::ScaledInner, canUseScaledInner}});
}

ScaledForm::ScaledForm(Contraction &c, Epilogue &epilogue, UnitStride along, const ScaledTile &size)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element), unpack(unpackerOf(c, along)),
      size(size), m(c.mSize()), lanes(unpack.lanes), parts(unpack.parts), span(unpack.span()),
      run(scaledRun(c)) {}

Unpacker unpackerOf(const Contraction &c, UnitStride along) {
  const ScaledOperand &scaled = *c.rhs.scaled;
  Emission &e = c.kernel.e;
  int64_t parts = scaled.bits() < 8           ? integersPerWord(scaled.bits())
                  : along == UnitStride::Free ? kByteVectors
                                              : 1;
  Unpacker unpack{e, scaled.bits(), scaled.isSigned(), e.machine.lanes(4), parts};
  int64_t run = scaledRun(c);
  if (c.lhs.holdsBf16 && (along == UnitStride::K || run % 2 == 0)) {
    unpack.pairs = productOfUnpacked(e.machine, unpack.bits);
  }
  // A single row has registers for the sums of two vectors of words.
  constexpr int64_t kWide = 512;
  if (unpack.pairs && along == UnitStride::Free && c.mSize() == 1 && c.nSize() >= kWide &&
      2 * unpack.parts <= mostSums(c)) {
    unpack.runs = 2;
    unpack.parts *= 2;
  }
  return unpack;
}

Value scaledAddress(const Contraction &c, ArrayRef<Index> batch, Value free, Value k) {
  Emission &e = c.kernel.e;
  const ContractionSide &rhs = c.rhs;
  int64_t bits = rhs.scaled->bits();
  // Only the contiguous dimension may have elements inside of a byte.
  auto bytes = [&](Value index, int64_t stride) {
    return stride * bits % 8 == 0 ? mulI(e, index, stride * bits / 8)
                                  : divI(e, mulI(e, index, stride * bits), 8);
  };
  Value offset = addI(e, bytes(free, linearStride(c.n, rhs.freeStrides).value_or(1)),
                      bytes(k, rhs.kStrides.back()));
  for (auto [index, stride] : llvm::zip(batch, rhs.batchStrides)) {
    offset = addI(e, offset, bytes(index.base, stride));
  }
  return addBytes(e, rhs.scaled->pointer(), offset);
}

Value copyRow(Contraction &c, ArrayRef<Index> batch, int64_t row, function_ref<Value(Value)> place,
              Value ordinary) {
  Emission &e = c.kernel.e;
  Buffers buffers(e, c.element);
  SmallVector<Index> m = splitIndex(e, Index(constI64(e, row)), c.m, 1);
  return emitForCarrying(
      e, constI64(e, 0), constI64(e, c.kSize()), 1, ordinary,
      [&](Value at, ValueRange carried) -> SmallVector<Value> {
        Elem value = c.lhs.read(batch, m, splitIndex(e, Index(at), c.k, 1), 1, {});
        buffers.store(place(at), value);
        return {arith::AndIOp::create(e.b, e.loc, carried[0], isOrdinary(e, value.re))};
      })[0];
}

ColumnsAlongK columnsAlongK(const Contraction &c, ArrayRef<Index> batch, Value first,
                            int64_t count) {
  Emission &e = c.kernel.e;
  ColumnsAlongK columns;
  for (int64_t v = 0; v < count; ++v) {
    Value column = addI(e, first, v);
    column = c.nSize() % count ? minI(e, column, c.nSize() - 1) : column;
    columns.n.push_back(splitIndex(e, Index(column), c.n, 1));
    columns.addresses.push_back(scaledAddress(c, batch, column, constI64(e, 0)));
  }
  return columns;
}

void forEachGroup(Contraction &c, int64_t columns, function_ref<Value(ArrayRef<Index>)> copyRows,
                  function_ref<void(ArrayRef<Index>, Value, Value)> group) {
  Emission &e = c.kernel.e;
  int64_t groups = llvm::divideCeil(c.nSize(), columns);
  int64_t bytes = columns * c.kSize() * c.rhs.scaled->bits() / 8;
  int64_t perTask = unitsPerTask(groups, bytes, c.batchSize());
  forEachBatch(c, llvm::divideCeil(groups, perTask),
               [&](ArrayRef<Index> batch, Value first, Value last) {
                 Value ordinary = copyRows(batch);
                 emitFor(e, mulI(e, first, perTask), minI(e, mulI(e, last, perTask), groups), 1,
                         [&](Value number) { group(batch, number, ordinary); });
               });
}

void addPlainLanes(Contraction &c, ArrayRef<Index> batch, const ColumnsAlongK &columns,
                   int64_t rows, int64_t lanes, function_ref<Elem(int64_t, Value, Value)> element,
                   Sums &sums) {
  Emission &e = c.kernel.e;
  carryVectors(e, c.kSize(), lanes, sums, [&](Value at, Value mask, Sums &inner) {
    SmallVector<Index> k = splitIndex(e, Index(at, 1), c.k, lanes);
    multiplyStep(
        e, Multiplier{e, c.element}, rows, static_cast<int64_t>(columns.n.size()),
        [&](int64_t r) { return element(r, at, mask); },
        [&](int64_t v) {
          return zeroUnless(e, c.element, mask, c.rhs.read(batch, columns.n[v], k, lanes, mask));
        },
        inner);
  });
}

Value isOrdinary(Emission &e, Value value) {
  // Sums of 2^16 products with integers of up to 2^32 stay below 2^128.
  constexpr double kMost = 0x1p80;
  Value size = math::AbsFOp::create(e.b, e.loc, value);
  return arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OLE, size,
                               constF32(e, kMost, lanesOf(value)).re);
}

} // namespace hlo::codegen

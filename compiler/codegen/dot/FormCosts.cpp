//===- FormCosts.cpp - Cycles of the forms of a contraction ---------------===//
//
// In: a contraction and one of its forms. Out: the sizes that the form would take, and its cycles
// on one core, as sums of loops (machine/Costs.h): the inner loop, copies and packing, results.
// Epilogues are left out: they are the same for all forms. Operands that are computed are taken
// for loads of the array behind them.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/dot/Scaled.h"
#include "compiler/machine/Costs.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace hlo::codegen {

/// Scalar operations of a step of an index that no stride describes: divisions by constants,
/// comparisons with bounds.
static constexpr double kIndexSteps = 16;

namespace {
class FormCosts {
public:
  FormCosts(const Contraction &c, bool plainResult)
      : c(c), machine(c.kernel.e.machine), plainResult(plainResult),
        parts(isa<ComplexType>(c.element) ? 2 : 1), bytes(storageBytes(c.element)),
        multiplyAdd(isa<IntegerType>(c.element) ? machine.issue.integerMultiplyAdd : 1),
        lanes(lanesFor(c, std::numeric_limits<int32_t>::max())), batch(c.batchSize()), m(c.mSize()),
        n(c.nSize()), k(c.kSize()),
        level(levelOf(machine, batch * (m * k * bytesOf(c.lhs) + n * k * bytesOf(c.rhs)) +
                                   batch * m * n * bytes)) {}

  PlanCandidate of(FormKind kind) {
    switch (kind) {
    case FormKind::Trace: trace(); break;
    case FormKind::BatchLanes: batchLanes(); break;
    case FormKind::Matrix: matrix(); break;
    case FormKind::Groups:
    case FormKind::Blocked: blocked(); break;
    case FormKind::Inner: inner(); break;
    case FormKind::Stream: stream(); break;
    case FormKind::ScaledStream: scaled(UnitStride::Free); break;
    case FormKind::ScaledInner: scaled(UnitStride::K); break;
    case FormKind::ByteStream: quantized(UnitStride::Free); break;
    case FormKind::ByteInner: quantized(UnitStride::K); break;
    case FormKind::Nest: nest(); break;
    }
    return {"", sizes, cycles};
  }

private:
  void trace();
  void batchLanes();
  void matrix();
  void blocked();
  void inner();
  void stream();
  void scaled(UnitStride along);
  void quantized(UnitStride along);
  void nest();

  /// Bytes of an element of a side in memory.
  double bytesOf(const ContractionSide &side) const {
    return side.storage ? storageBytes(side.storage) : storageBytes(c.element);
  }
  /// The body's loop runs `times` times.
  void add(const LoopBody &body, double times) { cycles += cyclesOfLoop(machine, body) * times; }
  /// `count` multiply-adds of whole vectors, without a Product.
  void addMultiplyAdds(LoopBody &body, double count) const {
    body.multiplyAdds += count * parts * parts * multiplyAdd;
    body.others += multiplyAdd > 1 ? count * parts * parts : 0; // additions
  }
  /// Adds the time to read operands from L3 or memory while they are packed. Loads, shuffles and
  /// stores alternate there, so nothing hides it.
  void addWait(double read) {
    if (level >= Level::L3) {
      add({.bytes = read, .level = level}, 1);
    }
  }
  /// Adds to `body` the loads of `count` vectors of a side with lanes along the given group of
  /// dimensions, and the instructions that assemble or widen them.
  void addReads(LoopBody &body, const ContractionSide &side, UnitStride along, double count) const;
  /// Adds a pass that copies `elements` elements of a side to a buffer, `group` neighbours along k
  /// as one.
  void addCopy(const ContractionSide &side, UnitStride along, double elements, int64_t group = 1);
  /// Stores of the result, with lanes along its columns or, with `rows`, along its rows.
  void addResult(bool rows = false);
  /// "5 x 2".
  static std::string times(int64_t a, int64_t b) { return llvm::formatv("{0} x {1}", a, b).str(); }

  const Contraction &c;
  const Machine &machine;
  bool plainResult;
  int64_t parts, bytes;
  /// The cost of a multiply-add without a Product, in multiply-adds of f32. Integers are multiplied
  /// and added by two instructions.
  double multiplyAdd;
  int64_t lanes;
  double batch, m, n, k;
  Level level; ///< of everything together
  std::string sizes;
  double cycles = 0;
};
} // namespace

void FormCosts::addReads(LoopBody &body, const ContractionSide &side, UnitStride along,
                         double count) const {
  body.loads += count * parts;
  body.bytes += count * lanes * bytesOf(side);
  body.level = level;
  // Vectors that mostly leave the dimension that memory holds are gathered too.
  ArrayRef<int64_t> dims = along == UnitStride::K ? c.k : &side == &c.lhs ? c.m : c.n;
  bool byLane = side.unit != along || dims.empty() || 2 * dims.back() <= lanes;
  if (byLane) {
    body.loads += count * (lanes - 1);
    body.shuffles += count * lanes;
  }
  if (!side.strided) {
    body.integers += count * kIndexSteps * (byLane ? lanes : 1);
  }
  if (bytesOf(side) < bytes) {
    body.shuffles += count * machine.issue.widen;
  }
  if (parts == 2) {
    body.shuffles += 2 * count; // re and im from pairs
  }
}

void FormCosts::addCopy(const ContractionSide &side, UnitStride along, double elements,
                        int64_t group) {
  LoopBody body;
  double vectors = elements / lanes;
  if (group > 1 && side.unit == UnitStride::K && side.strided) {
    // Memory holds the groups.
    vectors /= group;
    body.loads = 1;
    body.bytes = lanes * bytes;
    body.level = level;
    body.shuffles = along == UnitStride::K ? 0 : std::log2(std::max<double>(2, lanes));
    body.stores = 1;
    body.trips = vectors;
    add(body, 1);
    return;
  }
  // The parts of a group are shifted to their place and united.
  body.others += 2.0 * (group - 1) / group;
  // Squares of lanes x lanes are transposed in registers.
  bool turned = side.unit != along && side.unit != UnitStride::None;
  addReads(body, side, turned ? side.unit : along, 1);
  body.shuffles += turned ? std::log2(std::max<double>(2, lanes)) : 0;
  if (group > 1 && level >= Level::L3) {
    addWait(elements * bytesOf(side));
    body.level = Level::L1;
  }
  body.stores = parts;
  body.integers += 2;
  body.trips = vectors;
  body.start = kLoopStart;
  add(body, 1);
}

void FormCosts::addResult(bool rows) {
  LoopBody body;
  ArrayRef<int64_t> strides = rows ? c.outM : c.outN;
  bool whole = strides.empty() || strides.back() == 1;
  body.stores = whole ? 1 : lanes;
  if (!whole && strides.back() * bytes >= kPageBytes && (rows ? m : n) > kTlbPages) {
    body.pages = lanes;
  }
  body.shuffles = whole ? 0 : lanes;
  body.bytes = lanes * bytes;
  body.level = level;
  body.trips = batch * m * n / lanes;
  add(body, 1);
}

void FormCosts::blocked() {
  BlockPlan plan = planBlocks(c, plainResult);
  int64_t steps = std::max<int64_t>(1, plan.mostSteps());
  double pieces = plan.kBlocks;
  TileShape tile{plan.rows, plan.vectors, 0};
  double perStep =
      cyclesOfTiles(machine, m, llvm::divideCeil(c.nSize(), plan.lanes), steps, plan.parts, tile,
                    plan.narrowLast, plan.product ? plan.product->costOfStep() : multiplyAdd);
  // Vectors of at most half a register take one pass where whole ones take two.
  bool fitsHalf = machine.vectors.halves && 2 * plan.lanes * bytes <= machine.vectors.bytes;
  cycles += batch * perStep * (fitsHalf ? 0.5 : 1) * k / plan.kStep();
  // An operand that is read in place is loaded once from the level that holds it.
  LoopBody stream;
  stream.level = level;
  stream.bytes = batch * ((plan.lhs == LhsForm::Direct ? m * k * bytesOf(c.lhs) : 0) +
                          (plan.packsRhs() ? 0 : n * k * bytesOf(c.rhs)));
  if (!plan.product && plan.rhs == RhsForm::Direct && bytesOf(c.rhs) < bytes) {
    // Widened for each tile of rows as they are loaded, beside the arithmetic.
    addMultiplyAdds(stream, batch * m * n * k / lanes);
    stream.shuffles = batch * n * k / lanes * llvm::divideCeil(c.mSize(), plan.rows);
  }
  cycles = std::max(cycles, cyclesOfLoop(machine, stream));
  if (plan.lhs != LhsForm::Direct) {
    double passes = plan.tilesOutside ? llvm::divideCeil(c.nSize(), plan.nBlock) : plan.nTasks;
    addCopy(c.lhs, plan.lhs == LhsForm::PackK ? UnitStride::K : UnitStride::Free,
            batch * m * k * passes, plan.kStep());
  }
  if (plan.packsRhs()) {
    double passes = plan.tilesOutside ? llvm::divideCeil(c.mSize(), plan.mBlock) : plan.mTasks;
    // Few columns are copied in vectors as narrow as the sums.
    int64_t whole = std::exchange(lanes, plan.lanes);
    addCopy(c.rhs, UnitStride::Free, batch * n * k * passes, plan.kStep());
    lanes = whole;
  }
  if (pieces > 1) {
    // Sums come and go.
    LoopBody body;
    body.loads = body.stores = parts;
    body.bytes = 2 * lanes * bytes;
    body.level = Level::L2;
    body.trips = batch * m * n / lanes * (pieces - 1);
    add(body, 1);
  }
  // Four loops start for every batch index, and for every piece of every task.
  cycles += (batch + plan.mTasks * plan.nTasks * plan.batchBlocks * pieces) * kLoopStart * 4;
  addResult();
  StringRef lhs[] = {"in place", "rows copied", "rows in panels"};
  StringRef rhs[] = {"in place", "panels", "panels, transposed", "stored panels"};
  sizes = llvm::formatv("tile {0}, k in {1} of {2}, lhs {3}, rhs {4}, {5}",
                        times(plan.rows, plan.vectors), plan.kBlocks, plan.kMost,
                        lhs[static_cast<int>(plan.lhs)], rhs[static_cast<int>(plan.rhs)],
                        plan.tilesOutside ? "tiles outside" : "panels outside")
              .str();
}

void FormCosts::matrix() {
  const Product *product = matrixProduct(c);
  cycles = batch * cyclesOfMatrix(machine, *product, m, n, k) + product->tiles->callCycles;
  addWait(batch * (m * k * bytesOf(c.lhs) + n * k * bytesOf(c.rhs)));
  addResult();
  sizes = llvm::formatv("registers {0} x {1} bytes", product->tiles->rows, product->tiles->rowBytes)
              .str();
}

void FormCosts::inner() {
  InnerTile tile = innerTile(c);
  int64_t along = lanesFor(c, c.k.back());
  double steps = k / c.k.back() * llvm::divideCeil(c.k.back(), along);
  double groups = llvm::divideCeil(c.nSize(), tile.columns);
  for (int64_t row = 0; row < c.mSize(); row += tile.rows) {
    double rows = std::min<int64_t>(tile.rows, c.mSize() - row);
    LoopBody body;
    addMultiplyAdds(body, rows * tile.columns);
    addReads(body, c.rhs, UnitStride::K, tile.columns);
    body.loads += rows * parts;
    if (row > 0) {
      body.level = Level::L1; // the first rows brought the columns
    }
    body.chain = parts;
    body.integers += 2;
    // Two shuffles and an addition halve two sums to one vector, while the next loop starts.
    body.start = kLoopStart + 1.5 * rows * tile.columns * parts / machine.issue.shuffle;
    body.trips = steps;
    add(body, batch * groups);
  }
  if (!c.lhs.strided || c.lhs.unit != UnitStride::K) {
    addCopy(c.lhs, UnitStride::K, batch * m * k);
  }
  addResult();
  sizes = "tile " + times(tile.rows, tile.columns);
}

void FormCosts::stream() {
  StreamTile tile = streamTile(c);
  double block = std::min(n, static_cast<double>(tile.block));
  double passes = std::ceil(m / tile.together), rows = m / passes;
  LoopBody body;
  if (const Product *pairs = pairsOfStream(c)) {
    double atOnce = tile.atOnce;
    body.multiplyAdds = rows * atOnce / 2 * pairs->costOfStep();
    body.loads = atOnce / 2;
    body.others = atOnce; // two rows of words become pairs by four operations
    body.bytes = atOnce * lanes * bytesOf(c.rhs);
    body.level = level;
  } else {
    addMultiplyAdds(body, rows * tile.atOnce);
    addReads(body, c.rhs, UnitStride::Free, tile.atOnce);
  }
  body.bytes /= passes; // later passes find them in L1
  body.loads += rows * parts;
  body.stores = rows * parts;
  body.integers += 2;
  body.start = kLoopStart + rows * tile.atOnce * parts / machine.issue.load;
  body.trips = std::ceil(block / lanes);
  add(body, batch * std::ceil(n / block) * std::ceil(k / tile.atOnce) * passes);
  if (!c.lhs.strided || c.lhs.strided->storage() != c.element) {
    addCopy(c.lhs, UnitStride::K, batch * m * k * std::ceil(n / block));
  }
  // Sums are cleared, and go to the result.
  addResult();
  addResult();
  sizes =
      llvm::formatv("{0} rows by {1} along k, {2} columns", tile.together, tile.atOnce, tile.block)
          .str();
}

void FormCosts::scaled(UnitStride along) {
  Unpacker unpack = unpackerOf(c, along);
  bool isStream = along == UnitStride::Free;
  ScaledTile tile = isStream ? scaledStreamTile(c) : scaledInnerTile(c);
  double passes = std::ceil(m / tile.rows), rows = m / passes;
  // A tile of integers: read and converted for each pass of rows, multiplied for each row.
  LoopBody body;
  double step = unpack.pairs ? 2 : 1; // tiles of integers whose pairs are multiplied
  double products = rows * static_cast<double>(unpack.parts);
  body.multiplyAdds = products * (unpack.pairs ? unpack.pairs->costOfStep() : 1);
  body.others = 2.0 * unpack.parts; // a mask, or a wider integer, and the conversion
  if (unpack.pairs) {
    body.others = unpack.parts + (isStream ? 4.0 : 0); // shifts, and two rows interleaved
    body.shuffles = unpack.parts;
  }
  body.loads = step + products / (isStream ? tile.atOnce : 1);
  body.integers = 3;
  body.bytes = step * static_cast<double>(unpack.tileBytes()) / passes;
  body.level = level;
  body.trips = batch * n * k / static_cast<double>(unpack.span()) * passes / step;
  add(body, 1);
  // What follows a block: factors, biases, the order of the lanes, scales.
  LoopBody end;
  end.multiplyAdds = 3;
  end.shuffles = isStream && unpack.isPacked() ? 3 : 1;
  end.loads = end.stores = 1;
  end.start = kLoopStart / unpack.parts;
  end.trips = batch * m * n * k / lanes / (isStream ? tile.depth : tile.depth * unpack.parts);
  add(end, 1);
  addResult();
  sizes = llvm::formatv("{0} rows by {1}, {2} along k", tile.rows, tile.atOnce, tile.depth).str();
}

void FormCosts::quantized(UnitStride along) {
  ByteUnpacker unpack = byteUnpackerOf(c);
  bool isStream = along == UnitStride::Free;
  ScaledTile tile = isStream ? byteStreamTile(c) : byteInnerTile(c);
  double passes = std::ceil(m / tile.rows), rows = m / passes;
  // A vector of bytes: split into planes for each pass of rows, multiplied for each row.
  LoopBody body;
  body.multiplyAdds = rows * unpack.planes() * unpack.product.cost;
  body.others = (unpack.bias() != 0) + (unpack.planes() > 1 ? 2.0 * unpack.planes() - 1 : 0);
  body.shuffles = isStream ? 2 * unpack.planes() : 0;
  body.loads = 1 + (isStream ? rows / 4 : body.multiplyAdds);
  body.integers = 3;
  body.bytes = unpack.bytes() / passes;
  body.level = level;
  body.trips = batch * n * k / unpack.span() * passes;
  add(body, 1);
  // What follows a block, or a step: conversion, order of the columns, scales; for integers an
  // addition.
  LoopBody end;
  bool isScaled = c.element.isF32();
  end.multiplyAdds = isScaled ? 2 : 0;
  end.others = 1;
  end.shuffles = isStream ? 3 : isScaled ? 1 : 0;
  end.loads = isScaled ? 2 : 1;
  end.stores = isStream ? 1 : 0;
  end.trips = batch * m * n * k / lanes / (isStream ? tile.depth : 4 * unpack.planes());
  add(end, 1);
  addResult();
  sizes = llvm::formatv("{0} rows by {1}, {2} along k", tile.rows, tile.atOnce, tile.depth).str();
}

void FormCosts::batchLanes() {
  BatchTile tile = batchTile(c);
  double vectors = batch / c.batch.back() * llvm::divideCeil(c.batch.back(), lanes);
  double rows = tile.rows, columns = tile.columns;
  LoopBody copy;
  copy.loads = copy.stores = 1;
  copy.bytes = lanes * bytes;
  copy.level = level;
  copy.integers = 3;
  // The large side of one row is read in place, once.
  copy.trips = tile.oneRow ? k : (m + n) * k;
  copy.start = kLoopStart;
  add(copy, vectors);
  LoopBody body;
  addMultiplyAdds(body, rows * columns);
  body.loads = rows + columns;
  body.chain = 1;
  body.bytes = tile.oneRow ? columns * lanes * bytes : 0;
  body.level = level;
  body.start = kLoopStart + rows * columns;
  body.trips = k;
  add(body, vectors * std::ceil(m * n / (rows * columns)));
  // The sums of all lanes, transposed to rows of the result.
  LoopBody store;
  store.loads = 2;
  store.stores = 2;
  store.shuffles = std::log2(std::max<double>(2, lanes));
  store.integers = 8;
  store.bytes = lanes * bytes;
  store.level = level;
  store.trips = vectors * m * n;
  add(store, 1);
  sizes = "tile " + times(tile.rows, tile.columns) + (tile.oneRow ? ", one row" : "");
}

void FormCosts::trace() {
  TraceAxis left = *unitAxis(c, c.lhs), right = *unitAxis(c, c.rhs);
  bool aligned = left == right;
  int64_t side = lanesFor(c, std::min(left.size, right.size));
  LoopBody body;
  body.level = level;
  double all = batch * k;
  if (aligned) {
    addMultiplyAdds(body, 1);
    body.loads = 2 * parts;
    body.bytes = side * (bytesOf(c.lhs) + bytesOf(c.rhs));
    body.integers = 2;
    body.trips = all / left.size * llvm::divideCeil(left.size, side);
  } else {
    addMultiplyAdds(body, side);
    body.loads = 2 * side * parts;
    body.shuffles = side * parts * std::log2(std::max<double>(2, side));
    body.bytes = side * side * (bytesOf(c.lhs) + bytesOf(c.rhs));
    body.integers = 2 * side;
    body.trips = all / left.size / right.size * llvm::divideCeil(left.size, side) *
                 llvm::divideCeil(right.size, side);
  }
  add(body, 1);
  LoopBody store;
  store.shuffles = left.inK && right.inK ? 2 * std::log2(std::max<double>(2, side)) : 0;
  store.stores = 1;
  store.extra = kLoopStart;
  store.trips = left.inK && right.inK ? batch : std::ceil(batch / side);
  add(store, 1);
  sizes = aligned ? llvm::formatv("vectors of {0}", side).str() : "squares of " + times(side, side);
}

void FormCosts::nest() {
  int64_t along = lanesFor(c, c.nSize());
  LoopBody body;
  addMultiplyAdds(body, 1);
  body.loads = parts;
  addReads(body, c.rhs, UnitStride::Free, 1);
  body.bytes *= static_cast<double>(along) / lanes;
  if (!c.rhs.kStrides.empty() && k > kTlbPages &&
      c.rhs.kStrides.back() * bytesOf(c.rhs) >= kPageBytes) {
    body.pages = 1;
  }
  if (!c.lhs.strided) {
    body.integers += kIndexSteps;
  }
  body.chain = parts;
  body.integers += 3;
  body.start = 2 * kLoopStart;
  body.trips = k;
  add(body, batch * m * llvm::divideCeil(c.nSize(), along));
  addResult();
  sizes = llvm::formatv("vectors of {0}", along).str();
}

PlanCandidate describeForm(const Contraction &described, const ContractionForm &form,
                           bool plainResult) {
  Contraction c = described;
  takeForm(c, form);
  PlanCandidate candidate = FormCosts(c, plainResult).of(form.kind);
  candidate.name = nameOf(form);
  return candidate;
}

} // namespace hlo::codegen

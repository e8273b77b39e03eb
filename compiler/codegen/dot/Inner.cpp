//===- Inner.cpp - Few rows: lanes along k --------------------------------===//
//
// Takes contractions of at most 16 rows whose rhs is contiguous along k: a row-major
// matrix times one or a few vectors, or a few rows times a transposed matrix. For
// each group of columns and each tile of rows, a loop over k accumulates
// rows x columns vectors of partial sums. After the loop the lanes of the sums are
// added, several sums at a time (addLanes).
//
// Each element of the rhs is read once, in order, in the width it has in memory:
// narrow types are widened, and prologues evaluated, in registers. Such a product is
// bound by memory, and packing would only add a write and a second read. The lhs is
// copied once per task in the type of accumulation, unless memory holds it so.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// Bytes of the large side that make a task worth its dispatch, and how many tasks share evenly.
static constexpr int64_t kBytesPerTask = 256 << 10, kEnoughTasks = 32;
/// So many rows of the small side have room in a set of L1 beside the columns.
static constexpr int64_t kFewRows = 4;
/// A small side that is read for fewer groups of columns is not copied.
static constexpr int64_t kFewGroups = 4;

/// Whether memory holds the small side as the inner loop reads it.
static bool isReadAsIs(const Contraction &c) {
  return c.lhs.strided && stepsAlongK(c.lhs) && c.lhs.strided->storage() == c.element;
}

Value addLanes(Emission &e, Type element, SmallVector<Value> vectors) {
  int64_t lanes = lanesOf(vectors[0]), count = vectors.size();
  auto add = [&](Value a, Value b, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    Value x = vector::ShuffleOp::create(e.b, e.loc, a, b, low);
    Value y = vector::ShuffleOp::create(e.b, e.loc, a, b, high);
    return addElems(e, element, Elem(x), Elem(y)).re;
  };
  for (; lanes > count; lanes /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes / 2; ++l) {
      low.push_back(l);
      high.push_back(l + lanes / 2);
    }
    for (Value &v : vectors) {
      v = add(v, v, low, high);
    }
  }
  // Two vectors become one. Each run of 2 * run lanes holds `run` partial sums of the first vector
  // and then `run` of the second:
  //
  //   a0 a1 a2 a3 | b0 b1 b2 b3  ->  a0+a2 a1+a3 b0+b2 b1+b3      (run = 2)
  for (int64_t run = lanes / 2; run >= 1; run /= 2) {
    int64_t half = vectors.size() / 2;
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t within = l % (2 * run), first = l - within;
      low.push_back((within >= run ? lanes + first : first) + within % run);
      high.push_back(low.back() + run);
    }
    for (int64_t i = 0; i < half; ++i) {
      vectors[i] = add(vectors[i], vectors[i + half], low, high);
    }
    vectors.resize(half);
  }
  return vectors[0];
}

namespace {
class Inner {
public:
  Inner(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  /// Rows [row, row + rows) of one group of columns.
  struct Tile {
    int64_t row, rows;
    SmallVector<SmallVector<Index>> n; ///< its columns
  };
  /// Body of the loops over k, for one vector: the index, the position in a row of the copy, the
  /// mask (null but for the remainder) and the carried sums; returns the next sums.
  using KBody =
      function_ref<SmallVector<Value>(Indices k, Value at, Value mask, ValueRange carried)>;
  SmallVector<Value> forEachK(SmallVector<Index> k, Value outer, ValueRange carried, KBody body);

  void copyRows(Indices batch);
  Elem readLhs(Indices batch, int64_t row, Indices k, Value at, Value mask);
  SmallVector<Value> multiply(Indices batch, const Tile &tile, Indices k, Value at, Value mask,
                              ValueRange acc);
  void storeTile(Indices batch, const Tile &tile, Value first, ArrayRef<Value> sums);
  void emitGroup(Indices batch, Value first);

  Type part() {
    auto complex = dyn_cast<ComplexType>(c.element);
    return complex ? complex.getElementType() : c.element;
  }
  Value copied(int64_t row, int64_t part, Value at) {
    return addBytes(e, copy, mulI(e, addI(e, at, (row * parts + part) * rowElements), partBytes));
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  int64_t lanes, parts, partBytes;
  int64_t rows;        ///< of a tile
  int64_t columns;     ///< of a group, a power of two
  int64_t groups;      ///< of columns
  int64_t rowElements; ///< stride of the copy's rows: whole vectors along the last dimension of k
  Value copy;          ///< the converted lhs; null if the lhs is read in place
};
} // namespace

Inner::Inner(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), lanes(lanesFor(c, c.k.back())),
      parts(isa<ComplexType>(c.element) ? 2 : 1),
      partBytes(computeType(c.element).getIntOrFloatBitWidth() / 8) {
  InnerTile tile = innerTile(c);
  rows = tile.rows;
  columns = tile.columns;
  int64_t m = c.mSize();
  groups = llvm::divideCeil(c.nSize(), columns);
  rowElements = c.kSize() / c.k.back() * static_cast<int64_t>(llvm::alignTo(c.k.back(), lanes));
  // Addresses a multiple of 4 KiB apart map to the same set of an L1 of 64 sets of 64-byte lines.
  rowElements += rowElements * partBytes % 4096 == 0 ? lanes : 0;
  int64_t bytes = m * parts * rowElements * partBytes;
  bool crowded = m > kFewRows && !c.lhs.freeStrides.empty() &&
                 c.lhs.freeStrides.back() * partBytes * parts % 4096 == 0;
  if ((!isReadAsIs(c) || crowded) &&
      (!stepsAlongK(c.lhs) || (groups > kFewGroups && bytes <= kMostCopied))) {
    copy = stackBuffer(e, bytes);
  }
}

SmallVector<Value> Inner::forEachK(SmallVector<Index> k, Value outer, ValueRange carried,
                                   KBody body) {
  int64_t size = c.k[k.size()];
  auto with = [&](Index i) {
    SmallVector<Index> deeper(k);
    deeper.push_back(i);
    return deeper;
  };
  if (k.size() + 1 < c.k.size()) {
    return emitForCarrying(e, constI64(e, 0), constI64(e, size), 1, carried,
                           [&](Value i, ValueRange values) {
                             Value deeper = addI(e, mulI(e, outer, size), i);
                             return forEachK(with(Index(i)), deeper, values, body);
                           });
  }
  Value start = mulI(e, outer, llvm::alignTo(size, lanes));
  int64_t full = size / lanes * lanes;
  auto at = [&](Value i) { return with(Index(i, lanes > 1 ? 1 : 0, lanes)); };
  SmallVector<Value> values = emitForCarrying(
      e, constI64(e, 0), constI64(e, full), lanes, carried,
      [&](Value i, ValueRange inner) { return body(at(i), addI(e, start, i), {}, inner); });
  if (full == size) {
    return values;
  }
  Value last = constI64(e, full);
  return body(at(last), addI(e, start, last), firstLanes(e, size - full, lanes), values);
}

void Inner::copyRows(Indices batch) {
  for (int64_t row = 0; row < c.mSize(); ++row) {
    SmallVector<Index> free = splitIndex(e, Index(constI64(e, row)), c.m, 1);
    forEachK({}, constI64(e, 0), {}, [&](Indices k, Value at, Value mask, ValueRange) {
      Elem value = zeroUnless(e, c.element, mask, c.lhs.read(batch, free, k, lanes, mask));
      Value zero = constI64(e, 0);
      storeElements(e, part(), Elem(value.re), copied(row, 0, at), zero);
      if (value.im) {
        storeElements(e, part(), Elem(value.im), copied(row, 1, at), zero);
      }
      return SmallVector<Value>();
    });
  }
}

Elem Inner::readLhs(Indices batch, int64_t row, Indices k, Value at, Value mask) {
  if (!copy) {
    SmallVector<Index> free = splitIndex(e, Index(constI64(e, row)), c.m, 1);
    return zeroUnless(e, c.element, mask, c.lhs.read(batch, free, k, lanes, mask));
  }
  Value zero = constI64(e, 0);
  Elem value(loadElements(e, part(), copied(row, 0, at), zero, lanes).re);
  if (parts == 2) {
    value.im = loadElements(e, part(), copied(row, 1, at), zero, lanes).re;
  }
  return value;
}

SmallVector<Value> Inner::multiply(Indices batch, const Tile &tile, Indices k, Value at, Value mask,
                                   ValueRange acc) {
  SmallVector<Elem> b;
  for (const SmallVector<Index> &column : tile.n) {
    b.push_back(zeroUnless(e, c.element, mask, c.rhs.read(batch, column, k, lanes, mask)));
  }
  SmallVector<Value> next;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Elem a = readLhs(batch, tile.row + r, k, at, mask);
    for (int64_t i = 0; i < columns; ++i) {
      size_t place = (r * columns + i) * parts;
      Elem sum(acc[place], parts == 2 ? acc[place + 1] : Value());
      sum = multiplyAdd(e, c.element, sum, a, b[i]);
      next.push_back(sum.re);
      if (sum.im) {
        next.push_back(sum.im);
      }
    }
  }
  return next;
}

void Inner::storeTile(Indices batch, const Tile &tile, Value first, ArrayRef<Value> sums) {
  Index lane(first, columns > 1 ? 1 : 0, columns);
  SmallVector<Index> n = splitIndex(e, lane, c.n, columns);
  Value mask;
  if (c.nSize() % columns != 0) {
    mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, lane, columns), c.nSize());
  }
  // The totals of so many rows fill one register.
  int64_t atOnce = std::max<int64_t>(1, lanes / columns);
  for (int64_t r0 = 0; r0 < tile.rows; r0 += atOnce) {
    int64_t count = std::min(atOnce, tile.rows - r0);
    Value totals[2];
    int64_t together = llvm::PowerOf2Ceil(count) * columns;
    for (int64_t p = 0; p < parts; ++p) {
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < together; ++i) {
        int64_t place = std::min(i, count * columns - 1);
        vectors.push_back(sums[(r0 * columns + place) * parts + p]);
      }
      totals[p] = lanes == 1 ? vectors[0] : addLanes(e, part(), vectors);
    }
    for (int64_t r = 0; r < count; ++r) {
      auto rowOf = [&](Value total) -> Value {
        if (!total || !isa<VectorType>(total.getType())) {
          return total;
        }
        if (columns == 1) {
          return vector::ExtractOp::create(e.b, e.loc, total, r);
        }
        SmallVector<int64_t> places;
        for (int64_t i = 0; i < columns; ++i) {
          places.push_back(r * columns + i);
        }
        return vector::ShuffleOp::create(e.b, e.loc, total, total, places);
      };
      SmallVector<Index> row = splitIndex(e, Index(constI64(e, tile.row + r0 + r)), c.m, 1);
      epilogue.store(c.element, Elem(rowOf(totals[0]), rowOf(totals[1])),
                     c.outIndex(batch, row, n, columns), columns, mask);
    }
  }
}

void Inner::emitGroup(Indices batch, Value first) {
  Tile tile;
  for (int64_t i = 0; i < columns; ++i) {
    Value n = addI(e, first, i);
    // Columns past the end repeat the last column; the store masks them off.
    tile.n.push_back(
        splitIndex(e, Index(c.nSize() % columns ? minI(e, n, c.nSize() - 1) : n), c.n, 1));
  }
  for (tile.row = 0; tile.row < c.mSize(); tile.row += tile.rows) {
    tile.rows = std::min(rows, c.mSize() - tile.row);
    SmallVector<Value> init;
    for (int64_t i = 0; i < tile.rows * columns; ++i) {
      Elem zero = zeroElem(e, c.element, lanes);
      init.push_back(zero.re);
      if (zero.im) {
        init.push_back(zero.im);
      }
    }
    SmallVector<Value> sums =
        forEachK({}, constI64(e, 0), init, [&](Indices k, Value at, Value mask, ValueRange acc) {
          return multiply(batch, tile, k, at, mask, acc);
        });
    storeTile(batch, tile, first, sums);
  }
}

void Inner::emit() {
  int64_t bytes = c.rhs.storage ? storageBytes(c.rhs.storage) : 4;
  int64_t groupBytes = std::max<int64_t>(1, columns * c.kSize() * bytes), batches = c.batchSize();
  int64_t wanted = std::max<int64_t>(kBytesPerTask, groupBytes * groups * batches / kEnoughTasks);
  // A task is either some groups of columns of one batch index, or all groups of several batch
  // indices.
  int64_t perTask = std::clamp<int64_t>(wanted / groupBytes, 1, groups);
  int64_t pieces = llvm::divideCeil(groups, perTask);
  perTask = llvm::divideCeil(groups, pieces);
  int64_t batchesPerTask =
      pieces > 1 ? 1 : std::clamp<int64_t>(wanted / (groupBytes * groups), 1, batches);
  int64_t batchTasks = llvm::divideCeil(batches, batchesPerTask);
  emitTasks(c.kernel, batchTasks * pieces, [&](Value task) {
    SmallVector<Value> place = delinearize(e, task, {batchTasks, pieces});
    Value batch0 = mulI(e, place[0], batchesPerTask);
    emitFor(e, batch0, minI(e, addI(e, batch0, batchesPerTask), batches), 1, [&](Value number) {
      SmallVector<Index> batch = splitIndex(e, Index(number), c.batch, 1);
      if (copy) {
        copyRows(batch);
      }
      Value from = mulI(e, place[1], perTask);
      emitFor(e, from, minI(e, addI(e, from, perTask), groups), 1,
              [&](Value group) { emitGroup(batch, mulI(e, group, columns)); });
    });
  });
}

void emitInner(Contraction &c, Epilogue &epilogue) { Inner(c, epilogue).emit(); }

} // namespace hlo::codegen

//===- Inner.cpp - Few rows: lanes along k --------------------------------===//
//
// In: a contraction with at most a few rows, both of whose sides step by one along
// k: a matrix stored by rows times a vector, or a vector times a transposed matrix.
// Out: for each group of columns, a loop over k that carries rows x columns vectors
// of partial sums; at the end the lanes of each are added up, halves first.
//
// Each element of the large side is read once, in order, and only as many bytes as
// it has in memory: narrow types are widened in registers. So this runs at the
// speed of memory, where packing would read, write and read again.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Contraction.h"

using namespace mlir;

namespace hlo::codegen {

/// More rows than this are better broadcast than summed by lanes.
static constexpr int64_t kMostRows = 4;
/// Accumulators of a group of columns.
static constexpr int64_t kAccumulators = 8;
/// Bytes of the large side that make a task worth its dispatch.
static constexpr int64_t kBytesPerTask = 256 << 10;

bool canUseInner(const Contraction &c) {
  bool unit = !c.k.empty() && c.lhs.kStrides.size() == c.k.size() &&
              c.rhs.kStrides.size() == c.k.size() && c.lhs.kStrides.back() == 1 &&
              c.rhs.kStrides.back() == 1;
  return unit && c.mSize() <= kMostRows && c.kSize() > 0 && c.batchSize() * c.nSize() > 0 &&
         c.k.back() >= 2 * lanesFor(c, c.k.back()) && !c.element.isInteger(1);
}

/// The sum of all lanes, as a scalar.
static Value addLanes(Emission &e, Type element, Value v) {
  for (int64_t lanes = lanesOf(v); lanes > 1; lanes /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t l = 0; l < lanes / 2; ++l) {
      low.push_back(l);
      high.push_back(l + lanes / 2);
    }
    Value a = vector::ShuffleOp::create(e.b, e.loc, v, v, low);
    Value b = vector::ShuffleOp::create(e.b, e.loc, v, v, high);
    v = addElems(e, element, Elem(a), Elem(b)).re;
  }
  return isa<VectorType>(v.getType()) ? vector::ExtractOp::create(e.b, e.loc, v, int64_t(0)).getResult()
                                      : v;
}

namespace {
/// One group of columns for all rows.
struct InnerTile {
  Contraction &c;
  int64_t rows, columns, lanes;
  SmallVector<Index> batch;
  SmallVector<SmallVector<Index>> m, n;

  Emission &e() { return c.kernel.e; }
  int64_t parts() { return isa<ComplexType>(c.element) ? 2 : 1; }

  SmallVector<Value> multiply(ArrayRef<Index> k, Value mask, ValueRange acc) {
    auto read = [&](ContractionSide &side, ArrayRef<Index> free) {
      return zeroUnless(e(), c.element, mask, side.read(batch, free, k, lanes, mask));
    };
    SmallVector<Elem> a;
    for (int64_t r = 0; r < rows; ++r) {
      a.push_back(read(c.lhs, m[r]));
    }
    SmallVector<Value> next;
    for (int64_t i = 0; i < columns; ++i) {
      Elem b = read(c.rhs, n[i]);
      for (int64_t r = 0; r < rows; ++r) {
        size_t place = (i * rows + r) * parts();
        Elem sum(acc[place], parts() == 2 ? acc[place + 1] : Value());
        sum = multiplyAdd(e(), c.element, sum, a[r], b);
        next.push_back(sum.re);
        if (sum.im) {
          next.push_back(sum.im);
        }
      }
    }
    return next;
  }

  /// Sums over dimensions depth, depth + 1, ... of k.
  SmallVector<Value> sum(SmallVector<Index> k, ValueRange acc) {
    int64_t size = c.k[k.size()];
    if (k.size() + 1 < c.k.size()) {
      return emitForCarrying(e(), constI64(e(), 0), constI64(e(), size), 1, acc,
                             [&](Value i, ValueRange carried) {
                               SmallVector<Index> deeper(k);
                               deeper.push_back(Index(i));
                               return sum(deeper, carried);
                             });
    }
    auto at = [&](Value i) {
      SmallVector<Index> deeper(k);
      deeper.push_back(Index(i, lanes > 1 ? 1 : 0, lanes));
      return deeper;
    };
    int64_t full = size / lanes * lanes;
    SmallVector<Value> sums =
        emitForCarrying(e(), constI64(e(), 0), constI64(e(), full), lanes, acc,
                        [&](Value i, ValueRange carried) { return multiply(at(i), {}, carried); });
    if (full == size) {
      return sums;
    }
    SmallVector<bool> on(lanes);
    std::fill(on.begin(), on.begin() + (size - full), true);
    auto type = VectorType::get({lanes}, e().b.getI1Type());
    Value mask = arith::ConstantOp::create(e().b, e().loc,
                                           DenseElementsAttr::get(type, ArrayRef<bool>(on)));
    return multiply(at(constI64(e(), full)), mask, sums);
  }
};
} // namespace

void emitInner(Contraction &c, Epilogue &epilogue) {
  Emission &e = c.kernel.e;
  int64_t rows = c.mSize(), size = c.nSize();
  int64_t columns = std::min<int64_t>(llvm::PowerOf2Ceil(size),
                                      std::max<int64_t>(1, llvm::bit_floor<uint64_t>(kAccumulators / rows)));
  int64_t groups = llvm::divideCeil(size, columns), items = c.batchSize() * groups;
  int64_t bytes = c.rhs.strided ? storageBytes(c.rhs.strided->storage()) : 4;
  int64_t perTask = std::clamp<int64_t>(kBytesPerTask / (columns * c.kSize() * bytes), 1, items);
  emitTasks(c.kernel, llvm::divideCeil(items, perTask), [&](Value task) {
    Value from = mulI(e, task, perTask);
    Value to = arith::MinSIOp::create(e.b, e.loc, addI(e, from, perTask), constI64(e, items));
    emitFor(e, from, to, 1, [&](Value item) {
      SmallVector<Value> place = delinearize(e, item, {c.batchSize(), groups});
      Value first = mulI(e, place[1], columns);
      InnerTile tile{c, rows, columns, lanesFor(c, c.k.back()), splitIndex(e, Index(place[0]), c.batch, 1)};
      for (int64_t r = 0; r < rows; ++r) {
        tile.m.push_back(splitIndex(e, Index(constI64(e, r)), c.m, 1));
      }
      for (int64_t i = 0; i < columns; ++i) {
        Value n = addI(e, first, i);
        if (size % columns != 0) {
          // Columns past the end repeat the last one, and are not stored.
          n = arith::MinSIOp::create(e.b, e.loc, n, constI64(e, size - 1));
        }
        tile.n.push_back(splitIndex(e, Index(n), c.n, 1));
      }
      Elem zero = zeroElem(e, c.element, tile.lanes);
      SmallVector<Value> init;
      for (int64_t i = 0; i < rows * columns; ++i) {
        init.push_back(zero.re);
        if (zero.im) {
          init.push_back(zero.im);
        }
      }
      SmallVector<Value> sums = tile.sum({}, init);
      Index lane(first, columns > 1 ? 1 : 0, columns);
      SmallVector<Index> n = splitIndex(e, lane, c.n, columns);
      Value mask;
      if (size % columns != 0) {
        mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, lane, columns), size);
      }
      for (int64_t r = 0; r < rows; ++r) {
        auto collect = [&](int64_t part) -> Value {
          SmallVector<Value> scalars;
          Type scalar = computeType(c.element);
          Type element = isa<ComplexType>(c.element) ? scalar : c.element;
          for (int64_t i = 0; i < columns; ++i) {
            scalars.push_back(addLanes(e, element, sums[(i * rows + r) * tile.parts() + part]));
          }
          return columns == 1 ? scalars[0]
                              : vector::FromElementsOp::create(
                                    e.b, e.loc, VectorType::get({columns}, scalar), scalars);
        };
        Elem value(collect(0), tile.parts() == 2 ? collect(1) : Value());
        epilogue.store(c.element, value, c.outIndex(tile.batch, tile.m[r], n, columns), columns, mask);
      }
    });
  });
}

} // namespace hlo::codegen

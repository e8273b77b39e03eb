//===- ScaledInner.cpp - Few rows, scaled integers along k ----------------===//
//
// In: a contraction of a few rows with a rhs of narrow integers (ScaledOperand) that is contiguous
// along k. Out: for a few columns at a time, vectors of sums with lanes along k:
//
//   for each block of k                          some steps, with one scale for each lane
//     sum[m, n]  = x[m, step, part] * stored[n, step, part] + ...      all steps and parts
//     out[m, n] += scale[n] * (sum[m, n] - biases[m]) + offset[n] * total[m]
//   add up the lanes of out
//
// A lane holds the integers of a word, a part of all lanes being one of each word (Unpack.h), or
// two if pairs of bf16 are multiplied. The lhs is copied to `x` in this order, multiplied by the
// factors of the parts; biases[m] and total[m] are vectors that are made beside it, and serve all
// columns.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Groups.h"
#include "compiler/codegen/dot/Scaled.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Bytes from a step's part of a column to what is prefetched: columns are read in order, one after
/// the other, a few at a time.
static constexpr int64_t kAhead = 16 * kLineBytes;

namespace {
class ScaledInner : ScaledForm {
public:
  ScaledInner(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  Value copyRows(Indices batch);
  void copyBlock(Value first, int64_t count, bool isTail);
  /// body(first step, number of steps, whether it is a last step that does not begin at a multiple
  /// of the span, sums).
  void forEachBlock(Sums &sums, function_ref<void(Value, int64_t, bool, Sums &)> body);
  void addBlock(Indices batch, ArrayRef<SmallVector<Index>> n, ArrayRef<Value> columnAt,
                int64_t row, int64_t rows, Value step, int64_t count, Sums &sums);
  void emitGroup(Indices batch, Value group, Value ordinary);

  /// The first k of a step: the last one ends with k.
  Value firstOf(Value step) {
    Value first = mulI(e, step, span);
    return c.kSize() % span ? minI(e, first, c.kSize() - span) : first;
  }
  Value plainAt(int64_t row, Value k) { return buffers.address(plain, k, row * plainRow); }
  /// Vector `number` of a step's copy: its parts, the biases, the totals.
  Value copyAt(int64_t row, Value step, int64_t number) {
    return buffers.address(copy, mulI(e, step, m * vectors * lanes),
                           (row * vectors + number) * lanes);
  }

  int64_t steps;
  int64_t products; ///< vectors of a row and step that are multiplied
  int64_t vectors;  ///< of a row and step in the copy
  int64_t plainRow; ///< of the plain copy
  Value plain;      ///< the lhs in f32, row by row
  Value copy;       ///< step by step, row by row, vectors by part
};
} // namespace

ScaledInner::ScaledInner(Contraction &c, Epilogue &epilogue)
    : ScaledForm(c, epilogue, UnitStride::K, scaledInnerTile(c)),
      steps(llvm::divideCeil(c.kSize(), span)), products(unpack.pairs ? parts / 2 : parts),
      vectors(products + 2), plainRow(static_cast<int64_t>(llvm::alignTo(c.kSize(), lanes))) {
  plain = stackBuffer(e, m * plainRow * buffers.partBytes);
  copy = stackBuffer(e, steps * m * vectors * lanes * buffers.partBytes);
}

/// Copies the steps of a block of the plain copy. Elements of the last step that the step before
/// has are zeros.
void ScaledInner::copyBlock(Value first, int64_t count, bool isTail) {
  int64_t shared = isTail ? steps * span - c.kSize() : 0;
  for (int64_t r = 0; r < m; ++r) {
    Elem biases = zeroElem(e, c.element, lanes), total = biases;
    for (int64_t s = 0; s < count; ++s) {
      Value step = addI(e, first, s);
      SmallVector<Value> inOrder;
      for (int64_t v = 0; v < parts; ++v) {
        Elem value = buffers.load(plainAt(r, addI(e, firstOf(step), v * lanes)), lanes);
        int64_t off = std::clamp<int64_t>(shared - v * lanes, 0, lanes);
        Value mask = off ? lastLanes(e, lanes - off, lanes) : Value();
        inOrder.push_back(zeroUnless(e, c.element, mask, value).re);
      }
      SmallVector<Value> byParts = unpack.byParts(inOrder);
      for (auto [p, value] : llvm::enumerate(byParts)) {
        int64_t part = static_cast<int64_t>(p);
        // In the order of the products: where all integers are zero, the sum of the products with
        // their biases is then exactly that of the biases.
        if (unpack.bias(part) != 0) {
          biases = multiply(biases, Elem(value), constF32(e, unpack.bias(part), lanes));
        }
        total = addElems(e, c.element, total, Elem(value));
        if (unpack.factor(part) != 1) {
          value =
              arith::MulFOp::create(e.b, e.loc, value, constF32(e, unpack.factor(part), lanes).re);
        }
        if (unpack.pairs && part >= products) {
          Value both[] = {byParts[part - products], value};
          value = groupLanes(e, KGroup::Bf16Pair, both);
        }
        if (!unpack.pairs || part >= products) {
          buffers.store(copyAt(r, step, part % products), Elem(value));
        }
      }
    }
    Value last = addI(e, first, count - 1);
    buffers.store(copyAt(r, last, products), biases);
    buffers.store(copyAt(r, last, products + 1), total);
  }
}

Value ScaledInner::copyRows(Indices batch) {
  Value ordinary = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
  for (int64_t r = 0; r < m; ++r) {
    ordinary = copyRow(c, batch, r, [&](Value at) { return plainAt(r, at); }, ordinary);
    buffers.fill(plain, constI64(e, r * plainRow), constI64(e, c.kSize()), constI64(e, plainRow),
                 zeroElem(e, c.element));
  }
  Sums none;
  forEachBlock(none, [&](Value step, int64_t count, bool isTail, Sums &) {
    copyBlock(step, count, isTail);
  });
  return ordinary;
}

void ScaledInner::forEachBlock(Sums &sums, function_ref<void(Value, int64_t, bool, Sums &)> body) {
  int64_t whole = c.kSize() / span, full = whole / size.depth * size.depth;
  carrySums(e, constI64(e, 0), constI64(e, full), size.depth, sums,
            [&](Value step, Sums &inner) { body(step, size.depth, false, inner); });
  if (full < whole) {
    body(constI64(e, full), whole - full, false, sums);
  }
  if (whole < steps) {
    body(constI64(e, whole), 1, true, sums);
  }
}

void ScaledInner::addBlock(Indices batch, ArrayRef<SmallVector<Index>> n, ArrayRef<Value> columnAt,
                           int64_t row, int64_t rows, Value step, int64_t count, Sums &sums) {
  int64_t columns = size.atOnce;
  Sums block = zeroSums(e, c.element, rows * columns, lanes);
  for (int64_t s = 0; s < count; ++s) {
    Value now = addI(e, step, s);
    SmallVector<Value> addresses;
    SmallVector<SmallVector<Value, 2>> words;
    for (int64_t v = 0; v < columns; ++v) {
      Value at = addBytes(e, columnAt[v], divI(e, mulI(e, firstOf(now), unpack.bits), 8));
      emitPrefetch(e, addBytes(e, at, constI64(e, kAhead)));
      addresses.push_back(at);
      words.push_back(unpack.words(at));
    }
    for (int64_t p = 0; p < products; ++p) {
      multiplyStep(
          e, Multiplier{e, c.element, unpack.pairs}, rows, columns,
          [&](int64_t r) { return buffers.load(copyAt(row + r, now, p), lanes); },
          [&](int64_t v) { return Elem(unpack.part(addresses[v], words[v], p)); }, block);
    }
  }
  // One scale for all lanes, or one for the integers of each lane's word.
  bool isUniform = run % span == 0 || run == c.kSize();
  Congruence known(c.kSize() % span ? std::gcd(span, c.kSize() - span) : span);
  Index k =
      run == c.kSize() ? Index(constI64(e, 0)) : Index(firstOf(step), isUniform ? 0 : parts, known);
  for (int64_t v = 0; v < columns; ++v) {
    int64_t scaleLanes = isUniform ? 1 : lanes;
    auto [scale, offset] =
        c.rhs.coefficients(batch, n[v], splitIndex(e, k, c.k, scaleLanes), scaleLanes);
    scale = scale ? splat(e, scale, lanes) : scale;
    offset = offset ? splat(e, offset, lanes) : offset;
    for (int64_t r = 0; r < rows; ++r) {
      auto ofBlock = [&](int64_t number) {
        return buffers.load(copyAt(row + r, addI(e, step, count - 1), number), lanes);
      };
      Elem sum = block[r * columns + v];
      if (unpack.hasBias()) {
        sum = Elem(arith::SubFOp::create(e.b, e.loc, sum.re, ofBlock(products).re));
      }
      Elem &out = sums[r * columns + v];
      out = scale ? multiply(out, sum, scale) : addElems(e, c.element, out, sum);
      out = offset ? multiply(out, ofBlock(products + 1), offset) : out;
    }
  }
}

void ScaledInner::emitGroup(Indices batch, Value group, Value ordinary) {
  int64_t columns = size.atOnce;
  Value first = mulI(e, group, columns);
  ColumnsAlongK some = columnsAlongK(c, batch, first, columns);
  for (int64_t row = 0; row < m; row += size.rows) {
    int64_t rows = std::min(size.rows, m - row);
    const Sums zero = zeroSums(e, c.element, rows * columns, lanes);
    auto byBlocks = [&](Sums &sums) {
      forEachBlock(sums, [&](Value step, int64_t count, bool, Sums &inner) {
        addBlock(batch, some.n, some.addresses, row, rows, step, count, inner);
      });
    };
    auto plainly = [&](Sums &sums) {
      auto element = [&](int64_t r, Value at, Value) {
        return buffers.load(plainAt(row + r, at), lanes);
      };
      addPlainLanes(c, batch, some, rows, lanes, element, sums);
    };
    Sums sums = chooseSums(e, ordinary, zero, byBlocks, plainly);
    storeLaneSums(c, epilogue, {batch, row, rows, first, columns, lanes}, sums);
  }
}

void ScaledInner::emit() {
  forEachGroup(
      c, size.atOnce, [&](Indices batch) { return copyRows(batch); },
      [&](Indices batch, Value group, Value ordinary) { emitGroup(batch, group, ordinary); });
}

void emitScaledInner(Contraction &c, Epilogue &epilogue) { ScaledInner(c, epilogue).emit(); }

} // namespace hlo::codegen

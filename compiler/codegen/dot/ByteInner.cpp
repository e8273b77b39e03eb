//===- ByteInner.cpp - Few quantized rows, integers along k ---------------===//
//
// In: a contraction of a few rows, which are bytes or may be quantized (QuantizedRows), with a rhs
// of narrow integers (ScaledOperand) that is contiguous along k. Out: for a few columns at a time,
// vectors of sums with lanes along k:
//
//   for each step along k
//     sum[m, n]  = bytes[m, step, plane] * stored[n, step, plane] + ...   Products of four bytes
//     out[m, n] += scale[n] * (scale[m] * sum[m, n]) + offset[n] * total[m]
//   add up the lanes of out
//
// A lane has the integers of four bytes of the rhs. The bytes of a row are copied by planes
// (ByteUnpacker); the scales, the start of the sums and the totals of its lanes are made beside
// them, and serve all columns.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/UnpackBytes.h"
#include "compiler/codegen/dot/QuantizedRows.h"
#include "compiler/codegen/dot/Scaled.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Bytes from a step's part of a column to what is prefetched: columns are read in order, one after
/// the other, a few at a time.
static constexpr int64_t kAhead = 16 * kLineBytes;

namespace {
class ByteInner {
public:
  ByteInner(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  void copyStep(int64_t row, Value step, bool isTail);
  Value copyRows(Indices batch);
  void addStep(Indices batch, ArrayRef<SmallVector<Index>> n, ArrayRef<Value> columnAt, int64_t row,
               int64_t rows, Value step, Sums &sums);
  void emitGroup(Indices batch, Value group, Value ordinary);

  /// The first k of a step: the last one ends with k.
  Value firstOf(Value step) {
    Value first = mulI(e, step, span);
    return c.kSize() % span ? minI(e, first, c.kSize() - span) : first;
  }
  /// Vector `number` of a step's copy: its planes, then what follows.
  Value copyAt(int64_t row, Value step, int64_t number) {
    Value place = mulI(e, step, m * vectors * unpack.bytes());
    return addBytes(e, copy, addI(e, place, (row * vectors + number) * unpack.bytes()));
  }
  Value loadFloats(int64_t row, Value step, int64_t number) {
    return loadElements(e, e.b.getF32Type(), copyAt(row, step, number), constI64(e, 0), lanes).re;
  }
  Value loadIntegers(Type element, int64_t row, Value step, int64_t number, int64_t count) {
    return loadElements(e, element, copyAt(row, step, number), constI64(e, 0), count).re;
  }
  Type integer(unsigned bits) {
    return IntegerType::get(e.b.getContext(), bits, IntegerType::Signed);
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Buffers buffers;
  ByteUnpacker unpack;
  QuantizedRows activations;
  ScaledTile size;
  int64_t m, lanes, planes, span, steps, run;
  int64_t perLane;  ///< integers of a lane
  int64_t vectors;  ///< of a row and step in the copy
  Value copy;       ///< step by step, row by row: planes, scales, starts, totals
  Value laneScales; ///< of a row
};
} // namespace

ByteInner::ByteInner(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element), unpack(byteUnpackerOf(c)),
      activations(c), size(byteInnerTile(c)), m(c.mSize()), lanes(unpack.lanes),
      planes(unpack.planes()), span(unpack.span()), steps(llvm::divideCeil(c.kSize(), span)),
      run(scaledRun(c)), perLane(4 * planes), vectors(planes + 3) {
  copy = stackBuffer(e, steps * m * vectors * unpack.bytes());
  if (c.element.isF32()) {
    laneScales = stackBuffer(e, c.kSize() / perLane * 4);
  }
}

/// Elements of the last step that the step before has are zeros.
void ByteInner::copyStep(int64_t row, Value step, bool isTail) {
  int64_t shared = isTail ? steps * span - c.kSize() : 0, bytes = unpack.bytes();
  Value first = firstOf(step);
  SmallVector<Value> from;
  for (int64_t v = 0; v < planes; ++v) {
    Value at = activations.byteAt(row, addI(e, first, v * bytes));
    Elem value = loadElements(e, integer(8), at, constI64(e, 0), bytes);
    int64_t off = std::clamp<int64_t>(shared - v * bytes, 0, bytes);
    Value mask = off ? lastLanes(e, bytes - off, bytes) : Value();
    from.push_back(zeroUnless(e, integer(8), mask, value).re);
  }
  from = takenApart(e, from);
  auto wide = VectorType::get({lanes}, e.b.getI32Type());
  auto sumTimes = [&](int64_t factor) {
    auto type = cast<ShapedType>(from[0].getType());
    auto all = DenseElementsAttr::get(type, APInt(8, static_cast<uint64_t>(factor) & 0xff));
    Value factors = arith::ConstantOp::create(e.b, e.loc, all), sum = zeroOf(e, wide);
    for (Value plane : from) {
      sum = unpack.multiply(sum, vector::BitCastOp::create(e.b, e.loc, wide, factors),
                            vector::BitCastOp::create(e.b, e.loc, wide, plane));
    }
    return sum;
  };
  for (auto [p, plane] : llvm::enumerate(from)) {
    storeElements(e, integer(8), Elem(plane), copyAt(row, step, static_cast<int64_t>(p)),
                  constI64(e, 0));
  }
  if (unpack.bias() != 0) {
    Value start = arith::SubIOp::create(e.b, e.loc, zeroOf(e, wide), sumTimes(unpack.bias()));
    storeElements(e, integer(32), Elem(start), copyAt(row, step, planes + 1), constI64(e, 0));
  }
  if (!c.element.isF32()) {
    return;
  }
  Value scales = loadElements(e, e.b.getF32Type(), laneScales, divI(e, first, perLane), lanes).re;
  storeElements(e, e.b.getF32Type(), Elem(scales), copyAt(row, step, planes), constI64(e, 0));
  if (c.rhs.scaled->hasOffset()) {
    Value count = arith::SIToFPOp::create(e.b, e.loc, scales.getType(), sumTimes(1));
    Value total = arith::MulFOp::create(e.b, e.loc, count, scales);
    storeElements(e, e.b.getF32Type(), Elem(total), copyAt(row, step, planes + 2), constI64(e, 0));
  }
}

Value ByteInner::copyRows(Indices batch) {
  Value ordinary = activations.fill(batch);
  int64_t whole = c.kSize() / span;
  for (int64_t r = 0; r < m; ++r) {
    if (laneScales) {
      emitFor(e, constI64(e, 0), constI64(e, c.kSize() / perLane), 1, [&](Value lane) {
        Value block = activations.blockOf(mulI(e, lane, perLane));
        storeElements(e, e.b.getF32Type(), Elem(activations.scaleOf(r, block)), laneScales, lane);
      });
    }
    emitFor(e, constI64(e, 0), constI64(e, whole), 1,
            [&](Value step) { copyStep(r, step, /*isTail=*/false); });
    if (whole < steps) {
      copyStep(r, constI64(e, whole), /*isTail=*/true);
    }
  }
  return ordinary;
}

void ByteInner::addStep(Indices batch, ArrayRef<SmallVector<Index>> n, ArrayRef<Value> columnAt,
                        int64_t row, int64_t rows, Value step, Sums &sums) {
  int64_t columns = size.atOnce;
  auto wide = VectorType::get({lanes}, e.b.getI32Type());
  auto asWords = [&](Value bytes) -> Value {
    return vector::BitCastOp::create(e.b, e.loc, wide, bytes);
  };
  // One scale for all lanes, or one for the integers of each.
  bool isUniform = run % span == 0 || run == c.kSize();
  Congruence known(c.kSize() % span ? std::gcd(span, c.kSize() - span) : span);
  Index k = run == c.kSize() ? Index(constI64(e, 0))
                             : Index(firstOf(step), isUniform ? 0 : perLane, known);
  for (int64_t v = 0; v < columns; ++v) {
    Value at = addBytes(e, columnAt[v], divI(e, mulI(e, firstOf(step), unpack.bits), 8));
    emitPrefetch(e, addBytes(e, at, constI64(e, kAhead)));
    Value bytes = unpack.load(at);
    auto startOf = [&](int64_t r) {
      return loadIntegers(integer(32), row + r, step, planes + 1, lanes);
    };
    auto addProducts = [&](Value sum, int64_t r) {
      for (int64_t p = 0; p < planes; ++p) {
        Value factors = loadIntegers(integer(8), row + r, step, p, unpack.bytes());
        sum = unpack.multiply(sum, asWords(unpack.plane(bytes, p)), asWords(factors));
      }
      return sum;
    };
    if (!c.element.isF32()) {
      for (int64_t r = 0; r < rows; ++r) {
        Elem &out = sums[r * columns + v];
        out = unpack.bias() == 0 ? out : addElems(e, c.element, out, Elem(startOf(r)));
        out = Elem(addProducts(out.re, r));
      }
      continue;
    }
    int64_t scaleLanes = isUniform ? 1 : lanes;
    auto [scale, offset] =
        c.rhs.coefficients(batch, n[v], splitIndex(e, k, c.k, scaleLanes), scaleLanes);
    for (int64_t r = 0; r < rows; ++r) {
      Value sum = addProducts(unpack.bias() == 0 ? zeroOf(e, wide) : startOf(r), r);
      auto floats = VectorType::get({lanes}, e.b.getF32Type());
      Elem value(arith::SIToFPOp::create(e.b, e.loc, floats, sum));
      Elem own(loadFloats(row + r, step, planes));
      Elem &out = sums[r * columns + v];
      if (scale) {
        Elem scaled(arith::MulFOp::create(e.b, e.loc, value.re, own.re));
        out = multiplyAdd(e, c.element, out, scaled, splat(e, scale, lanes));
      } else {
        out = multiplyAdd(e, c.element, out, value, own);
      }
      if (offset) {
        Elem total(loadFloats(row + r, step, planes + 2));
        out = multiplyAdd(e, c.element, out, total, splat(e, offset, lanes));
      }
    }
  }
}

void ByteInner::emitGroup(Indices batch, Value group, Value ordinary) {
  int64_t columns = size.atOnce;
  Value first = mulI(e, group, columns);
  ColumnsAlongK some = columnsAlongK(c, batch, first, columns);
  for (int64_t row = 0; row < m; row += size.rows) {
    int64_t rows = std::min(size.rows, m - row);
    Sums sums = zeroSums(e, c.element, rows * columns, lanes);
    auto addSteps = [&](Sums &inner) {
      carrySums(e, constI64(e, 0), constI64(e, steps), 1, inner, [&](Value step, Sums &now) {
        addStep(batch, some.n, some.addresses, row, rows, step, now);
      });
    };

    auto plainly = [&](Sums &inner) {
      auto element = [&](int64_t r, Value at, Value mask) {
        return loadElements(e, c.element, activations.plainAt(row + r, at), constI64(e, 0), lanes,
                            mask);
      };
      addPlainLanes(c, batch, some, rows, lanes, element, inner);
    };
    if (ordinary) {
      sums = chooseSums(e, ordinary, sums, addSteps, plainly);
    } else {
      addSteps(sums);
    }
    storeLaneSums(c, epilogue, {batch, row, rows, first, columns, lanes}, sums);
  }
}

void ByteInner::emit() {
  forEachGroup(
      c, size.atOnce, [&](Indices batch) { return copyRows(batch); },
      [&](Indices batch, Value group, Value ordinary) { emitGroup(batch, group, ordinary); });
}

void emitByteInner(Contraction &c, Epilogue &epilogue) { ByteInner(c, epilogue).emit(); }

} // namespace hlo::codegen

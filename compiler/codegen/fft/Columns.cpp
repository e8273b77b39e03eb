//===- Columns.cpp - Transforms of the columns of a matrix ----------------===//
//
// In: a block of columns, a few vectors wide, whose rows the caller reads and writes. Out: the DFT
// of each column. A length n = p1 p2 ... takes one Stockham pass per radix, between two buffers,
// without a reordering pass:
//
//   y[q + s (p k + r)] = w_len^(k r) * sum over t < p of w_p^(r t) x[q + s (k + m t)]
//       len = p m the remaining length, s = n / len, q < s, k < m, r < p
//
// where x[i] is a row of vectors. The first pass reads the caller's rows, the last one (m = 1: no
// twiddles) writes them. Twiddles are scalars of a table, broadcast.
//
// A length with a large prime factor becomes a cyclic convolution of length m >= 2n - 1:
//
//   y_k = c_k sum over j of (x_j c_j) conj(c)_(k-j),  c_j = exp(-pi i j^2 / n)
//
// by two transforms of length m and the transform of conj(c), which is a table.
//
// Sources: Stockham's autosort formulation as in C. Van Loan, Computational Frameworks for the Fast
// Fourier Transform, SIAM 1992, section 1.7; L. Bluestein, A linear filtering approach to the
// computation of discrete Fourier transform, 1970.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Columns.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/fft/Roots.h"
#include "compiler/plans/FftPlan.h"

using namespace mlir;

namespace hlo::codegen {

Value ColumnBlock::count(Emission &e) const {
  Value some = constI64(e, least);
  return isWhole ? arith::SelectOp::create(e.b, e.loc, isWhole, constI64(e, lanes), some) : some;
}

Value ColumnBlock::at(Emission &e, int64_t i) const {
  Value last = addI(e, first, std::min(i, least - 1));
  return isWhole && i >= least
             ? arith::SelectOp::create(e.b, e.loc, isWhole, addI(e, first, i), last)
             : last;
}

void ColumnBlock::forEach(Emission &e, function_ref<void(int64_t)> body) const {
  for (int64_t i = 0; i < least; ++i) {
    body(i);
  }
  if (isWhole) {
    emitIf(e, isWhole, [&] {
      for (int64_t i = least; i < lanes; ++i) {
        body(i);
      }
    });
  }
}

void emitColumnBlock(Emission &e, int64_t size, int64_t lanes, int64_t vectors, Value number,
                     function_ref<void(const ColumnBlock &)> body, bool oneBody) {
  Value first = mulI(e, number, vectors * lanes);
  int64_t rest = size % lanes;
  ColumnBlock whole{first, lanes, vectors, lanes, {}, {}};
  if (rest == 0) {
    body(whole);
    return;
  }
  Value some = firstLanes(e, rest, lanes);
  ColumnBlock last{first, lanes, 1, rest, {}, some};
  if (size < lanes) {
    body(last);
    return;
  }
  Value isWhole = compareI(e, arith::CmpIPredicate::slt, number, size / lanes / vectors);
  if (oneBody && e.machine.vectors.hasPredicates() && vectors == 1) {
    Value all = firstLanes(e, lanes, lanes);
    last.isWhole = isWhole;
    last.mask = arith::SelectOp::create(e.b, e.loc, isWhole, all, some);
    body(last);
    return;
  }
  auto branch = scf::IfOp::create(e.b, e.loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  body(whole);
  e.b.setInsertionPointToStart(branch.elseBlock());
  body(last);
}

ColumnTransforms::ColumnTransforms(Emission &e, Type real, bool inverse)
    : e(e), math{e, real}, inverse(inverse) {}

SmallVector<int64_t> ColumnTransforms::radices(int64_t n) {
  // Eight complex values and their sums fill 32 registers, not 16.
  return fftRadices(n, e.machine.vectors.registers >= 32 ? 8 : 4);
}

Elem ColumnTransforms::load(const RowBuffer &buffer, Value row, Value vector, int64_t lanes) {
  Value at = mulI(e, addI(e, mulI(e, row, buffer.vectors), vector), 2 * lanes);
  return Elem(loadElements(e, math.real, buffer.base, at, lanes).re,
              loadElements(e, math.real, buffer.base, addI(e, at, lanes), lanes).re);
}

void ColumnTransforms::store(const RowBuffer &buffer, Value row, Value vector, const Elem &value) {
  int64_t lanes = lanesOf(value.re);
  Value at = mulI(e, addI(e, mulI(e, row, buffer.vectors), vector), 2 * lanes);
  storeElements(e, math.real, Elem(value.re), buffer.base, at);
  storeElements(e, math.real, Elem(value.im), buffer.base, addI(e, at, lanes));
}

Elem ColumnTransforms::splatRoot(Value table, Value index, int64_t lanes) {
  Value at = mulI(e, index, 2);
  Elem root(loadElements(e, math.real, table, at, 1).re,
            loadElements(e, math.real, table, addI(e, at, 1), 1).re);
  return splat(e, root, lanes);
}

/// The twiddles w^(k r), r = 1, ..., p - 1, for each k < m.
Value ColumnTransforms::twiddleTable(const Pass &pass, bool inverse) {
  int64_t length = pass.n / pass.stride;
  std::string name =
      (Twine(inverse ? "back" : "roots") + Twine(length) + "." + Twine(pass.radix)).str();
  return constantTable(e, math.real, name, [&] {
    std::vector<long double> values;
    for (int64_t k = 0; k < length / pass.radix; ++k) {
      for (int64_t r = 1; r < pass.radix; ++r) {
        auto [c, s] = rootOfUnity(k * r, length);
        values.insert(values.end(), {c, inverse ? -s : s});
      }
    }
    return values;
  });
}

void ColumnTransforms::pass(const Pass &pass, int64_t lanes, int64_t vectors, bool inverse,
                            ReadColumns read, WriteColumns write) {
  int64_t p = pass.radix, s = pass.stride, m = pass.n / s / p;
  Value zero = constI64(e, 0), table = m > 1 ? twiddleTable(pass, inverse) : Value();
  emitFor(e, zero, constI64(e, m), 1, [&](Value k) {
    SmallVector<Elem> roots;
    for (int64_t r = 1; r < p && m > 1; ++r) {
      roots.push_back(splatRoot(table, addI(e, mulI(e, k, p - 1), r - 1), lanes));
    }
    emitFor(e, zero, constI64(e, s), 1, [&](Value q) {
      emitFor(e, zero, constI64(e, vectors), 1, [&](Value vector) {
        SmallVector<Elem> x;
        Value from = addI(e, q, mulI(e, k, s));
        for (int64_t t = 0; t < p; ++t) {
          x.push_back(read(addI(e, from, s * m * t), vector));
        }
        SmallVector<Elem> y = butterfly(math, x, inverse);
        Value to = addI(e, q, mulI(e, k, s * p));
        for (int64_t r = 0; r < p; ++r) {
          write(addI(e, to, s * r), vector, r == 0 || m == 1 ? y[r] : math.mul(y[r], roots[r - 1]));
        }
      });
    });
  });
}

RowBuffer ColumnTransforms::smooth(int64_t n, int64_t lanes, int64_t vectors, bool inverse,
                                   ReadColumns read, WriteColumns *write, Value bufferA,
                                   Value bufferB, bool fromA) {
  SmallVector<int64_t> factors = radices(n);
  if (factors.empty()) {
    factors.push_back(1);
  }
  RowBuffer source, target{fromA ? bufferB : bufferA, vectors},
      other{fromA ? bufferA : bufferB, vectors};
  int64_t stride = 1;
  for (auto [i, p] : llvm::enumerate(factors)) {
    auto readSource = [&](Value row, Value vector) {
      return i == 0 ? read(row, vector) : load(source, row, vector, lanes);
    };
    auto writeTarget = [&](Value row, Value vector, const Elem &value) {
      if (write && i + 1 == factors.size()) {
        (*write)(row, vector, value);
      } else {
        store(target, row, vector, value);
      }
    };
    pass({n, p, stride}, lanes, vectors, inverse, readSource, writeTarget);
    stride *= p;
    source = target;
    std::swap(target, other);
  }
  return source;
}

Value ColumnTransforms::chirpTable(int64_t n) {
  return constantTable(e, math.real, ("chirp" + Twine(n)).str(), [&] {
    std::vector<long double> values;
    for (int64_t j = 0; j < n; ++j) {
      auto [c, s] = rootOfUnity(static_cast<__int128>(j) * j % (2 * n), 2 * n);
      values.insert(values.end(), {c, inverse ? -s : s});
    }
    return values;
  });
}

Value ColumnTransforms::chirpSpectrum(int64_t n, int64_t m, int64_t lanes) {
  return constantTable(e, math.real, ("spectrum" + Twine(n) + "." + Twine(lanes)).str(), [&] {
    std::vector<Complex> x(m, {0, 0});
    for (int64_t j = 0; j < n; ++j) {
      auto [c, s] = rootOfUnity(static_cast<__int128>(j) * j % (2 * n), 2 * n);
      x[j] = x[j == 0 ? 0 : m - j] = {c / m, (inverse ? s : -s) / m};
    }
    x = transformOf(x);
    std::vector<long double> values(2 * m);
    for (int64_t k = 0; k < m; ++k) {
      int64_t at = k / lanes * 2 * lanes + k % lanes;
      values[at] = x[k].first;
      values[at + lanes] = x[k].second;
    }
    return values;
  });
}

RowBuffer ColumnTransforms::chirp(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read,
                                  Value bufferA, Value bufferB) {
  int64_t m = fftConvolutionLength(n);
  // Write to the second buffer, because the source may be rows of the first, in any order.
  RowBuffer b{bufferB, vectors};
  Value zero = constI64(e, 0), factors = chirpTable(n), spectrum = chirpSpectrum(n, m, 1);
  auto rows = [&](int64_t lo, int64_t hi, function_ref<void(Value, Value)> body) {
    emitFor(e, constI64(e, lo), constI64(e, hi), 1, [&](Value row) {
      emitFor(e, zero, constI64(e, vectors), 1, [&](Value vector) { body(row, vector); });
    });
  };
  rows(0, n, [&](Value row, Value vector) {
    store(b, row, vector, math.mul(read(row, vector), splatRoot(factors, row, lanes)));
  });
  Elem none = zeroElem(e, ComplexType::get(math.real), lanes);
  rows(n, m, [&](Value row, Value vector) { store(b, row, vector, none); });
  auto readFactors = [&](Value row, Value vector) { return load(b, row, vector, lanes); };
  RowBuffer product =
      smooth(m, lanes, vectors, false, readFactors, nullptr, bufferB, bufferA, /*fromA=*/true);
  auto readProduct = [&](Value row, Value vector) {
    return math.mul(load(product, row, vector, lanes), splatRoot(spectrum, row, lanes));
  };
  Value other = product.base == bufferA ? bufferB : bufferA;
  RowBuffer done =
      smooth(m, lanes, vectors, true, readProduct, nullptr, product.base, other, /*fromA=*/true);
  rows(0, n, [&](Value row, Value vector) {
    store(done, row, vector,
          math.mul(load(done, row, vector, lanes), splatRoot(factors, row, lanes)));
  });
  return done;
}

RowBuffer ColumnTransforms::transformToBuffer(int64_t n, int64_t lanes, int64_t vectors,
                                              ReadColumns read, Value bufferA, Value bufferB,
                                              bool fromA, AdjustColumns adjust) {
  if (!isFftSmooth(n)) {
    return chirp(n, lanes, vectors, read, bufferA, bufferB);
  }
  if (!adjust) {
    return smooth(n, lanes, vectors, inverse, read, nullptr, bufferA, bufferB, fromA);
  }
  // Parity of the passes: the result must be in the same buffer as without a separate last pass.
  bool odd = std::max<size_t>(1, radices(n).size()) % 2 != 0;
  RowBuffer done{odd != fromA ? bufferA : bufferB, vectors};
  auto keep = [&](Value row, Value vector, const Elem &value) {
    store(done, row, vector, adjust(row, vector, value));
  };
  WriteColumns write = keep;
  smooth(n, lanes, vectors, inverse, read, &write, bufferA, bufferB, fromA);
  return done;
}

void ColumnTransforms::transform(int64_t n, int64_t lanes, int64_t vectors, ReadColumns read,
                                 WriteColumns write, Value bufferA, Value bufferB) {
  if (isFftSmooth(n)) {
    smooth(n, lanes, vectors, inverse, read, &write, bufferA, bufferB, false);
    return;
  }
  RowBuffer done = chirp(n, lanes, vectors, read, bufferA, bufferB);
  emitFor(e, constI64(e, 0), constI64(e, n), 1, [&](Value row) {
    emitFor(e, constI64(e, 0), constI64(e, vectors), 1,
            [&](Value vector) { write(row, vector, load(done, row, vector, lanes)); });
  });
}

} // namespace hlo::codegen

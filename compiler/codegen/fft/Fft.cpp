//===- Fft.cpp - Strategy "fft": mixed-radix transforms of known lengths ---===//
//
// In: a region whose root is an fft over the last one to three dimensions. Out, for
// each batch (one task): its elements are transformed line by line in scratch,
// dimension after dimension. A line of length n = p1 p2 ... takes one Stockham pass
// for each prime factor (4 before 2), between two buffers, without a reordering pass:
//
//   y[q + s (p k + r)] = w_len^(k r) * sum over t < p of w_p^(r t) x[q + s (k + m t)]
//       len = p m the length still to do, s = n / len, q < s, k < m, r < p
//
// The roots of unity w_n^j are a table in the object, computed in double precision.
// A prime factor p costs n p operations, so a large prime length is quadratic.
// RFFT keeps the first n/2+1 outputs of a line, IRFFT completes a line by
// conjugate symmetry and keeps the real part; inverses divide by the length.
//
// Source: Stockham's autosort formulation as in C. Van Loan, Computational
// Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace hlo::codegen {

/// Factors of this size and below are written out; larger ones are loops.
static constexpr int64_t kUnrolledRadix = 8;

static SmallVector<int64_t> radices(int64_t n) {
  SmallVector<int64_t> factors;
  for (int64_t p : {4, 2, 3, 5, 7}) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  }
  for (int64_t p = 11; p * p <= n; p += 2) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  }
  if (n > 1) {
    factors.push_back(n);
  }
  return factors;
}

namespace {
struct FftEmission {
  KernelBuilder &kernel;
  Emission &e;
  Type real;        ///< f32 or f64
  Type complexType; ///< complex<real>
  bool inverse;
  llvm::DenseMap<int64_t, Value> tables{};

  Elem load(Value base, Value i) { return loadElements(e, complexType, base, i, 1); }
  void store(Value base, Value i, const Elem &v) { storeElements(e, complexType, v, base, i); }
  Elem multiply(const Elem &a, const Elem &b) {
    auto mul = [&](Value x, Value y) -> Value { return arith::MulFOp::create(e.b, e.loc, x, y); };
    return Elem(arith::SubFOp::create(e.b, e.loc, mul(a.re, b.re), mul(a.im, b.im)),
                arith::AddFOp::create(e.b, e.loc, mul(a.re, b.im), mul(a.im, b.re)));
  }
  Elem add(const Elem &a, const Elem &b) {
    return Elem(arith::AddFOp::create(e.b, e.loc, a.re, b.re),
                arith::AddFOp::create(e.b, e.loc, a.im, b.im));
  }
  Value tableOf(int64_t n);
  Elem constantRoot(int64_t numerator, int64_t n);
  Elem radixSum(Value from, Value first, int64_t step, int64_t p, int64_t n, Value r, int64_t known);
  void pass(Value from, Value to, int64_t n, int64_t length, int64_t p);
  /// Transforms the n elements of `line`, with `other` as second buffer; gives the one that holds the result.
  Value transform(Value line, Value other, int64_t n);
};
} // namespace

static std::pair<double, double> rootOfUnity(int64_t numerator, int64_t n, bool inverse) {
  double angle = 2.0 * std::numbers::pi * static_cast<double>(numerator % n) / static_cast<double>(n);
  return {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
}

Elem FftEmission::constantRoot(int64_t numerator, int64_t n) {
  auto [c, s] = rootOfUnity(numerator, n, inverse);
  auto constant = [&](double v) -> Value {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(real, v));
  };
  // Exact where the root is.
  int64_t quarter = 4 * (numerator % n);
  if (quarter % n == 0) {
    static constexpr double kCos[] = {1, 0, -1, 0}, kSin[] = {0, -1, 0, 1};
    c = kCos[quarter / n];
    s = inverse ? -kSin[quarter / n] : kSin[quarter / n];
  }
  return Elem(constant(c), constant(s));
}

Value FftEmission::tableOf(int64_t n) {
  Value &table = tables[n];
  if (table) {
    return table;
  }
  auto function = e.b.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  std::string name = (function.getName() + ".roots" + Twine(n)).str();
  std::vector<double> values;
  for (int64_t j = 0; j < n; ++j) {
    auto [c, s] = rootOfUnity(j, n, inverse);
    values.push_back(c);
    values.push_back(s);
  }
  auto tensor = RankedTensorType::get({2 * n}, real);
  DenseElementsAttr data;
  if (real.isF32()) {
    std::vector<float> narrow(values.begin(), values.end());
    data = DenseElementsAttr::get(tensor, ArrayRef<float>(narrow));
  } else {
    data = DenseElementsAttr::get(tensor, ArrayRef<double>(values));
  }
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(function);
    LLVM::GlobalOp::create(e.b, e.loc, LLVM::LLVMArrayType::get(real, 2 * n), /*isConstant=*/true,
                           LLVM::Linkage::Private, name, data, /*alignment=*/64);
  }
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&function.getBody().front());
  return table = LLVM::AddressOfOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()),
                                           name);
}

/// sum over t < p of w_p^(r t) x[first + step t]; r is `known`, or a loop counter if known < 0.
Elem FftEmission::radixSum(Value from, Value first, int64_t step, int64_t p, int64_t n, Value r,
                           int64_t known) {
  if (known >= 0) {
    Elem sum;
    for (int64_t t = 0; t < p; ++t) {
      Elem x = load(from, addI(e, first, step * t));
      Elem term = known * t % p == 0 ? x : multiply(x, constantRoot(known * t, p));
      sum = t == 0 ? term : add(sum, term);
    }
    return sum;
  }
  Elem zero = zeroElem(e, complexType);
  SmallVector<Value> sum = emitForCarrying(
      e, constI64(e, 0), constI64(e, p), 1, flattenElems(zero), [&](Value t, ValueRange carried) {
        Elem x = load(from, addI(e, first, mulI(e, t, step)));
        Value at = mulI(e, remI(e, mulI(e, r, t), p), n / p);
        return flattenElems(add(unflattenElems(carried, {zero})[0], multiply(x, load(tableOf(n), at))));
      });
  return unflattenElems(sum, {zero})[0];
}

void FftEmission::pass(Value from, Value to, int64_t n, int64_t length, int64_t p) {
  int64_t m = length / p, s = n / length;
  Value zero = constI64(e, 0);
  emitFor(e, zero, constI64(e, m), 1, [&](Value k) {
    emitFor(e, zero, constI64(e, s), 1, [&](Value q) {
      Value first = addI(e, q, mulI(e, k, s));
      auto output = [&](Value r, int64_t known) {
        Elem sum = radixSum(from, first, s * m, p, n, r, known);
        if (m > 1 && known != 0) {
          // w_length^(k r) = w_n^(k r s)
          sum = multiply(sum, load(tableOf(n), mulI(e, mulI(e, k, r), s)));
        }
        store(to, addI(e, q, mulI(e, addI(e, mulI(e, k, p), r), s)), sum);
      };
      if (p <= kUnrolledRadix) {
        for (int64_t r = 0; r < p; ++r) {
          output(constI64(e, r), r);
        }
        return;
      }
      emitFor(e, zero, constI64(e, p), 1, [&](Value r) { output(r, -1); });
    });
  });
}

Value FftEmission::transform(Value line, Value other, int64_t n) {
  int64_t length = n;
  for (int64_t p : radices(n)) {
    pass(line, other, n, length, p);
    std::swap(line, other);
    length /= p;
  }
  if (inverse && n > 1) {
    Value factor = arith::ConstantOp::create(e.b, e.loc,
                                             e.b.getFloatAttr(real, 1.0 / static_cast<double>(n)));
    emitFor(e, constI64(e, 0), constI64(e, n), 1, [&](Value i) {
      Elem v = load(line, i);
      store(line, i, Elem(arith::MulFOp::create(e.b, e.loc, v.re, factor),
                          arith::MulFOp::create(e.b, e.loc, v.im, factor)));
    });
  }
  return line;
}

LogicalResult emitFftKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<FftOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'fft' must return an fft");
  }
  RankedTensorType inType = arrayType(op.getOperand()), outType = arrayType(op.getResult());
  if (outType.getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  StringRef kind = op.getFftType();
  bool realIn = kind == "RFFT", realOut = kind == "IRFFT";
  Type part = realIn ? inType.getElementType() : cast<ComplexType>(inType.getElementType()).getElementType();
  FftEmission fft{kernel, e, part, ComplexType::get(part), kind == "IFFT" || realOut};

  // The work array: the transformed dimensions, the last one as many columns as stay complex.
  ArrayRef<int64_t> lengths = op.getFftLength();
  size_t count = lengths.size();
  SmallVector<int64_t> work(lengths);
  if (realIn || realOut) {
    work.back() = lengths.back() / 2 + 1;
  }
  int64_t elements = 1, longest = 1;
  for (auto [w, length] : llvm::zip(work, lengths)) {
    elements *= w;
    longest = std::max(longest, length);
  }
  SmallVector<int64_t> strides = rowMajorStrides(work);
  ArrayRef<int64_t> batch = outType.getShape().drop_back(count);
  int64_t batches = 1, inElements = 1, outElements = 1;
  for (int64_t size : batch) {
    batches *= size;
  }
  for (size_t d = 0; d < count; ++d) {
    inElements *= inType.getShape()[batch.size() + d];
    outElements *= outType.getShape()[batch.size() + d];
  }
  kernel.tasks = batches;
  int64_t bytes = storageBytes(fft.complexType), scratchBytes = (elements + 2 * longest) * bytes;
  bool onHeap = kernel.resultPtrs.size() > 1;
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  Value stack;
  if (!onHeap) {
    stack = LLVM::AllocaOp::create(e.b, e.loc, pointer, e.b.getI8Type(), constI64(e, scratchBytes), 64);
  }
  ElementEmitter scalars(kernel, 1);
  Value zero = constI64(e, 0);

  emitFor(e, kernel.first, kernel.last, 1, [&](Value b) {
    Value scratch = onHeap ? addBytes(e, kernel.resultPtrs[1], mulI(e, b, scratchBytes)) : stack;
    Value lineA = addBytes(e, scratch, constI64(e, elements * bytes));
    Value lineB = addBytes(e, lineA, constI64(e, longest * bytes));
    SmallVector<Value> position = delinearize(e, b, batch);
    auto input = [&](Value linear, ArrayRef<int64_t> shape) {
      ElementEmitter::Scope scope(scalars);
      SmallVector<Index> index(position.begin(), position.end());
      for (Value i : delinearize(e, linear, shape)) {
        index.push_back(Index(i));
      }
      return scalars.emit(op.getOperand(), index);
    };
    // Transforms along dimension d of the work array, line by line.
    auto along = [&](size_t d) {
      int64_t n = work[d], lines = elements / n;
      SmallVector<int64_t> others(work);
      others[d] = 1;
      emitFor(e, zero, constI64(e, lines), 1, [&](Value line) {
        Value base = zero;
        for (auto [i, stride] : llvm::zip(delinearize(e, line, others), strides)) {
          base = addI(e, base, mulI(e, i, stride));
        }
        auto at = [&](Value i) { return addI(e, base, mulI(e, i, strides[d])); };
        emitFor(e, zero, constI64(e, n), 1, [&](Value i) { fft.store(lineA, i, fft.load(scratch, at(i))); });
        Value done = fft.transform(lineA, lineB, n);
        emitFor(e, zero, constI64(e, n), 1, [&](Value i) { fft.store(scratch, at(i), fft.load(done, i)); });
      });
    };
    int64_t n = lengths.back(), half = work.back(), lines = elements / half;
    SmallVector<int64_t> inShape(inType.getShape().take_back(count));
    if (realIn) {
      Value none = arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(part, 0.0));
      emitFor(e, zero, constI64(e, lines), 1, [&](Value line) {
        emitFor(e, zero, constI64(e, n), 1, [&](Value i) {
          Elem x = input(addI(e, mulI(e, line, n), i), inShape);
          fft.store(lineA, i, Elem(x.re, none));
        });
        Value done = fft.transform(lineA, lineB, n);
        emitFor(e, zero, constI64(e, half), 1, [&](Value i) {
          fft.store(scratch, addI(e, mulI(e, line, half), i), fft.load(done, i));
        });
      });
    } else {
      emitFor(e, zero, constI64(e, elements), 1,
              [&](Value i) { fft.store(scratch, i, input(i, inShape)); });
    }
    for (size_t d = count; d-- > 0;) {
      if (d + 1 < count || !(realIn || realOut)) {
        along(d);
      }
    }
    Value outBase = mulI(e, b, outElements);
    if (!realOut) {
      emitFor(e, zero, constI64(e, elements), 1, [&](Value i) {
        storeElements(e, outType.getElementType(), fft.load(scratch, i), kernel.resultPtrs[0],
                      addI(e, outBase, i));
      });
      return;
    }
    emitFor(e, zero, constI64(e, lines), 1, [&](Value line) {
      Value from = mulI(e, line, half);
      emitFor(e, zero, constI64(e, half), 1,
              [&](Value i) { fft.store(lineA, i, fft.load(scratch, addI(e, from, i))); });
      emitFor(e, constI64(e, half), constI64(e, n), 1, [&](Value i) {
        Elem v = fft.load(lineA, subI(e, constI64(e, n), i));
        fft.store(lineA, i, Elem(v.re, arith::NegFOp::create(e.b, e.loc, v.im)));
      });
      Value done = fft.transform(lineA, lineB, n);
      emitFor(e, zero, constI64(e, n), 1, [&](Value i) {
        storeElements(e, part, Elem(fft.load(done, i).re), kernel.resultPtrs[0],
                      addI(e, outBase, addI(e, mulI(e, line, n), i)));
      });
    });
  });
  return success();
}

} // namespace hlo::codegen

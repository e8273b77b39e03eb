//===- Roots.cpp - Roots of unity, and tables of constants ----------------===//
//
// Angles are brought into the first eighth of the circle with integers, so that the
// sine and cosine of long double round to correct doubles.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/fft/Roots.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace hlo::codegen {

Complex rootOfUnity(int64_t numerator, int64_t n) {
  // The angle in units of 1 / (8 n) of the circle; 0 <= at < 8 n.
  int64_t at = 8 * (numerator % n);
  bool lower = at > 4 * n; // below the real axis
  if (lower) {
    at = 8 * n - at;
  }
  bool left = at > 2 * n;
  if (left) {
    at = 4 * n - at;
  }
  bool swapped = at > n;
  if (swapped) {
    at = 2 * n - at;
  }
  long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(at) /
                      static_cast<long double>(8 * n);
  long double c = std::cos(angle), s = std::sin(angle);
  if (swapped) {
    std::swap(c, s);
  }
  if (left) {
    c = -c;
  }
  // exp(-i angle): below the real axis for angles above it.
  return {c, lower ? s : -s};
}

static void transformInto(const Complex *x, int64_t step, int64_t n,
                          const std::vector<Complex> &roots, Complex *y, Complex *scratch) {
  if (n == 1) {
    y[0] = x[0];
    return;
  }
  int64_t p = 2, all = roots.size();
  while (n % p != 0) {
    ++p;
  }
  int64_t m = n / p;
  for (int64_t t = 0; t < p; ++t) {
    transformInto(x + t * step, step * p, m, roots, scratch + t * m, y + t * m);
  }
  for (int64_t k = 0; k < n; ++k) {
    long double re = 0, im = 0;
    for (int64_t t = 0; t < p; ++t) {
      auto [c, s] = roots[k * t % n * (all / n)];
      auto [a, b] = scratch[t * m + k % m];
      re += a * c - b * s;
      im += a * s + b * c;
    }
    y[k] = {re, im};
  }
}

std::vector<Complex> transformOf(const std::vector<Complex> &x) {
  int64_t n = x.size();
  std::vector<Complex> roots(n), y(n), scratch(n);
  for (int64_t j = 0; j < n; ++j) {
    roots[j] = rootOfUnity(j, n);
  }
  transformInto(x.data(), 1, n, roots, y.data(), scratch.data());
  return y;
}

Value constantTable(Emission &e, Type real, StringRef name,
                    function_ref<std::vector<long double>()> values) {
  auto function = e.b.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  std::string symbol = (function.getName() + "." + name).str();
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder::InsertionGuard guard(e.b);
  if (!module.lookupSymbol(symbol)) {
    std::vector<long double> wide = values();
    auto tensor = RankedTensorType::get({static_cast<int64_t>(wide.size())}, real);
    DenseElementsAttr data;
    if (real.isF32()) {
      data = DenseElementsAttr::get(tensor, ArrayRef(std::vector<float>(wide.begin(), wide.end())));
    } else {
      data =
          DenseElementsAttr::get(tensor, ArrayRef(std::vector<double>(wide.begin(), wide.end())));
    }
    e.b.setInsertionPoint(function);
    LLVM::GlobalOp::create(e.b, e.loc, LLVM::LLVMArrayType::get(real, wide.size()),
                           /*isConstant=*/true, LLVM::Linkage::Private, symbol, data,
                           /*alignment=*/64);
  }
  e.b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AddressOfOp::create(e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()),
                                   symbol);
}

} // namespace hlo::codegen

//===- Estimate.cpp - Reciprocals and roots good to 14 bits ---------------===//
//
// In: f32 or f64, a number or a vector that fills a register. Out: the instruction's estimate, or
// null on targets (and for vectors) that have none. In divisions that are only a part of a
// function they free the divider, which takes 16 cycles for eight f64.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace hlo::codegen {

Num estimate(Num x, Estimate kind) {
  Emission &e = *x.e;
  int64_t registerLanes = x.lanes() == 1 ? 128 / x.width() : x.lanes();
  int64_t bits = registerLanes * x.width();
  if (!e.target.avx512 || (bits != 128 && bits != 256 && bits != 512)) {
    return {};
  }
  Value source = x.v;
  if (x.lanes() == 1) {
    source = vector::BroadcastOp::create(e.b, e.loc, laneType(x.scalar(), registerLanes), source);
  }
  Value mask = arith::ConstantOp::create(
      e.b, e.loc, e.b.getIntegerAttr(e.b.getIntegerType(std::max<int64_t>(registerLanes, 8)), -1));
  std::string name = "llvm.x86.avx512.";
  name += kind == Estimate::Reciprocal ? "rcp14." : "rsqrt14.";
  name += x.isF64() ? "pd." : "ps.";
  Value result = LLVM::CallIntrinsicOp::create(e.b, e.loc, source.getType(),
                                                 e.b.getStringAttr(name + std::to_string(bits)),
                                                 ValueRange{source, source, mask})
                       .getResult(0);
  if (x.lanes() == 1) {
    result = vector::ExtractOp::create(e.b, e.loc, result, int64_t(0));
  }
  return Num(e, result);
}

Num quotientWithin(Num a, Num b) {
  Num start = estimate(b, Estimate::Reciprocal);
  if (!start.v) {
    return a / b;
  }
  // a r (1 + e + e^2) of e = 1 - b r, |e| < 2^-14.
  Num error = fma(-b, start, 1.0);
  Num product = a * start;
  return fma(product, fma(error, error, error), product);
}

} // namespace hlo::codegen

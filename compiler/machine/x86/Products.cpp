//===- Products.cpp - Products of narrow numbers in x86's vectors ---------===//
//
// A 32-bit lane holds a group of elements that are adjacent along k, the first in the lowest
// bits: pairs of bf16 (vdpbf16ps), pairs of 16-bit integers (vpmaddwd and an addition, or
// vpdpwssd), quads of bytes (vpdpbusd, which multiplies unsigned bytes by signed ones; vpmaddubsw,
// vpmaddwd and an addition). Costs: Machine.cpp and Cpus.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Intrinsics.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace hlo::x86 {

/// Calls an intrinsic on sums and two vectors of groups, which it takes as vectors of `narrow`;
/// without sums if `sum` is null. The result has the type of the groups.
static Value callOnLanes(Emitter &e, const Twine &name, Type narrow, Value sum, Value a, Value b) {
  auto wide = cast<VectorType>(a.getType());
  int64_t size = wide.getElementTypeBitWidth() / narrow.getIntOrFloatBitWidth();
  auto type = VectorType::get({size * lanesOf(a)}, narrow);
  SmallVector<Value> arguments;
  if (sum) {
    arguments.push_back(sum);
  }
  arguments.push_back(vector::BitCastOp::create(e.b, e.loc, type, a));
  arguments.push_back(vector::BitCastOp::create(e.b, e.loc, type, b));
  return call(e, wide, name, arguments);
}

static Value multiplyByteQuads(Emitter &e, Value sum, Value lhs, Value rhs) {
  return callOnLanes(e, "avx512.vpdpbusd." + Twine(bitsOf(sum)), e.b.getI8Type(), sum, lhs, rhs);
}

static Value multiplyWordPairs(Emitter &e, Value sum, Value lhs, Value rhs) {
  StringRef name = lanesOf(sum) == 16  ? "avx512.pmaddw.d.512"
                   : lanesOf(sum) == 8 ? "avx2.pmadd.wd"
                                       : "sse2.pmadd.wd";
  // With VNNI LLVM combines both to one vpdpwssd.
  Value products = callOnLanes(e, name, e.b.getI16Type(), {}, lhs, rhs);
  return arith::AddIOp::create(e.b, e.loc, sum, products);
}

static Value multiplyFewByteQuads(Emitter &e, Value sum, Value lhs, Value rhs) {
  auto wide = cast<VectorType>(sum.getType());
  int64_t lanes = lanesOf(sum);
  StringRef name = lanes == 16  ? "avx512.pmaddubs.w.512"
                   : lanes == 8 ? "avx2.pmadd.ub.sw"
                                : "ssse3.pmadd.ub.sw.128";
  auto bytes = VectorType::get({4 * lanes}, e.b.getI8Type());
  auto words = VectorType::get({2 * lanes}, e.b.getI16Type());
  SmallVector<Value> arguments = {vector::BitCastOp::create(e.b, e.loc, bytes, lhs),
                                  vector::BitCastOp::create(e.b, e.loc, bytes, rhs)};
  Value pairs = call(e, words, name, arguments);
  Value ones = arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::get(words, e.b.getI16IntegerAttr(1).getValue()));
  return multiplyWordPairs(e, sum, vector::BitCastOp::create(e.b, e.loc, wide, pairs),
                           vector::BitCastOp::create(e.b, e.loc, wide, ones));
}

static Value multiplyBf16Pairs(Emitter &e, Value sum, Value lhs, Value rhs) {
  return callOnLanes(e, "avx512bf16.dpbf16ps." + Twine(bitsOf(sum)), e.b.getBF16Type(), sum, lhs,
                     rhs);
}

void addWordPairs(Machine &machine, double cost, bool accumulates) {
  machine.products.push_back({.operand = {Number::Signed, 16},
                              .sum = kS32,
                              .group = 2,
                              .addsApart = !accumulates,
                              .cost = cost,
                              .multiply = multiplyWordPairs});
}

void addByteQuads(Machine &machine) {
  machine.products.push_back({.operand = {Number::Signed, 8},
                              .sum = kS32,
                              .group = 4,
                              .signs = Product::Signs::OneUnsigned,
                              .multiply = multiplyByteQuads});
}

void addFewByteQuads(Machine &machine, double cost) {
  machine.products.push_back({.operand = {Number::Signed, 8},
                              .sum = kS32,
                              .group = 4,
                              .signs = Product::Signs::FewUnsigned,
                              .addsApart = true,
                              .cost = cost,
                              .multiply = multiplyFewByteQuads});
}

void addBf16Pairs(Machine &machine, double cost) {
  machine.products.push_back(
      {.operand = kBf16, .sum = kF32, .group = 2, .cost = cost, .multiply = multiplyBf16Pairs});
}

} // namespace hlo::x86

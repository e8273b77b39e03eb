//===- Products.cpp - Products of narrow numbers in vectors of aarch64 ----===//
//
// Groups of neighbours along k stand in a 32-bit lane, the first in the lowest bits: fours of bytes
// (sdot of signed ones, usdot of unsigned and signed ones), pairs of bf16 (bfdot). smmla, usmmla
// and bfmmla multiply 2 x 2 rows of two groups each.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Emit.h"
#include "compiler/machine/aarch64/Capabilities.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace hlo::aarch64 {

/// llvm.aarch64.NAME of sums and of two registers of groups, seen as vectors of `narrow`.
static Value call(Emitter &e, StringRef name, Type narrow, Value sum, Value a, Value b) {
  int64_t lanes = 128 / narrow.getIntOrFloatBitWidth();
  auto type = VectorType::get({lanes}, narrow);
  SmallVector<Value> arguments{sum, vector::BitCastOp::create(e.b, e.loc, type, a),
                               vector::BitCastOp::create(e.b, e.loc, type, b)};
  std::string full =
      ("llvm.aarch64.neon." + name + ".v4" + (narrow.isInteger() ? "i32.v16i8" : "f32.v8bf16"))
          .str();
  if (name == "bfmmla") {
    full = "llvm.aarch64.neon.bfmmla"; // has one type only
  }
  return LLVM::CallIntrinsicOp::create(e.b, e.loc, sum.getType(), e.b.getStringAttr(full),
                                       arguments)
      .getResult(0);
}

/// The lhs, which kernels broadcast, is the operand that may be one lane of a register.
static Value multiplySigned(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "sdot", e.b.getI8Type(), sum, rhs, lhs);
}

static Value multiplyMixed(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "usdot", e.b.getI8Type(), sum, lhs, rhs);
}

static Value multiplyBf16Pairs(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "bfdot", e.b.getBF16Type(), sum, rhs, lhs);
}

static Value multiplySignedMatrices(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "smmla", e.b.getI8Type(), sum, lhs, rhs);
}

static Value multiplyMixedMatrices(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "usmmla", e.b.getI8Type(), sum, lhs, rhs);
}

static Value multiplyBf16Matrices(Emitter &e, Value sum, Value lhs, Value rhs) {
  return call(e, "bfmmla", e.b.getBF16Type(), sum, lhs, rhs);
}

void addByteQuads(Machine &machine, double cost, double matrixCost, bool matrices) {
  Product bytes{.operand = {Number::Signed, 8},
                .sum = kS32,
                .group = 4,
                .cost = cost,
                .multiply = multiplySigned,
                .multiplyPairs = matrices ? multiplySignedMatrices : nullptr,
                .pairsCost = matrixCost};
  machine.products.push_back(bytes);
  if (matrices) {
    bytes.signs = Product::Signs::OneUnsigned;
    bytes.multiply = multiplyMixed;
    bytes.multiplyPairs = multiplyMixedMatrices;
    machine.products.push_back(bytes);
  }
}

void addBf16Pairs(Machine &machine, double cost, double matrixCost) {
  machine.products.push_back({.operand = kBf16,
                              .sum = kF32,
                              .group = 2,
                              .cost = cost,
                              .multiply = multiplyBf16Pairs,
                              .multiplyPairs = multiplyBf16Matrices,
                              .pairsCost = matrixCost});
}

} // namespace hlo::aarch64

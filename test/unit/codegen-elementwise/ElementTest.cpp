//===- ElementTest.cpp - Loads, stores, scalar computations ---------------===//
//
// Masked and gathered accesses of every kind of element; computations inlined on values.
//
//===----------------------------------------------------------------------===//
#include "mlir/AsmParser/AsmParser.h"
#include "test/unit/codegen-elementwise/OpRunner.h"
#include <complex>
#include <gtest/gtest.h>

using namespace hlo;
using namespace hlo::codegen;
using namespace hlo::testing;
using namespace mlir;

namespace {

/// Lane l is on where l < arguments[4].
Value tailMask(Emission &e, Value count, int64_t lanes) {
  if (lanes == 1) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, constI64(e, 0), count);
  }
  return vector::CreateMaskOp::create(
      e.b, e.loc, VectorType::get({lanes}, e.b.getI1Type()),
      ValueRange{arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(), count)});
}

/// Copies `count` of the lanes' elements, reversed by a gather on request.
template <typename T>
void checkMasked(const char *type, int64_t lanes, bool gather, const std::vector<T> &x,
                 T untouched) {
  auto runner =
      OpRunner::compileBody(targetOf("host"), "", [&](Emission &e, ModuleOp, ValueRange arguments) {
        Type element = parseType(type, e.b.getContext());
        Value mask = tailMask(e, arguments[4], lanes);
        Elem value;
        if (gather) {
          SmallVector<int64_t> order;
          for (int64_t l = 0; l < lanes; ++l) {
            order.push_back(lanes - 1 - l);
          }
          Value indices = arith::ConstantOp::create(e.b, e.loc, e.b.getI64VectorAttr(order));
          value = gatherElements(e, element, arguments[0], indices, mask);
        } else {
          value = loadElements(e, element, arguments[0], constI64(e, 0), lanes, mask);
        }
        storeElements(e, element, value, arguments[3], constI64(e, 0), mask);
        return true;
      });
  ASSERT_TRUE(runner);
  for (int64_t count = 0; count <= lanes; ++count) {
    std::vector<T> out(lanes, untouched);
    runner->run({x.data()}, out.data(), count);
    for (int64_t l = 0; l < lanes; ++l) {
      T want = l >= count ? untouched : gather ? x[lanes - 1 - l] : x[l];
      ASSERT_EQ(out[l], want) << type << " lane " << l << " of " << count;
    }
  }
}

template <typename T> void checkAllAccesses(const char *type, std::vector<T> x, T untouched) {
  for (int64_t lanes : {1, 4, 8}) {
    checkMasked(type, lanes, false, x, untouched);
    if (lanes > 1) {
      checkMasked(type, lanes, true, x, untouched);
    }
  }
}

TEST(Elements, MaskedAndGathered) {
  checkAllAccesses<float>("f32", {1, 2, 3, 4, 5, 6, 7, 8}, -1);
  checkAllAccesses<double>("f64", {1, 2, 3, 4, 5, 6, 7, 8}, -1);
  checkAllAccesses<int8_t>("si4", {-8, 7, 1, 0, -1, 5, 3, 2}, 100);
  checkAllAccesses<uint8_t>("ui4", {15, 7, 1, 0, 8, 5, 3, 2}, 100);
  checkAllAccesses<uint8_t>("i1", {0, 1, 1, 0, 1, 0, 0, 1}, 100);
  checkAllAccesses<uint16_t>("bf16", {0x3f80, 0x4000, 0xc000, 0, 0x8000, 1, 2, 3}, 100);
  checkAllAccesses<uint16_t>("f16", {0x3c00, 0x4000, 0xc000, 0, 0x8000, 1, 2, 3}, 100);
  checkAllAccesses<uint8_t>("f8E4M3FN", {1, 2, 3, 4, 0x80, 0x7e, 0x38, 0}, 100);
  checkAllAccesses<int64_t>("si64", {1, -2, 3, INT64_MIN, 5, 6, 7, 8}, 100);
  using C = std::complex<float>;
  checkAllAccesses<C>("complex<f32>",
                      {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}, {13, 14}, {15, 16}},
                      {-1, -1});
}

const char *computations = R"(
module {
  hlo.computation @twice(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  hlo.computation @body(%arg0: tensor<f32>, %arg1: tensor<f32>)
      -> tuple<tensor<f32>, tensor<f32>> {
    %0 = hlo.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>
    %1 = hlo.call %arg0 {to_apply = @twice} : (tensor<f32>) -> tensor<f32>
    %2 = hlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %3 = hlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = hlo.tuple %3, %arg1 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    %5 = hlo.get_tuple_element %4 {index = 1 : i64} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
    %6 = hlo.subtract %5, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %7 = hlo.tuple %3, %6 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    hlo.return %7 : tuple<tensor<f32>, tensor<f32>>
  }
  hlo.computation @positive(%arg0: tensor<f32>) -> tensor<i1> {
    %0 = hlo.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
    %1 = hlo.compare %arg0, %0 {direction = "GT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    hlo.return %1 : tensor<i1>
  }
  hlo.computation @iterates(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = hlo.while %arg0 {condition = @positive, body = @twice} : (tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
}
)";

TEST(Inlining, CallsTuplesAndConstants) {
  for (int64_t lanes : {1, 4}) {
    auto runner = OpRunner::compileBody(
        targetOf("host"), computations, [&](Emission &e, ModuleOp module, ValueRange arguments) {
          Type f32 = e.b.getF32Type();
          Elem x = loadElements(e, f32, arguments[0], constI64(e, 0), lanes);
          Elem y = loadElements(e, f32, arguments[1], constI64(e, 0), lanes);
          auto body = module.lookupSymbol<ComputationOp>("body");
          SmallVector<Elem> results = inlineComputation(e, body, {x, y});
          if (results.size() != 2) {
            return false;
          }
          storeElements(e, f32, results[0], arguments[3], constI64(e, 0));
          storeElements(e, f32, results[1], arguments[3], constI64(e, lanes));
          return true;
        });
    ASSERT_TRUE(runner);
    std::vector<float> x = {1, 2, 3, 4}, y = {5, 6, 7, 8}, out(8);
    runner->run({x.data(), y.data()}, out.data(), 0);
    for (int64_t l = 0; l < lanes; ++l) {
      EXPECT_EQ(out[l], 2 * x[l]);
      EXPECT_EQ(out[lanes + l], y[l] - 1);
    }
  }
}

/// Each lane would leave the loop after another number of iterations.
TEST(Inlining, LoopsNeedOneLane) {
  std::string error;
  auto runner = OpRunner::compileBody(
      targetOf("host"), computations,
      [&](Emission &e, ModuleOp module, ValueRange arguments) {
        auto body = module.lookupSymbol<ComputationOp>("iterates");
        return !inlineComputation(e, body, {zeroElem(e, e.b.getF32Type(), 4)}).empty();
      },
      &error);
  EXPECT_FALSE(runner);
  EXPECT_EQ(error, "'hlo.while' op is not supported in a computation that is applied to scalars");
}

} // namespace

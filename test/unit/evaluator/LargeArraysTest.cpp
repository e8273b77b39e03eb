//===- LargeArraysTest.cpp - Ops on weights against ops on constants ------===//
//
// evaluateLarge must give the bits that evaluate gives, for every type and every op of both.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/LargeArrays.h"
#include "compiler/analysis/evaluator/Evaluator.h"
#include "dialect/hlo/Builder.h"
#include "gtest/gtest.h"
#include <limits>
#include <random>

using namespace mlir;
using namespace hlo;

namespace {

class LargeArraysTest : public testing::Test {
protected:
  LargeArraysTest()
      : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())),
        b(builder, builder.getUnknownLoc()) {
    context.loadDialect<HloDialect>();
    builder.setInsertionPointToStart(module->getBody());
  }

  Type integer(unsigned width, bool isSigned) {
    return IntegerType::get(&context, width,
                            isSigned ? IntegerType::Signed : IntegerType::Unsigned);
  }

  SmallVector<Type> integers() {
    SmallVector<Type> types;
    for (unsigned width : {2, 4, 8, 16, 32, 64}) {
      types.push_back(integer(width, true));
      types.push_back(integer(width, false));
    }
    return types;
  }
  SmallVector<Type> floats() {
    return {builder.getF16Type(), builder.getBF16Type(), builder.getF32Type(),
            builder.getF64Type()};
  }

  /// Random bits, for floats with half of all exponents near 0.
  Value random(ArrayRef<int64_t> shape, Type element) {
    auto type = RankedTensorType::get(shape, element);
    SmallVector<APInt> bits;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      auto number = dyn_cast<FloatType>(element);
      if (number && i % 2) {
        APFloat value(static_cast<double>(static_cast<int64_t>(source() % 4001) - 2000) / 64);
        bool losesInfo;
        value.convert(number.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
        bits.push_back(value.bitcastToAPInt());
      } else {
        bits.push_back(APInt(64, source()).trunc(element.getIntOrFloatBitWidth()));
      }
    }
    return b.constant(fromElementBits(type, bits));
  }

  static DenseElementsAttr attrOf(Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  }

  static std::string textOf(Value value) {
    std::string text;
    llvm::raw_string_ostream(text) << value.getType() << " " << value.getDefiningOp()->getName();
    return text;
  }

  /// Compares the value of an op of constants, all NaNs being equal.
  void check(Value value) {
    Operation *op = value.getDefiningOp();
    SmallVector<DenseElementsAttr> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(attrOf(operand));
    }
    DenseElementsAttr expected = evaluate(op, operands);
    ASSERT_TRUE(expected) << textOf(value);
    ASSERT_TRUE(canEvaluateLarge(op)) << textOf(value);
    int64_t budget = 1 << 30;
    DenseElementsAttr got = evaluateLarge(value, budget);
    ASSERT_TRUE(got) << textOf(value);
    EXPECT_LE(budget, 1 << 30);
    ASSERT_EQ(got.getType(), expected.getType());
    SmallVector<APInt> all = *elementBits(got), wanted = *elementBits(expected);
    auto number = dyn_cast<FloatType>(got.getElementType());
    for (auto [i, x, y] : llvm::enumerate(all, wanted)) {
      auto isNan = [&](const APInt &bits) {
        return number && APFloat(number.getFloatSemantics(), bits).isNaN();
      };
      EXPECT_TRUE(x == y || (isNan(x) && isNan(y))) << textOf(value) << " element " << i;
    }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  HloBuilder b;
  std::mt19937_64 source{1};
};

TEST_F(LargeArraysTest, Moves) {
  SmallVector<Type> types = integers();
  llvm::append_range(types, floats());
  for (Type type : types) {
    Value x = random({5, 1, 6, 7}, type), zero = b.scalar(type, 0);
    check(b.transpose(x, {3, 1, 0, 2}));
    check(b.transpose(x, {1, 2, 3, 0}));
    check(b.transpose(x, {0, 1, 3, 2}));
    check(b.reshape(x, {35, 6}));
    check(b.slice(x, {1, 0, 2, 0}, {4, 1, 6, 7}));
    check(b.slice(x, {1, 0, 1, 1}, {4, 1, 6, 6}, {2, 1, 3, 2}));
    check(ReverseOp::create(builder, b.loc, x.getType(), x, builder.getDenseI64ArrayAttr({0, 3}))
              .getResult());
    check(b.pad(x, zero, {0, 1, 2, 0}, {3, 0, 1, 5}, {0, 0, 2, 1}));
    check(b.pad(x, zero, {-1, 0, -4, 2}, {-2, 1, 0, -3}, {1, 0, 2, 0}));
    check(b.broadcast(random({6, 3}, type), {2, 6, 4, 3, 2}, {1, 3}));
    check(b.concatenate({x, random({5, 1, 2, 7}, type), x}, 2));
  }
}

TEST_F(LargeArraysTest, Conversions) {
  SmallVector<Type> types = integers();
  llvm::append_range(types, floats());
  for (Type from : types) {
    for (Type to : types) {
      if (from != to) {
        // Few elements are converted one by one, many through a table.
        check(b.convert(random({7, 5}, from), to));
        check(b.convert(random({300}, from), to));
      }
    }
  }
  check(b.convert(random({70000}, builder.getF16Type()), builder.getF32Type()));
}

TEST_F(LargeArraysTest, Arithmetic) {
  for (Type type : {Type(builder.getF32Type()), Type(builder.getF64Type())}) {
    Value x = random({40, 8}, type), y = random({40, 8}, type);
    for (Value value : {b.add(x, y), b.sub(x, y), b.mul(x, y), b.div(x, y), b.unary<NegateOp>(x),
                        b.unary<AbsOp>(x)}) {
      check(value);
    }
  }
  for (Type type : integers()) {
    Value x = random({40, 8}, type), y = random({40, 8}, type);
    for (Value value :
         {b.add(x, y), b.sub(x, y), b.mul(x, y), b.binary<MaximumOp>(x, y),
          b.binary<MinimumOp>(x, y), b.binary<AndOp>(x, y), b.binary<OrOp>(x, y),
          b.binary<XorOp>(x, y), b.unary<NotOp>(x), b.binary<ShiftLeftOp>(x, y),
          b.binary<ShiftRightLogicalOp>(x, y), b.binary<ShiftRightArithmeticOp>(x, y)}) {
      check(value);
    }
  }
}

/// Panels of scaled integers, the work of a chain: equal to the ops one after the other.
TEST_F(LargeArraysTest, Chain) {
  Value w = random({64, 30}, integer(4, true)), s = random({2, 30}, builder.getF32Type());
  Value wide = b.reshape(b.convert(w, builder.getF32Type()), {2, 32, 30});
  Value scaled = b.mul(wide, b.broadcast(s, {2, 32, 30}, {0, 2}));
  Value padded =
      b.pad(b.reshape(scaled, {64, 30}), b.scalar(builder.getF32Type(), 0), {0, 0}, {0, 2}, {0, 0});
  Value panels = b.transpose(b.reshape(padded, {64, 2, 16}), {1, 0, 2});
  int64_t budget = 1 << 20;
  DenseElementsAttr got = evaluateLarge(panels, budget);
  ASSERT_TRUE(got);
  SmallVector<APInt> weights = *elementBits(attrOf(w)), scales = *elementBits(attrOf(s)),
                     all = *elementBits(got);
  for (int64_t k = 0; k < 64; ++k) {
    for (int64_t n = 0; n < 32; ++n) {
      float expected = 0;
      if (n < 30) {
        expected =
            static_cast<float>(weights[k * 30 + n].getSExtValue()) *
            llvm::bit_cast<float>(static_cast<uint32_t>(scales[k / 32 * 30 + n].getZExtValue()));
      }
      float value = llvm::bit_cast<float>(
          static_cast<uint32_t>(all[n / 16 * 1024 + k * 16 + n % 16].getZExtValue()));
      EXPECT_TRUE(value == expected || (value != value && expected != expected)) << k << ", " << n;
    }
  }
}

TEST_F(LargeArraysTest, Bounds) {
  Value x = random({16, 16}, builder.getF32Type());
  Value sum = b.add(b.broadcast(x, {1024, 16, 16}, {1, 2}), b.broadcast(x, {1024, 16, 16}, {1, 2}));
  int64_t budget = 3 << 20;
  EXPECT_TRUE(evaluateLarge(sum, budget));
  EXPECT_EQ(budget, 0);
  EXPECT_FALSE(evaluateLarge(sum, budget));
  // Nothing but a splat, and what has no exact value.
  budget = 1 << 20;
  EXPECT_FALSE(evaluateLarge(b.broadcastScalar(b.scalar(builder.getF32Type(), 2), {64}), budget));
  EXPECT_FALSE(evaluateLarge(b.unary<ExponentialOp>(x), budget));
  EXPECT_FALSE(
      canEvaluateLarge(b.add(random({4}, builder.getBF16Type()), random({4}, builder.getBF16Type()))
                           .getDefiningOp()));
}

} // namespace

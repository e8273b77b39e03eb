//===- ReductionTest.cpp - Identities, and the order of a reduction -------===//
#include "compiler/analysis/Reduction.h"
#include "dialect/hlo/Builder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace hlo;

namespace {

class Identity : public testing::Test {
protected:
  Identity() : builder(&context) { context.loadDialect<HloDialect>(); }

  template <typename Op> DenseElementsAttr of(Type element) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    auto type = RankedTensorType::get({}, element);
    DenseElementsAttr zero = HloBuilder::splatAttr(type, 0);
    auto x = ConstantOp::create(builder, builder.getUnknownLoc(), type, zero);
    auto op = Op::create(builder, builder.getUnknownLoc(), type, x->getResult(0), x->getResult(0));
    return identityOf(op, element);
  }
  template <typename Op> double real(Type element) {
    return of<Op>(element).template getSplatValue<APFloat>().convertToDouble();
  }
  template <typename Op> APInt integer(Type element) {
    return of<Op>(element).template getSplatValue<APInt>();
  }

  MLIRContext context;
  OpBuilder builder;
};

TEST_F(Identity, OfASumKeepsNegativeZero) {
  for (Type type : {Type(builder.getF32Type()), Type(builder.getBF16Type())}) {
    EXPECT_EQ(real<AddOp>(type), 0.0);
    EXPECT_TRUE(std::signbit(real<AddOp>(type)));
    EXPECT_EQ(real<MultiplyOp>(type), 1.0);
  }
}

TEST_F(Identity, OfExtremesIsTheOtherEnd) {
  EXPECT_EQ(real<MaximumOp>(builder.getF64Type()), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(real<MinimumOp>(builder.getF64Type()), std::numeric_limits<double>::infinity());
  // Types without infinities have their largest numbers.
  EXPECT_EQ(real<MaximumOp>(Float8E4M3FNType::get(&context)), -448.0);
  EXPECT_GT(real<MaximumOp>(Float8E8M0FNUType::get(&context)), 0.0);
  Type s8 = builder.getIntegerType(8, /*isSigned=*/true);
  Type u8 = builder.getIntegerType(8, /*isSigned=*/false);
  EXPECT_EQ(integer<MaximumOp>(s8).getSExtValue(), -128);
  EXPECT_EQ(integer<MinimumOp>(s8).getSExtValue(), 127);
  EXPECT_EQ(integer<MaximumOp>(u8).getZExtValue(), 0u);
  EXPECT_EQ(integer<MinimumOp>(u8).getZExtValue(), 255u);
}

TEST_F(Identity, OfPredicatesIsThatOfAndAndOr) {
  Type pred = builder.getI1Type();
  EXPECT_TRUE(integer<MultiplyOp>(pred).isAllOnes());
  EXPECT_TRUE(integer<AndOp>(pred).isAllOnes());
  EXPECT_TRUE(integer<AddOp>(pred).isZero());
  EXPECT_TRUE(integer<OrOp>(pred).isZero());
  EXPECT_TRUE(integer<MinimumOp>(pred).isAllOnes());
}

TEST_F(Identity, OfComplexNumbers) {
  auto type = ComplexType::get(builder.getF32Type());
  auto sum = of<AddOp>(type).getSplatValue<std::complex<APFloat>>();
  EXPECT_TRUE(sum.real().isNegZero() && sum.imag().isNegZero());
  auto product = of<MultiplyOp>(type).getSplatValue<std::complex<APFloat>>();
  EXPECT_TRUE(product.real().isExactlyValue(1.0) && product.imag().isPosZero());
  EXPECT_FALSE(of<MaximumOp>(type));
}

class Order : public testing::Test {
protected:
  Order() : builder(&context) { context.loadDialect<HloDialect>(); }

  /// (any order, associative) for the computation of pairs of an f32 and an s32 that `build` makes:
  /// of accumulators v, i and elements w, j.
  std::pair<bool, bool>
  of(llvm::function_ref<std::array<Value, 2>(HloBuilder &, ValueRange)> build) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    Type real = RankedTensorType::get({}, builder.getF32Type());
    Type integer = RankedTensorType::get({}, builder.getIntegerType(32, /*isSigned=*/true));
    SmallVector<Type> types{real, integer, real, integer};
    Location loc = builder.getUnknownLoc();
    auto computation =
        ComputationOp::create(builder, loc, "f", builder.getFunctionType(types, {real, integer}));
    Block &block = computation.getBody().emplaceBlock();
    block.addArguments(types, SmallVector<Location>(4, loc));
    builder.setInsertionPointToStart(&block);
    HloBuilder b(builder, loc);
    std::array<Value, 2> results = build(b, block.getArguments());
    ReturnOp::create(builder, loc, ValueRange(ArrayRef<Value>(results)));
    return {isAnyOrder(computation), isAssociative(computation)};
  }

  MLIRContext context;
  OpBuilder builder;
};

TEST_F(Order, OfSumsIsFree) {
  EXPECT_EQ(of([](HloBuilder &b, ValueRange x) -> std::array<Value, 2> {
              return {b.add(x[0], x[2]), b.binary<MaximumOp>(x[1], x[3])};
            }),
            std::pair(true, true));
}

TEST_F(Order, OfTheLastMaximumIsThatOfTheText) {
  EXPECT_EQ(of([](HloBuilder &b, ValueRange x) -> std::array<Value, 2> {
              Value larger = b.compare(x[0], x[2], "GT");
              return {b.select(larger, x[0], x[2]), b.select(larger, x[1], x[3])};
            }),
            std::pair(false, true));
}

TEST_F(Order, OfDifferencesCannotChange) {
  EXPECT_EQ(of([](HloBuilder &b, ValueRange x) -> std::array<Value, 2> {
              return {b.sub(x[0], x[2]), b.add(x[1], x[3])};
            }),
            std::pair(false, false));
}

} // namespace

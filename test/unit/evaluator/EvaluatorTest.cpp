//===- EvaluatorTest.cpp - Ops on constants, row by row -------------------===//
//
// Each row names an opcode, an element type, operands and the expected
// elements; all as numbers, so that a row reads like the rule it checks.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/evaluator/Evaluator.h"
#include "dialect/hlo/Builder.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace hlo;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class EvaluatorTest : public testing::Test {
protected:
  EvaluatorTest() : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {
    context.loadDialect<HloDialect>();
    builder.setInsertionPointToStart(module->getBody());
  }

  Type element(StringRef name) {
    if (name == "pred") {
      return builder.getI1Type();
    }
    if (name.consume_front("s")) {
      return IntegerType::get(&context, std::stoi(name.str()), IntegerType::Signed);
    }
    if (name.consume_front("u")) {
      return IntegerType::get(&context, std::stoi(name.str()), IntegerType::Unsigned);
    }
    return llvm::StringSwitch<Type>(name)
        .Case("f16", builder.getF16Type())
        .Case("bf16", builder.getBF16Type())
        .Case("f32", builder.getF32Type())
        .Default(builder.getF64Type());
  }

  DenseElementsAttr array(StringRef type, ArrayRef<double> values) {
    Type elementType = element(type);
    SmallVector<Attribute> attrs;
    for (double value : values) {
      RankedTensorType scalar = RankedTensorType::get({}, elementType);
      attrs.push_back(*HloBuilder::splatAttr(scalar, value).value_begin<Attribute>());
    }
    return DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(values.size())}, elementType), attrs);
  }

  SmallVector<double> numbers(DenseElementsAttr attr) {
    SmallVector<double> result;
    auto integer = dyn_cast<IntegerType>(attr.getElementType());
    std::optional<SmallVector<APInt>> bits = elementBits(attr);
    for (const APInt &value : *bits) {
      if (integer) {
        result.push_back(integer.isSigned() ? double(value.getSExtValue())
                                            : double(value.getZExtValue()));
        continue;
      }
      APFloat number(cast<FloatType>(attr.getElementType()).getFloatSemantics(), value);
      bool losesInfo;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      result.push_back(number.convertToDouble());
    }
    return result;
  }

  /// `op` of arrays of `type` with a result of `resultType`.
  std::optional<SmallVector<double>> run(StringRef op, StringRef type,
                                         ArrayRef<SmallVector<double>> operands,
                                         StringRef resultType,
                                         ArrayRef<NamedAttribute> attrs = {}) {
    OperationState state(builder.getUnknownLoc(), ("hlo." + op).str());
    SmallVector<DenseElementsAttr> values;
    for (ArrayRef<double> operand : operands) {
      values.push_back(array(type, operand));
      state.addOperands(ConstantOp::create(builder, builder.getUnknownLoc(),
                                           values.back().getType(), values.back())
                            .getResult());
    }
    state.addTypes(
        RankedTensorType::get({static_cast<int64_t>(operands[0].size())}, element(resultType)));
    state.addAttributes(attrs);
    DenseElementsAttr result = evaluate(builder.create(state), values);
    return result ? std::optional<SmallVector<double>>(numbers(result)) : std::nullopt;
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

/// Equal, where NaN equals NaN and 0 differs from -0.
void expectEqual(ArrayRef<double> got, ArrayRef<double> expected, StringRef what) {
  ASSERT_EQ(got.size(), expected.size()) << what.str();
  for (size_t i = 0; i < got.size(); ++i) {
    bool same = std::isnan(expected[i])
                    ? std::isnan(got[i])
                    : got[i] == expected[i] && std::signbit(got[i]) == std::signbit(expected[i]);
    EXPECT_TRUE(same) << what.str() << "[" << i << "]: " << got[i] << " is not " << expected[i];
  }
}

struct Row {
  const char *op;
  const char *type;
  SmallVector<SmallVector<double>> operands;
  SmallVector<double> expected;
};

TEST_F(EvaluatorTest, ElementwiseOps) {
  const double min32 = -2147483648.0;
  SmallVector<Row> rows = {
      {"add", "s8", {{127, -128, 1}, {1, -1, 2}}, {-128, 127, 3}},
      {"add", "u8", {{255}, {1}}, {0}},
      {"add", "pred", {{0, 1, 1}, {1, 1, 0}}, {1, 1, 1}},
      {"multiply", "s32", {{65536}, {65536}}, {0}},
      {"divide", "s32", {{7, 7, -7, min32}, {0, 2, 2, -1}}, {-1, 3, -3, min32}},
      {"divide", "u8", {{7, 200}, {0, 3}}, {255, 66}},
      {"remainder", "s32", {{7, 7, -7, min32}, {0, 2, 2, -1}}, {7, 1, -1, 0}},
      {"maximum", "u8", {{200, 3}, {100, 4}}, {200, 4}},
      {"minimum", "s8", {{-56, 3}, {100, 4}}, {-56, 3}},
      {"abs", "s8", {{-128, -3, 3}}, {-128, 3, 3}},
      {"sign", "s8", {{-128, 0, 3, -1}}, {-1, 0, 1, -1}},
      {"not", "u8", {{1}}, {254}},
      {"popcnt", "s8", {{-1, 3}}, {8, 2}},
      {"count_leading_zeros", "s32", {{-1, 0, 1}}, {0, 32, 31}},
      {"shift_left", "s8", {{1, 1, 1}, {7, 8, -1}}, {-128, 0, 0}},
      {"shift_right_logical", "s8", {{-1, -1}, {1, 9}}, {127, 0}},
      {"shift_right_arithmetic", "s8", {{-128, -128, 64}, {1, 9, 9}}, {-64, -1, 0}},
      {"add", "f32", {{1, kInf, -0.0}, {16777216, -kInf, 0.0}}, {16777216, kNan, 0.0}},
      {"subtract", "f32", {{-0.0}, {0.0}}, {-0.0}},
      {"divide", "f64", {{1, -1, 0}, {0, 0, 0}}, {kInf, -kInf, kNan}},
      {"remainder", "f32", {{5.5, -5.5, 1}, {2, 2, 0}}, {1.5, -1.5, kNan}},
      {"maximum", "f32", {{kNan, 1, -0.0}, {1, kNan, 0.0}}, {kNan, kNan, 0.0}},
      {"minimum", "bf16", {{kNan, 2}, {1, 1}}, {kNan, 1}},
      {"multiply", "f16", {{300}, {300}}, {kInf}},
      {"add", "bf16", {{256}, {1}}, {256}},
      {"sign", "f32", {{-0.0, -3, kNan, kInf}}, {-0.0, -1, kNan, 1}},
      {"floor", "f32", {{-0.5, 1.5}}, {-1, 1}},
      {"ceil", "f32", {{-0.5, 1.5}}, {-0.0, 2}},
      {"round_nearest_even", "f32", {{0.5, 1.5, -2.5}}, {0, 2, -2}},
      {"round_nearest_afz", "f32", {{0.5, 1.5, -2.5}}, {1, 2, -3}},
      {"clamp", "s32", {{0, 0, 0}, {-5, 5, 50}, {9, 9, 9}}, {0, 5, 9}},
      // Where low is above high, high wins.
      {"clamp", "s32", {{9, 9, 9}, {0, 5, 12}, {3, 3, 3}}, {3, 3, 3}},
      {"clamp", "f32", {{9, 9, 9}, {0, 5, 12}, {3, 3, 3}}, {3, 3, 3}},
      {"clamp", "f32", {{0}, {kNan}, {9}}, {kNan}},
  };
  for (const Row &row : rows) {
    std::optional<SmallVector<double>> got = run(row.op, row.type, row.operands, row.type);
    ASSERT_TRUE(got) << row.op << " " << row.type;
    expectEqual(*got, row.expected, row.op);
  }
}

TEST_F(EvaluatorTest, Convert) {
  struct Conversion {
    const char *from, *to;
    SmallVector<double> operand, expected;
  };
  SmallVector<Conversion> rows = {
      {"f32", "s8", {1.9, -1.9, 300, -300, kNan, kInf}, {1, -1, 127, -128, 0, 127}},
      {"f32", "u8", {-1, 255.5, 1e9}, {0, 255, 255}},
      {"f64", "s64", {1e30, -1e30}, {9223372036854775807.0, -9223372036854775808.0}},
      {"f32", "pred", {0.0, -0.0, 0.5, kNan}, {0, 0, 1, 1}},
      {"s32", "u8", {-1, 256, 257}, {255, 0, 1}},
      {"s8", "s32", {-1}, {-1}},
      {"u8", "s32", {255}, {255}},
      {"pred", "f32", {0, 1}, {0, 1}},
      {"s32", "f32", {16777217}, {16777216}},
      {"f32", "bf16", {1.00390625, 1.01171875}, {1, 1.015625}},
      {"f64", "f16", {65519, 65520}, {65504, kInf}},
  };
  for (const Conversion &row : rows) {
    std::optional<SmallVector<double>> got = run("convert", row.from, {row.operand}, row.to);
    ASSERT_TRUE(got) << row.from << " to " << row.to;
    expectEqual(*got, row.expected, (Twine(row.from) + " to " + row.to).str());
  }
}

TEST_F(EvaluatorTest, Compare) {
  struct Comparison {
    const char *type, *direction, *kind;
    SmallVector<double> lhs, rhs, expected;
  };
  SmallVector<Comparison> rows = {
      {"f32", "LT", "", {1, kNan, 0.0}, {2, 1, -0.0}, {1, 0, 0}},
      {"f32", "NE", "", {kNan, 1}, {kNan, 1}, {1, 0}},
      {"f32", "GE", "", {kNan, 1}, {kNan, 1}, {0, 1}},
      {"f32", "LT", "TOTALORDER", {-0.0, kInf, -kInf, 0.0}, {0.0, kNan, kInf, -0.0}, {1, 1, 1, 0}},
      {"u8", "GT", "", {200}, {100}, {1}},
      {"s8", "GT", "", {-56}, {100}, {0}},
      {"pred", "LT", "", {0, 1}, {1, 1}, {1, 0}},
  };
  for (const Comparison &row : rows) {
    SmallVector<NamedAttribute> attrs{
        builder.getNamedAttr("direction", builder.getStringAttr(row.direction))};
    if (*row.kind) {
      attrs.push_back(builder.getNamedAttr("type", builder.getStringAttr(row.kind)));
    }
    std::optional<SmallVector<double>> got =
        run("compare", row.type, {row.lhs, row.rhs}, "pred", attrs);
    ASSERT_TRUE(got) << row.direction;
    expectEqual(*got, row.expected, (Twine(row.type) + " " + row.direction).str());
  }
}

TEST_F(EvaluatorTest, TranscendentalFunctionsAreLeftAlone) {
  for (const char *op : {"sine", "exponential", "log", "tanh", "sqrt", "logistic"}) {
    EXPECT_FALSE(run(op, "f32", {{1}}, "f32")) << op;
  }
}

TEST_F(EvaluatorTest, Moves) {
  HloBuilder b(builder, builder.getUnknownLoc());
  DenseElementsAttr matrix =
      array("s32", {1, 2, 3, 4, 5, 6}).reshape(RankedTensorType::get({2, 3}, element("s32")));
  Value x = b.constant(matrix);
  auto check = [&](Value value, ArrayRef<DenseElementsAttr> operands, ArrayRef<double> expected) {
    DenseElementsAttr result = evaluate(value.getDefiningOp(), operands);
    ASSERT_TRUE(result);
    EXPECT_EQ(result.getType(), value.getType());
    expectEqual(numbers(result), expected, value.getDefiningOp()->getName().getStringRef());
  };
  check(b.transpose(x, {1, 0}), {matrix}, {1, 4, 2, 5, 3, 6});
  check(b.slice(x, {0, 1}, {2, 3}, {1, 2}), {matrix}, {2, 5});
  check(b.reshape(x, {3, 2}), {matrix}, {1, 2, 3, 4, 5, 6});
  check(b.broadcast(x, {2, 2, 3}, {0, 2}), {matrix}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  check(b.concatenate({x, x}, 1), {matrix, matrix}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  DenseElementsAttr nine = array("s32", {9}).reshape(RankedTensorType::get({}, element("s32")));
  Value pad = b.pad(x, b.constant(nine), {-1, 0}, {1, 0}, {0, 1});
  check(pad, {matrix, nine}, {4, 9, 5, 9, 6, 9, 9, 9, 9, 9});
  check(b.iota(RankedTensorType::get({2, 3}, element("f32")), 1), {}, {0, 1, 2, 0, 1, 2});
}

} // namespace

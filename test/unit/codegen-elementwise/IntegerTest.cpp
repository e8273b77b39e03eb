//===- IntegerTest.cpp - Integer and pred ops on edge values --------------===//
//
// Every op on every pair of edge values of every integer type, vectors and scalars, against
// arithmetic in 128 bits.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include "llvm/ADT/APInt.h"
#include <gtest/gtest.h>

using namespace hlo;
using namespace hlo::testing;
using llvm::APInt;

namespace {

struct IntegerType {
  int width;
  bool isUnsigned;
  std::string name() const { return (isUnsigned ? "ui" : "si") + std::to_string(width); }
  int bytes() const { return width < 8 ? 1 : width / 8; }
};
const IntegerType types[] = {{1, false},  {1, true},  {2, false},  {2, true},   {4, false},
                             {4, true},   {8, false}, {8, true},   {16, false}, {16, true},
                             {32, false}, {32, true}, {64, false}, {64, true}};

std::vector<APInt> edges(const IntegerType &type) {
  std::vector<APInt> values;
  if (type.width <= 4) {
    for (unsigned v = 0; v < (1u << type.width); ++v) {
      values.push_back(APInt(type.width, v));
    }
    return values;
  }
  for (int64_t v : {0, 1, 2, 3, 5, 7, 31, 63, 100, -1, -2, -3, -7, -100}) {
    values.push_back(APInt(64, v, true).trunc(type.width));
  }
  APInt min = APInt::getSignedMinValue(type.width), max = APInt::getSignedMaxValue(type.width);
  for (const APInt &v : {min, min + 1, max, max - 1, max.lshr(1), min.lshr(type.width / 2)}) {
    values.push_back(v);
  }
  values.push_back(APInt(64, 0x123456789abcdef1).trunc(type.width));
  values.push_back(APInt(64, type.width));
  values.back() = values.back().trunc(type.width);
  return values;
}

APInt power(APInt base, APInt exponent, bool isUnsigned) {
  unsigned width = base.getBitWidth();
  APInt one(width, 1, false, true);
  if (!isUnsigned && exponent.isNegative()) {
    if (base.isOne() && width > 1) {
      return one;
    }
    if (base.isAllOnes()) {
      return exponent[0] ? base : one;
    }
    return APInt(width, 0);
  }
  APInt result = one;
  for (; !exponent.isZero(); exponent = exponent.lshr(1), base *= base) {
    if (exponent[0]) {
      result *= base;
    }
  }
  return result;
}

APInt expected(const std::string &op, const APInt &a, const APInt &b, bool u) {
  unsigned width = a.getBitWidth();
  bool tooFar = b.uge(width);
  APInt ones = APInt::getAllOnes(width), zero(width, 0);
  bool wraps = !u && b.isAllOnes();
  if (op == "add") {
    return a + b;
  }
  if (op == "subtract") {
    return a - b;
  }
  if (op == "multiply") {
    return a * b;
  }
  if (op == "divide") {
    return b.isZero() ? ones : u ? a.udiv(b) : wraps ? -a : a.sdiv(b);
  }
  if (op == "remainder") {
    return b.isZero() ? a : u ? a.urem(b) : wraps ? zero : a.srem(b);
  }
  if (op == "maximum") {
    return (u ? a.ugt(b) : a.sgt(b)) ? a : b;
  }
  if (op == "minimum") {
    return (u ? a.ult(b) : a.slt(b)) ? a : b;
  }
  if (op == "and") {
    return a & b;
  }
  if (op == "or") {
    return a | b;
  }
  if (op == "xor") {
    return a ^ b;
  }
  if (op == "power") {
    return power(a, b, u);
  }
  if (op == "mulhi") {
    return u ? (a.zext(2 * width) * b.zext(2 * width)).lshr(width).trunc(width)
             : (a.sext(2 * width) * b.sext(2 * width)).lshr(width).trunc(width);
  }
  if (op == "shift_left") {
    return tooFar ? zero : a.shl(b);
  }
  if (op == "shift_right_logical") {
    return tooFar ? zero : a.lshr(b);
  }
  if (op == "shift_right_arithmetic") {
    return tooFar ? a.ashr(width - 1) : a.ashr(b);
  }
  if (op == "not") {
    return ~a;
  }
  if (op == "negate") {
    return -a;
  }
  if (op == "abs") {
    return u ? a : a.abs();
  }
  if (op == "sign") {
    return a.isZero() ? zero : !u && a.isNegative() ? ones : APInt(width, 1, false, true);
  }
  if (op == "popcnt") {
    return APInt(32, a.popcount()).zextOrTrunc(width);
  }
  if (op == "count_leading_zeros") {
    return APInt(32, a.countl_zero()).zextOrTrunc(width);
  }
  ADD_FAILURE() << op;
  return zero;
}

/// As in memory: sign- or zero-extended to bytes.
void put(std::vector<char> &bytes, const APInt &value, const IntegerType &type) {
  uint64_t raw = type.isUnsigned ? value.getZExtValue() : uint64_t(value.getSExtValue());
  const char *p = reinterpret_cast<const char *>(&raw);
  bytes.insert(bytes.end(), p, p + type.bytes());
}

void check(const std::string &op, int arity, const IntegerType &type, int64_t lanes,
           const Target &target) {
  std::vector<APInt> a, b;
  for (const APInt &x : edges(type)) {
    for (const APInt &y : edges(type)) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  while (a.size() % lanes) {
    a.push_back(a[0]);
    b.push_back(b[0]);
  }
  std::vector<char> aBytes, bBytes, got(a.size() * type.bytes()), want;
  for (size_t i = 0; i < a.size(); ++i) {
    put(aBytes, a[i], type);
    put(bBytes, b[i], type);
    put(want, expected(op, a[i], b[i], type.isUnsigned), type);
  }
  std::vector<std::string> operands(arity, type.name());
  auto runner = OpRunner::compile(op, operands, type.name(), lanes, target);
  ASSERT_TRUE(runner) << op << " " << type.name();
  runner->run({aBytes.data(), bBytes.data()}, got.data(), a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    std::string wanted(&want[i * type.bytes()], type.bytes());
    std::string was(&got[i * type.bytes()], type.bytes());
    ASSERT_EQ(was, wanted) << op << " " << type.name() << " lanes " << lanes << " "
                           << llvm::toString(a[i], 10, !type.isUnsigned) << ", "
                           << llvm::toString(b[i], 10, !type.isUnsigned);
  }
}

const char *binary[] = {"add",
                        "subtract",
                        "multiply",
                        "divide",
                        "remainder",
                        "maximum",
                        "minimum",
                        "and",
                        "or",
                        "xor",
                        "power",
                        "mulhi",
                        "shift_left",
                        "shift_right_logical",
                        "shift_right_arithmetic"};
const char *unary[] = {"not", "negate", "abs", "sign", "popcnt", "count_leading_zeros"};

void checkAll(int64_t lanes, const Target &target, int widest = 64) {
  for (const IntegerType &type : types) {
    if (type.width > widest) {
      continue;
    }
    for (const char *op : binary) {
      check(op, 2, type, lanes, target);
    }
    for (const char *op : unary) {
      check(op, 1, type, lanes, target);
    }
  }
}

TEST(Integers, Vectors) { checkAll(8, targetOf("host")); }
TEST(Integers, Scalars) { checkAll(1, targetOf("host")); }
TEST(Integers, VectorsOfBytes) { checkAll(64, targetOf("host"), 8); }
TEST(Integers, VectorsOfAvx2) { checkAll(8, targetOf("x86-64-v3")); }

TEST(Integers, Compare) {
  const char *directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  for (const IntegerType &type : types) {
    for (const char *direction : directions) {
      std::vector<APInt> a, b;
      for (const APInt &x : edges(type)) {
        for (const APInt &y : edges(type)) {
          a.push_back(x);
          b.push_back(y);
        }
      }
      std::vector<char> aBytes, bBytes, got(a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        put(aBytes, a[i], type);
        put(bBytes, b[i], type);
      }
      std::string attrs = "{direction = \"" + std::string(direction) + "\"}";
      auto runner = OpRunner::compile("compare", {type.name(), type.name()}, "i1", 4,
                                      targetOf("host"), attrs);
      ASSERT_TRUE(runner);
      runner->run({aBytes.data(), bBytes.data()}, got.data(), a.size() / 4 * 4);
      for (size_t i = 0; i < a.size() / 4 * 4; ++i) {
        bool u = type.isUnsigned;
        bool less = u ? a[i].ult(b[i]) : a[i].slt(b[i]), same = a[i] == b[i];
        std::string d = direction;
        bool want = d == "EQ"   ? same
                    : d == "NE" ? !same
                    : d == "LT" ? less
                    : d == "LE" ? less || same
                    : d == "GT" ? !less && !same
                                : !less;
        ASSERT_EQ(bool(got[i]), want) << d << " " << type.name();
      }
    }
  }
}

TEST(Integers, Convert) {
  for (const IntegerType &from : types) {
    for (const IntegerType &to : types) {
      std::vector<char> bytes, want;
      std::vector<APInt> values = edges(from);
      values.resize(values.size() / 2 * 2, values[0]);
      for (const APInt &v : values) {
        put(bytes, v, from);
        put(want, from.isUnsigned ? v.zextOrTrunc(to.width) : v.sextOrTrunc(to.width), to);
      }
      std::vector<char> got(want.size());
      auto runner = OpRunner::compile("convert", {from.name()}, to.name(), 2, targetOf("host"));
      ASSERT_TRUE(runner);
      runner->run({bytes.data()}, got.data(), values.size());
      ASSERT_EQ(got, want) << from.name() << " to " << to.name();
    }
  }
}

TEST(Predicates, Logic) {
  std::vector<uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  auto run = [&](const char *op, int arity) {
    std::vector<std::string> operands(arity, "i1");
    std::vector<uint8_t> got(4);
    auto runner = OpRunner::compile(op, operands, "i1", 4, targetOf("host"));
    EXPECT_TRUE(runner) << op;
    runner->run({a.data(), b.data()}, got.data(), 4);
    return got;
  };
  using V = std::vector<uint8_t>;
  EXPECT_EQ(run("add", 2), V({0, 1, 1, 1}));
  EXPECT_EQ(run("multiply", 2), V({0, 0, 0, 1}));
  EXPECT_EQ(run("maximum", 2), V({0, 1, 1, 1}));
  EXPECT_EQ(run("minimum", 2), V({0, 0, 0, 1}));
  EXPECT_EQ(run("xor", 2), V({0, 1, 1, 0}));
  EXPECT_EQ(run("not", 1), V({1, 1, 0, 0}));
}

TEST(Unsupported, NamesOpAndType) {
  std::string error;
  EXPECT_FALSE(OpRunner::compile("tanh", {"si32"}, "si32", 4, targetOf("host"), "{}", &error));
  EXPECT_EQ(error, "tanh of s32 is not supported");
}

} // namespace

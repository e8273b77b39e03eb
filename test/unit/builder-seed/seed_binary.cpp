//===- seed_binary.cpp - Element-wise functions of several operands -------===//
//
// Rows of the table of the specification's sections: see SeedTable.h. Every binary function has the
// variants op(array, array), op(array, scalar) and op(matrix, vector, broadcast_dimensions).
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"
#include <cmath>

using namespace seed;

#define BINARY                                                                                     \
  "zh: 逐个元素的二元算术操作", "en: Element-wise binary arithmetic operations",                   \
      "old: Element-wise binary arithmetic operations"
#define COMPARISON                                                                                 \
  "zh: 逐个元素的比较操作", "en: Element-wise comparison operations",                              \
      "old: Element-wise comparison operations", "tr: Karşılaştır"

static const float kInf = INFINITY;

ROW(Add, "Add(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Ekle") {
  auto x = f32({3}, {1, 2, 3});
  auto y = f32({3}, {10, 20, 30});
  RUNS(Add(x(b), y(b)), f32({3}, {11, 22, 33}));
  RUNS(x(b) + y(b), f32({3}, {11, 22, 33}));
  auto one = f32(1);
  RUNS(Add(x(b), one(b)), f32({3}, {2, 3, 4}));
  RUNS(Add(one(b), x(b)), f32({3}, {2, 3, 4}));
  // A vector to each row or to each column of a matrix.
  auto m = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  auto two = f32({2}, {100, 200});
  RUNS(Add(m(b), y(b), {1}), f32({2, 3}, {11, 22, 33, 14, 25, 36}));
  RUNS(Add(m(b), two(b), {0}), f32({2, 3}, {101, 102, 103, 204, 205, 206}));
  RUNS(Add(two(b), m(b), {0}), f32({2, 3}, {101, 102, 103, 204, 205, 206}));
  // Degenerate dimensions, alone and after broadcast_dimensions.
  auto row = f32({1, 3}, {10, 20, 30});
  auto column = f32({2, 1}, {100, 200});
  RUNS(Add(m(b), row(b)), f32({2, 3}, {11, 22, 33, 14, 25, 36}));
  RUNS(Add(row(b), column(b)), f32({2, 3}, {110, 120, 130, 210, 220, 230}));
  RUNS(Add(column(b), y(b), {1}), f32({2, 3}, {110, 120, 130, 210, 220, 230}));
  auto cube = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto square = f32({2, 2}, {10, 20, 30, 40});
  RUNS(Add(cube(b), square(b), {0, 2}), f32({2, 2, 2}, {11, 22, 13, 24, 35, 46, 37, 48}));
  // Arrays of different ranks need broadcast_dimensions.
  FAILS(Add(m(b), y(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Add(m(b), two(b), {1}), "of the smaller one goes to dimension");
  FAILS(Add(m(b), y(b), {2}), "must be dimensions of");
  FAILS(Add(m(b), y(b), {0, 1}), "broadcast_dimensions");
  FAILS(Add(cube(b), square(b), {0, 0}), "must be dimensions of");
  FAILS(Add(cube(b), square(b), {-1, 0}), "must be dimensions of");
  FAILS(Add(x(b), two(b)), "sizes must be equal or");
  auto i = s32({3}, {1, 2, 3});
  FAILS(Add(x(b), i(b)), "operand element types differ: lhs is");
  FAILS(Add(Tuple(b, {x(b)}), x(b)), "must be an array, is");
}

ROW(And, "And(lhs, rhs, broadcast_dimensions)", BINARY, "tr: ve") { // LogicalAnd in the older ones
  auto p = pred({4}, {0, 0, 1, 1});
  auto q = pred({4}, {0, 1, 0, 1});
  RUNS(And(p(b), q(b)), pred({4}, {0, 0, 0, 1}));
  RUNS(LogicalAnd(p(b), q(b)), pred({4}, {0, 0, 0, 1}));
  auto u = u8({2}, {12, 255});
  auto v = u8({2}, {10, 15});
  RUNS(And(u(b), v(b)), u8({2}, {8, 15}));
  RUNS(u(b) & v(b), u8({2}, {8, 15}));
  auto m = u8({2, 2}, {1, 2, 3, 4});
  auto mask = u8({2}, {1, 6});
  RUNS(And(m(b), mask(b), {1}), u8({2, 2}, {1, 2, 1, 4}));
  auto f = f32({2}, {1, 2});
  FAILS(And(f(b), f(b)), "its element type must be pred or an integer");
  FAILS(And(m(b), mask(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Atan2, "Atan2(lhs, rhs, broadcast_dimensions)", "tr: Atan2") {
  auto y = f32({4}, {1, 1, -1, 0});
  auto x = f32({4}, {1, -1, -1, 2});
  const double pi = M_PI;
  RUNS_NEAR(Atan2(y(b), x(b)), 1e-6, f32({4}, {pi / 4, 3 * pi / 4, -3 * pi / 4, 0}));
  auto m = f32({2, 1}, {1, -1});
  auto v = f32({1}, {1});
  RUNS_NEAR(Atan2(m(b), v(b), {1}), 1e-6, f32({2, 1}, {pi / 4, -pi / 4}));
  auto i = s32({1}, {1});
  FAILS(Atan2(i(b), i(b)), "its element type must be floating or complex");
  FAILS(Atan2(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Compare, "Compare(lhs, rhs, broadcast_dimensions, direction)", COMPARISON) {
  auto x = f32({3}, {1, 2, NAN});
  auto y = f32({3}, {2, 2, 2});
  RUNS(Compare(x(b), y(b), {}, ComparisonDirection::kLe), pred({3}, {1, 1, 0}));
  auto i = s32({3}, {1, 2, 3});
  FAILS(Compare(x(b), i(b), {}, ComparisonDirection::kLe), "operand element types differ: lhs is");
  auto c = c64({1}, {{1, 2}});
  FAILS(Compare(c(b), c(b), {}, ComparisonDirection::kLt),
        "direction is LT, complex operands compare only EQ and NE");
}

// Operands of the rows below: total order is -NaN < -Inf < -1 < -0 < +0 < 1 < +Inf < +NaN.
static const Values &left() {
  static const Values values = f32({6}, {-NAN, -1, -0.0, 0, kInf, NAN});
  return values;
}
static const Values &right() {
  static const Values values = f32({6}, {-kInf, -1, 0, -0.0, NAN, NAN});
  return values;
}

ROW(Eq, "Eq(lhs, rhs, broadcast_dimensions); EqTotalOrder", COMPARISON, "tr: Eq") {
  auto x = left(), y = right();
  RUNS(Eq(x(b), y(b)), pred({6}, {0, 1, 1, 1, 0, 0}));
  RUNS(EqTotalOrder(x(b), y(b)), pred({6}, {0, 1, 0, 0, 0, 1}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {1, 4});
  RUNS(Eq(m(b), v(b), {1}), pred({2, 2}, {1, 0, 0, 1}));
  FAILS(Eq(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Eq(x(b), v(b)), "sizes must be equal or");
  FAILS(EqTotalOrder(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Ne, "Ne(lhs, rhs, broadcast_dimensions); NeTotalOrder", COMPARISON, "tr: Ne") {
  auto x = left(), y = right();
  RUNS(Ne(x(b), y(b)), pred({6}, {1, 0, 0, 0, 1, 1}));
  RUNS(NeTotalOrder(x(b), y(b)), pred({6}, {1, 0, 1, 1, 1, 0}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {1, 4});
  RUNS(Ne(m(b), v(b), {1}), pred({2, 2}, {0, 1, 1, 0}));
  FAILS(Ne(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Ge, "Ge(lhs, rhs, broadcast_dimensions); GeTotalOrder", COMPARISON, "tr: Ge") {
  auto x = left(), y = right();
  RUNS(Ge(x(b), y(b)), pred({6}, {0, 1, 1, 1, 0, 0}));
  RUNS(GeTotalOrder(x(b), y(b)), pred({6}, {0, 1, 0, 1, 0, 1}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {1, 4});
  RUNS(Ge(m(b), v(b), {1}), pred({2, 2}, {1, 0, 1, 1}));
  FAILS(Ge(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Gt, "Gt(lhs, rhs, broadcast_dimensions); GtTotalOrder", COMPARISON, "tr: Gt") {
  auto x = left(), y = right();
  RUNS(Gt(x(b), y(b)), pred({6}, {0, 0, 0, 0, 0, 0}));
  RUNS(GtTotalOrder(x(b), y(b)), pred({6}, {0, 0, 0, 1, 0, 0}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {1, 3});
  RUNS(Gt(m(b), v(b), {0}), pred({2, 2}, {0, 1, 0, 1}));
  FAILS(Gt(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Le, "Le(lhs, rhs, broadcast_dimensions); LeTotalOrder", COMPARISON, "tr: Le") {
  auto x = left(), y = right();
  RUNS(Le(x(b), y(b)), pred({6}, {0, 1, 1, 1, 0, 0}));
  RUNS(LeTotalOrder(x(b), y(b)), pred({6}, {1, 1, 1, 0, 1, 1}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {1, 3});
  RUNS(Le(m(b), v(b), {0}), pred({2, 2}, {1, 0, 1, 0}));
  FAILS(Le(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Lt, "Lt(lhs, rhs, broadcast_dimensions); LtTotalOrder", COMPARISON, "tr: Lt") {
  auto x = left(), y = right();
  RUNS(Lt(x(b), y(b)), pred({6}, {0, 0, 0, 0, 0, 0}));
  RUNS(LtTotalOrder(x(b), y(b)), pred({6}, {1, 0, 1, 0, 1, 0}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {2, 4});
  RUNS(Lt(m(b), v(b), {0}), pred({2, 2}, {1, 0, 1, 0}));
  FAILS(Lt(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Complex, "Complex(lhs, rhs, broadcast_dimensions)", "tr: Karmaşık") {
  auto re = f32({2}, {1, 2});
  auto im = f32({2}, {-3, 4});
  RUNS(Complex(re(b), im(b)), c64({2}, {{1, -3}, {2, 4}}));
  auto m = f32({1, 2}, {5, 6});
  RUNS(Complex(m(b), im(b), {1}), c64({1, 2}, {{5, -3}, {6, 4}}));
  auto i = s32({2}, {1, 2});
  FAILS(Complex(i(b), i(b)), "its element type must be floating");
  auto d = f64({2}, {1, 2});
  FAILS(Complex(re(b), d(b)), "operand element types differ: lhs is");
}

ROW(Div, "Div(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Div") {
  auto x = f32({2}, {1, -3});
  auto y = f32({2}, {4, 2});
  RUNS(Div(x(b), y(b)), f32({2}, {0.25, -1.5}));
  RUNS(x(b) / y(b), f32({2}, {0.25, -1.5}));
  auto i = s32({2}, {7, -7});
  auto two = s32(2);
  RUNS(Div(i(b), two(b)), s32({2}, {3, -3}));
  auto m = f32({2, 2}, {8, 8, 8, 8});
  RUNS(Div(m(b), y(b), {1}), f32({2, 2}, {2, 4, 2, 4}));
  FAILS(Div(m(b), y(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Div(x(b), i(b)), "operand element types differ: lhs is");
}

ROW(Max, "Max(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Maks.") {
  auto x = f32({3}, {1, -3, NAN});
  auto y = f32({3}, {0, 2, 1});
  RUNS(Max(x(b), y(b)), f32({3}, {1, 2, NAN}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {2, 3});
  RUNS(Max(m(b), v(b), {1}), s32({2, 2}, {2, 3, 3, 4}));
  FAILS(Max(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Max(x(b), m(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Min, "Min(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Min.") {
  auto x = f32({3}, {1, -3, NAN});
  auto y = f32({3}, {0, 2, 1});
  RUNS(Min(x(b), y(b)), f32({3}, {0, -3, NAN}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {2, 3});
  RUNS(Min(m(b), v(b), {1}), s32({2, 2}, {1, 2, 2, 3}));
  FAILS(Min(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Min(x(b), m(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Mul, "Mul(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Mul") {
  auto x = f32({2}, {1.5, -3});
  auto y = f32({2}, {4, 2});
  RUNS(Mul(x(b), y(b)), f32({2}, {6, -6}));
  RUNS(x(b) * y(b), f32({2}, {6, -6}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {10, 100});
  RUNS(Mul(m(b), v(b), {0}), s32({2, 2}, {10, 20, 300, 400}));
  FAILS(Mul(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Mul(x(b), v(b)), "operand element types differ: lhs is");
}

ROW(Or, "Or(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Alternatif seçenek:") { // LogicalOr
  auto p = pred({4}, {0, 0, 1, 1});
  auto q = pred({4}, {0, 1, 0, 1});
  RUNS(Or(p(b), q(b)), pred({4}, {0, 1, 1, 1}));
  RUNS(LogicalOr(p(b), q(b)), pred({4}, {0, 1, 1, 1}));
  auto u = u8({2}, {12, 1});
  auto v = u8({2}, {10, 2});
  RUNS(u(b) | v(b), u8({2}, {14, 3}));
  auto m = u8({2, 2}, {1, 2, 3, 4});
  RUNS(Or(m(b), v(b), {1}), u8({2, 2}, {11, 2, 11, 6}));
  auto f = f32({2}, {1, 2});
  FAILS(Or(f(b), f(b)), "its element type must be pred or an integer");
  FAILS(Or(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Pow, "Pow(lhs, rhs, broadcast_dimensions)", "tr: Pow") {
  auto x = f32({3}, {2, 9, -2});
  auto y = f32({3}, {10, 0.5, 3});
  RUNS_NEAR(Pow(x(b), y(b)), 1e-6, f32({3}, {1024, 3, -8}));
  auto i = s32({2}, {3, -2});
  auto e = s32({2}, {4, 3});
  RUNS(Pow(i(b), e(b)), s32({2}, {81, -8}));
  auto m = s32({1, 2}, {3, 2});
  RUNS(Pow(m(b), e(b), {1}), s32({1, 2}, {81, 8}));
  FAILS(Pow(m(b), e(b)), "broadcast_dimensions must say which dimensions correspond");
  FAILS(Pow(x(b), e(b)), "sizes must be equal or");
}

ROW(Rem, "Rem(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Rem") {
  auto i = s32({4}, {7, -7, 7, -7}); // the sign is the dividend's
  auto j = s32({4}, {3, 3, -3, -3});
  RUNS(Rem(i(b), j(b)), s32({4}, {1, -1, 1, -1}));
  RUNS(i(b) % j(b), s32({4}, {1, -1, 1, -1}));
  auto x = f32({2}, {5.5, -5.5});
  auto two = f32(2);
  RUNS(Rem(x(b), two(b)), f32({2}, {1.5, -1.5}));
  auto m = s32({1, 4}, {7, 8, 9, 10});
  RUNS(Rem(m(b), j(b), {1}), s32({1, 4}, {1, 2, 0, 1}));
  FAILS(Rem(m(b), j(b)), "broadcast_dimensions must say which dimensions correspond");
  auto p = pred({4}, {0, 0, 1, 1});
  FAILS(Rem(p(b), p(b)), "its element type must be an integer, floating or complex");
}

ROW(ShiftLeft, "ShiftLeft(lhs, rhs, broadcast_dimensions)", "tr: ShiftLeft") {
  auto x = s32({3}, {1, -1, 5});
  auto n = s32({3}, {4, 1, 32}); // all bits are lost
  RUNS(ShiftLeft(x(b), n(b)), s32({3}, {16, -2, 0}));
  RUNS(x(b) << n(b), s32({3}, {16, -2, 0}));
  auto m = s32({1, 3}, {1, 1, 1});
  RUNS(ShiftLeft(m(b), n(b), {1}), s32({1, 3}, {16, 2, 0}));
  auto f = f32({3}, {1, 2, 3});
  FAILS(ShiftLeft(f(b), f(b)), "its element type must be an integer");
  FAILS(ShiftLeft(m(b), n(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(ShiftRightArithmetic, "ShiftRightArithmetic(lhs, rhs, broadcast_dimensions)",
    "tr: ShiftRightArithmetic") {
  auto x = s32({3}, {16, -2, -5});
  auto n = s32({3}, {4, 1, 32});
  RUNS(ShiftRightArithmetic(x(b), n(b)), s32({3}, {1, -1, -1}));
  RUNS(x(b) >> n(b), s32({3}, {1, -1, -1}));
  auto m = s32({1, 3}, {16, -16, 64});
  RUNS(ShiftRightArithmetic(m(b), n(b), {1}), s32({1, 3}, {1, -8, 0}));
  auto f = f32({3}, {1, 2, 3});
  FAILS(ShiftRightArithmetic(f(b), f(b)), "its element type must be an integer");
  FAILS(ShiftRightArithmetic(m(b), n(b)),
        "broadcast_dimensions must say which dimensions correspond");
}

ROW(ShiftRightLogical, "ShiftRightLogical(lhs, rhs, broadcast_dimensions)",
    "tr: ShiftRightLogical") {
  auto x = s32({3}, {16, -2, -5});
  auto n = s32({3}, {4, 1, 32});
  RUNS(ShiftRightLogical(x(b), n(b)), s32({3}, {1, 0x7fffffff, 0}));
  auto u = u32({2}, {0x80000000, 8});
  auto k = u32({2}, {31, 3});
  RUNS(u(b) >> k(b), u32({2}, {1, 1}));
  auto m = u32({1, 2}, {16, 16});
  RUNS(ShiftRightLogical(m(b), k(b), {1}), u32({1, 2}, {0, 2}));
  auto f = f32({3}, {1, 2, 3});
  FAILS(ShiftRightLogical(f(b), f(b)), "its element type must be an integer");
  FAILS(ShiftRightLogical(m(b), k(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Sub, "Sub(lhs, rhs, broadcast_dimensions)", BINARY, "tr: Alt") {
  auto x = f32({2}, {1.5, -3});
  auto y = f32({2}, {4, 2});
  RUNS(Sub(x(b), y(b)), f32({2}, {-2.5, -5}));
  RUNS(x(b) - y(b), f32({2}, {-2.5, -5}));
  auto m = s32({2, 2}, {1, 2, 3, 4});
  auto v = s32({2}, {10, 100});
  RUNS(Sub(v(b), m(b), {0}), s32({2, 2}, {9, 8, 97, 96}));
  FAILS(Sub(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
  auto p = pred({2}, {1, 1});
  FAILS(Sub(p(b), p(b)), "its element type must be an integer, floating or complex");
}

ROW(Xor, "Xor(lhs, rhs, broadcast_dimensions)", "tr: Xor") {
  auto p = pred({4}, {0, 0, 1, 1});
  auto q = pred({4}, {0, 1, 0, 1});
  RUNS(Xor(p(b), q(b)), pred({4}, {0, 1, 1, 0}));
  auto u = u8({2}, {12, 1});
  auto v = u8({2}, {10, 2});
  RUNS(u(b) ^ v(b), u8({2}, {6, 3}));
  auto m = u8({2, 2}, {1, 2, 3, 4});
  RUNS(Xor(m(b), v(b), {1}), u8({2, 2}, {11, 0, 9, 6}));
  auto f = f32({2}, {1, 2});
  FAILS(Xor(f(b), f(b)), "its element type must be pred or an integer");
  FAILS(Xor(m(b), v(b)), "broadcast_dimensions must say which dimensions correspond");
}

ROW(Clamp, "Clamp(min, operand, max)", "zh: 钳制（Clamp）", "en: Clamp", "tr: Sınır") {
  auto operand = s32({3}, {-1, 5, 9});
  auto min = s32(0);
  auto max = s32(6);
  RUNS(Clamp(min(b), operand(b), max(b)), s32({3}, {0, 5, 6}));
  auto low = s32({3}, {0, 6, 0});
  RUNS(Clamp(low(b), operand(b), max(b)), s32({3}, {0, 6, 6}));
  auto high = s32({3}, {6, 6, 8});
  RUNS(Clamp(low(b), operand(b), high(b)), s32({3}, {0, 6, 8}));
  auto two = s32({2}, {0, 0});
  FAILS(Clamp(two(b), operand(b), max(b)), "sizes differ: bound min is");
  auto f = f32(6);
  FAILS(Clamp(min(b), operand(b), f(b)), "element types differ: bound max is");
}

ROW(Select, "Select(pred, on_true, on_false)", "zh: Select", "en: Select", "old: Select",
    "tr: Seç") {
  auto p = pred({4}, {1, 0, 0, 1});
  auto v1 = s32({4}, {1, 2, 3, 4});
  auto v2 = s32({4}, {100, 200, 300, 400});
  RUNS(Select(p(b), v1(b), v2(b)), s32({4}, {1, 200, 300, 4}));
  auto yes = pred(1);
  RUNS(Select(yes(b), v1(b), v2(b)), s32({4}, {1, 2, 3, 4}));
  auto f = f32({4}, {1, 2, 3, 4});
  FAILS(Select(p(b), v1(b), f(b)), "operands differ: on_true is");
  FAILS(Select(v1(b), v1(b), v2(b)), "the predicate is");
  auto two = pred({2}, {1, 0});
  FAILS(Select(two(b), v1(b), v2(b)), "sizes differ: the predicate is");
  auto three = s32({3}, {1, 2, 3});
  FAILS(Select(p(b), v1(b), three(b)), "operands differ: on_true is");
  // Tuples with a scalar predicate.
  auto no = pred(0);
  RUNS(Select(no(b), Tuple(b, {v1(b), f(b)}), Tuple(b, {v2(b), f(b)})),
       tuple({s32({4}, {100, 200, 300, 400}), f32({4}, {1, 2, 3, 4})}));
  FAILS(Select(p(b), Tuple(b, {v1(b)}), Tuple(b, {v2(b)})),
        "tuples must have one shape, and pred must be a scalar: pred is");
  FAILS(Select(no(b), Tuple(b, {v1(b)}), Tuple(b, {f(b)})),
        "tuples must have one shape, and pred must be a scalar: pred is pred");
}

//===- seed_random.cpp - Random numbers -----------------------------------===//
//
// Rows of the table of the specification's sections: see SeedTable.h. Numbers themselves are known
// for the algorithms of rng-bit-generator only; for the others the examples count properties.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"

using namespace seed;

/// The mean of an array of f32[n].
static XlaOp Mean(XlaOp x, float n) {
  XlaBuilder *b = x.builder();
  return Div(ReduceAll(x, ConstantR0<float>(b, 0), Scalar2(F32, "add")), ConstantR0<float>(b, n));
}

/// Whether low <= x < high in all elements.
static XlaOp AllWithin(XlaOp x, XlaOp low, XlaOp high) {
  return ReduceAll(And(Ge(x, low), Lt(x, high)), ConstantR0<bool>(x.builder(), true),
                   Scalar2(PRED, "and"));
}

ROW(RngUniform, "RngUniform(a, b, shape)", "zh: RngUniform", "en: RngUniform", "old: RngUniform",
    "tr: RngUniform") {
  auto a = f32(2);
  auto c = f32(6);
  const Shape many = ShapeUtil::MakeShape(F32, {10000}), ints = ShapeUtil::MakeShape(S32, {10000});
  RUNS(AllWithin(RngUniform(a(b), c(b), many), a(b), c(b)), pred(1));
  RUNS_NEAR(Mean(RngUniform(a(b), c(b), many), 10000), 0.02, f32(4));
  auto i = s32(-3);
  auto k = s32(4);
  RUNS(AllWithin(RngUniform(i(b), k(b), ints), i(b), k(b)), pred(1));
  RUNS_NEAR(Mean(ConvertElementType(RngUniform(i(b), k(b), ints), F32), 10000), 0.3, f32(0));
  FAILS(RngUniform(a(b), i(b), many), "the parameters must be two scalars of one type, are");
  FAILS(RngUniform(i(b), k(b), many), "their types must be equal");
  auto v = f32({2}, {0, 1});
  FAILS(RngUniform(v(b), c(b), many), "the parameters must be two scalars of one type, are");
}

ROW(RngNormal, "RngNormal(mu, sigma, shape)", "zh: RngNormal", "en: RngNormal", "old: RngNormal",
    "tr: RngNormal") {
  auto mu = f32(5);
  auto sigma = f32(2);
  auto zero = f32(0);
  const Shape many = ShapeUtil::MakeShape(F32, {10000});
  RUNS_NEAR(Mean(RngNormal(mu(b), sigma(b), many), 10000), 0.02, f32(5));
  auto two = f32(2); // 4 is the variance
  RUNS_NEAR(Mean(Pow(RngNormal(zero(b), sigma(b), many), two(b)), 10000), 0.08, f32(4));
  auto i = s32(1);
  FAILS(RngNormal(i(b), i(b), ShapeUtil::MakeShape(S32, {2})),
        "rng_normal takes floating parameters, has");
  FAILS(RngNormal(mu(b), i(b), many), "the parameters must be two scalars of one type, are");
  auto v = f32({2}, {0, 1});
  FAILS(RngNormal(v(b), sigma(b), many), "the parameters must be two scalars of one type, are");
}

ROW(RngBernoulli, "RngBernoulli(mean, shape)", "old: RngBernoulli") {
  auto mean = f32(0.25);
  auto never = f32(0);
  auto always = f32(1);
  const Shape many = ShapeUtil::MakeShape(U32, {10000});
  RUNS_NEAR(Mean(ConvertElementType(RngBernoulli(mean(b), many), F32), 10000), 0.1, f32(0.25));
  RUNS(RngBernoulli(never(b), ShapeUtil::MakeShape(U32, {3})), u32({3}, {0, 0, 0}));
  RUNS(RngBernoulli(always(b), ShapeUtil::MakeShape(U32, {3})), u32({3}, {1, 1, 1}));
  auto i = s32(1);
  FAILS(RngBernoulli(i(b), many),
        "takes a floating scalar and a shape of integers or pred, the mean is");
  FAILS(RngBernoulli(mean(b), ShapeUtil::MakeShape(F32, {2})),
        "takes a floating scalar and a shape of integers or pred, the mean is");
  auto v = f32({2}, {0, 1});
  FAILS(RngBernoulli(v(b), many),
        "takes a floating scalar and a shape of integers or pred, the mean is");
}

ROW(RngBitGenerator, "RngBitGenerator(algorithm, initial_state, shape)", "tr: RngBitGenerator") {
  // Known answers of Random123: key and counter zero.
  auto two = u64({2}, {0, 0});
  RUNS(RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, two(b), ShapeUtil::MakeShape(U32, {2})),
       tuple({u64({2}, {0, 1}), u32({2}, {0x6b200159, 0x99ba4efe})}));
  auto three = u64({3}, {0, 0, 0});
  RUNS(RngBitGenerator(RandomAlgorithm::RNG_PHILOX, three(b), ShapeUtil::MakeShape(U32, {4})),
       tuple({u64({3}, {0, 1, 0}), u32({4}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8})}));
  // The state that comes out gives the numbers that follow.
  RUNS(GetTupleElement(
           RngBitGenerator(RandomAlgorithm::RNG_DEFAULT, three(b), ShapeUtil::MakeShape(U32, {4})),
           0),
       u64({3}, {0, 1, 0}));
  FAILS(RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, three(b), ShapeUtil::MakeShape(U32, {2})),
        "the state must be");
  auto four = u64({4}, {0, 0, 0, 0});
  FAILS(RngBitGenerator(RandomAlgorithm::RNG_PHILOX, four(b), ShapeUtil::MakeShape(U32, {2})),
        "the state must be");
  auto f = f32({2}, {0, 0});
  FAILS(RngBitGenerator(RandomAlgorithm::RNG_THREE_FRY, f(b), ShapeUtil::MakeShape(U32, {2})),
        "the state must be");
}

ROW(RngGetAndUpdateState, "RngGetAndUpdateState(builder, delta)", "tr: RngGetAndUpdateState") {
  // XLA:CPU's start. Every instruction has a state of its own.
  RUNS(RngGetAndUpdateState(b, 5), u64({2}, {0x7012395, 0}));
  RUNS(Tuple(b, {RngGetAndUpdateState(b, 5), RngGetAndUpdateState(b, 7)}),
       tuple({u64({2}, {0x7012395, 0}), u64({2}, {0x7012395, 0})}));
}

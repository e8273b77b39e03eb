//===- DotTest.cpp - Kernels around a dot, against a naive loop -----------===//
//
// Fixed cases for each form of code (nest, inner, blocked with every kind of packing,
// tails in every dimension), each at several targets, and random ones: dimension
// numbers, sizes and types from a fixed seed.
//
//===----------------------------------------------------------------------===//
#include "test/amx/Emulator.h"
#include "test/unit/kernel-runner/Array.h"
#include "test/unit/kernel-runner/ExpectClose.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Targets.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace hlo::testing;
using Dims = std::vector<int64_t>;

namespace {

/// The ops around the dot.
enum class Around { Nothing, BiasRelu, Producers, Reshape };

struct DotCase {
  Type lhs, rhs, out;
  Dims lhsShape, rhsShape, lhsBatch, rhsBatch, lhsK, rhsK;
  Around around = Around::Nothing;
  bool extremes = false; ///< integers are the smallest and the largest of their type
};

std::string list(const Dims &dims) {
  std::string text = "array<i64";
  for (size_t i = 0; i < dims.size(); ++i) {
    text += (i ? ", " : ": ") + std::to_string(dims[i]);
  }
  return text + ">";
}

bool contains(const Dims &dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

Dims freeDims(const Dims &shape, const Dims &batch, const Dims &k) {
  Dims result;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    if (!contains(batch, d) && !contains(k, d)) {
      result.push_back(d);
    }
  }
  return result;
}

Dims resultShape(const DotCase &c) {
  Dims shape;
  for (int64_t d : c.lhsBatch) {
    shape.push_back(c.lhsShape[d]);
  }
  for (int64_t d : freeDims(c.lhsShape, c.lhsBatch, c.lhsK)) {
    shape.push_back(c.lhsShape[d]);
  }
  for (int64_t d : freeDims(c.rhsShape, c.rhsBatch, c.rhsK)) {
    shape.push_back(c.rhsShape[d]);
  }
  return shape;
}

std::string moduleText(const DotCase &c, const Array &lhs, const Array &rhs, const Array &out,
                       const Array &bias) {
  std::string l = lhs.mlirType(), r = rhs.mlirType(), o = out.mlirType();
  std::string b = bias.mlirType();
  std::string text = "%l = \"t.l\"() : () -> " + l + "\n%r = \"t.r\"() : () -> " + r +
                     "\n%b = \"t.b\"() : () -> " + b + "\n";
  text +=
      "%f = \"hlo.fusion\"(%l, %r, %b) ({\n^bb0(%x: " + l + ", %y: " + r + ", %z: " + b + "):\n";
  std::string x = "%x", y = "%y";
  if (c.around == Around::Producers) {
    text += "%nx = \"hlo.negate\"(%x) : (" + l + ") -> " + l + "\n";
    text += "%ny = \"hlo.negate\"(%y) : (" + r + ") -> " + r + "\n";
    x = "%nx";
    y = "%ny";
  }
  text += "%d = \"hlo.dot\"(" + x + ", " + y + ") {lhs_batch_dims = " + list(c.lhsBatch) +
          ", rhs_batch_dims = " + list(c.rhsBatch) + ", lhs_contracting_dims = " + list(c.lhsK) +
          ", rhs_contracting_dims = " + list(c.rhsK) + "} : (" + l + ", " + r + ") -> " + o + "\n";
  std::string root = "%d", rootType = o;
  if (c.around == Around::BiasRelu) {
    int64_t last = static_cast<int64_t>(out.shape().size()) - 1;
    text += "%bb = \"hlo.broadcast\"(%z) {dimensions = " + list({last}) + "} : (" + b + ") -> " +
            o + "\n%s = \"hlo.add\"(%d, %bb) : (" + o + ", " + o + ") -> " + o +
            "\n%m = \"hlo.maximum\"(%s, %bb) : (" + o + ", " + o + ") -> " + o + "\n";
    root = "%m";
  } else if (c.around == Around::Reshape) {
    rootType = "tensor<" + std::to_string(out.size()) + "x" + mlirName(c.out) + ">";
    text += "%m = \"hlo.reshape\"(%d) : (" + o + ") -> " + rootType + "\n";
    root = "%m";
  }
  text += "\"hlo.return\"(" + root + ") : (" + rootType + ") -> ()\n}) {strategy = \"dot\"} : (" +
          l + ", " + r + ", " + b + ") -> " + rootType + "\n";
  return text;
}

Array::Value reference(const DotCase &c, const Array &lhs, const Array &rhs, const Dims &out) {
  Dims kShape, lhsIndex(c.lhsShape.size()), rhsIndex(c.rhsShape.size());
  size_t place = 0;
  for (size_t i = 0; i < c.lhsBatch.size(); ++i, ++place) {
    lhsIndex[c.lhsBatch[i]] = rhsIndex[c.rhsBatch[i]] = out[place];
  }
  for (int64_t d : freeDims(c.lhsShape, c.lhsBatch, c.lhsK)) {
    lhsIndex[d] = out[place++];
  }
  for (int64_t d : freeDims(c.rhsShape, c.rhsBatch, c.rhsK)) {
    rhsIndex[d] = out[place++];
  }
  for (int64_t d : c.lhsK) {
    kShape.push_back(c.lhsShape[d]);
  }
  Array::Value sum = 0;
  forEachIndex(kShape, [&](const Dims &k) {
    for (size_t i = 0; i < k.size(); ++i) {
      lhsIndex[c.lhsK[i]] = rhsIndex[c.rhsK[i]] = k[i];
    }
    sum += lhs.at(lhsIndex) * rhs.at(rhsIndex);
  });
  return sum;
}

std::string describe(const DotCase &c) {
  auto shape = [](const Dims &dims) {
    std::string text = "[";
    for (int64_t d : dims) {
      text += std::to_string(d) + ",";
    }
    return text + "]";
  };
  return mlirName(c.lhs) + shape(c.lhsShape) + " . " + mlirName(c.rhs) + shape(c.rhsShape) +
         " -> " + mlirName(c.out) + " batch " + shape(c.lhsBatch) + shape(c.rhsBatch) + " k " +
         shape(c.lhsK) + shape(c.rhsK) + " around " + std::to_string(static_cast<int>(c.around));
}

void fillExtremes(Array &array, std::mt19937 &random) {
  double low = array.type() == Type::S8 ? -128 : array.type() == Type::S16 ? -32768 : 0;
  double high = array.type() == Type::U8 ? 255 : -1 - low;
  for (int64_t i = 0; i < array.size(); ++i) {
    array.set(i, random() % 3 ? low : high);
  }
}

void check(const DotCase &c, const hlo::Target &target) {
  SCOPED_TRACE(describe(c) + " on " + target.cpu);
  std::mt19937 random(7);
  Array lhs(c.lhs, c.lhsShape), rhs(c.rhs, c.rhsShape), out(c.out, resultShape(c));
  Array bias(c.out, out.shape().empty() ? Dims{1} : Dims{out.shape().back()});
  lhs.fillRandom(random);
  rhs.fillRandom(random);
  if (c.extremes) {
    fillExtremes(lhs, random);
    fillExtremes(rhs, random);
  }
  out.fillRandom(random);
  bias.fillRandom(random);
  auto kernel = Kernel::compile(moduleText(c, lhs, rhs, out, bias), target);
  if (!kernel) {
    FAIL() << llvm::toString(kernel.takeError());
  }
  ASSERT_EQ((*kernel)->tasks() == 0, out.size() == 0);
  // In two parts and in reverse order: tasks are independent.
  int64_t half = (*kernel)->tasks() / 2;
  std::vector<void *> buffers{lhs.data(), rhs.data(), bias.data(), out.data()};
  (*kernel)->run(buffers, half, (*kernel)->tasks());
  (*kernel)->run(buffers, 0, half);
  expectClose(out, [&](const Dims &index) {
    Array::Value expected = reference(c, lhs, rhs, index);
    Array rounded(c.out, {1});
    if (c.around == Around::BiasRelu) {
      Array::Value b = bias.get(index.back());
      expected = std::max((expected + b).real(), b.real());
    }
    rounded.set(0, expected);
    expected = c.out == Type::Pred || isInteger(c.out) ? rounded.get(0) : expected;
    return expected;
  });
}

int64_t product(const Dims &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<int64_t>());
}

const bool kTilesWork = (enableAmx(), true);

bool isByte(Type type) { return type == Type::S8 || type == Type::U8; }

void checkAll(const DotCase &c) {
  for (const hlo::Target &target : targets()) {
    check(c, target);
    if (hasPairs(target) && c.lhs == Type::BF16 && c.rhs == Type::BF16) {
      hlo::Target pairs = withFastPairs(target);
      check(c, pairs);
      pairs.machine.vectors.bytes = 32;
      check(c, pairs);
    }
    bool narrow = (c.lhs == Type::BF16 || isByte(c.lhs)) && (c.rhs == Type::BF16 || isByte(c.rhs));
    std::optional<hlo::Target> tiles = withTiles(target);
    if (narrow && tiles && product(resultShape(c)) >= 256) {
      check(c, *tiles);
      EXPECT_FALSE(tilesInUse()) << describe(c);
    }
  }
}

DotCase matmul(Type type, int64_t m, int64_t n, int64_t k, Around around = Around::Nothing) {
  return {type, type, type, {m, k}, {k, n}, {}, {}, {1}, {0}, around};
}

TEST(Dot, SquareSizes) {
  for (int64_t size : {1, 2, 7, 16, 33, 64, 130, 257}) {
    checkAll(matmul(Type::F32, size, size, size));
  }
}

TEST(Dot, Shapes) {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 100},
                                                            {1, 100, 1},
                                                            {100, 1, 1},
                                                            {1, 1000, 33},
                                                            {1000, 1, 33},
                                                            {3, 500, 700},
                                                            {500, 3, 700},
                                                            {49, 512, 96},
                                                            {200, 40, 1500},
                                                            {5, 5, 5000},
                                                            {0, 5, 3},
                                                            {5, 0, 3},
                                                            {5, 3, 0},
                                                            {1, 1, 0},
                                                            {14, 31, 2}}) {
    checkAll(matmul(Type::F32, m, n, k));
    checkAll(matmul(Type::F32, m, n, k, Around::BiasRelu));
  }
}

TEST(Dot, Types) {
  struct Combination {
    Type lhs, rhs, out;
  };
  for (auto [lhs, rhs, out] : std::vector<Combination>{
           {Type::F64, Type::F64, Type::F64},    {Type::F16, Type::F16, Type::F16},
           {Type::BF16, Type::BF16, Type::BF16}, {Type::BF16, Type::BF16, Type::F32},
           {Type::F16, Type::F32, Type::F32},    {Type::F8, Type::F8, Type::F32},
           {Type::S8, Type::S8, Type::S32},      {Type::S8, Type::S8, Type::S8},
           {Type::U8, Type::S8, Type::S32},      {Type::S8, Type::U8, Type::S32},
           {Type::U8, Type::U8, Type::U32},      {Type::S16, Type::S8, Type::S32},
           {Type::S16, Type::S16, Type::S32},    {Type::S16, Type::S16, Type::S16},
           {Type::S32, Type::S32, Type::S32},    {Type::U32, Type::U32, Type::U32},
           {Type::S64, Type::S64, Type::S64},    {Type::Pred, Type::Pred, Type::Pred},
           {Type::C64, Type::C64, Type::C64},    {Type::C128, Type::C128, Type::C128},
           {Type::F32, Type::F32, Type::F64}}) {
    for (Dims size : {Dims{37, 45, 70}, Dims{20, 40, 321}, Dims{1, 130, 40}, Dims{130, 1, 40},
                      Dims{2, 3, 600}}) {
      DotCase c{lhs, rhs, out, {size[0], size[2]}, {size[2], size[1]}, {}, {}, {1}, {0}};
      checkAll(c);
      c.rhsShape = {size[1], size[2]};
      c.rhsK = {1};
      checkAll(c);
      c.lhsShape = {size[2], size[0]};
      c.lhsK = {0};
      checkAll(c);
    }
  }
}

// Few rows, or few columns, of integers that are multiplied in groups; pieces of k that are no
// multiple of a line.
TEST(Dot, FewNarrowIntegers) {
  for (auto [lhs, rhs] : {std::pair(Type::S8, Type::S8), std::pair(Type::U8, Type::S8),
                          std::pair(Type::S16, Type::S16)}) {
    for (Dims size : {Dims{1, 90, 70}, Dims{4, 33, 1010}, Dims{120, 2, 70}, Dims{70, 12, 2303}}) {
      DotCase c{lhs,
                rhs,
                Type::S32,
                {size[0], size[2]},
                {size[2], size[1]},
                {},
                {},
                {1},
                {0},
                Around::Nothing,
                true};
      checkAll(c);
      c.rhsShape = {size[1], size[2]};
      c.rhsK = {1};
      checkAll(c);
    }
  }
}

// Few rows, or few columns, of bf16 that are multiplied in pairs; the last pair may be incomplete.
TEST(Dot, FewBf16) {
  for (Dims size : {Dims{5, 90, 70}, Dims{8, 33, 501}, Dims{120, 7, 71}, Dims{60, 12, 301},
                    Dims{16, 100, 64}}) {
    DotCase c{Type::BF16, Type::BF16, Type::F32, {size[0], size[2]}, {size[2], size[1]}, {},
              {},         {1},        {0}};
    checkAll(c);
    c.rhsShape = {size[1], size[2]};
    c.rhsK = {1};
    c.around = Around::BiasRelu;
    checkAll(c);
    c.lhsShape = {size[2], size[0]};
    c.lhsK = {0};
    checkAll(c);
  }
}

// At most half a vector of columns remains.
TEST(Dot, NarrowLast) {
  for (Type type : {Type::F32, Type::F64, Type::BF16, Type::S8, Type::C64}) {
    Type out = type == Type::S8 ? Type::S32 : type;
    for (Dims size :
         {Dims{30, 20, 40}, Dims{61, 17, 130}, Dims{100, 100, 33}, Dims{12, 72, 1100}}) {
      DotCase c{type, type, out, {size[0], size[2]}, {size[2], size[1]}, {}, {}, {1}, {0}};
      checkAll(c);
      c.around = type == Type::C64 ? Around::Reshape : Around::BiasRelu;
      checkAll(c);
    }
  }
}

// So few steps along k that stores dominate: row by row.
TEST(Dot, FewSteps) {
  checkAll({Type::F32, Type::F32, Type::F32, {1100, 2}, {2, 1001}, {}, {}, {1}, {0}});
  checkAll({Type::C64, Type::C64, Type::C64, {3, 130}, {3, 70}, {}, {}, {0}, {0}});
}

TEST(Dot, IntegerExtremes) {
  for (Type lhs : {Type::S8, Type::U8, Type::S16}) {
    for (Type rhs : {Type::S8, Type::U8, Type::S16}) {
      DotCase c{lhs, rhs, Type::S32, {31, 203}, {203, 50}, {}, {}, {1}, {0}, Around::Nothing, true};
      checkAll(c);
      c.rhsShape = {50, 203};
      c.rhsK = {1};
      checkAll(c);
    }
  }
}

TEST(Dot, PiecesOfK) {
  struct Long {
    Type type, out;
    int64_t k;
    Around around;
  };
  for (const Long &l : {Long{Type::F32, Type::F32, 1301, Around::Nothing},
                        Long{Type::F32, Type::F32, 1301, Around::BiasRelu},
                        Long{Type::BF16, Type::F32, 2100, Around::BiasRelu},
                        Long{Type::S8, Type::S32, 5003, Around::Nothing},
                        Long{Type::C64, Type::C64, 701, Around::Nothing}}) {
    DotCase c = matmul(l.type, 88, 35, l.k, l.around);
    c.out = l.out;
    checkAll(c);
  }
}

/// The result does not depend on how tasks are distributed: one call with all, calls of several
/// consecutive ones, a call for each.
void checkTasks(const DotCase &c, const hlo::Target &target) {
  SCOPED_TRACE(describe(c) + " on " + target.cpu);
  std::mt19937 random(11);
  Array lhs(c.lhs, c.lhsShape), rhs(c.rhs, c.rhsShape), all(c.out, resultShape(c));
  Array bias(c.out, Dims{all.shape().back()});
  lhs.fillRandom(random);
  rhs.fillRandom(random);
  bias.fillRandom(random);
  auto kernel = Kernel::compile(moduleText(c, lhs, rhs, all, bias), target);
  if (!kernel) {
    FAIL() << llvm::toString(kernel.takeError());
  }
  int64_t tasks = (*kernel)->tasks();
  EXPECT_GT(tasks, 1);
  (*kernel)->run({lhs.data(), rhs.data(), bias.data(), all.data()});
  for (int64_t some : {1, 2, 3, 5}) {
    Array parts(c.out, all.shape());
    parts.fillRandom(random);
    for (int64_t first = 0; first < tasks; first += some) {
      (*kernel)->run({lhs.data(), rhs.data(), bias.data(), parts.data()}, first,
                     std::min(first + some, tasks));
    }
    EXPECT_EQ(std::memcmp(all.data(), parts.data(), all.size() * bytesOf(c.out)), 0)
        << some << " of " << tasks;
  }
}

TEST(Dot, Tasks) {
  const Type f32 = Type::F32, bf16 = Type::BF16;
  for (const hlo::Target &target : targets()) {
    for (Around around : {Around::Nothing, Around::BiasRelu}) {
      checkTasks(matmul(f32, 301, 500, 260, around), target);
      checkTasks(matmul(f32, 410, 270, 1301, around), target);
      checkTasks(matmul(bf16, 301, 300, 1000, around), target);
      checkTasks({f32, f32, f32, {1301, 300}, {1301, 401}, {}, {}, {0}, {0}, around}, target);
      checkTasks({f32, f32, f32, {2, 260, 300}, {2, 400, 260}, {0}, {0}, {1}, {2}, around}, target);
    }
    checkTasks(matmul(Type::F64, 333, 250, 300), target);
    checkTasks({Type::S8, Type::S8, Type::S32, {700, 600}, {600, 650}, {}, {}, {1}, {0}}, target);
    if (std::optional<hlo::Target> tiles = withTiles(target)) {
      checkTasks(matmul(bf16, 420, 330, 1000), *tiles);
      EXPECT_FALSE(tilesInUse());
    }
  }
}

TEST(Dot, Transposed) {
  for (Around around : {Around::Nothing, Around::Producers, Around::BiasRelu, Around::Reshape}) {
    for (bool left : {false, true}) {
      for (bool right : {false, true}) {
        for (Dims size :
             {Dims{70, 90, 300}, Dims{2, 90, 300}, Dims{90, 3, 300}, Dims{1, 90, 128}}) {
          DotCase c{Type::F32, Type::F32,      Type::F32,       {},    {}, {},
                    {},        {left ? 0 : 1}, {right ? 1 : 0}, around};
          c.lhsShape = left ? Dims{size[2], size[0]} : Dims{size[0], size[2]};
          c.rhsShape = right ? Dims{size[1], size[2]} : Dims{size[2], size[1]};
          checkAll(c);
        }
      }
    }
  }
}

TEST(Dot, Attention) {
  for (Around around : {Around::Nothing, Around::Producers, Around::BiasRelu}) {
    checkAll({Type::F32,
              Type::F32,
              Type::F32,
              {2, 19, 3, 32},
              {2, 23, 3, 32},
              {0, 2},
              {0, 2},
              {3},
              {3},
              around});
    checkAll({Type::F32,
              Type::F32,
              Type::F32,
              {2, 19, 3, 32},
              {2, 3, 23, 19},
              {0, 2},
              {0, 1},
              {1},
              {3},
              around});
    checkAll({Type::F32,
              Type::F32,
              Type::F32,
              {2, 19, 3, 32},
              {3, 32, 40},
              {},
              {},
              {2, 3},
              {0, 1},
              around});
    checkAll({Type::BF16, Type::BF16, Type::BF16, {100}, {1, 6, 100}, {0}, {2}, {}, {}, around});
  }
}

/// Dimension numbers, sizes and types at random.
DotCase randomCase(std::mt19937 &random, const std::vector<Type> &types,
                   const std::vector<int64_t> &sizes) {
  DotCase c;
  c.lhs = c.rhs = c.out = types[random() % types.size()];
  c.around = static_cast<Around>(random() % 4);
  if (c.lhs == Type::C64 && c.around == Around::BiasRelu) {
    c.around = Around::Nothing;
  }
  size_t batch = random() % 3, k = random() % 3, m = random() % 3, n = random() % 3;
  auto draw = [&] { return sizes[random() % sizes.size()]; };
  // Places of the groups' dimensions in each side, shuffled.
  Dims lhsOrder(batch + k + m), rhsOrder(batch + k + n);
  std::iota(lhsOrder.begin(), lhsOrder.end(), 0);
  std::iota(rhsOrder.begin(), rhsOrder.end(), 0);
  std::shuffle(lhsOrder.begin(), lhsOrder.end(), random);
  std::shuffle(rhsOrder.begin(), rhsOrder.end(), random);
  c.lhsShape.resize(lhsOrder.size());
  c.rhsShape.resize(rhsOrder.size());
  for (size_t i = 0; i < batch + k; ++i) {
    c.lhsShape[lhsOrder[i]] = c.rhsShape[rhsOrder[i]] = i < batch ? random() % 3 + 1 : draw();
    (i < batch ? c.lhsBatch : c.lhsK).push_back(lhsOrder[i]);
    (i < batch ? c.rhsBatch : c.rhsK).push_back(rhsOrder[i]);
  }
  for (size_t i = batch + k; i < lhsOrder.size(); ++i) {
    c.lhsShape[lhsOrder[i]] = draw();
  }
  for (size_t i = batch + k; i < rhsOrder.size(); ++i) {
    c.rhsShape[rhsOrder[i]] = draw();
  }
  if (resultShape(c).empty() && c.around != Around::Producers) {
    c.around = Around::Nothing;
  }
  return c;
}

TEST(Dot, Random) {
  std::mt19937 random(20);
  const std::vector<int64_t> sizes{1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24};
  const std::vector<Type> types{Type::F32, Type::F32, Type::F64, Type::BF16, Type::S32, Type::C64};
  std::vector<hlo::Target> machines = targets();
  for (int round = 0; round < 150; ++round) {
    check(randomCase(random, types, sizes), machines[round % machines.size()]);
  }
}

TEST(Dot, RandomTiles) {
  std::optional<hlo::Target> tiles = withTiles(targets()[0]);
  if (!tiles) {
    GTEST_SKIP() << "code around tiles needs AVX-512";
  }
  std::mt19937 random(21);
  for (int round = 0; round < 50;) {
    DotCase c = randomCase(random, {Type::BF16, Type::BF16, Type::S8, Type::U8},
                           {4, 9, 12, 16, 17, 24, 33, 48, 70});
    c.out = random() % 2 ? c.out : c.lhs == Type::BF16 ? Type::F32 : Type::S32;
    // The reference does not wrap intermediate values.
    if (c.around == Around::BiasRelu && isByte(c.out)) {
      c.out = Type::S32;
    }
    if (c.around == Around::Producers && c.lhs == Type::U8) {
      c.out = Type::U8;
    }
    int64_t work = product(resultShape(c));
    for (int64_t d : c.lhsK) {
      work *= c.lhsShape[d];
    }
    if (work >= 4000 && work <= 400000) {
      check(c, *tiles);
      ++round;
    }
  }
  EXPECT_FALSE(tilesInUse());
}

} // namespace

//===- ConvTest.cpp - Kernels around a convolution, against a naive loop --===//
//
// Each parameter of the op alone, the layouts and gradients of models, and random
// combinations of everything from a fixed seed; each at several targets.
//
//===----------------------------------------------------------------------===//
#include "test/amx/Emulator.h"
#include "test/unit/codegen-conv/ConvCase.h"
#include "test/unit/kernel-runner/ExpectClose.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Targets.h"

#include <gtest/gtest.h>

using namespace hlo::testing;
using Dims = std::vector<int64_t>;

namespace {

// Before any kernel runs: the host's own may use matrix registers too.
const bool kTilesWork = (enableAmx(), true);

void check(const ConvCase &c, const hlo::Target &target) {
  SCOPED_TRACE(c.describe() + " on " + target.cpu);
  std::mt19937 random(11);
  Array input(c.type, c.inputShape()), kernel(c.type, c.kernelShape());
  Array out(c.out, c.outputShape()), bias(c.out, {c.outputFeatures});
  for (Array *array : {&input, &kernel, &out, &bias}) {
    array->fillRandom(random);
  }
  auto compiled = Kernel::compile(c.moduleText(), target);
  if (!compiled) {
    FAIL() << llvm::toString(compiled.takeError());
  }
  ASSERT_EQ((*compiled)->tasks() == 0, out.size() == 0);
  int64_t half = (*compiled)->tasks() / 2;
  std::vector<void *> buffers{input.data(), kernel.data(), bias.data(), out.data()};
  (*compiled)->run(buffers, half, (*compiled)->tasks());
  (*compiled)->run(buffers, 0, half);
  ConvReference reference(c, input, kernel);
  expectClose(out, [&](const Dims &index) {
    Array::Value expected = reference.at(index);
    if (c.biasAndMaximum) {
      Array::Value b = bias.get(index[c.position(2, 'f')]);
      expected = std::max((expected + b).real(), b.real());
    }
    if (isInteger(c.out)) {
      Array rounded(c.out, {1});
      rounded.set(0, expected);
      expected = rounded.get(0);
    }
    return expected;
  });
}

void checkAll(ConvCase c) {
  for (const hlo::Target &target : targets()) {
    check(c, target);
    if (hasPairs(target) && c.type == Type::BF16) {
      check(c, withFastPairs(target));
    }
    c.biasAndMaximum = c.type != Type::C64;
  }
}

const char *const kNhwc = "b01f_01io->b01f";

ConvCase square(int64_t batch, int64_t size, int64_t in, int64_t out, Window window,
                const char *labels = kNhwc) {
  window.input = size;
  return {Type::F32, Type::F32, labels, batch, in, out, {window, window}};
}

TEST(Conv, Nhwc) {
  checkAll(square(1, 14, 32, 64, {0, 1}));
  checkAll(square(2, 14, 32, 64, {0, 1, 2}));
  checkAll(square(1, 14, 32, 64, {0, 3, 1, 1, 1}));
  checkAll(square(2, 9, 40, 33, {0, 3, 2, 0, 1}));
  checkAll(square(1, 30, 3, 64, {0, 7, 2, 3, 3}));
  checkAll(square(1, 32, 3, 48, {0, 16, 16}));
  checkAll(square(1, 7, 300, 16, {0, 3, 1, 1, 1}));
}

TEST(Conv, EachParameter) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "bf01_01io->b01f", "b01f_oi01->bf01"}) {
    checkAll(square(2, 8, 6, 5, {0, 3}, labels));
    checkAll(square(2, 8, 6, 5, {0, 3, 3}, labels));
    checkAll(square(2, 8, 6, 5, {0, 3, 1, 2, -1}, labels));
    checkAll(square(2, 8, 6, 5, {0, 3, 1, -2, 3}, labels));
    checkAll(square(2, 5, 6, 5, {0, 3, 1, 2, 1, 2}, labels));
    checkAll(square(2, 9, 6, 5, {0, 3, 1, 1, 1, 1, 2}, labels));
    checkAll(square(2, 8, 6, 5, {0, 3, 2, 1, 1, 3, 2, true}, labels));
    checkAll(square(2, 8, 6, 5, {0, 1, 1, 0, 0, 1, 1, true}, labels));
    checkAll(square(2, 8, 6, 5, {0, 2, 1, 1, -1, 1, 1, true}, labels));
    ConvCase grouped = square(2, 8, 12, 6, {0, 3, 1, 1, 1}, labels);
    grouped.featureGroups = 3;
    checkAll(grouped);
    grouped = square(6, 8, 4, 9, {0, 3, 1, 1, 1}, labels);
    grouped.batchGroups = 3;
    checkAll(grouped);
  }
}

TEST(Conv, Depthwise) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "bf01_01io->bf01"}) {
    for (int64_t channels : {5, 16, 40}) {
      for (int64_t multiplier : {1, 2}) {
        ConvCase c = square(2, 12, channels, channels * multiplier, {0, 3, 1, 1, 1}, labels);
        c.featureGroups = channels;
        checkAll(c);
        c.windows[0].stride = c.windows[1].stride = 2;
        checkAll(c);
        c.windows[0].kernelDilation = c.windows[1].kernelDilation = 2;
        checkAll(c);
        c.type = c.out = Type::BF16;
        checkAll(c);
      }
    }
    ConvCase gradient = square(12, 9, 1, 12, {0, 3, 1, 1, 1}, labels);
    gradient.batchGroups = 12;
    checkAll(gradient);
  }
}

// Positions innermost: images of one row of vectors and of several, in bands, with holes.
TEST(Conv, DepthwisePlanes) {
  const char *labels = "bf01_oi01->bf01";
  for (int64_t size : {7, 21, 37}) {
    for (int64_t kernel : {3, 5, 7}) {
      ConvCase c = square(2, size, 19, 19, {0, kernel, 1, kernel / 2, kernel / 2}, labels);
      c.featureGroups = 19;
      c.biasAndMaximum = true;
      checkAll(c);
      c.windows[0].stride = 3;
      c.windows[1].stride = 2;
      c.windows[1].padLow = 0;
      checkAll(c);
      c.type = c.out = Type::BF16;
      c.windows[0].reversed = true;
      checkAll(c);
    }
    ConvCase holes = square(2, size, 9, 18, {0, 3, 1, 1, 2}, labels);
    holes.featureGroups = 9;
    holes.windows[0].inputDilation = holes.windows[1].inputDilation = 2;
    checkAll(holes);
    holes.windows[0].inputDilation = 1;
    holes.windows[0].kernelDilation = 2;
    checkAll(holes);
    holes.windows[1].padLow = -3;
    holes.windows[0].stride = holes.windows[1].stride = 2;
    checkAll(holes);
  }
  ConvCase bands = square(1, 101, 2, 2, {0, 5, 1, 2, 2}, labels);
  bands.featureGroups = 2;
  checkAll(bands);
  bands.windows[0].stride = bands.windows[1].stride = 2;
  checkAll(bands);
}

// Sums of bytes, which f32 holds exactly up to a number of taps; the last window has more.
TEST(Conv, DepthwiseBytes) {
  struct Combination {
    Type type, out;
  };
  for (auto [type, out] : std::vector<Combination>{
           {Type::S8, Type::S32}, {Type::U8, Type::U32}, {Type::U8, Type::S32}}) {
    for (const char *labels : {kNhwc, "bf01_oi01->bf01"}) {
      for (int64_t kernel : {3, 17}) {
        ConvCase c = square(1, 19, 11, 22, {0, kernel, 1, 1, 2}, labels);
        c.type = type;
        c.out = out;
        c.featureGroups = 11;
        checkAll(c);
        c.windows[0].stride = c.windows[1].stride = 2;
        checkAll(c);
      }
    }
  }
}

// Several features of each channel, in one vector or across some; weights packed or in place.
TEST(Conv, DepthwiseMultipliers) {
  const hlo::Target target = targets().back();
  for (const char *labels : {kNhwc, "b01f_oi01->b01f"}) {
    for (int64_t multiplier : {3, 4, 16, 21, 32}) {
      for (Type type : {Type::F32, Type::F64, Type::BF16}) {
        ConvCase c = square(2, 8, 5, 5 * multiplier, {0, 3, 1, 1, 1}, labels);
        c.featureGroups = 5;
        c.type = c.out = type;
        check(c, target);
        c.windows[0].stride = c.windows[1].kernelDilation = 2;
        check(c, target);
      }
    }
  }
}

// Lanes along the channels.
TEST(Conv, FewFeatures) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01oi->bf01"}) {
    checkAll(square(2, 9, 40, 3, {0, 3, 1, 1, 1}, labels));
    checkAll(square(1, 20, 16, 1, {0, 3, 1, 1, 1}, labels));
    checkAll(square(1, 9, 70, 2, {0, 3, 2, 0, 1}, labels));
    checkAll(square(1, 6, 12, 3, {0, 4, 1, 2, 1, 2}, labels));
    // More products than a float sums exactly, but not in each lane.
    ConvCase c = square(2, 6, 160, 1, {0, 2, 1, 0, 1}, labels);
    c.type = Type::U8;
    c.out = Type::S32;
    checkAll(c);
  }
}

// Few features of few channels: lanes along a row of taps.
TEST(Conv, FewFeaturesAndChannels) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01oi->b01f"}) {
    checkAll(square(1, 19, 3, 1, {0, 5, 1, 2, 2}, labels));
    checkAll(square(2, 9, 7, 2, {0, 3, 2, 0, 1}, labels));
    const hlo::Target target = targets().back();
    check(square(1, 7, 3, 3, {0, 3, 1, 1, 1, 1, 1, true}, labels), target);
    check({Type::F64, Type::F64, labels, 1, 3, 1, {{5, 2, 1, 1, 0}, {35, 3, 1, 1, 1}}}, target);
    check({Type::S8, Type::S32, labels, 2, 3, 2, {{6, 3, 1, 1, 1}, {9, 3, 1, 0, 1}}}, target);
  }
}

// Sums in pieces, of a kernel in place or packed; an input with holes of odd sizes.
TEST(Conv, LargeKernels) {
  const hlo::Target target = targets().back();
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01oi->b01f"}) {
    ConvCase c = square(1, 5, 72, 320, {0, 3, 1, 1, 1}, labels);
    check(c, target);
    c.biasAndMaximum = true;
    check(c, target);
    check(square(1, 7, 128, 320, {0, 3, 2, 1, 1}, labels), target);
    check(square(1, 5, 128, 320, {0, 3, 1, 1, 1}, labels), target);
    check(square(2, 4, 128, 320, {0, 3, 1, 1, 1, 1, 1, true}, labels), target);
    check(square(1, 5, 24, 40, {0, 5, 1, 3, 2, 3}, labels), target);
    check(square(1, 6, 24, 40, {0, 4, 3, 2, 2, 2, 1, true}, labels), target);
    check(square(1, 2, 128, 40, {0, 7, 1, 2, 3, 4}, labels), target);
  }
  // Pieces of fewer channels than lanes, of a kernel that is read along its taps or channels.
  for (const char *labels : {"bf01_oi01->bf01", "b01f_01oi->b01f"}) {
    check({Type::F32, Type::F32, labels, 1, 64, 256, {{7, 7, 1, 0, 0}, {8, 7, 1, 0, 0}}}, target);
  }
  // One output position.
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01oi->bf01"}) {
    check(square(3, 5, 24, 20, {0, 5, 1, 0, 0}, labels), target);
    check(square(1, 9, 24, 20, {0, 3, 2, 0, 0, 1, 4}, labels), target);
  }
  check({Type::F32, Type::F32, kNhwc, 1, 70, 640, {{3, 2, 1, 1, 0}, {5, 2, 1, 1, 0, 1, 1, true}}},
        target);
}

TEST(Conv, Gradients) {
  checkAll(square(2, 14, 24, 32, {0, 3, 1, 1, 1}, "b01f_01oi->b01f"));
  checkAll(square(2, 7, 32, 24, {0, 3, 1, 2, 1, 2}, "b01f_01oi->b01f"));
  checkAll(square(2, 7, 32, 24, {0, 1, 1, 0, 1, 2}, "b01f_01oi->b01f"));
  checkAll(square(32, 14, 4, 24, {0, 14, 1, 1, 1}, "f01b_i01o->01bf"));
  checkAll(square(16, 14, 4, 24, {0, 7, 1, 0, 1, 1, 2}, "f01b_i01o->01bf"));
  checkAll(square(16, 14, 4, 24, {0, 7, 1, 0, -1, 1, 2}, "f01b_i01o->01bf"));
  checkAll(square(3, 30, 4, 24, {0, 14, 1, 3, 2, 1, 2}, "f01b_i01o->01bf"));
}

// The window is an image: channels, rows and images in pieces, few channels, steps between rows.
TEST(Conv, KernelGradients) {
  for (const char *labels : {"f01b_i01o->01bf", "fb01_io01->fb01", "f01b_i01o->fb01"}) {
    checkAll({Type::F32, Type::F32, labels, 13, 2, 20, {{3, 3, 1, 1, 1}, {60, 60, 1, 1, 1}}});
    checkAll(square(14, 20, 3, 20, {0, 10, 1, 0, 1, 1, 2}, labels));
    checkAll(square(14, 16, 3, 20, {0, 7, 2, 1, 1, 1, 2}, labels));
    checkAll(square(20, 7, 9, 33, {0, 7, 1, 1, 1}, labels));
    checkAll(square(3, 30, 1, 24, {0, 14, 1, 3, 2, 1, 2}, labels));
    check(square(70, 7, 2, 100, {0, 7, 1, 1, 1}, labels), targets().back());
    ConvCase c = square(24, 9, 2, 48, {0, 8, 1, 1, 0}, labels);
    c.batchGroups = 2;
    checkAll(c);
    c.biasAndMaximum = true;
    c.type = c.out = Type::BF16;
    check(c, targets().back());
    c.type = c.out = Type::F64;
    check(c, targets().back());
  }
  checkAll({Type::F32, Type::F32, "f0b_i0o->0bf", 12, 2, 20, {{300, 300, 1, 1, 1}}});
  checkAll({Type::F32, Type::F32, "f0b_i0o->0bf", 4, 2, 20, {{300, 300, 1, 1, 1}}});
  checkAll({Type::F32, Type::F32, "fb0_io0->fb0", 12, 3, 20, {{50, 49, 1, 0, 1}}});
}

// Vectors across small groups.
TEST(Conv, SmallGroups) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01io->bf01"}) {
    for (auto [groups, in, out] : std::vector<std::array<int64_t, 3>>{
             {16, 4, 4}, {16, 2, 2}, {4, 8, 8}, {8, 2, 4}, {8, 4, 2}}) {
      ConvCase c = square(2, 11, groups * in, groups * out, {0, 3, 1, 1, 1}, labels);
      c.featureGroups = groups;
      checkAll(c);
      c.windows[0].stride = 2;
      c.windows[1].inputDilation = 2;
      c.biasAndMaximum = true;
      check(c, targets().back());
      c.type = c.out = Type::BF16;
      check(c, targets().back());
      c.biasAndMaximum = false;
      c.type = Type::S8;
      c.out = Type::S32;
      check(c, targets().back());
    }
  }
}

// Images innermost.
TEST(Conv, ImagesInnermost) {
  for (const char *labels : {"01fb_01io->01fb", "f01b_01io->01bf"}) {
    checkAll(square(20, 7, 24, 32, {0, 3, 1, 1, 1}, labels));
    checkAll(square(5, 9, 6, 20, {0, 3, 2, 2, 1, 2, 3, true}, labels));
    ConvCase c = square(9, 6, 12, 40, {0, 3, 1, 3, 1, 1, 3}, labels);
    c.featureGroups = 2;
    checkAll(c);
    c.type = c.out = Type::BF16;
    checkAll(c);
  }
}

// Taps that are in the padding for a whole row of outputs.
TEST(Conv, WidePadding) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01"}) {
    checkAll(square(2, 9, 24, 32, {0, 3, 1, 4, 4, 1, 4}, labels));
    checkAll(square(1, 5, 24, 32, {0, 5, 2, 7, 6}, labels));
    checkAll(square(1, 5, 24, 32, {0, 3, 1, 5, 5, 2, 3}, labels));
    checkAll({Type::F32, Type::F32, labels, 2, 24, 32, {{9, 5, 1, 2, 2}, {7, 1}}});
  }
}

// Features that do not fill a vector.
TEST(Conv, FeaturesLeft) {
  for (const char *labels : {kNhwc, "bf01_oi01->bf01"}) {
    checkAll(square(1, 11, 20, 20, {0, 3, 1, 1, 1}, labels));
    checkAll(square(2, 9, 33, 17, {0, 3, 2, 0, 1}, labels));
    checkAll(square(1, 9, 16, 34, {0, 3, 1, 0, 0, 1, 1, true}, labels));
    checkAll(square(1, 7, 16, 17, {0, 5, 2, 1, 1, 2}, labels));
    const hlo::Target target = targets().back();
    check({Type::BF16, Type::BF16, labels, 1, 20, 50, {{1, 1}, {30, 5, 1, 2, 2}}}, target);
    check({Type::S8, Type::S32, labels, 1, 20, 35, {{5, 2, 1, 1, 0}, {13, 3, 1, 1, 1}}}, target);
  }
  checkAll({Type::F64, Type::F64, "b0f_0io->b0f", 2, 16, 17, {{20, 5, 1, 2, 2}}});
}

// Channels in pieces, each copied separately.
TEST(Conv, ChannelsInPieces) {
  const hlo::Target target = targets().back();
  for (const char *labels : {"bf01_oi01->bf01", "b01f_01oi->b01f"}) {
    check(square(2, 9, 192, 128, {0, 3, 1, 1, 1}, labels), target);
    check(square(1, 9, 160, 96, {0, 3, 2, 1, 2}, labels), target);
    check(square(1, 5, 160, 96, {0, 3, 1, 2, 2, 2}, labels), target);
  }
  ConvCase c = square(1, 9, 256, 96, {0, 3, 1, 1, 1});
  c.type = c.out = Type::BF16;
  check(c, target);
}

// Bytes and bf16, several channels in a word: each parameter, layouts, channels that do not fill a
// word or fall into pieces.
TEST(Conv, ChannelsInWords) {
  hlo::Target target = withFastPairs(targets().back());
  llvm::Expected<hlo::Target> narrow = hlo::describeTarget("x86-64-v3");
  ASSERT_TRUE(static_cast<bool>(narrow));
  for (Type type : {Type::S8, Type::U8, Type::S16, Type::BF16}) {
    auto checkWords = [&](ConvCase c) {
      c.type = type;
      c.out = type == Type::BF16 ? Type::F32 : Type::S32;
      c.biasAndMaximum = c.inputFeatures % 4 != 0;
      c.negatedOperands = type == Type::S8 && c.inputFeatures == 12;
      if (type != Type::S16) {
        check(c, target);
      }
      if (type == Type::S16 || (type == Type::S8 && c.labels == kNhwc)) {
        check(c, *narrow);
      }
    };
    for (const char *labels : {kNhwc, "bf01_oi01->bf01", "b01f_01oi->b01f"}) {
      for (int64_t channels : {3, 8, 22}) {
        checkWords(square(2, 9, channels, 20, {0, 3, 1, 1, 1}, labels));
      }
      checkWords(square(1, 7, 12, 33, {0, 3, 2, 1, 2, 3, 2, true}, labels));
      checkWords(square(1, 5, 16, 24, {0, 3, 1, 5, 5, 1, 3}, labels));
      checkWords(square(1, 5, 64, 3, {0, 3, 1, 2, 1, 2}, labels));
      checkWords(square(1, 3, 640, 64, {0, 3, 1, 1, 1}, labels));
      checkWords(square(1, 4, 250, 80, {0, 5, 1, 2, 2, 2}, labels));
      checkWords(
          {Type::S8, Type::S32, labels, 1, 8, 16, {{6, 3, 1, 1, 1, 4, 2}, {9, 2, 3, 0, 1, 2}}});
      for (int64_t channels : {4, 6, 16}) {
        ConvCase grouped = square(2, 8, 4 * channels, 16, {0, 3, 1, 1, 1}, labels);
        grouped.featureGroups = 4;
        checkWords(grouped);
      }
      ConvCase grouped = square(4, 8, 12, 32, {0, 3, 1, 1, 1}, labels);
      grouped.batchGroups = 2;
      checkWords(grouped);
    }
  }
}

// Pixels of few channels, of which a vector of groups holds several: every width around a vector,
// so that rows end at each place of it, and the last pixels are those at the end of the array.
TEST(Conv, PixelsOfFewWords) {
  hlo::Target target = withFastPairs(targets().back());
  for (Type type : {Type::S8, Type::U8, Type::BF16}) {
    for (int64_t channels : {1, 2, 3, 5, 7, 11}) {
      for (int64_t size : {15, 16, 21, 22, 32, 37, 38, 64}) {
        ConvCase c = square(1, size, channels, 20, {0, 3, 1, 1, 1});
        c.windows[0].input = 4;
        c.type = type;
        c.out = type == Type::BF16 ? Type::F32 : Type::S32;
        check(c, target);
      }
    }
  }
  // Strides and reversed windows.
  ConvCase c = square(2, 40, 3, 24, {0, 3, 2, 0, 1, 1, 2, true});
  c.type = Type::S8, c.out = Type::S32;
  check(c, target);
}

/// Checks by matrix registers, and that these were used. Of a machine that has them only the
/// results are checked.
void checkTiles(const ConvCase &c, const hlo::Target &target) {
  uint64_t before = amxCounts().products;
  check(c, target);
  EXPECT_FALSE(tilesInUse()) << c.describe();
  EXPECT_TRUE(hasNativeAmx() || amxCounts().products > before) << c.describe();
}

/// The host with matrix registers that cost nothing; nothing if code around them cannot run.
std::optional<hlo::Target> freeTiles() {
  std::optional<hlo::Target> tiles = withTiles(targets()[0]);
  return tiles ? std::optional(withFreeTiles(*tiles)) : std::nullopt;
}

// Matrix registers: each parameter, layouts; lines that fill a register, share one, or need
// several; channels that fill a register, are a run with taps, or are followed by zeros.
TEST(Conv, Tiles) {
  std::optional<hlo::Target> target = freeTiles();
  if (!target) {
    GTEST_SKIP() << "code around tiles needs AVX-512";
  }
  for (int64_t word : {2, 4}) {
    int round = 0;
    auto checkCase = [&](ConvCase c) {
      ++round;
      bool isSigned = round % 2 != 0 || c.negatedOperands;
      c.type = word == 2 ? Type::BF16 : isSigned ? Type::S8 : Type::U8;
      c.out = word == 2 ? Type::F32 : Type::S32;
      c.biasAndMaximum = round / 2 % 2 != 0;
      checkTiles(c, *target);
    };
    for (const char *labels : {kNhwc, "bf01_oi01->bf01", "bf01_01io->b01f"}) {
      checkCase(square(2, 7, 10 * word, 33, {0, 3, 1, 1, 1}, labels));
      checkCase(square(1, 9, 23 * word - 1, 20, {0, 3, 1, 1, 1}, labels));
      checkCase(square(1, 9, 25 * word, 20, {0, 3, 1, 1, 1}, labels));
      checkCase(square(1, 18, 16 * word, 32, {0, 3}, labels));
      checkCase(square(1, 17, 20 * word, 18, {0, 2}, labels));
      checkCase(square(2, 9, 3, 17, {0, 3, 1, 1, 1}, labels));
      checkCase(square(1, 20, 12, 33, {0, 3, 2, 1, 2, 3, 2, true}, labels));
      checkCase(square(1, 15, 3, 24, {0, 7, 2, 3, 3}, labels));
      checkCase(square(1, 5, 16, 24, {0, 3, 1, 5, 5, 1, 3}, labels));
      checkCase(square(1, 5, 40, 17, {0, 3, 1, 2, 1, 2}, labels));
      checkCase(square(1, 6, 24, 9, {0, 3, 1, -2, 3}, labels));
      checkCase(
          {Type::BF16, Type::F32, labels, 1, 8, 32, {{9, 3, 1, 1, 1, 4, 2}, {18, 2, 3, 0, 1, 2}}});
      checkCase({Type::BF16, Type::F32, labels, 1, 33, 20, {{5, 3, 1, 1, 1}, {40, 3, 1, 1, 1}}});
      ConvCase grouped = square(2, 8, 4 * 8, 4 * 20, {0, 3, 1, 1, 1}, labels);
      grouped.featureGroups = 4;
      checkCase(grouped);
      grouped = square(4, 8, 12, 32, {0, 3, 1, 1, 1}, labels);
      grouped.batchGroups = 2;
      checkCase(grouped);
    }
    checkCase(square(20, 5, 12, 20, {0, 3, 1, 1, 1}, "01fb_01io->01fb"));
    checkCase({Type::BF16, Type::F32, "b0f_0io->b0f", 2, 40, 20, {{37, 5, 1, 2, 2}}});
    checkCase({Type::BF16,
               Type::F32,
               "b012f_012io->b012f",
               2,
               18,
               20,
               {{4, 3, 1, 1, 1}, {5, 2, 2, 0, 1}, {6, 3, 1, 1, 1}}});
    ConvCase negated = square(1, 9, 24, 20, {0, 3, 1, 1, 1});
    negated.negatedOperands = true;
    checkCase(negated);
    // Whole registers of sums, to the result or through an epilogue.
    for (int i = 0; i < 4; ++i) {
      checkCase(square(2, 16, 8 * word, 64, {0, 3, 1, 1, 1}));
    }
    for (int i = 0; i < 4; ++i) {
      checkCase(square(1, 16, 8, 32, {0, 3, 1, 1, 2, 2}));
      checkCase({Type::BF16, Type::F32, "b0f_0io->b0f", 1, 16, 32, {{32, 3, 1, 1, 1}}});
    }
  }
  // The largest products of bytes.
  ConvCase c = square(1, 6, 640, 20, {0, 3, 1, 1, 1});
  c.type = Type::U8;
  c.out = Type::S32;
  checkTiles(c, *target);
}

// Sums in pieces of the channels, whole registers or filled up; blocks of outputs whose input fits
// into the buffer, of long lines and of short ones.
TEST(Conv, TilesInPieces) {
  std::optional<hlo::Target> target = freeTiles();
  if (!target) {
    GTEST_SKIP() << "code around tiles needs AVX-512";
  }
  for (const char *labels : {kNhwc, "bf01_oi01->bf01"}) {
    for (int64_t channels : {704, 700}) {
      ConvCase c = square(1, 3, channels, 32, {0, 5, 1, 2, 2}, labels);
      c.type = Type::S8;
      c.out = Type::S32;
      checkTiles(c, *target);
      c.windows[1].input = 6;
      c.windows[1].padLow = 1;
      c.type = c.out = Type::BF16;
      c.biasAndMaximum = true;
      checkTiles(c, *target);
    }
  }
  checkTiles({Type::U8, Type::S32, kNhwc, 1, 16, 9, {{150, 2, 1, 1, 0}, {180, 1}}}, *target);
  checkTiles({Type::BF16, Type::F32, kNhwc, 1, 8, 9, {{4000, 2, 1, 0, 1}, {7, 1}}}, *target);
}

// Kernel gradients as products of patches: images of an even and of an odd width, steps, groups.
TEST(Conv, TilesOfGradients) {
  std::optional<hlo::Target> target = withTiles(targets()[0]);
  if (!target) {
    GTEST_SKIP() << "code around tiles needs AVX-512";
  }
  auto checkCase = [&](ConvCase c) {
    c.type = Type::BF16;
    for (Type out : {Type::F32, Type::BF16}) {
      c.out = out;
      checkTiles(c, *target);
      c.biasAndMaximum = true;
    }
  };
  checkCase(square(32, 10, 3, 40, {0, 10, 1, 1, 1}, "f01b_i01o->01bf"));
  checkCase(square(32, 9, 4, 40, {0, 9, 1, 1, 1}, "f01b_i01o->01bf"));
  checkCase(square(48, 14, 6, 33, {0, 7, 1, 1, 0, 1, 2}, "f01b_i01o->01bf"));
  ConvCase grouped = square(64, 8, 4, 80, {0, 8, 1, 1, 1}, "f01b_i01o->01bf");
  grouped.batchGroups = 2;
  checkCase(grouped);
}

TEST(Conv, RandomTiles) {
  std::optional<hlo::Target> target = freeTiles();
  if (!target) {
    GTEST_SKIP() << "code around tiles needs AVX-512";
  }
  std::mt19937 random(6);
  auto pick = [&](std::vector<int64_t> list) { return list[random() % list.size()]; };
  for (int round = 0; round < 80; ++round) {
    ConvCase c;
    c.type = std::vector<Type>{Type::BF16, Type::S8, Type::U8}[random() % 3];
    c.out = c.type == Type::BF16 ? Type::BF16 : Type::S32;
    size_t rank = 1 + random() % 3;
    std::string sides[3] = {"bf", "io", "bf"};
    for (std::string &side : sides) {
      for (size_t d = 0; d < rank; ++d) {
        side += static_cast<char>('0' + d);
      }
      std::shuffle(side.begin(), side.end(), random);
    }
    c.labels = sides[0] + "_" + sides[1] + "->" + sides[2];
    int64_t groups = pick({1, 1, 2});
    bool byBatch = random() % 2;
    (byBatch ? c.batchGroups : c.featureGroups) = groups;
    c.batch = pick({1, 2, 5}) * (byBatch ? groups : 1);
    c.inputFeatures = pick({4, 8, 20, 36, 100}) * (byBatch ? 1 : groups);
    c.outputFeatures = pick({16, 20, 40}) * groups;
    for (size_t d = 0; d < rank; ++d) {
      Window w{pick({5, 8, 19}), pick({1, 2, 3})};
      w.stride = pick({1, 1, 2, 3});
      w.padLow = pick({0, 0, 1, 2, -1});
      w.padHigh = pick({0, 0, 1, 2, -1});
      w.inputDilation = pick({1, 1, 1, 2});
      w.kernelDilation = pick({1, 1, 1, 2});
      w.reversed = random() % 4 == 0;
      c.windows.push_back(w);
    }
    c.biasAndMaximum = random() % 2;
    if (c.work() < 3e6) {
      check(c, *target);
      EXPECT_FALSE(tilesInUse()) << c.describe();
    }
  }
}

TEST(Conv, Ranks) {
  checkAll({Type::F32, Type::F32, "bf_io->bf", 5, 7, 9, {}});
  checkAll({Type::F32, Type::F32, "b0f_0io->b0f", 2, 7, 9, {{20, 5, 1, 2, 2}}});
  checkAll({Type::F32, Type::F32, "bf0_oi0->bf0", 2, 7, 9, {{20, 5, 2, 2, 2}}});
  checkAll({Type::F32,
            Type::F32,
            "b012f_012io->b012f",
            2,
            5,
            9,
            {{6, 3, 1, 1, 1}, {5, 2, 2, 0, 1}, {7, 3, 1, 1, 1}}});
  checkAll({Type::F32,
            Type::F32,
            "bf0123_oi0123->bf0123",
            1,
            3,
            4,
            {{4, 2}, {3, 2, 1, 1, 0}, {4, 3, 1, 1, 1}, {3, 1}}});
  checkAll(square(0, 8, 6, 5, {0, 3}));
  checkAll(square(2, 2, 6, 5, {0, 3}));
  checkAll(square(2, 8, 0, 5, {0, 3}));
  checkAll({Type::F32, Type::F32, "b0f_0io->b0f", 2, 7, 9, {{0, 1, 1, 2, 2}}});
}

TEST(Conv, Types) {
  struct Combination {
    Type type, out;
  };
  for (auto [type, out] : std::vector<Combination>{{Type::F64, Type::F64},
                                                   {Type::F16, Type::F16},
                                                   {Type::BF16, Type::BF16},
                                                   {Type::BF16, Type::F32},
                                                   {Type::S8, Type::S32},
                                                   {Type::S32, Type::S32},
                                                   {Type::C64, Type::C64}}) {
    for (const char *labels : {kNhwc, "bf01_oi01->bf01"}) {
      ConvCase c = square(2, 9, 12, 20, {0, 3, 1, 1, 1}, labels);
      c.type = type;
      c.out = out;
      checkAll(c);
      c.featureGroups = 4;
      checkAll(c);
    }
  }
}

TEST(Conv, Random) {
  std::mt19937 random(5);
  std::vector<hlo::Target> machines = targets();
  const std::vector<Type> types{Type::F32, Type::F32, Type::F32, Type::F64, Type::BF16, Type::S32};
  auto pick = [&](std::vector<int64_t> list) { return list[random() % list.size()]; };
  for (int round = 0; round < 120; ++round) {
    ConvCase c;
    c.type = c.out = types[random() % types.size()];
    size_t rank = random() % 4;
    std::string sides[3] = {"bf", "io", "bf"};
    for (std::string &side : sides) {
      for (size_t d = 0; d < rank; ++d) {
        side += static_cast<char>('0' + d);
      }
      std::shuffle(side.begin(), side.end(), random);
    }
    c.labels = sides[0] + "_" + sides[1] + "->" + sides[2];
    int64_t groups = pick({1, 1, 2, 3});
    bool byBatch = random() % 2;
    (byBatch ? c.batchGroups : c.featureGroups) = groups;
    c.batch = pick({1, 2, 3}) * (byBatch ? groups : 1);
    c.inputFeatures = pick({1, 3, 4, 8, 17}) * (byBatch ? 1 : groups);
    c.outputFeatures = pick({1, 2, 5, 16, 20}) * groups;
    for (size_t d = 0; d < rank; ++d) {
      Window w{pick({3, 5, 8, 11}), pick({1, 2, 3})};
      w.stride = pick({1, 1, 2, 3});
      w.padLow = pick({0, 0, 1, 2, -1});
      w.padHigh = pick({0, 0, 1, 2, -1});
      w.inputDilation = pick({1, 1, 1, 2});
      w.kernelDilation = pick({1, 1, 1, 2});
      w.reversed = random() % 4 == 0;
      c.windows.push_back(w);
    }
    c.biasAndMaximum = random() % 2;
    c.negatedOperands = random() % 3 == 0;
    check(c, machines[round % machines.size()]);
  }
}

} // namespace

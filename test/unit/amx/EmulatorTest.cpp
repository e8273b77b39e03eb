//===- EmulatorTest.cpp - Instructions of AMX against plain loops ---------===//
//
// Each instruction that the emulator supports, with random tiles of many shapes. On a machine with
// AMX the CPU itself is tested, so that the tests also check their reference.
//
//===----------------------------------------------------------------------===//
#include "test/amx/Emulator.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <thread>

using namespace hlo::testing;

namespace {
struct alignas(64) Configuration {
  uint8_t bytes[64] = {1};
  void shape(int tile, int rows, int rowBytes) {
    bytes[16 + 2 * tile] = rowBytes;
    bytes[48 + tile] = rows;
  }
};

void load(const Configuration &c) { asm volatile("ldtilecfg %0" ::"m"(c) : "memory"); }
void release() { asm volatile("tilerelease" ::: "memory"); }

// clang-format off
#define LOAD_TILE(number, from, stride) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #number ::"r"(from), "r"(int64_t(stride)) : "memory")
#define STORE_TILE(number, to, stride) \
  asm volatile("tilestored %%tmm" #number ", (%0,%1,1)" ::"r"(to), "r"(int64_t(stride)) : "memory")
// clang-format on

/// A product of tiles: c[rows][columns] += a[rows][4 * groups bytes] * b[groups][columns].
struct Product {
  int rows, columns, groups;
  uint8_t a[16][64], b[16][64];
  uint32_t c[16][16];

  Product(std::mt19937 &random)
      : rows(1 + random() % 16), columns(1 + random() % 16), groups(1 + random() % 16) {
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 64; ++j) {
        a[i][j] = random();
        b[i][j] = random();
      }
      for (int j = 0; j < 16; ++j) {
        c[i][j] = random();
      }
    }
  }
  void configure() {
    Configuration shapes;
    shapes.shape(0, rows, 4 * columns);
    shapes.shape(1, rows, 4 * groups);
    shapes.shape(2, groups, 4 * columns);
    load(shapes);
    LOAD_TILE(0, c, 64);
    LOAD_TILE(1, a, 64);
    LOAD_TILE(2, b, 64);
  }
};

class Amx : public testing::Test {
protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "the emulator needs FMA";
    }
    enableAmx();
  }
};

TEST_F(Amx, ConfigurationComesBack) {
  Configuration shapes, back;
  shapes.shape(3, 7, 24);
  shapes.shape(7, 16, 64);
  load(shapes);
  asm volatile("sttilecfg %0" : "=m"(back)::"memory");
  EXPECT_EQ(std::memcmp(&shapes, &back, 64), 0);
  release();
  asm volatile("sttilecfg %0" : "=m"(back)::"memory");
  EXPECT_EQ(back.bytes[0], 0) << "nothing is configured any more";
}

TEST_F(Amx, LoadsAndStoresByRows) {
  uint8_t from[20][80], to[20][96];
  for (int i = 0; i < 20 * 80; ++i) {
    from[i / 80][i % 80] = i * 7 + 1;
  }
  Configuration shapes;
  shapes.shape(5, 9, 20);
  load(shapes);
  for (int64_t step : {80, -80}) {
    std::memset(to, 0xee, sizeof(to));
    const uint8_t *first = step > 0 ? from[1] : from[10];
    LOAD_TILE(5, first, step);
    STORE_TILE(5, to, 96);
    for (int r = 0; r < 20; ++r) {
      for (int j = 0; j < 96; ++j) {
        EXPECT_EQ(to[r][j], r < 9 && j < 20 ? first[r * step + j] : 0xee) << r << ", " << j;
      }
    }
  }
  // Another form of load, and of address.
  std::memset(to, 0xee, sizeof(to));
  asm volatile("tileloaddt1 160(%0,%1,4), %%tmm5" ::"r"(from), "r"(int64_t(20)) : "memory");
  STORE_TILE(5, to, 96);
  EXPECT_EQ(std::memcmp(to[8], from[10], 20), 0);
  asm volatile("tilezero %%tmm5" :::);
  STORE_TILE(5, to, 96);
  EXPECT_EQ(to[8][19], 0);
  release();
}

int32_t widen(uint8_t byte, bool isSigned) { return isSigned ? int8_t(byte) : byte; }

void checkBytes(const Product &before, const Product &after, bool signedA, bool signedB) {
  for (int m = 0; m < before.rows; ++m) {
    for (int n = 0; n < before.columns; ++n) {
      uint32_t sum = before.c[m][n];
      for (int k = 0; k < 4 * before.groups; ++k) {
        sum += widen(before.a[m][k], signedA) * widen(before.b[k / 4][4 * n + k % 4], signedB);
      }
      ASSERT_EQ(after.c[m][n], sum) << m << ", " << n;
    }
  }
}

TEST_F(Amx, ProductsOfBytes) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Product before(random), after(before);
    after.configure();
    switch (round % 4) {
    case 0: asm volatile("tdpbssd %%tmm2, %%tmm1, %%tmm0" :::); break;
    case 1: asm volatile("tdpbsud %%tmm2, %%tmm1, %%tmm0" :::); break;
    case 2: asm volatile("tdpbusd %%tmm2, %%tmm1, %%tmm0" :::); break;
    default: asm volatile("tdpbuud %%tmm2, %%tmm1, %%tmm0" :::); break;
    }
    STORE_TILE(0, after.c, 64);
    checkBytes(before, after, round % 4 < 2, round % 2 == 0);
  }
  release();
}

float bf16(const uint8_t *bytes) {
  uint32_t bits = (bytes[0] | bytes[1] << 8) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

/// The sums of a pair: one after the other, then both at once.
float product(const Product &p, int m, int n) {
  float sums[2] = {0, 0}, c;
  for (int k = 0; k < p.groups; ++k) {
    for (int j = 0; j < 2; ++j) {
      sums[j] = std::fma(bf16(p.a[m] + 4 * k + 2 * j), bf16(p.b[k] + 4 * n + 2 * j), sums[j]);
    }
  }
  std::memcpy(&c, &p.c[m][n], 4);
  return c + (sums[0] + sums[1]);
}

void setBf16(uint8_t *to, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  to[0] = bits >> 16;
  to[1] = bits >> 24;
}

TEST_F(Amx, ProductsOfBf16) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    Product before(random);
    // Numbers of very different magnitudes, so that the order of summation matters, and no
    // subnormal sums.
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 32; ++j) {
        setBf16(before.a[i] + 2 * j, std::ldexp(int(random() % 255) - 127, random() % 20));
        setBf16(before.b[i] + 2 * j, std::ldexp(int(random() % 255) - 127, random() % 20));
      }
      for (int j = 0; j < 16; ++j) {
        float c = std::ldexp(int(random() % 255) - 127, random() % 40);
        std::memcpy(&before.c[i][j], &c, 4);
      }
    }
    Product after(before);
    after.configure();
    asm volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" :::);
    STORE_TILE(0, after.c, 64);
    for (int m = 0; m < before.rows; ++m) {
      for (int n = 0; n < before.columns; ++n) {
        float c;
        std::memcpy(&c, &after.c[m][n], 4);
        ASSERT_EQ(c, product(before, m, n)) << m << ", " << n;
      }
    }
  }
  release();
}

TEST_F(Amx, SubnormalsAreZeros) {
  std::mt19937 random(5);
  Product p(random);
  p.rows = p.columns = 2;
  p.groups = 1;
  std::memset(p.a, 0, sizeof(p.a));
  std::memset(p.b, 0, sizeof(p.b));
  std::memset(p.c, 0, sizeof(p.c));
  const float tiny = std::ldexp(1.0f, -130), least = std::numeric_limits<float>::min();
  setBf16(p.a[0], tiny);  // a subnormal operand
  setBf16(p.a[1], least); // a subnormal product
  setBf16(p.b[0], 1024.0f);
  setBf16(p.b[0] + 4, 0.5f);
  p.c[0][1] = 1; // a subnormal sum so far
  unsigned mode = __builtin_ia32_stmxcsr();
  p.configure();
  asm volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" :::);
  STORE_TILE(0, p.c, 64);
  release();
  EXPECT_EQ(p.c[0][0], 0u);
  EXPECT_EQ(p.c[0][1], 0u);
  float c;
  std::memcpy(&c, &p.c[1][0], 4);
  EXPECT_EQ(c, 1024 * least);
  EXPECT_EQ(p.c[1][1], 0u);
  EXPECT_EQ(__builtin_ia32_stmxcsr(), mode);
}

TEST_F(Amx, NaNsAndInfinities) {
  std::mt19937 random(6);
  Product p(random);
  p.rows = 1;
  p.columns = 2;
  p.groups = 1;
  std::memset(p.b, 0, sizeof(p.b));
  std::memset(p.c, 0, sizeof(p.c));
  setBf16(p.a[0], std::numeric_limits<float>::infinity());
  setBf16(p.a[0] + 2, 1);
  setBf16(p.b[0], -2);
  p.configure();
  asm volatile("tdpbf16ps %%tmm2, %%tmm1, %%tmm0" :::);
  STORE_TILE(0, p.c, 64);
  release();
  float c[2];
  std::memcpy(c, p.c[0], 8);
  EXPECT_EQ(c[0], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(c[1]));
}

TEST_F(Amx, EveryThreadHasTilesOfItsOwn) {
  Configuration shapes;
  shapes.shape(0, 2, 8);
  load(shapes);
  uint64_t mine[2] = {1, 2}, theirs[2] = {0, 0};
  LOAD_TILE(0, mine, 8);
  std::thread([&] {
    load(shapes);
    asm volatile("tilezero %%tmm0" :::);
    STORE_TILE(0, theirs, 8);
    release();
  }).join();
  STORE_TILE(0, mine, 8);
  release();
  EXPECT_EQ(mine[1], 2u);
  EXPECT_EQ(theirs[1], 0u);
  EXPECT_FALSE(tilesInUse());
}
} // namespace

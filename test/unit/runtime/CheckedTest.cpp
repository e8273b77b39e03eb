//===- CheckedTest.cpp - Arithmetic on sizes and times ---------------------===//
//
// runtime/core/checked.h at the ends of every type.
//
//===----------------------------------------------------------------------===//
#include "runtime/core/checked.h"
#include <gtest/gtest.h>
#include <vector>

namespace {
TEST(Checked, SumsAndProductsOfSizes) {
  uint64_t total = 3;
  EXPECT_TRUE(hlo_add_size(&total, 4));
  EXPECT_EQ(total, 7u);
  EXPECT_TRUE(hlo_multiply_size(&total, 6));
  EXPECT_EQ(total, 42u);
  total = UINT64_MAX - 1;
  EXPECT_TRUE(hlo_add_size(&total, 1));
  EXPECT_EQ(total, UINT64_MAX);
  EXPECT_FALSE(hlo_add_size(&total, 1));
  total = UINT64_C(1) << 32;
  EXPECT_TRUE(hlo_multiply_size(&total, (UINT64_C(1) << 32) - 1));
  EXPECT_FALSE(hlo_multiply_size(&total, 2));
  total = UINT64_MAX;
  EXPECT_TRUE(hlo_multiply_size(&total, 0));
  EXPECT_EQ(total, 0u);
}

TEST(Checked, Alignment) {
  for (uint64_t bytes : {0, 1, 63, 64, 65}) {
    uint64_t aligned = bytes;
    EXPECT_TRUE(hlo_align_size(&aligned, 64));
    EXPECT_EQ(aligned, (bytes + 63) / 64 * 64);
  }
  uint64_t last = UINT64_MAX - 63;
  EXPECT_TRUE(hlo_align_size(&last, 64));
  EXPECT_EQ(last, UINT64_MAX - 63);
  for (uint64_t bytes : {UINT64_MAX, UINT64_MAX - 62}) {
    EXPECT_FALSE(hlo_align_size(&bytes, 64));
  }
}

TEST(Checked, ElementsOfShapes) {
  struct {
    std::vector<int64_t> dims;
    int64_t count; // -1: refused
  } cases[] = {{{}, 1},
               {{7}, 7},
               {{2, 3, 4}, 24},
               {{INT64_MAX}, INT64_MAX},
               {{INT64_MAX, 1, 1}, INT64_MAX},
               {{INT64_MAX, 2}, -1},
               {{INT64_C(1) << 32, INT64_C(1) << 31}, -1},
               {{INT64_C(1) << 31, INT64_C(1) << 31}, INT64_C(1) << 62},
               {{INT64_MAX, INT64_MAX, 0}, 0},
               {{0, INT64_MAX, INT64_MAX}, 0},
               {{0, -1}, -1},
               {{-1, 0}, -1},
               {{-1, -1}, -1},
               {{INT64_MIN}, -1},
               {{INT64_MAX, INT64_MAX, -1, 0}, -1}};
  for (const auto &one : cases) {
    int64_t count = -7;
    bool fits = hlo_count_elements(one.dims.data(), static_cast<int64_t>(one.dims.size()), &count);
    EXPECT_EQ(fits, one.count >= 0) << testing::PrintToString(one.dims);
    if (one.count >= 0) {
      EXPECT_EQ(count, one.count) << testing::PrintToString(one.dims);
    }
  }
}

TEST(Checked, DeadlinesSaturate) {
  EXPECT_EQ(hlo_saturating_add(1, 2), 3);
  EXPECT_EQ(hlo_saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(hlo_saturating_add(1, INT64_MAX), INT64_MAX);
  EXPECT_EQ(hlo_saturating_add(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(hlo_saturating_add(INT64_MIN, INT64_MAX), -1);
  EXPECT_EQ(hlo_deadline_after(5, 10), 15);
  EXPECT_EQ(hlo_deadline_after(5, INT64_MAX), INT64_MAX);
  EXPECT_EQ(hlo_deadline_after(INT64_MAX, INT64_MAX), INT64_MAX);
  for (int64_t none : {INT64_C(0), INT64_C(-1), INT64_MIN}) {
    EXPECT_EQ(hlo_deadline_after(5, none), 0);
  }
}
} // namespace

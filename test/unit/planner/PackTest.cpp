//===- PackTest.cpp - Live ranges and placement ---------------------------===//
#include "compiler/transforms/schedule/Pack.h"
#include "gtest/gtest.h"
#include <deque>
#include <random>

using namespace hlo;

TEST(LiveRange, MatchesASetOfPoints) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    LiveRange a, b;
    std::vector<bool> inA(64), inB(64);
    for (int i = 0; i < 12; ++i) {
      uint32_t begin = random() % 60, end = begin + random() % 5;
      bool toA = random() % 2;
      (toA ? a : b).add({begin, end});
      for (uint32_t p = begin; p < end; ++p) {
        (toA ? inA : inB)[p] = true;
      }
    }
    std::vector<bool> common(64);
    a.forEachOverlap(b, [&](Segment segment) {
      for (uint32_t p = segment.begin; p < segment.end; ++p) {
        common[p] = true;
      }
      return true;
    });
    LiveRange both = a;
    both.add(b);
    for (uint32_t p = 0; p < 64; ++p) {
      ASSERT_EQ(a.contains(p), bool(inA[p]));
      ASSERT_EQ(both.contains(p), inA[p] || inB[p]);
      ASSERT_EQ(common[p], inA[p] && inB[p]);
    }
    for (size_t i = 1; i < both.segments().size(); ++i) {
      ASSERT_LT(both.segments()[i - 1].end, both.segments()[i].begin);
    }
  }
}

static void fill(std::mt19937 &random, unsigned count, std::deque<LiveRange> &ranges,
                 std::vector<schedule::PackItem> &items) {
  for (unsigned i = 0; i < count; ++i) {
    LiveRange range;
    uint32_t begin = random() % 1000;
    range.add({begin, begin + 1 + uint32_t(random() % 40)});
    if (random() % 4 == 0) {
      range.add({begin + 60, begin + 70});
    }
    ranges.push_back(range);
    items.push_back({int64_t(1 + random() % (random() % 4 ? 5000 : 100000)), &ranges.back()});
  }
}

TEST(Pack, LiveBuffersAreDisjointAndTight) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::deque<LiveRange> ranges;
    std::vector<schedule::PackItem> items;
    fill(random, 200, ranges, items);
    std::optional<int64_t> total = schedule::pack(items);
    ASSERT_TRUE(total);
    EXPECT_LE(*total, schedule::peakBytes(items) * 4 / 3);
    for (size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(items[i].offset % schedule::arenaAlignment, 0);
      ASSERT_LE(items[i].offset + items[i].bytes, *total);
      for (size_t j = 0; j < i; ++j) {
        bool apart = items[i].offset + items[i].bytes <= items[j].offset ||
                     items[j].offset + items[j].bytes <= items[i].offset;
        ASSERT_TRUE(apart || !items[i].range->overlaps(*items[j].range));
      }
    }
  }
}

TEST(Pack, TooManyBytesAreNoticed) {
  LiveRange range;
  range.add({0, 1});
  std::vector<schedule::PackItem> items(2, {INT64_MAX / 2 + 100, &range});
  EXPECT_FALSE(schedule::pack(items));
}

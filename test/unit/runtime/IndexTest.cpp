//===- IndexTest.cpp - Positions and places in memory ---------------------===//
//
// hlo/index.h, against the pictures in its own comment and against itself: every order of
// the dimensions of several shapes, with and without padding.
//
//===----------------------------------------------------------------------===//
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>
#include <hlo/index.h>
#include <string>
#include <vector>

namespace {
/// The elements a, b, c, ... of an array as they lie in memory, '.' for padding.
std::string picture(const hlo_array &array) {
  std::string memory(static_cast<size_t>(hlo_memory_count(&array)), '.');
  std::vector<int64_t> at(static_cast<size_t>(array.rank) + 1, 0);
  char letter = 'a';
  do {
    memory[static_cast<size_t>(hlo_linear_index(&array, at.data()))] = letter++;
  } while (hlo_next_index(&array, at.data()));
  return memory;
}

TEST(Index, OrdersAndPaddingOfAMatrix) {
  int64_t dims[] = {2, 3}, rows[] = {1, 0}, columns[] = {0, 1}, padded[] = {3, 5};
  EXPECT_EQ(picture({2, dims, nullptr, nullptr}), "abcdef");
  EXPECT_EQ(picture({2, dims, rows, nullptr}), "abcdef");
  EXPECT_EQ(picture({2, dims, columns, nullptr}), "adbecf");
  EXPECT_EQ(picture({2, dims, columns, padded}), "ad.be.cf.......");
  EXPECT_EQ(picture({2, dims, rows, padded}), "abc..def.......");
}

TEST(Index, EveryOrderIsABijection) {
  int64_t dims[] = {2, 1, 3, 4}, padded[] = {2, 2, 3, 5};
  int64_t order[] = {0, 1, 2, 3};
  do {
    for (const int64_t *padding :
         {static_cast<const int64_t *>(nullptr), static_cast<const int64_t *>(padded)}) {
      hlo_array array{4, dims, order, padding};
      ASSERT_TRUE(hlo_array_valid(&array));
      EXPECT_EQ(hlo_element_count(&array), 24);
      EXPECT_EQ(hlo_memory_count(&array), padding ? 60 : 24);
      int64_t elements = 0;
      for (int64_t place = 0; place < hlo_memory_count(&array); ++place) {
        int64_t at[4];
        elements += hlo_array_index(&array, place, at);
        EXPECT_EQ(hlo_linear_index(&array, at), place);
        int64_t sum = 0;
        for (int64_t dim = 0; dim < 4; ++dim) {
          sum += at[dim] * hlo_stride(&array, dim);
        }
        EXPECT_EQ(sum, place);
      }
      EXPECT_EQ(elements, 24);
    }
  } while (std::next_permutation(order, order + 4));
}

TEST(Index, ScalarsAndEmptyArrays) {
  hlo_array scalar{0, nullptr, nullptr, nullptr};
  EXPECT_TRUE(hlo_array_valid(&scalar));
  EXPECT_EQ(picture(scalar), "a");
  EXPECT_EQ(hlo_array_index(&scalar, 0, nullptr), 1);
  int64_t dims[] = {int64_t(1) << 40, 0, int64_t(1) << 40};
  hlo_array empty{3, dims, nullptr, nullptr};
  EXPECT_TRUE(hlo_array_valid(&empty));
  EXPECT_EQ(hlo_memory_count(&empty), 0);
}

TEST(Index, IndicesOfMoreThan32Bits) {
  int64_t dims[] = {int64_t(1) << 33, 5}, at[] = {(int64_t(1) << 33) - 1, 4}, back[2];
  hlo_array array{2, dims, nullptr, nullptr};
  EXPECT_EQ(hlo_linear_index(&array, at), (int64_t(5) << 33) - 1);
  EXPECT_EQ(hlo_array_index(&array, (int64_t(5) << 33) - 1, back), 1);
  EXPECT_EQ(back[0], at[0]);
  EXPECT_EQ(back[1], at[1]);
}

TEST(Index, WhatMakesNoSenseIsSaid) {
  int64_t dims[] = {2, 3}, negative[] = {2, -1}, twice[] = {0, 0}, outside[] = {1, 2};
  int64_t small[] = {2, 2}, huge[] = {int64_t(1) << 32, int64_t(1) << 31};
  for (hlo_array bad : {hlo_array{2, negative, nullptr, nullptr},
                        {2, dims, twice, nullptr},
                        {2, dims, outside, nullptr},
                        {2, dims, nullptr, small},
                        {2, huge, nullptr, nullptr},
                        {2, nullptr, nullptr, nullptr},
                        {-1, nullptr, nullptr, nullptr}}) {
    EXPECT_FALSE(hlo_array_valid(&bad));
  }
}

TEST(Index, CountsThatDoNotFit) {
  int64_t huge[] = {INT64_C(1) << 62, 4, 1}, none[] = {INT64_C(1) << 62, 4, 0};
  int64_t first[] = {0, INT64_MAX, INT64_MAX}, most[] = {INT64_MAX, 1, 1};
  hlo_array array{3, huge, nullptr, nullptr};
  EXPECT_EQ(hlo_element_count(&array), INT64_MAX);
  EXPECT_EQ(hlo_memory_count(&array), INT64_MAX);
  for (int64_t *dims : {none, first}) {
    array.dims = dims;
    EXPECT_EQ(hlo_element_count(&array), 0);
    EXPECT_EQ(hlo_memory_count(&array), 0);
  }
  EXPECT_EQ(hlo_stride(&array, 0), INT64_MAX);
  EXPECT_EQ(hlo_stride(&array, 1), INT64_MAX);
  EXPECT_EQ(hlo_stride(&array, 2), 1);
  array.dims = most;
  EXPECT_TRUE(hlo_array_valid(&array));
  EXPECT_EQ(hlo_element_count(&array), INT64_MAX);
}

TEST(Index, PackedElementsOfTypesThatAreNotPacked) {
  uint8_t bytes[4] = {1, 2, 3, 4};
  EXPECT_EQ(hlo_packed_get(bytes, HLO_U8, 2), 3);
  for (int32_t type : {int32_t(HLO_F32), int32_t(HLO_C128), -1, 1000}) {
    EXPECT_EQ(hlo_packed_get(bytes, type, 1), 0);
    hlo_packed_set(bytes, type, 1, 0xff);
  }
  EXPECT_EQ(bytes[1], 2);
}

TEST(Index, DescriptionsOfModules) {
  int64_t dims[] = {2, 3}, columns[] = {0, 1};
  hlo_buffer_desc desc = {};
  desc.rank = 2;
  desc.dims = dims;
  desc.minor_to_major = columns;
  EXPECT_EQ(picture(hlo_array_of(&desc)), "adbecf");
}

TEST(Index, PackedElements) {
  EXPECT_EQ(hlo_type_bits(HLO_PRED), 8);
  EXPECT_EQ(hlo_type_bits(HLO_C128), 128);
  EXPECT_EQ(hlo_type_bits(HLO_F6E2M3FN), 8);
  EXPECT_EQ(hlo_type_bits(-1), 0);
  uint8_t nibbles[] = {0x21, 0x43};
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(hlo_packed_get(nibbles, HLO_S4, i), i + 1);
  }
  hlo_packed_set(nibbles, HLO_F4E2M1FN, 2, 0xfe);
  EXPECT_EQ(nibbles[1], 0x4e);
  uint8_t pairs = 0;
  hlo_packed_set(&pairs, HLO_U2, 1, 3);
  hlo_packed_set(&pairs, HLO_U2, 3, 2);
  EXPECT_EQ(pairs, 0x8c);
  EXPECT_EQ(hlo_packed_get(&pairs, HLO_U2, 3), 2);
  hlo_packed_set(&pairs, HLO_U1, 2, 0);
  EXPECT_EQ(pairs, 0x88);
}
} // namespace

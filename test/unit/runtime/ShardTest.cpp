//===- ShardTest.cpp - Shards of global arrays ----------------------------===//
//
// hlo/shard.h against a plain definition: element by element, from the text of contract in the
// header. Named cases first, then random arrays, orders, meshes and shardings of every type.
//
//===----------------------------------------------------------------------===//
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <hlo/index.h>
#include <hlo/shard.h>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {
using Numbers = std::vector<int64_t>;

/// A sharded array and the memory of its description.
struct Array {
  Numbers global, mesh, flat, devices, dims, order;
  std::vector<Numbers> axes;
  std::vector<std::string> nameTexts;
  std::vector<const char *> names;
  hlo_sharding sharding = {};
  hlo_buffer_desc desc = {};

  Array(int32_t type, Numbers sizes, Numbers meshSizes, std::vector<Numbers> splits,
        Numbers minorToMajor = {}, Numbers deviceList = {})
      : global(sizes), mesh(meshSizes), devices(deviceList), order(minorToMajor), axes(splits) {
    for (size_t d = 0; d < global.size(); ++d) {
      flat.push_back(static_cast<int64_t>(axes[d].size()));
      flat.insert(flat.end(), axes[d].begin(), axes[d].end());
      dims.push_back((global[d] + parts(d) - 1) / parts(d));
    }
    for (size_t a = 0; a < mesh.size(); ++a) {
      nameTexts.push_back("a" + std::to_string(a));
    }
    for (const std::string &name : nameTexts) {
      names.push_back(name.c_str());
    }
    sharding = {sizeof sharding,
                static_cast<int32_t>(global.size()),
                global.data(),
                mesh.data(),
                names.data(),
                static_cast<int32_t>(mesh.size()),
                static_cast<int32_t>(partitions()),
                flat.data(),
                devices.empty() ? nullptr : devices.data()};
    desc.name = "array";
    desc.dims = dims.data();
    desc.minor_to_major = order.empty() ? nullptr : order.data();
    desc.type = type;
    desc.rank = static_cast<int32_t>(dims.size());
    desc.align = 1;
    desc.alias = -1;
    desc.bytes = bytesOf(dims);
    desc.sharding = &sharding;
  }
  Array(const Array &) = delete;

  int64_t partitions() const {
    return std::accumulate(mesh.begin(), mesh.end(), int64_t(1), std::multiplies<>());
  }
  int64_t parts(size_t dim) const {
    int64_t count = 1;
    for (int64_t axis : axes[dim]) {
      count *= mesh[static_cast<size_t>(axis)];
    }
    return count;
  }
  uint64_t bytesOf(const Numbers &sizes) const {
    int64_t bits = hlo_type_bits(desc.type ? desc.type : HLO_F32);
    for (int64_t size : sizes) {
      bits *= size;
    }
    return static_cast<uint64_t>((bits + 7) / 8);
  }
  /// Which of the parts of each dimension a rank has, as the header defines it.
  Numbers numbersOf(int32_t rank) const {
    int64_t partition = rank % partitions(), place = partition;
    if (!devices.empty()) {
      place = std::find(devices.begin(), devices.end(), partition) - devices.begin();
    }
    Numbers coordinates(mesh.size());
    for (size_t a = mesh.size(); a-- > 0; place /= mesh[a]) {
      coordinates[a] = place % mesh[a];
    }
    Numbers numbers;
    for (size_t d = 0; d < global.size(); ++d) {
      int64_t number = 0;
      for (int64_t axis : axes[d]) {
        number = number * mesh[static_cast<size_t>(axis)] + coordinates[static_cast<size_t>(axis)];
      }
      numbers.push_back(number);
    }
    return numbers;
  }
  /// Where the shard of a rank starts in the global array.
  Numbers startOf(int32_t rank) const {
    Numbers start = numbersOf(rank);
    for (size_t d = 0; d < start.size(); ++d) {
      start[d] *= dims[d];
    }
    return start;
  }
};

/// Bytes of exactly this size on the heap, so that a sanitizer sees each byte outside.
struct Bytes {
  std::unique_ptr<char[]> data;
  size_t size;
  explicit Bytes(uint64_t bytes, int fill = 0) : data(new char[bytes]), size(bytes) {
    std::memset(data.get(), fill, bytes);
  }
  bool operator==(const Bytes &other) const {
    return size == other.size && std::memcmp(data.get(), other.data.get(), size) == 0;
  }
};

void copyElement(int32_t type, char *to, int64_t toAt, const char *from, int64_t fromAt) {
  int32_t bits = hlo_type_bits(type);
  if (bits < 8) {
    hlo_packed_set(to, type, toAt, hlo_packed_get(from, type, fromAt));
  } else {
    std::memcpy(to + toAt * (bits / 8), from + fromAt * (bits / 8), static_cast<size_t>(bits / 8));
  }
}

/// What a shard or the global array must be: copies each element that both have.
void copySlowly(const Array &a, int32_t rank, char *shard, char *global, bool takes) {
  hlo_array inner = hlo_array_of(&a.desc), outer = inner;
  outer.dims = a.global.data();
  if (hlo_element_count(&inner) == 0) {
    return;
  }
  Numbers start = a.startOf(rank), at(a.dims.size() + 1, 0), there(a.dims.size() + 1, 0);
  do {
    bool exists = true;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      there[d] = start[d] + at[d];
      exists &= there[d] < a.global[d];
    }
    if (exists) {
      int64_t in = hlo_linear_index(&inner, at.data()),
              out = hlo_linear_index(&outer, there.data());
      takes ? copyElement(a.desc.type, shard, in, global, out)
            : copyElement(a.desc.type, global, out, shard, in);
    }
  } while (hlo_next_index(&inner, at.data()));
}

/// Takes and puts the shards of all ranks of two replicas, and compares with copySlowly.
void check(const Array &a, std::mt19937 &random) {
  Bytes global(hlo_shard_global_bytes(&a.desc));
  ASSERT_EQ(global.size, a.bytesOf(a.global));
  ASSERT_EQ(hlo_shard_bytes(&a.desc), a.desc.bytes);
  for (size_t i = 0; i < global.size; ++i) {
    global.data[i] = static_cast<char>(random());
  }
  Bytes back(global.size);
  // The unused bits of the last byte, which no shard has.
  if (global.size > 0) {
    back.data[global.size - 1] = global.data[global.size - 1];
  }
  auto partitions = static_cast<int32_t>(a.partitions());
  for (int32_t rank = 0; rank < 2 * partitions; ++rank) {
    Bytes shard(a.desc.bytes, 0x5a), wanted(a.desc.bytes);
    ASSERT_EQ(hlo_shard_take(&a.desc, rank, global.data.get(), shard.data.get()), HLO_OK);
    // A shard that is complete is copied bit by bit; unused bits of its last byte are then kept.
    if (hlo_type_bits(a.desc.type) < 8 && shard.size > 0) {
      hlo_array inner = hlo_array_of(&a.desc);
      int64_t per = 8 / hlo_type_bits(a.desc.type), count = hlo_element_count(&inner);
      for (int64_t i = count; i % per != 0; ++i) {
        hlo_packed_set(shard.data.get(), a.desc.type, i, 0);
      }
    }
    copySlowly(a, rank, wanted.data.get(), global.data.get(), /*takes=*/true);
    ASSERT_TRUE(shard == wanted) << "rank " << rank;
    // Of the elements beyond the array put reads nothing.
    Bytes before(global.size, 0x33), after(global.size, 0x33);
    ASSERT_EQ(hlo_shard_put(&a.desc, rank, shard.data.get(), after.data.get()), HLO_OK);
    copySlowly(a, rank, shard.data.get(), before.data.get(), /*takes=*/false);
    ASSERT_TRUE(after == before) << "rank " << rank;
    // The ranges are those of the definition.
    Numbers start = a.startOf(rank);
    for (int32_t d = 0; d < a.desc.rank; ++d) {
      hlo_shard_range range;
      ASSERT_EQ(hlo_shard_part(&a.desc, rank, d, &range), HLO_OK);
      int64_t all = a.global[static_cast<size_t>(d)], own = a.dims[static_cast<size_t>(d)];
      int64_t first = std::min(start[static_cast<size_t>(d)], all);
      ASSERT_EQ(range.start, first);
      ASSERT_EQ(range.size, std::min(own, all - first));
    }
    // One of several equal shards is the first, and storing only those gives the whole array.
    int32_t same = 0;
    while (a.numbersOf(same) != a.numbersOf(rank)) {
      ++same;
    }
    ASSERT_EQ(hlo_shard_first(&a.desc, rank), same);
    if (same == rank) {
      ASSERT_EQ(hlo_shard_put(&a.desc, rank, shard.data.get(), back.data.get()), HLO_OK);
    }
  }
  ASSERT_TRUE(back == global);
}

std::vector<float> shardOf(const Array &a, int32_t rank, const std::vector<float> &global) {
  std::vector<float> shard(a.desc.bytes / sizeof(float), -1);
  EXPECT_EQ(hlo_shard_take(&a.desc, rank, global.data(), shard.data()), HLO_OK);
  return shard;
}

TEST(Shard, RowsAndColumnsOfAMatrix) {
  std::vector<float> m = {0, 1, 2, 3, 4, 5, 6, 7};
  Array rows(HLO_F32, {2, 4}, {2}, {{0}, {}}), columns(HLO_F32, {2, 4}, {2}, {{}, {0}});
  EXPECT_EQ(shardOf(rows, 1, m), std::vector<float>({4, 5, 6, 7}));
  EXPECT_EQ(shardOf(columns, 1, m), std::vector<float>({2, 3, 6, 7}));
  // Of 2 x 4 partitions, those that differ in the second axis alone have the same rows.
  Array both(HLO_F32, {2, 4}, {2, 4}, {{0}, {}});
  EXPECT_EQ(shardOf(both, 3, m), std::vector<float>({0, 1, 2, 3}));
  EXPECT_EQ(shardOf(both, 4, m), std::vector<float>({4, 5, 6, 7}));
  EXPECT_EQ(hlo_shard_first(&both.desc, 7), 4);
  // The ranks of the second replica have the shards of the first.
  EXPECT_EQ(shardOf(both, 8 + 4, m), std::vector<float>({4, 5, 6, 7}));
}

TEST(Shard, WhatIsBeyondTheArrayIsZeroAndNotWritten) {
  std::vector<float> five = {0, 1, 2, 3, 4}, back(5, -1);
  Array a(HLO_F32, {5}, {4}, {{0}});
  EXPECT_EQ(shardOf(a, 2, five), std::vector<float>({4, 0}));
  EXPECT_EQ(shardOf(a, 3, five), std::vector<float>({0, 0}));
  std::vector<float> shard = {8, 9};
  EXPECT_EQ(hlo_shard_put(&a.desc, 2, shard.data(), back.data()), HLO_OK);
  EXPECT_EQ(hlo_shard_put(&a.desc, 3, shard.data(), back.data()), HLO_OK);
  EXPECT_EQ(back, std::vector<float>({-1, -1, -1, -1, 8}));
}

TEST(Shard, SeveralAxesAndListedDevices) {
  std::vector<float> eight = {0, 1, 2, 3, 4, 5, 6, 7};
  Array minor(HLO_F32, {8}, {2, 4}, {{1, 0}});
  EXPECT_EQ(shardOf(minor, 1, eight), std::vector<float>({2})); // x = 0, y = 1
  EXPECT_EQ(shardOf(minor, 4, eight), std::vector<float>({1})); // x = 1, y = 0
  Array listed(HLO_F32, {8}, {4}, {{0}}, {}, {2, 3, 1, 0});
  EXPECT_EQ(shardOf(listed, 2, eight), std::vector<float>({0, 1}));
  EXPECT_EQ(shardOf(listed, 0, eight), std::vector<float>({6, 7}));
}

TEST(Shard, WholeArraysAndScalars) {
  std::vector<float> m = {1, 2, 3, 4};
  Array a(HLO_F32, {4}, {1}, {{}});
  a.desc.sharding = nullptr;
  EXPECT_EQ(shardOf(a, 5, m), m);
  EXPECT_EQ(hlo_shard_global_bytes(&a.desc), 16u);
  EXPECT_EQ(hlo_shard_first(&a.desc, 5), 0);
  Array scalar(HLO_F32, {}, {3}, {});
  EXPECT_EQ(shardOf(scalar, 2, {7}), std::vector<float>({7}));
  EXPECT_EQ(hlo_shard_first(&scalar.desc, 2), 0);
}

TEST(Shard, RandomArrays) {
  std::mt19937 random(1);
  auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    Numbers mesh, sizes, order, devices;
    int64_t partitions = 1;
    for (int64_t axes = below(5); axes > 0; --axes) {
      int64_t size = 1 + below(4);
      if (partitions * size <= 32) {
        mesh.push_back(size);
        partitions *= size;
      }
    }
    size_t rank = static_cast<size_t>(below(6));
    std::vector<Numbers> splits(rank);
    Numbers free(mesh.size());
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random);
    for (; rank > 0 && !free.empty(); free.pop_back()) {
      if (below(4) > 0) {
        splits[static_cast<size_t>(below(rank))].push_back(free.back());
      }
    }
    for (size_t d = 0; d < rank; ++d) {
      sizes.push_back(below(12) == 0 ? 0 : 1 + below(7));
      order.push_back(static_cast<int64_t>(d));
    }
    std::shuffle(order.begin(), order.end(), random);
    if (below(3) == 0) {
      devices.resize(static_cast<size_t>(partitions));
      std::iota(devices.begin(), devices.end(), 0);
      std::shuffle(devices.begin(), devices.end(), random);
    }
    auto type = static_cast<int32_t>(1 + below(HLO_F6E3M2FN));
    Array a(type, sizes, mesh, splits, order, devices);
    check(a, random);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "round " << round;
  }
}

TEST(Shard, ManyDimensions) {
  std::mt19937 random(2);
  // 40 dimensions, of which 16 are split, with whole ones between them.
  Numbers sizes(40, 1), mesh(16, 1);
  std::vector<Numbers> splits(40);
  for (size_t a = 0; a < 5; ++a) {
    mesh[a] = 2;
  }
  for (size_t a = 0; a < 16; ++a) {
    splits[2 * a] = {static_cast<int64_t>(a)};
    sizes[2 * a] = a < 5 ? 3 : 1;
    sizes[2 * a + 1] = a < 4 ? 2 : 1;
  }
  check(Array(HLO_U8, sizes, mesh, splits), random);
  check(Array(HLO_S4, sizes, mesh, splits), random);
  // As many splits as there can be: each halves a dimension of size 2. Only the first and last
  // rank.
  Numbers two(30, 2);
  std::vector<Numbers> each;
  for (int64_t a = 0; a < 30; ++a) {
    each.push_back({a});
  }
  Array most(HLO_U1, two, two, each);
  std::unique_ptr<char, decltype(&std::free)> global(
      static_cast<char *>(std::calloc(size_t(1) << 27, 1)), std::free);
  ASSERT_TRUE(global);
  global.get()[(1 << 27) - 1] = '\x80';
  char shard = 0;
  EXPECT_EQ(hlo_shard_take(&most.desc, (1 << 30) - 1, global.get(), &shard), HLO_OK);
  EXPECT_EQ(shard, 1);
}

TEST(Shard, WhatContradictsItselfIsRefused) {
  char shard[64] = {}, global[64] = {};
  auto take = [&](const Array &a, int32_t rank = 0) {
    hlo_status status = hlo_shard_take(&a.desc, rank, global, shard);
    EXPECT_EQ(hlo_shard_put(&a.desc, rank, shard, global), status);
    EXPECT_EQ(hlo_shard_first(&a.desc, rank), status ? -1 : 0);
    return status;
  };
  auto make = [](auto change) {
    auto a = std::make_unique<Array>(HLO_F32, Numbers{4, 6}, Numbers{2, 3},
                                     std::vector<Numbers>{{0}, {1}});
    change(*a);
    return a;
  };
  EXPECT_EQ(take(*make([](Array &) {})), HLO_OK);
  EXPECT_EQ(take(*make([](Array &) {}), -1), HLO_OUT_OF_RANGE);
  EXPECT_EQ(take(*make([](Array &a) { a.dims[0] = 3; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.global[0] = 5; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.global[0] = -4; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.mesh[1] = 4; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.mesh[1] = 0; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.mesh[1] = INT64_MAX; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.num_partitions = 5; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.num_partitions = 0; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.num_axes = -1; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.rank = 1; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.struct_size = 8; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.flat[1] = 2; })), HLO_ERR_VIEW);  // no such axis
  EXPECT_EQ(take(*make([](Array &a) { a.flat[1] = -1; })), HLO_ERR_VIEW); // nor this
  EXPECT_EQ(take(*make([](Array &a) { a.flat[3] = 0; })), HLO_ERR_VIEW);  // used twice
  EXPECT_EQ(take(*make([](Array &a) { a.flat[0] = 3; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.sharding.axes = nullptr; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.desc.type = HLO_INVALID_TYPE; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) { a.desc.bytes -= 1; })), HLO_ERR_VIEW);
  EXPECT_EQ(take(*make([](Array &a) {
              a.devices = {1, 1, 2, 3, 4, 5}; // no partition 0
              a.sharding.devices = a.devices.data();
            })),
            HLO_ERR_VIEW);
  int64_t huge[] = {INT64_MAX / 2, 4}, shards[] = {INT64_MAX / 4 + 1, 2};
  EXPECT_EQ(take(*make([&](Array &a) {
              a.sharding.dims = huge;
              a.desc.dims = shards;
            })),
            HLO_ERR_VIEW);
  Array a(HLO_F32, {4, 6}, {2, 3}, {{0}, {1}});
  EXPECT_EQ(hlo_shard_take(nullptr, 0, global, shard), HLO_ERR_NULL);
  EXPECT_EQ(hlo_shard_take(&a.desc, 0, nullptr, shard), HLO_ERR_NULL);
  EXPECT_EQ(hlo_shard_put(&a.desc, 0, shard, nullptr), HLO_ERR_NULL);
  hlo_shard_range range;
  EXPECT_EQ(hlo_shard_part(&a.desc, 0, 2, &range), HLO_OUT_OF_RANGE);
  EXPECT_EQ(hlo_shard_part(&a.desc, 0, -1, &range), HLO_OUT_OF_RANGE);
  EXPECT_EQ(hlo_shard_part(&a.desc, -1, 0, &range), HLO_OUT_OF_RANGE);
  EXPECT_EQ(hlo_shard_part(&a.desc, 0, 0, nullptr), HLO_ERR_NULL);
}
} // namespace

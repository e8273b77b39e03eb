//===- GlobalTest.cpp - Shards of arrays in files -------------------------===//
//
// Writes a global array, takes each rank's shard from it, and puts the shards together again: files
// in both orders of dimensions, stored and compressed, read and mapped; programs with other orders;
// elements smaller than a byte; sizes that the partitions do not divide.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Global.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/arrays/Permute.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace llvm;
using namespace hlo::run;

namespace {
/// A leaf that is split along its first dimension, among two partitions, and its last, among two.
struct ShardedLeaf {
  SmallVector<int64_t> global, dims, order;
  int64_t mesh[2] = {2, 2};
  const char *names[2] = {"x", "y"};
  SmallVector<int64_t> axes;
  hlo_sharding sharding = {};
  hlo_buffer_desc desc = {};

  ShardedLeaf(int32_t type, ArrayRef<int64_t> shape, ArrayRef<int64_t> layout = {})
      : global(shape), dims(shape),
        order(layout.empty() ? rowMajor(shape.size()) : SmallVector<int64_t>(layout)) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d == 0 || d + 1 == dims.size()) {
        dims[d] = (dims[d] + 1) / 2;
        axes.append({1, d == 0 ? 0 : 1});
      } else {
        axes.push_back(0);
      }
    }
    sharding = {sizeof sharding,
                static_cast<int32_t>(dims.size()),
                global.data(),
                mesh,
                names,
                2,
                4,
                axes.data(),
                nullptr};
    desc.name = "leaf";
    desc.type = type;
    desc.rank = static_cast<int32_t>(dims.size());
    desc.dims = dims.data();
    desc.minor_to_major = order.data();
    desc.alias = -1;
    desc.bytes = static_cast<uint64_t>(countOf(desc)) * hlo_type_bytes(type);
    desc.sharding = &sharding;
  }
  ShardedLeaf(const ShardedLeaf &) = delete;

  /// The number of element `index` of the global array in row-major order.
  int64_t numberOf(ArrayRef<int64_t> index) const {
    int64_t number = 0;
    for (auto [size, at] : zip_equal(global, index)) {
      number = number * size + at;
    }
    return number;
  }
};

/// Calls `visit(index)` for all positions of an array.
void forEach(ArrayRef<int64_t> dims, function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1]) {
      index[--d] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

int64_t placeOf(ArrayRef<int64_t> index, ArrayRef<int64_t> dims, ArrayRef<int64_t> order) {
  int64_t place = 0;
  for (int64_t d : reverse(order)) {
    place = place * dims[d] + index[d];
  }
  return place;
}

class Global : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("hlo-global", "npz", name));
    path = name.str().str();
  }
  void TearDown() override { sys::fs::remove(path); }

  /// Writes an array whose element with number n is n & 0x7f, of `leaf`'s global shape.
  void write(const ShardedLeaf &leaf, bool fortran) {
    NpyHeader header;
    std::tie(header.kind, header.itemBytes) = npyStorage(leaf.desc.type);
    header.order = header.itemBytes > 1 ? '<' : '|';
    header.fortran = fortran;
    header.shape = leaf.global;
    size_t item = static_cast<size_t>(header.itemBytes);
    std::string text = formatNpyHeader(header);
    std::string data(item * static_cast<size_t>(globalCount(leaf)), '\0');
    SmallVector<int64_t> order =
        fortran ? columnMajor(leaf.global.size()) : rowMajor(leaf.global.size());
    forEach(leaf.global, [&](ArrayRef<int64_t> index) {
      data[item * static_cast<size_t>(placeOf(index, leaf.global, order))] =
          static_cast<char>(leaf.numberOf(index) & 0x7f);
    });
    Expected<ZipWriter> archive = ZipWriter::create(path);
    ASSERT_TRUE(bool(archive));
    ArrayRef<char> parts[] = {ArrayRef(text.data(), text.size()),
                              ArrayRef(data.data(), data.size())};
    ASSERT_FALSE(archive->add("in0.npy", parts));
    ASSERT_FALSE(archive->finish());
  }

  static int64_t globalCount(const ShardedLeaf &leaf) {
    hlo_buffer_desc global = globalLeaf(leaf.desc);
    return countOf(global);
  }

  /// What a program's buffer holds of the element with number n.
  static char held(int32_t type, int64_t n) {
    auto low = static_cast<char>(n & 0x7f);
    switch (type) {
    case HLO_PRED: return low != 0;
    case HLO_S4: return static_cast<char>(static_cast<int8_t>(static_cast<uint8_t>(low) << 4) >> 4);
    case HLO_U2: return low & 3;
    default: return low;
    }
  }

  void check(const ShardedLeaf &leaf, bool maps) {
    Expected<ZipReader> archive = ZipReader::open(path);
    ASSERT_TRUE(bool(archive));
    Expected<GlobalArray> global = GlobalArray::read(*archive, "in0", leaf.desc, maps);
    ASSERT_TRUE(bool(global)) << toString(global.takeError());
    Expected<GlobalArray> whole = GlobalArray::make(leaf.desc);
    ASSERT_TRUE(bool(whole));
    size_t item = hlo_type_bytes(leaf.desc.type);
    for (uint32_t rank = 0; rank < 4; ++rank) {
      std::vector<char> shard(leaf.desc.bytes, 0x55);
      ASSERT_FALSE(bool(global->take(rank, shard.data())));
      forEach(leaf.dims, [&](ArrayRef<int64_t> index) {
        SmallVector<int64_t> at(index);
        at[0] += rank / 2 * leaf.dims[0];
        at.back() += rank % 2 * leaf.dims.back();
        bool exists = at[0] < leaf.global[0] && at.back() < leaf.global.back();
        ASSERT_EQ(shard[item * static_cast<size_t>(placeOf(index, leaf.dims, leaf.order))],
                  exists ? held(leaf.desc.type, leaf.numberOf(at)) : 0);
      });
      ASSERT_FALSE(bool(whole->put(rank, shard.data())));
    }
    forEach(leaf.global, [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(whole->data()[item * static_cast<size_t>(placeOf(index, leaf.global, leaf.order))],
                held(leaf.desc.type, leaf.numberOf(index)));
    });
  }

  std::string path;
};

TEST_F(Global, ShardsOfFilesInAnyOrder) {
  for (int32_t type : {HLO_F32, HLO_C128, HLO_BF16, HLO_PRED, HLO_S4, HLO_U2, HLO_F6E2M3FN}) {
    for (auto shape : {SmallVector<int64_t>{4, 6}, {5, 7}, {3, 2, 5}, {1, 4, 1}}) {
      for (bool fortran : {false, true}) {
        for (bool columns : {false, true}) {
          ShardedLeaf leaf(type, shape,
                           columns ? columnMajor(shape.size()) : rowMajor(shape.size()));
          write(leaf, fortran);
          check(leaf, /*maps=*/false);
          check(leaf, /*maps=*/true);
        }
      }
    }
  }
}

TEST_F(Global, OtherShapesAndTypesAreRefused) {
  ShardedLeaf leaf(HLO_F32, {4, 6}), other(HLO_F32, {2, 3}), larger(HLO_F64, {4, 6});
  auto errorOf = [&](const ShardedLeaf &wanted, bool maps) {
    Expected<ZipReader> archive = ZipReader::open(path);
    EXPECT_TRUE(bool(archive));
    Expected<GlobalArray> global = GlobalArray::read(*archive, "in0", wanted.desc, maps);
    return global ? "" : toString(global.takeError());
  };
  for (bool maps : {false, true}) {
    write(other, /*fortran=*/false); // the shape of a shard
    EXPECT_EQ(errorOf(leaf, maps), path + ": in0: shape [2,3], the program's leaf has [4,6]");
    write(larger, /*fortran=*/false);
    EXPECT_EQ(errorOf(leaf, maps), path + ": in0: element type <f8, f32 is stored as 'f4'");
  }
  // A whole array where a shard is wanted.
  write(leaf, /*fortran=*/false);
  Expected<ZipReader> archive = ZipReader::open(path);
  ASSERT_TRUE(bool(archive));
  std::vector<char> buffer(leaf.desc.bytes);
  EXPECT_EQ(toString(loadLeaf(*archive, "in0", leaf.desc, buffer.data())),
            path + ": in0: shape [4,6], the program's leaf has [2,3], a shard; --global reads "
                   "whole arrays");
  // A file that ends too early, or has too much.
  NpyHeader header;
  std::tie(header.kind, header.itemBytes) = npyStorage(HLO_F32);
  header.order = '<';
  header.shape = {4, 6};
  for (size_t bytes : {95, 97}) {
    std::string data = formatNpyHeader(header) + std::string(bytes, 'x');
    std::error_code code;
    raw_fd_ostream(path, code) << data;
    Expected<ZipReader> plain = ZipReader::openPlain(path, "in0");
    ASSERT_TRUE(bool(plain));
    for (bool maps : {false, true}) {
      Expected<GlobalArray> global = GlobalArray::read(*plain, "in0", leaf.desc, maps);
      ASSERT_FALSE(bool(global)) << bytes;
      EXPECT_NE(toString(global.takeError()).find("bytes"), std::string::npos);
    }
  }
}

TEST_F(Global, OfAShardingThatDoesNotFitTheLeaf) {
  ShardedLeaf leaf(HLO_F32, {4, 6});
  leaf.sharding.num_partitions = 3;
  Expected<GlobalArray> global = GlobalArray::make(leaf.desc);
  ASSERT_TRUE(bool(global));
  std::vector<char> buffer(leaf.desc.bytes);
  EXPECT_EQ(toString(global->take(0, buffer.data())),
            "internal error: sharding of leaf: HLO_ERR_VIEW");
  EXPECT_EQ(toString(global->put(0, buffer.data())),
            "internal error: sharding of leaf: HLO_ERR_VIEW");
}
} // namespace

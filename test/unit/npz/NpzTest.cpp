//===- NpzTest.cpp - Archives, arrays, layouts, random inputs, printing ---===//
//
// Round trips through files, archives as numpy makes them (stored, deflated, Fortran
// order, raw void elements), and hostile ones: every truncation of an archive and
// every single-byte change of it must give an error or the right contents, never a crash.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Npy.h"
#include "tools/hlo-run/arrays/Number.h"
#include "tools/hlo-run/arrays/Permute.h"
#include "tools/hlo-run/arrays/Random.h"
#include "tools/hlo-run/report/Print.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <zlib.h>

using namespace llvm;
using namespace hlo::run;

namespace {
/// A leaf with storage of its own for dimensions.
struct Leaf {
  SmallVector<int64_t> dims, order;
  hlo_buffer_desc desc = {};

  Leaf(int32_t type, ArrayRef<int64_t> shape, ArrayRef<int64_t> layout = {})
      : dims(shape), order(layout.empty() ? rowMajor(shape.size()) : SmallVector<int64_t>(layout)) {
    desc.name = "leaf";
    desc.type = type;
    desc.rank = static_cast<int32_t>(dims.size());
    desc.dims = dims.data();
    desc.minor_to_major = order.data();
    desc.alias = -1;
    desc.bytes = static_cast<uint64_t>(countOf(desc)) * hlo_type_bytes(type);
  }
  Leaf(const Leaf &) = delete;
};

class Npz : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> name;
    ASSERT_FALSE(sys::fs::createTemporaryFile("hlo-npz", "npz", name));
    path = name.str().str();
  }
  void TearDown() override { sys::fs::remove(path); }

  void writeFile(StringRef bytes) {
    std::error_code error;
    raw_fd_ostream os(path, error);
    ASSERT_FALSE(error);
    os << bytes;
  }
  std::string readFile() { return (*MemoryBuffer::getFile(path))->getBuffer().str(); }

  /// An archive of one stored or deflated member whose contents are `header` and `data`.
  void writeMember(StringRef name, StringRef contents, bool deflated) {
    std::string packed = contents.str();
    if (deflated) {
      z_stream z{};
      ASSERT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
      packed.resize(contents.size() + 100);
      z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(contents.data()));
      z.avail_in = static_cast<uInt>(contents.size());
      z.next_out = reinterpret_cast<Bytef *>(packed.data());
      z.avail_out = static_cast<uInt>(packed.size());
      ASSERT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
      packed.resize(z.total_out);
      deflateEnd(&z);
    }
    auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef *>(contents.data()),
                                           static_cast<uInt>(contents.size())));
    std::string out;
    raw_string_ostream os(out);
    support::endian::Writer w(os, endianness::little);
    auto sizes = [&] {
      w.write<uint32_t>(crc);
      w.write<uint32_t>(static_cast<uint32_t>(packed.size()));
      w.write<uint32_t>(static_cast<uint32_t>(contents.size()));
      w.write<uint16_t>(static_cast<uint16_t>(name.size()));
    };
    uint16_t method = deflated ? 8 : 0;
    w.write<uint32_t>(0x04034b50);
    for (uint16_t v : {uint16_t(20), uint16_t(0), method, uint16_t(0), uint16_t(0)}) {
      w.write<uint16_t>(v);
    }
    sizes();
    w.write<uint16_t>(0);
    os << name << packed;
    auto start = static_cast<uint32_t>(out.size());
    w.write<uint32_t>(0x02014b50);
    for (uint16_t v : {uint16_t(20), uint16_t(20), uint16_t(0), method, uint16_t(0), uint16_t(0)}) {
      w.write<uint16_t>(v);
    }
    sizes();
    os.write_zeros(2 + 2 + 2 + 2 + 4 + 4);
    os << name;
    auto bytes = static_cast<uint32_t>(out.size()) - start;
    w.write<uint32_t>(0x06054b50);
    w.write<uint32_t>(0);
    w.write<uint16_t>(1);
    w.write<uint16_t>(1);
    w.write<uint32_t>(bytes);
    w.write<uint32_t>(start);
    w.write<uint16_t>(0);
    writeFile(out);
  }

  /// The member as an array: header fields and raw data.
  void writeArray(StringRef descr, bool fortran, ArrayRef<int64_t> shape, StringRef data,
                  bool deflated = false) {
    NpyHeader header;
    header.order = descr[0];
    header.kind = descr[1];
    ASSERT_FALSE(descr.drop_front(2).getAsInteger(10, header.itemBytes));
    header.fortran = fortran;
    header.shape.assign(shape.begin(), shape.end());
    writeMember("in0.npy", formatNpyHeader(header) + data.str(), deflated);
  }

  /// Loads in0; the text of the error, or "".
  std::string load(const Leaf &leaf, std::string &buffer) {
    buffer.assign(leaf.desc.bytes, '\x55');
    Expected<ZipReader> archive = ZipReader::open(path);
    if (!archive) {
      return toString(archive.takeError());
    }
    return toString(loadLeaf(*archive, "in0", leaf.desc, buffer.data()));
  }

  std::string path;
};

std::string message(StringRef path, StringRef rest) { return (path + ": " + rest).str(); }

TEST_F(Npz, RoundTripOfEveryType) {
  for (int32_t type = HLO_PRED; type <= HLO_F6E3M2FN; ++type) {
    Leaf leaf(type, {3, 5, 2}, {1, 2, 0});
    std::string data(leaf.desc.bytes, '\0'), back;
    fillRandom(7, 3, leaf.desc, data.data());
    Expected<ZipWriter> writer = ZipWriter::create(path);
    ASSERT_TRUE(bool(writer));
    ASSERT_FALSE(writer->add("other", {}));
    ASSERT_FALSE(saveLeaf(*writer, "in0", leaf.desc, data.data()));
    ASSERT_FALSE(writer->finish());
    EXPECT_EQ(load(leaf, back), "");
    EXPECT_EQ(back, data) << hlo_type_name(type);
  }
}

TEST_F(Npz, WhatNumpyWrites) {
  Leaf leaf(HLO_S16, {2, 3});
  std::string back;
  std::string rows("\1\0\2\0\3\0\4\0\5\0\6\0", 12), columns("\1\0\4\0\2\0\5\0\3\0\6\0", 12);
  for (bool deflated : {false, true}) {
    writeArray("<i2", false, {2, 3}, rows, deflated);
    EXPECT_EQ(load(leaf, back), "");
    EXPECT_EQ(back, rows);
    writeArray("<i2", true, {2, 3}, columns, deflated);
    EXPECT_EQ(load(leaf, back), "");
    EXPECT_EQ(back, rows);
  }
  Leaf transposed(HLO_S16, {2, 3}, {0, 1});
  EXPECT_EQ(load(transposed, back), "");
  EXPECT_EQ(back, columns);
  writeArray("|V2", false, {2, 3}, rows);
  Leaf bf16(HLO_BF16, {2, 3});
  EXPECT_EQ(load(bf16, back), "");
  EXPECT_EQ(back, rows);
  writeArray("<f4", false, {}, StringRef("\0\0\x80\x3f", 4));
  Leaf scalar(HLO_F32, {});
  EXPECT_EQ(load(scalar, back), "");
  EXPECT_EQ(back, std::string("\0\0\x80\x3f", 4));
  writeArray("<f4", false, {0, 3}, "");
  Leaf empty(HLO_F32, {0, 3});
  EXPECT_EQ(load(empty, back), "");
}

TEST_F(Npz, SubByteElementsAreExtended) {
  std::string back;
  writeArray("|u1", false, {4}, StringRef("\x0f\x07\x08\xf1", 4));
  Leaf s4(HLO_S4, {4}), u4(HLO_U4, {4}), pred(HLO_PRED, {4});
  EXPECT_EQ(load(s4, back), "");
  EXPECT_EQ(back, std::string("\xff\x07\xf8\x01", 4));
  Expected<ZipWriter> writer = ZipWriter::create(path + ".s4");
  ASSERT_TRUE(bool(writer));
  ASSERT_FALSE(saveLeaf(*writer, "in0", s4.desc, back.data()));
  ASSERT_FALSE(writer->finish());
  path += ".s4";
  EXPECT_EQ(load(u4, back), "");
  EXPECT_EQ(back, std::string("\x0f\x07\x08\x01", 4)) << "written as raw bits";
  sys::fs::remove(path);
  path.resize(path.size() - 3);
  EXPECT_EQ(load(u4, back), "");
  EXPECT_EQ(back, std::string("\x0f\x07\x08\x01", 4));
  EXPECT_EQ(load(pred, back), "");
  EXPECT_EQ(back, std::string("\1\1\1\1", 4));
}

TEST_F(Npz, MismatchesAreToldWithBothSides) {
  std::string back;
  Leaf leaf(HLO_F32, {2, 3});
  writeArray("<f4", false, {3, 2}, std::string(24, '\0'));
  EXPECT_EQ(load(leaf, back), message(path, "in0: shape [3,2], the program's leaf has [2,3]"));
  writeArray("<f8", false, {2, 3}, std::string(48, '\0'));
  EXPECT_EQ(load(leaf, back), message(path, "in0: element type <f8, f32 is stored as 'f4'"));
  writeArray(">f4", false, {2, 3}, std::string(24, '\0'));
  EXPECT_EQ(load(leaf, back),
            message(path, "in0: big-endian array (>f4), only little-endian ones are read"));
  writeArray("<f4", false, {2, 3}, std::string(20, '\0'));
  EXPECT_EQ(load(leaf, back),
            message(path, "in0.npy: the member has 20 bytes left, 24 are needed"));
  writeArray("<f4", false, {2, 3}, std::string(28, '\0'));
  EXPECT_EQ(load(leaf, back), message(path, "in0.npy: 4 bytes too many"));
  writeMember("other.npy", "x", false);
  EXPECT_EQ(load(leaf, back), message(path, "no array 'in0' (for leaf, f32[2,3])"));
  writeMember("in0.npy", "no array at all", false);
  EXPECT_EQ(load(leaf, back), message(path, "in0: not an .npy array"));
  writeFile("");
  EXPECT_EQ(load(leaf, back), message(path, "not an .npz file: it has 0 bytes"));
  writeFile(std::string(1000, 'x'));
  EXPECT_EQ(load(leaf, back), message(path, "not an .npz file: no zip directory at its end"));
}

TEST_F(Npz, UnreadableFiles) {
  auto code = [](Error e) {
    int exitCode = 0;
    handleAllErrors(std::move(e), [&](const RunError &error) { exitCode = error.getExitCode(); });
    return exitCode;
  };
  EXPECT_EQ(code(ZipReader::open(path + ".absent").takeError()), ExitFile);
  EXPECT_EQ(code(ZipReader::open("/").takeError()), ExitFile);
  EXPECT_EQ(code(ZipWriter::create("/nonexistent/a.npz").takeError()), ExitFile);
  writeFile("hello");
  EXPECT_EQ(code(ZipReader::open(path).takeError()), ExitInput);
}

TEST_F(Npz, UnfinishedArchivesLeaveNothing) {
  sys::fs::remove(path);
  {
    Expected<ZipWriter> writer = ZipWriter::create(path);
    ASSERT_TRUE(bool(writer));
    ASSERT_FALSE(writer->add("a", {}));
  }
  EXPECT_FALSE(sys::fs::exists(path));
}

TEST_F(Npz, EveryTruncationAndEveryByteChange) {
  Leaf leaf(HLO_U8, {40});
  std::string data, back;
  for (int i = 0; i < 40; ++i) {
    data.push_back(static_cast<char>(i / 3));
  }
  for (bool deflated : {false, true}) {
    writeArray("|u1", false, {40}, data, deflated);
    std::string whole = readFile();
    ASSERT_EQ(load(leaf, back), "");
    for (size_t size = 0; size < whole.size(); ++size) {
      writeFile(StringRef(whole).take_front(size));
      EXPECT_NE(load(leaf, back), "") << "cut at " << size;
    }
    for (size_t at = 0; at < whole.size(); ++at) {
      for (char flip : {'\x01', '\x80', '\xff'}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        writeFile(changed);
        if (load(leaf, back).empty()) {
          EXPECT_EQ(back, data) << "byte " << at;
        }
      }
    }
  }
}

TEST_F(Npz, Zip64ArchivesOfOurOwnDamaged) {
  Leaf leaf(HLO_U8, {16});
  std::string data(16, 'x'), back;
  Expected<ZipWriter> writer = ZipWriter::create(path);
  ASSERT_TRUE(bool(writer));
  ASSERT_FALSE(saveLeaf(*writer, "in0", leaf.desc, data.data()));
  ASSERT_FALSE(writer->finish());
  std::string whole = readFile();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (char flip : {'\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      writeFile(changed);
      if (load(leaf, back).empty()) {
        EXPECT_EQ(back, data) << "byte " << at;
      }
    }
  }
}

TEST(Npy, Headers) {
  auto error = [](StringRef text) {
    Expected<NpyHeader> header = parseNpyHeader(text, "f");
    return header ? std::string() : toString(header.takeError());
  };
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"), "");
  EXPECT_EQ(error("{\"shape\":(3L,),\"descr\":\"<f4\",\"fortran_order\":True}\n"), "");
  EXPECT_EQ(error("{'descr': '<f4', 'fortran_order': False}"),
            "f: missing key in the array's header '{'descr': '<f4', 'fortran_order': False}'");
  EXPECT_EQ(error("{'descr': '|O', 'fortran_order': False, 'shape': ()}").substr(0, 44),
            "f: element type that is no plain number in t");
  EXPECT_NE(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"), "");
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "");
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
            "");
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}"), "");
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::string(1000, ',')),
            "");
  EXPECT_NE(error(""), "");
  EXPECT_NE(error("{"), "");
  EXPECT_NE(error("{'descr"), "");
  NpyHeader header;
  header.order = '<';
  header.kind = 'f';
  header.itemBytes = 8;
  header.shape = {7};
  EXPECT_EQ(formatNpyHeader(header).size() % 64, 0u);
  EXPECT_NE(
      formatNpyHeader(header).find("{'descr': '<f8', 'fortran_order': False, 'shape': (7,), }"),
      std::string::npos);
}

TEST(Permute, AllOrdersOfFourDimensions) {
  SmallVector<int64_t> dims = {3, 1, 40, 5}, from = {0, 1, 2, 3};
  std::vector<uint32_t> source(600), target(600);
  for (uint32_t i = 0; i < 600; ++i) {
    source[i] = i;
  }
  auto at = [&](ArrayRef<int64_t> order, ArrayRef<int64_t> index) {
    int64_t offset = 0, stride = 1;
    for (int64_t d : order) {
      offset += index[d] * stride;
      stride *= dims[d];
    }
    return offset;
  };
  do {
    SmallVector<int64_t> to = {3, 0, 2, 1};
    permute(dims, 4, reinterpret_cast<char *>(source.data()), from,
            reinterpret_cast<char *>(target.data()), to);
    for (int64_t a = 0; a < 3; ++a) {
      for (int64_t c = 0; c < 40; ++c) {
        for (int64_t d = 0; d < 5; ++d) {
          ASSERT_EQ(target[at(to, {a, 0, c, d})], source[at(from, {a, 0, c, d})]);
        }
      }
    }
  } while (std::next_permutation(from.begin(), from.end()));
  EXPECT_TRUE(sameOrder({2, 1, 3}, {0, 1, 2}, {1, 0, 2}));
  EXPECT_FALSE(sameOrder({2, 1, 3}, {0, 1, 2}, {2, 0, 1}));
  EXPECT_TRUE(sameOrder({2, 0}, {0, 1}, {1, 0}));
}

TEST(Random, MomentsAndDeterminism) {
  Leaf leaf(HLO_F32, {200000});
  std::vector<float> a(200000), b(200000);
  fillRandom(1, 0, leaf.desc, reinterpret_cast<char *>(a.data()));
  fillRandom(1, 0, leaf.desc, reinterpret_cast<char *>(b.data()));
  EXPECT_EQ(a, b);
  fillRandom(1, 1, leaf.desc, reinterpret_cast<char *>(b.data()));
  EXPECT_NE(a, b);
  double sum = 0, squares = 0, fourth = 0;
  int beyond = 0;
  for (float value : a) {
    double x = value / 0.05;
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    beyond += std::fabs(x) > 3.4426;
  }
  EXPECT_NEAR(sum / 200000, 0, 0.01);
  EXPECT_NEAR(squares / 200000, 1, 0.015);
  EXPECT_NEAR(fourth / 200000, 3, 0.15);
  EXPECT_NEAR(beyond, 200000 * 5.76e-4, 45);
  Leaf flags(HLO_S32, {1000});
  std::vector<int32_t> bits(1000);
  fillRandom(0, 0, flags.desc, reinterpret_cast<char *>(bits.data()));
  int ones = 0;
  for (int32_t bit : bits) {
    ASSERT_TRUE(bit == 0 || bit == 1);
    ones += bit;
  }
  EXPECT_NEAR(ones, 500, 80);
}

TEST(Numbers, NarrowRoundingIsAPFloats) {
  for (int32_t type : {HLO_F16, HLO_BF16}) {
    NarrowEncoder encode(type);
    for (uint32_t i = 0; i < 200000; ++i) {
      uint32_t bits = i * 21474u + 12345u;
      float value = llvm::bit_cast<float>(bits);
      APFloat exact(value);
      bool loses;
      exact.convert(*semanticsOf(type), APFloat::rmNearestTiesToEven, &loses);
      if (!std::isnan(value)) {
        ASSERT_EQ(encode(value), exact.bitcastToAPInt().getZExtValue()) << value;
      }
    }
  }
}

TEST(Numbers, Text) {
  auto text = [](int32_t type, StringRef bytes) { return formatElement(type, bytes.data()); };
  EXPECT_EQ(text(HLO_PRED, StringRef("\1", 1)), "true");
  EXPECT_EQ(text(HLO_S4, "\xff"), "-1");
  EXPECT_EQ(text(HLO_U64, "\xff\xff\xff\xff\xff\xff\xff\xff"), "18446744073709551615");
  EXPECT_EQ(text(HLO_BF16, StringRef("\xc0\x3f", 2)), "1.5");
  EXPECT_EQ(text(HLO_F16, StringRef("\x00\xfc", 2)), "-inf");
  EXPECT_EQ(text(HLO_F8E4M3FN, StringRef("\x7f", 1)), "nan");
  EXPECT_EQ(text(HLO_F4E2M1FN, StringRef("\x07", 1)), "6");
  float complex[2] = {0.5f, -2};
  EXPECT_EQ(formatElement(HLO_C64, reinterpret_cast<char *>(complex)), "0.5-2j");
}

TEST(Print, LikeNumpy) {
  auto print = [](const Leaf &leaf, const void *data) {
    std::string out;
    raw_string_ostream os(out);
    printLeaf(os, leaf.desc, static_cast<const char *>(data), 2);
    return out;
  };
  int32_t small[6] = {1, -20, 3, 4, 5, 6};
  EXPECT_EQ(print(Leaf(HLO_S32, {2, 3}), small), "  [[  1 -20   3]\n   [  4   5   6]]\n");
  EXPECT_EQ(print(Leaf(HLO_S32, {2, 3}, {0, 1}), small), "  [[  1   3   5]\n   [-20   4   6]]\n");
  EXPECT_EQ(print(Leaf(HLO_S32, {}), small), "  1\n");
  EXPECT_EQ(print(Leaf(HLO_S32, {0}), small), "  []\n");
  EXPECT_EQ(print(Leaf(HLO_S32, {1000000, 1000000, 0}), small), "  []\n");
  std::vector<int8_t> big(100, 7);
  EXPECT_EQ(print(Leaf(HLO_S8, {100}), big.data()), "  [7 7 7 ... 7 7 7]\n");
  EXPECT_EQ(formatBytes(1), "1 byte");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
}
} // namespace

TEST(MemoryTest, NoticesWritesPastItsEnd) {
  for (uint64_t bytes :
       {uint64_t(0), uint64_t(1), uint64_t(64), uint64_t(100), uint64_t(5) << 20}) {
    Memory memory(bytes);
    ASSERT_TRUE(memory);
    std::memset(memory.data(), 1, bytes);
    EXPECT_TRUE(memory.isIntact());
    memory.data()[bytes + 2] = 0;
    EXPECT_FALSE(memory.isIntact());
  }
}

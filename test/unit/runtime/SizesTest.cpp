//===- SizesTest.cpp - The sizes of a call --------------------------------===//
//
// hlo_input_dims and hlo_output_dims, which read hlo_buffer_desc.sizes; and the version of a
// program that its sizes choose, with what it needs of the arena.
//
//===----------------------------------------------------------------------===//
#include "FakeModule.h"
#include <gtest/gtest.h>
#include <vector>

namespace {

/// Inputs x[b, s], y of a text, sizes b <= 40 and s <= 33; an output of a text.
struct SizedModule : FakeModule {
  int64_t bounds[2] = {40, 33}, most[1] = {1000};
  hlo_buffer_desc sized[4] = {array("[b, s]", bounds, 2), array("[b]", most, 1), size(0), size(1)};
  hlo_buffer_desc result = array("[b]", most, 1);
  int64_t b = 7, s = 3;
  const void *pointers[4] = {in0, in1, &b, &s};

  SizedModule() {
    desc.inputs = sized;
    desc.outputs = &result;
    desc.num_inputs = 4;
  }
  static hlo_buffer_desc array(const char *text, const int64_t *dims, int32_t rank) {
    hlo_buffer_desc d = {};
    d.name = "x";
    d.dims = dims;
    d.bytes = 16;
    d.type = HLO_F32;
    d.rank = rank;
    d.align = 4;
    d.alias = -1;
    d.size_dim = HLO_DENSE;
    d.sizes = text;
    return d;
  }
  static hlo_buffer_desc size(int32_t dim) {
    hlo_buffer_desc d = {};
    d.name = dim ? "s" : "b";
    d.bytes = 8;
    d.type = HLO_S64;
    d.align = 8;
    d.alias = -1;
    d.size_of = 1;
    d.size_dim = dim;
    return d;
  }
  /// The dimension that the program has as `text`; -1 if it is not known.
  int64_t evaluate(const char *text) {
    const int64_t sizes[] = {b, s};
    int64_t dims[1] = {-1};
    result.sizes = text;
    int known = hlo_output_dims(&desc, 0, sizes, dims);
    return known ? dims[0] : -1;
  }
};

TEST(Sizes, TextsAreEvaluated) {
  SizedModule m;
  EXPECT_EQ(m.evaluate("[b]"), 7);
  EXPECT_EQ(m.evaluate("[16]"), 16);
  EXPECT_EQ(m.evaluate("[2*b + 1]"), 15);
  EXPECT_EQ(m.evaluate("[2*b*s - s + 4]"), 43);
  EXPECT_EQ(m.evaluate("[-s + b]"), 4);
  EXPECT_EQ(m.evaluate("[floordiv(b, 2) + mod(b, 4)]"), 6);
  EXPECT_EQ(m.evaluate("[floordiv(-b, 2) + 100]"), 96);
  EXPECT_EQ(m.evaluate("[mod(-b, 4)]"), 1);
  EXPECT_EQ(m.evaluate("[max(b, 2*s) + min(b, s)]"), 10);
  EXPECT_EQ(m.evaluate("[floordiv(max(b, s), min(b, s))]"), 2);
  // Limited to what the array can be.
  EXPECT_EQ(m.evaluate("[s - b]"), 0);
  EXPECT_EQ(m.evaluate("[1000*b]"), 1000);
}

TEST(Sizes, MalformedTextsAreUnknown) {
  SizedModule m;
  std::string deep = "[";
  for (int i = 0; i < 100000; ++i) {
    deep += "max(b, ";
  }
  for (const char *text :
       {"[c]", "[]", "b]", "", "[b +]", "[b b]", "[*b]", "[max(b)]", "[max(b, s]", "[mod(b, 0)]",
        "[99999999999999999999]", "[9223372036854775807*b]", "[floordiv(b, s - b)]", "[bb]", "[]]",
        deep.c_str()}) {
    EXPECT_EQ(m.evaluate(text), -1) << std::string(text).substr(0, 40);
  }
}

TEST(Sizes, InputsAndOutputs) {
  SizedModule m;
  const int64_t sizes[] = {50, -2}; // beyond the bounds
  int64_t dims[2];
  hlo_input_dims(&m.desc, 0, sizes, dims);
  EXPECT_EQ(dims[0], 40);
  EXPECT_EQ(dims[1], 0);
  EXPECT_EQ(hlo_num_sizes(&m.desc), 2u);
  // Without names, the size leaves of an input say it; those of an output only after the call.
  m.sized[0].sizes = nullptr;
  const int64_t inside[] = {5, 6};
  hlo_input_dims(&m.desc, 0, inside, dims);
  EXPECT_EQ(dims[0], 5);
  EXPECT_EQ(dims[1], 6);
  hlo_buffer_desc outputs[2] = {m.result, SizedModule::size(0)};
  outputs[0].sizes = nullptr;
  m.desc.outputs = outputs;
  EXPECT_EQ(hlo_output_dims(&m.desc, 0, inside, dims), 1);
  m.desc.num_outputs = 2;
  EXPECT_EQ(hlo_output_dims(&m.desc, 0, inside, dims), 0);
  EXPECT_EQ(dims[0], 1000);
}

/// Versions: b = 7 and s = 3; b = 8 with s up to 10 or more; else b up to 1, 20 or more and s up to
/// 10 or more.
struct VersionedModule : SizedModule {
  std::vector<int64_t> choices = {2, 2, 7, 3, 3, 0,                          // 0
                                  1, 2, 8, 1, 1, 3, 2, 1,  10,               // 1, 2
                                  0, 2, 1, 2, 3, 2, 1, 20, 1,  3, 2, 1, 10}; // 3 to 8
  std::vector<uint64_t> arena = {64, 128, 192, 256, 320, 384, 448, 512, 576};
  std::vector<uint64_t> thread = {0, 64, 64, 0, 0, 0, 0, 64, 64};
  hlo_size_versions versions = {
      sizeof(hlo_size_versions), 9, arena.data(), thread.data(), choices.data(), 3, 0};
  VersionedModule() {
    desc.arena_bytes = 576;
    desc.thread_arena_bytes = 64;
    desc.size_versions = &versions;
  }
  uint64_t need(int64_t rows, int64_t columns, uint32_t threads = 1) {
    const int64_t sizes[] = {rows, columns};
    return hlo_sized_arena_bytes(&desc, threads, sizes);
  }
};

TEST(Sizes, VersionsAndTheirArenas) {
  VersionedModule m;
  EXPECT_EQ(m.need(7, 3), 64u);
  EXPECT_EQ(m.need(8, 3), 128u);
  EXPECT_EQ(m.need(8, 11), 192u);
  EXPECT_EQ(m.need(7, 4), 384u);
  EXPECT_EQ(m.need(0, 0), 256u);
  EXPECT_EQ(m.need(1, 33), 320u);
  EXPECT_EQ(m.need(20, 10), 384u);
  EXPECT_EQ(m.need(21, 10), 512u);
  EXPECT_EQ(m.need(40, 33), 576u);
  EXPECT_EQ(m.need(8, 3, 4), 128u + 3 * 64);
  EXPECT_EQ(m.need(7, 3, 4), 64u);
  EXPECT_EQ(hlo_arena_bytes(&m.desc, 1), 576u);
  // Sizes that differ choose the last version of their class.
  m.choices = {0, 1, 2, 2, 3, 3, 1, 5};
  m.versions.num_choices = 1;
  EXPECT_EQ(m.need(5, 5), 64u);
  EXPECT_EQ(m.need(6, 6), 128u);
  EXPECT_EQ(m.need(5, 6), 192u);
}

TEST(Sizes, ACallNeedsTheArenaOfItsVersion) {
  VersionedModule m;
  m.ins[0] = m.pointers[0];
  m.call.arena_bytes = 128;
  m.s = 3;
  m.b = 8;
  auto run = [&] {
    hlo_status status = hlo_rt_begin(&m.call, &m.desc, m.pointers, m.outs, &m.frame);
    return status ? status : hlo_rt_end(&m.frame, HLO_OK);
  };
  EXPECT_EQ(run(), HLO_OK) << m.message;
  m.call.arena_bytes = 127;
  EXPECT_EQ(run(), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 128 bytes (align 64), given 127");
  m.b = 7;
  EXPECT_EQ(run(), HLO_OK) << m.message;
  // Enough for some sizes.
  EXPECT_EQ(hlo_check(&m.desc, &m.call, m.message, sizeof(m.message)), HLO_OK) << m.message;
  m.call.arena_bytes = 63;
  EXPECT_EQ(hlo_check(&m.desc, &m.call, m.message, sizeof(m.message)), HLO_ERR_ARENA);
  m.b = 41;
  EXPECT_EQ(run(), HLO_ERR_SIZE);
}

} // namespace

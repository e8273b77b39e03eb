//===- PreparedTest.cpp - Prepared blocks, and calls that misuse them -----===//
#include "FakeModule.h"
#include <cstring>
#include <gtest/gtest.h>

namespace {
/// A module whose second input is immutable and read only by prepare.
struct PreparedModule : FakeModule {
  uint8_t use[2] = {HLO_READ_BY_RUN, HLO_IMMUTABLE | HLO_READ_BY_PREPARE};
  alignas(64) char block[192] = {};

  PreparedModule() {
    desc.prepared_bytes = 128;
    desc.prepare_arena_bytes = 64;
    desc.prepared_id = 0x1234;
    desc.input_use = use;
    call.prepared = block;
    call.prepared_bytes = 128;
  }
  hlo_status prepareBegin(void *where, size_t bytes) {
    return hlo_rt_prepare_begin(&call, &desc, ins, where, bytes, &frame);
  }
  hlo_status prepare() {
    hlo_status status = prepareBegin(block, 128);
    return status ? status : hlo_rt_prepare_end(&frame, HLO_OK);
  }
};
} // namespace

TEST(Prepared, RunsOnceItIsPrepared) {
  PreparedModule m;
  ASSERT_EQ(m.prepareBegin(m.block, 128), HLO_OK);
  EXPECT_EQ(m.frame.prepared, m.block);
  EXPECT_EQ(m.frame.arena, m.arena);
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED) << "not finished";
  EXPECT_NE(std::strstr(m.message, "it is not finished"), nullptr) << m.message;
  ASSERT_EQ(hlo_rt_prepare_end(&m.frame, HLO_OK), HLO_OK);
  ASSERT_EQ(m.begin(), HLO_OK);
  EXPECT_EQ(m.frame.prepared, m.block);
  EXPECT_EQ(hlo_rt_end(&m.frame, HLO_OK), HLO_OK);
}

TEST(Prepared, EachSideNeedsOnlyTheInputsThatItReads) {
  PreparedModule m;
  m.ins[0] = nullptr;
  ASSERT_EQ(m.prepare(), HLO_OK) << m.message;
  EXPECT_EQ(m.beginAndEnd(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: input 0 (lhs) is null, it needs 16 bytes");
  m.ins[0] = m.in0;
  m.ins[1] = nullptr;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
  EXPECT_EQ(m.prepare(), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake: input 1 (rhs) is null, it needs 16 bytes");
}

TEST(Prepared, ABlockIsRefusedUnlessItIsThisModules) {
  PreparedModule m;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  EXPECT_STREQ(m.message,
               "fake: prepared block: it has not been written; call fake_prepare, then set "
               "hlo_call.prepared and prepared_bytes");
  m.call.prepared = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  EXPECT_NE(std::strstr(m.message, "none was given"), nullptr) << m.message;
  m.call.prepared = m.block;
  ASSERT_EQ(m.prepare(), HLO_OK);
  m.call.prepared_bytes = 127;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  EXPECT_NE(std::strstr(m.message, "needs 128 bytes (align 64), given 127"), nullptr) << m.message;
  m.call.prepared_bytes = 128;
  m.call.prepared = m.block + 4;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  m.call.prepared = m.block;
  m.desc.prepared_id = 0x1235;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  EXPECT_NE(std::strstr(m.message, "that of another module"), nullptr) << m.message;
  m.desc.prepared_id = 0x1234;
  auto *header = reinterpret_cast<hlo_prepared_header *>(m.block);
  header->abi = 9;
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  EXPECT_STREQ(m.message, "fake: prepared block: it has abi 9, this runtime expects abi 2");
  header->abi = HLO_ABI;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
  // A copy at another address is valid too.
  alignas(64) char copy[128];
  std::memcpy(copy, m.block, sizeof(copy));
  m.call.prepared = copy;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
}

TEST(Prepared, AFailedPreparationLeavesNoBlock) {
  PreparedModule m;
  ASSERT_EQ(m.prepare(), HLO_OK);
  ASSERT_EQ(m.prepareBegin(m.block, 128), HLO_OK);
  EXPECT_EQ(hlo_rt_prepare_end(&m.frame, HLO_CANCELLED), HLO_CANCELLED);
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
}

TEST(Prepared, PreparingChecksItsBlockAndItsArena) {
  PreparedModule m;
  EXPECT_EQ(m.prepareBegin(nullptr, 128), HLO_ERR_NULL);
  EXPECT_STREQ(m.message, "fake_prepare: the block needs 128 bytes (align 64), given none");
  EXPECT_EQ(m.prepareBegin(m.block, 100), HLO_ERR_PREPARED);
  EXPECT_EQ(m.prepareBegin(m.block + 32, 128), HLO_ERR_ALIGN);
  m.call.arena_bytes = 32;
  EXPECT_EQ(m.prepareBegin(m.block, 128), HLO_ERR_ARENA);
  EXPECT_STREQ(m.message, "fake: arena: needs 64 bytes (align 64), given 32");
  m.call.struct_size = 4;
  EXPECT_EQ(m.prepareBegin(m.block, 128), HLO_ERR_STRUCT);
}

TEST(Prepared, OlderCallsHaveNoBlock) {
  PreparedModule m;
  ASSERT_EQ(m.prepare(), HLO_OK);
  m.call.struct_size = offsetof(hlo_call, prepared);
  EXPECT_EQ(m.begin(), HLO_ERR_PREPARED);
  // Modules without a prepared block need none.
  m.desc.prepared_bytes = 0;
  EXPECT_EQ(m.beginAndEnd(), HLO_OK) << m.message;
}

TEST(Prepared, CheckSaysThatTheBlockIsMissing) {
  PreparedModule m;
  m.call.arena = nullptr;
  char text[512];
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_PREPARED);
  EXPECT_NE(std::strstr(text, "has not been written"), nullptr) << text;
  EXPECT_NE(std::strstr(text, "; fake: arena: needs 256 bytes"), nullptr) << text;
}

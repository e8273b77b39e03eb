//===- FeedTest.cpp - Infeed, outfeed and the queue ------------------------===//
//
// hlo_rt_feed with sites made by hand, and hlo/feed.h: order, back-pressure, mismatches
// that change nothing, closing, deadlines, cancellation.
//
//===----------------------------------------------------------------------===//
#include "FakeModule.h"
#include <gtest/gtest.h>
#include <hlo/feed.h>
#include <hlo/sites.h>
#include <thread>
#include <time.h>

namespace {
int64_t afterMilliseconds(int64_t ms) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + ms * 1000000;
}

struct Queue {
  explicit Queue(uint32_t capacity) : queue(hlo_feed_queue_create(capacity)) {}
  ~Queue() { hlo_feed_queue_destroy(queue); }
  hlo_status push(float value, int64_t deadline = 0) {
    float data[4] = {value, value, value, value};
    const void *leaves[] = {data};
    uint64_t bytes[] = {sizeof(data)};
    return hlo_feed_queue_push(queue, leaves, bytes, 1, deadline);
  }
  hlo_status pop(float &value, int64_t deadline = 0) {
    float data[4];
    void *leaves[] = {data};
    uint64_t bytes[] = {sizeof(data)};
    hlo_status status = hlo_feed_queue_pop(queue, leaves, bytes, 1, deadline);
    value = status ? -1 : data[3];
    return status;
  }
  hlo_feed_queue *queue;
};

/// A module with one infeed of f32[4], or another feed.
struct FeedModule : FakeModule {
  uint64_t bytes[2] = {16, 16};
  hlo_feed_site site = {};
  explicit FeedModule(int kind) {
    static const char *const opcodes[] = {"infeed", "outfeed", "send", "recv"};
    site.op.struct_size = sizeof(site);
    site.op.opcode = opcodes[kind];
    site.op.name = "feed.7";
    site.op.buffers = inputs;
    site.config = "";
    site.bytes = bytes;
    site.channel = kind >= HLO_SITE_SEND ? 5 : 0;
    site.kind = kind;
    site.count = 1;
    const uint32_t needs[] = {HLO_NEEDS_INFEED, HLO_NEEDS_OUTFEED, HLO_NEEDS_HOST_SEND,
                              HLO_NEEDS_HOST_RECV};
    desc.needs = needs[kind];
  }
  hlo_status run() {
    hlo_status status = begin();
    void *leaves[] = {in0};
    return status ? status : hlo_rt_end(&frame, hlo_rt_feed(&frame, &site, leaves));
  }
};

TEST(Feed, QueuesKeepTheOrder) {
  Queue q(3);
  float value;
  for (float x : {1.0f, 2.0f, 3.0f}) {
    EXPECT_EQ(q.push(x), HLO_OK);
  }
  EXPECT_EQ(hlo_feed_queue_size(q.queue), 3u);
  EXPECT_EQ(q.push(4, afterMilliseconds(10)), HLO_DEADLINE) << "a full queue holds the writer back";
  for (float x : {1.0f, 2.0f, 3.0f}) {
    EXPECT_EQ(q.pop(value), HLO_OK);
    EXPECT_EQ(value, x);
  }
  EXPECT_EQ(q.pop(value, afterMilliseconds(10)), HLO_DEADLINE);
}

TEST(Feed, ClosingLetsReadersDrainAndTurnsWritersAway) {
  Queue q(4);
  float value;
  EXPECT_EQ(q.push(1), HLO_OK);
  hlo_feed_queue_close(q.queue);
  EXPECT_EQ(q.push(2), HLO_UNAVAILABLE);
  EXPECT_EQ(q.pop(value), HLO_OK);
  EXPECT_EQ(q.pop(value), HLO_OUT_OF_RANGE);
}

TEST(Feed, ManyItemsThroughASmallQueue) {
  Queue q(2);
  std::thread writer([&] {
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(q.push(static_cast<float>(i)), HLO_OK);
    }
    hlo_feed_queue_close(q.queue);
  });
  float value;
  int count = 0;
  while (q.pop(value) == HLO_OK) {
    EXPECT_EQ(value, static_cast<float>(count++));
  }
  writer.join();
  EXPECT_EQ(count, 2000);
}

TEST(Feed, ModuleReadsAndWritesQueues) {
  Queue q(4);
  EXPECT_EQ(q.push(9), HLO_OK);
  FeedModule in(HLO_SITE_INFEED);
  in.call.infeed = hlo_feed_queue_source(q.queue);
  EXPECT_EQ(in.run(), HLO_OK) << in.message;
  EXPECT_EQ(in.in0[3], 9);
  FeedModule out(HLO_SITE_OUTFEED);
  out.call.outfeed = hlo_feed_queue_sink(q.queue);
  EXPECT_EQ(out.run(), HLO_OK) << out.message;
  float value;
  EXPECT_EQ(q.pop(value), HLO_OK);
  EXPECT_EQ(value, 4);
}

TEST(Feed, MismatchesAreErrorsAndChangeNothing) {
  Queue q(4);
  EXPECT_EQ(q.push(9), HLO_OK);
  FeedModule m(HLO_SITE_INFEED);
  m.call.infeed = hlo_feed_queue_source(q.queue);
  m.bytes[0] = 12;
  EXPECT_EQ(m.run(), HLO_INVALID_ARGUMENT);
  EXPECT_STREQ(m.message, "fake: infeed feed.7: array 0 of the item has 16 bytes, expected 12");
  EXPECT_EQ(m.in0[0], 1) << "nothing was written";
  m.bytes[0] = 16;
  m.site.count = 2;
  EXPECT_EQ(m.run(), HLO_INVALID_ARGUMENT);
  EXPECT_STREQ(m.message, "fake: infeed feed.7: the item has 1 arrays, expected 2");
  m.site.count = 1;
  EXPECT_EQ(m.run(), HLO_OK) << "the item is still there: " << m.message;
}

TEST(Feed, MissingFeedsAreNamedBeforeAnythingRuns) {
  for (int kind : {HLO_SITE_INFEED, HLO_SITE_OUTFEED, HLO_SITE_SEND, HLO_SITE_RECV}) {
    FeedModule m(kind);
    const char *const expected[] = {"fake: hlo_call has no infeed", "fake: hlo_call has no outfeed",
                                    "fake: hlo_call has no host_send",
                                    "fake: hlo_call has no host_recv"};
    EXPECT_EQ(m.run(), HLO_ERR_MISSING);
    EXPECT_STREQ(m.message, expected[kind]);
  }
}

TEST(Feed, EmptyTupleMovesNothing) {
  FeedModule m(HLO_SITE_INFEED);
  hlo_feed feed = {};
  feed.struct_size = sizeof(feed);
  m.call.infeed = &feed;
  m.site.count = 0;
  EXPECT_EQ(m.run(), HLO_OK);
}

TEST(Feed, PlainCallbacksGetChannelsAsText) {
  FeedModule m(HLO_SITE_SEND);
  std::string config;
  hlo_feed feed = {};
  feed.struct_size = sizeof(feed);
  feed.user = &config;
  feed.move = [](void *user, const char *text, void *const *, const uint64_t *, int32_t) {
    *static_cast<std::string *>(user) = text;
    return static_cast<hlo_status>(HLO_ABORTED);
  };
  m.call.host_send = &feed;
  EXPECT_EQ(m.run(), HLO_ABORTED);
  EXPECT_STREQ(m.message, "fake: send feed.7: the caller's feed failed with HLO_ABORTED");
  EXPECT_EQ(config, "5");
}

TEST(Feed, WaitingEndsWithDeadlineCancellationAndTimeout) {
  Queue q(1);
  FeedModule m(HLO_SITE_INFEED);
  m.call.infeed = hlo_feed_queue_source(q.queue);
  m.call.deadline_ns = afterMilliseconds(20);
  EXPECT_EQ(m.run(), HLO_DEADLINE);
  m.call.deadline_ns = 0;
  int32_t cancel = 0;
  m.call.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
  });
  EXPECT_EQ(m.run(), HLO_CANCELLED);
  canceller.join();
  EXPECT_STREQ(m.message, "fake: infeed feed.7: cancelled while the queue was empty");
  m.call.cancel = nullptr;
  hlo_feed_queue_set_timeout(q.queue, 10000000);
  EXPECT_EQ(m.run(), HLO_DEADLINE);
  EXPECT_STREQ(m.message, "fake: infeed feed.7: the queue stayed empty for too long");
  EXPECT_EQ(q.push(3), HLO_OK);
  EXPECT_EQ(m.run(), HLO_OK) << "the next call works";
}

TEST(Feed, NoTimeoutIsTooLong) {
  for (int64_t timeout : {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2}) {
    Queue q(1);
    FeedModule m(HLO_SITE_INFEED);
    m.call.infeed = hlo_feed_queue_source(q.queue);
    hlo_feed_queue_set_timeout(q.queue, timeout);
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(q.push(3, timeout), HLO_OK);
    });
    EXPECT_EQ(m.run(), HLO_OK) << m.message;
    writer.join();
    // A deadline in the past, however far.
    float value;
    EXPECT_EQ(q.pop(value, INT64_MIN), HLO_DEADLINE);
    EXPECT_EQ(q.pop(value, -1), HLO_DEADLINE);
    // A time-out that means none.
    hlo_feed_queue_set_timeout(q.queue, INT64_MIN);
    EXPECT_EQ(q.push(4), HLO_OK);
    EXPECT_EQ(m.run(), HLO_OK);
  }
}

TEST(Feed, SizesThatNoMemoryHas) {
  Queue q(1);
  const void *leaves[2] = {nullptr, nullptr};
  for (uint64_t size : {UINT64_MAX, UINT64_MAX - 40, UINT64_MAX / 2, UINT64_C(1) << 63}) {
    const uint64_t bytes[2] = {size, size};
    EXPECT_EQ(hlo_feed_queue_push(q.queue, leaves, bytes, 1, 0), HLO_RESOURCE_EXHAUSTED);
    EXPECT_EQ(hlo_feed_queue_push(q.queue, leaves, bytes, 2, 0), HLO_RESOURCE_EXHAUSTED);
  }
  for (int32_t count : {-1, INT32_MIN}) {
    EXPECT_EQ(hlo_feed_queue_push(q.queue, leaves, nullptr, count, 0), HLO_INVALID_ARGUMENT);
  }
  EXPECT_EQ(hlo_feed_queue_size(q.queue), 0u);
  // Either none, or one that works and uses no more memory than it needs.
  Queue large(UINT32_MAX);
  if (large.queue != nullptr) {
    float value;
    EXPECT_EQ(large.push(5), HLO_OK);
    EXPECT_EQ(large.pop(value), HLO_OK);
    EXPECT_EQ(value, 5);
  }
}
} // namespace

//===- CustomCallTest.cpp - Calling handlers of custom calls --------------===//
//
// hlo_rt_custom_call with sites made by hand: each api version, tuples and tokens, the order of the
// two tables, errors and their texts, and the services for typed handlers.
//
//===----------------------------------------------------------------------===//
#include "FakeModule.h"
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <hlo/sites.h>
#include <pthread.h>
#include <thread>
#include <vector>
#include <xmmintrin.h>

extern "C" {
#include "runtime/customcall/ffi_abi.h"
#include "runtime/customcall/status.h"
}

namespace {
using Function = void (*)();

/// A module that calls one target with two operands f32[4] and `results` of them.
struct CallModule : FakeModule {
  std::vector<hlo_buffer_desc> buffers;
  hlo_call_site site = {};
  hlo_custom_call target = {};
  hlo_custom_call targets[2] = {};
  const char *names[2] = {"f", nullptr};
  hlo_custom_calls table = {sizeof(hlo_custom_calls), 1, sizeof(target), 0, &target};
  float second[4] = {};

  CallModule(int32_t api, Function fn, int results = 1) {
    buffers.assign(2 + results, inputs[0]);
    site.op.struct_size = sizeof(site);
    site.op.num_operands = 2;
    site.op.num_results = results;
    site.op.opcode = "custom-call";
    site.op.name = "call.1";
    site.op.buffers = buffers.data();
    site.op.buffer_stride = sizeof(hlo_buffer_desc);
    site.target = "f";
    site.opaque = "";
    site.api = api;
    site.flags = results > 1 ? HLO_SITE_TUPLE : 0;
    target.name = "f";
    target.api = api;
    target.fn = fn;
    targets[0].name = "f";
    targets[0].api = api;
    desc.custom_calls = names;
    desc.custom_call_targets = targets;
    desc.custom_call_stride = sizeof(hlo_custom_call);
    call.custom_calls = &table;
  }

  /// begin, one call, end.
  hlo_status run() {
    hlo_status status = begin();
    if (status) {
      return status;
    }
    std::vector<void *> pointers{in0, in1, out0, second};
    return hlo_rt_end(&frame, hlo_rt_custom_call(&frame, &site, pointers.data()));
  }
};

void addOriginal(void *out, const void **in) {
  for (int i = 0; i < 4; ++i) {
    static_cast<float *>(out)[i] =
        static_cast<const float *>(in[0])[i] + static_cast<const float *>(in[1])[i];
  }
}

TEST(CustomCall, OriginalGetsTheBuffer) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(addOriginal));
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(m.out0[3], 12);
}

void splitOriginal(void *out, const void **in) {
  void **leaves = static_cast<void **>(out);
  std::memcpy(leaves[0], in[1], 16);
  std::memcpy(leaves[1], in[0], 16);
}

TEST(CustomCall, TupleResultIsAnArrayOfPointers) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(splitOriginal), 2);
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(m.out0[0], 5);
  EXPECT_EQ(m.second[0], 1);
}

void failing(void *, const void **, XlaCustomCallStatus *status) {
  XlaCustomCallStatusSetFailure(status, "not today, thanks", 9);
}
void recovering(void *, const void **, XlaCustomCallStatus *status) {
  XlaCustomCallStatusSetFailure(status, "never mind", 10);
  XlaCustomCallStatusSetSuccess(status);
}

TEST(CustomCall, FailureReachesTheMessageAndTheNextCallWorks) {
  CallModule m(HLO_API_STATUS_RETURNING, reinterpret_cast<Function>(failing));
  EXPECT_EQ(m.run(), HLO_INTERNAL);
  EXPECT_STREQ(m.message, "fake: custom call call.1 (f): not today");
  m.target.fn = reinterpret_cast<Function>(recovering);
  EXPECT_EQ(m.run(), HLO_OK);
}

void longMessage(void *, const void **, XlaCustomCallStatus *status) {
  std::string text(5000, 'x');
  XlaCustomCallStatusSetFailure(status, text.data(), text.size());
}

TEST(CustomCall, LongMessageIsCut) {
  CallModule m(HLO_API_STATUS_RETURNING, reinterpret_cast<Function>(longMessage));
  EXPECT_EQ(m.run(), HLO_INTERNAL);
  EXPECT_EQ(std::strlen(m.message), sizeof(m.message) - 1);
}

void countOpaque(void *out, const void **, const char *opaque, size_t size, XlaCustomCallStatus *) {
  static_cast<float *>(out)[0] = static_cast<float>(size) + static_cast<float>(opaque[2]);
}

TEST(CustomCall, UnifiedGetsTheOpaqueText) {
  CallModule m(HLO_API_STATUS_RETURNING_UNIFIED, reinterpret_cast<Function>(countOpaque));
  m.site.opaque = "a\0\1b";
  m.site.opaque_bytes = 4;
  EXPECT_EQ(m.run(), HLO_OK);
  EXPECT_EQ(m.out0[0], 5);
}

TEST(CustomCall, MissingAndMismatchedTargetsAreNamedBeforeAnythingRuns) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(addOriginal));
  m.call.custom_calls = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(m.message, "fake: no custom call target named f");
  m.call.custom_calls = &m.table;
  m.target.api = HLO_API_TYPED_FFI;
  EXPECT_EQ(m.begin(), HLO_ERR_MISSING);
  EXPECT_STREQ(m.message, "fake: another api version is called of target f");
}

void writeSeven(void *out, const void **) { *static_cast<float *>(out) = 7; }

TEST(CustomCall, TheTableComesBeforeTheLinkedSymbol) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(addOriginal));
  m.site.symbol = m.targets[0].fn = reinterpret_cast<Function>(writeSeven);
  EXPECT_EQ(m.run(), HLO_OK);
  EXPECT_EQ(m.out0[0], 6);
  m.call.custom_calls = nullptr;
  EXPECT_EQ(m.run(), HLO_OK);
  EXPECT_EQ(m.out0[0], 7);
}

void spoilMxcsr(void *out, const void **) {
  *static_cast<float *>(out) = static_cast<float>(_mm_getcsr() & 0x6000);
  _mm_setcsr(0x1f80 | 0x6000);
}

TEST(CustomCall, HandlersRunUnderTheCallersControlWord) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(spoilMxcsr));
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x2000);
  EXPECT_EQ(m.run(), HLO_OK);
  EXPECT_EQ(_mm_getcsr(), before | 0x2000);
  _mm_setcsr(before);
  EXPECT_EQ(m.out0[0], 0x2000);
}

ffi_error *makeError(ffi_frame *frame, int code, const char *message) {
  ffi_error_args args = {sizeof(args), nullptr, message, code};
  return frame->api->error_create(&args);
}

/// The reply of handlers built from XLA's headers.
bool answers(ffi_frame *frame, int major, int minor) {
  if (!frame->extensions) {
    return false;
  }
  auto *extension = reinterpret_cast<ffi_metadata_extension *>(frame->extensions);
  extension->metadata->version.major = major;
  extension->metadata->version.minor = minor;
  return true;
}

ffi_error *typed(ffi_frame *frame) {
  if (answers(frame, 0, 2)) {
    return nullptr;
  }
  auto &in = *static_cast<ffi_buffer *>(frame->operands.values[0]);
  auto &out = *static_cast<ffi_buffer *>(frame->results.values[0]);
  constexpr int f32 = 11;
  if (frame->struct_size != 168 || in.type != f32 || in.rank != 1 || in.dims[0] != 4 ||
      frame->stage != FFI_STAGE_EXECUTE || frame->operands.size != 2 || frame->results.size != 1) {
    return makeError(frame, HLO_INVALID_ARGUMENT, "the frame is wrong");
  }
  std::memcpy(out.data, in.data, 16);
  return nullptr;
}

TEST(CustomCall, TypedHandlersGetBuffers) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typed));
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(m.out0[2], 3);
}

template <int major, int minor> ffi_error *typedOf(ffi_frame *frame) {
  return answers(frame, major, minor), nullptr;
}

TEST(CustomCall, VersionsOfTypedHandlersAreChecked) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typed));
  char text[256];
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_OK) << text;
  for (ffi_handler *known : {typedOf<0, 1>, typedOf<0, 3>, typedOf<0, 4>}) {
    m.target.fn = reinterpret_cast<Function>(known);
    EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_OK) << text;
  }
  for (ffi_handler *unknown : {typedOf<0, 5>, typedOf<1, 1>}) {
    m.target.fn = reinterpret_cast<Function>(unknown);
    EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_MISSING);
  }
  m.target.fn = reinterpret_cast<Function>(typedOf<0, 9>);
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_MISSING);
  EXPECT_STREQ(text, "fake: custom call target f is for version 0.9 of the typed FFI, this runtime "
                     "has 0.1 to 0.4");
}

ffi_error *typedFailing(ffi_frame *frame) { return makeError(frame, HLO_OUT_OF_RANGE, "too far"); }

TEST(CustomCall, TypedErrorsKeepCodeAndMessage) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typedFailing));
  EXPECT_EQ(m.run(), HLO_OUT_OF_RANGE);
  EXPECT_STREQ(m.message, "fake: custom call call.1 (f): too far");
}

ffi_error *typedTokens(ffi_frame *frame) {
  auto &token = *static_cast<ffi_buffer *>(frame->operands.values[0]);
  auto &array = *static_cast<ffi_buffer *>(frame->operands.values[1]);
  auto &out = *static_cast<ffi_buffer *>(frame->results.values[0]);
  constexpr int tokenType = 17;
  if (token.type != tokenType || token.data || token.rank != 0) {
    return makeError(frame, HLO_INVALID_ARGUMENT, "no token");
  }
  std::memcpy(out.data, array.data, 16);
  return nullptr;
}

TEST(CustomCall, TokensHavePlacesButNoBuffers) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typedTokens));
  m.buffers[0] = {};
  m.buffers[0].type = HLO_SITE_TOKEN;
  ASSERT_EQ(m.begin(), HLO_OK);
  void *pointers[] = {m.in1, m.out0};
  EXPECT_EQ(hlo_rt_end(&m.frame, hlo_rt_custom_call(&m.frame, &m.site, pointers)), HLO_OK)
      << m.message;
  EXPECT_EQ(m.out0[0], 5);
}

void onSmallStack(const std::function<void()> &body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void *body) -> void * {
                  (*static_cast<const std::function<void()> *>(body))();
                  return nullptr;
                },
                const_cast<std::function<void()> *>(&body)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

int liveBlocks = 0;
const hlo_allocator counting = {sizeof(hlo_allocator), 0, nullptr,
                                [](void *, size_t bytes, size_t align) -> void * {
                                  ++liveBlocks;
                                  return std::aligned_alloc(align,
                                                            (bytes + align - 1) / align * align);
                                },
                                [](void *, void *memory, size_t) {
                                  --liveBlocks;
                                  std::free(memory);
                                }};

/// Uses every service of the context.
ffi_error *typedServices(ffi_frame *frame) {
  const ffi_api &api = *frame->api;
  ffi_allocate_args memory = {sizeof(memory), nullptr, frame->context, 100, 64, nullptr};
  if (ffi_error *error = api.memory_allocate(&memory)) {
    return error;
  }
  std::memset(memory.data, 1, 100);
  ffi_free_args release = {sizeof(release), nullptr, frame->context, 100, memory.data};
  ffi_error *error = api.memory_free(&release);
  ffi_run_args run = {sizeof(run), nullptr, frame->context, 0};
  ffi_device_args device = {sizeof(device), nullptr, frame->context, 0};
  error = error ? error : api.run_id_get(&run);
  error = error ? error : api.device_get(&device);
  int64_t threads = 0;
  ffi_threads_args pool = {sizeof(pool), nullptr, frame->context, &threads};
  error = error ? error : api.pool_threads(&pool);
  float sum = static_cast<float>(run.run_id + device.device + threads);
  ffi_schedule_args schedule = {sizeof(schedule), nullptr, frame->context,
                                [](void *x) { *static_cast<float *>(x) += 1; }, &sum};
  error = error ? error : api.pool_schedule(&schedule);
  int64_t type = 0;
  ffi_type_args named = {sizeof(named), nullptr, {"my::State", 9}, &type, nullptr};
  error = error ? error : api.type_register(&named);
  ffi_state_args state = {sizeof(state),     nullptr, frame->context,
                          FFI_STAGE_EXECUTE, &type,   nullptr};
  error = error ? error : api.state_get(&state);
  if (!error) {
    auto &out = *static_cast<ffi_buffer *>(frame->results.values[0]);
    static_cast<float *>(out.data)[0] = sum + *static_cast<float *>(state.state);
  }
  return error;
}

TEST(CustomCall, TypedHandlersMayAskForServices) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typedServices));
  hlo_comm comm = {};
  comm.struct_size = sizeof(comm);
  comm.replica = 2;
  comm.partition = 1;
  comm.num_replicas = 3;
  comm.num_partitions = 2;
  float state = 1000;
  m.call.comm = &comm;
  m.call.alloc = &counting;
  m.call.run_id = 100;
  m.target.user = &state;
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(m.out0[0], 100 + 5 + 1 + 1 + 1000);
  EXPECT_EQ(liveBlocks, 0);
  m.call.alloc = nullptr;
  EXPECT_EQ(m.run(), HLO_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(m.message,
               "fake: custom call call.1 (f): the handler needs memory, hlo_call has no alloc");
}

/// Sums the first elements of all operands, and says whether every buffer is there.
ffi_error *typedSum(ffi_frame *frame) {
  float sum = 0;
  for (int64_t i = 0; i < frame->operands.size; ++i) {
    auto &in = *static_cast<ffi_buffer *>(frame->operands.values[i]);
    if (frame->operands.kinds[i] != FFI_KIND_BUFFER || in.rank != 1) {
      return makeError(frame, HLO_INVALID_ARGUMENT, "an operand is wrong");
    }
    sum += static_cast<float *>(in.data)[0];
  }
  *static_cast<float *>(static_cast<ffi_buffer *>(frame->results.values[0])->data) = sum;
  return nullptr;
}

void sumOriginal(void *out, const void **in) {
  for (int i = 0; i < 200000; ++i) {
    *static_cast<float *>(out) += *static_cast<const float *>(in[i]);
  }
}

TEST(CustomCall, AnyNumberOfOperands) {
  for (bool given : {false, true}) {
    for (uint32_t count : {62u, 63u, 64u, 65u, 200000u}) {
      for (bool isTyped : {true, false}) {
        if (!isTyped && count != 200000) {
          continue;
        }
        CallModule m(isTyped ? HLO_API_TYPED_FFI : HLO_API_ORIGINAL,
                     isTyped ? reinterpret_cast<Function>(typedSum)
                             : reinterpret_cast<Function>(sumOriginal));
        m.buffers.assign(count + 1, m.inputs[0]);
        m.site.op.buffers = m.buffers.data();
        m.site.op.num_operands = count;
        m.targets[0].api = HLO_API_ORIGINAL; // not asked for its version
        m.target.api = m.targets[0].api;
        m.call.alloc = given ? &counting : nullptr;
        std::vector<void *> pointers(count, m.in0);
        pointers.push_back(m.out0);
        ASSERT_EQ(m.begin(), HLO_OK) << m.message;
        m.target.api = m.site.api;
        // On a small stack, like those of callers' threads.
        hlo_status status = HLO_OK;
        onSmallStack([&] { status = hlo_rt_custom_call(&m.frame, &m.site, pointers.data()); });
        EXPECT_EQ(hlo_rt_end(&m.frame, status), HLO_OK) << m.message;
        EXPECT_EQ(m.out0[0], float(count));
        EXPECT_EQ(liveBlocks, 0);
      }
    }
  }
}

/// Calls `ask` in a handler; the call's message is the error.
template <typename Ask> ffi_error *asking(ffi_frame *frame, Ask ask) {
  return answers(frame, 0, 3) ? nullptr : ask(*frame->api, frame->context);
}

ffi_error *allocateOf(ffi_frame *frame, size_t size, size_t alignment) {
  return asking(frame, [&](const ffi_api &api, ffi_context *context) {
    ffi_allocate_args args = {sizeof(args), nullptr, context, size, alignment, frame};
    ffi_error *error = api.memory_allocate(&args);
    EXPECT_TRUE(error && args.data == nullptr);
    return error;
  });
}

TEST(CustomCall, StrangeWishesOfHandlersAreErrors) {
  struct {
    ffi_handler *handler;
    hlo_status status;
    const char *text;
  } cases[] = {
      {[](ffi_frame *f) { return allocateOf(f, 64, 3); }, HLO_INVALID_ARGUMENT,
       "the alignment of memory is not a power of two"},
      {[](ffi_frame *f) { return allocateOf(f, SIZE_MAX, 64); }, HLO_RESOURCE_EXHAUSTED,
       "more memory than there are addresses"},
      {[](ffi_frame *f) { return allocateOf(f, SIZE_MAX / 2, 64); }, HLO_RESOURCE_EXHAUSTED,
       "more memory than there are addresses"},
      {[](ffi_frame *f) { return allocateOf(f, 64, size_t(1) << 63); }, HLO_RESOURCE_EXHAUSTED,
       "more memory than there are addresses"},
      {[](ffi_frame *f) {
         return asking(f, [](const ffi_api &api, ffi_context *) {
           ffi_future_args args = {sizeof(args), nullptr, nullptr, nullptr};
           return api.future_available(&args);
         });
       },
       HLO_INVALID_ARGUMENT, "no future was given"},
      {[](ffi_frame *f) {
         return asking(f, [&](const ffi_api &api, ffi_context *) -> ffi_error * {
           ffi_future_args args = {sizeof(args), nullptr, nullptr, nullptr};
           if (ffi_error *error = api.future_create(&args)) {
             return error;
           }
           f->future = args.future;
           return api.future_error(&args);
         });
       },
       HLO_UNKNOWN, "failed without an error"},
      {[](ffi_frame *f) {
         return asking(f, [&](const ffi_api &api, ffi_context *) {
           ffi_message_args message = {sizeof(message), nullptr, nullptr, nullptr};
           api.error_message(&message);
           ffi_destroy_args destroy = {sizeof(destroy), nullptr, nullptr};
           api.error_destroy(&destroy);
           return makeError(f, -7, message.message);
         });
       },
       HLO_UNKNOWN, "failed without a message"},
  };
  for (const auto &one : cases) {
    CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(one.handler));
    m.call.alloc = &counting;
    EXPECT_EQ(m.run(), one.status) << one.text;
    EXPECT_EQ(m.message, std::string("fake: custom call call.1 (f): ") + one.text);
  }
}

/// Does not handle the version request, and uses every service at once.
ffi_error *typedUnaware(ffi_frame *frame) { return typedServices(frame); }
ffi_error *typedBackward(ffi_frame *frame) { return answers(frame, 0, -1), nullptr; }

TEST(CustomCall, AskingForTheVersionIsNoCall) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typedUnaware));
  m.call.alloc = &counting;
  EXPECT_EQ(m.begin(), HLO_OK) << "the version is asked for by hlo_check";
  char text[256];
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_MISSING);
  m.target.fn = reinterpret_cast<Function>(typedBackward);
  EXPECT_EQ(hlo_check(&m.desc, &m.call, text, sizeof(text)), HLO_ERR_MISSING);
}

TEST(CustomCall, ATableWithoutEntriesHasNone) {
  CallModule m(HLO_API_ORIGINAL, reinterpret_cast<Function>(addOriginal));
  m.table.entries = nullptr;
  EXPECT_EQ(m.begin(), HLO_ERR_MISSING);
}

/// Finishes on another thread, after it has returned.
ffi_error *typedLater(ffi_frame *frame) {
  ffi_future_args made = {};
  made.struct_size = 24;
  if (ffi_error *error = frame->api->future_create(&made)) {
    return error;
  }
  frame->future = made.future;
  auto *out = static_cast<float *>(static_cast<ffi_buffer *>(frame->results.values[0])->data);
  bool fails =
      static_cast<float *>(static_cast<ffi_buffer *>(frame->operands.values[0])->data)[0] < 0;
  std::thread([api = frame->api, future = made.future, out, fails] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    out[0] = 42;
    ffi_future_args args = {};
    args.struct_size = sizeof(args);
    args.future = future;
    if (!fails) {
      api->future_available(&args);
      return;
    }
    ffi_error_args error = {sizeof(error), nullptr, "failed later", HLO_ABORTED};
    args.error = api->error_create(&error);
    api->future_error(&args);
  }).detach();
  return nullptr;
}

TEST(CustomCall, FuturesAreWaitedFor) {
  CallModule m(HLO_API_TYPED_FFI, reinterpret_cast<Function>(typedLater));
  EXPECT_EQ(m.run(), HLO_OK) << m.message;
  EXPECT_EQ(m.out0[0], 42);
  m.in0[0] = -1;
  EXPECT_EQ(m.run(), HLO_ABORTED);
  EXPECT_STREQ(m.message, "fake: custom call call.1 (f): failed later");
}
} // namespace

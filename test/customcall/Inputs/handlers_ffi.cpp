//===- handlers_ffi.cpp - Custom call targets with XLA's headers ----------===//
//
// What a user of the typed FFI writes; see ffi.hlo.
//
//===----------------------------------------------------------------------===//
#include "xla/ffi/api/ffi.h"
#include <chrono>
#include <memory>
#include <thread>

namespace ffi = xla::ffi;

static ffi::Error scale(ffi::ScratchAllocator scratch, ffi::Buffer<ffi::F32> x,
                        ffi::ResultBuffer<ffi::F32> y, float gain, std::string_view how,
                        ffi::Dictionary more) {
  std::optional<void *> memory = scratch.Allocate(x.size_bytes());
  auto offset = more.get<float>("offset");
  if (!memory || !offset || how != "affine") {
    return ffi::Error::Internal("scratch or attributes are missing");
  }
  auto *values = static_cast<float *>(*memory);
  for (size_t i = 0; i < x.element_count(); ++i) {
    values[i] = x.typed_data()[i] * gain;
  }
  for (size_t i = 0; i < x.element_count(); ++i) {
    y->typed_data()[i] = values[i] + *offset;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(t_ffi_scale, scale,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Attr<float>("gain")
                                  .Attr<std::string_view>("how")
                                  .Attr<ffi::Dictionary>("more"));

static ffi::Error context(ffi::ThreadPool pool, ffi::RunId run,
                          ffi::Result<ffi::AnyBuffer> result) {
  auto *out = result->typed_data<int64_t>();
  out[0] = run.run_id;
  out[1] = 0;
  pool.Schedule([&] { out[1] = pool.num_threads(); });
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    t_ffi_context, context,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Ctx<ffi::RunId>().Ret<ffi::AnyBuffer>());

/// Finishes on a thread of its own, after it has returned.
static ffi::Future later(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  auto promise = std::make_shared<ffi::Promise>();
  ffi::Future future(*promise);
  std::thread([promise, x, y]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (size_t i = 0; i < x.element_count(); ++i) {
      y->typed_data()[i] = -x.typed_data()[i];
    }
    if (x.typed_data()[0] < 0) {
      promise->SetError(ffi::Error(ffi::ErrorCode::kOutOfRange, "negative, found out later"));
    } else {
      promise->SetAvailable();
    }
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    t_ffi_later, later, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

//===- handlers_ffi.cpp - Custom call targets with XLA's headers ----------===//
//
// What a user of the typed FFI writes; see ffi.hlo.
//
//===----------------------------------------------------------------------===//
#include "xla/ffi/api/ffi.h"

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
XLA_FFI_DEFINE_HANDLER_SYMBOL(t_ffi_context, context,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::RunId>()
                                  .Ret<ffi::AnyBuffer>());

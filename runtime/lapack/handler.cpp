//===- handler.cpp - What the LAPACK handlers share -----------------------===//
//
// See handler.h.
//
//===----------------------------------------------------------------------===//
#include "handler.h"

#include <stdlib.h>
#include <string.h>

using namespace hlo_lapack;

static constexpr int invalidArgument = 3, resourceExhausted = 8;
static constexpr int64_t mostExtent = 0x7fffffff;

static void destroy(const ffi_api *api, ffi_error *error) {
  ffi_destroy_args args = {sizeof(args), nullptr, error};
  api->error_destroy(&args);
}

void *Scratch::takeBytes(size_t bytes) {
  if (count == most) {
    return nullptr;
  }
  constexpr size_t alignment = 64;
  ffi_allocate_args args = {sizeof(args), nullptr, frame->context, bytes, alignment, nullptr};
  ffi_error *error = frame->api->memory_allocate(&args);
  Block block = {args.data, bytes, false};
  if (error) {
    // A caller without an allocator; this library may use the heap, unlike the runtime.
    destroy(frame->api, error);
    block = {malloc(bytes), bytes, true};
  }
  if (block.memory) {
    blocks[count++] = block;
  }
  return block.memory;
}

Scratch::~Scratch() {
  while (count > 0) {
    const Block &block = blocks[--count];
    if (block.ofHeap) {
      free(block.memory);
      continue;
    }
    ffi_free_args args = {sizeof(args), nullptr, frame->context, block.bytes, block.memory};
    if (ffi_error *error = frame->api->memory_free(&args)) {
      destroy(frame->api, error);
    }
  }
}

ffi_error *Call::fail(int code, const char *message) {
  ffi_error_args args = {sizeof(args), nullptr, message, code};
  return frame->api->error_create(&args);
}

ffi_error *Call::noMemory() { return fail(resourceExhausted, "no memory for LAPACK's workspace"); }

bool Call::expect(int64_t operands, int64_t results) {
  if (frame->operands.size != operands || frame->results.size != results) {
    error = fail(invalidArgument, "unexpected number of operands or results");
    return false;
  }
  for (int64_t i = 0; i < operands + results; ++i) {
    const ffi_buffer &buffer =
        i < operands ? operand(static_cast<int>(i)) : result(static_cast<int>(i - operands));
    for (int64_t d = 0; d < buffer.rank; ++d) {
      if (buffer.dims[d] > mostExtent) {
        error = fail(invalidArgument, "a dimension exceeds LAPACK's 32-bit integers");
        return false;
      }
    }
  }
  return true;
}

int64_t Call::batches(const ffi_buffer &buffer, int rank) {
  int64_t count = 1;
  for (int64_t d = 0; d + rank < buffer.rank; ++d) {
    count *= buffer.dims[d];
  }
  return count;
}

int64_t Call::attribute(const char *name, int64_t otherwise) const {
  const ffi_attributes &list = frame->attributes;
  constexpr int scalarKind = 3;
  struct Number {
    int type;
    const void *value;
  };
  for (int64_t i = 0; i < list.size; ++i) {
    const ffi_span &span = *list.names[i];
    if (span.size != strlen(name) || memcmp(span.data, name, span.size) != 0 ||
        list.kinds[i] != scalarKind) {
      continue;
    }
    const Number &number = *static_cast<const Number *>(list.values[i]);
    switch (number.type) {
      case 1:  // pred, u8
      case 6:
        return *static_cast<const uint8_t *>(number.value);
      case 4:  // s32
        return *static_cast<const int32_t *>(number.value);
      case 5:  // s64
        return *static_cast<const int64_t *>(number.value);
      default:
        return otherwise;
    }
  }
  return otherwise;
}

size_t hlo_lapack::elementBytes(int type) {
  switch (type) {
    case 4:   // s32
    case 11:  // f32
      return 4;
    case 12:  // f64
    case 15:  // c64
      return 8;
    case 18:  // c128
      return 16;
    default:
      return 0;
  }
}

void Call::copy(int operandIndex, int resultIndex) const {
  const ffi_buffer &from = operand(operandIndex), &to = result(resultIndex);
  size_t bytes = elementBytes(from.type) * batches(from, 0);
  if (from.data != to.data && bytes > 0) {
    memcpy(to.data, from.data, bytes);
  }
}

bool hlo_lapack::answersMetadata(ffi_frame *frame) {
  if (!frame->extensions || frame->extensions->type != FFI_EXTENSION_METADATA) {
    return false;
  }
  auto *extension = reinterpret_cast<ffi_metadata_extension *>(frame->extensions);
  extension->metadata->version.major = FFI_MAJOR;
  extension->metadata->version.minor = FFI_MINOR;
  return true;
}

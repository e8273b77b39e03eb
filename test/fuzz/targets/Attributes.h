//===- Attributes.h - Attributes as a typed handler reads them ------------===//
#ifndef TEST_FUZZ_TARGETS_ATTRIBUTES_H
#define TEST_FUZZ_TARGETS_ATTRIBUTES_H

#include <cstdlib>
#include <cstring>

extern "C" {
#include "runtime/customcall/ffi_abi.h"
}

/// XLA_FFI_AttrType, and the layouts of what values of these kinds point to; strings are ffi_span.
enum AttributeKind { ArrayAttribute = 1, DictionaryAttribute, ScalarAttribute, StringAttribute };
struct ScalarValue {
  int type;
  const void *value;
};
struct ArrayValue {
  int type;
  size_t size;
  const void *data;
};

/// Bytes of an element of a type that attributes may have; 0 for others.
inline size_t bytesOfAttribute(int type) {
  switch (type) {
  case 1:
  case 2:
  case 6: return 1;
  case 3:
  case 7:
  case 10:
  case 16: return 2;
  case 4:
  case 8:
  case 11: return 4;
  case 5:
  case 9:
  case 12: return 8;
  default: return 0;
  }
}

/// Ends the program unless the condition holds.
inline void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Reads every byte that a handler may read, as XLA's headers do, and requires what a handler
/// relies on: names in order, known kinds and types.
class AttributeReader {
public:
  void read(const ffi_attributes &list) {
    require(list.struct_size == sizeof(ffi_attributes) && list.size >= 0);
    for (int64_t i = 0; i < list.size; ++i) {
      read(list.names[i]->data, list.names[i]->size);
      require(i == 0 || before(*list.names[i - 1], *list.names[i]));
      readValue(list.kinds[i], list.values[i]);
    }
  }
  /// A sum over all that was read, so that reading is not left out.
  unsigned sum = 0;

private:
  void readValue(int kind, const void *value) {
    require(value != nullptr);
    switch (kind) {
    case ArrayAttribute: {
      auto *array = static_cast<const ArrayValue *>(value);
      require(bytesOfAttribute(array->type) != 0);
      read(array->data, array->size * bytesOfAttribute(array->type));
      return;
    }
    case DictionaryAttribute: return read(*static_cast<const ffi_attributes *>(value));
    case ScalarAttribute: {
      auto *scalar = static_cast<const ScalarValue *>(value);
      require(bytesOfAttribute(scalar->type) != 0);
      return read(scalar->value, bytesOfAttribute(scalar->type));
    }
    case StringAttribute: {
      auto *text = static_cast<const ffi_span *>(value);
      return read(text->data, text->size);
    }
    default: std::abort();
    }
  }
  void read(const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      sum = sum * 31 + static_cast<const unsigned char *>(data)[i];
    }
  }
  static bool before(const ffi_span &a, const ffi_span &b) {
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter ? std::memcmp(a.data, b.data, shorter) : 0;
    return order ? order < 0 : a.size < b.size;
  }
};

#endif

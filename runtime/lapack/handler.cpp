//===- handler.cpp - Common code of the LAPACK handlers -------------------===//
//
// See handler.h. A call is checked in this order: the number of arrays, their types and ranks
// (which determine m, n, k and p), attributes, each array's sizes and bytes, the range of LAPACK's
// integers, and which arrays share memory.
//
//===----------------------------------------------------------------------===//
#include "handler.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/checked.h"

using namespace hlo_lapack;

// Margin for LAPACK's blocked loops, which count beyond the last row by less than 64 Ki.
static constexpr int64_t mostInteger = 0x7fffffff, mostExtent = mostInteger - 65536;

static void destroy(const ffi_api *api, ffi_error *error) {
  ffi_destroy_args args = {sizeof(args), nullptr, error};
  api->error_destroy(&args);
}

void *Scratch::takeElements(int64_t number, uint64_t bytes) {
  if (count == most || number > INT64_MAX / 2 ||
      !hlo_multiply_size(&bytes, number > 0 ? static_cast<uint64_t>(number) : 1) ||
      bytes > PTRDIFF_MAX) {
    return nullptr;
  }
  constexpr size_t alignment = 64;
  ffi_allocate_args args = {sizeof(args), nullptr, frame->context, bytes, alignment, nullptr};
  ffi_error *error = frame->api->memory_allocate(&args);
  Block block = {args.data, bytes, false};
  if (error) {
    // The caller has no allocator; unlike the runtime, this library may use the heap.
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

/// A message; text that does not fit is cut.
class hlo_lapack::Text {
 public:
  Text &operator<<(const char *text) {
    for (; *text && length + 1 < sizeof(data); ++text) {
      data[length++] = *text;
    }
    data[length] = 0;
    return *this;
  }
  Text &operator<<(int64_t number) {
    char digits[24];
    int at = sizeof(digits);
    digits[--at] = 0;
    uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    do {
      digits[--at] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest);
    return *this << (number < 0 ? "-" : "") << digits + at;
  }
  void add(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes && text[i] && length + 1 < sizeof(data); ++i) {
      data[length++] = text[i];
    }
    data[length] = 0;
  }

  char data[480] = "";

 private:
  size_t length = 0;
};

static const char *nameOf(int type) {
  static const char *const names[] = {
      "invalid",    "pred",       "s8",   "s16",    "s32",      "s64",    "u8", "u16",
      "u32",        "u64",        "f16",  "f32",    "f64",      "",       "",   "c64",
      "bf16",       "token",      "c128", "f8e5m2", "f8e4m3fn", "s4",     "u4", "f8e4m3b11fnuz",
      "f8e5m2fnuz", "f8e4m3fnuz", "s2",   "u2",     "f8e4m3",   "f8e3m4", "s1", "u1",
      "f4e2m1fn",   "f8e8m0fnu"};
  const bool known = type >= 0 && type < static_cast<int>(sizeof(names) / sizeof(names[0]));
  return known && names[type][0] ? names[type] : "unknown type";
}

static uint64_t bytesOfType(Type type) {
  switch (type) {
    case typeS32:
    case typeF32:
      return 4;
    case typeF64:
    case typeC64:
      return 8;
    case typeC128:
      return 16;
    default:
      return 1;
  }
}

static int rankOf(const Array &array) {
  return (array.dims[0].size != Size::none) + (array.dims[1].size != Size::none);
}

static const char *letterOf(Size size) {
  static const char *const names[] = {"1",   "m",     "n", "k", "p", "min(m,n)",
                                      "n-1", "order", "k", "u", "v"};
  return names[static_cast<int>(size)];
}

ffi_error *Call::fail(int code, const char *message) {
  ffi_error_args args = {sizeof(args), nullptr, message, code};
  return frame->api->error_create(&args);
}

void Call::clear(int i) const {
  if (bytesOf(true, i) > 0) {
    memset(result(i).data, 0, bytesOf(true, i));
  }
}

ffi_error *Call::noMemory() { return fail(resourceExhausted, "no memory for LAPACK's workspace"); }

bool Call::refuse(const Text &text) {
  error = fail(invalidArgument, text.data);
  return false;
}

Type Call::typeOf(Element element) const {
  const bool wide = self == typeF64 || self == typeC128;
  switch (element) {
    case Element::real:
      return wide ? typeF64 : typeF32;
    case Element::complex:
      return wide ? typeC128 : typeC64;
    case Element::s32:
      return typeS32;
    default:
      return self;
  }
}

/// -1 while one of its letters is unknown.
int64_t Call::size(Size which) const {
  const int64_t m = letters[0], n = letters[1];
  const bool known = m >= 0 && n >= 0;
  switch (which) {
    case Size::none:
      return 1;
    case Size::m:
    case Size::n:
    case Size::k:
    case Size::p:
      return letters[static_cast<int>(which) - static_cast<int>(Size::m)];
    case Size::least:
      return known ? smaller(m, n) : -1;
    case Size::below:
      return n < 0 ? -1 : larger(n - 1, 0);
    case Size::order:
      return attributes[0] < 0 ? -1 : attributes[0] == 'L' || attributes[0] == 1 ? m : n;
    case Size::reflectors: {
      const int64_t order = size(Size::order), p = letters[3];
      return order < 0 || p < 0 ? -1 : smaller(order, p);
    }
    case Size::left:
    case Size::right: {
      const int64_t full = which == Size::left ? m : n;
      const int64_t given = which == Size::left ? leftColumns : rightRows;
      if (!known || attributes[0] < 0) {
        return -1;
      }
      // Without vectors, both sizes are accepted.
      const bool asGiven = attributes[0] == 'N' && (given == full || given == smaller(m, n));
      return asGiven ? given : attributes[0] == 'S' ? smaller(m, n) : full;
    }
  }
  return -1;
}

int64_t Call::attribute(const char *name) const {
  for (int i = 0; i < Contract::mostAttributes && contract->attributes[i].name; ++i) {
    if (strcmp(contract->attributes[i].name, name) == 0) {
      return attributes[i];
    }
  }
  return 0;
}

static void addLetters(Text &text, const char *letters) {
  for (const char *letter = letters; *letter; ++letter) {
    const char quoted[] = {'\'', *letter, '\'', 0};
    text << (letter == letters ? "" : letter[1] ? ", " : " or ") << quoted;
  }
}

bool Call::checkAttributes() {
  constexpr int scalarKind = 3;
  struct Number {
    int type;
    const void *value;
  };
  const ffi_attributes &list = frame->attributes;
  int count = 0;
  for (; count < Contract::mostAttributes && contract->attributes[count].name; ++count) {
    const Attribute &wanted = contract->attributes[count];
    Text text;
    text << "attribute '" << wanted.name << "': expected ";
    if (wanted.letters) {
      addLetters(text, wanted.letters);
      text << " as a u8";
    } else {
      text << nameOf(wanted.type);
    }
    const Number *number = nullptr;
    int64_t found = 0;
    while (found < list.size &&
           !(list.names[found]->size == strlen(wanted.name) &&
             memcmp(list.names[found]->data, wanted.name, list.names[found]->size) == 0)) {
      ++found;
    }
    if (found == list.size) {
      return refuse(text << ", given none");
    }
    number = static_cast<const Number *>(list.values[found]);
    if (list.kinds[found] != scalarKind || !number || !number->value) {
      return refuse(text << ", given no number");
    }
    if (number->type != wanted.type) {
      return refuse(text << ", given " << nameOf(number->type));
    }
    if (wanted.type == typeS32) {
      int32_t value;
      memcpy(&value, number->value, sizeof(value));
      attributes[count] = value;
      continue;
    }
    const int value = *static_cast<const uint8_t *>(number->value);
    if (wanted.letters && (value == 0 || !strchr(wanted.letters, value))) {
      return refuse(text << ", given " << int64_t(value));
    }
    attributes[count] = wanted.type == typePred ? value != 0 : value;
  }
  // Names are distinct, so if there are too many, at least one is unknown.
  for (int64_t i = 0; list.size != count && i < list.size; ++i) {
    const ffi_span &name = *list.names[i];
    bool known = false;
    for (int k = 0; k < count; ++k) {
      const char *wanted = contract->attributes[k].name;
      known |= name.size == strlen(wanted) && memcmp(name.data, wanted, name.size) == 0;
    }
    if (!known) {
      Text text;
      text << "attribute '";
      text.add(name.data, name.size);
      return refuse(text << "': the target has none of this name");
    }
  }
  return true;
}

bool Call::checkCounts() {
  while (operands < mostOperands && contract->operands[operands].name) {
    ++operands;
  }
  while (results < mostResults && contract->results[results].name) {
    ++results;
  }
  Text text;
  text << "expected " << operands << (operands == 1 ? " operand and " : " operands and ") << results
       << (results == 1 ? " result, given " : " results, given ") << frame->operands.size << " and "
       << frame->results.size;
  if (frame->operands.size != operands || frame->results.size != results) {
    return refuse(text);
  }
  for (int i = 0; i < operands + results; ++i) {
    const ffi_list &list = i < operands ? frame->operands : frame->results;
    const int at = i < operands ? i : i - operands;
    if (list.kinds[at] != FFI_KIND_BUFFER || !list.values[at]) {
      Text kind;
      describe(kind, i >= operands, at);
      return refuse(kind << ": expected an array");
    }
  }
  return true;
}

void Call::describe(Text &text, bool isResult, int i) const {
  text << (isResult ? "result " : "operand ") << int64_t(i) << " (" << array(isResult, i).name
       << ")";
}

/// The part of the shape that is known so far, with letters for the rest.
void Call::addExpected(Text &text, bool isResult, int i) const {
  const Array &wanted = array(isResult, i);
  text << nameOf(typeOf(wanted.element)) << "[";
  const char *separator = "";
  if (batchRank < 0) {
    text << "...";
    separator = ",";
  }
  for (int64_t d = 0; d < batchRank; ++d, separator = ",") {
    text << separator << operand(0).dims[d];
  }
  Text bounds;
  for (const Dimension &dim : wanted.dims) {
    if (dim.size == Size::none) {
      break;
    }
    const int64_t value = size(dim.size);
    const int64_t most = dim.most == Size::none ? -1 : size(dim.most);
    text << separator;
    if (value < 0 || (most >= 0 && value > most)) {
      text << letterOf(dim.size);
      if (most >= 0) {
        bounds << " with " << letterOf(dim.size) << " <= " << most;
      }
    } else {
      text << value;
    }
    separator = ",";
  }
  text << "]" << bounds.data;
}

void Call::addGiven(Text &text, bool isResult, int i) const {
  const ffi_buffer &given = buffer(isResult, i);
  text << nameOf(given.type) << "[";
  for (int64_t d = 0; d < given.rank; ++d) {
    text << (d ? "," : "") << given.dims[d];
  }
  text << "]";
}

bool Call::mismatch(bool isResult, int i) {
  Text text;
  describe(text, isResult, i);
  text << ": expected ";
  addExpected(text, isResult, i);
  text << ", given ";
  addGiven(text, isResult, i);
  return refuse(text);
}

/// Sets letters from an array's sizes.
bool Call::bind(bool isResult, int i) {
  const Array &wanted = array(isResult, i);
  const ffi_buffer &given = buffer(isResult, i);
  const int own = rankOf(wanted);
  if (batchRank < 0 && given.rank >= own) {
    batchRank = given.rank - own;
  }
  if (given.type != typeOf(wanted.element) || batchRank < 0 || given.rank != batchRank + own) {
    return mismatch(isResult, i);
  }
  for (int d = 0; d < own; ++d) {
    const Size which = wanted.dims[d].size;
    const int64_t extent = given.dims[batchRank + d];
    if (extent < 0 || extent > mostExtent) {
      Text text;
      describe(text, isResult, i);
      text << ": expected sizes from 0 to " << mostExtent << ", given ";
      addGiven(text, isResult, i);
      return refuse(text);
    }
    if (which >= Size::m && which <= Size::p) {
      int64_t &letter = letters[static_cast<int>(which) - static_cast<int>(Size::m)];
      letter = letter < 0 ? extent : letter;
    }
    leftColumns = which == Size::left ? extent : leftColumns;
    rightRows = which == Size::right ? extent : rightRows;
  }
  return true;
}

bool Call::checkArray(bool isResult, int i) {
  const Array &wanted = array(isResult, i);
  const ffi_buffer &given = buffer(isResult, i);
  bool fits = true;
  for (int64_t d = 0; d < batchRank; ++d) {
    fits &= given.dims[d] == operand(0).dims[d];
  }
  for (int d = 0; d < rankOf(wanted); ++d) {
    const Dimension &dim = wanted.dims[d];
    const int64_t extent = given.dims[batchRank + d];
    fits &= extent == size(dim.size) && (dim.most == Size::none || extent <= size(dim.most));
  }
  if (!fits) {
    return mismatch(isResult, i);
  }
  int64_t count = 0;
  uint64_t total = bytesOfType(typeOf(wanted.element));
  Text text;
  describe(text, isResult, i);
  text << ": ";
  if (!hlo_count_elements(given.dims, given.rank, &count) ||
      !hlo_multiply_size(&total, static_cast<uint64_t>(count)) || total > PTRDIFF_MAX) {
    addGiven(text, isResult, i);
    return refuse(text << " has a negative size or more bytes than there are addresses");
  }
  if (total > 0 && !given.data) {
    addGiven(text, isResult, i);
    return refuse(text << " has no data");
  }
  bytes[isResult ? i : mostResults + i] = total;
  return true;
}

bool Call::checkWork() {
  int64_t sum = 65536;
  for (const Term &term : contract->work) {
    int64_t product = term.factor;
    if (__builtin_mul_overflow(product, size(term.a), &product) ||
        __builtin_mul_overflow(product, size(term.b), &product)) {
      product = INT64_MAX;
    }
    sum = hlo_saturating_add(sum, product);
  }
  if (sum <= mostInteger) {
    return true;
  }
  Text text;
  describe(text, false, 0);
  text << ": ";
  addGiven(text, false, 0);
  return refuse(text << " needs more workspace than LAPACK's 32-bit integers can count");
}

/// True if two blocks of memory share a byte.
static bool overlap(const void *a, uint64_t aBytes, const void *b, uint64_t bBytes) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return aBytes > 0 && bBytes > 0 &&
         (first < second ? second - first < aBytes : first - second < bBytes);
}

bool Call::checkOverlaps() {
  for (int i = 0; i < results; ++i) {
    for (int k = 0; k < i; ++k) {
      if (overlap(result(k).data, bytesOf(true, k), result(i).data, bytesOf(true, i))) {
        Text text;
        describe(text, true, k);
        text << " and ";
        describe(text, true, i);
        return refuse(text << " share memory");
      }
    }
  }
  return true;
}

/// Copies operands that overlap a result out of it first, except an operand that fills the result
/// that overwrites it; then moves overwritten operands to their results.
bool Call::moveOperands() {
  for (int i = 0; i < operands; ++i) {
    inputs[i] = operand(i).data;
    const uint64_t size = bytesOf(false, i);
    for (int k = 0; k < results; ++k) {
      const bool overwritten =
          contract->operands[i].result == k && result(k).data == operand(i).data;
      if (overwritten || inputs[i] != operand(i).data ||
          !overlap(operand(i).data, size, result(k).data, bytesOf(true, k))) {
        continue;
      }
      void *copy = staged.take<char>(static_cast<int64_t>(size));
      if (!copy) {
        error = noMemory();
        return false;
      }
      memcpy(copy, operand(i).data, size);
      inputs[i] = copy;
    }
  }
  for (int i = 0; i < operands; ++i) {
    const int to = contract->operands[i].result;
    if (to >= 0 && inputs[i] != result(to).data && bytesOf(false, i) > 0) {
      memcpy(result(to).data, inputs[i], bytesOf(false, i));
    }
  }
  return true;
}

bool Call::begin(const Contract &ofTarget, Type type) {
  contract = &ofTarget;
  self = type;
  if (!checkCounts()) {
    return false;
  }
  for (int i = 0; i < operands + results; ++i) {
    if (!bind(i >= operands, i < operands ? i : i - operands)) {
      return false;
    }
  }
  if (!checkAttributes()) {
    return false;
  }
  bool empty = true;
  for (int i = 0; i < operands + results; ++i) {
    if (!checkArray(i >= operands, i < operands ? i : i - operands)) {
      return false;
    }
    empty &= i < operands || bytesOf(true, i - operands) == 0;
  }
  if (!checkWork() || empty || !checkOverlaps()) {
    return false;
  }
  // Some result has an element per matrix, so the number of matrices fits as well.
  return hlo_count_elements(operand(0).dims, batchRank, &matrices) && moveOperands();
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

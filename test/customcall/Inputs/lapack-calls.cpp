//===- lapack-calls.cpp - Every target of libhlo_lapack, called wrongly ---===//
//
// Calls each target of hlo_lapack_custom_calls() through its own call frames: correctly, in several
// sizes, and with one error at a time. Every buffer, and all memory that a handler asks for, ends
// at an inaccessible page and is preceded by a known pattern. LAPACK is not compiled with a
// sanitizer, so these two detect its accesses out of bounds. The operands and results of each
// target are listed here again, independently of its contract.
//
// Prints FAILED lines, and at the end the number of calls.
//
// With an argument: calls as they should be only, also of larger matrices, each on a thread whose
// stack has a pattern. Prints the stack that the handlers have used, which may not be more than
// the argument.
//
//===----------------------------------------------------------------------===//
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <hlo/lapack.h>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "runtime/customcall/ffi_abi.h"
}

namespace {
constexpr int kPred = 1, kS32 = 4, kU8 = 6, kF32 = 11, kF64 = 12, kC64 = 15, kC128 = 18;
long calls = 0, refused = 0, failures = 0;
std::string at; // the case, for messages
bool refusedByLapack = false;

void failed(const std::string &what) {
  if (++failures < 40) {
    std::printf("FAILED: %s: %s\n", at.c_str(), what.c_str());
  }
}

//===- Memory that ends at a page nobody may touch ------------------------===//

class Slot {
public:
  static constexpr size_t most = size_t(4) << 20, canary = 256;
  /// `bytes` bytes that end where the slot ends.
  char *take(size_t bytes) {
    if (!base) {
      size_t page = static_cast<size_t>(getpagesize());
      base = static_cast<char *>(
          mmap(nullptr, most + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      if (base == MAP_FAILED || mprotect(base + most, page, PROT_NONE)) {
        std::abort();
      }
    }
    if (bytes + canary > most) {
      std::printf("FAILED: %s: %zu bytes asked for\n", at.c_str(), bytes);
      std::exit(1);
    }
    start = base + most - bytes;
    std::memset(start - canary, 0x5b, canary);
    return start;
  }
  bool intact() const {
    for (size_t i = 1; start && i <= canary; ++i) {
      if (start[-static_cast<ptrdiff_t>(i)] != 0x5b) {
        return false;
      }
    }
    return true;
  }

private:
  char *base = nullptr, *start = nullptr;
};

Slot slots[16], workSlots[16];
bool workInUse[16];

//===- The api that handlers see ------------------------------------------===//

struct Context {
  bool allocates;
} context;

ffi_error *errorCreate(ffi_error_args *args) {
  auto *text = new std::string(args->message);
  return reinterpret_cast<ffi_error *>(text);
}
void errorDestroy(ffi_destroy_args *args) { delete reinterpret_cast<std::string *>(args->error); }
ffi_error *allocate(ffi_allocate_args *args) {
  if (!context.allocates) {
    ffi_error_args error = {sizeof(error), nullptr, "no memory here", 8};
    return errorCreate(&error);
  }
  for (int i = 0; i < 16; ++i) {
    if (!workInUse[i]) {
      workInUse[i] = true;
      args->data = workSlots[i].take(args->size);
      std::memset(args->data, 0x7f, args->size);
      return nullptr;
    }
  }
  std::abort();
}
ffi_error *release(ffi_free_args *args) {
  for (int i = 0; i < 16; ++i) {
    char *end = static_cast<char *>(args->data) + args->size;
    if (workInUse[i] && workSlots[i].take(0) == end) {
      workInUse[i] = false;
    }
  }
  return nullptr;
}

//===- Stack --------------------------------------------------------------===//

/// A stack of handlers, above a page that nobody may touch.
class Stack {
public:
  static constexpr size_t bytes = size_t(512) << 10;
  static constexpr char pattern = char(0xa5);

  Stack() {
    size_t page = static_cast<size_t>(getpagesize());
    char *memory = static_cast<char *>(
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE)) {
      std::abort();
    }
    base = memory + page;
  }
  /// What the handler returns, called on this stack; `used` becomes what it has used of it, if that
  /// is more.
  ffi_error *run(ffi_handler *handler, ffi_frame *frame) {
    std::memset(base, pattern, bytes);
    Work work = {handler, frame, nullptr, nullptr};
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, base, bytes) ||
        pthread_create(&thread, &attributes, start, &work) || pthread_join(thread, nullptr)) {
      std::abort();
    }
    pthread_attr_destroy(&attributes);
    const char *lowest = base;
    while (*lowest == pattern) {
      ++lowest;
    }
    size_t now = static_cast<size_t>(work.top - lowest);
    if (now > used) {
      used = now;
      where = at;
    }
    return work.error;
  }

  size_t used = 0;
  std::string where;

private:
  struct Work {
    ffi_handler *handler;
    ffi_frame *frame;
    ffi_error *error;
    const char *top;
  };
  static void *start(void *argument) {
    Work &work = *static_cast<Work *>(argument);
    work.top = static_cast<const char *>(__builtin_frame_address(0));
    work.error = work.handler(work.frame);
    return nullptr;
  }
  char *base;
};
Stack *stack = nullptr; // null: handlers run on that of the program

//===- Calls --------------------------------------------------------------===//

struct Value {
  int type;
  std::vector<int64_t> dims;
  char *data = nullptr;
  int kind = FFI_KIND_BUFFER;
};

struct Attribute {
  std::string name;
  int kind = 3, type = kU8;
  int64_t value = 0;
  bool null = false;
};

struct Case {
  std::vector<Value> operands, results;
  std::vector<Attribute> attributes;
};

int64_t bytesOf(int type) {
  return type == kF32 || type == kS32   ? 4
         : type == kF64 || type == kC64 ? 8
         : type == kC128                ? 16
                                        : 1;
}

/// The bytes of an array; a small number for arrays with an invalid or huge size.
size_t bytesOf(const Value &value) {
  int64_t bytes = bytesOf(value.type);
  for (int64_t d : value.dims) {
    if (d == 0) {
      return 0;
    }
  }
  for (int64_t d : value.dims) {
    if (d < 0 || d > 1 << 12 || bytes > 1 << 20) {
      return 16;
    }
    bytes *= d;
  }
  return static_cast<size_t>(bytes);
}

/// The text of the error; "" for none.
std::string call(const hlo_custom_call &target, Case &c) {
  static const ffi_api api = [] {
    ffi_api functions = {};
    functions.struct_size = sizeof(functions);
    functions.error_create = errorCreate;
    functions.error_destroy = errorDestroy;
    functions.memory_allocate = allocate;
    functions.memory_free = release;
    return functions;
  }();
  std::vector<ffi_buffer> buffers;
  std::vector<int> kinds, attributeKinds;
  std::vector<void *> values, attributeValues;
  buffers.reserve(c.operands.size() + c.results.size());
  for (auto *list : {&c.operands, &c.results}) {
    for (Value &value : *list) {
      buffers.push_back({sizeof(ffi_buffer), nullptr, value.type, value.data,
                         static_cast<int64_t>(value.dims.size()), value.dims.data()});
      kinds.push_back(value.kind);
      values.push_back(&buffers.back());
    }
  }
  struct Number {
    int type;
    const void *value;
  };
  std::vector<Number> numbers(c.attributes.size());
  std::vector<ffi_span> spans(c.attributes.size());
  std::vector<ffi_span *> names;
  for (size_t i = 0; i < c.attributes.size(); ++i) {
    Attribute &attribute = c.attributes[i];
    numbers[i] = {attribute.type, attribute.null ? nullptr : &attribute.value};
    spans[i] = {attribute.name.data(), attribute.name.size()};
    names.push_back(&spans[i]);
    attributeKinds.push_back(attribute.kind);
    attributeValues.push_back(&numbers[i]);
  }
  ffi_frame frame = {};
  frame.struct_size = offsetof(ffi_frame, future);
  frame.api = &api;
  frame.context = reinterpret_cast<ffi_context *>(&context);
  frame.stage = FFI_STAGE_EXECUTE;
  frame.operands = {sizeof(ffi_list), nullptr, static_cast<int64_t>(c.operands.size()),
                    kinds.data(), values.data()};
  frame.results = {sizeof(ffi_list), nullptr, static_cast<int64_t>(c.results.size()),
                   kinds.data() + c.operands.size(), values.data() + c.operands.size()};
  frame.attributes = {
      sizeof(ffi_attributes), nullptr,      static_cast<int64_t>(c.attributes.size()),
      attributeKinds.data(),  names.data(), attributeValues.data()};
  ++calls;
  context.allocates = calls % 2;
  auto *handler = reinterpret_cast<ffi_handler *>(target.fn);
  ffi_error *error = stack ? stack->run(handler, &frame) : handler(&frame);
  std::string text;
  if (error) {
    ++refused;
    text = *reinterpret_cast<std::string *>(error);
    delete reinterpret_cast<std::string *>(error);
    if (text.empty()) {
      failed("an error without a text");
      text = "?";
    }
  }
  for (int i = 0; i < 16; ++i) {
    if (!slots[i].intact() || !workSlots[i].intact()) {
      failed("wrote in front of a buffer");
    }
    if (workInUse[i]) {
      failed("kept memory");
      workInUse[i] = false;
    }
  }
  if (refusedByLapack) {
    failed("LAPACK refuses its arguments");
    refusedByLapack = false;
  }
  return text;
}

/// Allocates each array; operands get numbers that all routines can handle.
void place(Case &c) {
  int slot = 0;
  for (auto *list : {&c.operands, &c.results}) {
    for (Value &value : *list) {
      size_t bytes = bytesOf(value);
      value.data = slots[slot++].take(bytes);
      std::memset(value.data, list == &c.operands ? 0 : 0x33, bytes);
      int64_t columns = value.dims.empty() ? 1 : value.dims.back();
      if (list == &c.results) {
        continue;
      }
      for (size_t i = 0; i * 4 + 4 <= bytes && value.type != kS32; ++i) {
        double x = std::sin(1.0 + static_cast<double>(i * i % 9973));
        size_t wide = value.type == kC64 || value.type == kC128 ? 2 : 1;
        int64_t element = static_cast<int64_t>(i / wide);
        bool diagonal = columns > 0 && columns < 4096 && element % (columns + 1) == 0;
        x = diagonal ? (i % wide ? 0 : 50 + x) : x;
        if (value.type == kF32 || value.type == kC64) {
          reinterpret_cast<float *>(value.data)[i] = static_cast<float>(x);
        } else if ((value.type == kF64 || value.type == kC128) && i * 8 + 8 <= bytes) {
          reinterpret_cast<double *>(value.data)[i] = x;
        }
      }
    }
  }
}

void mustRefuse(const hlo_custom_call &target, Case &c, const std::string &what,
                const std::string &named) {
  std::string where = at;
  at += ": " + what;
  std::string text = call(target, c);
  if (text.empty()) {
    failed("not refused");
  } else if (text.find(named) == std::string::npos) {
    failed("the message does not name " + named + ": " + text);
  }
  at = where;
}

void mustWork(const hlo_custom_call &target, Case &c, const std::string &what) {
  std::string where = at;
  at += ": " + what;
  std::string text = call(target, c);
  if (!text.empty()) {
    failed(text);
  }
  at = where;
}

//===- What targets take --------------------------------------------------===//

/// Arrays: an element type (r: real, c: complex, i: integer, else the target's), a colon, and
/// letters for sizes: l is min(m,n), b is n - 1, o the order of a matrix that multiplies another, u
/// and v what `mode` says. Attributes: a name and its letters, "bool" or "int".
struct Family {
  const char *names, *operands, *results, *attributes;
  bool square, integers; // integers: LAPACK's are too small for what follows from n = 2^25
};
const Family families[] = {
    {"spotrf dpotrf cpotrf zpotrf", "nn", "nn i:", "uplo:LU", true, false},
    {"sgetrf dgetrf cgetrf zgetrf", "mn", "mn i:l i:", "", false, false},
    {"sgeqrf dgeqrf cgeqrf zgeqrf", "mn", "mn l", "", false, true},
    {"sgeqp3 dgeqp3 cgeqp3 zgeqp3", "mn i:n", "mn i:n l", "", false, true},
    {"sorgqr dorgqr cungqr zungqr", "mn k", "mn", "", false, true},
    {"sormqr dormqr cunmqr zunmqr", "op k mn", "mn", "left:bool transpose:bool", false, true},
    {"strsm dtrsm ctrsm ztrsm", "oo mn", "mn", "side:LR uplo:LU trans_x:NTC diag:NU", false, false},
    {"sgtsv dgtsv cgtsv zgtsv", "m m m mn", "m m m mn i:", "", false, false},
    {"sgesdd dgesdd cgesdd zgesdd", "mn", "mn r:l mu vn i:", "mode:ASN", false, true},
    {"sgesvd dgesvd cgesvd zgesvd", "mn", "mn r:l mu vn i:", "mode:ASN", false, true},
    {"ssyevd dsyevd cheevd zheevd", "nn", "nn r:n i:", "mode:VN uplo:LU", true, true},
    {"sgeev dgeev", "nn", "n n c:nn c:nn i:", "compute_left:VN compute_right:VN", true, true},
    {"cgeev zgeev", "nn", "n nn nn i:", "compute_left:VN compute_right:VN", true, true},
    {"sgees dgees", "nn", "nn nn n n i: i:", "mode:VN sort:N", true, true},
    {"cgees zgees", "nn", "nn nn n i: i:", "mode:VN sort:N", true, true},
    {"sgehrd dgehrd cgehrd zgehrd", "nn", "nn b i:", "low:int high:int", true, true},
    {"ssytrd dsytrd chetrd zhetrd", "nn", "nn r:n r:b b i:", "uplo:LU", true, true},
    {"tridiagonal_solve_perturbed", "m m m mn", "mn", "", false, false},
};

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find(' ', i), text.size());
    words.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

struct Sizes {
  int64_t m, n, k, p;
  std::vector<int64_t> batch;
};

int64_t sizeOf(char letter, const Sizes &sizes, const Case &c) {
  int64_t least = std::min(sizes.m, sizes.n);
  int64_t first = c.attributes.empty() ? 0 : c.attributes[0].value;
  switch (letter) {
  case 'm': return sizes.m;
  case 'n': return sizes.n;
  case 'k': return sizes.k;
  case 'p': return sizes.p;
  case 'l': return least;
  case 'b': return std::max<int64_t>(sizes.n - 1, 0);
  case 'o': return first == 'L' || first == 1 ? sizes.m : sizes.n;
  case 'u': return first == 'S' ? least : sizes.m;
  default: return first == 'S' ? least : sizes.n;
  }
}

/// All combinations of allowed attributes.
std::vector<std::vector<Attribute>> choices(const Family &family, int64_t n) {
  std::vector<std::vector<Attribute>> all = {{}};
  for (const std::string &word : split(family.attributes)) {
    std::string name = word.substr(0, word.find(':')), values = word.substr(name.size() + 1);
    std::vector<Attribute> own;
    if (values == "bool") {
      own = {{name, 3, kPred, 1}, {name, 3, kPred, 0}};
    } else if (values == "int") {
      own = {{name, 3, kS32, name == "low" ? 1 : n}};
    } else {
      for (char letter : values) {
        own.push_back({name, 3, kU8, letter});
      }
    }
    std::vector<std::vector<Attribute>> longer;
    for (const auto &list : all) {
      for (const Attribute &attribute : own) {
        longer.push_back(list);
        longer.back().push_back(attribute);
      }
    }
    all = longer;
  }
  return all;
}

std::vector<Value> arrays(const char *text, int type, const Sizes &sizes, const Case &c) {
  std::vector<Value> list;
  bool wide = type == kF64 || type == kC128;
  for (const std::string &word : split(text)) {
    size_t colon = word.find(':');
    char element = colon == std::string::npos ? 't' : word[0];
    Value value = {element == 'r'   ? (wide ? kF64 : kF32)
                   : element == 'c' ? (wide ? kC128 : kC64)
                   : element == 'i' ? kS32
                                    : type,
                   sizes.batch};
    for (char letter : word.substr(colon == std::string::npos ? 0 : colon + 1)) {
      value.dims.push_back(sizeOf(letter, sizes, c));
    }
    list.push_back(value);
  }
  return list;
}

Case make(const Family &family, int type, const Sizes &sizes,
          const std::vector<Attribute> &attributes) {
  Case c;
  c.attributes = attributes;
  c.operands = arrays(family.operands, type, sizes, c);
  c.results = arrays(family.results, type, sizes, c);
  return c;
}

/// True if the target accepts these sizes.
bool valid(const Family &family, const Sizes &s, const Case &c) {
  if (std::string(family.operands) == "mn k") {
    return s.n <= s.m && s.k <= s.n;
  }
  return std::string(family.operands) != "op k mn" || s.k <= std::min(s.p, sizeOf('o', s, c));
}

std::string show(const Sizes &s, const std::vector<Attribute> &attributes) {
  std::string text = "m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) +
                     " k=" + std::to_string(s.k) + " p=" + std::to_string(s.p) + " batch=";
  for (int64_t d : s.batch) {
    text += std::to_string(d) + ",";
  }
  for (const Attribute &a : attributes) {
    text += " " + a.name + "=" + std::to_string(a.value);
  }
  return text;
}

//===- One thing wrong at a time ------------------------------------------===//

void wrongArrays(const hlo_custom_call &target, const Family &family, const Case &valid) {
  for (int isResult = 0; isResult < 2; ++isResult) {
    size_t count = isResult ? valid.results.size() : valid.operands.size();
    std::vector<std::string> words = split(isResult ? family.results : family.operands);
    for (size_t i = 0; i < count; ++i) {
      std::string name = (isResult ? "result " : "operand ") + std::to_string(i);
      auto with = [&](const std::string &what, const std::function<void(Value &)> &change,
                      bool fails = true) {
        Case c = valid;
        change(isResult ? c.results[i] : c.operands[i]);
        place(c);
        if (!fails) {
          call(target, c);
          return;
        }
        // The error may be reported for another array, whose size no longer agrees with this one's.
        mustRefuse(target, c, name + " " + what, " (");
      };
      const Value &given = isResult ? valid.results[i] : valid.operands[i];
      for (int type = -1; type < 40; ++type) {
        if (type != given.type) {
          with("of type " + std::to_string(type), [&](Value &v) { v.type = type; });
        }
      }
      with("of a rank too low", [](Value &v) {
        if (v.dims.empty()) {
          v.dims.push_back(1);
        } else {
          v.dims.pop_back();
        }
      });
      with("a scalar of rank 9", [](Value &v) { v.dims.assign(9, 1); });
      with("of a rank too high", [](Value &v) { v.dims.insert(v.dims.begin(), 1); });
      with("no array", [](Value &v) { v.kind = 2; });
      // Sizes that no other array determines.
      std::string letters = words[i].substr(words[i].find(':') + 1);
      for (size_t d = 0; d < given.dims.size(); ++d) {
        size_t own = d - (given.dims.size() - letters.size());
        char letter = d + letters.size() < given.dims.size() ? 'B' : letters[own];
        for (int64_t other : {given.dims[d] - 1, given.dims[d] + 1, int64_t(0), int64_t(-1),
                              int64_t(1) << 31, int64_t(1) << 40, INT64_MAX, INT64_MIN}) {
          bool huge = other < 0 || other > 1 << 30;
          bool free = !huge && (letter == 'p' || letter == 'k');
          if (other != given.dims[d]) {
            with(
                "of size " + std::to_string(other) + " in dimension " + std::to_string(d),
                [&](Value &v) { v.dims[d] = other; }, !free);
          }
        }
      }
      Case c = valid;
      place(c);
      if (bytesOf(given) > 0) {
        (isResult ? c.results[i] : c.operands[i]).data = nullptr;
        mustRefuse(target, c, name + " without data", name);
      }
    }
  }
  for (int change : {-1, 1}) {
    for (int isResult = 0; isResult < 2; ++isResult) {
      Case c = valid;
      place(c);
      auto &list = isResult ? c.results : c.operands;
      if (change < 0) {
        list.pop_back();
      } else {
        list.push_back(list.back());
      }
      mustRefuse(target, c, "a wrong number of arrays", "expected ");
    }
  }
}

void wrongAttributes(const hlo_custom_call &target, const Family &family, const Case &valid,
                     int64_t n) {
  std::vector<std::string> words = split(family.attributes);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i].substr(0, words[i].find(':'));
    std::string values = words[i].substr(name.size() + 1);
    auto with = [&](const std::string &what, const std::function<void(Case &)> &change,
                    bool fails = true) {
      Case c = valid;
      change(c);
      place(c);
      if (fails) {
        mustRefuse(target, c, what, name);
      } else {
        // Valid sizes may depend on the attribute, so the call may succeed or fail.
        call(target, c);
      }
    };
    with("missing", [&](Case &c) { c.attributes.erase(c.attributes.begin() + long(i)); });
    with("null", [&](Case &c) { c.attributes[i].null = true; });
    with("named otherwise", [&](Case &c) { c.attributes[i].name += "x"; });
    for (int kind : {0, 1, 2, 4}) {
      with("of kind " + std::to_string(kind), [&](Case &c) { c.attributes[i].kind = kind; });
    }
    for (int type = -1; type < 40; ++type) {
      if (type != valid.attributes[i].type) {
        with("of type " + std::to_string(type), [&](Case &c) { c.attributes[i].type = type; });
      }
    }
    if (values == "int") {
      for (int64_t value :
           {int64_t(INT32_MIN), int64_t(-1), int64_t(0), n + 1, int64_t(INT32_MAX)}) {
        with("is " + std::to_string(value), [&](Case &c) { c.attributes[i].value = value; });
      }
      continue;
    }
    for (int value = 0; value < 256; ++value) {
      bool allowed = values == "bool" || (value && values.find(char(value)) != std::string::npos);
      with(
          "is " + std::to_string(value), [&](Case &c) { c.attributes[i].value = value; }, !allowed);
    }
  }
  Case c = valid;
  c.attributes.push_back({"another", 3, kU8, 'L'});
  place(c);
  mustRefuse(target, c, "one more attribute", "another");
}

/// Compares the numbers of two runs with arrays at different addresses. They need not be equal:
/// LAPACK may add in another order.
bool close(int type, const char *a, const char *b, size_t bytes) {
  if (std::memcmp(a, b, bytes) == 0) {
    return true;
  }
  bool isFloat = type == kF32 || type == kC64;
  for (size_t i = 0; type != kS32 && i < bytes / (isFloat ? 4 : 8); ++i) {
    double x = isFloat ? double(reinterpret_cast<const float *>(a)[i])
                       : reinterpret_cast<const double *>(a)[i];
    double y = isFloat ? double(reinterpret_cast<const float *>(b)[i])
                       : reinterpret_cast<const double *>(b)[i];
    if (!(std::fabs(x - y) <= (isFloat ? 1e-3 : 1e-9) * (1 + std::fabs(x)))) {
      return false;
    }
  }
  return type != kS32;
}

/// Operands in the memory of results: at the same address, or shifted by one element.
void aliases(const hlo_custom_call &target, const Case &valid) {
  Case apart = valid;
  place(apart);
  mustWork(target, apart, "apart");
  std::vector<std::vector<char>> expected;
  for (const Value &value : apart.results) {
    expected.emplace_back(value.data, value.data + bytesOf(value));
  }
  for (size_t i = 0; i < valid.operands.size(); ++i) {
    for (size_t k = 0; k < valid.results.size(); ++k) {
      for (int shift : {0, 1, -1}) {
        Case c = valid;
        place(c);
        size_t in = bytesOf(c.operands[i]), out = bytesOf(c.results[k]);
        size_t step = size_t(bytesOf(c.operands[i].type));
        if (in == 0 || out == 0) {
          continue;
        }
        // Both in one slot, which ends at the later of their ends.
        size_t total = std::max(in + (shift > 0 ? step : 0), out + (shift < 0 ? step : 0));
        std::vector<char> bytes(c.operands[i].data, c.operands[i].data + in);
        char *memory = slots[15].take(total);
        std::memset(memory, 0x33, total);
        c.results[k].data = memory + (shift < 0 ? step : 0);
        c.operands[i].data = memory + (shift > 0 ? step : 0);
        std::memcpy(c.operands[i].data, bytes.data(), in);
        std::string what = "operand " + std::to_string(i) + " in result " + std::to_string(k) +
                           " shifted by " + std::to_string(shift);
        mustWork(target, c, what);
        for (size_t r = 0; r < c.results.size(); ++r) {
          if (!close(c.results[r].type, c.results[r].data, expected[r].data(),
                     expected[r].size())) {
            failed(what + ": result " + std::to_string(r) + " differs");
          }
        }
      }
    }
  }
  for (size_t i = 0; i < valid.results.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (bytesOf(valid.results[i]) && bytesOf(valid.results[k])) {
        Case c = valid;
        place(c);
        c.results[k].data = c.results[i].data;
        mustRefuse(target, c, "two results in one place", "share memory");
      }
    }
  }
}

/// Operands that contain NaN, infinity, zeros or huge numbers.
void strangeNumbers(const hlo_custom_call &target, const Case &valid) {
  for (double number : {double(NAN), double(INFINITY), 0.0, 1e300}) {
    Case c = valid;
    place(c);
    for (Value &value : c.operands) {
      size_t bytes = bytesOf(value);
      for (size_t i = 0; value.type != kS32 && i * 8 + 8 <= bytes; i += 3) {
        if (value.type == kF32 || value.type == kC64) {
          reinterpret_cast<float *>(value.data)[2 * i] = static_cast<float>(number);
        } else {
          reinterpret_cast<double *>(value.data)[i] = number;
        }
      }
    }
    mustWork(target, c,
             number == 1e300 ? "huge numbers" : "numbers such as " + std::to_string(number));
  }
}

void wrongSizes(const hlo_custom_call &target, const Family &family, int type) {
  auto attributes = choices(family, 0)[0];
  auto refuse = [&](const Sizes &sizes) {
    Case c = make(family, type, sizes, attributes);
    place(c);
    mustRefuse(target, c, show(sizes, attributes), " (");
  };
  int64_t big = int64_t(1) << 31;
  refuse({big, big, big, big, {}});
  refuse({family.square ? big : 0, big, 0, 0, {}});
  refuse({big, family.square ? big : 0, 0, 0, {2}});
  refuse({big, family.square ? big : 1, 1, 1, {0}});
  refuse({4, 4, 4, 4, {-1}});
  refuse({4, 4, 4, 4, {big, big, big}});
  refuse({4, 4, 4, 4, {INT64_MAX, 2}});
  if (family.integers) {
    refuse({int64_t(1) << 25, int64_t(1) << 25, 4, 4, {}});
  }
  if (std::strstr(family.names, "gesdd") || std::strstr(family.names, "gesvd") ||
      std::strstr(family.names, "syevd")) {
    refuse({40000, 40000, 1, 1, {}});
  }
  // Arrays without elements, for any number of matrices: the call must return at once.
  for (Sizes sizes : {Sizes{0, 0, 0, 0, {INT64_MAX, 4}}, Sizes{4, 4, 4, 4, {0, INT64_MAX, 7}}}) {
    Case c = make(family, type, sizes, attributes);
    place(c);
    call(target, c);
  }
}

/// Matrices for which LAPACK takes its ways for small, blocked and (eigenvalues, from 75 rows on)
/// recursive problems.
void useStack(const hlo_custom_call &target, const Family &family, int type) {
  static const int64_t shapes[][4] = {
      {4, 4, 4, 4}, {70, 70, 66, 70}, {90, 20, 20, 20}, {20, 90, 20, 20}, {130, 130, 130, 130}};
  for (const auto &shape : shapes) {
    Sizes sizes = {shape[0], shape[1], shape[2], shape[3], {}};
    for (const auto &attributes : choices(family, sizes.n)) {
      Case c = make(family, type, sizes, attributes);
      if (!valid(family, sizes, c)) {
        continue;
      }
      at = std::string(target.name) + " " + show(sizes, attributes);
      place(c);
      mustWork(target, c, "as it should be");
      if (sizes.m < 100) {
        strangeNumbers(target, c);
      }
    }
  }
}

void runTarget(const hlo_custom_call &target, const Family &family, int type) {
  if (stack) {
    useStack(target, family, type);
    return;
  }
  static const std::vector<std::vector<int64_t>> batches = {{}, {3}, {2, 2}, {0}, {1, 0}};
  static const int64_t shapes[][4] = {{4, 4, 4, 4}, {5, 3, 2, 4}, {3, 5, 3, 3},    {1, 1, 1, 1},
                                      {1, 4, 1, 2}, {4, 1, 1, 1}, {0, 0, 0, 0},    {4, 0, 0, 0},
                                      {0, 4, 0, 0}, {4, 4, 0, 4}, {70, 67, 66, 67}};
  for (const auto &batch : batches) {
    for (const auto &shape : shapes) {
      if (shape[0] > 60 && batch.size() > 1) {
        continue;
      }
      Sizes sizes = {shape[0], shape[1], shape[2], shape[3], batch};
      for (const auto &attributes : choices(family, sizes.n)) {
        Case c = make(family, type, sizes, attributes);
        at = std::string(target.name) + " " + show(sizes, attributes);
        place(c);
        if (!valid(family, sizes, c)) {
          mustRefuse(target, c, "sizes that do not fit", " (");
          continue;
        }
        mustWork(target, c, "as it should be");
      }
    }
  }
  for (const auto &attributes : choices(family, 4)) {
    for (const Sizes &sizes : {Sizes{4, 4, 3, 4, {2}}, Sizes{5, 4, 2, 4, {}}}) {
      Case c = make(family, type, sizes, attributes);
      if (!valid(family, sizes, c)) {
        continue;
      }
      at = std::string(target.name) + " " + show(sizes, attributes);
      aliases(target, c);
      strangeNumbers(target, c);
      wrongAttributes(target, family, c, 4);
    }
  }
  // Larger matrices, for which LAPACK uses other algorithms.
  for (const Sizes &sizes :
       {Sizes{40, 40, 40, 40, {}}, Sizes{90, 70, 66, 70, {}}, Sizes{70, 70, 66, 70, {2}}}) {
    for (const auto &attributes : choices(family, sizes.n)) {
      Case c = make(family, type, sizes, attributes);
      if (valid(family, sizes, c)) {
        at = std::string(target.name) + " " + show(sizes, attributes);
        strangeNumbers(target, c);
      }
    }
  }
  auto attributes = choices(family, 4)[0];
  for (const Sizes &sizes : {Sizes{4, 4, 3, 4, {2}}, Sizes{5, 4, 2, 4, {}}}) {
    at = std::string(target.name) + " " + show(sizes, attributes);
    wrongArrays(target, family, make(family, type, sizes, attributes));
  }
  at = target.name;
  wrongSizes(target, family, type);
}
} // namespace

/// LAPACK's own xerbla would end the process.
extern "C" void xerbla_(const char *, const int *, size_t) { refusedByLapack = true; }

int main(int argc, char **argv) {
  stack = argc > 1 ? new Stack : nullptr;
  alarm(500);
  std::signal(SIGSEGV, [](int) {
    const char text[] = "FAILED: touches memory outside of a buffer: ";
    (void)!write(1, text, sizeof(text) - 1);
    (void)!write(1, at.data(), at.size());
    (void)!write(1, "\n", 1);
    _exit(1);
  });
  const hlo_custom_calls *table = hlo_lapack_custom_calls();
  int done = 0;
  for (uint32_t i = 0; i < table->count; ++i) {
    const hlo_custom_call &target = table->entries[i];
    for (const Family &family : families) {
      for (const std::string &word : split(family.names)) {
        if (word == "tridiagonal_solve_perturbed") {
          if (target.name == word + "_ffi") {
            ++done;
            for (int type : {kF32, kF64, kC64, kC128}) {
              runTarget(target, family, type);
            }
          }
        } else if (target.name == "lapack_" + word + "_ffi") {
          ++done;
          runTarget(target, family,
                    word[0] == 's'   ? kF32
                    : word[0] == 'd' ? kF64
                    : word[0] == 'c' ? kC64
                                     : kC128);
        }
      }
    }
  }
  if (done != static_cast<int>(table->count)) {
    std::printf("FAILED: %d of %u targets\n", done, table->count);
    ++failures;
  }
  if (stack) {
    std::printf("%zu bytes of stack: %s\n", stack->used, stack->where.c_str());
    failures += stack->used > std::strtoul(argv[1], nullptr, 10);
  }
  std::printf("%d targets: %ld calls, %ld refused, %ld failures\n", done, calls, refused, failures);
  return failures != 0;
}

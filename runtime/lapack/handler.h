//===- handler.h - Common code of the LAPACK handlers ---------------------===//
//
// Presents a typed-FFI call as matrices: arrays of one shape repeated over leading batch
// dimensions, each matrix column-major as the call's layouts say. C++ without its library: no
// exceptions, no RTTI, nothing from libstdc++.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_LAPACK_HANDLER_H
#define RUNTIME_LAPACK_HANDLER_H

extern "C" {
#include "runtime/customcall/ffi_abi.h"
}
#include "contract.h"

namespace hlo_lapack {

struct Complex64 {
  float re, im;
};
struct Complex128 {
  double re, im;
};

/// The type of norms and eigenvalues, and whether T is complex.
template <typename T>
struct Scalar {
  using Real = T;
  static constexpr bool isComplex = false;
};
template <>
struct Scalar<Complex64> {
  using Real = float;
  static constexpr bool isComplex = true;
};
template <>
struct Scalar<Complex128> {
  using Real = double;
  static constexpr bool isComplex = true;
};

inline void setReal(float &x, double value) { x = static_cast<float>(value); }
inline void setReal(double &x, double value) { x = value; }
inline void setReal(Complex64 &x, double value) { x = {static_cast<float>(value), 0}; }
inline void setReal(Complex128 &x, double value) { x = {value, 0}; }
inline double realPart(float x) { return x; }
inline double realPart(double x) { return x; }
inline double realPart(Complex64 x) { return x.re; }
inline double realPart(Complex128 x) { return x.re; }

/// The type's number in the typed FFI.
template <typename T>
constexpr Type typeNumber = typeS32;
template <>
inline constexpr Type typeNumber<float> = typeF32;
template <>
inline constexpr Type typeNumber<double> = typeF64;
template <>
inline constexpr Type typeNumber<Complex64> = typeC64;
template <>
inline constexpr Type typeNumber<Complex128> = typeC128;

/// True if no number is infinite or NaN.
template <typename T>
bool allFinite(const T *values, int64_t count) {
  using R = typename Scalar<T>::Real;
  const R *numbers = reinterpret_cast<const R *>(values);
  for (int64_t i = 0; i < (Scalar<T>::isComplex ? 2 : 1) * count; ++i) {
    if (!(numbers[i] - numbers[i] == 0)) {
      return false;
    }
  }
  return true;
}

/// XLA's error codes.
constexpr int invalidArgument = 3, resourceExhausted = 8;

/// Memory for one call of a handler, from the runtime's allocator or else from the heap. Freed when
/// it goes out of scope.
class Scratch {
 public:
  explicit Scratch(ffi_frame *frame) : frame(frame) {}
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// `count` elements of T, at least one; null if memory is exhausted.
  template <typename T>
  T *take(int64_t count) {
    return static_cast<T *>(takeElements(count, sizeof(T)));
  }

 private:
  void *takeElements(int64_t count, uint64_t bytes);

  struct Block {
    void *memory;
    size_t bytes;
    bool ofHeap;
  };
  static constexpr int most = 8;
  ffi_frame *frame;
  Block blocks[most];
  int count = 0;
};

class Text;

/// One call of a handler.
class Call {
 public:
  explicit Call(ffi_frame *frame) : frame(frame), staged(frame) {}

  /// Checks the call against its target's contract, for element type `type`, and copies operands to
  /// the results that overwrite them. Other operands that share memory with a result are copied
  /// elsewhere. False: the handler must return `error`, which is null if all results are empty.
  bool begin(const Contract &contract, Type type);

  const ffi_buffer &operand(int i) const {
    return *static_cast<ffi_buffer *>(frame->operands.values[i]);
  }
  const ffi_buffer &result(int i) const {
    return *static_cast<ffi_buffer *>(frame->results.values[i]);
  }
  template <typename T>
  T *in(int i) const {
    return static_cast<T *>(inputs[i]);
  }
  template <typename T>
  T *out(int i) const {
    return static_cast<T *>(result(i).data);
  }

  // Valid after begin().

  /// Number of matrices.
  int64_t batches() const { return matrices; }
  /// A size of the contract. With `mode` 'N', where two sizes are allowed, the given one.
  int64_t size(Size which) const;
  int64_t m() const { return size(Size::m); }
  int64_t n() const { return size(Size::n); }
  int64_t k() const { return size(Size::k); }
  int64_t least() const { return size(Size::least); }
  /// The value of an attribute of the contract.
  int64_t attribute(const char *name) const;
  char letter(const char *name) const { return static_cast<char>(attribute(name)); }

  /// Fills a result with zeros, because the routine may not write it.
  void clear(int result) const;

  ffi_error *fail(int code, const char *message);
  ffi_error *noMemory();

  ffi_frame *frame;
  ffi_error *error = nullptr;

 private:
  bool refuse(const Text &text);
  bool checkAttributes();
  bool checkCounts();
  bool bind(bool isResult, int i);
  bool checkArray(bool isResult, int i);
  bool checkWork();
  bool checkOverlaps();
  bool moveOperands();
  const Array &array(bool isResult, int i) const {
    return isResult ? contract->results[i] : contract->operands[i];
  }
  const ffi_buffer &buffer(bool isResult, int i) const { return isResult ? result(i) : operand(i); }
  Type typeOf(Element element) const;
  uint64_t bytesOf(bool isResult, int i) const { return bytes[isResult ? i : mostResults + i]; }
  void describe(Text &text, bool isResult, int i) const;
  void addExpected(Text &text, bool isResult, int i) const;
  void addGiven(Text &text, bool isResult, int i) const;
  bool mismatch(bool isResult, int i);

  static constexpr int mostOperands = Contract::mostOperands, mostResults = Contract::mostResults;
  const Contract *contract = nullptr;
  Type self = typeF32;
  int operands = 0, results = 0;
  int64_t batchRank = -1, matrices = 0;
  int64_t letters[4] = {-1, -1, -1, -1};                            // m, n, k, p; -1: not known yet
  int64_t attributes[Contract::mostAttributes] = {-1, -1, -1, -1};  // -1: not known yet
  int64_t leftColumns = -1, rightRows = -1;                         // as given
  uint64_t bytes[mostResults + mostOperands] = {};
  void *inputs[mostOperands] = {};
  Scratch staged;
};

/// Answers the request for the api version. True: the frame was that request, not a call.
bool answersMetadata(ffi_frame *frame);

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }
/// A leading dimension, which must be at least 1.
inline int leading(int64_t rows) { return static_cast<int>(larger(rows, 1)); }

/// The workspace size that a routine returned in `best`, but at least `least`. A float holds only
/// 24 bits of it; sizes beyond LAPACK's integers are clamped, as they exceed the need.
inline int workSize(double best, int64_t least) {
  const double most = 0x7fffffff, size = best + best / (1 << 22) + 1;
  return static_cast<int>(larger(size > 0 && size < most ? static_cast<int64_t>(size) : 1, least));
}

/// Runs a routine on each matrix, with work memory of the size that the routine asks for, but at
/// least `least` elements of T, its minimum. run(i, work, size, info) calls it on matrix i; size -1
/// is the workspace query. `info`: one number per matrix, or null if the results have none.
template <typename T, typename Run>
ffi_error *runWithWork(Call &call, Scratch &scratch, int64_t least, int *info, Run run) {
  T best = {};
  int ignored = 0;
  run(0, &best, -1, &ignored);
  int size = workSize(realPart(best), larger(least, 1));
  T *work = scratch.take<T>(size);
  if (!work) {
    return call.noMemory();
  }
  for (int64_t i = 0, count = call.batches(); i < count; ++i) {
    run(i, work, size, info ? info + i : &ignored);
  }
  return nullptr;
}

}  // namespace hlo_lapack

/// Defines lapack_{s,d,c,z}NAME_ffi as FUNCTION<T>.
#define HLO_LAPACK_HANDLER(symbol, function, type)                                    \
  extern "C" __attribute__((visibility("default"))) ffi_error *lapack_##symbol##_ffi( \
      ffi_frame *frame) {                                                             \
    if (hlo_lapack::answersMetadata(frame)) {                                         \
      return nullptr;                                                                 \
    }                                                                                 \
    hlo_lapack::Call call(frame);                                                     \
    return hlo_lapack::function<type>(call);                                          \
  }
#define HLO_LAPACK_HANDLERS(name, function)                    \
  HLO_LAPACK_HANDLER(s##name, function, float)                 \
  HLO_LAPACK_HANDLER(d##name, function, double)                \
  HLO_LAPACK_HANDLER(c##name, function, hlo_lapack::Complex64) \
  HLO_LAPACK_HANDLER(z##name, function, hlo_lapack::Complex128)

#endif

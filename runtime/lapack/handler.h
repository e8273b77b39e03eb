//===- handler.h - What the LAPACK handlers share -------------------------===//
//
// A typed-FFI call seen as matrices: results of one shape repeated over leading batch
// dimensions, each matrix column-major as the layouts of the call say. C++ without its
// library: no exceptions, no RTTI, nothing from libstdc++.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_LAPACK_HANDLER_H
#define RUNTIME_LAPACK_HANDLER_H

extern "C" {
#include "runtime/customcall/ffi_abi.h"
}

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

inline double realPart(float x) { return x; }
inline double realPart(double x) { return x; }
inline double realPart(Complex64 x) { return x.re; }
inline double realPart(Complex128 x) { return x.re; }

/// Memory for one call of a handler: from the runtime's allocator, else from the heap. Freed when
/// it goes out of scope.
class Scratch {
 public:
  explicit Scratch(ffi_frame *frame) : frame(frame) {}
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// `count` elements of T, at least one; null if there is no memory.
  template <typename T>
  T *take(int64_t count) {
    return static_cast<T *>(takeBytes((count > 0 ? count : 1) * sizeof(T)));
  }

 private:
  void *takeBytes(size_t bytes);

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

/// One call of a handler.
class Call {
 public:
  explicit Call(ffi_frame *frame) : frame(frame) {}

  /// Checks how many buffers there are, and that extents fit LAPACK's integers. False: `error` is
  /// set.
  bool expect(int64_t operands, int64_t results);

  const ffi_buffer &operand(int i) const {
    return *static_cast<ffi_buffer *>(frame->operands.values[i]);
  }
  const ffi_buffer &result(int i) const {
    return *static_cast<ffi_buffer *>(frame->results.values[i]);
  }
  template <typename T>
  T *in(int i) const {
    return static_cast<T *>(operand(i).data);
  }
  template <typename T>
  T *out(int i) const {
    return static_cast<T *>(result(i).data);
  }

  /// The number of matrices in a buffer whose last `rank` dimensions are one of them.
  static int64_t batches(const ffi_buffer &buffer, int rank);
  /// Dimension `i` from the end: 0 is the last.
  static int extent(const ffi_buffer &buffer, int i) {
    return buffer.rank > i ? static_cast<int>(buffer.dims[buffer.rank - 1 - i]) : 1;
  }
  static int rows(const ffi_buffer &matrix) { return extent(matrix, 1); }
  static int columns(const ffi_buffer &matrix) { return extent(matrix, 0); }

  /// A number among the attributes; `otherwise` if there is none of that name.
  int64_t attribute(const char *name, int64_t otherwise) const;

  /// The operand's bytes in the result's buffer, where the call did not give both one buffer.
  void copy(int operandIndex, int resultIndex) const;

  ffi_error *fail(int code, const char *message);
  ffi_error *noMemory();

  ffi_frame *frame;
  ffi_error *error = nullptr;
};

/// Bytes of an element; 0 for a type that no LAPACK call has.
size_t elementBytes(int type);

/// Answers the question for the api version. True: the frame was no call.
bool answersMetadata(ffi_frame *frame);

inline int smaller(int a, int b) { return a < b ? a : b; }
inline int larger(int a, int b) { return a < b ? b : a; }
/// A leading dimension: at least 1.
inline int leading(int rows) { return larger(rows, 1); }

/// Runs a routine on each of `count` matrices, with work memory of the size that the routine asks
/// for, at least `least` elements of T. run(i, work, size, info) calls it on matrix i; size -1
/// asks. `info`: one number a matrix, or null where the results have none.
template <typename T, typename Run>
ffi_error *runWithWork(Call &call, Scratch &scratch, int64_t count, int least, int *info, Run run) {
  T best = {};
  int ignored = 0;
  run(0, &best, -1, &ignored);
  int size = larger(static_cast<int>(realPart(best)), least);
  T *work = scratch.take<T>(size);
  if (!work) {
    return call.noMemory();
  }
  for (int64_t i = 0; i < count; ++i) {
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

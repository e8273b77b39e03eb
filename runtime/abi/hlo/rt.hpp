/*===- hlo/rt.hpp - Compiled modules from C++ ----------------------------------===*\
 *
 * What the headers of `hlo-compile --cxx-header` are made of; C++17 and later, headers only,
 * without exceptions and RTTI. A module `demo::mm` is called so:
 *
 *   hlo::context cx{hlo::threads(4)};          // threads, scratch memory, error texts
 *   demo::mm f(cx);
 *   if (hlo::status s = f(lhs, rhs, out); !s) {
 *     std::puts(s.message());
 *   }
 *
 * hlo::check(f(lhs, rhs, out)) throws instead, where exceptions are enabled.
 *
 * Threads: a context and the modules on it serve one call at a time. Calls that run at once each
 * have a context of their own; these may share an executor (hlo::executor).
 * Licensed under Apache-2.0 WITH LLVM-exception.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_RT_HPP
#define HLO_RT_HPP

#include <hlo/pool.h>
#include <hlo/rt.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <stdexcept>
#include <string>
#endif

namespace hlo {

/*===- Status --------------------------------------------------------------------*/

/** The result of a call; true if it succeeded. */
class [[nodiscard]] status {
 public:
  /** Success. */
  constexpr status() noexcept = default;
  /** `message` is not copied; null stands for the code's name. */
  constexpr status(hlo_status code, const char *message) noexcept
      : code_(code), message_(message) {}

  constexpr bool ok() const noexcept { return code_ == HLO_OK; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  /** HLO_OK, HLO_CANCELLED, HLO_ERR_ARENA, ... of hlo/rt.h. */
  constexpr hlo_status code() const noexcept { return code_; }
  /** "HLO_ERR_ARENA"; static. */
  const char *name() const noexcept { return hlo_status_name(code_); }
  /** The text of an error, never null; empty for success. It lies in the context, and is valid
   * until the context's next call. */
  const char *message() const noexcept {
    if (ok()) {
      return "";
    }
    return message_ && *message_ ? message_ : name();
  }

 private:
  hlo_status code_ = HLO_OK;
  const char *message_ = nullptr;
};

#if defined(__cpp_exceptions)
/** What hlo::check throws; what() is "HLO_ERR_SIZE: the message". */
class error : public std::runtime_error {
 public:
  explicit error(const status &s)
      : std::runtime_error(std::string(s.name()) + ": " + s.message()), code_(s.code()) {}
  hlo_status code() const noexcept { return code_; }

 private:
  hlo_status code_;
};

/** Throws hlo::error unless the call succeeded. Only where exceptions are enabled. */
inline void check(const status &s) {
  if (!s) {
    throw error(s);
  }
}
#endif

/*===- Memory --------------------------------------------------------------------*/

/** Aligned bytes of the heap that belong to one object; can be moved, not copied. */
class memory {
 public:
  memory() noexcept = default;
  memory(memory &&other) noexcept { swap(other); }
  memory &operator=(memory &&other) noexcept {
    memory moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~memory() { release(); }

  /** Makes it at least `bytes` bytes, aligned to `align`, a power of two; the contents are lost if
   * it must grow. False if the heap has no such memory: then it is empty. */
  [[nodiscard]] bool reserve(std::size_t bytes, std::size_t align) noexcept {
    if (bytes <= bytes_ && align <= align_) {
      return true;
    }
    release();
    if (align < alignof(std::max_align_t)) {
      align = alignof(std::max_align_t);
    }
    data_ = ::operator new(bytes, std::align_val_t(align), std::nothrow);
    if (data_) {
      bytes_ = bytes;
      align_ = align;
    }
    return data_ != nullptr;
  }
  /** Frees it. */
  void release() noexcept {
    if (data_) {
      ::operator delete(data_, std::align_val_t(align_));
    }
    data_ = nullptr;
    bytes_ = align_ = 0;
  }
  void *data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }

 private:
  void swap(memory &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(align_, other.align_);
  }
  void *data_ = nullptr;
  std::size_t bytes_ = 0, align_ = 0;
};

/*===- Views ---------------------------------------------------------------------*/

template <class T, std::int64_t... Dims>
class view;

namespace detail {

/** C arrays and std::array, also of each other: their elements, and how many in each dimension. */
template <class C, class = void>
struct nest {
  using element = C;
  static constexpr std::size_t depth = 0, count = 1;
  static constexpr std::int64_t extent(std::size_t) { return 1; }
};
template <class Inner, std::size_t N>
struct nest_of {
  using element = typename nest<Inner>::element;
  static constexpr std::size_t depth = nest<Inner>::depth + 1, count = nest<Inner>::count * N;
  static constexpr std::int64_t extent(std::size_t i) {
    return i == 0 ? static_cast<std::int64_t>(N) : nest<Inner>::extent(i - 1);
  }
};
template <class Inner, std::size_t N>
struct nest<Inner[N], void> : nest_of<Inner, N> {};
/* A type with data() and a constant std::tuple_size is a std::array. */
template <class C>
struct nest<C, std::void_t<decltype(std::declval<C &>().data()),
                           decltype(std::tuple_size<std::remove_cv_t<C>>::value)>>
    : nest_of<std::remove_pointer_t<decltype(std::declval<C &>().data())>,
              std::tuple_size<std::remove_cv_t<C>>::value> {};

/** std::complex<Part>, or another pair of two parts. */
template <class C, class Part, class = void>
struct is_complex : std::false_type {};
template <class C, class Part>
struct is_complex<C, Part, std::void_t<typename C::value_type>>
    : std::bool_constant<std::is_same_v<typename C::value_type, Part> &&
                         sizeof(C) == 2 * sizeof(Part)> {};

/** Whether memory of `From` serves as memory of `To`: the same type; bool for pred; integers of one
 * size and sign; std::complex for hlo_c64 and hlo_c128. `const` may be added, not taken away. */
template <class From, class To>
constexpr bool is_compatible() {
  using F = std::remove_cv_t<From>;
  using T = std::remove_cv_t<To>;
  constexpr bool integers = std::is_integral_v<F> && std::is_integral_v<T> &&
                            sizeof(F) == sizeof(T) && std::is_signed_v<F> == std::is_signed_v<T>;
  constexpr bool complex = (std::is_same_v<T, hlo_c64> && is_complex<F, float>::value) ||
                           (std::is_same_v<T, hlo_c128> && is_complex<F, double>::value);
  return (std::is_const_v<To> || !std::is_const_v<From>) &&
         (std::is_same_v<F, T> || integers || complex);
}

template <class C>
struct is_view : std::false_type {};
template <class T, std::int64_t... Dims>
struct is_view<view<T, Dims...>> : std::true_type {};

/** What a view can be made from. */
enum class source { none, nest, range, mdspan };

template <class C, class = void>
struct has_data : std::false_type {};
template <class C>
struct has_data<
    C, std::void_t<decltype(*std::declval<C &>().data()), decltype(std::declval<C &>().size())>>
    : std::true_type {};
template <class C, class = void>
struct has_handle : std::false_type {};
template <class C>
struct has_handle<C, std::void_t<decltype(*std::declval<C &>().data_handle())>> : std::true_type {};
/* Spans; a temporary one is fine, unlike a temporary that owns its elements. */
template <class C, class = void>
struct borrows : std::false_type {};
template <class C>
struct borrows<C, std::void_t<typename C::element_type>> : std::true_type {};

/** `Ref`: the type of an argument, an lvalue reference or the type of a temporary. */
template <class Ref, class T>
constexpr source source_of() {
  using C = std::remove_reference_t<Ref>;
  if constexpr (is_view<std::remove_cv_t<C>>::value || std::is_pointer_v<C> ||
                !(std::is_lvalue_reference_v<Ref> || borrows<std::remove_cv_t<C>>::value)) {
    return source::none;
  } else if constexpr (has_handle<C>::value) {
    using E = std::remove_pointer_t<decltype(std::declval<C &>().data_handle())>;
    return is_compatible<E, T>() ? source::mdspan : source::none;
  } else if constexpr (has_data<C>::value && nest<C>::depth == 0) {
    using E = std::remove_pointer_t<decltype(std::declval<C &>().data())>;
    return is_compatible<E, T>() ? source::range : source::none;
  } else {
    return is_compatible<typename nest<C>::element, T>() ? source::nest : source::none;
  }
}

} /* namespace detail */

/** One array: a pointer, and the sizes of its dimensions at compile time. Elements are in row-major
 * order: where a module has another layout, its header states the dimensions in the order of
 * memory, and the formula. Elements of 1, 2 and 4 bits are packed: then the view is of bytes. The
 * memory belongs to the caller; any address aligned to the element will do, 64 is faster.
 *
 * Made from a pointer (explicitly: nobody knows its size), and implicitly from a C array or
 * std::array of that many elements, from std::vector, std::span and other types with data() and
 * size(), from std::mdspan, and with no dimensions from a variable. Sizes and shapes that are known
 * only at run time are checked by the call: HLO_ERR_VIEW. */
template <class T, std::int64_t... Dims>
class view {
  static_assert(((Dims >= 0) && ...), "a dimension is negative");

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  static constexpr std::size_t rank() noexcept { return sizeof...(Dims); }
  /** Number of elements. */
  static constexpr std::size_t size() noexcept {
    return (std::size_t{1} * ... * static_cast<std::size_t>(Dims));
  }
  static constexpr std::size_t bytes() noexcept { return size() * sizeof(T); }
  /** Size of dimension `i` < rank(). */
  static constexpr std::int64_t extent(std::size_t i) noexcept {
    const std::int64_t dims[] = {Dims..., 0};
    return dims[i];
  }

  /** Null: an error in a call that reads or writes the array. */
  constexpr view() noexcept = default;

  template <class P,
            std::enable_if_t<
                std::is_pointer_v<std::remove_reference_t<P>> &&
                    detail::is_compatible<std::remove_pointer_t<std::remove_reference_t<P>>, T>(),
                int> = 0>
  explicit view(P &&data) noexcept : data_(reinterpret_cast<T *>(data)) {}

  /** From a view of the same dimensions: of what a call wrote, for what the next one reads. */
  template <class U,
            std::enable_if_t<!std::is_same_v<U, T> && detail::is_compatible<U, T>(), int> = 0>
  view(const view<U, Dims...> &other) noexcept
      : data_(reinterpret_cast<T *>(other.data())), given_(other.given()) {}

  template <class C, std::enable_if_t<detail::source_of<C, T>() != detail::source::none, int> = 0>
  view(C &&from) noexcept {
    constexpr detail::source source = detail::source_of<C, T>();
    if constexpr (source == detail::source::range) {
      data_ = reinterpret_cast<T *>(from.data());
      given_ = static_cast<std::size_t>(from.size());
    } else if constexpr (source == detail::source::mdspan) {
      data_ = reinterpret_cast<T *>(from.data_handle());
      given_ = is_row_major(from) ? size() : other_shape;
    } else {
      using nest = detail::nest<std::remove_reference_t<C>>;
      static_assert(nest::count == size(), "the array and the view differ in size");
      static_assert(has_shape<nest>(), "the array's dimensions are not the view's");
      data_ = reinterpret_cast<T *>(&from);
    }
  }

  constexpr T *data() const noexcept { return data_; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size(); }
  /** The element at a position in memory. */
  constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }
  /** The element at an index for each dimension. */
  template <class... I>
  constexpr T &operator()(I... index) const noexcept {
    static_assert(sizeof...(I) == sizeof...(Dims), "one index for each dimension");
    std::int64_t place = 0;
    ((place = place * Dims + static_cast<std::int64_t>(index)), ...);
    return data_[place];
  }

  /** Number of elements of what the view was made from; other_shape: a std::mdspan of other extents
   * or strides. A call checks it against size(). */
  constexpr std::size_t given() const noexcept { return given_; }
  static constexpr std::size_t other_shape = SIZE_MAX;
  constexpr bool fits() const noexcept { return given_ == size(); }

 private:
  /* An array of as many dimensions must have the same ones. */
  template <class Nest>
  static constexpr bool has_shape() {
    if constexpr (Nest::depth != sizeof...(Dims)) {
      return true;
    } else {
      for (std::size_t i = 0; i < sizeof...(Dims); ++i) {
        if (Nest::extent(i) != extent(i)) {
          return false;
        }
      }
      return true;
    }
  }
  template <class C>
  static bool is_row_major(const C &from) noexcept {
    if (static_cast<std::size_t>(from.rank()) != sizeof...(Dims)) {
      return false;
    }
    std::int64_t stride = 1;
    for (std::size_t i = sizeof...(Dims); i-- > 0; stride *= extent(i)) {
      if (static_cast<std::int64_t>(from.extent(i)) != extent(i) ||
          (extent(i) > 1 && static_cast<std::int64_t>(from.stride(i)) != stride)) {
        return false;
      }
    }
    return true;
  }

  T *data_ = nullptr;
  std::size_t given_ = size();
};

/** An array whose dimensions are sizes of the call: a pointer, and the number of elements there if
 * it is known. Elements are dense for the sizes: a batch of 3 is 3 rows. Otherwise like a view;
 * made from a pointer, and implicitly from arrays, std::vector, std::span and the like, which may
 * have more elements than the call needs. */
template <class T>
class dense_view {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  /** Null: an error in a call that reads or writes the array. */
  constexpr dense_view() noexcept = default;

  template <class P,
            std::enable_if_t<
                std::is_pointer_v<std::remove_reference_t<P>> &&
                    detail::is_compatible<std::remove_pointer_t<std::remove_reference_t<P>>, T>(),
                int> = 0>
  explicit dense_view(P &&data) noexcept : data_(reinterpret_cast<T *>(data)) {}
  template <class P, std::enable_if_t<detail::is_compatible<P, T>(), int> = 0>
  dense_view(P *data, std::size_t size) noexcept
      : data_(reinterpret_cast<T *>(data)), given_(size) {}

  /** From a view of what a call wrote, for what the next one reads. */
  template <class U,
            std::enable_if_t<!std::is_same_v<U, T> && detail::is_compatible<U, T>(), int> = 0>
  dense_view(const dense_view<U> &other) noexcept
      : data_(reinterpret_cast<T *>(other.data())), given_(other.given()) {}

  template <class C, std::enable_if_t<detail::source_of<C, T>() == detail::source::range ||
                                          detail::source_of<C, T>() == detail::source::nest,
                                      int> = 0>
  dense_view(C &&from) noexcept {
    if constexpr (detail::source_of<C, T>() == detail::source::range) {
      data_ = reinterpret_cast<T *>(from.data());
      given_ = static_cast<std::size_t>(from.size());
    } else {
      data_ = reinterpret_cast<T *>(&from);
      given_ = detail::nest<std::remove_reference_t<C>>::count;
    }
  }

  constexpr T *data() const noexcept { return data_; }
  /** Number of elements at data(); SIZE_MAX: not known. */
  constexpr std::size_t given() const noexcept { return given_; }

 private:
  T *data_ = nullptr;
  std::size_t given_ = SIZE_MAX;
};

/*===- Context -------------------------------------------------------------------*/

/** An option of a context: a pool of `count` threads, the caller's included, that belongs to it; 0:
 * as many as this process has CPUs (hlo_pool_cpus). */
struct threads {
  explicit constexpr threads(std::uint32_t n = 0) noexcept : count(n) {}
  std::uint32_t count;
};

/** An option of a context: threads of another context or of a pool of the program
 * (hlo/executor_tbb.h), which must outlive it. */
struct executor {
  explicit constexpr executor(const hlo_executor *e) noexcept : used(e) {}
  const hlo_executor *used;
};

/** An option of a context: scratch memory of the caller, aligned to 64. The context allocates
 * none; a module that needs more fails with HLO_ERR_ARENA. */
struct scratch {
  constexpr scratch(void *data, std::size_t n) noexcept : memory(data), bytes(n) {}
  void *memory;
  std::size_t bytes;
};

/** What calls have beside their arrays: threads (by default the caller's alone), scratch memory (by
 * default from the heap, kept for the next call and grown for the module that needs most), and
 * error texts. It must outlive the modules on it, and does not move. */
class context {
 public:
  context() noexcept {
    hlo_call_clear(&call_, static_cast<std::uint32_t>(sizeof call_));
    call_.message = message_;
    call_.message_bytes = sizeof message_;
  }
  /** With any of hlo::threads, hlo::executor, hlo::scratch. */
  template <class First, class... Options>
  explicit context(First first, Options... options) noexcept : context() {
    set(first);
    (set(options), ...);
  }
  context(const context &) = delete;
  context &operator=(const context &) = delete;
  ~context() { hlo_pool_destroy(pool_); }

  /** The call that modules make, to be filled in: feeds, custom calls, collectives, cancel,
   * deadline_ns, rng_seed, a profile, an allocator (then no scratch memory is kept). */
  hlo_call &call() noexcept { return call_; }
  /** Threads that work on a loop, the caller's included. */
  std::uint32_t num_threads() const noexcept { return call_.exec ? call_.exec->num_threads : 1; }
  /** For the option hlo::executor of another context; null: there are no threads. */
  const hlo_executor *threads_of() const noexcept { return call_.exec; }
  /** Frees the scratch memory until the next call. */
  void trim() noexcept {
    if (owns_arena()) {
      arena_.release();
      call_.arena = nullptr;
      call_.arena_bytes = 0;
    }
  }

  /** For generated headers. Before a call: provides scratch memory of `bytes` bytes. */
  status start(std::uint64_t bytes, std::size_t align) noexcept {
    message_[0] = '\0';
    if (!has_threads_) {
      return status(HLO_RESOURCE_EXHAUSTED, "hlo::threads: the system gives no such threads");
    }
    if (bytes == 0 || call_.alloc || !owns_arena()) {
      return status();
    }
    const bool reserved =
        bytes <= SIZE_MAX && arena_.reserve(static_cast<std::size_t>(bytes), align);
    call_.arena = arena_.data();
    call_.arena_bytes = arena_.size();
    return reserved ? status() : status(HLO_ERR_ALLOC, "there is no memory for the arena");
  }
  /** For generated headers. After a call. */
  status finish(hlo_status code) const noexcept { return status(code, call_.message); }
  /** For generated headers. A view that does not fit; `what`: "mm: input 0 (lhs)". */
  template <class T, std::int64_t... Dims>
  status refuse(const char *what, const view<T, Dims...> &array) noexcept {
    if (array.given() == view<T, Dims...>::other_shape) {
      std::snprintf(message_, sizeof message_, "%s has other extents or strides", what);
    } else {
      std::snprintf(message_, sizeof message_, "%s needs %zu elements, given %zu", what,
                    array.size(), array.given());
    }
    return status(HLO_ERR_VIEW, message_);
  }

  /** For generated headers. Whether array `i` has room for what a call with these sizes reads or
   * writes; `what`: "mm: input 0 (lhs)". Of results whose sizes are known only after the call, the
   * bounds count. */
  template <class T>
  status check_dense(const char *what, const hlo_module_desc *desc, bool is_input, std::uint32_t i,
                     const std::int64_t *sizes, const dense_view<T> &array) noexcept {
    std::int64_t dims[max_rank];
    const hlo_buffer_desc *leaf = is_input ? hlo_input_at(desc, i) : hlo_output_at(desc, i);
    if (array.given() == SIZE_MAX || leaf->rank > max_rank) {
      return status();
    }
    if (is_input) {
      hlo_input_dims(desc, i, sizes, dims);
    } else {
      hlo_output_dims(desc, i, sizes, dims);
    }
    std::size_t needed = 1;
    for (std::int32_t d = 0; d < leaf->rank; ++d) {
      needed *= static_cast<std::size_t>(dims[d]);
    }
    if (array.given() >= needed) {
      return status();
    }
    std::snprintf(message_, sizeof message_, "%s needs %zu elements, given %zu", what, needed,
                  array.given());
    return status(HLO_ERR_VIEW, message_);
  }

 private:
  static constexpr std::int32_t max_rank = 64;
  bool owns_arena() const noexcept { return !fixed_ && call_.arena == arena_.data(); }
  void set(const threads &option) noexcept {
    hlo_pool_destroy(pool_);
    pool_ = hlo_pool_create(option.count);
    has_threads_ = pool_ != nullptr;
    call_.exec = pool_ ? hlo_pool_executor(pool_) : nullptr;
  }
  void set(const executor &option) noexcept { call_.exec = option.used; }
  void set(const scratch &option) noexcept {
    fixed_ = true;
    call_.arena = option.memory;
    call_.arena_bytes = option.bytes;
  }

  hlo_call call_;
  hlo_pool *pool_ = nullptr;
  memory arena_;
  bool fixed_ = false, has_threads_ = true;
  char message_[512] = "";
};

} /* namespace hlo */

#endif /* HLO_RT_HPP */

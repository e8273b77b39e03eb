//===- hlo/literal.h - Values on the host ----------------------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_LITERAL_H
#define HLO_LITERAL_H

#include <cstring>
#include <hlo/shape.h>
#include <initializer_list>

namespace hlo {

/// An array or a tuple of literals, in memory of its own. Elements are row-major and dense whatever
/// layout the shape has; those of less than a byte take a byte each.
class Literal {
public:
  /// The empty tuple.
  Literal();
  /// Zeros. The shape is valid; dynamic dimensions get their bounds' sizes.
  explicit Literal(const Shape &shape);
  static Literal CreateFromShape(const Shape &shape) { return Literal(shape); }
  /// A copy of row-major elements. InvalidArgument if `bytes` is not size_bytes() of the shape.
  static absl::StatusOr<Literal> CreateFromBytes(const Shape &shape, absl::string_view bytes);
  static Literal MakeTuple(std::vector<Literal> elements);

  const Shape &shape() const { return form; }
  PrimitiveType element_type() const { return form.element_type(); }
  bool IsTuple() const { return form.IsTuple(); }
  std::int64_t element_count() const { return ShapeUtil::ElementsIn(form); }

  /// The bytes of an array; empty for a tuple.
  const void *untyped_data() const { return bytes.data(); }
  void *untyped_data() { return bytes.data(); }
  std::size_t size_bytes() const { return bytes.size(); }

  /// The elements of an array, row-major. T must be the element type: float of F32.
  template <typename T> absl::Span<const T> data() const {
    return absl::MakeConstSpan(reinterpret_cast<const T *>(checked<T>()), bytes.size() / sizeof(T));
  }
  template <typename T> absl::Span<T> data() {
    return absl::MakeSpan(reinterpret_cast<T *>(const_cast<char *>(checked<T>())),
                          bytes.size() / sizeof(T));
  }
  /// The element at a position that is in bounds. T must be the element type.
  template <typename T> T Get(absl::Span<const std::int64_t> index) const {
    T value;
    std::memcpy(&value, checked<T>() + offset(index), sizeof(T));
    return value;
  }
  template <typename T> void Set(absl::Span<const std::int64_t> index, T value) {
    std::memcpy(const_cast<char *>(checked<T>()) + offset(index), &value, sizeof(T));
  }
  /// Element 0 of an array that has one.
  template <typename T> T GetFirstElement() const {
    T value;
    std::memcpy(&value, checked<T>(), sizeof(T));
    return value;
  }
  /// The element at a position as double; 0 for complex types.
  double GetAsDouble(absl::Span<const std::int64_t> index) const;

  /// The elements of a tuple; empty for an array.
  const std::vector<Literal> &tuple_elements() const { return elements; }
  std::vector<Literal> DecomposeTuple() && { return std::move(elements); }

  /// The same elements in another shape. InvalidArgument if their numbers differ.
  absl::StatusOr<Literal> Reshape(absl::Span<const std::int64_t> dimensions) const;
  /// The elements in another type: integers truncate, floating types round to nearest.
  absl::StatusOr<Literal> Convert(PrimitiveType element_type) const;
  /// The bytes of an array in memory of this layout, padding included. Padding without a value is
  /// zero. InvalidArgument if the layout does not fit the shape.
  absl::StatusOr<std::vector<char>> ToLayout(const Layout &layout) const;

  /// As in HLO text: "f32[2] {1, 2.5}".
  std::string ToString() const;
  /// The same without the shape: "{1, 2.5}".
  std::string ToStringWithoutShape() const;
  /// Equal shapes and equal bytes.
  bool operator==(const Literal &other) const;
  bool operator!=(const Literal &other) const { return !(*this == other); }

private:
  template <typename T> const char *checked() const {
    check(primitive_util::NativeToPrimitiveType<T>());
    return bytes.data();
  }
  /// Ends the program if `type` is not the element type: the caller's C++ type is wrong.
  void check(PrimitiveType type) const;
  std::size_t offset(absl::Span<const std::int64_t> index) const;

  Shape form;
  std::vector<char> bytes;
  std::vector<Literal> elements;
};

/// A view of a literal is a reference to it.
using LiteralSlice = Literal;

std::ostream &operator<<(std::ostream &out, const Literal &literal);

/// Makes literals. A wrong number of elements ends the program, as a wrong type does.
class LiteralUtil {
public:
  template <typename T> static Literal CreateR0(T value) {
    return CreateFromElements<T>({}, absl::MakeConstSpan(&value, 1));
  }
  template <typename T> static Literal CreateR1(absl::Span<const T> values) {
    return CreateFromElements<T>({static_cast<std::int64_t>(values.size())}, values);
  }
  template <typename T> static Literal CreateR1(std::initializer_list<T> values) {
    return CreateFromElements<T>({static_cast<std::int64_t>(values.size())},
                                 std::vector<T>(values));
  }
  /// Rows must have one length, as must the lists of CreateR3 and CreateR4.
  template <typename T>
  static Literal CreateR2(std::initializer_list<std::initializer_list<T>> values) {
    std::vector<T> all;
    for (const auto &row : values) {
      all.insert(all.end(), row.begin(), row.end());
    }
    std::int64_t rows = static_cast<std::int64_t>(values.size());
    return CreateFromElements<T>(
        {rows, rows ? static_cast<std::int64_t>(values.begin()->size()) : 0}, all);
  }
  template <typename T>
  static Literal
  CreateR3(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values) {
    std::vector<T> all;
    std::int64_t sizes[3] = {static_cast<std::int64_t>(values.size()), 0, 0};
    for (const auto &plane : values) {
      sizes[1] = static_cast<std::int64_t>(plane.size());
      for (const auto &row : plane) {
        sizes[2] = static_cast<std::int64_t>(row.size());
        all.insert(all.end(), row.begin(), row.end());
      }
    }
    return CreateFromElements<T>(sizes, all);
  }
  template <typename T>
  static Literal CreateR4(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<T>>>>
          values) {
    std::vector<T> all;
    std::int64_t sizes[4] = {static_cast<std::int64_t>(values.size()), 0, 0, 0};
    for (const auto &block : values) {
      sizes[1] = static_cast<std::int64_t>(block.size());
      for (const auto &plane : block) {
        sizes[2] = static_cast<std::int64_t>(plane.size());
        for (const auto &row : plane) {
          sizes[3] = static_cast<std::int64_t>(row.size());
          all.insert(all.end(), row.begin(), row.end());
        }
      }
    }
    return CreateFromElements<T>(sizes, all);
  }
  /// Row-major elements, as many as the sizes say.
  template <typename T, typename List>
  static Literal CreateFromElements(absl::Span<const std::int64_t> dimensions, const List &values) {
    Literal literal(Shape(primitive_util::NativeToPrimitiveType<T>(), dimensions));
    checkCount(literal, static_cast<std::int64_t>(values.size()));
    T *to = reinterpret_cast<T *>(literal.untyped_data());
    for (const auto &value : values) {
      *to++ = value;
    }
    return literal;
  }
  /// Every element has this value.
  template <typename T>
  static Literal CreateFull(absl::Span<const std::int64_t> dimensions, T value) {
    Literal literal(Shape(primitive_util::NativeToPrimitiveType<T>(), dimensions));
    for (T &element : literal.data<T>()) {
      element = value;
    }
    return literal;
  }
  static Literal MakeTuple(absl::Span<const Literal *const> elements);
  static Literal MakeTupleOwned(std::vector<Literal> elements) {
    return Literal::MakeTuple(std::move(elements));
  }

  /// Scalars. The type is one that arrays can have.
  static Literal Zero(PrimitiveType type);
  static Literal One(PrimitiveType type);
  /// The least value: -infinity of floating types that have it. Of complex types that of the parts,
  /// with imaginary part 0.
  static Literal MinValue(PrimitiveType type);
  static Literal MaxValue(PrimitiveType type);
  /// A scalar of this type, rounded to it. Complex types get imaginary part 0.
  static Literal Scalar(PrimitiveType type, double value);

private:
  static void checkCount(const Literal &literal, std::int64_t count);
};

} // namespace hlo

#endif

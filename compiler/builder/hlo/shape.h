//===- hlo/shape.h - Shapes, layouts, indices ------------------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
// A shape is an element type and a list of sizes, or a tuple of shapes, or a token. A layout says
// in which order the elements of an array lie in memory. The dimensions of a rank N array are
// numbered from 0 to N - 1; their order says nothing about memory.
//
// Classes here are values; nothing refers to memory of the caller. Functions that can fail say so
// by their type; others require what their comment says.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_SHAPE_H
#define HLO_SHAPE_H

#include "absl/types/span.h"
#include <hlo/primitive_type.h>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace hlo {

/// What lies in the padding of a layout.
enum PaddingValue {
  INVALID_PAD = 0, ///< undefined
  ZERO_PAD,
  ONE_PAD,
  LOWEST_PAD,
  HIGHEST_PAD,
  UNKNOWN_PAD
};

/// The order of an array's elements in memory.
class Layout {
public:
  /// Of a scalar.
  Layout() = default;
  /// `minor_to_major`: the dimensions, fastest varying first.
  explicit Layout(absl::Span<const std::int64_t> minor_to_major)
      : minorToMajor(minor_to_major.begin(), minor_to_major.end()) {}

  const std::vector<std::int64_t> &minor_to_major() const { return minorToMajor; }
  std::int64_t minor_to_major(int i) const { return minorToMajor[i]; }
  int minor_to_major_size() const { return static_cast<int>(minorToMajor.size()); }
  Layout &add_minor_to_major(std::int64_t dimension) {
    minorToMajor.push_back(dimension);
    return *this;
  }

  /// The sizes of the array in memory, one per dimension, none below the array's. Empty: no
  /// padding. Arrays of compiled modules have none; LayoutUtil, IndexUtil and Literal support it.
  const std::vector<std::int64_t> &padded_dimensions() const { return paddedDimensions; }
  Layout &set_padded_dimensions(absl::Span<const std::int64_t> sizes) {
    paddedDimensions.assign(sizes.begin(), sizes.end());
    return *this;
  }
  PaddingValue padding_value() const { return paddingValue; }
  Layout &set_padding_value(PaddingValue value) {
    paddingValue = value;
    return *this;
  }

  /// "{1,0}".
  std::string ToString() const;
  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

private:
  std::vector<std::int64_t> minorToMajor, paddedDimensions;
  PaddingValue paddingValue = INVALID_PAD;
};

/// The type of a value: an array, a tuple, a token or an opaque.
class Shape {
public:
  /// Of no value; PRIMITIVE_TYPE_INVALID.
  Shape() = default;
  /// An array. `dynamic`: which sizes are bounds (`<=N`), empty for none.
  Shape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions,
        absl::Span<const bool> dynamic = {});
  /// A tuple.
  explicit Shape(std::vector<Shape> tuple_shapes);

  PrimitiveType element_type() const { return type; }
  Shape &set_element_type(PrimitiveType element) {
    type = element;
    return *this;
  }

  bool IsArray() const { return primitive_util::IsArrayType(type); }
  bool IsTuple() const { return type == TUPLE; }
  bool IsToken() const { return type == TOKEN; }
  bool IsOpaque() const { return type == OPAQUE_TYPE; }

  /// Number of dimensions.
  std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  int dimensions_size() const { return static_cast<int>(sizes.size()); }
  const std::vector<std::int64_t> &dimensions() const { return sizes; }
  std::int64_t dimensions(int i) const { return sizes[i]; }
  Shape &set_dimensions(int i, std::int64_t size) {
    sizes[i] = size;
    return *this;
  }
  Shape &add_dimensions(std::int64_t size, bool is_dynamic = false);
  bool is_dynamic_dimension(int i) const { return dynamic[i]; }
  Shape &set_dynamic_dimension(int i, bool is_dynamic) {
    dynamic[i] = is_dynamic;
    return *this;
  }
  const std::vector<bool> &dynamic_dimensions() const { return dynamic; }
  /// Whether no dimension, in a tuple of no array, is dynamic.
  bool is_static() const;

  /// Whether a layout was given; if not, the array is row-major.
  bool has_layout() const { return hasLayout; }
  const Layout &layout() const { return order; }
  Shape &set_layout(Layout layout) {
    order = std::move(layout);
    hasLayout = true;
    return *this;
  }
  Shape &clear_layout() {
    order = Layout();
    hasLayout = false;
    return *this;
  }

  int tuple_shapes_size() const { return static_cast<int>(elements.size()); }
  const std::vector<Shape> &tuple_shapes() const { return elements; }
  const Shape &tuple_shapes(int i) const { return elements[i]; }

  /// As in HLO text: "f32[2,<=3]", "(s32[], f32[4])"; with layouts that were given:
  /// "f32[2,3]{0,1}".
  std::string ToString(bool print_layout = false) const;

  /// Equal types, sizes and dynamic dimensions, and the same order of elements in memory.
  bool operator==(const Shape &other) const;
  bool operator!=(const Shape &other) const { return !(*this == other); }

private:
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;
  std::vector<std::int64_t> sizes;
  std::vector<bool> dynamic;
  std::vector<Shape> elements;
  Layout order;
  bool hasLayout = false;
};

std::ostream &operator<<(std::ostream &out, const Layout &layout);
std::ostream &operator<<(std::ostream &out, const Shape &shape);

/// The shapes of a computation's parameters and of its result.
class ProgramShape {
public:
  const std::vector<Shape> &parameters() const { return shapes; }
  const Shape &parameters(int i) const { return shapes[i]; }
  int parameters_size() const { return static_cast<int>(shapes.size()); }
  const std::vector<std::string> &parameter_names() const { return names; }
  const Shape &result() const { return resultShape; }
  void AddParameter(Shape shape, std::string name) {
    shapes.push_back(std::move(shape));
    names.push_back(std::move(name));
  }
  void set_result(Shape shape) { resultShape = std::move(shape); }
  /// "(x: f32[8]) -> f32[]".
  std::string ToString() const;

private:
  std::vector<Shape> shapes;
  std::vector<std::string> names;
  Shape resultShape;
};

/// Makes and examines shapes.
class ShapeUtil {
public:
  static Shape MakeShape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions);
  /// `dynamic_dimensions`: which sizes are bounds.
  static Shape MakeShape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions,
                         const std::vector<bool> &dynamic_dimensions);
  static Shape MakeShapeWithLayout(PrimitiveType element_type,
                                   absl::Span<const std::int64_t> dimensions,
                                   absl::Span<const std::int64_t> minor_to_major);
  static Shape MakeScalarShape(PrimitiveType element_type);
  static Shape MakeTupleShape(absl::Span<const Shape> shapes);
  /// The empty tuple.
  static Shape MakeNil();
  static Shape MakeTokenShape();
  static Shape MakeOpaqueShape();
  /// With a layout: row-major.
  static Shape MakeShapeWithDescendingLayout(PrimitiveType element_type,
                                             absl::Span<const std::int64_t> dimensions);

  /// Reads a shape of HLO text: "f32[2,<=3]{0,1}", "(s32[], token[])". Tiles, memory spaces and the
  /// other properties of layouts are errors.
  static absl::StatusOr<Shape> ParseShapeString(absl::string_view text);
  static std::string HumanString(const Shape &shape);
  static std::string HumanStringWithLayout(const Shape &shape);

  /// The number of elements of an array; bounds count as sizes. INT64_MAX if it does not fit.
  static std::int64_t ElementsIn(const Shape &shape);
  /// Bytes of an array, or of all arrays of a tuple, without padding, elements of less than a byte
  /// packed as in buffers of compiled modules. INT64_MAX if that does not fit.
  static std::int64_t ByteSizeOf(const Shape &shape);
  /// The number of dimensions larger than 1.
  static std::int64_t TrueRank(const Shape &shape);
  /// The size of a dimension; negative numbers count from the end: -1 is the last one. The number
  /// must be in range.
  static std::int64_t GetDimension(const Shape &shape, std::int64_t dimension_number);
  /// The dimension that a negative number means.
  static std::int64_t GetDimensionNumber(const Shape &shape, std::int64_t dimension_number);

  static bool IsScalar(const Shape &shape) { return shape.IsArray() && shape.rank() == 0; }
  static bool IsScalarWithElementType(const Shape &shape, PrimitiveType element_type);
  /// An array of rank 0 or whose sizes are all 1.
  static bool IsEffectiveScalar(const Shape &shape);
  static bool IsZeroElementArray(const Shape &shape);
  /// Equal but for layouts.
  static bool Compatible(const Shape &a, const Shape &b);
  /// Equal but for layouts and element types.
  static bool CompatibleIgnoringElementType(const Shape &a, const Shape &b);
  static bool SameDimensions(const Shape &a, const Shape &b);
  static bool SameElementType(const Shape &a, const Shape &b);
  static bool Equal(const Shape &a, const Shape &b) { return a == b; }

  static Shape ChangeElementType(const Shape &shape, PrimitiveType element_type);
  /// Dimension i of the result is dimension permutation[i] of `shape`.
  static Shape PermuteDimensions(absl::Span<const std::int64_t> permutation, const Shape &shape);
  static Shape DeleteDimension(std::int64_t dimension, Shape shape);
  /// All sizes static.
  static Shape MakeStaticShape(const Shape &shape);
  /// The element at a path of tuple indices: {1, 0} is element 0 of element 1. InvalidArgument if
  /// there is none.
  static absl::StatusOr<Shape> GetSubshape(const Shape &shape,
                                           absl::Span<const std::int64_t> index);
  /// The arrays and tokens of a tuple, depth first; {shape} if it is none.
  static std::vector<Shape> FlattenTupleShape(const Shape &shape);

  /// InvalidArgument for negative sizes, products that do not fit, a layout that is no permutation,
  /// and PRIMITIVE_TYPE_INVALID.
  static absl::Status ValidateShape(const Shape &shape);
};

/// Makes and examines layouts.
class LayoutUtil {
public:
  static Layout MakeLayout(absl::Span<const std::int64_t> minor_to_major);
  /// {n-1, ..., 0}: row-major.
  static Layout MakeDescendingLayout(std::int64_t rank);
  /// {0, ..., n-1}: column-major.
  static Layout MakeAscendingLayout(std::int64_t rank);
  static Layout GetDefaultLayoutForRank(std::int64_t rank) { return MakeDescendingLayout(rank); }
  static Layout GetDefaultLayoutForShape(const Shape &shape) {
    return MakeDescendingLayout(shape.rank());
  }
  /// The layout of a shape, row-major if none was given.
  static Layout LayoutOf(const Shape &shape);
  /// Of the shape and of all elements of a tuple.
  static void SetToDefaultLayout(Shape *shape);
  static void ClearLayout(Shape *shape);
  static bool HasLayout(const Shape &shape) { return shape.has_layout(); }

  /// The dimension that is i-th from the fastest varying one.
  static std::int64_t Minor(const Layout &layout, std::int64_t i) {
    return layout.minor_to_major(static_cast<int>(i));
  }
  /// The dimension that is i-th from the slowest varying one.
  static std::int64_t Major(const Layout &layout, std::int64_t i) {
    return layout.minor_to_major(static_cast<int>(layout.minor_to_major_size() - 1 - i));
  }
  static std::vector<std::int64_t> MinorToMajor(const Shape &shape) {
    return LayoutOf(shape).minor_to_major();
  }
  /// "Dimension 0 is minor": {0, 1, ...}.
  static bool IsMonotonicWithDim0Minor(const Layout &layout);
  /// "Dimension 0 is major": {..., 1, 0}.
  static bool IsMonotonicWithDim0Major(const Layout &layout);
  static bool IsPadded(const Shape &shape);
  /// The size of a dimension in memory.
  static std::int64_t PaddedDimension(const Shape &shape, std::int64_t dimension);
  static bool Equal(const Layout &a, const Layout &b) { return a == b; }
  static std::string HumanString(const Layout &layout) { return layout.ToString(); }
  /// InvalidArgument unless minor_to_major is a permutation of the shape's dimensions and
  /// padded_dimensions is empty or holds the array.
  static absl::Status ValidateLayoutForShape(const Layout &layout, const Shape &shape);
};

/// Converts between the position of an element, one index per dimension, and its index in memory,
/// counted in elements from the start of the array's buffer, for any valid layout and padding.
class IndexUtil {
public:
  /// `multi_index` has shape.rank() entries, which are in bounds.
  static std::int64_t
  MultidimensionalIndexToLinearIndex(const Shape &shape,
                                     absl::Span<const std::int64_t> multi_index);
  /// The position of a linear index that is in the buffer. With padding the position may be out of
  /// the array's bounds.
  static std::vector<std::int64_t> LinearIndexToMultidimensionalIndex(const Shape &shape,
                                                                      std::int64_t linear_index);
  /// Advances to the next position in row-major order; false, and all zero, after the last one.
  static bool BumpIndices(const Shape &shape, absl::Span<std::int64_t> indices);
  /// The distance in memory of two elements that are adjacent in the dimension.
  static std::int64_t GetDimensionStride(const Shape &shape, std::int64_t dimension);
  static bool IndexInBounds(const Shape &shape, absl::Span<const std::int64_t> index);
  /// Below 0, 0 or above 0 as `a` is before, at or behind `b` in row-major order.
  static int CompareIndices(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b);
};

} // namespace hlo

#endif

//===- Shape.cpp - Shapes, layouts and their text -------------------------===//
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <algorithm>
#include <hlo/index.h>
#include <hlo/shape.h>
#include <limits>
#include <ostream>

namespace hlo {

//===----------------------------------------------------------------------===//
// Layout, Shape
//===----------------------------------------------------------------------===//

std::string Layout::ToString() const {
  return absl::StrCat("{", absl::StrJoin(minorToMajor, ","), "}");
}

bool Layout::operator==(const Layout &other) const {
  return minorToMajor == other.minorToMajor && paddedDimensions == other.paddedDimensions &&
         paddingValue == other.paddingValue;
}

Shape::Shape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions,
             absl::Span<const bool> isDynamic)
    : type(element_type), sizes(dimensions.begin(), dimensions.end()),
      dynamic(isDynamic.begin(), isDynamic.end()) {
  dynamic.resize(sizes.size(), false);
}

Shape::Shape(std::vector<Shape> tuple_shapes) : type(TUPLE), elements(std::move(tuple_shapes)) {}

Shape &Shape::add_dimensions(std::int64_t size, bool is_dynamic) {
  sizes.push_back(size);
  dynamic.push_back(is_dynamic);
  return *this;
}

bool Shape::is_static() const {
  return std::none_of(dynamic.begin(), dynamic.end(), [](bool is) { return is; }) &&
         std::all_of(elements.begin(), elements.end(),
                     [](const Shape &element) { return element.is_static(); });
}

std::string Shape::ToString(bool print_layout) const {
  if (IsTuple()) {
    return absl::StrCat("(",
                        absl::StrJoin(elements, ", ",
                                      [&](std::string *out, const Shape &element) {
                                        *out += element.ToString(print_layout);
                                      }),
                        ")");
  }
  std::string text = absl::StrCat(primitive_util::LowercasePrimitiveTypeName(type), "[");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    absl::StrAppend(&text, i ? "," : "", dynamic[i] ? "<=" : "", sizes[i]);
  }
  text += "]";
  if (print_layout && hasLayout && !sizes.empty()) {
    text += order.ToString();
  }
  return text;
}

bool Shape::operator==(const Shape &other) const {
  return type == other.type && sizes == other.sizes && dynamic == other.dynamic &&
         elements == other.elements &&
         (!IsArray() || LayoutUtil::LayoutOf(*this) == LayoutUtil::LayoutOf(other));
}

std::ostream &operator<<(std::ostream &out, const Layout &layout) {
  return out << layout.ToString();
}

std::ostream &operator<<(std::ostream &out, const Shape &shape) {
  return out << shape.ToString(/*print_layout=*/true);
}

std::string ProgramShape::ToString() const {
  std::string text = "(";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    absl::StrAppend(&text, i ? ", " : "", names[i], names[i].empty() ? "" : ": ",
                    shapes[i].ToString());
  }
  return absl::StrCat(text, ") -> ", resultShape.ToString());
}

//===----------------------------------------------------------------------===//
// ShapeUtil
//===----------------------------------------------------------------------===//

Shape ShapeUtil::MakeShape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions) {
  return Shape(element_type, dimensions);
}

Shape ShapeUtil::MakeShape(PrimitiveType element_type, absl::Span<const std::int64_t> dimensions,
                           const std::vector<bool> &dynamic_dimensions) {
  Shape shape(element_type, dimensions);
  for (std::size_t i = 0; i < std::min(dimensions.size(), dynamic_dimensions.size()); ++i) {
    shape.set_dynamic_dimension(static_cast<int>(i), dynamic_dimensions[i]);
  }
  return shape;
}

Shape ShapeUtil::MakeShapeWithLayout(PrimitiveType element_type,
                                     absl::Span<const std::int64_t> dimensions,
                                     absl::Span<const std::int64_t> minor_to_major) {
  return Shape(element_type, dimensions).set_layout(Layout(minor_to_major));
}

Shape ShapeUtil::MakeScalarShape(PrimitiveType element_type) { return Shape(element_type, {}); }

Shape ShapeUtil::MakeTupleShape(absl::Span<const Shape> shapes) {
  return Shape(std::vector<Shape>(shapes.begin(), shapes.end()));
}

Shape ShapeUtil::MakeNil() { return MakeTupleShape({}); }
Shape ShapeUtil::MakeTokenShape() { return Shape(TOKEN, {}); }
Shape ShapeUtil::MakeOpaqueShape() { return Shape(OPAQUE_TYPE, {}); }

Shape ShapeUtil::MakeShapeWithDescendingLayout(PrimitiveType element_type,
                                               absl::Span<const std::int64_t> dimensions) {
  Shape shape(element_type, dimensions);
  return shape.set_layout(LayoutUtil::MakeDescendingLayout(shape.rank()));
}

namespace {
/// Reads the text of a shape.
class ShapeReader {
public:
  explicit ShapeReader(absl::string_view text) : text(text) {}

  absl::StatusOr<Shape> read() {
    Shape shape;
    if (!readShape(shape, 0)) {
      return fail();
    }
    skipSpace();
    if (at != text.size()) {
      message = "text after the shape";
      return fail();
    }
    return shape;
  }

private:
  absl::Status fail() const {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is no shape: ", message, " at character ", at + 1));
  }
  bool bad(const char *why) {
    message = why;
    return false;
  }
  void skipSpace() {
    while (at < text.size() && absl::ascii_isspace(text[at])) {
      ++at;
    }
  }
  bool consume(absl::string_view wanted) {
    skipSpace();
    if (text.substr(at, wanted.size()) != wanted) {
      return false;
    }
    at += wanted.size();
    return true;
  }
  bool readNumber(std::int64_t &number) {
    skipSpace();
    std::size_t end = at;
    while (end < text.size() && absl::ascii_isdigit(text[end])) {
      ++end;
    }
    if (!absl::SimpleAtoi(text.substr(at, end - at), &number)) {
      return bad("expected a number");
    }
    at = end;
    return true;
  }
  bool readShape(Shape &shape, int depth) {
    // A tuple in a tuple in a tuple ... is no reason to overflow the stack.
    if (depth > 1000) {
      return bad("tuples are nested too deeply");
    }
    if (consume("(")) {
      std::vector<Shape> elements;
      if (!consume(")")) {
        do {
          elements.emplace_back();
          if (!readShape(elements.back(), depth + 1)) {
            return false;
          }
        } while (consume(","));
        if (!consume(")")) {
          return bad("expected ',' or ')'");
        }
      }
      shape = Shape(std::move(elements));
      return true;
    }
    return readArray(shape);
  }
  bool readArray(Shape &shape) {
    skipSpace();
    std::size_t end = at;
    while (end < text.size() && absl::ascii_isalnum(text[end])) {
      ++end;
    }
    auto type = primitive_util::StringToPrimitiveType(text.substr(at, end - at));
    if (!type.ok() || *type == TUPLE) {
      return bad("expected an element type");
    }
    at = end;
    shape = Shape(*type, {});
    if (!consume("[")) {
      return bad("expected '['");
    }
    if (!consume("]")) {
      do {
        bool isBound = consume("<=");
        std::int64_t size = 0;
        if (!readNumber(size)) {
          return false;
        }
        shape.add_dimensions(size, isBound);
      } while (consume(","));
      if (!consume("]")) {
        return bad("expected ',' or ']'");
      }
    }
    if (!shape.IsArray() && shape.rank()) {
      return bad("tokens and opaque values have no sizes");
    }
    return !consume("{") || readLayout(shape);
  }
  bool readLayout(Shape &shape) {
    Layout layout;
    if (!consume("}")) {
      do {
        std::int64_t dimension = 0;
        if (!readNumber(dimension)) {
          return false;
        }
        layout.add_minor_to_major(dimension);
      } while (consume(","));
      if (!consume("}")) {
        return bad("expected ',' or '}'");
      }
    }
    if (!LayoutUtil::ValidateLayoutForShape(layout, shape).ok()) {
      return bad("the layout is not an order of the dimensions");
    }
    shape.set_layout(std::move(layout));
    return true;
  }

  absl::string_view text;
  std::size_t at = 0;
  const char *message = "";
};

/// a * b for sizes; INT64_MAX if it does not fit.
std::int64_t times(std::int64_t a, std::int64_t b) { return hlo_times(a, b); }
} // namespace

absl::StatusOr<Shape> ShapeUtil::ParseShapeString(absl::string_view text) {
  return ShapeReader(text).read();
}

std::string ShapeUtil::HumanString(const Shape &shape) { return shape.ToString(); }

std::string ShapeUtil::HumanStringWithLayout(const Shape &shape) {
  return shape.ToString(/*print_layout=*/true);
}

std::int64_t ShapeUtil::ElementsIn(const Shape &shape) {
  bool isEmpty = std::find(shape.dimensions().begin(), shape.dimensions().end(), 0) !=
                 shape.dimensions().end();
  std::int64_t count = isEmpty ? 0 : 1;
  for (std::int64_t size : shape.dimensions()) {
    count = times(count, size);
  }
  return count;
}

std::int64_t ShapeUtil::ByteSizeOf(const Shape &shape) {
  if (shape.IsTuple()) {
    std::int64_t total = 0;
    for (const Shape &element : shape.tuple_shapes()) {
      std::int64_t bytes = ByteSizeOf(element);
      total = bytes > std::numeric_limits<std::int64_t>::max() - total
                  ? std::numeric_limits<std::int64_t>::max()
                  : total + bytes;
    }
    return total;
  }
  if (!shape.IsArray()) {
    return 0;
  }
  std::int64_t bits = hlo_type_bits(shape.element_type());
  std::int64_t count = ElementsIn(shape);
  return bits >= 8 ? times(count, bits / 8) : count / (8 / bits) + (count % (8 / bits) ? 1 : 0);
}

std::int64_t ShapeUtil::TrueRank(const Shape &shape) {
  return std::count_if(shape.dimensions().begin(), shape.dimensions().end(),
                       [](std::int64_t size) { return size > 1; });
}

std::int64_t ShapeUtil::GetDimensionNumber(const Shape &shape, std::int64_t dimension_number) {
  return dimension_number < 0 ? dimension_number + shape.rank() : dimension_number;
}

std::int64_t ShapeUtil::GetDimension(const Shape &shape, std::int64_t dimension_number) {
  return shape.dimensions(static_cast<int>(GetDimensionNumber(shape, dimension_number)));
}

bool ShapeUtil::IsScalarWithElementType(const Shape &shape, PrimitiveType element_type) {
  return IsScalar(shape) && shape.element_type() == element_type;
}

bool ShapeUtil::IsEffectiveScalar(const Shape &shape) {
  return shape.IsArray() && TrueRank(shape) == 0 && ElementsIn(shape) == 1;
}

bool ShapeUtil::IsZeroElementArray(const Shape &shape) {
  return shape.IsArray() && ElementsIn(shape) == 0;
}

bool ShapeUtil::CompatibleIgnoringElementType(const Shape &a, const Shape &b) {
  if (a.IsArray() && b.IsArray()) {
    return SameDimensions(a, b) && a.dynamic_dimensions() == b.dynamic_dimensions();
  }
  return a.element_type() == b.element_type() && a.tuple_shapes_size() == b.tuple_shapes_size() &&
         std::equal(a.tuple_shapes().begin(), a.tuple_shapes().end(), b.tuple_shapes().begin(),
                    CompatibleIgnoringElementType);
}

bool ShapeUtil::Compatible(const Shape &a, const Shape &b) {
  if (a.IsTuple() && b.IsTuple()) {
    return a.tuple_shapes_size() == b.tuple_shapes_size() &&
           std::equal(a.tuple_shapes().begin(), a.tuple_shapes().end(), b.tuple_shapes().begin(),
                      Compatible);
  }
  return SameElementType(a, b) && CompatibleIgnoringElementType(a, b);
}

bool ShapeUtil::SameDimensions(const Shape &a, const Shape &b) {
  return a.dimensions() == b.dimensions();
}

bool ShapeUtil::SameElementType(const Shape &a, const Shape &b) {
  return a.element_type() == b.element_type();
}

Shape ShapeUtil::ChangeElementType(const Shape &shape, PrimitiveType element_type) {
  return Shape(shape).set_element_type(element_type);
}

Shape ShapeUtil::PermuteDimensions(absl::Span<const std::int64_t> permutation, const Shape &shape) {
  Shape result(shape.element_type(), {});
  std::vector<std::int64_t> inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    int from = static_cast<int>(permutation[i]);
    result.add_dimensions(shape.dimensions(from), shape.is_dynamic_dimension(from));
    inverse[from] = static_cast<std::int64_t>(i);
  }
  if (shape.has_layout()) {
    Layout layout;
    for (std::int64_t dimension : shape.layout().minor_to_major()) {
      layout.add_minor_to_major(inverse[dimension]);
    }
    result.set_layout(std::move(layout));
  }
  return result;
}

Shape ShapeUtil::DeleteDimension(std::int64_t dimension, Shape shape) {
  Shape result(shape.element_type(), {});
  Layout layout;
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (i != dimension) {
      result.add_dimensions(shape.dimensions(i), shape.is_dynamic_dimension(i));
    }
  }
  for (std::int64_t minor : shape.layout().minor_to_major()) {
    if (minor != dimension) {
      layout.add_minor_to_major(minor - (minor > dimension));
    }
  }
  return shape.has_layout() ? result.set_layout(std::move(layout)) : result;
}

Shape ShapeUtil::MakeStaticShape(const Shape &shape) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    for (const Shape &element : shape.tuple_shapes()) {
      elements.push_back(MakeStaticShape(element));
    }
    return Shape(std::move(elements));
  }
  Shape result = shape;
  for (int i = 0; i < result.dimensions_size(); ++i) {
    result.set_dynamic_dimension(i, false);
  }
  return result;
}

absl::StatusOr<Shape> ShapeUtil::GetSubshape(const Shape &shape,
                                             absl::Span<const std::int64_t> index) {
  const Shape *at = &shape;
  for (std::int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= at->tuple_shapes_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(shape.ToString(), " has no element {", absl::StrJoin(index, ","), "}"));
    }
    at = &at->tuple_shapes(static_cast<int>(i));
  }
  return *at;
}

std::vector<Shape> ShapeUtil::FlattenTupleShape(const Shape &shape) {
  if (!shape.IsTuple()) {
    return {shape};
  }
  std::vector<Shape> leaves;
  for (const Shape &element : shape.tuple_shapes()) {
    std::vector<Shape> inner = FlattenTupleShape(element);
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

absl::Status ShapeUtil::ValidateShape(const Shape &shape) {
  if (shape.IsTuple()) {
    for (const Shape &element : shape.tuple_shapes()) {
      if (absl::Status status = ValidateShape(element); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  if (!shape.IsArray()) {
    return shape.IsToken() || shape.IsOpaque()
               ? absl::OkStatus()
               : absl::InvalidArgumentError("the shape has no element type");
  }
  for (std::int64_t size : shape.dimensions()) {
    if (size < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a size of ", shape.ToString(), " is negative"));
    }
  }
  if (times(ElementsIn(shape), primitive_util::ByteWidth(shape.element_type())) ==
      std::numeric_limits<std::int64_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the size in bytes of ", shape.ToString(), " does not fit into 63 bits"));
  }
  return shape.has_layout() ? LayoutUtil::ValidateLayoutForShape(shape.layout(), shape)
                            : absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// LayoutUtil
//===----------------------------------------------------------------------===//

Layout LayoutUtil::MakeLayout(absl::Span<const std::int64_t> minor_to_major) {
  return Layout(minor_to_major);
}

Layout LayoutUtil::MakeDescendingLayout(std::int64_t rank) {
  Layout layout;
  for (std::int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    layout.add_minor_to_major(dimension);
  }
  return layout;
}

Layout LayoutUtil::MakeAscendingLayout(std::int64_t rank) {
  Layout layout;
  for (std::int64_t dimension = 0; dimension < rank; ++dimension) {
    layout.add_minor_to_major(dimension);
  }
  return layout;
}

Layout LayoutUtil::LayoutOf(const Shape &shape) {
  return shape.has_layout() ? shape.layout() : MakeDescendingLayout(shape.rank());
}

/// A shape with `change` applied to its arrays.
template <typename F> static Shape mapArrays(const Shape &shape, F change) {
  if (!shape.IsTuple()) {
    return change(shape);
  }
  std::vector<Shape> elements;
  for (const Shape &element : shape.tuple_shapes()) {
    elements.push_back(mapArrays(element, change));
  }
  return Shape(std::move(elements));
}

void LayoutUtil::SetToDefaultLayout(Shape *shape) {
  *shape = mapArrays(*shape, [](Shape array) {
    return array.IsArray() ? array.set_layout(MakeDescendingLayout(array.rank())) : array;
  });
}

void LayoutUtil::ClearLayout(Shape *shape) {
  *shape = mapArrays(*shape, [](Shape array) { return array.clear_layout(); });
}

bool LayoutUtil::IsMonotonicWithDim0Minor(const Layout &layout) {
  return std::is_sorted(layout.minor_to_major().begin(), layout.minor_to_major().end());
}

bool LayoutUtil::IsMonotonicWithDim0Major(const Layout &layout) {
  return std::is_sorted(layout.minor_to_major().rbegin(), layout.minor_to_major().rend());
}

bool LayoutUtil::IsPadded(const Shape &shape) {
  const auto &padded = shape.layout().padded_dimensions();
  return !padded.empty() && padded != shape.dimensions();
}

std::int64_t LayoutUtil::PaddedDimension(const Shape &shape, std::int64_t dimension) {
  const auto &padded = shape.layout().padded_dimensions();
  return padded.empty() ? shape.dimensions(static_cast<int>(dimension)) : padded[dimension];
}

absl::Status LayoutUtil::ValidateLayoutForShape(const Layout &layout, const Shape &shape) {
  std::vector<std::int64_t> sorted = layout.minor_to_major();
  std::sort(sorted.begin(), sorted.end());
  bool isPermutation = sorted == MakeAscendingLayout(shape.rank()).minor_to_major();
  const auto &padded = layout.padded_dimensions();
  bool holds = padded.empty() || padded.size() == shape.dimensions().size();
  for (std::size_t i = 0; holds && i < padded.size(); ++i) {
    holds = padded[i] >= shape.dimensions(static_cast<int>(i));
  }
  if (!isPermutation || !holds) {
    return absl::InvalidArgumentError(
        absl::StrCat(isPermutation ? "padded_dimensions {" : "minor_to_major {",
                     absl::StrJoin(isPermutation ? padded : layout.minor_to_major(), ","),
                     isPermutation ? "} do not hold " : "} is not an order of the dimensions of ",
                     shape.ToString()));
  }
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// IndexUtil
//===----------------------------------------------------------------------===//

/// The shape for hlo/index.h.
static hlo_array arrayOf(const Shape &shape) {
  hlo_array array;
  array.rank = shape.dimensions_size();
  array.dims = shape.dimensions().data();
  array.minor_to_major = shape.has_layout() ? shape.layout().minor_to_major().data() : nullptr;
  const auto &padded = shape.layout().padded_dimensions();
  array.padded_dims = padded.empty() ? nullptr : padded.data();
  return array;
}

std::int64_t
IndexUtil::MultidimensionalIndexToLinearIndex(const Shape &shape,
                                              absl::Span<const std::int64_t> multi_index) {
  hlo_array array = arrayOf(shape);
  return hlo_linear_index(&array, multi_index.data());
}

std::vector<std::int64_t> IndexUtil::LinearIndexToMultidimensionalIndex(const Shape &shape,
                                                                        std::int64_t linear_index) {
  hlo_array array = arrayOf(shape);
  std::vector<std::int64_t> index(shape.dimensions_size());
  hlo_array_index(&array, linear_index, index.data());
  return index;
}

bool IndexUtil::BumpIndices(const Shape &shape, absl::Span<std::int64_t> indices) {
  hlo_array array = arrayOf(shape);
  return hlo_next_index(&array, indices.data());
}

std::int64_t IndexUtil::GetDimensionStride(const Shape &shape, std::int64_t dimension) {
  hlo_array array = arrayOf(shape);
  return hlo_stride(&array, dimension);
}

bool IndexUtil::IndexInBounds(const Shape &shape, absl::Span<const std::int64_t> index) {
  hlo_array array = arrayOf(shape);
  return index.size() == shape.dimensions().size() && hlo_index_in_bounds(&array, index.data());
}

int IndexUtil::CompareIndices(absl::Span<const std::int64_t> a, absl::Span<const std::int64_t> b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

} // namespace hlo

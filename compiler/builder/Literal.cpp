//===- Literal.cpp - Values on the host -----------------------------------===//
#include "absl/strings/str_cat.h"
#include "compiler/builder/Number.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <hlo/index.h>
#include <hlo/literal.h>
#include <ostream>

namespace hlo {

using detail::Number;

//===----------------------------------------------------------------------===//
// Literal
//===----------------------------------------------------------------------===//

Literal::Literal() : form(ShapeUtil::MakeNil()) {}

Literal::Literal(const Shape &shape) : form(ShapeUtil::MakeStaticShape(shape)) {
  if (form.IsTuple()) {
    for (const Shape &element : form.tuple_shapes()) {
      elements.emplace_back(element);
    }
  } else if (form.IsArray()) {
    bytes.resize(static_cast<std::size_t>(ShapeUtil::ElementsIn(form)) *
                 primitive_util::ByteWidth(form.element_type()));
  }
}

absl::StatusOr<Literal> Literal::CreateFromBytes(const Shape &shape, absl::string_view data) {
  if (absl::Status status = ShapeUtil::ValidateShape(shape); !status.ok()) {
    return status;
  }
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(shape.ToString(), " is no array"));
  }
  std::int64_t wanted =
      hlo_times(ShapeUtil::ElementsIn(shape), primitive_util::ByteWidth(shape.element_type()));
  if (static_cast<std::uint64_t>(wanted) != data.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a literal of ", shape.ToString(), " has ",
                                                   wanted, " bytes, got ", data.size()));
  }
  Literal literal(shape);
  std::copy(data.begin(), data.end(), literal.bytes.begin());
  return literal;
}

Literal Literal::MakeTuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  for (const Literal &element : elements) {
    shapes.push_back(element.shape());
  }
  Literal literal;
  literal.form = Shape(std::move(shapes));
  literal.elements = std::move(elements);
  return literal;
}

void Literal::check(PrimitiveType type) const {
  if (type == form.element_type()) {
    return;
  }
  std::string text = form.ToString();
  absl::string_view name = primitive_util::LowercasePrimitiveTypeName(type);
  std::fprintf(stderr, "hlo::Literal: a literal of shape %s is read as %.*s\n", text.c_str(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

std::size_t Literal::offset(absl::Span<const std::int64_t> index) const {
  std::size_t element = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    element = element * form.dimensions(static_cast<int>(i)) + index[i];
  }
  return element * primitive_util::ByteWidth(form.element_type());
}

double Literal::GetAsDouble(absl::Span<const std::int64_t> index) const {
  if (!form.IsArray() || primitive_util::IsComplexType(form.element_type())) {
    return 0;
  }
  return Number::Read(form.element_type(), bytes.data() + offset(index)).AsDouble();
}

absl::StatusOr<Literal> Literal::Reshape(absl::Span<const std::int64_t> dimensions) const {
  Shape shape(form.element_type(), dimensions);
  return CreateFromBytes(shape, absl::string_view(bytes.data(), bytes.size()));
}

absl::StatusOr<Literal> Literal::Convert(PrimitiveType element_type) const {
  if (!form.IsArray() || !primitive_util::IsArrayType(element_type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot convert a literal of ", form.ToString(), " to ",
                     primitive_util::LowercasePrimitiveTypeName(element_type)));
  }
  Literal result(ShapeUtil::ChangeElementType(form, element_type));
  int from = primitive_util::ByteWidth(form.element_type());
  int to = primitive_util::ByteWidth(element_type);
  std::int64_t count = element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    Number::Read(form.element_type(), bytes.data() + i * from)
        .Write(element_type, result.bytes.data() + i * to);
  }
  return result;
}

absl::StatusOr<std::vector<char>> Literal::ToLayout(const Layout &layout) const {
  if (!form.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat(form.ToString(), " is no array"));
  }
  if (absl::Status status = LayoutUtil::ValidateLayoutForShape(layout, form); !status.ok()) {
    return status;
  }
  std::int64_t places = 1;
  for (std::int64_t i = 0; i < form.rank(); ++i) {
    places = hlo_times(places, LayoutUtil::PaddedDimension(Shape(form).set_layout(layout), i));
  }
  int width = primitive_util::ByteWidth(form.element_type());
  if (hlo_times(places, width) > std::int64_t(1) << 46) {
    return absl::InvalidArgumentError(
        absl::StrCat(form.ToString(), " is too large with this padding"));
  }
  std::vector<char> result(places * width);
  Literal padding;
  switch (layout.padding_value()) {
  case ONE_PAD: padding = LiteralUtil::One(form.element_type()); break;
  case LOWEST_PAD: padding = LiteralUtil::MinValue(form.element_type()); break;
  case HIGHEST_PAD: padding = LiteralUtil::MaxValue(form.element_type()); break;
  default: break;
  }
  for (std::int64_t i = 0; padding.size_bytes() && i < places; ++i) {
    std::memcpy(result.data() + i * width, padding.untyped_data(), width);
  }
  if (element_count() == 0) {
    return result;
  }
  Shape target = Shape(form).set_layout(layout);
  std::vector<std::int64_t> index(form.rank());
  const char *from = bytes.data();
  do {
    std::int64_t at = IndexUtil::MultidimensionalIndexToLinearIndex(target, index);
    std::memcpy(result.data() + at * width, from, width);
    from += width;
  } while (IndexUtil::BumpIndices(form, absl::MakeSpan(index)));
  return result;
}

bool Literal::operator==(const Literal &other) const {
  return ShapeUtil::Compatible(form, other.form) && bytes == other.bytes &&
         elements == other.elements;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Appends the elements from `data` of the dimensions from `dimension` on; returns their end.
static const char *appendElements(std::string &text, const Shape &shape, int dimension,
                                  const char *data) {
  if (dimension == shape.dimensions_size()) {
    text += Number::Read(shape.element_type(), data)
                .ToString(shape.element_type(), /*isScalar=*/shape.rank() == 0);
    return data + primitive_util::ByteWidth(shape.element_type());
  }
  text += "{";
  for (std::int64_t i = 0; i < shape.dimensions(dimension); ++i) {
    text += i ? ", " : "";
    data = appendElements(text, shape, dimension + 1, data);
  }
  text += "}";
  return data;
}

std::string Literal::ToStringWithoutShape() const {
  std::string text;
  if (form.IsTuple()) {
    text = "(";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      absl::StrAppend(&text, i ? ", " : "", elements[i].ToStringWithoutShape());
    }
    return text + ")";
  }
  if (form.IsArray()) {
    appendElements(text, form, 0, bytes.data());
  }
  return text;
}

std::string Literal::ToString() const {
  if (form.IsTuple()) {
    std::string text = "(";
    for (std::size_t i = 0; i < elements.size(); ++i) {
      absl::StrAppend(&text, i ? ", " : "", elements[i].ToString());
    }
    return text + ")";
  }
  return absl::StrCat(form.ToString(), form.IsArray() ? " " : "", ToStringWithoutShape());
}

std::ostream &operator<<(std::ostream &out, const Literal &literal) {
  return out << literal.ToString();
}

//===----------------------------------------------------------------------===//
// LiteralUtil
//===----------------------------------------------------------------------===//

void LiteralUtil::checkCount(const Literal &literal, std::int64_t count) {
  if (count == literal.element_count()) {
    return;
  }
  std::string text = literal.shape().ToString();
  std::fprintf(stderr, "hlo::LiteralUtil: %lld elements are given for a literal of shape %s\n",
               static_cast<long long>(count), text.c_str());
  std::abort();
}

Literal LiteralUtil::MakeTuple(absl::Span<const Literal *const> elements) {
  std::vector<Literal> copies;
  for (const Literal *element : elements) {
    copies.push_back(*element);
  }
  return Literal::MakeTuple(std::move(copies));
}

static Literal scalar(PrimitiveType type, const Number &number) {
  Literal literal{Shape(type, {})};
  number.Write(type, static_cast<char *>(literal.untyped_data()));
  return literal;
}

Literal LiteralUtil::Zero(PrimitiveType type) { return Scalar(type, 0); }
Literal LiteralUtil::One(PrimitiveType type) { return Scalar(type, 1); }
Literal LiteralUtil::Scalar(PrimitiveType type, double value) {
  return scalar(type, Number::Real(value));
}

Literal LiteralUtil::MinValue(PrimitiveType type) { return scalar(type, Number::Least(type)); }

Literal LiteralUtil::MaxValue(PrimitiveType type) { return scalar(type, Number::Greatest(type)); }

} // namespace hlo

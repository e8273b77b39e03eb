//===- seed_layout.cpp - Shapes, layouts, indices -------------------------===//
//
// Rows of the table of the specification's sections, of the document on shapes: see SeedTable.h.
// Their examples are expressions on the host.
//
//===----------------------------------------------------------------------===//
#include "SeedTable.h"

using namespace seed;

/// The elements a b c / d e f, in memory of a layout; '.' for padding.
static std::string inMemory(const Layout &layout) {
  const Literal letters = LiteralUtil::CreateR2<std::int8_t>({{'a', 'b', 'c'}, {'d', 'e', 'f'}});
  absl::StatusOr<std::vector<char>> bytes = letters.ToLayout(layout);
  std::string text = bytes.ok() ? std::string(bytes->begin(), bytes->end())
                                : std::string(bytes.status().message());
  for (char &c : text) {
    c = c ? c : '0';
  }
  return text;
}

ROW(Shapes, "ShapeUtil::MakeShape(element_type, dimensions)", "layout: 术语、符号和约定") {
  HOLDS(ShapeUtil::MakeShape(F32, {2, 3, 5, 7}).ToString(), std::string("f32[2,3,5,7]"));
  HOLDS(ShapeUtil::MakeShape(F32, {2, 3, 5}).rank(), 3);
  HOLDS(ShapeUtil::MakeShape(F32, {2, 3, 5}).dimensions(1), 3);
  HOLDS(ShapeUtil::TrueRank(ShapeUtil::MakeShape(F32, {1, 3, 1, 5})), 2);
  // Negative numbers count from the end.
  HOLDS(ShapeUtil::GetDimension(ShapeUtil::MakeShape(F32, {2, 3, 5}), -1), 5);
  HOLDS(ShapeUtil::GetDimension(ShapeUtil::MakeShape(F32, {2, 3, 5}), -2), 3);
  HOLDS(ShapeUtil::GetDimensionNumber(ShapeUtil::MakeShape(F32, {2, 3, 5}), -1), 2);
  REFUSES(ShapeUtil::ValidateShape(ShapeUtil::MakeShape(F32, {2, -3})), "is negative");
  REFUSES(ShapeUtil::ParseShapeString("f32[2,").status(),
          "is no shape: expected a number at character");
  FAILS(Parameter(b, 0, ShapeUtil::MakeShape(F32, {2, -3}), "p"), "is negative");
}

ROW(Layouts, "Layout(minor_to_major); LayoutUtil::MakeLayout", "layout: 布局",
    "layout: 维度的主次排序") {
  HOLDS(inMemory(LayoutUtil::MakeLayout({0, 1})), std::string("adbecf")); // column-major
  HOLDS(inMemory(LayoutUtil::MakeLayout({1, 0})), std::string("abcdef")); // row-major
  HOLDS(LayoutUtil::IsMonotonicWithDim0Minor(LayoutUtil::MakeLayout({0, 1, 2})), true);
  HOLDS(LayoutUtil::IsMonotonicWithDim0Major(LayoutUtil::MakeLayout({2, 1, 0})), true);
  HOLDS(LayoutUtil::Minor(LayoutUtil::MakeLayout({1, 0}), 0), 1);
  REFUSES(LayoutUtil::ValidateLayoutForShape(LayoutUtil::MakeLayout({0, 0}),
                                             ShapeUtil::MakeShape(F32, {2, 3})),
          "is not an order of the dimensions of");
  REFUSES(LayoutUtil::ValidateLayoutForShape(LayoutUtil::MakeLayout({0}),
                                             ShapeUtil::MakeShape(F32, {2, 3})),
          "is not an order of the dimensions of");
  FAILS(Parameter(b, 0, ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 2}), "p"),
        "is not an order of the dimensions of");
}

ROW(DefaultLayout, "LayoutUtil::GetDefaultLayoutForShape(shape)", "layout: 默认主次排序") {
  HOLDS(LayoutUtil::LayoutOf(ShapeUtil::MakeShape(F32, {2, 3})).ToString(), std::string("{1,0}"));
  HOLDS(LayoutUtil::GetDefaultLayoutForShape(ShapeUtil::MakeShape(F32, {2, 3, 5})).ToString(),
        std::string("{2,1,0}"));
  HOLDS(ShapeUtil::MakeShape(F32, {2, 3}) == ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {1, 0}),
        true);
  HOLDS(ShapeUtil::MakeShape(F32, {2, 3}) == ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1}),
        false);
  auto x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(x(b), f32({2, 3}, {1, 2, 3, 4, 5, 6}));
  REFUSES(LayoutUtil::ValidateLayoutForShape(Layout(), ShapeUtil::MakeShape(F32, {2, 3})),
          "is not an order of the dimensions of");
}

ROW(Padding, "Layout::set_padded_dimensions(sizes); Layout::set_padding_value(value)",
    "layout: 边缘填充") {
  HOLDS(inMemory(LayoutUtil::MakeLayout({0, 1}).set_padded_dimensions({3, 5}).set_padding_value(
            ZERO_PAD)),
        std::string("ad0be0cf0000000"));
  REFUSES(
      LayoutUtil::ValidateLayoutForShape(LayoutUtil::MakeLayout({0, 1}).set_padded_dimensions({3}),
                                         ShapeUtil::MakeShape(F32, {2, 3})),
      "padded_dimensions");
  REFUSES(LayoutUtil::ValidateLayoutForShape(
              LayoutUtil::MakeLayout({0, 1}).set_padded_dimensions({3, 2}),
              ShapeUtil::MakeShape(F32, {2, 3})),
          "padded_dimensions");
}

ROW(Indices,
    "IndexUtil::MultidimensionalIndexToLinearIndex(shape, multi_index); "
    "IndexUtil::LinearIndexToMultidimensionalIndex(shape, linear_index)",
    "layout: 数组的索引") {
  const Shape rows = ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {1, 0});
  const Shape columns = ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1});
  HOLDS(IndexUtil::MultidimensionalIndexToLinearIndex(rows, {1, 2}), 5);
  HOLDS(IndexUtil::MultidimensionalIndexToLinearIndex(rows, {1, 0}), 3);
  HOLDS(IndexUtil::MultidimensionalIndexToLinearIndex(columns, {1, 0}), 1);
  HOLDS(IndexUtil::MultidimensionalIndexToLinearIndex(columns, {0, 1}), 2);
  HOLDS(IndexUtil::LinearIndexToMultidimensionalIndex(columns, 3),
        (std::vector<std::int64_t>{1, 1}));
  HOLDS(IndexUtil::LinearIndexToMultidimensionalIndex(rows, 3), (std::vector<std::int64_t>{1, 0}));
  HOLDS(IndexUtil::IndexInBounds(rows, {1, 2}), true);
  HOLDS(IndexUtil::IndexInBounds(rows, {2, 0}), false);
  // Parameters in any layout hold the same elements.
  Values x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  RUNS(Transpose(x(b), {1, 0}), f32({3, 2}, {1, 4, 2, 5, 3, 6}));
  REFUSES(ShapeUtil::ValidateShape(ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {1})),
          "is not an order of the dimensions of");
}

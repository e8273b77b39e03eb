//===- Movement.cpp - Constants, shapes, slices, gather -------------------===//
#include "absl/strings/str_join.h"
#include "compiler/builder/Instruction.h"
#include <hlo/index.h>
#include <hlo/ops/movement.h>

namespace hlo {

using detail::Instruction;

//===----------------------------------------------------------------------===//
// Values without operands
//===----------------------------------------------------------------------===//

XlaOp ConstantLiteral(XlaBuilder *builder, const LiteralSlice &literal, SourceLocation at) {
  return builder ? builder->addConstant(literal, at) : XlaOp();
}

XlaOp Constant(XlaBuilder *builder, const LiteralSlice &literal, SourceLocation at) {
  return ConstantLiteral(builder, literal, at);
}

/// A scalar constant of a type that may be none of arrays.
static XlaOp scalarConstant(XlaBuilder *builder, PrimitiveType type, double value,
                            SourceLocation at) {
  if (!primitive_util::IsArrayType(type)) {
    return Instruction("constant", {}, at, builder).fail("there are no scalars of this type");
  }
  return ConstantLiteral(builder, LiteralUtil::Scalar(type, value), at);
}

XlaOp Zero(XlaBuilder *builder, PrimitiveType type, SourceLocation at) {
  return scalarConstant(builder, type, 0, at);
}

XlaOp One(XlaBuilder *builder, PrimitiveType type, SourceLocation at) {
  return scalarConstant(builder, type, 1, at);
}

XlaOp Iota(XlaBuilder *builder, const Shape &shape, std::int64_t iota_dimension,
           SourceLocation at) {
  return Instruction("iota", {}, at, builder)
      .number("iota_dimension", iota_dimension)
      .shape(shape)
      .add();
}

XlaOp Iota(XlaBuilder *builder, PrimitiveType type, std::int64_t size, SourceLocation at) {
  return Iota(builder, Shape(type, {size}), 0, at);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Dimensions of size 1 may come and go around a dynamic dimension, which stays dynamic.
static void copyDynamicDimensions(const Shape &from, Shape &to) {
  auto larger = [](const Shape &shape) {
    std::vector<int> all;
    for (int i = 0; i < shape.dimensions_size(); ++i) {
      if (shape.dimensions(i) != 1 || shape.is_dynamic_dimension(i)) {
        all.push_back(i);
      }
    }
    return all;
  };
  std::vector<int> have = larger(from), want = larger(to);
  if (have.size() != want.size()) {
    return;
  }
  for (std::size_t i = 0; i < have.size(); ++i) {
    if (from.dimensions(have[i]) == to.dimensions(want[i])) {
      to.set_dynamic_dimension(want[i], from.is_dynamic_dimension(have[i]));
    }
  }
}

XlaOp Reshape(XlaOp operand, absl::Span<const std::int64_t> dimensions, SourceLocation at) {
  Instruction inst("reshape", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  Shape result(from->element_type(), dimensions);
  if (absl::Status status = ShapeUtil::ValidateShape(result); !status.ok()) {
    return inst.fail(status.message());
  }
  copyDynamicDimensions(*from, result);
  return inst.shape(result).add();
}

XlaOp Reshape(XlaOp operand, absl::Span<const std::int64_t> dimensions,
              absl::Span<const std::int64_t> new_sizes, SourceLocation at) {
  return Reshape(Transpose(operand, dimensions, at), new_sizes, at);
}

XlaOp Reshape(const Shape &shape, XlaOp operand, SourceLocation at) {
  Instruction inst("reshape", {operand}, at);
  if (const Shape *from = inst.arrayOf(0);
      from && shape.IsArray() && from->element_type() != shape.element_type()) {
    return inst.fail("element types differ: the operand is ", from->ToString(), ", the shape is ",
                     shape.ToString());
  }
  return inst.shape(shape).add();
}

XlaOp Collapse(XlaOp operand, absl::Span<const std::int64_t> dimensions, SourceLocation at) {
  Instruction inst("collapse", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= from->rank() ||
        (i && dimensions[i] != dimensions[i - 1] + 1)) {
      return inst.fail("dimensions ", detail::listText(dimensions),
                       " must be consecutive dimensions of ", from->ToString(), ", in order");
    }
  }
  if (dimensions.size() <= 1) {
    return operand;
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < from->rank(); ++i) {
    std::int64_t size = from->dimensions(static_cast<int>(i));
    if (i > dimensions.front() && i <= dimensions.back()) {
      sizes.back() = hlo_times(sizes.back(), size);
    } else {
      sizes.push_back(size);
    }
  }
  return Reshape(operand, sizes, at);
}

XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes,
                     absl::Span<const std::int64_t> new_size_bounds,
                     const std::vector<bool> &dims_are_dynamic, SourceLocation at) {
  Instruction inst("dynamic-reshape", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  if (dim_sizes.size() != new_size_bounds.size() ||
      dims_are_dynamic.size() != new_size_bounds.size()) {
    return inst.fail("dim_sizes has ", dim_sizes.size(), " entries, new_size_bounds ",
                     new_size_bounds.size(), ", dims_are_dynamic ", dims_are_dynamic.size());
  }
  Shape result = ShapeUtil::MakeShape(from->element_type(), new_size_bounds, dims_are_dynamic);
  return inst.operands(dim_sizes).shape(result).add();
}

XlaOp Transpose(XlaOp operand, absl::Span<const std::int64_t> permutation, SourceLocation at) {
  Instruction inst("transpose", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  // Unwritten, the result's layout would keep all bytes in place; the builder's arrays are
  // row-major.
  Shape result(from->element_type(), {});
  for (std::int64_t dimension : permutation) {
    if (dimension >= 0 && dimension < from->rank()) {
      result.add_dimensions(from->dimensions(static_cast<int>(dimension)),
                            from->is_dynamic_dimension(static_cast<int>(dimension)));
    }
  }
  inst.numbers("dimensions", permutation);
  return result.rank() == from->rank() ? inst.shape(result).add() : inst.add();
}

XlaOp Rev(XlaOp operand, absl::Span<const std::int64_t> dimensions, SourceLocation at) {
  return Instruction("reverse", {operand}, at).numbers("dimensions", dimensions).add();
}

XlaOp GetDimensionSize(XlaOp operand, std::int64_t dimension, SourceLocation at) {
  return Instruction("get-dimension-size", {operand}, at).numbers("dimensions", {dimension}).add();
}

XlaOp SetDimensionSize(XlaOp operand, XlaOp val, std::int64_t dimension, SourceLocation at) {
  return Instruction("set-dimension-size", {operand, val}, at)
      .numbers("dimensions", {dimension})
      .add();
}

//===----------------------------------------------------------------------===//
// Slices, padding, concatenation
//===----------------------------------------------------------------------===//

XlaOp Slice(XlaOp operand, absl::Span<const std::int64_t> start_indices,
            absl::Span<const std::int64_t> limit_indices, absl::Span<const std::int64_t> strides,
            SourceLocation at) {
  Instruction inst("slice", {operand}, at);
  if (start_indices.size() != limit_indices.size() ||
      (!strides.empty() && strides.size() != start_indices.size())) {
    return inst.fail("start_indices has ", start_indices.size(), " entries, limit_indices ",
                     limit_indices.size(), ", strides ", strides.size());
  }
  std::string text = "{";
  for (std::size_t i = 0; i < start_indices.size(); ++i) {
    std::int64_t stride = strides.empty() ? 1 : strides[i];
    if (start_indices[i] < 0 || limit_indices[i] < start_indices[i] || stride < 1) {
      return inst.fail("range of dimension ", i, " is ", start_indices[i], " to ", limit_indices[i],
                       " by ", stride);
    }
    absl::StrAppend(&text, i ? ", [" : "[", start_indices[i], ":", limit_indices[i], ":", stride,
                    "]");
  }
  return inst.attribute("slice", text + "}").add();
}

XlaOp SliceInDim(XlaOp operand, std::int64_t start_index, std::int64_t limit_index,
                 std::int64_t stride, std::int64_t dimno, SourceLocation at) {
  Instruction inst("slice", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  if (dimno < 0 || dimno >= from->rank()) {
    return inst.fail("dimension ", dimno, " is not one of ", from->ToString());
  }
  std::vector<std::int64_t> starts(from->rank(), 0), strides(from->rank(), 1),
      limits = from->dimensions();
  starts[dimno] = start_index;
  limits[dimno] = limit_index;
  strides[dimno] = stride;
  return Slice(operand, starts, limits, strides, at);
}

XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices,
                   absl::Span<const std::int64_t> slice_sizes, SourceLocation at) {
  return Instruction("dynamic-slice", {operand}, at)
      .operands(start_indices)
      .numbers("dynamic_slice_sizes", slice_sizes)
      .add();
}

XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, absl::Span<const std::int64_t> slice_sizes,
                   SourceLocation at) {
  return DynamicSlice(operand, absl::MakeConstSpan(&start_indices, 1), slice_sizes, at);
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices,
                         SourceLocation at) {
  return Instruction("dynamic-update-slice", {operand, update}, at).operands(start_indices).add();
}

XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices, SourceLocation at) {
  return DynamicUpdateSlice(operand, update, absl::MakeConstSpan(&start_indices, 1), at);
}

PaddingConfig
MakePaddingConfig(absl::Span<const std::pair<std::int64_t, std::int64_t>> edge_padding) {
  PaddingConfig config;
  for (auto [low, high] : edge_padding) {
    config.add_dimensions()->set_edge_padding_low(low).set_edge_padding_high(high);
  }
  return config;
}

PaddingConfig MakeNoPaddingConfig(std::int64_t rank) {
  return MakePaddingConfig(std::vector<std::pair<std::int64_t, std::int64_t>>(rank));
}

XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig &padding_config,
          SourceLocation at) {
  Instruction inst("pad", {operand, padding_value}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  if (padding_config.dimensions_size() != from->dimensions_size()) {
    return inst.fail("padding_config has ", padding_config.dimensions_size(),
                     " dimensions, the operand is ", from->ToString());
  }
  std::string text;
  for (int i = 0; i < padding_config.dimensions_size(); ++i) {
    const PaddingConfigDimension &dimension = padding_config.dimensions(i);
    if (dimension.interior_padding() < 0) {
      return inst.fail("interior_padding of dimension ", i, " is ", dimension.interior_padding(),
                       ", must not be negative");
    }
    absl::StrAppend(&text, i ? "x" : "", dimension.edge_padding_low(), "_",
                    dimension.edge_padding_high(), "_", dimension.interior_padding());
  }
  // A scalar has no dimension to pad, and the text format no way to write that.
  return text.empty() ? operand : inst.attribute("padding", text).add();
}

XlaOp PadInDim(XlaOp operand, XlaOp padding_value, std::int64_t dimno, std::int64_t pad_lo,
               std::int64_t pad_hi, SourceLocation at) {
  Instruction inst("pad", {operand, padding_value}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  if (dimno < 0 || dimno >= from->rank()) {
    return inst.fail("dimension ", dimno, " is not one of ", from->ToString());
  }
  PaddingConfig config = MakeNoPaddingConfig(from->rank());
  config.mutable_dimensions(static_cast<int>(dimno))
      ->set_edge_padding_low(pad_lo)
      .set_edge_padding_high(pad_hi);
  return Pad(operand, padding_value, config, at);
}

XlaOp ConcatInDim(XlaBuilder *builder, absl::Span<const XlaOp> operands, std::int64_t dimension,
                  SourceLocation at) {
  return Instruction("concatenate", operands, at, builder).numbers("dimensions", {dimension}).add();
}

XlaOp Concatenate(absl::Span<const XlaOp> operands, std::int64_t dimension, SourceLocation at) {
  return ConcatInDim(nullptr, operands, dimension, at);
}

XlaOp Concat(absl::Span<const XlaOp> operands, std::int64_t dimension, SourceLocation at) {
  return ConcatInDim(nullptr, operands, dimension, at);
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers &dimension_numbers,
             absl::Span<const std::int64_t> slice_sizes, bool indices_are_sorted,
             SourceLocation at) {
  Instruction inst("gather", {operand, start_indices}, at);
  inst.numbers("offset_dims", dimension_numbers.offset_dims())
      .numbers("collapsed_slice_dims", dimension_numbers.collapsed_slice_dims())
      .numbers("start_index_map", dimension_numbers.start_index_map())
      .number("index_vector_dim", dimension_numbers.index_vector_dim())
      .numbers("slice_sizes", slice_sizes);
  if (dimension_numbers.operand_batching_dims_size() ||
      dimension_numbers.start_indices_batching_dims_size()) {
    inst.numbers("operand_batching_dims", dimension_numbers.operand_batching_dims())
        .numbers("start_indices_batching_dims", dimension_numbers.start_indices_batching_dims());
  }
  if (indices_are_sorted) {
    inst.boolean("indices_are_sorted", true);
  }
  return inst.add();
}

XlaOp Gather(XlaOp operand, XlaOp start_indices, absl::Span<const std::int64_t> offset_dims,
             absl::Span<const std::int64_t> collapsed_slice_dims,
             absl::Span<const std::int64_t> slice_sizes,
             absl::Span<const std::int64_t> start_index_map, SourceLocation at) {
  Instruction inst("gather", {operand, start_indices}, at);
  const Shape *indices = inst.arrayOf(1);
  if (!indices) {
    return inst.add();
  }
  GatherDimensionNumbers numbers;
  numbers.set_offset_dims(offset_dims)
      .set_collapsed_slice_dims(collapsed_slice_dims)
      .set_start_index_map(start_index_map)
      .set_index_vector_dim(std::max<std::int64_t>(indices->rank() - 1, 0));
  return Gather(operand, start_indices, numbers, slice_sizes, false, at);
}

} // namespace hlo

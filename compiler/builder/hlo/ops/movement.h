//===- hlo/ops/movement.h - Constants, shapes, slices ----------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OPS_MOVEMENT_H
#define HLO_OPS_MOVEMENT_H

#include <hlo/attributes.h>
#include <hlo/literal.h>
#include <hlo/op.h>

namespace hlo {

//===----------------------------------------------------------------------===//
// Values without operands
//===----------------------------------------------------------------------===//

/// Parameter `number` of the computation; numbers are used once and without gaps.
XlaOp Parameter(XlaBuilder *builder, std::int64_t parameter_number, const Shape &shape,
                absl::string_view name, SourceLocation at = SourceLocation::current());

/// The literal, which is copied; a tuple of constants for a tuple.
XlaOp ConstantLiteral(XlaBuilder *builder, const LiteralSlice &literal,
                      SourceLocation at = SourceLocation::current());
XlaOp Constant(XlaBuilder *builder, const LiteralSlice &literal,
               SourceLocation at = SourceLocation::current());

template <typename T>
XlaOp ConstantR0(XlaBuilder *builder, T value, SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR0<T>(value), at);
}
template <typename T>
XlaOp ConstantR1(XlaBuilder *builder, absl::Span<const T> values,
                 SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<T>(values), at);
}
template <typename T>
XlaOp ConstantR1(XlaBuilder *builder, std::initializer_list<T> values,
                 SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<T>(values), at);
}
/// `length` times the same value.
template <typename T>
XlaOp ConstantR1(XlaBuilder *builder, std::int64_t length, T value,
                 SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateFull<T>({length}, value), at);
}
template <typename T>
XlaOp ConstantR2(XlaBuilder *builder, std::initializer_list<std::initializer_list<T>> values,
                 SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR2<T>(values), at);
}
template <typename T>
XlaOp ConstantR3(XlaBuilder *builder,
                 std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
                 SourceLocation at = SourceLocation::current()) {
  return ConstantLiteral(builder, LiteralUtil::CreateR3<T>(values), at);
}
/// Scalars of a type that is known at run time.
XlaOp Zero(XlaBuilder *builder, PrimitiveType type, SourceLocation at = SourceLocation::current());
XlaOp One(XlaBuilder *builder, PrimitiveType type, SourceLocation at = SourceLocation::current());

/// 0, 1, 2, ... along one dimension.
XlaOp Iota(XlaBuilder *builder, const Shape &shape, std::int64_t iota_dimension,
           SourceLocation at = SourceLocation::current());
/// 0, ..., size - 1.
XlaOp Iota(XlaBuilder *builder, PrimitiveType type, std::int64_t size,
           SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Copies of the operand: result[i0, ..., iN, j0, ..., jM] = operand[j0, ..., jM], where i0 .. iN
/// have the sizes `broadcast_sizes`.
XlaOp Broadcast(XlaOp operand, absl::Span<const std::int64_t> broadcast_sizes,
                SourceLocation at = SourceLocation::current());
/// An array of sizes `out_dim_size`. Dimension i of the operand becomes dimension
/// broadcast_dimensions[i]; it has that size or 1, and is then repeated.
XlaOp BroadcastInDim(XlaOp operand, absl::Span<const std::int64_t> out_dim_size,
                     absl::Span<const std::int64_t> broadcast_dimensions,
                     SourceLocation at = SourceLocation::current());
/// The same elements in row-major order.
XlaOp Reshape(XlaOp operand, absl::Span<const std::int64_t> dimensions,
              SourceLocation at = SourceLocation::current());
/// Reads the operand's dimensions in the order `dimensions`, slowest first.
XlaOp Reshape(XlaOp operand, absl::Span<const std::int64_t> dimensions,
              absl::Span<const std::int64_t> new_sizes,
              SourceLocation at = SourceLocation::current());
/// The same elements as an array of this shape, whose sizes may be bounds.
XlaOp Reshape(const Shape &shape, XlaOp operand, SourceLocation at = SourceLocation::current());
/// Replaces consecutive dimensions, in order, by one.
XlaOp Collapse(XlaOp operand, absl::Span<const std::int64_t> dimensions,
               SourceLocation at = SourceLocation::current());
/// A reshape to sizes that are known at run time: dim_sizes[i], an integer scalar, where
/// dims_are_dynamic[i], with bound new_size_bounds[i]; else new_size_bounds[i].
XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes,
                     absl::Span<const std::int64_t> new_size_bounds,
                     const std::vector<bool> &dims_are_dynamic,
                     SourceLocation at = SourceLocation::current());
/// Dimension i of the result is dimension permutation[i] of the operand.
XlaOp Transpose(XlaOp operand, absl::Span<const std::int64_t> permutation,
                SourceLocation at = SourceLocation::current());
/// Reverses the order of the elements in these dimensions.
XlaOp Rev(XlaOp operand, absl::Span<const std::int64_t> dimensions,
          SourceLocation at = SourceLocation::current());

/// The run-time size of a dimension, s32[].
XlaOp GetDimensionSize(XlaOp operand, std::int64_t dimension,
                       SourceLocation at = SourceLocation::current());
/// Makes a dimension dynamic, with size `val`, s32[]; its static size becomes the bound.
XlaOp SetDimensionSize(XlaOp operand, XlaOp val, std::int64_t dimension,
                       SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Slices, padding, concatenation
//===----------------------------------------------------------------------===//

/// Elements start, start + stride, ... below limit of each dimension. No strides: all are 1.
XlaOp Slice(XlaOp operand, absl::Span<const std::int64_t> start_indices,
            absl::Span<const std::int64_t> limit_indices,
            absl::Span<const std::int64_t> strides = {},
            SourceLocation at = SourceLocation::current());
/// A slice in one dimension, all of the others.
XlaOp SliceInDim(XlaOp operand, std::int64_t start_index, std::int64_t limit_index,
                 std::int64_t stride, std::int64_t dimno,
                 SourceLocation at = SourceLocation::current());
/// A slice of these sizes at run-time indices, one integer scalar per dimension, which are clamped
/// so that the slice lies within the operand.
XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices,
                   absl::Span<const std::int64_t> slice_sizes,
                   SourceLocation at = SourceLocation::current());
/// The same with the indices in an array of rank 1. A scalar is the index of the only dimension.
XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, absl::Span<const std::int64_t> slice_sizes,
                   SourceLocation at = SourceLocation::current());
/// The operand with `update` written at run-time indices, as those of DynamicSlice.
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices,
                         SourceLocation at = SourceLocation::current());
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices,
                         SourceLocation at = SourceLocation::current());
/// Padding at the edges and between elements; a scalar as its value. Negative edges remove
/// elements.
XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig &padding_config,
          SourceLocation at = SourceLocation::current());
/// Edges of one dimension.
XlaOp PadInDim(XlaOp operand, XlaOp padding_value, std::int64_t dimno, std::int64_t pad_lo,
               std::int64_t pad_hi, SourceLocation at = SourceLocation::current());
/// The operands one behind the other in a dimension; at least one.
XlaOp ConcatInDim(XlaBuilder *builder, absl::Span<const XlaOp> operands, std::int64_t dimension,
                  SourceLocation at = SourceLocation::current());
XlaOp Concatenate(absl::Span<const XlaOp> operands, std::int64_t dimension,
                  SourceLocation at = SourceLocation::current());
XlaOp Concat(absl::Span<const XlaOp> operands, std::int64_t dimension,
             SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Gather, scatter
//===----------------------------------------------------------------------===//

/// Slices of the operand at the indices in `start_indices`, put together.
XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers &dimension_numbers,
             absl::Span<const std::int64_t> slice_sizes, bool indices_are_sorted = false,
             SourceLocation at = SourceLocation::current());
/// The same with the dimension numbers one by one, as older documents have them;
/// index_vector_dim is the last dimension of start_indices.
XlaOp Gather(XlaOp operand, XlaOp start_indices, absl::Span<const std::int64_t> offset_dims,
             absl::Span<const std::int64_t> collapsed_slice_dims,
             absl::Span<const std::int64_t> slice_sizes,
             absl::Span<const std::int64_t> start_index_map,
             SourceLocation at = SourceLocation::current());

} // namespace hlo

#endif

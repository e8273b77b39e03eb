//===- hlo/ops/compute.h - Products, windows, reductions, sorting -*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OPS_COMPUTE_H
#define HLO_OPS_COMPUTE_H

#include <hlo/attributes.h>
#include <hlo/computation.h>
#include <hlo/op.h>
#include <optional>

namespace hlo {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// In this section: `precision_config` null is the default precision; the result has
/// `preferred_element_type`, or the operands' type.

/// Products over the last dimension of lhs and the first one of rhs, of operands of rank 1 and 2.
XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig *precision_config = nullptr,
          std::optional<PrimitiveType> preferred_element_type = std::nullopt,
          SourceLocation at = SourceLocation::current());
/// Result dimensions: batch, the other ones of lhs, those of rhs.
XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers &dimension_numbers,
                 const PrecisionConfig *precision_config = nullptr,
                 std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                 SourceLocation at = SourceLocation::current());
/// A product of operands that are each multiplied by a scale, an array of the operand's rank whose
/// sizes divide the operand's, or a scalar.
XlaOp ScaledDot(XlaOp lhs, XlaOp lhs_scale, XlaOp rhs, XlaOp rhs_scale,
                const DotDimensionNumbers &dimension_number,
                const PrecisionConfig *precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                SourceLocation at = SourceLocation::current());
/// A product in which one dimension of lhs is divided into groups of `group_sizes`.
XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes,
                const RaggedDotDimensionNumbers &dimension_numbers,
                const PrecisionConfig *precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                SourceLocation at = SourceLocation::current());

/// lhs: batch, features, spatial; rhs: output features, input features, spatial; result as lhs.
XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides, Padding padding,
           std::int64_t feature_group_count = 1, std::int64_t batch_group_count = 1,
           const PrecisionConfig *precision_config = nullptr,
           std::optional<PrimitiveType> preferred_element_type = std::nullopt,
           SourceLocation at = SourceLocation::current());
/// `padding`: (low, high) of each spatial dimension.
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                             absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                             std::int64_t feature_group_count = 1,
                             std::int64_t batch_group_count = 1,
                             const PrecisionConfig *precision_config = nullptr,
                             std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                             SourceLocation at = SourceLocation::current());
/// Conv of operands whose dimensions `dimension_numbers` names.
XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                                Padding padding,
                                const ConvolutionDimensionNumbers &dimension_numbers,
                                std::int64_t feature_group_count = 1,
                                std::int64_t batch_group_count = 1,
                                const PrecisionConfig *precision_config = nullptr,
                                std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                                SourceLocation at = SourceLocation::current());
/// The same with explicit padding.
XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                  absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                  const ConvolutionDimensionNumbers &dimension_numbers,
                  std::int64_t feature_group_count = 1, std::int64_t batch_group_count = 1,
                  const PrecisionConfig *precision_config = nullptr,
                  std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                  SourceLocation at = SourceLocation::current());
/// The same with dilations: input and kernel with gaps between their elements. Empty lists of
/// strides and dilations mean 1, an empty window_reversal no reversal.
XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                         absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                         absl::Span<const std::int64_t> lhs_dilation,
                         absl::Span<const std::int64_t> rhs_dilation,
                         const ConvolutionDimensionNumbers &dimension_numbers,
                         std::int64_t feature_group_count = 1, std::int64_t batch_group_count = 1,
                         const PrecisionConfig *precision_config = nullptr,
                         std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                         std::optional<std::vector<bool>> window_reversal = std::nullopt,
                         SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Normalization, transforms, linear algebra
//===----------------------------------------------------------------------===//

/// In batch norms: scale, offset, mean and variance have rank 1, an element for each index of
/// dimension feature_index; output and grad_operand have the operand's shape.

/// (output, batch_mean, batch_var).
XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                        std::int64_t feature_index, SourceLocation at = SourceLocation::current());
/// The output, for a given mean and variance.
XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                         float epsilon, std::int64_t feature_index,
                         SourceLocation at = SourceLocation::current());
/// (grad_operand, grad_scale, grad_offset).
XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                    XlaOp grad_output, float epsilon, std::int64_t feature_index,
                    SourceLocation at = SourceLocation::current());
/// The transform of the last dimensions, as many as fft_length has, 1 to 3. RFFT gives
/// fft_length / 2 + 1 complex elements in the last one, which IRFFT takes.
XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const std::int64_t> fft_length,
          SourceLocation at = SourceLocation::current());
/// The triangular matrix l, lower or upper, with l l^T = a or l^T l = a, conjugated if a is
/// complex. a is in the last two dimensions; the others are batch dimensions.
XlaOp Cholesky(XlaOp a, bool lower, SourceLocation at = SourceLocation::current());
/// x, of b's shape, with op(a) x = b, or x op(a) = b if not left_side. Matrices as in Cholesky.
XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveOptions::Transpose transpose_a,
                      SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Combines the elements along these dimensions, which the result lacks, with `computation`,
/// T, T -> T, beginning with `init_value`, a scalar.
XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
             absl::Span<const std::int64_t> dimensions_to_reduce,
             SourceLocation at = SourceLocation::current());
/// N operands at once; the computation takes N accumulators and N elements. The result is a tuple
/// if N > 1.
XlaOp Reduce(XlaBuilder *builder, absl::Span<const XlaOp> operands,
             absl::Span<const XlaOp> init_values, const XlaComputation &computation,
             absl::Span<const std::int64_t> dimensions_to_reduce,
             SourceLocation at = SourceLocation::current());
XlaOp Reduce(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputation &computation, absl::Span<const std::int64_t> dimensions_to_reduce,
             SourceLocation at = SourceLocation::current());
/// To a scalar.
XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                SourceLocation at = SourceLocation::current());

/// Combines the elements in each position of a window: one element of the result. An empty list of
/// strides means 1. Several operands are combined together; the result is then a tuple.
XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides, Padding padding,
                   SourceLocation at = SourceLocation::current());
XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides, Padding padding,
                   SourceLocation at = SourceLocation::current());
/// With dilations, in the order of the documentation's table.
XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                   absl::Span<const std::int64_t> window_dimensions,
                   absl::Span<const std::int64_t> window_strides,
                   absl::Span<const std::int64_t> base_dilations,
                   absl::Span<const std::int64_t> window_dilations, Padding padding,
                   SourceLocation at = SourceLocation::current());
/// Empty dilations mean 1.
XlaOp ReduceWindowWithGeneralPadding(
    XlaOp operand, XlaOp init_value, const XlaComputation &computation,
    absl::Span<const std::int64_t> window_dimensions, absl::Span<const std::int64_t> window_strides,
    absl::Span<const std::int64_t> base_dilations, absl::Span<const std::int64_t> window_dilations,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
    SourceLocation at = SourceLocation::current());
XlaOp ReduceWindowWithGeneralPadding(
    absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
    const XlaComputation &computation, absl::Span<const std::int64_t> window_dimensions,
    absl::Span<const std::int64_t> window_strides, absl::Span<const std::int64_t> base_dilations,
    absl::Span<const std::int64_t> window_dilations,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
    SourceLocation at = SourceLocation::current());

/// Selects an element in each position of a window and combines the element of `source` of that
/// position into the result, which has the operand's shape and is `init_value` at first.
XlaOp SelectAndScatter(XlaOp operand, const XlaComputation &select,
                       absl::Span<const std::int64_t> window_dimensions,
                       absl::Span<const std::int64_t> window_strides, Padding padding, XlaOp source,
                       XlaOp init_value, const XlaComputation &scatter,
                       SourceLocation at = SourceLocation::current());
XlaOp SelectAndScatterWithGeneralPadding(
    XlaOp operand, const XlaComputation &select, absl::Span<const std::int64_t> window_dimensions,
    absl::Span<const std::int64_t> window_strides,
    absl::Span<const std::pair<std::int64_t, std::int64_t>> padding, XlaOp source, XlaOp init_value,
    const XlaComputation &scatter, SourceLocation at = SourceLocation::current());

/// A tuple: the outputs of all steps, then the final carries. `to_apply` takes an element of each
/// input and the carries.
XlaOp Scan(absl::Span<const XlaOp> inputs, absl::Span<const XlaOp> inits,
           const XlaComputation &to_apply, std::int64_t scan_dimension, bool is_reverse = false,
           std::optional<bool> is_associative = std::nullopt,
           SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Scatter, sorting
//===----------------------------------------------------------------------===//

/// The operand with slices at the indices in `scatter_indices` combined with those of `updates`.
XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates,
              const XlaComputation &update_computation,
              const ScatterDimensionNumbers &dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false, SourceLocation at = SourceLocation::current());
/// N operands with N updates; the result is a tuple if N > 1.
XlaOp Scatter(absl::Span<const XlaOp> operands, XlaOp scatter_indices,
              absl::Span<const XlaOp> updates, const XlaComputation &update_computation,
              const ScatterDimensionNumbers &dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false, SourceLocation at = SourceLocation::current());
/// The same with the dimension numbers one by one, as older documents have them.
XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates,
              const XlaComputation &update_computation, std::int64_t index_vector_dim,
              absl::Span<const std::int64_t> update_window_dims,
              absl::Span<const std::int64_t> inserted_window_dims,
              absl::Span<const std::int64_t> scatter_dims_to_operand_dims,
              SourceLocation at = SourceLocation::current());

/// Sorts along a dimension (-1: the last one) so that comparator(a, b) of neighbours is true, or
/// both orders are false. Several operands are sorted together; the comparator has two parameters
/// for each, and the result is a tuple.
XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputation &comparator,
           std::int64_t dimension = -1, bool is_stable = false,
           SourceLocation at = SourceLocation::current());
/// In ascending order.
XlaOp Sort(XlaOp operand, std::int64_t dimension = -1,
           SourceLocation at = SourceLocation::current());
/// Keys in ascending order, and values in the keys' order: (keys, values).
XlaOp Sort(XlaOp keys, XlaOp values, std::int64_t dimension = -1,
           SourceLocation at = SourceLocation::current());
/// The k largest or smallest elements of the last dimension and their indices: (values, indices).
XlaOp TopK(XlaOp operand, std::int64_t k, bool largest = true,
           SourceLocation at = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Numbers of this mean and standard deviation, scalars of the shape's type.
XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape &shape,
                SourceLocation at = SourceLocation::current());
/// Numbers in [a, b), scalars of the shape's type.
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape &shape,
                 SourceLocation at = SourceLocation::current());
/// 1 with probability `mean`, a scalar of a floating type, else 0. `shape` has integers or PRED.
XlaOp RngBernoulli(XlaOp mean, const Shape &shape, SourceLocation at = SourceLocation::current());
/// (new state, bits).
XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape &shape,
                      SourceLocation at = SourceLocation::current());
/// u64[2]; the module's state then advances by `delta`.
XlaOp RngGetAndUpdateState(XlaBuilder *builder, std::int64_t delta,
                           SourceLocation at = SourceLocation::current());

} // namespace hlo

#endif

//===- Linear.cpp - Products, normalization, linear algebra ---------------===//
#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "compiler/builder/Window.h"
#include <algorithm>

namespace hlo {

using detail::Instruction;
using detail::Numbers;
using detail::Window;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void addPrecision(Instruction &inst, const PrecisionConfig *config, bool hasAlgorithm) {
  if (!config) {
    return;
  }
  if (!config->operand_precision().empty()) {
    auto one = [](std::string *out, PrecisionConfig::Precision precision) {
      *out += precision == PrecisionConfig::HIGHEST ? "highest"
              : precision == PrecisionConfig::HIGH  ? "high"
                                                    : "default";
    };
    inst.attribute("operand_precision",
                   absl::StrCat("{", absl::StrJoin(config->operand_precision(), ",", one), "}"));
  }
  constexpr const char *algorithms[] = {"unset",
                                        "dot_any_f8_any_f8_f32",
                                        "dot_any_f8_any_f8_f32_fast_accum",
                                        "dot_f16_f16_f16",
                                        "dot_f16_f16_f32",
                                        "dot_bf16_bf16_bf16",
                                        "dot_bf16_bf16_f32",
                                        "dot_bf16_bf16_f32_x3",
                                        "dot_bf16_bf16_f32_x6",
                                        "dot_bf16_bf16_f32_x9",
                                        "dot_tf32_tf32_f32",
                                        "dot_tf32_tf32_f32_x3",
                                        "dot_f32_f32_f32",
                                        "dot_f64_f64_f64"};
  if (config->algorithm() != PrecisionConfig::ALG_UNSET && hasAlgorithm) {
    inst.attribute("algorithm", algorithms[config->algorithm()]);
  }
}

static bool contains(Numbers list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Appends the dimensions of `shape` that are in none of the lists.
static void appendOthers(Shape &result, const Shape &shape, Numbers a, Numbers b, Numbers c = {}) {
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (!contains(a, i) && !contains(b, i) && !contains(c, i)) {
      result.add_dimensions(shape.dimensions(i), shape.is_dynamic_dimension(i));
    }
  }
}

/// Batch dimensions, those of lhs, those of rhs. Numbers out of range are left to the checks of the
/// instruction.
static Shape productShape(const Shape &lhs, const Shape &rhs, const DotDimensionNumbers &numbers,
                          PrimitiveType type, Numbers rhsGroups = {}) {
  Shape result(type, {});
  for (std::int64_t i : numbers.lhs_batch_dimensions()) {
    if (i >= 0 && i < lhs.rank()) {
      result.add_dimensions(lhs.dimensions(static_cast<int>(i)),
                            lhs.is_dynamic_dimension(static_cast<int>(i)));
    }
  }
  appendOthers(result, lhs, numbers.lhs_contracting_dimensions(), numbers.lhs_batch_dimensions());
  appendOthers(result, rhs, numbers.rhs_contracting_dimensions(), numbers.rhs_batch_dimensions(),
               rhsGroups);
  return result;
}

static void addNumbers(Instruction &inst, const DotDimensionNumbers &numbers) {
  if (numbers.lhs_batch_dimensions_size() || numbers.rhs_batch_dimensions_size()) {
    inst.numbers("lhs_batch_dims", numbers.lhs_batch_dimensions())
        .numbers("rhs_batch_dims", numbers.rhs_batch_dimensions());
  }
  inst.numbers("lhs_contracting_dims", numbers.lhs_contracting_dimensions())
      .numbers("rhs_contracting_dims", numbers.rhs_contracting_dimensions());
}

XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig *precision_config,
          std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  Instruction inst("dot", {lhs, rhs}, at);
  const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
  if (!right) {
    return inst.add();
  }
  if (left->rank() < 1 || left->rank() > 2 || right->rank() < 1 || right->rank() > 2) {
    return inst.fail("takes vectors and matrices, lhs is ", left->ToString(), ", rhs is ",
                     right->ToString());
  }
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(left->rank() - 1).add_rhs_contracting_dimensions(0);
  return DotGeneral(lhs, rhs, numbers, precision_config, preferred_element_type, at);
}

XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers &dimension_numbers,
                 const PrecisionConfig *precision_config,
                 std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  Instruction inst("dot", {lhs, rhs}, at);
  addNumbers(inst, dimension_numbers);
  addPrecision(inst, precision_config, /*hasAlgorithm=*/true);
  if (preferred_element_type) {
    const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
    if (right) {
      inst.shape(productShape(*left, *right, dimension_numbers, *preferred_element_type));
    }
  }
  return inst.add();
}

XlaOp ScaledDot(XlaOp lhs, XlaOp lhs_scale, XlaOp rhs, XlaOp rhs_scale,
                const DotDimensionNumbers &dimension_number,
                const PrecisionConfig *precision_config,
                std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  Instruction inst("scaled-dot", {lhs, rhs, lhs_scale, rhs_scale}, at);
  const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
  if (!right) {
    return inst.add();
  }
  bool rightIsWider = primitive_util::BitWidth(right->element_type()) >
                      primitive_util::BitWidth(left->element_type());
  PrimitiveType type =
      preferred_element_type.value_or(rightIsWider ? right->element_type() : left->element_type());
  addNumbers(inst, dimension_number);
  addPrecision(inst, precision_config, /*hasAlgorithm=*/true);
  return inst.shape(productShape(*left, *right, dimension_number, type)).add();
}

XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes,
                const RaggedDotDimensionNumbers &dimension_numbers,
                const PrecisionConfig *precision_config,
                std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  Instruction inst("ragged-dot", {lhs, rhs, group_sizes}, at);
  const DotDimensionNumbers &numbers = dimension_numbers.dot_dimension_numbers();
  addNumbers(inst, numbers);
  inst.numbers("lhs_ragged_dims", dimension_numbers.lhs_ragged_dimensions());
  if (dimension_numbers.rhs_group_dimensions_size()) {
    inst.numbers("rhs_group_dims", dimension_numbers.rhs_group_dimensions());
  }
  addPrecision(inst, precision_config, /*hasAlgorithm=*/false);
  if (preferred_element_type) {
    const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
    const Shape *sizes = right ? inst.arrayOf(2) : nullptr;
    if (!sizes) {
      return inst.add();
    }
    Shape product = productShape(*left, *right, numbers, *preferred_element_type,
                                 dimension_numbers.rhs_group_dimensions());
    bool contracts =
        dimension_numbers.lhs_ragged_dimensions_size() == 1 &&
        contains(numbers.lhs_contracting_dimensions(), dimension_numbers.lhs_ragged_dimensions(0));
    Shape result(product.element_type(), {});
    if (contracts && sizes->rank() > 0) {
      // A ragged contracted dimension gives one product for each group.
      result.add_dimensions(sizes->dimensions().back());
    }
    appendOthers(result, product, {}, {});
    inst.shape(result);
  }
  return inst.add();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// One part of dim_labels, as "b01f"; "" if the numbers are not all dimensions of `rank`.
static std::string labels(std::int64_t rank, char first, std::int64_t firstDimension, char second,
                          std::int64_t secondDimension, Numbers spatial) {
  std::string text(static_cast<std::size_t>(rank), '?');
  auto set = [&](std::int64_t dimension, char label) {
    if (dimension < 0 || dimension >= rank || text[dimension] != '?') {
      return false;
    }
    text[dimension] = label;
    return true;
  };
  bool fits = spatial.size() <= 10 && set(firstDimension, first) && set(secondDimension, second);
  for (std::size_t i = 0; fits && i < spatial.size(); ++i) {
    fits = set(spatial[i], static_cast<char>('0' + i));
  }
  return fits && text.find('?') == std::string::npos ? text : "";
}

XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                         absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                         absl::Span<const std::int64_t> lhs_dilation,
                         absl::Span<const std::int64_t> rhs_dilation,
                         const ConvolutionDimensionNumbers &numbers,
                         std::int64_t feature_group_count, std::int64_t batch_group_count,
                         const PrecisionConfig *precision_config,
                         std::optional<PrimitiveType> preferred_element_type,
                         std::optional<std::vector<bool>> window_reversal, SourceLocation at) {
  Instruction inst("convolution", {lhs, rhs}, at);
  const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
  if (!right) {
    return inst.add();
  }
  std::string input = labels(left->rank(), 'b', numbers.input_batch_dimension(), 'f',
                             numbers.input_feature_dimension(), numbers.input_spatial_dimensions());
  std::string kernel =
      labels(right->rank(), 'o', numbers.kernel_output_feature_dimension(), 'i',
             numbers.kernel_input_feature_dimension(), numbers.kernel_spatial_dimensions());
  std::string output =
      labels(numbers.output_spatial_dimensions_size() + 2, 'b', numbers.output_batch_dimension(),
             'f', numbers.output_feature_dimension(), numbers.output_spatial_dimensions());
  if (input.empty() || kernel.empty() || output.empty() || input.size() != kernel.size() ||
      input.size() != output.size()) {
    return inst.fail("dimension numbers do not fit: the input is ", left->ToString(),
                     ", the kernel ", right->ToString(), ", there are ",
                     numbers.input_spatial_dimensions_size(), ", ",
                     numbers.kernel_spatial_dimensions_size(), " and ",
                     numbers.output_spatial_dimensions_size(), " spatial dimensions");
  }
  Window window;
  for (std::int64_t dimension : numbers.kernel_spatial_dimensions()) {
    window.size.push_back(right->dimensions(static_cast<int>(dimension)));
  }
  window.strides.assign(window_strides.begin(), window_strides.end());
  window.padding.assign(padding.begin(), padding.end());
  window.baseDilations.assign(lhs_dilation.begin(), lhs_dilation.end());
  window.windowDilations.assign(rhs_dilation.begin(), rhs_dilation.end());
  window.reversal = window_reversal.value_or(std::vector<bool>());
  if (std::string wrong = window.check(); !wrong.empty()) {
    return inst.fail(wrong);
  }
  if (std::string text = window.text(); !text.empty()) {
    inst.attribute("window", text);
  }
  inst.attribute("dim_labels", absl::StrCat(input, "_", kernel, "->", output));
  if (feature_group_count != 1) {
    inst.number("feature_group_count", feature_group_count);
  }
  if (batch_group_count != 1) {
    inst.number("batch_group_count", batch_group_count);
  }
  addPrecision(inst, precision_config, /*hasAlgorithm=*/true);
  if (preferred_element_type) {
    std::vector<std::int64_t> sizes(output.size());
    std::int64_t groups = std::max<std::int64_t>(batch_group_count, 1);
    sizes[numbers.output_batch_dimension()] =
        left->dimensions(static_cast<int>(numbers.input_batch_dimension())) / groups;
    sizes[numbers.output_feature_dimension()] =
        right->dimensions(static_cast<int>(numbers.kernel_output_feature_dimension()));
    for (int i = 0; i < numbers.output_spatial_dimensions_size(); ++i) {
      sizes[numbers.output_spatial_dimensions(i)] = window.outputSize(
          i, left->dimensions(static_cast<int>(numbers.input_spatial_dimensions(i))));
    }
    Shape result(*preferred_element_type, sizes);
    auto copyDynamic = [&](const Shape &from, std::int64_t dimension, std::int64_t to) {
      result.set_dynamic_dimension(static_cast<int>(to),
                                   from.is_dynamic_dimension(static_cast<int>(dimension)));
    };
    copyDynamic(*left, numbers.input_batch_dimension(), numbers.output_batch_dimension());
    copyDynamic(*right, numbers.kernel_output_feature_dimension(),
                numbers.output_feature_dimension());
    for (int i = 0; i < numbers.output_spatial_dimensions_size(); ++i) {
      copyDynamic(*left, numbers.input_spatial_dimensions(i), numbers.output_spatial_dimensions(i));
    }
    inst.shape(result);
  }
  return inst.add();
}

XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                  absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                  const ConvolutionDimensionNumbers &dimension_numbers,
                  std::int64_t feature_group_count, std::int64_t batch_group_count,
                  const PrecisionConfig *precision_config,
                  std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  return ConvGeneralDilated(lhs, rhs, window_strides, padding, {}, {}, dimension_numbers,
                            feature_group_count, batch_group_count, precision_config,
                            preferred_element_type, std::nullopt, at);
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                             absl::Span<const std::pair<std::int64_t, std::int64_t>> padding,
                             std::int64_t feature_group_count, std::int64_t batch_group_count,
                             const PrecisionConfig *precision_config,
                             std::optional<PrimitiveType> preferred_element_type,
                             SourceLocation at) {
  return ConvGeneral(
      lhs, rhs, window_strides, padding,
      XlaBuilder::CreateDefaultConvDimensionNumbers(static_cast<int>(padding.size())),
      feature_group_count, batch_group_count, precision_config, preferred_element_type, at);
}

XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides,
                                Padding padding,
                                const ConvolutionDimensionNumbers &dimension_numbers,
                                std::int64_t feature_group_count, std::int64_t batch_group_count,
                                const PrecisionConfig *precision_config,
                                std::optional<PrimitiveType> preferred_element_type,
                                SourceLocation at) {
  Instruction inst("convolution", {lhs, rhs}, at);
  const Shape *left = inst.arrayOf(0), *right = left ? inst.arrayOf(1) : nullptr;
  if (!right) {
    return inst.add();
  }
  // Wrong dimension numbers are ConvGeneralDilated's to report.
  auto sizes = [](const Shape &shape, Numbers dimensions) {
    std::vector<std::int64_t> all;
    for (std::int64_t dimension : dimensions) {
      bool isOne = dimension >= 0 && dimension < shape.rank();
      all.push_back(isOne ? shape.dimensions(static_cast<int>(dimension)) : 1);
    }
    return all;
  };
  Window window;
  window.size = sizes(*right, dimension_numbers.kernel_spatial_dimensions());
  window.strides.assign(window_strides.begin(), window_strides.end());
  if (!window.strides.empty() && window.strides.size() != window.size.size()) {
    return inst.fail("window_strides has ", window.strides.size(), " entries, the window has ",
                     window.size.size(), " dimensions");
  }
  window.pad(sizes(*left, dimension_numbers.input_spatial_dimensions()), padding);
  return ConvGeneral(lhs, rhs, window_strides, window.padding, dimension_numbers,
                     feature_group_count, batch_group_count, precision_config,
                     preferred_element_type, at);
}

XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const std::int64_t> window_strides, Padding padding,
           std::int64_t feature_group_count, std::int64_t batch_group_count,
           const PrecisionConfig *precision_config,
           std::optional<PrimitiveType> preferred_element_type, SourceLocation at) {
  Instruction inst("convolution", {lhs, rhs}, at);
  const Shape *left = inst.arrayOf(0);
  if (!left) {
    return inst.add();
  }
  int spatial = std::max(left->dimensions_size() - 2, 0);
  return ConvWithGeneralDimensions(
      lhs, rhs, window_strides, padding, XlaBuilder::CreateDefaultConvDimensionNumbers(spatial),
      feature_group_count, batch_group_count, precision_config, preferred_element_type, at);
}

//===----------------------------------------------------------------------===//
// Normalization, transforms, linear algebra
//===----------------------------------------------------------------------===//

static XlaOp batchNorm(absl::string_view opcode, detail::Ops operands, float epsilon,
                       std::int64_t featureIndex, SourceLocation at) {
  return Instruction(opcode, operands, at)
      .attribute("epsilon", detail::numberText(epsilon))
      .number("feature_index", featureIndex)
      .add();
}

XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                        std::int64_t feature_index, SourceLocation at) {
  return batchNorm("batch-norm-training", {operand, scale, offset}, epsilon, feature_index, at);
}

XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                         float epsilon, std::int64_t feature_index, SourceLocation at) {
  return batchNorm("batch-norm-inference", {operand, scale, offset, mean, variance}, epsilon,
                   feature_index, at);
}

XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                    XlaOp grad_output, float epsilon, std::int64_t feature_index,
                    SourceLocation at) {
  return batchNorm("batch-norm-grad", {operand, scale, batch_mean, batch_var, grad_output}, epsilon,
                   feature_index, at);
}

XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const std::int64_t> fft_length,
          SourceLocation at) {
  constexpr const char *names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  return Instruction("fft", {operand}, at)
      .attribute("fft_type", names[static_cast<int>(fft_type)])
      .numbers("fft_length", fft_length)
      .add();
}

XlaOp Cholesky(XlaOp a, bool lower, SourceLocation at) {
  return Instruction("cholesky", {a}, at).boolean("lower", lower).add();
}

XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveOptions::Transpose transpose_a, SourceLocation at) {
  Instruction inst("triangular-solve", {a, b}, at);
  if (transpose_a == TriangularSolveOptions::TRANSPOSE_INVALID) {
    return inst.fail("transpose_a is TRANSPOSE_INVALID");
  }
  constexpr const char *names[] = {"", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  return inst.boolean("left_side", left_side)
      .boolean("lower", lower)
      .boolean("unit_diagonal", unit_diagonal)
      .attribute("transpose_a", names[transpose_a])
      .add();
}

} // namespace hlo

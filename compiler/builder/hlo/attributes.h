//===- hlo/attributes.h - What operations are given besides operands -*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
// Enums and structs of operations. Those that XLA has as protocol buffers have the accessors of
// these: numbers() reads, add_numbers(n) appends and returns the struct.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_ATTRIBUTES_H
#define HLO_ATTRIBUTES_H

#include "absl/types/span.h"
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace hlo {

/// A list of numbers, with the accessors of a repeated field.
#define HLO_REPEATED(Class, name)                                                                  \
public:                                                                                            \
  const std::vector<std::int64_t> &name() const { return name##_; }                                \
  std::int64_t name(int i) const { return name##_[i]; }                                            \
  int name##_size() const { return static_cast<int>(name##_.size()); }                             \
  Class &add_##name(std::int64_t value) {                                                          \
    name##_.push_back(value);                                                                      \
    return *this;                                                                                  \
  }                                                                                                \
  Class &set_##name(absl::Span<const std::int64_t> values) {                                       \
    name##_.assign(values.begin(), values.end());                                                  \
    return *this;                                                                                  \
  }                                                                                                \
                                                                                                   \
private:                                                                                           \
  std::vector<std::int64_t> name##_;

/// A number, with the accessors of an optional field.
#define HLO_NUMBER(Class, name, initial)                                                           \
public:                                                                                            \
  std::int64_t name() const { return name##_; }                                                    \
  Class &set_##name(std::int64_t value) {                                                          \
    name##_ = value;                                                                               \
    return *this;                                                                                  \
  }                                                                                                \
                                                                                                   \
private:                                                                                           \
  std::int64_t name##_ = initial;

//===----------------------------------------------------------------------===//
// Products and convolutions
//===----------------------------------------------------------------------===//

class DotDimensionNumbers {
  HLO_REPEATED(DotDimensionNumbers, lhs_contracting_dimensions)
  HLO_REPEATED(DotDimensionNumbers, rhs_contracting_dimensions)
  HLO_REPEATED(DotDimensionNumbers, lhs_batch_dimensions)
  HLO_REPEATED(DotDimensionNumbers, rhs_batch_dimensions)
};

class RaggedDotDimensionNumbers {
  HLO_REPEATED(RaggedDotDimensionNumbers, lhs_ragged_dimensions)
  HLO_REPEATED(RaggedDotDimensionNumbers, rhs_group_dimensions)
public:
  const DotDimensionNumbers &dot_dimension_numbers() const { return dot; }
  DotDimensionNumbers *mutable_dot_dimension_numbers() { return &dot; }

private:
  DotDimensionNumbers dot;
};

/// Which dimension of input, kernel and output is which. All are 0, and there are no spatial ones,
/// until they are set; XlaBuilder::CreateDefaultConvDimensionNumbers makes batch, feature, spatial.
class ConvolutionDimensionNumbers {
  HLO_NUMBER(ConvolutionDimensionNumbers, input_batch_dimension, 0)
  HLO_NUMBER(ConvolutionDimensionNumbers, input_feature_dimension, 0)
  HLO_REPEATED(ConvolutionDimensionNumbers, input_spatial_dimensions)
  HLO_NUMBER(ConvolutionDimensionNumbers, kernel_input_feature_dimension, 0)
  HLO_NUMBER(ConvolutionDimensionNumbers, kernel_output_feature_dimension, 0)
  HLO_REPEATED(ConvolutionDimensionNumbers, kernel_spatial_dimensions)
  HLO_NUMBER(ConvolutionDimensionNumbers, output_batch_dimension, 0)
  HLO_NUMBER(ConvolutionDimensionNumbers, output_feature_dimension, 0)
  HLO_REPEATED(ConvolutionDimensionNumbers, output_spatial_dimensions)
};

/// How exactly products are computed.
class PrecisionConfig {
public:
  enum Precision { DEFAULT, HIGH, HIGHEST };
  /// An algorithm of the text format, as ALG_DOT_BF16_BF16_F32.
  enum Algorithm {
    ALG_UNSET,
    ALG_DOT_ANY_F8_ANY_F8_F32,
    ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM,
    ALG_DOT_F16_F16_F16,
    ALG_DOT_F16_F16_F32,
    ALG_DOT_BF16_BF16_BF16,
    ALG_DOT_BF16_BF16_F32,
    ALG_DOT_BF16_BF16_F32_X3,
    ALG_DOT_BF16_BF16_F32_X6,
    ALG_DOT_BF16_BF16_F32_X9,
    ALG_DOT_TF32_TF32_F32,
    ALG_DOT_TF32_TF32_F32_X3,
    ALG_DOT_F32_F32_F32,
    ALG_DOT_F64_F64_F64
  };

  PrecisionConfig() = default;
  /// The same for both operands.
  explicit PrecisionConfig(Precision precision) : operands{precision, precision} {}

  /// One entry per operand, or none.
  const std::vector<Precision> &operand_precision() const { return operands; }
  PrecisionConfig &add_operand_precision(Precision precision) {
    operands.push_back(precision);
    return *this;
  }
  Algorithm algorithm() const { return chosen; }
  PrecisionConfig &set_algorithm(Algorithm algorithm) {
    chosen = algorithm;
    return *this;
  }

private:
  std::vector<Precision> operands;
  Algorithm chosen = ALG_UNSET;
};

/// The padding of a window. kSame: with stride 1 the output has the input's size. kValid: none.
enum class Padding { kSame, kValid };

/// Which error of a unary function is acceptable.
class ResultAccuracy {
public:
  enum Mode { DEFAULT, HIGHEST };
  ResultAccuracy() = default;
  ResultAccuracy(Mode mode) : mode_(mode) {}
  /// At most this error: absolute, relative, or in units in the last place.
  static ResultAccuracy Tolerance(double atol, double rtol, std::int64_t ulps) {
    ResultAccuracy accuracy;
    accuracy.hasTolerance = true;
    accuracy.atol_ = atol;
    accuracy.rtol_ = rtol;
    accuracy.ulps_ = ulps;
    return accuracy;
  }
  Mode mode() const { return mode_; }
  bool has_tolerance() const { return hasTolerance; }
  double atol() const { return atol_; }
  double rtol() const { return rtol_; }
  std::int64_t ulps() const { return ulps_; }

private:
  Mode mode_ = DEFAULT;
  bool hasTolerance = false;
  double atol_ = 0, rtol_ = 0;
  std::int64_t ulps_ = 0;
};

//===----------------------------------------------------------------------===//
// Comparison, data movement, linear algebra
//===----------------------------------------------------------------------===//

enum class ComparisonDirection { kEq, kNe, kGe, kGt, kLe, kLt };

/// How elements are compared. kDefault: as their type's kind is; kFloatTotalOrder:
/// -NaN < -Inf < ... < -0 < +0 < ... < +Inf < +NaN.
enum class ComparisonType { kDefault, kFloat, kFloatTotalOrder, kSigned, kUnsigned };

/// Padding of one dimension; negative edge padding removes elements.
class PaddingConfigDimension {
  HLO_NUMBER(PaddingConfigDimension, edge_padding_low, 0)
  HLO_NUMBER(PaddingConfigDimension, edge_padding_high, 0)
  HLO_NUMBER(PaddingConfigDimension, interior_padding, 0)
};

class PaddingConfig {
public:
  using PaddingConfigDimension = hlo::PaddingConfigDimension;

  PaddingConfig() = default;
  const std::vector<PaddingConfigDimension> &dimensions() const { return all; }
  const PaddingConfigDimension &dimensions(int i) const { return all[i]; }
  int dimensions_size() const { return static_cast<int>(all.size()); }
  /// Appends a dimension without padding.
  PaddingConfigDimension *add_dimensions() {
    all.emplace_back();
    return &all.back();
  }
  PaddingConfigDimension *mutable_dimensions(int i) { return &all[i]; }

private:
  std::vector<PaddingConfigDimension> all;
};

/// `edge_padding`: (low, high) of each dimension; interior padding is 0.
PaddingConfig
MakePaddingConfig(absl::Span<const std::pair<std::int64_t, std::int64_t>> edge_padding);
/// `rank` dimensions without padding.
PaddingConfig MakeNoPaddingConfig(std::int64_t rank);

class GatherDimensionNumbers {
  HLO_REPEATED(GatherDimensionNumbers, offset_dims)
  HLO_REPEATED(GatherDimensionNumbers, collapsed_slice_dims)
  HLO_REPEATED(GatherDimensionNumbers, start_index_map)
  HLO_NUMBER(GatherDimensionNumbers, index_vector_dim, 0)
  HLO_REPEATED(GatherDimensionNumbers, operand_batching_dims)
  HLO_REPEATED(GatherDimensionNumbers, start_indices_batching_dims)
};

class ScatterDimensionNumbers {
  HLO_REPEATED(ScatterDimensionNumbers, update_window_dims)
  HLO_REPEATED(ScatterDimensionNumbers, inserted_window_dims)
  HLO_REPEATED(ScatterDimensionNumbers, scatter_dims_to_operand_dims)
  HLO_NUMBER(ScatterDimensionNumbers, index_vector_dim, 0)
  HLO_REPEATED(ScatterDimensionNumbers, input_batching_dims)
  HLO_REPEATED(ScatterDimensionNumbers, scatter_indices_batching_dims)
};

enum class FftType { FFT, IFFT, RFFT, IRFFT };

struct TriangularSolveOptions {
  enum Transpose { TRANSPOSE_INVALID, NO_TRANSPOSE, TRANSPOSE, ADJOINT };
};

enum class RandomAlgorithm { RNG_DEFAULT, RNG_THREE_FRY, RNG_PHILOX };

//===----------------------------------------------------------------------===//
// Communication, custom calls
//===----------------------------------------------------------------------===//

/// Ranks that take part in one instance of a collective, in this order.
class ReplicaGroup {
public:
  ReplicaGroup() = default;
  ReplicaGroup(std::initializer_list<std::int64_t> ids) : replica_ids_(ids) {}
  explicit ReplicaGroup(std::vector<std::int64_t> ids) : replica_ids_(std::move(ids)) {}
  HLO_REPEATED(ReplicaGroup, replica_ids)
};

/// Identifies the two ends of a transfer, or the instances of one collective.
class ChannelHandle {
public:
  enum ChannelType { CHANNEL_TYPE_INVALID, DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE };
  ChannelHandle() = default;
  explicit ChannelHandle(std::int64_t handle, ChannelType type = DEVICE_TO_DEVICE)
      : handle_(handle), type_(type) {}
  std::int64_t handle() const { return handle_; }
  ChannelHandle &set_handle(std::int64_t handle) {
    handle_ = handle;
    return *this;
  }
  ChannelType type() const { return type_; }
  ChannelHandle &set_type(ChannelType type) {
    type_ = type;
    return *this;
  }

private:
  std::int64_t handle_ = 0;
  ChannelType type_ = CHANNEL_TYPE_INVALID;
};

enum class CustomCallSchedule { SCHEDULE_NONE, SCHEDULE_LATEST, SCHEDULE_EARLIEST };

enum class CustomCallApiVersion {
  API_VERSION_UNSPECIFIED,
  API_VERSION_ORIGINAL,
  API_VERSION_STATUS_RETURNING,
  API_VERSION_STATUS_RETURNING_UNIFIED,
  API_VERSION_TYPED_FFI
};

/// A path in a tuple: {1, 0} is element 0 of element 1; {} is the whole value.
using ShapeIndex = std::vector<std::int64_t>;

/// Output `first` of a custom call shares its buffer with operand `second.first` at
/// `second.second`.
using OutputOperandAliasing = std::pair<ShapeIndex, std::pair<std::int64_t, ShapeIndex>>;

/// What an instruction says about the program that made it.
struct OpMetadata {
  std::string op_type, op_name, source_file;
  std::int32_t source_line = 0; ///< 0: none
};

/// Named texts of an instruction that pass through the compiler.
using FrontendAttributes = std::map<std::string, std::string>;

#undef HLO_REPEATED
#undef HLO_NUMBER

} // namespace hlo

#endif

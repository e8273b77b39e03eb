//===- hlo/builder.h - The builder of HLO computations ---------*- C++ -*-===//
//
// Builds HLO computations operation by operation, as XLA's XlaBuilder does. The one header to
// include. Link libhlo_builder.a and libhlo_compiler.so (CMake: Hlo::builder). C++17 or later, on
// Abseil. Licensed under Apache-2.0 WITH LLVM-exception.
//
//   hlo::XlaBuilder b("axpy");
//   hlo::XlaOp a = Parameter(&b, 0, hlo::ShapeUtil::MakeShape(hlo::F32, {}), "a");
//   hlo::XlaOp x = Parameter(&b, 1, hlo::ShapeUtil::MakeShape(hlo::F32, {8}), "x");
//   absl::StatusOr<hlo::XlaComputation> axpy = b.Build(a * x + x);
//   absl::StatusOr<hlo::Executable> run = hlo::Jit(*axpy);
//   ... run->Run({a_value, x_value}) ...
//
// Operations are functions of XlaOp (hlo/ops/): Add, DotGeneral, While, ... They have the names,
// the order of arguments and the meaning of XLA's operation semantics. Functions without operands
// take the builder first. Those of older documents are also members of XlaBuilder. docs/builder.md
// has an example of each, and errors.
//
// Errors: an operation that is wrong adds nothing, and returns a value that is not valid, which
// others ignore. Build returns the first error as an absl::Status whose message begins with the
// file and line of the call: "model.cpp:12: error: add: ...". Every function takes that place as
// its last argument, by default.
//
// Threads: a builder belongs to one thread at a time. A finished computation may be shared.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_BUILDER_H
#define HLO_BUILDER_H

#include <hlo/computation.h>
#include <hlo/executable.h>
#include <hlo/literal.h>
#include <hlo/op.h>
#include <hlo/ops/communication.h>
#include <hlo/ops/compute.h>
#include <hlo/ops/control.h>
#include <hlo/ops/elementwise.h>
#include <hlo/ops/movement.h>

namespace hlo {

namespace detail {
class Instruction;
}

/// A computation in work.
class XlaBuilder {
public:
  /// `computation_name`: of the computation and its module. The builder may not move: values refer
  /// to it.
  explicit XlaBuilder(const std::string &computation_name);
  ~XlaBuilder();
  XlaBuilder(const XlaBuilder &) = delete;
  XlaBuilder &operator=(const XlaBuilder &) = delete;

  const std::string &name() const { return title; }

  /// A builder of a computation that this one is going to call. It is independent: Build its
  /// computation, and give it to Call, While, Reduce, ...
  std::unique_ptr<XlaBuilder> CreateSubBuilder(const std::string &computation_name);

  /// Finishes the computation. The result is the value that was added last, or `root`. The builder
  /// cannot be used otherwise afterwards. InvalidArgument with the first error, if there was one;
  /// Internal for faults of the compiler.
  absl::StatusOr<XlaComputation> Build(SourceLocation at = SourceLocation::current());
  absl::StatusOr<XlaComputation> Build(XlaOp root, SourceLocation at = SourceLocation::current());

  /// OK, or the first error so far.
  absl::Status first_error() const;
  absl::Status GetCurrentStatus() const { return first_error(); }
  /// Reports an error of the program's own, as if an operation at this place had it. The value is
  /// not valid.
  XlaOp ReportError(const absl::Status &error, SourceLocation at = SourceLocation::current());
  /// The value, or after an error a value that is not valid, with the error reported.
  XlaOp ReportErrorOrReturn(const absl::StatusOr<XlaOp> &op,
                            SourceLocation at = SourceLocation::current());

  /// InvalidArgument for a value that is not valid or of another builder.
  absl::StatusOr<Shape> GetShape(XlaOp op) const;
  /// Parameters so far, and the shape of `root`.
  absl::StatusOr<ProgramShape> GetProgramShape(XlaOp root) const;

  //===- Attributes of instructions ---------------------------------------===//

  /// Added to all instructions from now on.
  void SetOpMetadata(OpMetadata metadata);
  void ClearOpMetadata();
  void SetFrontendAttributes(FrontendAttributes attributes);
  void ClearFrontendAttributes();
  /// In the text format's syntax: "{replicated}", "{devices=[2,1]0,1}".
  void SetSharding(const std::string &sharding);
  void ClearSharding();
  /// The name of the next instruction.
  void SetNextName(const std::string &name);

  //===- Attributes of the module -----------------------------------------===//

  /// Output `output_index` may share its buffer with `param_index` of a parameter, or, if `must`,
  /// has to.
  void SetUpAlias(const ShapeIndex &output_index, std::int64_t param_number,
                  const ShapeIndex &param_index, bool must = false);
  /// The parameter's buffer may be used for any output.
  void AddBufferDonor(std::int64_t param_number, const ShapeIndex &param_index);
  /// How many replicas and partitions run the module; 1 by default.
  void SetReplicaCount(std::int64_t count);
  void SetNumPartitions(std::int64_t count);

  static constexpr std::int64_t kConvBatchDimension = 0, kConvFeatureDimension = 1;
  /// batch, feature, spatial dimensions of input and output; output feature, input feature, spatial
  /// dimensions of the kernel.
  static ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims = 2);

  /// The builder in the C API. Belongs to this object.
  hlo_builder *handle() const { return builder; }

  //===- Operations as members --------------------------------------------===//
  //
  // builder.Add(x, y) is Add(x, y), for the operations of the older documents.

  using Span = absl::Span<const std::int64_t>;
  using Pairs = absl::Span<const std::pair<std::int64_t, std::int64_t>>;
  using Ops = absl::Span<const XlaOp>;
#define HLO_AT SourceLocation at = SourceLocation::current()

#define HLO_UNARY(Name)                                                                            \
  XlaOp Name(XlaOp operand, HLO_AT) { return hlo::Name(operand, at); }
  HLO_UNARY(Abs)
  HLO_UNARY(Ceil)
  HLO_UNARY(Cos)
  HLO_UNARY(Exp)
  HLO_UNARY(Floor)
  HLO_UNARY(IsFinite)
  HLO_UNARY(Log)
  HLO_UNARY(LogicalNot)
  HLO_UNARY(Neg)
  HLO_UNARY(Not)
  HLO_UNARY(Sign)
  HLO_UNARY(Sin)
  HLO_UNARY(Tanh)
#undef HLO_UNARY

#define HLO_BINARY(Name)                                                                           \
  XlaOp Name(XlaOp lhs, XlaOp rhs, Span broadcast_dimensions = {}, HLO_AT) {                       \
    return hlo::Name(lhs, rhs, broadcast_dimensions, at);                                          \
  }
  HLO_BINARY(Add)
  HLO_BINARY(And)
  HLO_BINARY(Div)
  HLO_BINARY(Eq)
  HLO_BINARY(Ge)
  HLO_BINARY(Gt)
  HLO_BINARY(Le)
  HLO_BINARY(LogicalAnd)
  HLO_BINARY(LogicalOr)
  HLO_BINARY(Lt)
  HLO_BINARY(Max)
  HLO_BINARY(Min)
  HLO_BINARY(Mul)
  HLO_BINARY(Ne)
  HLO_BINARY(Or)
  HLO_BINARY(Pow)
  HLO_BINARY(Rem)
  HLO_BINARY(Sub)
#undef HLO_BINARY

  XlaOp Parameter(std::int64_t number, const Shape &shape, absl::string_view parameter_name,
                  HLO_AT) {
    return hlo::Parameter(this, number, shape, parameter_name, at);
  }
  XlaOp ConstantLiteral(const LiteralSlice &literal, HLO_AT) {
    return hlo::ConstantLiteral(this, literal, at);
  }
  template <typename T> XlaOp ConstantR0(T value, HLO_AT) {
    return hlo::ConstantR0<T>(this, value, at);
  }
  template <typename T> XlaOp ConstantR1(absl::Span<const T> values, HLO_AT) {
    return hlo::ConstantR1<T>(this, values, at);
  }
  template <typename T> XlaOp ConstantR1(std::initializer_list<T> values, HLO_AT) {
    return hlo::ConstantR1<T>(this, values, at);
  }
  template <typename T>
  XlaOp ConstantR2(std::initializer_list<std::initializer_list<T>> values, HLO_AT) {
    return hlo::ConstantR2<T>(this, values, at);
  }
  XlaOp Iota(PrimitiveType type, std::int64_t size, HLO_AT) {
    return hlo::Iota(this, type, size, at);
  }
  XlaOp AllToAll(XlaOp operand, std::int64_t split_dimension, std::int64_t concat_dimension,
                 std::int64_t split_count, absl::Span<const ReplicaGroup> replica_groups = {},
                 HLO_AT) {
    return hlo::AllToAll(operand, split_dimension, concat_dimension, split_count, replica_groups,
                         std::nullopt, std::nullopt, at);
  }
  XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                      XlaOp grad_output, float epsilon, std::int64_t feature_index, HLO_AT) {
    return hlo::BatchNormGrad(operand, scale, batch_mean, batch_var, grad_output, epsilon,
                              feature_index, at);
  }
  XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                           float epsilon, std::int64_t feature_index, HLO_AT) {
    return hlo::BatchNormInference(operand, scale, offset, mean, variance, epsilon, feature_index,
                                   at);
  }
  XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                          std::int64_t feature_index, HLO_AT) {
    return hlo::BatchNormTraining(operand, scale, offset, epsilon, feature_index, at);
  }
  XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type, HLO_AT) {
    return hlo::BitcastConvertType(operand, new_element_type, at);
  }
  XlaOp Broadcast(XlaOp operand, Span broadcast_sizes, HLO_AT) {
    return hlo::Broadcast(operand, broadcast_sizes, at);
  }
  XlaOp Call(const XlaComputation &computation, Ops operands, HLO_AT) {
    return hlo::Call(this, computation, operands, at);
  }
  XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, HLO_AT) {
    return hlo::Clamp(min, operand, max, at);
  }
  XlaOp Collapse(XlaOp operand, Span dimensions, HLO_AT) {
    return hlo::Collapse(operand, dimensions, at);
  }
  XlaOp Concatenate(Ops operands, std::int64_t dimension, HLO_AT) {
    return hlo::ConcatInDim(this, operands, dimension, at);
  }
  XlaOp ConcatInDim(Ops operands, std::int64_t dimension, HLO_AT) {
    return hlo::ConcatInDim(this, operands, dimension, at);
  }
  XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation &true_computation,
                    XlaOp false_operand, const XlaComputation &false_computation, HLO_AT) {
    return hlo::Conditional(predicate, true_operand, true_computation, false_operand,
                            false_computation, at);
  }
  XlaOp Conv(XlaOp lhs, XlaOp rhs, Span window_strides, Padding padding, HLO_AT) {
    return hlo::Conv(lhs, rhs, window_strides, padding, 1, 1, nullptr, std::nullopt, at);
  }
  XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, Span window_strides, Pairs padding, HLO_AT) {
    return hlo::ConvWithGeneralPadding(lhs, rhs, window_strides, padding, 1, 1, nullptr,
                                       std::nullopt, at);
  }
  /// With the dilations of the older documents' table.
  XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, Span window_strides, Pairs padding,
                               Span lhs_dilation, Span rhs_dilation, HLO_AT);
  XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type, HLO_AT) {
    return hlo::ConvertElementType(operand, new_element_type, at);
  }
  XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups = {}, HLO_AT) {
    return hlo::CrossReplicaSum(operand, replica_groups, at);
  }
  XlaOp CustomCall(const std::string &target_name, Ops operands, const Shape &shape, HLO_AT) {
    return hlo::CustomCall(this, target_name, operands, shape, "", false, {}, nullptr,
                           CustomCallSchedule::SCHEDULE_NONE,
                           CustomCallApiVersion::API_VERSION_ORIGINAL, at);
  }
  XlaOp Dot(XlaOp lhs, XlaOp rhs, HLO_AT) { return hlo::Dot(lhs, rhs, nullptr, std::nullopt, at); }
  XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers &dimension_numbers, HLO_AT) {
    return hlo::DotGeneral(lhs, rhs, dimension_numbers, nullptr, std::nullopt, at);
  }
  XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, Span size_indices, HLO_AT) {
    return hlo::DynamicSlice(operand, start_indices, size_indices, at);
  }
  XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices, HLO_AT) {
    return hlo::DynamicUpdateSlice(operand, update, start_indices, at);
  }
  XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers &dimension_numbers,
               Span slice_sizes, HLO_AT) {
    return hlo::Gather(operand, start_indices, dimension_numbers, slice_sizes, false, at);
  }
  XlaOp GetTupleElement(XlaOp tuple_data, std::int64_t index, HLO_AT) {
    return hlo::GetTupleElement(tuple_data, index, at);
  }
  XlaOp Infeed(const Shape &shape, const std::string &config = "", HLO_AT) {
    return hlo::Infeed(this, shape, config, at);
  }
  XlaOp Map(Ops operands, const XlaComputation &computation, Span dimensions = {},
            Ops static_operands = {}, HLO_AT) {
    return hlo::Map(operands, computation, dimensions, static_operands, at);
  }
  XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig &padding_config, HLO_AT) {
    return hlo::Pad(operand, padding_value, padding_config, at);
  }
  XlaOp Recv(const Shape &shape, const ChannelHandle &channel_handle, HLO_AT) {
    return hlo::Recv(this, shape, channel_handle, at);
  }
  XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation &computation, Span dimensions,
               HLO_AT) {
    return hlo::Reduce(operand, init_value, computation, dimensions, at);
  }
  XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits, HLO_AT) {
    return hlo::ReducePrecision(operand, exponent_bits, mantissa_bits, at);
  }
  XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation &computation,
                     Span window_dimensions, Span window_strides, Padding padding, HLO_AT) {
    return hlo::ReduceWindow(operand, init_value, computation, window_dimensions, window_strides,
                             padding, at);
  }
  XlaOp Reshape(XlaOp operand, Span new_sizes, HLO_AT) {
    return hlo::Reshape(operand, new_sizes, at);
  }
  XlaOp Reshape(XlaOp operand, Span dimensions, Span new_sizes, HLO_AT) {
    return hlo::Reshape(operand, dimensions, new_sizes, at);
  }
  XlaOp Rev(XlaOp operand, Span dimensions, HLO_AT) { return hlo::Rev(operand, dimensions, at); }
  XlaOp RngBernoulli(XlaOp mean, const Shape &shape, HLO_AT) {
    return hlo::RngBernoulli(mean, shape, at);
  }
  XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape &shape, HLO_AT) {
    return hlo::RngNormal(mu, sigma, shape, at);
  }
  XlaOp RngUniform(XlaOp a, XlaOp b, const Shape &shape, HLO_AT) {
    return hlo::RngUniform(a, b, shape, at);
  }
  XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates,
                const XlaComputation &update_computation,
                const ScatterDimensionNumbers &dimension_numbers, HLO_AT) {
    return hlo::Scatter(operand, scatter_indices, updates, update_computation, dimension_numbers,
                        false, false, at);
  }
  XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false, HLO_AT) {
    return hlo::Select(pred, on_true, on_false, at);
  }
  XlaOp SelectAndScatter(XlaOp operand, const XlaComputation &select, Span window_dimensions,
                         Span window_strides, Padding padding, XlaOp source, XlaOp init_value,
                         const XlaComputation &scatter, HLO_AT) {
    return hlo::SelectAndScatter(operand, select, window_dimensions, window_strides, padding,
                                 source, init_value, scatter, at);
  }
  XlaOp Send(XlaOp operand, const ChannelHandle &channel_handle, HLO_AT) {
    return hlo::Send(operand, channel_handle, at);
  }
  XlaOp Slice(XlaOp operand, Span start_indices, Span limit_indices, Span strides = {}, HLO_AT) {
    return hlo::Slice(operand, start_indices, limit_indices, strides, at);
  }
  XlaOp Sort(XlaOp operand, std::int64_t dimension = -1, HLO_AT) {
    return hlo::Sort(operand, dimension, at);
  }
  XlaOp Sort(XlaOp keys, XlaOp values, std::int64_t dimension = -1, HLO_AT) {
    return hlo::Sort(keys, values, dimension, at);
  }
  XlaOp Transpose(XlaOp operand, Span permutation, HLO_AT) {
    return hlo::Transpose(operand, permutation, at);
  }
  XlaOp Tuple(Ops elements, HLO_AT) { return hlo::Tuple(this, elements, at); }
  XlaOp While(const XlaComputation &condition, const XlaComputation &body, XlaOp init, HLO_AT) {
    return hlo::While(condition, body, init, at);
  }
#undef HLO_AT

private:
  friend class detail::Instruction;
  /// Adds what Instruction has collected, or nothing after an error.
  XlaOp add(detail::Instruction &instruction);
  friend XlaOp hlo::Parameter(XlaBuilder *, std::int64_t, const Shape &, absl::string_view,
                              SourceLocation);
  friend XlaOp hlo::ConstantLiteral(XlaBuilder *, const LiteralSlice &, SourceLocation);
  XlaOp addParameter(std::int64_t number, const Shape &shape, const std::string &name,
                     SourceLocation at);
  XlaOp addConstant(const Literal &literal, SourceLocation at);
  absl::StatusOr<XlaComputation> finish(hlo_value root, SourceLocation at);

  std::string title;
  hlo_builder *builder;
  std::map<std::int64_t, std::pair<Shape, std::string>> parameters;
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
  commonAttributes(const FrontendAttributes &more) const;
  XlaOp annotated(hlo_value value, SourceLocation at);

  OpMetadata metadata;
  FrontendAttributes frontendAttributes;
  std::string sharding, nextName;
  std::vector<std::string> aliases, donors;
  std::int64_t replicas = 1, partitions = 1;
  XlaOp infeedToken, outfeedToken, sendToken, recvToken;
  /// The channel of a transfer that has begun, and whether it is with the host.
  std::map<hlo_value, std::pair<std::int64_t, bool>> transfers;
};

/// The names of the first versions.
using ComputationBuilder = XlaBuilder;
using ComputationDataHandle = XlaOp;
using Computation = XlaComputation;

} // namespace hlo

#endif

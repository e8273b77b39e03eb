//===- Opcodes.cpp - The table of opcodes and their attributes ------------===//
//
// One row per opcode of the text format. The order of an opcode's attributes is
// the order in which they are printed. To add an opcode: one row here, one op in
// dialect/hlo; nothing else, unless its attributes need a new syntax.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Opcodes.h"

using namespace hlo::parser;
using llvm::ArrayRef;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {
constexpr bool Required = true;
constexpr bool Optional = false;
constexpr int Any = -1;
constexpr ShapeRule W = ShapeRule::Written;
constexpr ShapeRule I = ShapeRule::Inferred;
using K = AttrKind;

constexpr StringLiteral algorithms =
    "unset dot_any_f8_any_f8_f32 dot_any_f8_any_f8_f32_fast_accum dot_f16_f16_f16 "
    "dot_f16_f16_f32 dot_bf16_bf16_bf16 dot_bf16_bf16_f32 dot_bf16_bf16_f32_x3 "
    "dot_bf16_bf16_f32_x6 dot_bf16_bf16_f32_x9 dot_tf32_tf32_f32 dot_tf32_tf32_f32_x3 "
    "dot_f32_f32_f32 dot_f64_f64_f64";

constexpr AttrSpec accuracy[] = {{"result_accuracy", K::Accuracy}};
constexpr AttrSpec dimensions[] = {{"dimensions", K::Dims, Required}};
constexpr AttrSpec optionalDimensions[] = {{"dimensions", K::Dims, Optional}};
constexpr AttrSpec oneDimension[] = {{"dimensions", K::OneDim, Required}};

constexpr AttrSpec allGather[] = {{"channel_id", K::Integer},
                                  {"replica_groups", K::ReplicaGroups},
                                  {"constrain_layout", K::Boolean},
                                  {"dimensions", K::OneDim, Required},
                                  {"use_global_device_ids", K::Boolean}};
constexpr AttrSpec allReduce[] = {
    {"channel_id", K::Integer},       {"replica_groups", K::ReplicaGroups},
    {"constrain_layout", K::Boolean}, {"use_global_device_ids", K::Boolean},
    {"mode", K::IgnoredWord},         {"to_apply", K::Computation, Required}};
constexpr AttrSpec reduceScatter[] = {{"channel_id", K::Integer},
                                      {"replica_groups", K::ReplicaGroups},
                                      {"constrain_layout", K::Boolean},
                                      {"use_global_device_ids", K::Boolean},
                                      {"dimensions", K::OneDim, Required},
                                      {"mode", K::IgnoredWord},
                                      {"to_apply", K::Computation, Required}};
constexpr AttrSpec allToAll[] = {{"channel_id", K::Integer},
                                 {"replica_groups", K::ReplicaGroups},
                                 {"constrain_layout", K::Boolean},
                                 {"dimensions", K::OneDim}};
constexpr AttrSpec raggedAllToAll[] = {
    {"channel_id", K::Integer}, {"replica_groups", K::ReplicaGroups}, {"dimensions", K::OneDim}};
constexpr AttrSpec collectiveBroadcast[] = {{"channel_id", K::Integer},
                                            {"replica_groups", K::ReplicaGroups},
                                            {"has_dynamic_root", K::Boolean}};
constexpr AttrSpec collectivePermute[] = {{"channel_id", K::Integer},
                                          {"source_target_pairs", K::Pairs, Required},
                                          {"slice_sizes", K::IntLists}};
constexpr AttrSpec transfer[] = {{"channel_id", K::Integer}, {"is_host_transfer", K::Boolean}};

constexpr AttrSpec asyncStart[] = {{"output_to_operand_aliasing", K::Aliasing},
                                   {"async_execution_thread", K::String},
                                   {"calls", K::Computation, Required}};
constexpr AttrSpec asyncUpdate[] = {{"output_to_operand_aliasing", K::Aliasing},
                                    {"async_execution_thread", K::String},
                                    {"calls", K::Computation}};
constexpr AttrSpec asyncDone[] = {{"async_execution_thread", K::String}, {"calls", K::Computation}};

constexpr AttrSpec batchNorm[] = {{"epsilon", K::Float, Required},
                                  {"feature_index", K::Integer, Required}};
constexpr AttrSpec call[] = {{"to_apply", K::Computation, Required}, {"is_composite", K::Boolean}};
constexpr AttrSpec cholesky[] = {{"lower", K::Boolean}};
constexpr AttrSpec compare[] = {{"direction", K::Word, Required, "EQ NE GE GT LE LT"},
                                {"type", K::Word, Optional, "FLOAT TOTALORDER SIGNED UNSIGNED"}};
constexpr AttrSpec conditional[] = {{"true_computation", K::TrueBranch},
                                    {"false_computation", K::FalseBranch},
                                    {"branch_computations", K::Computations}};
constexpr AttrSpec convolution[] = {
    {"window", K::Window},
    {"dim_labels", K::DimLabels, Required},
    {"feature_group_count", K::Integer},
    {"batch_group_count", K::Integer},
    {"operand_precision", K::Precision},
    {"convolution_kind", K::Word, Optional, "unset fprop dgrad wgrad"},
    {"sparsity_config", K::Sparsity},
    {"algorithm", K::LowerWord, Optional, algorithms}};
constexpr AttrSpec copyStart[] = {{"cross_program_prefetch_index", K::Integer}};
constexpr AttrSpec customCall[] = {
    {"window", K::WindowText},
    {"dim_labels", K::DimLabelsText},
    {"feature_group_count", K::Integer},
    {"batch_group_count", K::Integer},
    {"padding_type", K::Word, Optional, "PADDING_VALID PADDING_SAME PADDING_INVALID"},
    {"operand_precision", K::Precision},
    {"custom_call_target", K::String, Required},
    {"operand_layout_constraints", K::Shapes},
    {"custom_call_has_side_effect", K::Boolean},
    {"literal", K::Literal},
    {"output_to_operand_aliasing", K::Aliasing},
    {"schedule", K::UpperWord, Optional, "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST"},
    {"api_version", K::UpperWord, Optional,
     "API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED "
     "API_VERSION_TYPED_FFI"},
    {"called_computations", K::Computations},
    {"to_apply", K::OneComputation}};
constexpr AttrSpec domain[] = {{"domain", K::Domain, Required}};
constexpr AttrSpec dot[] = {
    {"lhs_batch_dims", K::Dims},         {"lhs_contracting_dims", K::Dims},
    {"rhs_batch_dims", K::Dims},         {"rhs_contracting_dims", K::Dims},
    {"operand_precision", K::Precision}, {"algorithm", K::LowerWord, Optional, algorithms}};
constexpr AttrSpec raggedDot[] = {
    {"lhs_batch_dims", K::Dims},        {"lhs_contracting_dims", K::Dims},
    {"rhs_batch_dims", K::Dims},        {"rhs_contracting_dims", K::Dims},
    {"lhs_ragged_dims", K::Dims},       {"rhs_group_dims", K::Dims},
    {"operand_precision", K::Precision}};
constexpr AttrSpec dynamicSlice[] = {{"dynamic_slice_sizes", K::Dims, Required}};
constexpr AttrSpec fft[] = {{"fft_type", K::Word, Required, "FFT IFFT RFFT IRFFT"},
                            {"fft_length", K::Dims, Required}};
constexpr AttrSpec fusion[] = {{"kind", K::Word, Required, "kLoop kInput kOutput kCustom"},
                               {"output_to_operand_aliasing", K::Aliasing},
                               {"calls", K::Computation, Required}};
constexpr AttrSpec gather[] = {
    {"offset_dims", K::Dims, Required},       {"collapsed_slice_dims", K::Dims, Required},
    {"start_index_map", K::Dims, Required},   {"operand_batching_dims", K::Dims},
    {"start_indices_batching_dims", K::Dims}, {"index_vector_dim", K::Integer, Required},
    {"slice_sizes", K::Dims, Required},       {"indices_are_sorted", K::Boolean}};
constexpr AttrSpec getTupleElement[] = {{"index", K::Integer, Required}};
constexpr AttrSpec infeed[] = {{"infeed_config", K::String}};
constexpr AttrSpec iota[] = {{"iota_dimension", K::Integer, Required}};
constexpr AttrSpec map[] = {{"dimensions", K::Dims}, {"to_apply", K::Computation, Required}};
constexpr AttrSpec outfeed[] = {{"outfeed_shape", K::Shape}, {"outfeed_config", K::String}};
constexpr AttrSpec pad[] = {{"padding", K::Padding, Required}};
constexpr AttrSpec reduce[] = {{"dimensions", K::Dims, Required},
                               {"to_apply", K::Computation, Required}};
constexpr AttrSpec reducePrecision[] = {{"exponent_bits", K::Integer, Required},
                                        {"mantissa_bits", K::Integer, Required}};
constexpr AttrSpec reduceWindow[] = {{"window", K::Window}, {"to_apply", K::Computation, Required}};
constexpr AttrSpec reshape[] = {{"inferred_dimension", K::Integer}};
constexpr AttrSpec rng[] = {{"distribution", K::LowerWord, Required, "rng_uniform rng_normal"}};
constexpr AttrSpec rngBitGenerator[] = {
    {"algorithm", K::LowerWord, Required, "rng_default rng_three_fry rng_philox"}};
constexpr AttrSpec rngState[] = {{"delta", K::Integer, Required}};
constexpr AttrSpec scan[] = {{"dimensions", K::OneDim, Required},
                             {"num_carries", K::Integer, Required},
                             {"is_reverse", K::Boolean},
                             {"is_associative", K::Boolean},
                             {"to_apply", K::Computation, Required}};
constexpr AttrSpec scatter[] = {{"update_window_dims", K::Dims, Required},
                                {"inserted_window_dims", K::Dims, Required},
                                {"scatter_dims_to_operand_dims", K::Dims, Required},
                                {"input_batching_dims", K::Dims},
                                {"scatter_indices_batching_dims", K::Dims},
                                {"index_vector_dim", K::Integer, Required},
                                {"indices_are_sorted", K::Boolean},
                                {"unique_indices", K::Boolean},
                                {"to_apply", K::Computation, Required}};
constexpr AttrSpec selectAndScatter[] = {{"window", K::Window},
                                         {"select", K::Computation, Required},
                                         {"scatter", K::Computation, Required}};
constexpr AttrSpec slice[] = {{"slice", K::Slice, Required}};
constexpr AttrSpec sort[] = {{"dimensions", K::OneDim, Required},
                             {"is_stable", K::Boolean},
                             {"to_apply", K::Computation, Required}};
constexpr AttrSpec topk[] = {
    {"k", K::Integer, Required}, {"largest", K::Boolean}, {"is_stable", K::Boolean}};
constexpr AttrSpec triangularSolve[] = {
    {"left_side", K::Boolean},
    {"lower", K::Boolean},
    {"unit_diagonal", K::Boolean},
    {"transpose_a", K::Word, Optional, "NO_TRANSPOSE TRANSPOSE ADJOINT"}};
constexpr AttrSpec whileLoop[] = {{"condition", K::Computation, Required},
                                  {"body", K::Computation, Required}};

constexpr OpcodeInfo opcodes[] = {
    {"abs", 1, 1, I, {}},
    {"acos", 1, 1, I, accuracy},
    {"acosh", 1, 1, I, accuracy},
    {"add", 2, 2, I, {}},
    {"add-dependency", 2, 2, I, {}},
    {"after-all", 0, Any, I, {}},
    {"all-gather", 1, Any, W, allGather},
    {"all-gather-done", 1, 1, W, {}},
    {"all-gather-start", 1, Any, W, allGather},
    {"all-reduce", 1, Any, W, allReduce},
    {"all-reduce-done", 1, 1, W, {}},
    {"all-reduce-start", 1, Any, W, allReduce},
    {"all-to-all", 1, Any, W, allToAll},
    {"and", 2, 2, I, {}},
    {"asin", 1, 1, I, accuracy},
    {"asinh", 1, 1, I, accuracy},
    {"async-done", 1, 1, W, asyncDone},
    {"async-start", 0, Any, W, asyncStart},
    {"async-update", 1, 1, W, asyncUpdate},
    {"atan2", 2, 2, I, {}},
    {"atanh", 1, 1, I, accuracy},
    {"batch-norm-grad", 5, 5, I, batchNorm},
    {"batch-norm-inference", 5, 5, I, batchNorm},
    {"batch-norm-training", 3, 3, I, batchNorm},
    {"bitcast", 1, 1, W, {}},
    {"bitcast-convert", 1, 1, W, {}},
    {"broadcast", 1, 1, I, optionalDimensions},
    {"call", 0, Any, I, call},
    {"cbrt", 1, 1, I, accuracy},
    {"ceil", 1, 1, I, {}},
    {"cholesky", 1, 1, I, cholesky},
    {"clamp", 3, 3, I, {}},
    {"collective-broadcast", 1, Any, W, collectiveBroadcast},
    {"collective-permute", 1, Any, W, collectivePermute},
    {"collective-permute-done", 1, 1, W, {}},
    {"collective-permute-start", 1, Any, W, collectivePermute},
    {"compare", 2, 2, I, compare},
    {"complex", 2, 2, I, {}},
    {"concatenate", 1, Any, I, oneDimension},
    {"conditional", 1, Any, I, conditional},
    {"constant", 0, 0, W, {}},
    {"convert", 1, 1, W, {}},
    {"convolution", 2, 2, I, convolution},
    {"copy", 1, 1, I, {}},
    {"copy-done", 1, 1, W, {}},
    {"copy-start", 1, 1, W, copyStart},
    {"cosh", 1, 1, I, accuracy},
    {"cosine", 1, 1, I, accuracy},
    {"count-leading-zeros", 1, 1, I, {}},
    {"custom-call", 0, Any, W, customCall},
    {"divide", 2, 2, I, {}},
    {"domain", 1, 1, I, domain},
    {"dot", 2, 2, I, dot},
    {"dynamic-reshape", 1, Any, W, {}},
    {"dynamic-slice", 1, Any, W, dynamicSlice},
    {"dynamic-update-slice", 2, Any, W, {}},
    {"erf", 1, 1, I, accuracy},
    {"exponential", 1, 1, I, accuracy},
    {"exponential-minus-one", 1, 1, I, accuracy},
    {"fft", 1, 1, I, fft},
    {"floor", 1, 1, I, {}},
    {"fusion", 0, Any, W, fusion},
    {"gather", 2, 2, I, gather},
    {"get-dimension-size", 1, 1, I, oneDimension},
    {"get-tuple-element", 1, 1, I, getTupleElement},
    {"imag", 1, 1, I, {}},
    {"infeed", 1, 1, W, infeed},
    {"iota", 0, 0, W, iota},
    {"is-finite", 1, 1, I, {}},
    {"log", 1, 1, I, accuracy},
    {"log-plus-one", 1, 1, I, accuracy},
    {"logistic", 1, 1, I, accuracy},
    {"map", 1, Any, I, map},
    {"maximum", 2, 2, I, {}},
    {"minimum", 2, 2, I, {}},
    {"mulhi", 2, 2, I, {}},
    {"multiply", 2, 2, I, {}},
    {"negate", 1, 1, I, {}},
    {"not", 1, 1, I, {}},
    {"opt-barrier", 1, 1, W, {}},
    {"or", 2, 2, I, {}},
    {"outfeed", 2, 2, W, outfeed},
    {"pad", 2, 2, I, pad},
    {"parameter", 0, 0, W, {}},
    {"partition-id", 0, 0, I, {}},
    {"popcnt", 1, 1, I, {}},
    {"power", 2, 2, I, {}},
    {"ragged-all-to-all", 6, 6, W, raggedAllToAll},
    {"ragged-dot", 3, 3, I, raggedDot},
    {"real", 1, 1, I, {}},
    {"recv", 1, 1, W, transfer},
    {"recv-done", 1, 1, W, transfer},
    {"reduce", 2, Any, I, reduce},
    {"reduce-precision", 1, 1, W, reducePrecision},
    {"reduce-scatter", 1, Any, W, reduceScatter},
    {"reduce-window", 2, Any, I, reduceWindow},
    {"remainder", 2, 2, I, {}},
    {"replica-id", 0, 0, I, {}},
    {"reshape", 1, 1, W, reshape},
    {"reverse", 1, 1, I, dimensions},
    {"rng", 2, 2, W, rng},
    {"rng-bit-generator", 1, 1, W, rngBitGenerator},
    {"rng-get-and-update-state", 0, 0, W, rngState},
    {"round-nearest-afz", 1, 1, I, {}},
    {"round-nearest-even", 1, 1, I, {}},
    {"rsqrt", 1, 1, I, accuracy},
    {"scaled-dot", 4, 4, W, dot},
    {"scan", 1, Any, I, scan},
    {"scatter", 3, Any, I, scatter},
    {"select", 3, 3, I, {}},
    {"select-and-scatter", 3, 3, I, selectAndScatter},
    {"send", 2, 2, W, transfer},
    {"send-done", 1, 1, W, transfer},
    {"set-dimension-size", 2, 2, I, oneDimension},
    {"shift-left", 2, 2, I, {}},
    {"shift-right-arithmetic", 2, 2, I, {}},
    {"shift-right-logical", 2, 2, I, {}},
    {"sign", 1, 1, I, {}},
    {"sine", 1, 1, I, accuracy},
    {"sinh", 1, 1, I, accuracy},
    {"slice", 1, 1, W, slice},
    {"sort", 1, Any, I, sort},
    {"sqrt", 1, 1, I, accuracy},
    {"stochastic-convert", 2, 2, W, {}},
    {"subtract", 2, 2, I, {}},
    {"tan", 1, 1, I, accuracy},
    {"tanh", 1, 1, I, accuracy},
    {"topk", 1, 1, I, topk},
    {"transpose", 1, 1, I, dimensions},
    {"triangular-solve", 2, 2, I, triangularSolve},
    {"tuple", 0, Any, I, {}},
    {"while", 1, 1, I, whileLoop},
    {"xor", 2, 2, I, {}},
};

constexpr StringLiteral commonAttributes[] = {
    "sharding", "frontend_attributes", "control-predecessors", "statistics", "origin",
    "metadata", "backend_config",      "parameter_replication"};
} // namespace

ArrayRef<OpcodeInfo> hlo::parser::getOpcodes() { return opcodes; }

ArrayRef<StringLiteral> hlo::parser::getCommonAttributes() { return commonAttributes; }

bool hlo::parser::isCommonAttribute(StringRef name) {
  return llvm::is_contained(commonAttributes, name);
}

OpcodeTable::OpcodeTable(mlir::MLIRContext *context) {
  for (auto [index, info] : llvm::enumerate(opcodes)) {
    std::string op = "hlo." + info.name.str();
    std::replace(op.begin(), op.end(), '-', '_');
    opNames.push_back(mlir::OperationName(op, context));
    indices[info.name] = index;
    ops[opNames.back()] = index;
  }
}

const OpcodeInfo *OpcodeTable::find(StringRef opcode) const {
  auto it = indices.find(opcode);
  return it == indices.end() ? nullptr : &opcodes[it->second];
}

const OpcodeInfo *OpcodeTable::findOp(mlir::OperationName op) const {
  auto it = ops.find(op);
  return it == ops.end() ? nullptr : &opcodes[it->second];
}

mlir::OperationName OpcodeTable::getOpName(const OpcodeInfo &info) const {
  return opNames[&info - opcodes];
}

const OpcodeInfo *OpcodeTable::findAsync(StringRef opcode, AsyncPart &part) const {
  if (opcode.consume_back("-start")) {
    part = AsyncPart::Start;
  } else if (opcode.consume_back("-update")) {
    part = AsyncPart::Update;
  } else if (opcode.consume_back("-done")) {
    part = AsyncPart::Done;
  } else {
    return nullptr;
  }
  // These opcodes have start and done opcodes of their own, or cannot be wrapped.
  for (StringRef excluded : {"all-gather", "all-reduce", "collective-permute", "copy", "send",
                             "recv", "parameter", "constant", "async"}) {
    if (opcode == excluded) {
      return nullptr;
    }
  }
  return find(opcode);
}

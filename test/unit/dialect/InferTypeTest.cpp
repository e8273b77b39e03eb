//===- InferTypeTest.cpp - Inferred shapes, one table per family ----------===//
//
// Each row is one instruction without a shape, as MLIR operands and attributes;
// the inferred shape is compared as HLO text, "" standing for a refusal.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/InferType.h"
#include "dialect/hlo/Shapes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Computations that rows name.
constexpr const char *computations = R"(
hlo.computation @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
hlo.computation @less(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = hlo.compare %a, %b {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return %0 : tensor<i1>
}
hlo.computation @less2(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<si32>, %j: tensor<si32>) -> tensor<i1> {
  %0 = hlo.compare %a, %b {direction = "LT"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  hlo.return %0 : tensor<i1>
}
hlo.computation @argmax(%a: tensor<f32>, %i: tensor<si32>, %b: tensor<f32>, %j: tensor<si32>) -> tuple<tensor<f32>, tensor<si32>> {
  %0 = hlo.tuple %a, %i : (tensor<f32>, tensor<si32>) -> tuple<tensor<f32>, tensor<si32>>
  hlo.return %0 : tuple<tensor<f32>, tensor<si32>>
}
hlo.computation @step(%a: tensor<f32>, %b: tensor<f32>) -> tuple<tensor<f32>, tensor<f32>> {
  %0 = hlo.tuple %a, %b : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  hlo.return %0 : tuple<tensor<f32>, tensor<f32>>
}
hlo.computation @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}
hlo.computation @stop(%a: tensor<4xf32>) -> tensor<i1> {
  %0 = hlo.constant {value = dense<false> : tensor<i1>} : tensor<i1>
  hlo.return %0 : tensor<i1>
}
)";

struct Row {
  const char *op;
  std::vector<const char *> operands;
  const char *attributes;
  const char *expected;
};

class InferTypeTest : public ::testing::Test {
protected:
  InferTypeTest() {
    context.loadDialect<HloDialect>();
    module = parseSourceString<ModuleOp>(computations, &context);
    handler = context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
  }
  ~InferTypeTest() override { context.getDiagEngine().eraseHandler(handler); }

  std::string infer(const Row &row) {
    Block block;
    Location loc = UnknownLoc::get(&context);
    for (const char *text : row.operands) {
      Type type = parseType(text, &context);
      EXPECT_TRUE(type) << text;
      block.addArgument(type, loc);
    }
    auto attributes = dyn_cast_if_present<DictionaryAttr>(parseAttribute(row.attributes, &context));
    EXPECT_TRUE(attributes) << row.attributes;
    SymbolTable symbols(*module);
    auto lookup = [&](llvm::StringRef name) { return symbols.lookup<ComputationOp>(name); };
    auto emitError = [&] { return mlir::emitError(loc); };
    messages.clear();
    FailureOr<Type> type = inferType(("hlo." + llvm::StringRef(row.op)).str(), block.getArguments(),
                                     attributes, lookup, emitError);
    if (failed(type)) {
      EXPECT_NE(messages, "") << "a refusal says nothing";
      return "";
    }
    EXPECT_EQ(messages, "");
    return hloText(*type);
  }

  void check(std::initializer_list<Row> rows) {
    ASSERT_TRUE(module);
    for (const Row &row : rows) {
      EXPECT_EQ(infer(row), row.expected) << row.op << " " << row.attributes << "\n" << messages;
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  DiagnosticEngine::HandlerID handler;
  std::string messages;
};

TEST_F(InferTypeTest, Elementwise) {
  check({
      {"negate", {"tensor<2x3xf32, #hlo.layout<[0, 1]>>"}, "{}", "f32[2,3]{0,1}"},
      {"negate", {"tensor<4xf32, #hlo.layout<[], dynamic = [0]>>"}, "{}", "f32[<=4]"},
      {"negate", {"tensor<?xf32>"}, "{}", "f32[?]"},
      {"abs", {"tensor<4xcomplex<f64>>"}, "{}", "f64[4]"},
      {"real", {"tensor<4xcomplex<f32>>"}, "{}", "f32[4]"},
      {"is_finite", {"tensor<4xbf16>"}, "{}", "pred[4]"},
      {"add", {"tensor<4xf32>", "tensor<4xf32>"}, "{}", "f32[4]"},
      {"add", {"tensor<4xbf16>", "tensor<4xf32>"}, "{}", "f32[4]"},
      {"add", {"tensor<4xf32>", "tensor<1xf32>"}, "{}", ""},
      {"add", {"tensor<4xf32>"}, "{}", ""},
      {"add", {"tuple<>", "tensor<4xf32>"}, "{}", ""},
      {"complex", {"tensor<4xf64>", "tensor<4xf64>"}, "{}", "c128[4]"},
      {"compare", {"tensor<4xf32>", "tensor<4xf32>"}, "{direction = \"EQ\"}", "pred[4]"},
      {"compare", {"tensor<4xf32>", "tensor<4xf32>"}, "{}", ""},
      {"select", {"tensor<i1>", "tensor<4xf32>", "tensor<4xf32>"}, "{}", "f32[4]"},
      {"clamp", {"tensor<f32>", "tensor<4xf32>", "tensor<4xf32>"}, "{}", "f32[4]"},
      {"convert", {"tensor<4xf32>"}, "{}", ""},
  });
}

TEST_F(InferTypeTest, DataMovement) {
  check({
      {"broadcast", {"tensor<f32>"}, "{dimensions = array<i64>}", "f32[]"},
      {"broadcast", {"tensor<4xf32>"}, "{dimensions = array<i64: 1>}", ""},
      {"transpose", {"tensor<2x3xf32>"}, "{dimensions = array<i64: 1, 0>}", "f32[3,2]{0,1}"},
      {"transpose", {"tensor<2x3xf32>"}, "{}", ""},
      {"concatenate", {"tensor<2x3xf32>", "tensor<2x4xf32>"}, "{dimension = 1 : i64}", "f32[2,7]"},
      {"concatenate", {}, "{dimension = 1 : i64}", ""},
      {"pad",
       {"tensor<4xf32>", "tensor<f32>"},
       "{padding_low = array<i64: 1>, padding_high = array<i64: -2>, padding_interior = array<i64: "
       "3>}",
       "f32[12]"},
      {"pad",
       {"tensor<0xf32>", "tensor<f32>"},
       "{padding_low = array<i64: 1>, padding_high = array<i64: 1>, padding_interior = array<i64: "
       "3>}",
       "f32[2]"},
      {"slice",
       {"tensor<9xf32>"},
       "{start_indices = array<i64: 1>, limit_indices = array<i64: 9>, strides = array<i64: 3>}",
       "f32[3]"},
      {"reverse", {"tensor<2x3xf32>"}, "{dimensions = array<i64: 0>}", "f32[2,3]"},
      {"iota", {}, "{iota_dimension = 0 : i64}", ""},
      {"get_dimension_size", {"tensor<2x3xf32>"}, "{dimension = 1 : i64}", "s32[]"},
      {"set_dimension_size",
       {"tensor<2x3xf32>", "tensor<si32>"},
       "{dimension = 1 : i64}",
       "f32[2,<=3]"},
      {"gather",
       {"tensor<8x16xf32>", "tensor<5x7x1xsi32>"},
       "{offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = "
       "array<i64: 0>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 16>}",
       "f32[5,7,16]"},
      {"gather",
       {"tensor<5x8xf32>", "tensor<5x7xsi32>"},
       "{offset_dims = array<i64>, collapsed_slice_dims = array<i64: 1>, start_index_map = "
       "array<i64: 1>, index_vector_dim = 2 : i64, slice_sizes = array<i64: 1, 1>, "
       "operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>}",
       "f32[5,7]"},
      {"dynamic_slice",
       {"tensor<8x8xf32>", "tensor<si32>", "tensor<si32>"},
       "{dynamic_slice_sizes = array<i64: 2, 3>}",
       "f32[2,3]"},
      {"scatter",
       {"tensor<8xf32>", "tensor<3x1xsi32>", "tensor<3xf32>"},
       "{update_window_dims = array<i64>, inserted_window_dims = array<i64: 0>, "
       "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64, to_apply = @add}",
       "f32[8]"},
  });
}

TEST_F(InferTypeTest, Reductions) {
  const char *window = "{to_apply = @add, window = #hlo.window<size = [3], stride = [2], pad_low = "
                       "[1], pad_high = [0], lhs_dilate = [2], rhs_dilate = [2], reversal = [0]>}";
  check({
      {"reduce",
       {"tensor<2x3x4xf32>", "tensor<f32>"},
       "{dimensions = array<i64: 0, 2>, to_apply = @add}",
       "f32[3]"},
      {"reduce",
       {"tensor<2x3xf32>", "tensor<2x3xsi32>", "tensor<f32>", "tensor<si32>"},
       "{dimensions = array<i64: 0>, to_apply = @argmax}",
       "(f32[3], s32[3])"},
      {"reduce",
       {"tensor<2xf32>", "tensor<f32>"},
       "{dimensions = array<i64: 0>, to_apply = @x}",
       ""},
      // (5 - 1) * 2 + 1 + 1 = 10 padded, window of 5: (10 - 5) / 2 + 1.
      {"reduce_window", {"tensor<5xf32>", "tensor<f32>"}, window, "f32[3]"},
      {"reduce_window", {"tensor<0xf32>", "tensor<f32>"}, window, "f32[0]"},
      {"map",
       {"tensor<4xf32>", "tensor<4xf32>"},
       "{dimensions = array<i64: 0>, to_apply = @less}",
       "pred[4]"},
      {"map", {"tensor<4xf32>", "tensor<4xf32>"}, "{to_apply = @less}", ""},
      {"sort", {"tensor<4xf32>"}, "{dimension = 0 : i64, to_apply = @less}", "f32[4]"},
      {"sort",
       {"tensor<4xf32>", "tensor<4xsi32>"},
       "{dimension = 0 : i64, to_apply = @less2}",
       "(f32[4], s32[4])"},
      {"topk", {"tensor<4x9xf32>"}, "{k = 2 : i64}", "(f32[4,2], s32[4,2])"},
      {"scan",
       {"tensor<4xf32>", "tensor<f32>"},
       "{dimension = 0 : i64, num_carries = 1 : i64, to_apply = @step}",
       "(f32[4], f32[])"},
  });
}

TEST_F(InferTypeTest, Linalg) {
  check({
      {"dot",
       {"tensor<2x3x4xf32>", "tensor<2x4x5xf32>"},
       "{lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 0>, lhs_contracting_dims = "
       "array<i64: 2>, rhs_contracting_dims = array<i64: 1>}",
       "f32[2,3,5]"},
      {"dot", {"tensor<2xf32>", "tensor<3xbf16>"}, "{}", "f32[2,3]"},
      {"ragged_dot",
       {"tensor<4x6xf32>", "tensor<6x5xf32>", "tensor<3xsi32>"},
       "{lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>, "
       "lhs_ragged_dims = array<i64: 1>}",
       "f32[3,4,5]"},
      {"convolution",
       {"tensor<4x9x6xf32>", "tensor<3x2x8xf32>"},
       "{dim_labels = #hlo.conv_dims<input = [b = 0, f = 2, 1], kernel = [i = 1, o = 2, 0], output "
       "= "
       "[b = 2, f = 0, 1]>, window = #hlo.window<size = [3], stride = [2], pad_low = [1], pad_high "
       "= "
       "[1], lhs_dilate = [1], rhs_dilate = [1], reversal = [0]>, feature_group_count = 3 : i64}",
       ""},
      {"convolution",
       {"tensor<4x9x6xf32>", "tensor<3x2x9xf32>"},
       "{dim_labels = #hlo.conv_dims<input = [b = 0, f = 2, 1], kernel = [i = 1, o = 2, 0], output "
       "= "
       "[b = 2, f = 0, 1]>, window = #hlo.window<size = [3], stride = [2], pad_low = [1], pad_high "
       "= "
       "[1], lhs_dilate = [1], rhs_dilate = [1], reversal = [0]>, feature_group_count = 3 : i64}",
       "f32[9,5,4]"},
      {"fft",
       {"tensor<4x8xf64>"},
       "{fft_type = \"RFFT\", fft_length = array<i64: 8>}",
       "c128[4,5]"},
      {"fft",
       {"tensor<4x5xcomplex<f32>>"},
       "{fft_type = \"IRFFT\", fft_length = array<i64: 9>}",
       "f32[4,9]"},
      {"cholesky", {"tensor<2x3x3xf32>"}, "{}", "f32[2,3,3]"},
      {"batch_norm_training",
       {"tensor<2x3xbf16>", "tensor<3xf32>", "tensor<3xf32>"},
       "{epsilon = 0.1 : f64, feature_index = 1 : i64}",
       "(bf16[2,3], f32[3], f32[3])"},
  });
}

TEST_F(InferTypeTest, ControlAndCommunication) {
  check({
      {"tuple", {}, "{}", "()"},
      {"tuple", {"tensor<f32>", "!hlo.token"}, "{}", "(f32[], token[])"},
      {"get_tuple_element", {"tuple<tensor<f32>, !hlo.token>"}, "{index = 1 : i64}", "token[]"},
      {"get_tuple_element", {"tensor<f32>"}, "{index = 0 : i64}", ""},
      {"call", {"tensor<4xf32>"}, "{to_apply = @neg}", "f32[4]"},
      {"call", {"tensor<5xf32>"}, "{to_apply = @neg}", ""},
      {"while", {"tensor<4xf32>"}, "{condition = @stop, body = @neg}", "f32[4]"},
      {"conditional",
       {"tensor<si32>", "tensor<4xf32>", "tensor<4xf32>"},
       "{branch_computations = [@neg, @neg]}",
       "f32[4]"},
      {"conditional", {}, "{branch_computations = [@neg]}", ""},
      {"opt_barrier", {"tuple<tensor<f32>>"}, "{}", "(f32[])"},
      {"after_all", {}, "{}", "token[]"},
      {"async_done", {"tuple<tuple<tensor<4xf32>>, tensor<5xf32>, tensor<ui32>>"}, "{}", "f32[5]"},
      {"copy_start", {"tensor<4xf32>"}, "{}", "(f32[4], f32[4], u32[])"},
      {"replica_id", {}, "{}", "u32[]"},
      {"send",
       {"tensor<4xf32>", "!hlo.token"},
       "{channel_id = 1 : i64}",
       "(f32[4], u32[], token[])"},
      {"recv_done", {"tuple<tensor<4xf32>, tensor<ui32>, !hlo.token>"}, "{}", "(f32[4], token[])"},
      {"all_reduce", {"tensor<4xf32>"}, "{to_apply = @add}", "f32[4]"},
      {"all_gather", {"tensor<4xf32>"}, "{dimension = 0 : i64}", ""},
      {"custom_call", {}, "{custom_call_target = \"f\"}", ""},
      {"no_such_op", {}, "{}", ""},
  });
}

/// Hostile numbers give an error in every op.
TEST_F(InferTypeTest, HugeNumbersAreRefused) {
  check({
      {"pad",
       {"tensor<4611686018427387904xi1>", "tensor<i1>"},
       "{padding_low = array<i64: 1>, padding_high = array<i64: 1>, padding_interior = array<i64: "
       "3>}",
       ""},
      {"transpose", {"tensor<4xf32>"}, "{dimensions = array<i64: 9223372036854775807>}", ""},
      {"slice",
       {"tensor<4xf32>"},
       "{start_indices = array<i64: -9223372036854775808>, limit_indices = array<i64: "
       "9223372036854775807>, strides = array<i64: -1>}",
       ""},
      {"reduce_window",
       {"tensor<4xf32>", "tensor<f32>"},
       "{to_apply = @add, window = #hlo.window<size = [9223372036854775807], stride = [1], pad_low "
       "= "
       "[0], pad_high = [0], lhs_dilate = [1], rhs_dilate = [9223372036854775807], reversal = "
       "[0]>}",
       ""},
      {"reduce_window",
       {"tensor<4xf32>", "tensor<f32>"},
       "{to_apply = @add, window = #hlo.window<size = [2, 2], stride = [1], pad_low = [0], "
       "pad_high = "
       "[0], lhs_dilate = [1], rhs_dilate = [1], reversal = [0]>}",
       ""},
      {"get_tuple_element", {"tuple<>"}, "{index = -9223372036854775808 : i64}", ""},
  });
}

} // namespace

//===- BuilderTest.cpp - Building, printing, errors and their places ------===//
#include "Support.h"
#include <atomic>
#include <thread>

using namespace hlo;
using namespace hlo::test;

static Shape f32(absl::Span<const std::int64_t> sizes) { return ShapeUtil::MakeShape(F32, sizes); }

TEST(Builder, TextSignatureAndShapes) {
  XlaBuilder b("axpy");
  XlaOp a = Parameter(&b, 0, f32({}), "a"), x = Parameter(&b, 1, f32({3}), "x");
  XlaOp sum = a * x + x;
  EXPECT_EQ(b.GetShape(sum)->ToString(), "f32[3]");
  EXPECT_EQ(b.GetProgramShape(sum)->ToString(), "(a: f32[], x: f32[3]) -> f32[3]");
  XlaComputation axpy = finish(b, sum);
  EXPECT_EQ(axpy.signature(), "(a: f32[], x: f32[3]) -> f32[3]");
  EXPECT_EQ(axpy.GetProgramShape()->parameter_names()[1], "x");
  EXPECT_EQ(axpy.ToString(), R"(HloModule axpy

ENTRY %axpy (a: f32[], x: f32[3]) -> f32[3] {
  %a = f32[] parameter(0)
  %x = f32[3]{0} parameter(1)
  %broadcast = f32[3]{0} broadcast(%a), dimensions={}
  %multiply = f32[3]{0} multiply(%broadcast, %x)
  ROOT %add = f32[3]{0} add(%multiply, %x)
}
)");
}

TEST(Builder, RunsWithLiteralsAndBuffers) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2, 2}), "x");
  auto executable = Jit(finish(b, Tuple(&b, {x + x, Tuple(&b, {Neg(x)})})));
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto results = executable->Run({LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}})});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 2u);
  EXPECT_EQ((*results)[0].ToString(), "f32[2,2] {{2, 4}, {6, 8}}");
  EXPECT_EQ((*results)[1].ToString(), "(f32[2,2] {{-1, -2}, {-3, -4}})");

  alignas(64) float in[4] = {1, 2, 3, 4}, twice[4], negated[4];
  RunOptions options;
  for (std::uint32_t threads : {1u, 2u, 0u}) {
    options.threads = threads;
    ASSERT_TRUE(executable->RunBuffers({in}, {twice, negated}, options).ok());
    EXPECT_EQ(twice[3], 8);
    EXPECT_EQ(negated[0], -1);
  }
  EXPECT_FALSE(executable->RunBuffers({in}, {twice}).ok());
  auto wrong = executable->Run({LiteralUtil::CreateR1<float>({1, 2})});
  EXPECT_EQ(wrong.status().message(), "argument 0 (x) must be f32[2,2], is f32[2]");
  EXPECT_FALSE(executable->Run(absl::Span<const Literal>()).ok());
}

TEST(Builder, RunsAgain) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({1000}), "x");
  auto executable = Jit(finish(b, Sort(Exp(x))));
  ASSERT_TRUE(executable.ok()) << executable.status();
  Executable copy = *executable;
  for (int i = 0; i < 3; ++i) {
    auto results = copy.Run({LiteralUtil::CreateFull<float>({1000}, float(i))});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_NEAR((*results)[0].Get<float>({7}), std::exp(float(i)), 1e-5);
  }
}

TEST(Builder, SmallAndTupleArguments) {
  XlaBuilder b("f");
  Shape bytes = ShapeUtil::MakeShape(S4, {3}), pair = ShapeUtil::MakeTupleShape({bytes, f32({})});
  XlaOp p = Parameter(&b, 0, pair, "p");
  XlaOp n = GetTupleElement(p, 0);
  XlaOp root = Tuple({n + n, Convert(n, F32) * GetTupleElement(p, 1)});
  Literal four = LiteralUtil::CreateR1<s4>({s4(-3), s4(2), s4(1)});
  std::vector<Literal> arguments{Literal::MakeTuple({four, LiteralUtil::CreateR0<float>(0.5f)})};
  EXPECT_EQ(runText(b, root, arguments), "s4[3] {-6, 4, 2} f32[3] {-1.5, 1, 0.5}");
}

TEST(Builder, LayoutsOfBuffers) {
  XlaBuilder b("f");
  Shape columns = ShapeUtil::MakeShapeWithLayout(F32, {2, 3}, {0, 1});
  XlaOp x = Parameter(&b, 0, columns, "x");
  CompileOptions options;
  options.flags = HLO_COMPILE_ENTRY_LAYOUT_TEXT;
  auto executable = Jit(finish(b, x + x), options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ(executable->description()->inputs[0].minor_to_major[0], 0);
  auto results = executable->Run({LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].ToString(), "f32[2,3] {{2, 4, 6}, {8, 10, 12}}");
}

TEST(Builder, AnyNames) {
  for (const char *name : {"", "my f", "3/\\\"x", "\xff\n", "f:(a,b)"}) {
    XlaBuilder b(name);
    XlaOp x = Parameter(&b, 0, f32({}), name);
    XlaOp y = Parameter(&b, 1, f32({}), name);
    EXPECT_EQ(runText(b, x - y, {LiteralUtil::CreateR0<float>(3), LiteralUtil::CreateR0<float>(1)}),
              "f32[] 2");
  }
}

TEST(Builder, Threads) {
  XlaComputation add = scalarAdd();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      XlaBuilder b("f");
      XlaOp x = Parameter(&b, 0, f32({64, 64}), "x");
      auto built = b.Build(Reduce(Dot(x, x), ConstantR0<float>(&b, float(t)), add, {0, 1}));
      auto executable = built.ok() ? Jit(*built) : built.status();
      // One executable on several threads, each call with threads of its own.
      std::vector<std::thread> callers;
      for (std::uint32_t caller = 0; executable.ok() && caller < 3; ++caller) {
        callers.emplace_back([&, caller] {
          RunOptions options;
          options.threads = caller;
          auto results = executable->Run({LiteralUtil::CreateFull<float>({64, 64}, 1)}, options);
          good += results.ok() && (*results)[0].Get<float>({}) == 64 * 64 * 64 + t;
        });
      }
      for (std::thread &caller : callers) {
        caller.join();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, 12);
}

TEST(Builder, BoundedSizes) {
  XlaBuilder b("f");
  Shape bounded = ShapeUtil::MakeShape(F32, {2, 4}, {false, true});
  XlaOp x = Parameter(&b, 0, bounded, "x");
  XlaOp one = ConstantR0<float>(&b, 1);
  XlaOp size = GetDimensionSize(x, 1);
  auto executable =
      Jit(finish(b, Tuple({x + one, one - x, size, Reduce(x, one, scalarAdd(), {1})})));
  ASSERT_TRUE(executable.ok()) << executable.status();
  auto results = executable->Run({LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}})});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].ToString(), "f32[2,3] {{2, 3, 4}, {5, 6, 7}}");
  EXPECT_EQ((*results)[1].ToString(), "f32[2,3] {{0, -1, -2}, {-3, -4, -5}}");
  EXPECT_EQ((*results)[2].ToString(), "s32[] 3");
  EXPECT_EQ((*results)[3].ToString(), "f32[2] {7, 16}");
  EXPECT_FALSE(executable->Run({LiteralUtil::CreateFull<float>({2, 5}, 1)}).ok());
}

TEST(Builder, SubBuildersAndConditional) {
  XlaBuilder b("main");
  auto branch = [&](const char *name, XlaOp (*f)(XlaOp)) {
    std::unique_ptr<XlaBuilder> sub = b.CreateSubBuilder(name);
    f(Parameter(sub.get(), 0, f32({}), "x"));
    return sub->Build().value();
  };
  XlaComputation twice = branch("twice", [](XlaOp x) { return x + x; });
  XlaComputation square = branch("square", [](XlaOp x) { return x * x; });
  XlaOp which = Parameter(&b, 0, ShapeUtil::MakeShape(PRED, {}), "which");
  XlaOp index = Parameter(&b, 1, ShapeUtil::MakeShape(S32, {}), "index");
  XlaOp x = ConstantR0<float>(&b, 5);
  XlaOp root =
      Tuple({Conditional(which, x, twice, x, square), Conditional(index, {&twice, &square}, {x, x}),
             Call(square, {Call(twice, {x})})});
  EXPECT_EQ(runText(b, root, {LiteralUtil::CreateR0<bool>(true), LiteralUtil::CreateR0<int>(1)}),
            "f32[] 10 f32[] 25 f32[] 100");
}

TEST(Builder, OlderForms) {
  // The example of the documents.
  Computation max;
  {
    ComputationBuilder builder("max");
    auto y = builder.Parameter(0, f32({}), "y");
    auto x = builder.Parameter(1, f32({}), "x");
    builder.Max(y, x);
    max = builder.Build().value();
  }
  XlaBuilder builder("reduce_window_2x3");
  auto input = builder.Parameter(0, f32({4, 6}), "input");
  ComputationDataHandle windows = builder.ReduceWindow(
      input, /*init_value=*/builder.ConstantLiteral(LiteralUtil::MinValue(F32)), max,
      /*window_dimensions=*/{2, 3}, /*window_strides=*/{2, 3}, Padding::kValid);
  Literal values(f32({4, 6}));
  for (int i = 0; i < 24; ++i) {
    values.data<float>()[i] = float(i);
  }
  EXPECT_EQ(runText(builder, windows, {values}), "f32[2,2] {{8, 11}, {20, 23}}");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The message of Build. `line`: that of the call that is wrong.
static void expectError(XlaBuilder &b, int line, const std::string &text) {
  auto built = b.Build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.status().code(), absl::StatusCode::kInvalidArgument);
  std::string place = std::string(__FILE__) + ":" + std::to_string(line) + ": error: ";
  EXPECT_EQ(std::string(built.status().message()).substr(0, place.size()), place) << built.status();
  EXPECT_NE(std::string(built.status().message()).find(text), std::string::npos) << built.status();
}

TEST(Error, PlaceOfTheCall) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2}), "x"), y = Parameter(&b, 1, f32({3}), "y");
  int line = __LINE__ + 1;
  XlaOp z = Add(x, y);
  EXPECT_FALSE(z.valid());
  Neg(z + x);
  expectError(b, line, "add: sizes differ: lhs is f32[2], rhs is f32[3]");
}

TEST(Error, PlaceOfTheOperator) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2}), "x"), y = Parameter(&b, 1, f32({3}), "y");
  int line = __LINE__ + 1;
  Neg(x * y);
  expectError(b, line, "multiply: ");
}

TEST(Error, FromTheRules) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2, 3}), "x");
  int line = __LINE__ + 1;
  Dot(x, x);
  expectError(b, line, "dot: ");
}

TEST(Error, TextOfAttributes) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2, 3}), "x");
  b.SetSharding("{devices=[2");
  int line = __LINE__ + 1;
  Neg(x);
  expectError(b, line, "negate: ");
}

TEST(Error, OtherBuildersAndNothing) {
  XlaBuilder a("a"), b("b"), c("c");
  XlaOp x = Parameter(&a, 0, f32({}), "x"), y = Parameter(&b, 0, f32({}), "y");
  int line = __LINE__ + 1;
  Add(y, x);
  expectError(b, line, "add: operand 1 is a value of the builder 'a', not of 'b'");
  line = __LINE__ + 1;
  Max(XlaOp(), x);
  expectError(a, line, "maximum: operand 0 is not a value");
  line = __LINE__ + 1;
  Call(&c, XlaComputation(), {});
  expectError(c, line, "call: computation 'to_apply' is null");
  EXPECT_FALSE(Neg(XlaOp()).valid());
  EXPECT_FALSE(Tuple(absl::Span<const XlaOp>()).valid());
  EXPECT_FALSE(Parameter(nullptr, 0, f32({}), "x").valid());
}

TEST(Error, OfTheProgram) {
  XlaBuilder b("f");
  Parameter(&b, 0, f32({}), "x");
  int line = __LINE__ + 1;
  XlaOp bad = b.ReportError(absl::InvalidArgumentError("too warm"));
  EXPECT_FALSE(bad.valid());
  EXPECT_FALSE(b.first_error().ok());
  expectError(b, line, "too warm");
}

// Errors that no single instruction has are at the call of Build.
TEST(Error, OfTheWholeComputation) {
  auto expectAtBuild = [](XlaBuilder &b, const std::string &text) {
    int line = __LINE__ + 1;
    absl::Status error = b.Build().status();
    std::string place = std::string(__FILE__) + ":" + std::to_string(line) + ": error: ";
    EXPECT_EQ(std::string(error.message()).substr(0, place.size()), place) << error;
    EXPECT_NE(error.message().find(text), absl::string_view::npos) << error;
  };
  XlaBuilder gap("gap"), empty("empty"), bad("bad");
  Parameter(&gap, 1, f32({}), "x");
  expectAtBuild(gap, "there is no parameter 0");
  EXPECT_FALSE(gap.Build().ok());
  expectAtBuild(empty, "");
  Neg(Parameter(&bad, 0, f32({}), "x"));
  bad.SetReplicaCount(-3);
  expectAtBuild(bad, "replica_count");
}

TEST(Error, HostileNumbers) {
  for (std::int64_t n : {INT64_MIN, std::int64_t(-1), std::int64_t(1) << 62, INT64_MAX}) {
    auto expectRefused = [&](void (*f)(XlaOp, std::int64_t)) {
      XlaBuilder b("f");
      XlaOp x = Parameter(&b, 0, f32({4, 4}), "x");
      f(x, n);
      EXPECT_FALSE(b.Build().ok()) << n;
    };
    expectRefused([](XlaOp x, std::int64_t n) { Broadcast(x, {n}); });
    expectRefused([](XlaOp x, std::int64_t n) { BroadcastInDim(x, {4, n}, {0, 1}); });
    expectRefused([](XlaOp x, std::int64_t n) { Reshape(x, {n}); });
    expectRefused([](XlaOp x, std::int64_t n) { Collapse(x, {n, n + (n < INT64_MAX)}); });
    expectRefused([](XlaOp x, std::int64_t n) { Transpose(x, {n, 0}); });
    expectRefused([](XlaOp x, std::int64_t n) { SliceInDim(x, 0, 1, 1, n); });
    expectRefused([](XlaOp x, std::int64_t n) { SliceInDim(x, n, n, 1, 0); });
    expectRefused([](XlaOp x, std::int64_t n) { Rev(x, {n}); });
    expectRefused([](XlaOp x, std::int64_t n) { AllGather(x, n, 2); });
    expectRefused([](XlaOp x, std::int64_t n) { AllGather(x, 0, n); });
    expectRefused([](XlaOp x, std::int64_t n) { AllToAll(x, n, 0, 1); });
    expectRefused([](XlaOp x, std::int64_t n) { AllToAll(x, 0, 0, n); });
    expectRefused([](XlaOp x, std::int64_t n) { PadInDim(x, Zero(x.builder(), F32), n, 0, 0); });
    expectRefused([](XlaOp x, std::int64_t n) { GetTupleElement(Tuple({x}), n); });
    expectRefused([](XlaOp x, std::int64_t n) { TopK(x, n); });
    expectRefused([](XlaOp x, std::int64_t n) { Add(x, SliceInDim(x, 0, 1, 1, 0), {n}); });
    expectRefused([](XlaOp x, std::int64_t n) { ConcatInDim(x.builder(), {x, x}, n); });
    expectRefused([](XlaOp x, std::int64_t n) { Iota(x.builder(), F32, n); });
    expectRefused([](XlaOp x, std::int64_t n) { Iota(x.builder(), f32({2}), n); });
    expectRefused([](XlaOp x, std::int64_t n) {
      ReduceWindow(x, Zero(x.builder(), F32), scalarAdd(), {n, n}, {n, n}, Padding::kSame);
      x.builder()->GetShape(x).IgnoreError();
      if (n > 0) { // a window larger than the array is allowed
        x.builder()->ReportError(absl::InvalidArgumentError("large"));
      }
    });
    expectRefused([](XlaOp x, std::int64_t n) {
      DotGeneral(
          x, x,
          DotDimensionNumbers().add_lhs_contracting_dimensions(n).add_rhs_contracting_dimensions(0),
          nullptr, F64);
    });
    expectRefused([](XlaOp x, std::int64_t n) {
      ConvGeneral(
          x, x, {n}, {{n, n}},
          ConvolutionDimensionNumbers().set_input_batch_dimension(n).add_input_spatial_dimensions(
              n),
          1, n, nullptr, F64);
    });
  }
}

TEST(Error, OfArraysThatAreNone) {
  auto expectRefused = [&](void (*f)(XlaOp)) {
    XlaBuilder b("f");
    f(Tuple(&b, {Parameter(&b, 0, f32({4, 4}), "x")}));
    EXPECT_FALSE(b.Build().ok());
  };
  expectRefused([](XlaOp t) { Add(t, t); });
  expectRefused([](XlaOp t) { Neg(t); });
  expectRefused([](XlaOp t) { Broadcast(t, {2}); });
  expectRefused([](XlaOp t) { Reshape(t, {2}); });
  expectRefused([](XlaOp t) { ConvertElementType(t, F64); });
  expectRefused([](XlaOp t) { Sort(t); });
  expectRefused([](XlaOp t) { Conv(t, t, {1}, Padding::kSame); });
  expectRefused([](XlaOp t) { Select(t, t, t); });
  expectRefused([](XlaOp t) { RngUniform(t, t, f32({2})); });
  expectRefused([](XlaOp t) { AllToAll(t, 0, 0, 1); });
  expectRefused([](XlaOp t) { Map({t}, scalarAdd(), {0}); });
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

TEST(Builder, AttributesOfInstructionsAndModule) {
  XlaBuilder b("f");
  XlaOp x = Parameter(&b, 0, f32({2}), "x");
  OpMetadata metadata;
  metadata.op_name = "jit(f)/\"neg\"";
  metadata.source_line = 7;
  b.SetOpMetadata(metadata);
  b.SetFrontendAttributes({{"key", "a \\ \" b\n\xc3\xa9"}});
  b.SetSharding("{replicated}");
  b.SetNextName("negated");
  XlaOp y = Neg(x);
  b.ClearOpMetadata();
  b.ClearFrontendAttributes();
  b.ClearSharding();
  b.SetUpAlias({}, 0, {});
  b.SetReplicaCount(2);
  XlaComputation computation = finish(b, y);
  for (const char *part : {"%negated = ", "sharding={replicated}", "op_name=\"jit(f)/\\\"neg\\\"\"",
                           "source_line=7", "key=\"a \\\\ \\\" b\\n\\303\\251\"", "replica_count=2",
                           "input_output_alias={ {}: (0, {}, may-alias) }"}) {
    EXPECT_NE(computation.ToString().find(part), std::string::npos)
        << part << computation.ToString();
  }
}

TEST(Builder, AttributesOfParametersAndConstants) {
  XlaBuilder b("f");
  b.SetSharding("{replicated}");
  XlaOp x = Parameter(&b, 0, f32({2}), "x");
  b.SetFrontendAttributes({{"key", "value"}});
  XlaOp one = ConstantR0<float>(&b, 1);
  b.ClearSharding();
  b.ClearFrontendAttributes();
  std::string text = finish(b, Add(x, one)).ToString();
  EXPECT_NE(text.find("%x = f32[2]{0} parameter(0), sharding={replicated}\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("constant(1), sharding={replicated}, frontend_attributes={key=\"value\"}\n"),
            std::string::npos)
      << text;
}

TEST(Compile, ArtifactsAndDiagnostics) {
  XlaBuilder b("my f");
  XlaOp x = Parameter(&b, 0, f32({2}), "x");
  XlaComputation computation = finish(b, Sin(x));
  CompileOptions options;
  options.name = "sinus";
  options.emit = HLO_EMIT_OBJECT | HLO_EMIT_HEADER | HLO_EMIT_HLO | HLO_EMIT_CXX_HEADER;
  options.cxx_namespace = "a::b";
  std::vector<std::string> phases;
  options.progress = [&](absl::string_view phase, std::uint32_t, std::uint32_t) {
    phases.emplace_back(phase);
  };
  auto artifacts = Compile(computation, options);
  ASSERT_TRUE(artifacts.ok()) << artifacts.status();
  EXPECT_EQ(artifacts->prefix, "sinus");
  EXPECT_EQ(artifacts->object.substr(1, 3), "ELF");
  EXPECT_NE(artifacts->header.find("sinus_run"), std::string::npos);
  EXPECT_NE(artifacts->hlo.find("sine"), std::string::npos);
  EXPECT_NE(artifacts->cxx_header.find("namespace a::b"), std::string::npos);
  EXPECT_TRUE(artifacts->assembly.empty());
  EXPECT_FALSE(phases.empty());

  options.cpu = "abacus";
  EXPECT_EQ(Compile(computation, options).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Compile(XlaComputation()).ok());
  EXPECT_FALSE(Jit(XlaComputation()).ok());
  std::int32_t cancel = 1;
  CompileOptions cancelled;
  cancelled.cancel = &cancel;
  EXPECT_EQ(Compile(computation, cancelled).status().code(), absl::StatusCode::kCancelled);
}

TEST(Compile, CallOptions) {
  Shape scalar = ShapeUtil::MakeShape(S32, {});
  auto loop = [&](const char *name, XlaOp (*f)(XlaOp, XlaOp)) {
    XlaBuilder b(name);
    XlaOp i = Parameter(&b, 0, scalar, "i");
    return b.Build(f(i, ConstantR0<std::int32_t>(&b, 1))).value();
  };
  XlaComputation forever = loop("forever", [](XlaOp i, XlaOp one) { return Ne(i, i * one + one); });
  XlaComputation count = loop("count", [](XlaOp i, XlaOp one) { return i + one; });
  XlaBuilder b("f");
  auto executable = Jit(finish(b, While(forever, count, Parameter(&b, 0, scalar, "start"))));
  ASSERT_TRUE(executable.ok()) << executable.status();
  RunOptions options;
  std::int32_t cancel = 1;
  options.call.cancel = &cancel;
  auto results = executable->Run({LiteralUtil::CreateR0<std::int32_t>(0)}, options);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kCancelled) << results.status();
}

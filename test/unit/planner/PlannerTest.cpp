//===- PlannerTest.cpp - Plans of random and of chosen programs -----------===//
#include "compiler/analysis/Computations.h"
#include "compiler/transforms/schedule/Plan.h"
#include "compiler/transforms/schedule/Schedule.h"
#include "dialect/cpurt/Dialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/planner/RandomModule.h"
#include "test/unit/planner/Simulate.h"
#include "gtest/gtest.h"
#include <chrono>

using namespace mlir;
using namespace hlo;

namespace {
class Planner : public ::testing::Test {
protected:
  Planner() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<HloDialect, cpurt::CpurtDialect>();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context, /*verifyAfterParse=*/false));
  }

  /// Parses, notes the sizes of inputs and outputs for the simulator, plans.
  OwningOpRef<ModuleOp> plan(const std::string &text, bool verified = true) {
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module) {
      return nullptr;
    }
    Builder b(&context);
    for (auto computation : module->getOps<ComputationOp>()) {
      if (computation.getEntry()) {
        auto sizes = [](TypeRange types) {
          return llvm::map_to_vector(types, [](Type type) { return *schedule::bytesOf(type); });
        };
        (*module)->setAttr("test.input_bytes",
                           b.getDenseI64ArrayAttr(sizes(computation.getArgumentTypes())));
        (*module)->setAttr("test.output_bytes",
                           b.getDenseI64ArrayAttr(sizes(computation.getResultTypes())));
      }
    }
    PassManager passes(&context);
    passes.enableVerifier(verified);
    passes.addPass(createHloPlanMemoryPass());
    if (failed(passes.run(*module))) {
      return nullptr;
    }
    return module;
  }

  /// Plans and compares with the module before planning.
  void check(const std::string &text, uint64_t seeds = 3) {
    OwningOpRef<ModuleOp> fused = parse(text);
    ASSERT_TRUE(fused) << text;
    OwningOpRef<ModuleOp> planned = plan(text);
    ASSERT_TRUE(planned) << text;
    planned->walk([&](cpurt::OutputOp output) { guests += output.getOffset().has_value(); });
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      std::optional<std::vector<uint64_t>> expected = test::runFused(*fused, seed);
      ++(expected ? programsThatEnd : endlessPrograms);
      EXPECT_FALSE(memoryReport(*planned).empty());
      for (bool shared : {false, true}) {
        if (!expected) {
          continue;
        }
        test::PlannedRun run = test::runPlanned(*planned, seed, shared);
        if (!run.error.empty() || run.outputs != *expected) {
          std::string after;
          llvm::raw_string_ostream(after) << *planned;
          FAIL() << run.error << "\nexpected " << ::testing::PrintToString(*expected) << ", got "
                 << ::testing::PrintToString(run.outputs) << (shared ? ", shared" : "") << "\n"
                 << text << "\n"
                 << after;
        }
      }
    }
  }

  template <typename Op> static unsigned count(ModuleOp module) {
    unsigned n = 0;
    module.walk([&](Op) { ++n; });
    return n;
  }
  static int64_t arenaBytes(ModuleOp module) {
    return (*module.getOps<cpurt::EntryOp>().begin()).getArenaBytes();
  }

  MLIRContext context;
  unsigned programsThatEnd = 0, endlessPrograms = 0;
  unsigned guests = 0; ///< buffers in outputs
};

/// An elementwise kernel `name = f(operands)` on tensor<64xf32>, free to share buffers.
std::string kernel(StringRef name, std::vector<std::string> operands, unsigned tag,
                   StringRef attributes = "may_alias = array<i64: 0, 0>") {
  std::string text = "    " + name.str() + " = hlo.fusion ";
  std::string types, arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    text += (i ? ", " : "") + operands[i];
    types += std::string(i ? ", " : "") + "tensor<64xf32>";
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": tensor<64xf32>";
  }
  return text + " {\n    ^bb0(" + arguments + "):\n      hlo.return %a0 : tensor<64xf32>\n    } " +
         "{strategy = \"loop\", tag = " + std::to_string(tag) + " : i64" +
         (attributes.empty() ? "" : ", " + attributes.str()) + "} : (" + types +
         ") -> tensor<64xf32>\n";
}

/// A loop over carries of tensor<64xf32> and a predicate made from the first one.
std::string loopModule(unsigned carries, StringRef body, StringRef returned, StringRef after,
                       StringRef result) {
  std::string types, parameters, operands;
  for (unsigned i = 0; i < carries; ++i) {
    std::string comma = i ? ", " : "";
    types += comma + "tensor<64xf32>";
    parameters += comma + "%p" + std::to_string(i) + ": tensor<64xf32>";
    operands += comma + "%p" + std::to_string(i);
  }
  return "module {\n  hlo.computation @body(" + parameters + ") -> (" + types + ") {\n" +
         body.str() + "    hlo.return " + returned.str() + " : " + types +
         "\n  }\n  hlo.computation @condition(" + parameters +
         ") -> tensor<i1> {\n"
         "    %c = hlo.fusion %p0 {\n    ^bb0(%a: tensor<64xf32>):\n"
         "      %t = hlo.constant {value = dense<true> : tensor<i1>} : tensor<i1>\n"
         "      hlo.return %t : tensor<i1>\n    } {strategy = \"loop\", tag = 90 : i64} : "
         "(tensor<64xf32>) -> tensor<i1>\n    hlo.return %c : tensor<i1>\n  }\n"
         "  hlo.computation @main(" +
         parameters +
         ") -> tensor<64xf32> attributes {entry} {\n    %w:" + std::to_string(carries) +
         " = hlo.while " + operands + " {condition = @condition, body = @body} : (" + types +
         ") -> (" + types + ")\n" + after.str() + "    hlo.return " + result.str() +
         " : tensor<64xf32>\n  }\n}\n";
}
} // namespace

TEST_F(Planner, RandomProgramsComputeTheSame) {
  for (uint32_t seed = 0; seed < 400 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(test::RandomModule(seed).write());
  }
  EXPECT_GT(programsThatEnd, 2 * endlessPrograms);
  EXPECT_GT(guests, 20u);
}

TEST_F(Planner, ChainLivesInTheOutput) {
  std::string text = "module {\n  hlo.computation @main(%p: tensor<64xf32>) -> tensor<64xf32> "
                     "attributes {entry} {\n" +
                     kernel("%0", {"%p"}, 0) + kernel("%1", {"%0"}, 1) + kernel("%2", {"%1"}, 2) +
                     "    hlo.return %2 : tensor<64xf32>\n  }\n}\n";
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(arenaBytes(*planned), 0);
  EXPECT_EQ(count<cpurt::CopyOp>(*planned), 0u);
}

TEST_F(Planner, EqualKernelsExistOnce) {
  std::string text = "module {\n  hlo.computation @main(%p: tensor<64xf32>) -> tensor<64xf32> "
                     "attributes {entry} {\n" +
                     kernel("%0", {"%p"}, 7) + kernel("%1", {"%0"}, 7) + kernel("%2", {"%1"}, 8) +
                     "    hlo.return %2 : tensor<64xf32>\n  }\n}\n";
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(count<cpurt::KernelOp>(*planned), 2u);
  EXPECT_EQ((*planned)->getAttrOfType<IntegerAttr>("cpurt.kernels_before").getInt(), 3);
  EXPECT_EQ((*planned)->getAttrOfType<IntegerAttr>("cpurt.kernels_after").getInt(), 2);
}

TEST_F(Planner, CarryStaysInTheOutput) {
  // The input must not be written, so it is copied once; there is no other copy.
  std::string text = loopModule(1, kernel("%0", {"%p0"}, 1), "%0", "", "%w#0");
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(count<cpurt::CopyOp>(*planned), 1u);
  EXPECT_EQ(arenaBytes(*planned), 1); // the predicate
}

TEST_F(Planner, InPlaceUpdateOfACarryCopiesNothing) {
  std::string text = loopModule(2, kernel("%0", {"%p0", "%p1"}, 1, "in_place = array<i64: 0, 0>"),
                                "%0, %p1", "", "%w#0");
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(count<cpurt::CopyOp>(*planned), 1u);
}

TEST_F(Planner, ReaderRunsBeforeInPlaceUpdate) {
  // %1 reads the old carry, and comes after the update in the text.
  std::string text = loopModule(2,
                                kernel("%0", {"%p0", "%p1"}, 1, "in_place = array<i64: 0, 0>") +
                                    kernel("%1", {"%p0", "%p1"}, 2, ""),
                                "%0, %1", "", "%w#0");
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  // Two inputs become carries; %1 reads its own carry while it writes, so that one is moved.
  EXPECT_EQ(count<cpurt::CopyOp>(*planned), 3u);
}

TEST_F(Planner, SwapTwiceIsNoSwap) {
  // Two iterations at a time change nothing; only a loop that ends between them swaps.
  std::string text = loopModule(2, "", "%p1, %p0", "", "%w#0");
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  auto loop = cpurt::WhileOp();
  planned->walk([&](cpurt::WhileOp op) { loop = op; });
  EXPECT_EQ(llvm::range_size(loop.getBody().getOps<cpurt::CopyOp>()), 0u);
  auto second = *loop.getBody().getOps<cpurt::CaseOp>().begin();
  EXPECT_EQ(llvm::range_size(second.getBranches()[0].getOps<cpurt::CopyOp>()), 0u);
  EXPECT_EQ(llvm::range_size(second.getBranches()[1].getOps<cpurt::CopyOp>()), 3u);
}

TEST_F(Planner, InvariantCarryIsReadWhereItIs) {
  std::string text = loopModule(2, kernel("%0", {"%p0", "%p1"}, 1), "%0, %p1", "", "%w#0");
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(count<cpurt::CopyOp>(*planned), 1u); // the other carry's start
}

TEST_F(Planner, DonatedInputIsUpdatedInPlace) {
  std::string text = "module attributes {hlo.leaf_alias = array<i64: 0, 0>} {\n  hlo.computation "
                     "@main(%p: tensor<64xf32>, %q: tensor<64xf32>) -> tensor<64xf32> attributes "
                     "{entry} {\n" +
                     kernel("%0", {"%p", "%q"}, 0, "in_place = array<i64: 0, 0>") +
                     "    hlo.return %0 : tensor<64xf32>\n  }\n}\n";
  check(text);
  OwningOpRef<ModuleOp> planned = plan(text);
  EXPECT_EQ(arenaBytes(*planned), 0);
  planned->walk([](cpurt::CopyOp op) { EXPECT_TRUE(op.getMayBeSame()); });
}

TEST_F(Planner, DonatedInputThatIsReadLateIsNotOverwritten) {
  std::string text = "module attributes {hlo.leaf_alias = array<i64: 0, 0>} {\n  hlo.computation "
                     "@main(%p: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes "
                     "{entry} {\n" +
                     kernel("%0", {"%p"}, 0) + kernel("%1", {"%0", "%p"}, 1, "") +
                     "    hlo.return %0, %1 : tensor<64xf32>, tensor<64xf32>\n  }\n}\n";
  check(text);
}

TEST_F(Planner, UnsupportedOpIsNamed) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  EXPECT_FALSE(plan("module {\n  hlo.computation @main(%p: tensor<64xf32>) -> tensor<64xf32> "
                    "attributes {entry} {\n    %0 = hlo.negate %p : (tensor<64xf32>) -> "
                    "tensor<64xf32>\n    hlo.return %0 : tensor<64xf32>\n  }\n}\n"));
  EXPECT_NE(message.find("is not supported yet"), std::string::npos) << message;
}

TEST_F(Planner, ReportNamesThePeak) {
  std::string text = "module {\n  hlo.computation @main(%p: tensor<64xf32>) -> tensor<64xf32> "
                     "attributes {entry} {\n" +
                     kernel("%0", {"%p"}, 0, "") + kernel("%1", {"%0"}, 1, "") +
                     kernel("%2", {"%0", "%1"}, 2, "") +
                     "    hlo.return %2 : tensor<64xf32>\n  }\n}\n";
  std::string report = memoryReport(*plan(text));
  EXPECT_NE(report.find("arena 512 bytes, 2 buffers, 512 in use at step 1 (k1_loop_argument)"),
            std::string::npos)
      << report;
}

/// `ops` kernels; the operands of each are `width` values before its result.
static std::string bigModule(unsigned ops, unsigned width) {
  std::string text = "module {\n  hlo.computation @main(%p: tensor<64xf32>) -> tensor<64xf32> "
                     "attributes {entry} {\n";
  std::string last;
  for (unsigned i = 0; i < ops; ++i) {
    std::string a = i < 1 ? "%p" : "%v" + std::to_string(i - 1);
    std::string b = i < width ? "%p" : "%v" + std::to_string(i - width);
    last = "%v" + std::to_string(i);
    text += kernel(last, {a, b}, i % 5);
  }
  return text + "    hlo.return " + last + " : tensor<64xf32>\n  }\n}\n";
}

TEST_F(Planner, BigModulesArePlannedFast) {
  for (unsigned width : {2u, 100u, 5000u}) {
    std::string text = bigModule(20000, width);
    OwningOpRef<ModuleOp> module = parse(text);
    FailureOr<ComputationGraph> graph = ComputationGraph::build(*module);
    auto start = std::chrono::steady_clock::now();
    schedule::Plan plan;
    ASSERT_TRUE(succeeded(schedule::buildPlan(*graph, {}, plan)));
    schedule::coalesce(plan);
    ASSERT_TRUE(succeeded(schedule::assignOffsets(plan)));
    ASSERT_TRUE(succeeded(schedule::checkPlan(plan)));
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    RecordProperty("seconds_width_" + std::to_string(width), std::to_string(seconds));
    EXPECT_LT(seconds, 1.0) << "width " << width;
    EXPECT_LE(plan.arenaBytes, int64_t(width + 2) * 256);
  }
}

//===- VerifyModuleTest.cpp - Checks that only MLIR assembly can violate --===//
#include "dialect/hlo/verify/VerifyModule.h"
#include "dialect/hlo/TextAttrs.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hlo;

namespace {

/// The messages of verifyModule, one a line.
std::string verifyText(llvm::StringRef text) {
  MLIRContext context;
  context.loadDialect<HloDialect>();
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(text, config);
  if (!module) {
    return "no module\n" + messages;
  }
  EXPECT_EQ(succeeded(verifyModule(*module)), messages.empty());
  return messages;
}

TEST(VerifyModuleTest, WithoutTheDialect) {
  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>("module {}", &context);
  EXPECT_TRUE(failed(verifyModule(*module)));
  EXPECT_EQ(messages, "module has 0 entry computations, expected 1 [module_c1]");
}

constexpr const char *neg = R"(
hlo.computation @neg(%a: tensor<f32>) -> tensor<f32> {
  %0 = hlo.negate %a : (tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
)";

TEST(VerifyModuleTest, OneEntry) {
  EXPECT_EQ(verifyText(neg), "module has 0 entry computations, expected 1 [module_c1]\n");
  EXPECT_EQ(verifyText(R"(
hlo.computation @a(%a: tensor<f32>) -> tensor<f32> attributes {entry} {
  hlo.return %a : tensor<f32>
}
hlo.computation @b(%a: tensor<f32>) -> tensor<f32> attributes {entry} {
  hlo.return %a : tensor<f32>
}
)"),
            "module has 2 entry computations, expected 1 [module_c1]\n");
}

TEST(VerifyModuleTest, CallGraphHasNoCycle) {
  EXPECT_EQ(verifyText(R"(
hlo.computation @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = hlo.call %a {to_apply = @g} : (tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
hlo.computation @g(%a: tensor<f32>) -> tensor<f32> {
  %0 = hlo.call %a {to_apply = @f} : (tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
hlo.computation @e(%a: tensor<f32>) -> tensor<f32> attributes {entry} {
  %0 = hlo.call %a {to_apply = @f} : (tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
)"),
            "computation 'f' reaches itself [module_c13]\n");
}

TEST(VerifyModuleTest, EntryIsNotCalled) {
  EXPECT_EQ(verifyText(R"(
hlo.computation @e(%a: tensor<f32>) -> tensor<f32> attributes {entry} {
  hlo.return %a : tensor<f32>
}
hlo.computation @f(%a: tensor<f32>) -> tensor<f32> {
  %0 = hlo.call %a {to_apply = @e} : (tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
)"),
            "the entry 'e' is called [module_c12]\n");
}

/// A chain of calls far deeper than any stack of recursive visits.
TEST(VerifyModuleTest, DeepCallGraph) {
  std::string text = "hlo.computation @f0(%a: tensor<f32>) -> tensor<f32> {\n"
                     "  hlo.return %a : tensor<f32>\n}\n";
  for (int i = 1; i <= 20000; ++i) {
    std::string n = std::to_string(i), callee = std::to_string(i - 1);
    text += "hlo.computation @f" + n + "(%a: tensor<f32>) -> tensor<f32> " +
            (i == 20000 ? "attributes {entry} " : "") + "{\n";
    text += i % 100 ? "  hlo.return %a : tensor<f32>\n}\n"
                    : "  %0 = hlo.call %a {to_apply = @f" + callee +
                          "} : (tensor<f32>) -> tensor<f32>\n  hlo.return %0 : tensor<f32>\n}\n";
  }
  EXPECT_EQ(verifyText(text), "");
}

TEST(TextAttrsTest, ReplicaGroups) {
  auto groups = [](llvm::StringRef text) -> std::string {
    auto lists = parseReplicaGroups(text);
    if (failed(lists)) {
      return "?";
    }
    std::string result;
    for (const IntegerList &list : *lists) {
      result += "{";
      for (int64_t device : list) {
        result += (result.back() == '{' ? "" : ",") + std::to_string(device);
      }
      result += "}";
    }
    return result;
  };
  EXPECT_EQ(groups("{}"), "");
  EXPECT_EQ(groups("{{0,1},{2,3}}"), "{0,1}{2,3}");
  EXPECT_EQ(groups("{ { 0 , 1 } , { } }"), "{0,1}{}");
  EXPECT_EQ(groups("[2,2]<=[4]"), "{0,1}{2,3}");
  EXPECT_EQ(groups("[2,2]<=[2,2]T(1,0)"), "{0,2}{1,3}");
  EXPECT_EQ(groups("mesh['x'=2,'y'=2] {'y'}"), "{0,1}{2,3}");
  EXPECT_EQ(groups("mesh['x'=2,'y'=2] {'x'}"), "{0,2}{1,3}");
  EXPECT_EQ(groups("mesh['x'=2], device_ids=(1,0) {'x'}"), "{1,0}");
  for (llvm::StringRef bad :
       {"", "{", "{{0}", "{0,1}", "[2,2]<=[5]", "[2,2]<=[2,2]T(0,0)", "[0,4]<=[4]",
        "[2,2]<=[9223372036854775807,2]", "mesh['x'=2] {'y'}", "{{0}} x"}) {
    EXPECT_EQ(groups(bad), "?") << bad.str();
  }
}

TEST(TextAttrsTest, Aliases) {
  auto aliases = parseAliases("{ {0}: (1, {}, must-alias), {1,0}: (0, {2}) }");
  ASSERT_TRUE(succeeded(aliases));
  ASSERT_EQ(aliases->size(), 2u);
  EXPECT_EQ((*aliases)[0].output, IntegerList{0});
  EXPECT_EQ((*aliases)[0].parameter, 1);
  EXPECT_TRUE((*aliases)[0].mustAlias);
  EXPECT_EQ((*aliases)[1].parameterIndex, IntegerList{2});
  EXPECT_TRUE(failed(parseAliases("{ {0}: 1 }")));
  EXPECT_TRUE(failed(parseAliases("{ {0}: (1, {}) ")));
}

} // namespace

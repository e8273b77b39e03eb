//===- KernelPlanTest.cpp - Requests for plans ----------------------------===//
#include "compiler/support/KernelPlan.h"
#include <gtest/gtest.h>

using namespace hlo;

namespace {
TEST(KernelPlan, ARequestIsAKernelAndACandidate) {
  std::optional<PlanRequest> request = parsePlanRequest("k0_dot_a:inner");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kernel, "k0_dot_a");
  EXPECT_EQ(request->candidate, "inner");
  // Candidates have no colon; kernels might.
  EXPECT_EQ(parsePlanRequest("a:b:c")->kernel, "a:b");
  for (const char *wrong : {"", ":", "a", "a:", ":b"}) {
    EXPECT_FALSE(parsePlanRequest(wrong)) << wrong;
  }
}

TEST(KernelPlan, RequestsAreCheckedAgainstThePlans) {
  std::vector<KernelPlan> plans = {
      {"k0", "dot", {{"inner", "", 10}, {"nest", "", 20}}, 0, std::nullopt},
      {"k1", "loop", {}, 0, std::nullopt}};
  EXPECT_EQ(checkPlanRequests({}, plans), "");
  EXPECT_EQ(checkPlanRequests({{"k0", "inner"}, {"k0", "nest"}}, plans), "");
  EXPECT_EQ(checkPlanRequests({{"k0", "nest"}, {"k0", "fast"}}, plans),
            "--plan=k0:fast: the kernel has no candidate 'fast'; its candidates are inner, nest");
  EXPECT_EQ(checkPlanRequests({{"k1", "nest"}}, plans),
            "--plan=k1:nest: kernels of strategy 'loop' have no candidates");
  EXPECT_EQ(checkPlanRequests({{"main", "nest"}}, plans),
            "--plan=main:nest: the module has no kernel 'main'; its kernels are k0, k1");
  EXPECT_EQ(checkPlanRequests({{"main", "nest"}}, {}),
            "--plan=main:nest: the module has no kernel 'main'; it has none");
}

TEST(KernelPlan, TheChosenCandidateHasAStar) {
  KernelPlan plan{"k0", "dot", {{"inner", "tile 4 x 4", 10}, {"nest", "", 20}}, 1, std::nullopt};
  EXPECT_EQ(printPlans({plan, {"k1", "loop", {}, 0, std::nullopt}}),
            "k0 (dot)\n"
            "        cycles  candidate\n"
            "            10  inner                tile 4 x 4\n"
            "*           20  nest\n"
            "k1 (loop): no candidates\n");
}
} // namespace

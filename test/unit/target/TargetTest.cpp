//===- TargetTest.cpp - CPU descriptions ----------------------------------===//
#include "compiler/support/Target.h"
#include "runtime/abi/hlo/cpu.h"
#include <gtest/gtest.h>

using namespace hlo;

namespace {
std::string errorOf(llvm::Expected<Target> target) {
  return target ? "" : llvm::toString(target.takeError());
}
} // namespace

TEST(Target, VectorWidthFollowsTheCpu) {
  struct Case {
    const char *cpu, *features;
    int bytes, registers;
    bool fma, avx512;
  };
  for (const Case &c : {Case{"x86-64", "", 16, 16, false, false},
                        {"x86-64-v2", "", 16, 16, false, false},
                        {"x86-64-v3", "", 32, 16, true, false},
                        {"x86-64-v4", "", 64, 32, true, true},
                        {"skylake-avx512", "", 64, 32, true, true},
                        {"znver5", "", 64, 32, true, true},
                        {"znver3", "", 32, 16, true, false},
                        {"x86-64-v4", "+prefer-256-bit", 32, 32, true, true},
                        {"x86-64-v3", "-fma", 32, 16, false, false}}) {
    llvm::Expected<Target> target = describeTarget(c.cpu, c.features);
    ASSERT_TRUE(static_cast<bool>(target)) << c.cpu;
    EXPECT_EQ(target->vectorBytes, c.bytes) << c.cpu << c.features;
    EXPECT_EQ(target->vectorRegisters, c.registers) << c.cpu;
    EXPECT_EQ(target->fma, c.fma) << c.cpu;
    EXPECT_EQ(target->avx512, c.avx512) << c.cpu;
  }
}

TEST(Target, Instructions) {
  Target sapphireRapids = llvm::cantFail(describeTarget("sapphirerapids"));
  EXPECT_TRUE(sapphireRapids.avx512bf16 && sapphireRapids.avx512vnni && sapphireRapids.avx512fp16);
  EXPECT_TRUE(sapphireRapids.amxBf16 && sapphireRapids.amxInt8);
  EXPECT_EQ(sapphireRapids.l2Bytes, 2 << 20);
  Target skylake = llvm::cantFail(describeTarget("skylake-avx512"));
  EXPECT_FALSE(skylake.avx512bf16 || skylake.avx512vnni || skylake.amxBf16);
  EXPECT_EQ(llvm::cantFail(describeTarget("znver4")).fmaPerCycle, 1);
  for (auto [cpu, features] : {std::pair("znver4", "+prefer-256-bit"), std::pair("znver5", ""),
                               std::pair("sapphirerapids", "")}) {
    EXPECT_EQ(llvm::cantFail(describeTarget(cpu, features)).fmaPerCycle, 2) << cpu << features;
  }
}

TEST(Target, HostIsKnown) {
  Target host = llvm::cantFail(describeTarget("host"));
  EXPECT_NE(host.cpu, "host");
  Target native = llvm::cantFail(describeTarget("native"));
  EXPECT_EQ(native.cpu, host.cpu);
  EXPECT_EQ(native.features, host.features);
  EXPECT_NE(cpuFeatureBits(host) & HLO_X86_SSE3, 0u);
}

TEST(Target, FeatureBits) {
  Target v3 = llvm::cantFail(describeTarget("x86-64-v3"));
  EXPECT_NE(cpuFeatureBits(v3) & HLO_X86_AVX2, 0u);
  EXPECT_NE(cpuFeatureBits(v3) & HLO_X86_FMA, 0u);
  EXPECT_EQ(cpuFeatureBits(v3) & HLO_X86_AVX512F, 0u);
}

TEST(Target, UnknownNamesGetTheNearest) {
  EXPECT_EQ(errorOf(describeTarget("znver6x")),
            "unknown CPU 'znver6x'; did you mean 'znver1', 'znver2', 'znver3'?");
  EXPECT_EQ(errorOf(describeTarget("pdp-11")), "unknown CPU 'pdp-11'");
  EXPECT_EQ(errorOf(describeTarget("x86-64-v3", "avx2")), "feature 'avx2' must start with + or -");
  EXPECT_NE(errorOf(describeTarget("x86-64-v3", "+avx3")).find("unknown CPU feature 'avx3'"),
            std::string::npos);
  EXPECT_NE(errorOf(describeTarget("x86-64-v3", "", "riscv64-linux-gnu")), "");
}

//===- TargetTest.cpp - CPU descriptions, element types -------------------===//
#include "compiler/machine/Target.h"
#include "compiler/target/Signature.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"
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
    bool fma, masks;
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
    const Machine &machine = target->machine;
    EXPECT_EQ(machine.vectors.bytes, c.bytes) << c.cpu << c.features;
    EXPECT_EQ(machine.vectors.registers, c.registers) << c.cpu;
    EXPECT_EQ(machine.fma, c.fma) << c.cpu;
    EXPECT_EQ(machine.vectors.hasPredicates(), c.masks) << c.cpu;
  }
}

namespace {
Machine machineOf(const char *cpu, const char *features = "") {
  return llvm::cantFail(describeTarget(cpu, features)).machine;
}
constexpr Number kS8{Number::Signed, 8}, kU8{Number::Unsigned, 8}, kU16{Number::Unsigned, 16},
    kS16{Number::Signed, 16};
} // namespace

TEST(Machine, ProductsAreThoseThatGain) {
  // Neighbours of the fastest product of vectors for two bytes, two words and two bf16; 0: none.
  struct Case {
    const char *cpu;
    int bytes, words, bf16;
    bool tiles;
  };
  for (const Case &c : {Case{"x86-64-v2", 0, 0, 0, false}, Case{"x86-64-v3", 2, 2, 0, false},
                        Case{"x86-64-v4", 2, 2, 0, false}, Case{"icelake-server", 4, 2, 0, false},
                        Case{"cooperlake", 4, 2, 0, false}, Case{"znver4", 4, 2, 2, false},
                        Case{"sapphirerapids", 4, 2, 0, true}}) {
    Machine machine = machineOf(c.cpu);
    auto group = [&](Number number, Number sum) {
      auto products = machine.vectorProducts(number, number, sum);
      return products.empty() ? 0 : products.front()->group;
    };
    EXPECT_EQ(group(kS8, kS32), c.bytes) << c.cpu;
    EXPECT_EQ(group(kS16, kS32), c.words) << c.cpu;
    EXPECT_EQ(group(kBf16, kF32), c.bf16) << c.cpu;
    EXPECT_EQ(machine.tileProduct(kS8, kU8, kS32) != nullptr, c.tiles) << c.cpu;
    EXPECT_EQ(machine.tileProduct(kBf16, kBf16, kF32) != nullptr, c.tiles) << c.cpu;
    // Beside bytes, unsigned integers of four bits need no instruction that takes unsigned bytes.
    auto few = machine.fewBitProducts({Number::Unsigned, 4}, kS8, kS32);
    EXPECT_EQ(!few.empty() && few.front()->group == 4, c.bytes != 0) << c.cpu;
    // An unsigned word has a bit more than its product takes.
    EXPECT_TRUE(machine.vectorProducts(kU16, kS16, kS32).empty()) << c.cpu;
    EXPECT_EQ(machine.tileProduct(kS16, kS16, kS32), nullptr) << c.cpu;
  }
}

TEST(Machine, FunctionsFitTheirRegisters) {
  Machine wide = machineOf("x86-64-v4"), narrow = machineOf("x86-64-v3");
  auto lanes = [](const Machine &machine, LaneFunction::Kind kind, int bits, int64_t of,
                  double error = 1) {
    const LaneFunction *f = machine.function(kind, bits, of, error);
    return f ? f->registerLanes(of) : 0;
  };
  EXPECT_EQ(lanes(wide, LaneFunction::Reciprocal, 32, 1), 4);
  EXPECT_EQ(lanes(wide, LaneFunction::Reciprocal, 32, 8), 8);
  EXPECT_EQ(lanes(wide, LaneFunction::Reciprocal, 64, 32), 8);
  EXPECT_EQ(lanes(wide, LaneFunction::Reciprocal, 32, 2), 0);
  EXPECT_EQ(lanes(wide, LaneFunction::Reciprocal, 32, 12), 0);
  EXPECT_EQ(lanes(wide, LaneFunction::ScaleByPower, 32, 1), 0);
  EXPECT_EQ(lanes(wide, LaneFunction::ScaleByPower, 32, 8), 0);
  EXPECT_EQ(lanes(wide, LaneFunction::ScaleByPower, 32, 32), 16);
  EXPECT_EQ(lanes(narrow, LaneFunction::Reciprocal, 32, 8), 0);
  EXPECT_EQ(lanes(narrow, LaneFunction::ReciprocalRoot, 32, 8), 8);
  EXPECT_EQ(lanes(narrow, LaneFunction::ReciprocalRoot, 32, 8, 0x1p-14), 0);
  EXPECT_EQ(wide.function(LaneFunction::ReciprocalRoot, 32, 8)->error, 0x1p-14);
  EXPECT_EQ(wide.lookup(32)->entries, 32);
  EXPECT_EQ(narrow.lookup(32)->entries, 8);
  EXPECT_EQ(narrow.lookup(64), nullptr);
  EXPECT_EQ(wide.lookup(16)->entries, 32);
  EXPECT_EQ(narrow.lookup(16), nullptr);
  EXPECT_EQ(machineOf("x86-64-v3", "-fma").lookup(32), nullptr);
}

TEST(Machine, CoresDiffer) {
  EXPECT_EQ(machineOf("sapphirerapids").memory.l2, 2 << 20);
  EXPECT_EQ(machineOf("bdver4").memory.l2, machineOf("x86-64").memory.l2) << "no row of its own";
  EXPECT_TRUE(machineOf("znver4").vectors.halves);
  EXPECT_EQ(machineOf("znver4").issue.fma, 1);
  for (auto [cpu, features] : {std::pair("znver4", "+prefer-256-bit"), std::pair("znver5", ""),
                               std::pair("sapphirerapids", "")}) {
    EXPECT_EQ(machineOf(cpu, features).issue.fma, 2) << cpu << features;
    EXPECT_FALSE(machineOf(cpu, features).vectors.halves) << cpu << features;
  }
  // Vectors in halves start half as often; a client's core lacks multiply-adds of 64 bytes only.
  EXPECT_TRUE(machineOf("znver1").vectors.halves);
  EXPECT_EQ(machineOf("znver1").issue.load, 1);
  EXPECT_EQ(machineOf("rocketlake").issue.fma, 1);
  EXPECT_EQ(machineOf("rocketlake").issue.load, 2);
  EXPECT_FALSE(machineOf("rocketlake").vectors.halves);
  EXPECT_TRUE(machineOf("znver3").gathers.blocks && !machineOf("skylake").gathers.blocks);
  EXPECT_TRUE(machineOf("sapphirerapids").arithmeticOfHalf);
  EXPECT_FALSE(machineOf("x86-64-v4").arithmeticOfHalf);
  EXPECT_NE(machineOf("x86-64-v3").convert(kF16, kF32), nullptr);
  EXPECT_EQ(machineOf("x86-64-v3").convert(kU64, kF64), nullptr);
  EXPECT_NE(machineOf("x86-64-v4").convert(kU64, kF64), nullptr);
}

TEST(Target, HostIsKnown) {
  Target host = llvm::cantFail(describeTarget("host"));
  EXPECT_NE(host.cpu, "host");
  Target native = llvm::cantFail(describeTarget("native"));
  EXPECT_EQ(native.cpu, host.cpu);
  EXPECT_EQ(native.features, host.features);
  EXPECT_NE(cpuFeatureBits(host) & HLO_X86_SSE3, 0u);
}

TEST(Target, AHypervisorMayNameAnOlderCpu) {
  Target x86 = llvm::cantFail(describeTarget("x86-64-v3"));
  auto cpu = [&](llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> features) {
    return cpuWithFeatures(*x86.architecture, x86.triple, name, features);
  };
  EXPECT_EQ(cpu("rocketlake", {"avx2", "avx512vnni"}), "rocketlake");
  EXPECT_EQ(cpu("rocketlake", {"avx512vnni", "amx-tile", "avx512fp16"}), "sapphirerapids");
  EXPECT_EQ(cpu("znver2", {"avx512bf16"}), "znver4");
  EXPECT_EQ(cpu("haswell", {"avx512f"}), "skylake-avx512");
  EXPECT_EQ(cpu("znver5", {"amx-tile"}), "znver5") << "none of its maker";
  EXPECT_EQ(cpu("bdver4", {"avx512f"}), "bdver4") << "no row";
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
  EXPECT_NE(errorOf(describeTarget("x86-64-v3", "", "sparcv9-linux-gnu")), "");
}

TEST(Target, NamesWithExtensions) {
  auto bits = [](llvm::StringRef cpu, llvm::StringRef triple = "") {
    return llvm::cantFail(describeTarget(cpu, "", triple)).cpuFeatures;
  };
  EXPECT_EQ(bits("x86-64-v2+avx2"),
            llvm::cantFail(describeTarget("x86-64-v2", "+avx2")).cpuFeatures);
  EXPECT_EQ(bits("znver4") & ~bits("znver4+nogfni"), HLO_X86_GFNI);
  constexpr llvm::StringLiteral arm = "aarch64-linux-gnu";
  EXPECT_EQ(bits("armv8-a", arm), bits("generic", arm));
  EXPECT_EQ(bits("armv8.2-a+dotprod+fp16", arm) & ~bits("armv8.2-a", arm),
            HLO_AARCH64_DOTPROD | HLO_AARCH64_FULLFP16);
  EXPECT_EQ(bits("neoverse-n1", arm) & ~bits("neoverse-n1+nofp16", arm), HLO_AARCH64_FULLFP16);
  uint64_t v86 = HLO_AARCH64_I8MM | HLO_AARCH64_BF16;
  EXPECT_EQ(bits("armv8.6-a", arm) & v86, v86);
  EXPECT_NE(errorOf(describeTarget("armv8.2-a+dotprot", "", arm)).find("did you mean 'dotprod'"),
            std::string::npos);
  EXPECT_NE(errorOf(describeTarget("armv8.2-a")), "") << "of another architecture";
}

TEST(Target, Riscv64) {
  auto of = [](llvm::StringRef cpu) { return describeTarget(cpu, "", "riscv64-linux-gnu"); };
  Target plain = llvm::cantFail(of(""));
  EXPECT_EQ(plain.cpu, "generic-rv64");
  EXPECT_NE(plain.features.find("+d"), std::string::npos);
  EXPECT_EQ(plain.cpuFeatures, 0u);
  EXPECT_EQ(plain.machine.vectors.bytes, 16);
  // No instruction that the description cannot name.
  EXPECT_NE(llvm::cantFail(of("sifive-x280")).features.find("-v"), std::string::npos);
  EXPECT_EQ(errorOf(of("rv64imac")), "CPU 'generic-rv64' has no arithmetic of f64 (rv64gc)");
  EXPECT_NE(errorOf(of("sifive-e31")), "") << "32 bits";
}

TEST(Target, Aarch64) {
  auto of = [](llvm::StringRef cpu) {
    return llvm::cantFail(describeTarget(cpu, "", "aarch64-linux-gnu"));
  };
  Target generic = of("");
  EXPECT_EQ(generic.cpu, "generic");
  EXPECT_EQ(generic.cpuFeatures, 0u);
  EXPECT_EQ(generic.machine.vectors.bytes, 16);
  EXPECT_EQ(generic.machine.vectors.registers, 32);
  EXPECT_TRUE(generic.machine.fma);
  EXPECT_FALSE(generic.machine.arithmeticOfHalf);
  EXPECT_TRUE(generic.machine.products.empty());
  // Fours of signed bytes; with the 8-bit matrix extension also of mixed signs, and pairs of bf16.
  Target n1 = of("neoverse-n1"), v1 = of("neoverse-v1");
  EXPECT_NE(cpuFeatureBits(n1) & HLO_AARCH64_DOTPROD, 0u);
  EXPECT_EQ(cpuFeatureBits(n1) & HLO_AARCH64_I8MM, 0u);
  EXPECT_TRUE(n1.machine.arithmeticOfHalf);
  EXPECT_EQ(n1.machine.products.size(), 1u);
  EXPECT_EQ(v1.machine.products.size(), 3u);
  EXPECT_EQ(v1.machine.issue.fma, 4);
  // A core without a row has the common one, of which every figure is set.
  EXPECT_EQ(of("cortex-a57").machine.issue.fma, generic.machine.issue.fma);
  EXPECT_EQ(of("cortex-a53").machine.memory.l1Way, 8 << 10);
  // Nothing that the description does not name.
  EXPECT_NE(v1.features.find("-sve"), std::string::npos);
  EXPECT_EQ(errorOf(describeTarget("host", "", "aarch64-linux-gnu")),
            "CPU 'host' is this machine's, which is not of target 'aarch64-linux-gnu'");
}

// The runtime is built without the compiler and lists the types once more.
TEST(ElementTypes, RuntimeKnowsTheSame) {
  mlir::MLIRContext context;
  context.loadDialect<HloDialect>();
  int found = 0;
  for (int32_t code = HLO_INVALID_TYPE + 1; hlo_type_bytes(code); ++code) {
    mlir::Type type = primitiveType(hlo_type_name(code), &context);
    ASSERT_TRUE(type) << hlo_type_name(code);
    EXPECT_EQ(typeCode(type), code) << hlo_type_name(code);
    EXPECT_EQ(elementBytes(type), static_cast<int64_t>(hlo_type_bytes(code)));
    ++found;
  }
  int floats = 0;
#define HLO_FLOAT(NAME, TYPE, SEMANTICS, CODE)                                                     \
  EXPECT_STREQ(hlo_type_name(HLO_##CODE), NAME);                                                   \
  ++floats;
#include "dialect/hlo/FloatTypes.def"
  EXPECT_EQ(found, floats + 15 + 2); // pred and integers, complex numbers
}

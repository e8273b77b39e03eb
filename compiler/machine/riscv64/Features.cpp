//===- Features.cpp - Features of riscv64 and the Machine of rv64gc --------===//
//
// Code for riscv64 has the instructions of rv64gc, which every Linux distribution requires: scalar
// arithmetic of f32 and f64, no vectors. LLVM takes vectors of the kernels apart. What rv64gc lacks
// of the other architectures, and what the vector extension would need, is in README.md.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/riscv64/RiscV64.h"
#include "runtime/abi/hlo/rt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/RISCVISAInfo.h"

using namespace llvm;

namespace hlo::riscv64 {

/// Extensions beyond rv64gc that LLVM chooses instructions from. Linux tells programs of them by a
/// system call (riscv_hwprobe) that kernels before 6.4 do not have, so no object may need one.
static ArrayRef<StringLiteral> undeclaredFeatures() {
  // clang-format off
  static constexpr StringLiteral names[] = {
      "b", "h", "q", "v", "xandesbfhcvt", "xandesperf", "xandesvbfhcvt", "xandesvdot",
      "xandesvpackfph", "xandesvsinth", "xandesvsintload", "xmipscbop", "xmipscmov",
      "xmipsexectl", "xmipslsp", "xsfcease", "xsfmm128t", "xsfmm16t", "xsfmm32a16f",
      "xsfmm32a32f", "xsfmm32a8f", "xsfmm32a8i", "xsfmm32t", "xsfmm64a64f", "xsfmm64t",
      "xsfmmbase", "xsfvcp", "xsfvfbfexp16e", "xsfvfexp16e", "xsfvfexp32e", "xsfvfexpa",
      "xsfvfexpa64e", "xsfvfnrclipxfqf", "xsfvfwmaccqqq", "xsfvqmaccdod", "xsfvqmaccqoq",
      "xsifivecdiscarddlone", "xsifivecflushdlone", "xsmtvdot", "xtheadba", "xtheadbb",
      "xtheadbs", "xtheadcmo", "xtheadcondmov", "xtheadfmemidx", "xtheadmac", "xtheadmemidx",
      "xtheadmempair", "xtheadsync", "xtheadvdot", "xventanacondops", "xwchc", "zabha", "zacas",
      "zalasr", "zama16b", "zawrs", "zba", "zbb", "zbc", "zbkb", "zbkc", "zbkx", "zbs", "zcb",
      "zce", "zclsd", "zcmop", "zcmp", "zcmt", "zfa", "zfbfmin", "zfh", "zfhmin", "zicbom",
      "zicbop", "zicboz", "zicond", "zihintntl", "zihintpause", "zilsd", "zimop", "zkn", "zknd",
      "zkne", "zknh", "zkr", "zks", "zksed", "zksh", "zvbb", "zvbc", "zve32f", "zve32x",
      "zve64d", "zve64f", "zve64x", "zvfbfmin", "zvfbfwma", "zvfh", "zvfhmin", "zvkb", "zvkg",
      "zvkn", "zvknc", "zvkned", "zvkng", "zvknha", "zvknhb", "zvks", "zvksc", "zvksed",
      "zvksg", "zvksh", "zvkt", "zvl1024b", "zvl128b", "zvl16384b", "zvl2048b", "zvl256b",
      "zvl32768b", "zvl32b", "zvl4096b", "zvl512b", "zvl64b", "zvl65536b", "zvl8192b"};
  // clang-format on
  return names;
}

/// Objects have the lp64d calling convention: floats in registers of their own, all integer
/// registers.
static ArrayRef<StringLiteral> callingFeatures() {
  static constexpr StringLiteral names[] = {"e", "32bit", "zfinx", "zdinx", "zhinx", "zhinxmin"};
  return names;
}

/// "rv64gc", "rva20u64" and the like.
static std::optional<std::string> featuresOfVersion(StringRef name) {
  if (!name.starts_with("rv")) {
    return std::nullopt;
  }
  auto isa = RISCVISAInfo::parseArchString(name, /*EnableExperimentalExtension=*/false);
  if (!isa) {
    consumeError(isa.takeError());
    return std::nullopt;
  }
  return join((*isa)->toFeatures(), ",");
}

static void initialize() {
  LLVMInitializeRISCVTargetInfo();
  LLVMInitializeRISCVTarget();
  LLVMInitializeRISCVTargetMC();
  LLVMInitializeRISCVAsmPrinter();
  LLVMInitializeRISCVAsmParser();
}

/// A core that starts one instruction of floats and one load or store in a cycle, and whose caches
/// are of a common size. Nothing was measured: there was no such machine. A vector of 16 bytes is
/// four of f32, one after the other.
static Machine describe(StringRef, const StringSet<> &, StringRef) {
  constexpr double kWhole = 0.25; // vectors in a cycle
  Machine m;
  m.vectors.bytes = 16;
  m.vectors.registers = 16;
  m.issue.fma = m.issue.load = m.issue.store = m.issue.shuffle = m.issue.vector = kWhole;
  m.issue.integer = 2;
  m.issue.fmaLatency = 7; // of f64 in LLVM 22's model of SiFive's 7 series
  m.issue.widen = 4;
  m.issue.integerMultiplyAdd = 2;
  m.memory.l1 = 32 << 10;
  m.memory.l2 = 512 << 10;
  m.gathers.blocks = true;
  m.fma = true;
  m.conversions.push_back({kU64, kF64}); // fcvt.d.lu, fcvt.lu.d
  m.conversions.push_back({kF64, kU64});
  return m;
}

const Architecture kArchitecture{.llvm = Triple::riscv64,
                                 .number = HLO_ARCH_RISCV64,
                                 .defaultCpu = "rv64gc",
                                 .leastCpu = "generic-rv64",
                                 .required = "d",
                                 .lacks = "arithmetic of f64 (rv64gc)",
                                 .flushesSubnormals = false,
                                 .featuresOfVersion = featuresOfVersion,
                                 .initialize = initialize,
                                 .undeclaredFeatures = undeclaredFeatures,
                                 .callingFeatures = callingFeatures,
                                 .describe = describe};

} // namespace hlo::riscv64

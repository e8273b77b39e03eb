//===- Target.h - The machine to compile for ------------------------------===//
#ifndef COMPILER_SUPPORT_TARGET_H
#define COMPILER_SUPPORT_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace hlo {

/// A CPU, reduced to the facts that kernel emitters use. `describeTarget` makes it; it is a plain
/// value, so that tests can make their own.
struct Target {
  std::string triple;   ///< e.g. x86_64-unknown-linux-gnu
  std::string cpu;      ///< LLVM's name, e.g. x86-64-v3, sapphirerapids
  std::string features; ///< LLVM's feature string, "+avx2,+fma,..."
  /// The CPU for reports: its name and, for the host or with `features`, the features it has beyond
  /// or lacks from LLVM's model of that name: "rocketlake +amx-bf16 +amx-tile -sha".
  std::string cpuText;

  int vectorBytes = 16; ///< widest vector register worth using
  int vectorRegisters = 16;
  bool fma = false;
  /// Vector FMAs of vectorBytes that issue per cycle. Zen 4 issues half as many of 64 bytes.
  int fmaPerCycle = 2;
  bool f16c = false;
  bool avx512 = false; ///< F, BW, DQ, VL: masked loads of every width
  bool avx512fp16 = false;
  bool avx512bf16 = false; ///< vdpbf16ps, vcvtneps2bf16
  /// True if vdpbf16ps has a higher throughput in multiply-adds than f32 FMA (AMD). On Intel its
  /// rate is half, so widening to f32 is faster.
  bool fastBf16Dot = false;
  /// True if gathers are microcoded and block the other instructions (AMD). Loads of single lanes
  /// overlap with the surrounding code.
  bool slowGathers = false;
  /// True if widening integers takes two cycles per register, together with the shift that converts
  /// bf16 to f32 (AMD). Selecting the halves of words takes one.
  bool slowWidening = false;
  bool avx512vnni = false; ///< vpdpbusd
  bool amxBf16 = false, amxInt8 = false;
  uint64_t cpuFeatures = 0; ///< all its HLO_X86_* bits (runtime/abi/hlo/cpu.h)

  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;

  /// Lanes of a vector whose elements have `bytes` bytes.
  int lanes(int bytes) const { return vectorBytes / bytes; }
};

/// Fills a Target from LLVM's tables. `cpu` is a name that LLVM knows ("x86-64-v3",
/// "sapphirerapids") or "host", which C compilers call "native"; `features` is "+name,-name,..." on
/// top of it; an empty `triple` means x86_64-unknown-linux-gnu. Errors name the nearest known
/// names.
llvm::Expected<Target> describeTarget(llvm::StringRef cpu, llvm::StringRef features = "",
                                      llvm::StringRef triple = "");

/// Makes the X86 backend known to LLVM; may be called any number of times.
void initializeTargets();

/// The set of HLO_X86_* bits (runtime/abi/hlo/cpu.h) that code for the target may use. AMX only if
/// `usesAmx`, because it needs the operating system's permission.
uint64_t cpuFeatureBits(const Target &target, bool usesAmx = true);

/// For messages: up to three of `known` with the spelling nearest to `name`, as "; did you mean
/// 'a', 'b'?"; empty if none is near.
std::string nearestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace hlo

#endif

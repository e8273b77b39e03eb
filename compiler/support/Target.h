//===- Target.h - What the compiler knows of the machine it compiles for --===//
#ifndef COMPILER_SUPPORT_TARGET_H
#define COMPILER_SUPPORT_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace hlo {

/// A CPU, reduced to what kernel emitters decide by. Made by
/// `describeTarget`; a plain value, so that tests can make their own.
struct Target {
  std::string triple;   ///< e.g. x86_64-unknown-linux-gnu
  std::string cpu;      ///< LLVM's name, e.g. x86-64-v3, sapphirerapids
  std::string features; ///< LLVM's feature string, "+avx2,+fma,..."
  /// The CPU for reports: its name, and of the host or with `features` also what it has beyond, or
  /// lacks of, a CPU of that name: "rocketlake +amx-bf16 +amx-tile -sha".
  std::string cpuText;

  int vectorBytes = 16; ///< widest vector register that is worth using
  int vectorRegisters = 16;
  bool fma = false;
  /// Multiply-adds of vectors of vectorBytes that start in a cycle. Zen 4 halves those of 64 bytes.
  int fmaPerCycle = 2;
  bool f16c = false;
  bool avx512 = false; ///< F, BW, DQ, VL: masked loads of every width
  bool avx512fp16 = false;
  bool avx512bf16 = false; ///< vdpbf16ps, vcvtneps2bf16
  /// vdpbf16ps does more per cycle than f32 FMA: AMD's. Intel's does half as much (Emerald Rapids:
  /// 114 against 245 GFLOP/s), so that widening is faster there.
  bool fastBf16Dot = false;
  /// A gather is a program in microcode that keeps all other instructions waiting: AMD's. Loads of
  /// single lanes overlap with what is around them.
  bool slowGathers = false;
  /// Widening integers takes two cycles a register, together with the shift that makes floats of
  /// bf16: AMD's. The halves of words come at one.
  bool slowWidening = false;
  bool avx512vnni = false; ///< vpdpbusd
  bool amxBf16 = false, amxInt8 = false;
  uint64_t cpuFeatures = 0; ///< HLO_X86_* bits (runtime/abi/hlo/cpu.h) of all that it has

  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;

  /// Lanes of a vector of elements of `bytes` bytes.
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

/// The set of HLO_X86_* bits (runtime/abi/hlo/cpu.h) that code for the target may use; AMX only if
/// `usesAmx`, since it takes a permission of the operating system.
uint64_t cpuFeatureBits(const Target &target, bool usesAmx = true);

/// Up to three of `known` that are spelled most like `name`, as in "; did you mean 'a', 'b'?"
/// (empty if nothing is near).
std::string nearestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace hlo

#endif

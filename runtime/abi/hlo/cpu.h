/*===- hlo/cpu.h - CPU features that generated code may need ------------------===*\
 *
 * One list, used by the compiler (names, as LLVM spells them -> bits of
 * hlo_module_desc.cpu_features) and by the runtime (CPUID -> bits, bits -> names).
 * Only features that let LLVM choose other instructions are here; tuning flags and
 * instructions that no code generator emits by itself are left out: the compiler
 * drops a feature whose name is not in this list.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_CPU_H
#define HLO_CPU_H

#include <stdint.h>

/* X(bit, IDENTIFIER, "LLVM name"): bits are part of the ABI, append only; 63 is reserved. */
/* clang-format off */
#define HLO_CPU_FEATURES(X)              \
  X(0, SSE3, "sse3")                     \
  X(1, SSSE3, "ssse3")                   \
  X(2, SSE4_1, "sse4.1")                 \
  X(3, SSE4_2, "sse4.2")                 \
  X(4, POPCNT, "popcnt")                 \
  X(5, CX16, "cx16")                     \
  X(6, SAHF, "sahf")                     \
  X(7, MOVBE, "movbe")                   \
  X(8, AVX, "avx")                       \
  X(9, F16C, "f16c")                     \
  X(10, FMA, "fma")                      \
  X(11, AVX2, "avx2")                    \
  X(12, BMI, "bmi")                      \
  X(13, BMI2, "bmi2")                    \
  X(14, LZCNT, "lzcnt")                  \
  X(15, AVX512F, "avx512f")              \
  X(16, AVX512CD, "avx512cd")            \
  X(17, AVX512BW, "avx512bw")            \
  X(18, AVX512DQ, "avx512dq")            \
  X(19, AVX512VL, "avx512vl")            \
  X(20, AVX512IFMA, "avx512ifma")        \
  X(21, AVX512VBMI, "avx512vbmi")        \
  X(22, AVX512VBMI2, "avx512vbmi2")      \
  X(23, AVX512VNNI, "avx512vnni")        \
  X(24, AVX512BITALG, "avx512bitalg")    \
  X(25, AVX512VPOPCNTDQ, "avx512vpopcntdq") \
  X(26, AVX512BF16, "avx512bf16")        \
  X(27, AVX512FP16, "avx512fp16")        \
  X(28, AVXVNNI, "avxvnni")              \
  X(29, AVXIFMA, "avxifma")              \
  X(30, AVXVNNIINT8, "avxvnniint8")      \
  X(31, AVXVNNIINT16, "avxvnniint16")    \
  X(32, AVXNECONVERT, "avxneconvert")    \
  X(33, GFNI, "gfni")                    \
  X(34, ADX, "adx")                      \
  X(35, AMX_TILE, "amx-tile")            \
  X(36, AMX_INT8, "amx-int8")            \
  X(37, AMX_BF16, "amx-bf16")            \
  X(38, AMX_FP16, "amx-fp16")            \
  X(39, FMA4, "fma4")                    \
  X(40, XOP, "xop")                      \
  X(41, SSE4A, "sse4a")                  \
  X(42, TBM, "tbm")                      \
  X(43, AES, "aes")                      \
  X(44, PCLMUL, "pclmul")                \
  X(45, VAES, "vaes")                    \
  X(46, VPCLMULQDQ, "vpclmulqdq")        \
  X(47, SHA, "sha")
/* clang-format on */

#define HLO_CPU_BIT(bit, id, name) static const uint64_t HLO_CPU_##id = UINT64_C(1) << bit;
HLO_CPU_FEATURES(HLO_CPU_BIT)
#undef HLO_CPU_BIT

#ifdef __cplusplus
extern "C" {
#endif

/** The set of features that this CPU and the operating system let a program use. AMX counts only
 *  once hlo_cpu_enable_amx() has succeeded. Detected once per process; cheap afterwards. */
uint64_t hlo_cpu_detect(void);

/** Asks the operating system for the use of AMX tiles (per process, for good). Returns whether it
 * may be used; hlo_cpu_detect() then has the AMX bits. Generated code that needs them gets this
 * done at entry. */
int hlo_cpu_enable_amx(void);

/** LLVM's name of the lowest feature in the set; null for an empty set. */
const char *hlo_cpu_feature_name(uint64_t features);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_CPU_H */

/*===- hlo/cpu.h - CPU features that generated code may need ------------------===*\
 *
 * One list per architecture, used by the compiler (LLVM's feature names -> bits of
 * hlo_module_desc.cpu_features) and by the runtime (what the CPU says -> bits, bits -> names). The
 * list has only features that let LLVM choose other instructions. Tuning flags, and instructions
 * that no code generator emits by itself, are left out: the compiler drops a feature whose name is
 * not in this list.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_CPU_H
#define HLO_CPU_H

#include <stdint.h>

/* Features of HLO_ARCH_X86_64. X(bit, IDENTIFIER, "LLVM name"): bits are part of the ABI, append
 * only; 62 and 63 are reserved. */
/* clang-format off */
#define HLO_X86_FEATURES(X)              \
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

/* The same bits as plain numbers, which tools for other languages can read. */
#define HLO_X86_SSE3 0x1ull
#define HLO_X86_SSSE3 0x2ull
#define HLO_X86_SSE4_1 0x4ull
#define HLO_X86_SSE4_2 0x8ull
#define HLO_X86_POPCNT 0x10ull
#define HLO_X86_CX16 0x20ull
#define HLO_X86_SAHF 0x40ull
#define HLO_X86_MOVBE 0x80ull
#define HLO_X86_AVX 0x100ull
#define HLO_X86_F16C 0x200ull
#define HLO_X86_FMA 0x400ull
#define HLO_X86_AVX2 0x800ull
#define HLO_X86_BMI 0x1000ull
#define HLO_X86_BMI2 0x2000ull
#define HLO_X86_LZCNT 0x4000ull
#define HLO_X86_AVX512F 0x8000ull
#define HLO_X86_AVX512CD 0x10000ull
#define HLO_X86_AVX512BW 0x20000ull
#define HLO_X86_AVX512DQ 0x40000ull
#define HLO_X86_AVX512VL 0x80000ull
#define HLO_X86_AVX512IFMA 0x100000ull
#define HLO_X86_AVX512VBMI 0x200000ull
#define HLO_X86_AVX512VBMI2 0x400000ull
#define HLO_X86_AVX512VNNI 0x800000ull
#define HLO_X86_AVX512BITALG 0x1000000ull
#define HLO_X86_AVX512VPOPCNTDQ 0x2000000ull
#define HLO_X86_AVX512BF16 0x4000000ull
#define HLO_X86_AVX512FP16 0x8000000ull
#define HLO_X86_AVXVNNI 0x10000000ull
#define HLO_X86_AVXIFMA 0x20000000ull
#define HLO_X86_AVXVNNIINT8 0x40000000ull
#define HLO_X86_AVXVNNIINT16 0x80000000ull
#define HLO_X86_AVXNECONVERT 0x100000000ull
#define HLO_X86_GFNI 0x200000000ull
#define HLO_X86_ADX 0x400000000ull
#define HLO_X86_AMX_TILE 0x800000000ull
#define HLO_X86_AMX_INT8 0x1000000000ull
#define HLO_X86_AMX_BF16 0x2000000000ull
#define HLO_X86_AMX_FP16 0x4000000000ull
#define HLO_X86_FMA4 0x8000000000ull
#define HLO_X86_XOP 0x10000000000ull
#define HLO_X86_SSE4A 0x20000000000ull
#define HLO_X86_TBM 0x40000000000ull
#define HLO_X86_AES 0x80000000000ull
#define HLO_X86_PCLMUL 0x100000000000ull
#define HLO_X86_VAES 0x200000000000ull
#define HLO_X86_VPCLMULQDQ 0x400000000000ull
#define HLO_X86_SHA 0x800000000000ull

/* Features of HLO_ARCH_AARCH64, in the same way. Every CPU has floating point and NEON. */
/* clang-format off */
#define HLO_AARCH64_FEATURES(X)          \
  X(0, FULLFP16, "fullfp16")             \
  X(1, DOTPROD, "dotprod")               \
  X(2, I8MM, "i8mm")                     \
  X(3, BF16, "bf16")                     \
  X(4, LSE, "lse")                       \
  X(5, CRC, "crc")                       \
  X(6, RDM, "rdm")                       \
  X(7, AES, "aes")                       \
  X(8, SHA2, "sha2")                     \
  X(9, SHA3, "sha3")                     \
  X(10, SM4, "sm4")                      \
  X(11, FP16FML, "fp16fml")              \
  X(12, COMPLXNUM, "complxnum")          \
  X(13, RCPC, "rcpc")                    \
  X(14, RCPC_IMMO, "rcpc-immo")          \
  X(15, FLAGM, "flagm")                  \
  X(16, ALTNZCV, "altnzcv")              \
  X(17, FPTOINT, "fptoint")              \
  X(18, JSCONV, "jsconv")
/* clang-format on */

#define HLO_AARCH64_FULLFP16 0x1ull
#define HLO_AARCH64_DOTPROD 0x2ull
#define HLO_AARCH64_I8MM 0x4ull
#define HLO_AARCH64_BF16 0x8ull
#define HLO_AARCH64_LSE 0x10ull
#define HLO_AARCH64_CRC 0x20ull
#define HLO_AARCH64_RDM 0x40ull
#define HLO_AARCH64_AES 0x80ull
#define HLO_AARCH64_SHA2 0x100ull
#define HLO_AARCH64_SHA3 0x200ull
#define HLO_AARCH64_SM4 0x400ull
#define HLO_AARCH64_FP16FML 0x800ull
#define HLO_AARCH64_COMPLXNUM 0x1000ull
#define HLO_AARCH64_RCPC 0x2000ull
#define HLO_AARCH64_RCPC_IMMO 0x4000ull
#define HLO_AARCH64_FLAGM 0x8000ull
#define HLO_AARCH64_ALTNZCV 0x10000ull
#define HLO_AARCH64_FPTOINT 0x20000ull
#define HLO_AARCH64_JSCONV 0x40000ull

#ifdef __cplusplus
extern "C" {
#endif

/** The architecture of this runtime: HLO_ARCH_*. */
uint32_t hlo_cpu_arch(void);

/** The features, of this architecture, that this CPU and the operating system let a program use.
 * Features that the system grants only on request (AMX) count only after hlo_cpu_request() has
 * succeeded. Detected once per process; cheap afterwards. */
uint64_t hlo_cpu_detect(void);

/** Requests from the operating system those of `features` that it grants only on request (per
 * process, permanent). Returns those of `features` that may be used now; hlo_cpu_detect() then has
 * their bits. hlo_rt_begin does this for code that needs them. */
uint64_t hlo_cpu_request(uint64_t features);

/** hlo_cpu_request for AMX tiles. Returns whether they may be used. */
int hlo_cpu_enable_amx(void);

/** LLVM's name of the lowest feature in a set of an architecture's features; null for an empty set,
 * and for features that this runtime does not know. */
const char *hlo_cpu_feature_name(uint32_t arch, uint64_t features);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HLO_CPU_H */

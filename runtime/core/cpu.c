/*===- cpu.c - Instructions that CPU and system support ------------------------===*\
 *
 * On x86-64 CPUID says which features the CPU has, XCR0 which register state the operating system
 * saves; on aarch64 the kernel says both in the auxiliary vector. The answer is stored in one
 * atomic word, the only static of the runtime. Every thread that finds it empty computes the same
 * value, so no order matters. Bit 63: known. Bit 62: AMX was requested, whatever the answer.
 *
 * AMX tiles need more: Linux grants them per process on request, and signal frames are larger
 * afterwards. So they are requested only when code that uses them is about to run.
 *
 *===-------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include "cpu.h"

#include <hlo/rt.h>
#include <stdatomic.h>
#include <stddef.h>

#define KNOWN (UINT64_C(1) << 63)
#define REQUESTED (UINT64_C(1) << 62)

#define CHECK_MASK(bit, id, name) \
  _Static_assert(HLO_X86_##id == UINT64_C(1) << bit, "HLO_X86_" #id " is not its bit");
HLO_X86_FEATURES(CHECK_MASK)
#undef CHECK_MASK
#define CHECK_MASK(bit, id, name) \
  _Static_assert(HLO_AARCH64_##id == UINT64_C(1) << bit, "HLO_AARCH64_" #id " is not its bit");
HLO_AARCH64_FEATURES(CHECK_MASK)
#undef CHECK_MASK

#if defined(__x86_64__) || defined(__aarch64__)
static _Atomic uint64_t detected;
#endif

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct Leaf {
  unsigned eax, ebx, ecx, edx;
} Leaf;

static Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf r = {0, 0, 0, 0};
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

/* XCR0: the register state that the operating system saves. Needs OSXSAVE. */
static uint64_t xgetbv0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

static uint64_t flag(unsigned word, int bit, uint64_t feature) {
  return (word >> bit) & 1 ? feature : 0;
}

#define XCR0_AVX UINT64_C(0x6)
#define XCR0_AVX512 UINT64_C(0xe6)
#define XCR0_AMX UINT64_C(0x60000)

/* All features that CPUID and XCR0 allow, AMX included. */
static uint64_t query(void) {
  const Leaf one = cpuid(1, 0), seven = cpuid(7, 0), seven1 = cpuid(7, 1);
  const Leaf extended = cpuid(0x80000001u, 0);
  const uint64_t xcr0 = (one.ecx >> 27) & 1 ? xgetbv0() : 0;
  uint64_t f = flag(one.ecx, 0, HLO_X86_SSE3) | flag(one.ecx, 9, HLO_X86_SSSE3) |
               flag(one.ecx, 19, HLO_X86_SSE4_1) | flag(one.ecx, 20, HLO_X86_SSE4_2) |
               flag(one.ecx, 23, HLO_X86_POPCNT) | flag(one.ecx, 13, HLO_X86_CX16) |
               flag(one.ecx, 22, HLO_X86_MOVBE) | flag(one.ecx, 25, HLO_X86_AES) |
               flag(one.ecx, 1, HLO_X86_PCLMUL) | flag(extended.ecx, 0, HLO_X86_SAHF) |
               flag(extended.ecx, 5, HLO_X86_LZCNT) | flag(extended.ecx, 6, HLO_X86_SSE4A) |
               flag(extended.ecx, 21, HLO_X86_TBM) | flag(seven.ebx, 3, HLO_X86_BMI) |
               flag(seven.ebx, 8, HLO_X86_BMI2) | flag(seven.ebx, 19, HLO_X86_ADX) |
               flag(seven.ebx, 29, HLO_X86_SHA) | flag(seven.ecx, 8, HLO_X86_GFNI);
  if ((xcr0 & XCR0_AVX) == XCR0_AVX) {
    f |= flag(one.ecx, 28, HLO_X86_AVX) | flag(one.ecx, 29, HLO_X86_F16C) |
         flag(one.ecx, 12, HLO_X86_FMA) | flag(seven.ebx, 5, HLO_X86_AVX2) |
         flag(extended.ecx, 16, HLO_X86_FMA4) | flag(extended.ecx, 11, HLO_X86_XOP) |
         flag(seven.ecx, 9, HLO_X86_VAES) | flag(seven.ecx, 10, HLO_X86_VPCLMULQDQ) |
         flag(seven1.eax, 4, HLO_X86_AVXVNNI) | flag(seven1.eax, 23, HLO_X86_AVXIFMA) |
         flag(seven1.edx, 4, HLO_X86_AVXVNNIINT8) | flag(seven1.edx, 10, HLO_X86_AVXVNNIINT16) |
         flag(seven1.edx, 5, HLO_X86_AVXNECONVERT);
  }
  if ((xcr0 & XCR0_AVX512) == XCR0_AVX512 && ((seven.ebx >> 16) & 1)) {
    f |= HLO_X86_AVX512F | flag(seven.ebx, 28, HLO_X86_AVX512CD) |
         flag(seven.ebx, 30, HLO_X86_AVX512BW) | flag(seven.ebx, 17, HLO_X86_AVX512DQ) |
         flag(seven.ebx, 31, HLO_X86_AVX512VL) | flag(seven.ebx, 21, HLO_X86_AVX512IFMA) |
         flag(seven.ecx, 1, HLO_X86_AVX512VBMI) | flag(seven.ecx, 6, HLO_X86_AVX512VBMI2) |
         flag(seven.ecx, 11, HLO_X86_AVX512VNNI) | flag(seven.ecx, 12, HLO_X86_AVX512BITALG) |
         flag(seven.ecx, 14, HLO_X86_AVX512VPOPCNTDQ) | flag(seven1.eax, 5, HLO_X86_AVX512BF16) |
         flag(seven.edx, 23, HLO_X86_AVX512FP16);
  }
  if ((xcr0 & XCR0_AMX) == XCR0_AMX) {
    f |= flag(seven.edx, 24, HLO_X86_AMX_TILE) | flag(seven.edx, 25, HLO_X86_AMX_INT8) |
         flag(seven.edx, 22, HLO_X86_AMX_BF16) | flag(seven1.eax, 21, HLO_X86_AMX_FP16);
  }
  return f;
}

#define AMX (HLO_X86_AMX_TILE | HLO_X86_AMX_INT8 | HLO_X86_AMX_BF16 | HLO_X86_AMX_FP16)

uint64_t hlo_cpu_detect(void) {
  uint64_t features = atomic_load_explicit(&detected, memory_order_relaxed);
  if (features == 0) {
    const uint64_t found = (query() & ~AMX) | KNOWN;
    features = atomic_fetch_or_explicit(&detected, found, memory_order_relaxed) | found;
  }
  return features & ~(KNOWN | REQUESTED);
}

uint64_t hlo_cpu_on_request(uint64_t features) { return features & AMX; }

uint64_t hlo_cpu_request(uint64_t features) {
  if (hlo_cpu_on_request(features & ~hlo_cpu_detect()) != 0) {
    const uint64_t amx = query() & AMX;
    /* ARCH_REQ_XCOMP_PERM of XFEATURE_XTILEDATA, linux/Documentation/arch/x86/xstate.rst. */
    if ((amx & HLO_X86_AMX_TILE) && syscall(SYS_arch_prctl, 0x1023, 18) == 0) {
      atomic_fetch_or_explicit(&detected, amx, memory_order_relaxed);
    }
    atomic_fetch_or_explicit(&detected, REQUESTED, memory_order_relaxed);
  }
  return features & hlo_cpu_detect();
}

int hlo_cpu_was_requested(void) {
  return (atomic_load_explicit(&detected, memory_order_relaxed) & REQUESTED) != 0;
}

uint32_t hlo_cpu_arch(void) { return HLO_ARCH_X86_64; }

#elif defined(__aarch64__)

#include <sys/auxv.h>

/* Bits of AT_HWCAP and AT_HWCAP2, Documentation/arch/arm64/elf_hwcaps.rst of Linux. Written as
 * numbers, since headers of older C libraries lack some. */
static uint64_t query(void) {
  const struct {
    unsigned char bit;
    uint64_t feature;
  } first[] = {{3, HLO_AARCH64_AES},      {6, HLO_AARCH64_SHA2},       {7, HLO_AARCH64_CRC},
               {8, HLO_AARCH64_LSE},      {10, HLO_AARCH64_FULLFP16},  {12, HLO_AARCH64_RDM},
               {13, HLO_AARCH64_JSCONV},  {14, HLO_AARCH64_COMPLXNUM}, {15, HLO_AARCH64_RCPC},
               {17, HLO_AARCH64_SHA3},    {19, HLO_AARCH64_SM4},       {20, HLO_AARCH64_DOTPROD},
               {23, HLO_AARCH64_FP16FML}, {26, HLO_AARCH64_RCPC_IMMO}, {27, HLO_AARCH64_FLAGM}},
    second[] = {{7, HLO_AARCH64_ALTNZCV},
                {8, HLO_AARCH64_FPTOINT},
                {13, HLO_AARCH64_I8MM},
                {14, HLO_AARCH64_BF16}};
  const unsigned long caps = getauxval(AT_HWCAP), caps2 = getauxval(AT_HWCAP2);
  uint64_t f = 0;
  for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); ++i) {
    f |= (caps >> first[i].bit) & 1 ? first[i].feature : 0;
  }
  for (size_t i = 0; i < sizeof(second) / sizeof(second[0]); ++i) {
    f |= (caps2 >> second[i].bit) & 1 ? second[i].feature : 0;
  }
  return f;
}

uint64_t hlo_cpu_detect(void) {
  uint64_t features = atomic_load_explicit(&detected, memory_order_relaxed);
  if (features == 0) {
    features = query() | KNOWN;
    atomic_store_explicit(&detected, features, memory_order_relaxed);
  }
  return features & ~(KNOWN | REQUESTED);
}

uint64_t hlo_cpu_on_request(uint64_t features) { return features & 0; }
uint64_t hlo_cpu_request(uint64_t features) { return features & 0; }
int hlo_cpu_was_requested(void) { return 1; }

uint32_t hlo_cpu_arch(void) { return HLO_ARCH_AARCH64; }

#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double)

/* Code for riscv64 has the instructions of rv64gc alone, as this file does. */
uint64_t hlo_cpu_detect(void) { return 0; }
uint64_t hlo_cpu_on_request(uint64_t features) { return features & 0; }
uint64_t hlo_cpu_request(uint64_t features) { return features & 0; }
int hlo_cpu_was_requested(void) { return 1; }

uint32_t hlo_cpu_arch(void) { return HLO_ARCH_RISCV64; }

#else

#error "no detection of features for this architecture"
#endif

/* Of another architecture none are there to be asked for. */
int hlo_cpu_enable_amx(void) {
  return hlo_cpu_arch() == HLO_ARCH_X86_64 && hlo_cpu_request(HLO_X86_AMX_TILE) != 0;
}

const char *hlo_cpu_feature_name(uint32_t arch, uint64_t features) {
#define FEATURE_NAME(bit, id, name) \
  if ((features >> bit) & 1) {      \
    return name;                    \
  }
  if (arch == HLO_ARCH_X86_64) {
    HLO_X86_FEATURES(FEATURE_NAME)
  }
  if (arch == HLO_ARCH_AARCH64) {
    HLO_AARCH64_FEATURES(FEATURE_NAME)
  }
#undef FEATURE_NAME
  return NULL;
}

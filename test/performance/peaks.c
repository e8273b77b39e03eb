/*===- peaks.c - what this machine can do ---------------------------------===
 *
 * Prints one JSON line of rates on N threads (argument 1, default 1): multiply-adds out of
 * registers in each element type that the processor has (GFLOP/s; a multiply and an add count as
 * two), and reading and copying in a block that the second-level cache holds, in one of 32 MiB,
 * which a large last cache may hold (as it may the arrays of a benchmark that runs again and
 * again), and in one that no cache should hold (GB/s; a copy counts both ways). The caller pins the
 * process. No input; builds with any C compiler for x86-64: cc -O2 -pthread peaks.c.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <cpuid.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Twelve independent accumulators hide the latency of two pipes; the empty assembly keeps them in
   registers and keeps the compiler from folding the loop. */
#define REGISTERS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define DECLARE(i) V a##i = zero;
#define STEP(i) a##i = OP(a##i);
#define KEEP(i) __asm__ volatile("" : "+v"(a##i));

#define LOOP(name, isa, type, initial, op)                                                         \
  __attribute__((target(isa), noinline)) static void name(long count) {                            \
    typedef type V;                                                                                \
    V zero = initial, x = initial, y = initial;                                                    \
    __asm__ volatile("" : "+v"(x), "+v"(y), "+v"(zero));                                           \
    REGISTERS(DECLARE)                                                                             \
    for (long i = 0; i < count; ++i) {                                                             \
      REGISTERS(STEP##op) REGISTERS(KEEP)                                                          \
    }                                                                                              \
  }
#define STEPF512(i) a##i = _mm512_fmadd_ps(x, y, a##i);
#define STEPD512(i) a##i = _mm512_fmadd_pd(x, y, a##i);
#define STEPH512(i) a##i = _mm512_fmadd_ph(x, y, a##i);
#define STEPB512(i) a##i = _mm512_dpbf16_ps(a##i, (__m512bh)x, (__m512bh)y);
#define STEPI512(i) a##i = _mm512_dpbusd_epi32(a##i, x, y);
#define STEPF256(i) a##i = _mm256_fmadd_ps(x, y, a##i);
#define STEPD256(i) a##i = _mm256_fmadd_pd(x, y, a##i);
#define STEPI256(i) a##i = _mm256_dpbusd_epi32(a##i, x, y);
#define STEPW256(i) a##i = _mm256_add_epi32(a##i, _mm256_madd_epi16(x, y));

LOOP(f32Avx512, "avx512f", __m512, _mm512_setzero_ps(), F512)
LOOP(f64Avx512, "avx512f", __m512d, _mm512_setzero_pd(), D512)
LOOP(f16Avx512, "avx512fp16", __m512h, _mm512_setzero_ph(), H512)
LOOP(bf16Avx512, "avx512bf16,avx512f", __m512, _mm512_setzero_ps(), B512)
LOOP(s8Avx512, "avx512vnni,avx512f", __m512i, _mm512_setzero_si512(), I512)
LOOP(f32Avx2, "avx2,fma", __m256, _mm256_setzero_ps(), F256)
LOOP(f64Avx2, "avx2,fma", __m256d, _mm256_setzero_pd(), D256)
LOOP(s8AvxVnni, "avx512vnni,avx512vl", __m256i, _mm256_setzero_si256(), I256)
LOOP(s8Avx2, "avx2", __m256i, _mm256_setzero_si256(), W256)

/* Tiles: four of sums, each the product of one of two tiles of rows and one of two of columns. */
#define TILES(name, isa, op)                                                                       \
  __attribute__((target(isa), noinline)) static void name(long count) {                            \
    struct {                                                                                       \
      uint8_t palette, start, reserved[14];                                                        \
      uint16_t bytes[16];                                                                          \
      uint8_t rows[16];                                                                            \
    } shape = {.palette = 1};                                                                      \
    for (int i = 0; i < 8; ++i) {                                                                  \
      shape.bytes[i] = 64;                                                                         \
      shape.rows[i] = 16;                                                                          \
    }                                                                                              \
    _tile_loadconfig(&shape);                                                                      \
    for (long i = 0; i < count; ++i) {                                                             \
      op(0, 4, 6);                                                                                 \
      op(1, 4, 7);                                                                                 \
      op(2, 5, 6);                                                                                 \
      op(3, 5, 7);                                                                                 \
    }                                                                                              \
    _tile_release();                                                                               \
  }
TILES(bf16Tiles, "amx-tile,amx-bf16", _tile_dpbf16ps)
TILES(s8Tiles, "amx-tile,amx-int8", _tile_dpbssd)

/* Linux lends the tiles' registers to a process that asks. */
static int hasTiles(void) {
  enum { RequestPermission = 0x1023, TileData = 18 };
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1) && (d >> 24 & 1) &&
         (d >> 25 & 1) && syscall(SYS_arch_prctl, RequestPermission, TileData) == 0;
}

enum { CacheBytes = 1 << 20, LargeBytes = 32 << 20, MemoryBytes = 512 << 20 };

__attribute__((noinline)) static void readBlock(const char *block, size_t bytes, long count) {
  for (long r = 0; r < count; ++r) {
    uint64_t sum = 0;
    const char *end = block + bytes;
    if (__builtin_cpu_supports("avx2")) {
      for (const char *p = block; p < end; p += 256) {
        __asm__ volatile("vmovdqu (%0), %%ymm0\n vmovdqu 32(%0), %%ymm1\n vmovdqu 64(%0), %%ymm2\n "
                         "vmovdqu 96(%0), %%ymm3\n"
                         "vmovdqu 128(%0), %%ymm0\n vmovdqu 160(%0), %%ymm1\n vmovdqu 192(%0), "
                         "%%ymm2\n vmovdqu 224(%0), %%ymm3\n" ::"r"(p)
                         : "xmm0", "xmm1", "xmm2", "xmm3");
      }
    } else {
      for (const char *p = block; p < end; p += 8) {
        sum += *(const volatile uint64_t *)p;
      }
    }
    __asm__ volatile("" ::"r"(sum));
  }
}

__attribute__((noinline)) static void copyBlock(char *block, size_t bytes, long count) {
  for (long r = 0; r < count; ++r) {
    memcpy(block, block + bytes / 2, bytes / 2);
    __asm__ volatile("" ::: "memory");
  }
}

enum Kind { Arithmetic, Read, Copy };
struct Work {
  enum Kind kind;
  void (*loop)(long);
  size_t bytes;
  char *block;
  long count;
  pthread_barrier_t *barrier;
  int thread;
  double began, ended; /* of the latest round */
};

enum { Rounds = 8, MaxThreads = 64 };

static void once(struct Work *w) {
  if (w->kind == Arithmetic) {
    w->loop(w->count);
  } else if (w->kind == Read) {
    readBlock(w->block, w->bytes, w->count);
  } else {
    copyBlock(w->block, w->bytes, w->count);
  }
}

/* Thread t runs on the t-th processor that this process may use: a scheduler may leave two on one
 * for a while. */
static void pinToProcessor(int thread) {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all) && seen++ == thread) {
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
  }
}

static void *runThread(void *argument) {
  struct Work *w = argument;
  pinToProcessor(w->thread);
  if (w->kind != Arithmetic) {
    w->block = aligned_alloc(4096, w->bytes);
    memset(w->block, 1, w->bytes);
  }
  for (int r = 0; r < Rounds; ++r) {
    pthread_barrier_wait(w->barrier);
    w->began = now();
    once(w);
    w->ended = now();
    pthread_barrier_wait(w->barrier);
    pthread_barrier_wait(w->barrier); /* the times have been read */
  }
  if (w->kind != Arithmetic) {
    free(w->block);
  }
  return NULL;
}

/* Prints units (operations or bytes) of one count, on all threads, per second: the best of all
   rounds, each from the first thread's beginning to the last one's end. */
static void measure(const char *name, int threads, struct Work work, double units) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, threads + 1);
  work.barrier = &barrier;
  pthread_t ids[MaxThreads];
  struct Work works[MaxThreads];
  for (int t = 0; t < threads; ++t) {
    works[t] = work;
    works[t].thread = t;
    pthread_create(&ids[t], NULL, runThread, &works[t]);
  }
  double best = 1e30;
  for (int r = 0; r < Rounds; ++r) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    double began = works[0].began, ended = works[0].ended;
    for (int t = 1; t < threads; ++t) {
      began = works[t].began < began ? works[t].began : began;
      ended = works[t].ended > ended ? works[t].ended : ended;
    }
    best = ended - began < best ? ended - began : best;
    pthread_barrier_wait(&barrier);
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
  }
  pthread_barrier_destroy(&barrier);
  printf(", \"%s\": %.2f", name, units * work.count * threads / best / 1e9);
}

static void bandwidth(int threads, const char *place, size_t bytes, long count) {
  char name[64];
  snprintf(name, sizeof name, "%s_read", place);
  measure(name, threads, (struct Work){.kind = Read, .bytes = bytes, .count = count}, bytes);
  snprintf(name, sizeof name, "%s_copy", place);
  measure(name, threads, (struct Work){.kind = Copy, .bytes = bytes, .count = count}, bytes);
}

static void arithmetic(const char *name, int threads, void (*loop)(long), double lanes) {
  measure(name, threads, (struct Work){.kind = Arithmetic, .loop = loop, .count = 3000000},
          12 * 2 * lanes);
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (threads < 1 || threads > MaxThreads) {
    fprintf(stderr, "usage: peaks [threads, 1 to 64]\n");
    return 2;
  }
  printf("{\"threads\": %d", threads);
  if (__builtin_cpu_supports("avx512f")) {
    arithmetic("f32", threads, f32Avx512, 16);
    arithmetic("f64", threads, f64Avx512, 8);
  } else {
    arithmetic("f32", threads, f32Avx2, 8);
    arithmetic("f64", threads, f64Avx2, 4);
  }
  if (__builtin_cpu_supports("avx512fp16")) {
    arithmetic("f16", threads, f16Avx512, 32);
  }
  if (__builtin_cpu_supports("avx512bf16")) {
    arithmetic("bf16", threads, bf16Avx512, 32);
  }
  if (__builtin_cpu_supports("avx512vnni")) {
    arithmetic("s8", threads, s8Avx512, 64);
  } else if (__builtin_cpu_supports("avxvnni")) {
    arithmetic("s8", threads, s8AvxVnni, 32);
  } else {
    arithmetic("s8", threads, s8Avx2, 16);
  }
  if (hasTiles()) { /* 16 x 16 sums of 32 or 64 products each */
    measure("bf16_tile", threads,
            (struct Work){.kind = Arithmetic, .loop = bf16Tiles, .count = 200000},
            4 * 2 * 16 * 16 * 32);
    measure("s8_tile", threads, (struct Work){.kind = Arithmetic, .loop = s8Tiles, .count = 200000},
            4 * 2 * 16 * 16 * 64);
  }
  bandwidth(threads, "cache", CacheBytes, 100);
  bandwidth(threads, "large", LargeBytes, 2);
  bandwidth(threads, "memory", MemoryBytes, 1);
  printf("}\n");
  return 0;
}

//===- DotSpeed.cpp - GFLOP/s of dot kernels on one core ------------------===//
//
// Prints figures, asserts nothing; run with --gtest_also_run_disabled_tests
// --gtest_filter=*Speed*. HLO_TEST_CPU names the target, HLO_TEST_ASM a file for
// the assembly of the last kernel, HLO_TEST_DOT one case "M,N,K,type,TT" (T or N for each side).
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/Array.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Peak.h"
#include "test/unit/kernel-runner/Stopwatch.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace hlo::testing;

namespace {

struct Shape {
  int64_t batch, m, n, k;
  Type type, out;
  bool lhsTransposed, rhsTransposed;
};

bool isComplex(Type type) { return type == Type::C64 || type == Type::C128; }

/// The peak that a dot's rate is compared with: narrow floats are widened or multiplied in pairs,
/// whichever is faster.
PeakOf peakOf(Type type) {
  switch (type) {
  case Type::F64:
  case Type::C128: return PeakOf::F64;
  case Type::BF16:
    return measurePeak(PeakOf::BF16) > measurePeak(PeakOf::F32) ? PeakOf::BF16 : PeakOf::F32;
  case Type::S8:
  case Type::U8: return PeakOf::S8;
  case Type::S32: return PeakOf::S32;
  default: return PeakOf::F32;
  }
}

void measure(const Shape &s) {
  const char *cpu = std::getenv("HLO_TEST_CPU"), *assembly = std::getenv("HLO_TEST_ASM");
  auto target = hlo::describeTarget(cpu ? cpu : "host");
  Array lhs(s.type, s.lhsTransposed ? std::vector<int64_t>{s.batch, s.k, s.m}
                                    : std::vector<int64_t>{s.batch, s.m, s.k});
  Array rhs(s.type, s.rhsTransposed ? std::vector<int64_t>{s.batch, s.n, s.k}
                                    : std::vector<int64_t>{s.batch, s.k, s.n});
  Array out(s.out, {s.batch, s.m, s.n});
  std::string l = lhs.mlirType(), r = rhs.mlirType(), o = out.mlirType();
  std::string text = "%l = \"t.l\"() : () -> " + l + "\n%r = \"t.r\"() : () -> " + r +
                     "\n%f = \"hlo.fusion\"(%l, %r) ({\n^bb0(%x: " + l + ", %y: " + r +
                     "):\n%d = \"hlo.dot\"(%x, %y) {lhs_batch_dims = array<i64: 0>, rhs_batch_dims "
                     "= array<i64: 0>, "
                     "lhs_contracting_dims = array<i64: " +
                     (s.lhsTransposed ? "1" : "2") +
                     ">, rhs_contracting_dims = array<i64: " + (s.rhsTransposed ? "2" : "1") +
                     ">} : (" + l + ", " + r + ") -> " + o + "\n\"hlo.return\"(%d) : (" + o +
                     ") -> ()\n}) {strategy = \"dot\"} : (" + l + ", " + r + ") -> " + o + "\n";
  auto start = std::chrono::steady_clock::now();
  auto kernel = Kernel::compile(text, *target, assembly != nullptr);
  double compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!kernel) {
    FAIL() << llvm::toString(kernel.takeError());
  }
  if (assembly) {
    std::ofstream(assembly) << (*kernel)->assembly();
  }
  std::vector<void *> buffers{lhs.data(), rhs.data(), out.data()};
  // Alternating, because the clock drifts by a quarter within a second.
  PeakOf instruction = peakOf(s.type);
  double seconds = 1e9, peak = 0;
  for (int round = 0; round < 5; ++round) {
    peak = std::max(peak, measurePeak(instruction));
    seconds = std::min(seconds, secondsOf([&] { (*kernel)->run(buffers); }, 0.06));
  }
  double rate = (isComplex(s.type) ? 8e-9 : 2e-9) * s.batch * s.m * s.n * s.k / seconds;
  double bytes =
      lhs.size() * bytesOf(s.type) + rhs.size() * bytesOf(s.type) + out.size() * bytesOf(s.out);
  printf("%4lld x %5lld x %5lld x %5lld %c%c %-5s %8.1f us %7.1f GFLOP/s (%3.0f%% of %4.0f) %6.1f "
         "GB/s  tasks %3lld  "
         "object %6zu  compile %.0f ms\n",
         (long long)s.batch, (long long)s.m, (long long)s.n, (long long)s.k,
         s.lhsTransposed ? 'T' : 'N', s.rhsTransposed ? 'T' : 'N', mlirName(s.type).c_str(),
         seconds * 1e6, rate, 100 * rate / peak, peak, bytes * 1e-9 / seconds,
         (long long)(*kernel)->tasks(), (*kernel)->codeSize(), compile * 1e3);
}

TEST(DotSpeed, DISABLED_Figures) {
  if (const char *one = std::getenv("HLO_TEST_DOT")) {
    std::stringstream stream(one);
    Shape s{1, 0, 0, 0, Type::F32, Type::F32, false, false};
    char comma;
    std::string type, form;
    stream >> s.m >> comma >> s.n >> comma >> s.k >> comma;
    std::getline(stream, type, ',');
    stream >> form;
    for (Type candidate :
         {Type::F32, Type::F64, Type::BF16, Type::F16, Type::S8, Type::C64, Type::S32}) {
      if (mlirName(candidate) == type) {
        s.type = candidate;
        s.out = candidate == Type::S8 ? Type::S32 : candidate;
      }
    }
    s.lhsTransposed = form[0] == 'T';
    s.rhsTransposed = form[1] == 'T';
    measure(s);
    return;
  }
  const Type f32 = Type::F32, bf16 = Type::BF16;
  for (const Shape &s :
       std::vector<Shape>{{1, 512, 512, 512, f32, f32, false, false},
                          {1, 512, 512, 512, f32, f32, false, true},
                          {1, 512, 512, 512, f32, f32, true, false},
                          {1, 512, 512, 512, f32, f32, true, true},
                          {1, 1024, 1024, 1024, f32, f32, false, false},
                          {1, 1000, 1000, 1000, f32, f32, false, false},
                          {1, 128, 128, 128, f32, f32, false, false},
                          {1, 49, 512, 2048, f32, f32, false, false},
                          {1, 3136, 64, 64, f32, f32, false, false},
                          {1, 3136, 256, 64, f32, f32, false, false},
                          {1, 196, 1024, 256, f32, f32, false, false},
                          {1, 196, 256, 1024, f32, f32, false, false},
                          {1, 1, 1000, 2048, f32, f32, false, false},
                          {1, 1, 4096, 4096, f32, f32, false, false},
                          {1, 1, 4096, 4096, f32, f32, false, true},
                          {1, 4096, 1, 4096, f32, f32, false, false},
                          {1, 4096, 1, 4096, f32, f32, true, false},
                          {1, 3616, 192, 192, f32, f32, false, false},
                          {3616, 6, 6, 8, f32, f32, false, false},
                          {64, 196, 196, 64, f32, f32, false, true},
                          {64, 64, 196, 196, f32, f32, true, true},
                          {12, 128, 64, 128, bf16, bf16, false, false},
                          {12, 128, 128, 64, bf16, bf16, false, false},
                          {1, 64, 5120, 5120, bf16, bf16, false, false},
                          {1, 1, 8192, 2048, bf16, bf16, false, false},
                          {1, 1, 8192, 2048, bf16, bf16, false, true},
                          {1, 512, 512, 512, bf16, bf16, false, false},
                          {1, 512, 512, 512, Type::F16, Type::F16, false, false},
                          {1, 512, 512, 512, Type::F64, Type::F64, false, false},
                          {1, 512, 512, 512, Type::C64, Type::C64, false, false},
                          {1, 512, 512, 512, Type::S8, Type::S32, false, false},
                          {1, 512, 512, 512, Type::S32, Type::S32, false, false}}) {
    measure(s);
  }
}

} // namespace

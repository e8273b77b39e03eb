//===- ThroughputTest.cpp - Speed of the elementary functions -------------===//
//
// Not run by default (--gtest_also_run_disabled_tests): prints how long every float function
// takes per element, on arrays that stay in the first cache.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace hlo;
using namespace hlo::testing;

namespace {

template <typename T>
double nanoseconds(const char *op, int arity, const char *type, const Target &target,
                   const char *result = nullptr, int lanes = 0) {
  std::vector<std::string> operands(arity, type);
  auto runner = OpRunner::compile(op, operands, result ? result : type,
                                  lanes ? lanes : target.machine.lanes(sizeof(T)), target);
  if (!runner) {
    return -1;
  }
  size_t count = 1024;
  std::vector<T> x(count), y(count), out(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = T(0.05 + 0.9 * i / count);
    y[i] = T(1.5 + 0.9 * i / count);
  }
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  for (int repeat = 0; repeat < 7; ++repeat) {
    auto start = Clock::now();
    for (int i = 0; i < 100; ++i) {
      runner->run({x.data(), y.data()}, out.data(), count);
    }
    std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    best = std::min(best, elapsed.count() / (100.0 * count));
  }
  return best;
}

TEST(Throughput, DISABLED_Functions) {
  const std::pair<const char *, int> ops[] = {{"add", 2},
                                              {"divide", 2},
                                              {"maximum", 2},
                                              {"sqrt", 1},
                                              {"rsqrt", 1},
                                              {"exponential", 1},
                                              {"exponential_minus_one", 1},
                                              {"log", 1},
                                              {"log_plus_one", 1},
                                              {"logistic", 1},
                                              {"tanh", 1},
                                              {"sine", 1},
                                              {"cosine", 1},
                                              {"tan", 1},
                                              {"erf", 1},
                                              {"cbrt", 1},
                                              {"power", 2},
                                              {"atan2", 2},
                                              {"remainder", 2},
                                              {"floor", 1},
                                              {"round_nearest_afz", 1},
                                              {"round_nearest_even", 1},
                                              {"sinh", 1},
                                              {"cosh", 1},
                                              {"asin", 1},
                                              {"acos", 1},
                                              {"asinh", 1},
                                              {"acosh", 1},
                                              {"atanh", 1}};
  for (const char *cpu : {"host", "x86-64-v3", "x86-64-v2"}) {
    Target target = targetOf(cpu);
    for (auto [op, arity] : ops) {
      std::printf("%-12s %-22s f32 %7.3f ns  f64 %7.3f ns\n", target.cpu.c_str(), op,
                  nanoseconds<float>(op, arity, "f32", target),
                  nanoseconds<double>(op, arity, "f64", target));
    }
  }
}

TEST(Throughput, DISABLED_NarrowFloats) {
  for (const char *cpu : {"host", "x86-64-v3"}) {
    Target target = targetOf(cpu);
    for (const char *type : {"bf16", "f16", "f8E4M3FN", "f8E5M2", "f4E2M1FN"}) {
      // Arrays of f32 are large enough for all.
      auto time = [&](const char *op, int arity, const char *from, const char *to) {
        return nanoseconds<float>(op, arity, from, target, to, target.machine.lanes(4));
      };
      std::printf("%-12s %-10s add %7.3f ns  to f32 %7.3f ns  from f32 %7.3f ns\n",
                  target.cpu.c_str(), type, time("add", 2, type, type),
                  time("convert", 1, type, "f32"), time("convert", 1, "f32", type));
    }
  }
}

} // namespace

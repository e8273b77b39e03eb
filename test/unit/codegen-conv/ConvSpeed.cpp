//===- ConvSpeed.cpp - GFLOP/s of convolution kernels on one core ---------===//
//
// The convolutions of models. Prints figures, asserts nothing; run with
// --gtest_also_run_disabled_tests --gtest_filter=*Speed*. HLO_TEST_CPU names the
// target, HLO_TEST_CASE picks one case by number, HLO_TEST_ASM a file for its assembly;
// HLO_TEST_SHAPE=1,56,64,64,3,1,1,1,b01f_01io->b01f makes a case of its own (batch, size, input
// and output features, window, stride, padding, groups, labels).
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-conv/ConvCase.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Peak.h"
#include "test/unit/kernel-runner/Stopwatch.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

using namespace hlo::testing;

namespace {

const char *const kNhwc = "b01f_01io->b01f";

ConvCase square(int64_t batch, int64_t size, int64_t in, int64_t out, Window window,
                const char *labels = kNhwc, Type type = Type::F32, int64_t groups = 1) {
  window.input = size;
  return {type, type, labels, batch, in, out, {window, window}, groups};
}

void measure(int number, const ConvCase &c) {
  const char *cpu = std::getenv("HLO_TEST_CPU"), *assembly = std::getenv("HLO_TEST_ASM");
  auto target = hlo::describeTarget(cpu ? cpu : "host");
  Array input(c.type, c.inputShape()), kernel(c.type, c.kernelShape()), out(c.out, c.outputShape());
  Array bias(c.out, {c.outputFeatures});
  auto start = std::chrono::steady_clock::now();
  auto compiled = Kernel::compile(c.moduleText(), *target, assembly != nullptr);
  double compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!compiled) {
    FAIL() << llvm::toString(compiled.takeError());
  }
  if (assembly) {
    std::ofstream(assembly) << (*compiled)->assembly();
  }
  std::vector<void *> buffers{input.data(), kernel.data(), bias.data(), out.data()};
  double seconds = secondsOf([&] { (*compiled)->run(buffers); });
  double bytes = (input.size() + kernel.size()) * bytesOf(c.type) + out.size() * bytesOf(c.out);
  double peak = measurePeak(c.type == Type::F64 ? PeakOf::F64 : PeakOf::F32);
  double share = 200e-9 * c.work() / seconds / peak;
  printf("%2d %-75s %9.1f us %7.1f GFLOP/s (%3.0f %%) %6.1f GB/s  tasks %3lld  object %6zu  "
         "compile %.0f ms\n",
         number, c.describe().c_str(), seconds * 1e6, 2e-9 * c.work() / seconds, share,
         bytes * 1e-9 / seconds, (long long)(*compiled)->tasks(), (*compiled)->codeSize(),
         compile * 1e3);
  fflush(stdout);
}

TEST(ConvSpeed, DISABLED_Figures) {
  const Window three{0, 3, 1, 1, 1}, half{0, 3, 2, 0, 1};
  const char *nchw = "bf01_oi01->bf01", *inputGradient = "b01f_01oi->b01f";
  const char *kernelGradient = "f01b_i01o->01bf";
  std::vector<ConvCase> cases{square(1, 56, 64, 64, three),
                              square(1, 28, 128, 128, three),
                              square(1, 14, 256, 256, three),
                              square(1, 7, 512, 512, three),
                              square(1, 230, 3, 64, {0, 7, 2}),
                              square(1, 56, 64, 256, {0, 1}),
                              square(1, 56, 256, 64, {0, 1}),
                              square(1, 56, 256, 512, {0, 1, 2}),
                              square(1, 14, 1024, 256, {0, 1}),
                              square(1, 7, 512, 2048, {0, 1}),
                              square(4, 224, 3, 64, half),
                              square(4, 112, 64, 128, half),
                              square(8, 224, 3, 512, {0, 16, 16}),
                              square(8, 56, 64, 64, three, inputGradient),
                              square(8, 28, 128, 64, {0, 3, 1, 2, 1, 2}, inputGradient),
                              square(32, 56, 64, 64, {0, 56, 1, 1, 1}, kernelGradient),
                              square(32, 56, 64, 128, {0, 28, 1, 0, 1, 1, 2}, kernelGradient),
                              square(32, 224, 3, 64, {0, 112, 1, 3, 2, 1, 2}, kernelGradient),
                              square(1, 56, 64, 64, three, nchw),
                              square(1, 14, 256, 256, three, nchw),
                              square(1, 56, 256, 64, {0, 1}, nchw),
                              square(1, 56, 256, 256, three, nchw, Type::BF16, 256),
                              square(1, 56, 256, 256, three, nchw, Type::F32, 256),
                              square(1, 56, 256, 256, three, kNhwc, Type::F32, 256),
                              square(1, 56, 64, 64, three, kNhwc, Type::BF16),
                              square(1, 56, 64, 64, three, kNhwc, Type::F64),
                              square(1, 56, 128, 128, three, kNhwc, Type::F32, 32)};
  if (const char *shape = std::getenv("HLO_TEST_SHAPE")) {
    long batch, size, in, out, window, stride, pad, groups;
    char labels[32];
    ASSERT_EQ(std::sscanf(shape, "%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld,%31s", &batch, &size, &in, &out,
                          &window, &stride, &pad, &groups, labels),
              9);
    cases.assign(
        1, square(batch, size, in, out, {0, window, stride, pad, pad}, labels, Type::F32, groups));
  }
  // In a kernel gradient, kernel and output exchange their roles.
  const char *only = std::getenv("HLO_TEST_CASE");
  for (size_t i = 0; i < cases.size(); ++i) {
    ConvCase c = cases[i];
    if (c.labels == kernelGradient) {
      std::swap(c.batch, c.inputFeatures);
    }
    if (!only || std::atoi(only) == static_cast<int>(i)) {
      measure(i, c);
    }
  }
}

} // namespace

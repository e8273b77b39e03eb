//===- Peak.h - What this core does from registers alone ------------------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_PEAK_H
#define TEST_UNIT_KERNEL_RUNNER_PEAK_H

namespace hlo::testing {

/// Instructions that dots are made of.
enum class PeakOf {
  F32,  ///< vfmadd231ps
  F64,  ///< vfmadd231pd
  BF16, ///< vdpbf16ps
  S8,   ///< vpdpbusd
  S32   ///< vpmulld, vpaddd
};

/// 1e9 operations (two per multiply-add) per second of the widest form of the instruction on this
/// machine, over a few milliseconds; 0 if it has none. Clocks drift: measure right before or after
/// the kernel.
double measurePeak(PeakOf what);

} // namespace hlo::testing

#endif

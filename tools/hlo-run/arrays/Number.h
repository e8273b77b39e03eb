//===- Number.h - Elements of buffers as numbers --------------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_NUMBER_H
#define TOOLS_HLO_RUN_ARRAYS_NUMBER_H

#include <array>
#include <cstdint>
#include <hlo/rt.h>
#include <string>

namespace llvm {
struct fltSemantics;
} // namespace llvm

namespace hlo::run {

/// LLVM's semantics of a float type, or null for other types (complex too).
const llvm::fltSemantics *semanticsOf(int32_t type);

/// The element at `at` as text: "-3", "true", "0.25", "nan", "1+2j". Floats have at most 6 digits.
std::string formatElement(int32_t type, const char *at);

/// Rounds f32 values to a float type of at most 16 bits, to nearest even.
class NarrowEncoder {
public:
  explicit NarrowEncoder(int32_t type);
  uint32_t operator()(float value) const;

private:
  int32_t type;
  const llvm::fltSemantics *semantics;
};

} // namespace hlo::run

#endif

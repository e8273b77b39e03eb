//===- Strategy.h - How a kernel is emitted -------------------------------===//
#ifndef DIALECT_HLO_STRATEGY_H
#define DIALECT_HLO_STRATEGY_H

#include "dialect/hlo/Dialect.h"

#include "dialect/hlo/Strategy.h.inc"

namespace hlo {

/// The strategy of a fusion; none if it is not a kernel yet.
inline std::optional<Strategy> kernelStrategy(FusionOp fusion) {
  std::optional<llvm::StringRef> name = fusion.getStrategy();
  return name ? symbolizeStrategy(*name) : std::nullopt;
}

} // namespace hlo

#endif

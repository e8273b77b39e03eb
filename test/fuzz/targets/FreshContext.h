//===- FreshContext.h - An MLIR context for many executions ---------------===//
#ifndef TEST_FUZZ_TARGETS_FRESHCONTEXT_H
#define TEST_FUZZ_TARGETS_FRESHCONTEXT_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>

/// A context that knows these dialects, made anew from time to time: that takes longer than an
/// execution, and types and attributes stay in it.
template <typename... Dialects> mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 1024 == 0) {
    mlir::DialectRegistry registry;
    if constexpr (sizeof...(Dialects) > 0) {
      registry.insert<Dialects...>();
    }
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

#endif

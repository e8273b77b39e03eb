//===- Buffers.h - Elements in buffers ------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_BUFFERS_H
#define COMPILER_CODEGEN_CONTRACTION_BUFFERS_H

#include "compiler/codegen/contraction/Arithmetic.h"

namespace hlo::codegen {

/// Access to buffers of elements of one HLO type: packed operands and sums. Indices and distances
/// count parts: a complex element has two, and the imaginary parts of a vector are `distance` after
/// its real ones.
struct Buffers {
  Buffers(Emission &e, mlir::Type element)
      : e(e), part(partType(element)), parts(partsOf(element)), partBytes(storageBytes(part)) {}
  /// The address of part `index` + `fixed` of the buffer at `base`.
  mlir::Value address(mlir::Value base, mlir::Value index, int64_t fixed = 0) const;
  Elem load(mlir::Value address, int64_t lanes, int64_t distance = 0) const;
  void store(mlir::Value address, const Elem &value, int64_t distance = 0,
             mlir::Value mask = {}) const;
  /// Stores `value`, a vector, at `at` + i for i = from, from + lanes, ... < to: the last may reach
  /// beyond `to`.
  void fill(mlir::Value base, mlir::Value at, mlir::Value from, mlir::Value to,
            const Elem &value) const;

  Emission &e;
  mlir::Type part; ///< HLO type
  int64_t parts;   ///< of an element
  int64_t partBytes;
};

} // namespace hlo::codegen

#endif

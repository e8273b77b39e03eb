//===- Scaled.h - The forms for few rows and scaled integers --------------===//
//
// What the two forms that multiply a ScaledOperand share: sizes, and which activations the sums are
// exact enough for.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_SCALED_H
#define COMPILER_CODEGEN_DOT_SCALED_H

#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Unpack.h"
#include "compiler/codegen/contraction/UnpackBytes.h"
#include "compiler/codegen/dot/Forms.h"

namespace hlo::codegen {

/// A register tile, and how many steps along k its sums have before they are scaled.
struct ScaledTile {
  int64_t rows;
  int64_t atOnce; ///< stream: vectors of columns (parts of a tile); inner: columns
  int64_t depth;  ///< stream: elements along k; inner: steps of a tile
};
ScaledTile scaledStreamTile(const Contraction &c);
ScaledTile scaledInnerTile(const Contraction &c);
/// Of the forms for rows that may be quantized. atOnce: planes of bytes; columns.
ScaledTile byteStreamTile(const Contraction &c);
ScaledTile byteInnerTile(const Contraction &c);

/// Unpacks the rhs, with lanes along its columns or along k.
Unpacker unpackerOf(const Contraction &c, UnitStride along);
/// The same to bytes, for a contraction that can use a form by bytes.
ByteUnpacker byteUnpackerOf(const Contraction &c);

/// Tasks of a batch index: as many of `units` units of so many bytes each as are worth a dispatch.
int64_t unitsPerTask(int64_t units, int64_t bytes, int64_t batches);

/// The address of element (batch, free, k) of the rhs, which begins a byte.
mlir::Value scaledAddress(const Contraction &c, llvm::ArrayRef<Index> batch, mlir::Value free,
                          mlir::Value k);

/// Whether `value` is so small that sums with the factors of an Unpacker stay finite; false for
/// infinities and NaNs.
mlir::Value isOrdinary(Emission &e, mlir::Value value);

/// A constant in all lanes of f32.
Elem constF32(Emission &e, double value, int64_t lanes);

} // namespace hlo::codegen

#endif

//===- UnpackBytes.h - Integers of a few bits as groups of four bytes -----===//
//
// For products of bytes (Product of groups of four): integers of 2 or 4 bits become bytes by a
// shift and a mask of whole words, as many planes of bytes as a byte has integers:
//
//   plane p, byte b = integer[b * planes + p] + bias
//
// Four rows of bytes become lanes of one byte each by two rounds of interleaving within 16 bytes,
// and the sums of products are put in the order of the columns at their end.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_UNPACKBYTES_H
#define COMPILER_CODEGEN_CONTRACTION_UNPACKBYTES_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

struct ByteUnpacker {
  Emission &e;
  int64_t bits; ///< 2, 4 or 8
  bool isSigned;
  int64_t lanes; ///< of 32 bits
  /// Of groups of four bytes: multiplies bytes of this unpacker by signed ones.
  const Product &product;

  int64_t planes() const { return 8 / bits; }
  int64_t bytes() const { return 4 * lanes; }         ///< of a vector
  int64_t span() const { return bytes() * planes(); } ///< integers of a vector
  int64_t vectors() const { return 4 * planes(); }    ///< of sums, for the columns of a span
  /// What is added to each integer, so that the product takes it.
  int64_t bias() const;

  /// The bytes at an address, a vector of i8, for plane().
  mlir::Value load(mlir::Value address) const;
  mlir::Value plane(mlir::Value bytes, int64_t number) const;
  /// Four vectors of bytes, neighbours along k, as four vectors of lanes of one byte of each.
  llvm::SmallVector<mlir::Value> groups(llvm::ArrayRef<mlir::Value> rows) const;
  /// Vectors with the lanes of the groups of each plane, plane by plane, as vectors with the lanes
  /// of neighbouring columns.
  llvm::SmallVector<mlir::Value> inOrder(llvm::ArrayRef<mlir::Value> sums) const;
  /// sum + the products of four bytes of each lane: of plane(), and signed ones.
  mlir::Value multiply(mlir::Value sum, mlir::Value unpacked, mlir::Value factors) const;
};

/// The product for integers of so many bits and signed bytes; null if the machine has none.
const Product *byteProduct(const Machine &machine, int64_t bits, bool isSigned);

} // namespace hlo::codegen

#endif

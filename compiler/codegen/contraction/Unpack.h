//===- Unpack.h - Integers of a few bits as vectors of f32 ----------------===//
//
// Integers of 2 or 4 bits are unpacked where they lie: a vector of 32-bit words, with all but one
// integer of each word masked off, is converted to f32 as it is. That is two instructions for as
// many integers as a vector has lanes, where shifting each to the lowest bits takes four. It leaves
//
//   part i, lane j = (integer[j * parts + i] + bias(i)) / factor(i)
//
// a power of two and a small constant, which sums of products take in at their end. Bytes are
// loaded and widened, in the order in which memory has them.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_UNPACK_H
#define COMPILER_CODEGEN_CONTRACTION_UNPACK_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

struct Unpacker {
  Emission &e;
  int64_t bits; ///< 2, 4 or 8
  bool isSigned;
  int64_t lanes;
  int64_t parts; ///< vectors of a tile; of less than 8 bits: integers of a word

  /// Integers of a tile, which are contiguous in memory.
  int64_t span() const { return lanes * parts; }
  int64_t tileBytes() const { return span() * bits / 8; }
  bool isPacked() const { return bits < 8; }
  double factor(int64_t part) const;
  double bias(int64_t part) const;
  bool hasBias() const { return isPacked(); }

  /// The words of the tile at an address, as part() takes them; null for bytes.
  mlir::Value words(mlir::Value address) const;
  /// A part of the tile, as f32.
  mlir::Value part(mlir::Value address, mlir::Value words, int64_t part) const;
  /// Vectors by parts, in the order of the integers; and back.
  llvm::SmallVector<mlir::Value> inOrder(llvm::ArrayRef<mlir::Value> vectors) const;
  llvm::SmallVector<mlir::Value> byParts(llvm::ArrayRef<mlir::Value> vectors) const;
};

/// The number of integers of so many bits in a word.
inline int64_t integersPerWord(int64_t bits) { return 32 / bits; }

} // namespace hlo::codegen

#endif

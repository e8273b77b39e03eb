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
// Where registers hold a table of 16-bit entries and pairs of bf16 are multiplied by one
// instruction, integers become pairs, exactly: each half of a word is shifted until one of its
// integers is in the lowest bits, and looked up. That is two instructions for twice as many
// integers as a vector has lanes, and no factor and no bias. The halves of the words of two rows
// are exchanged before, so that a pair has neighbours along k:
//
//   part i, lane j = (integer[j * parts + i] of the first row, of the second row)
//
// With lanes along k, a pair has two of a word: (integer[j * parts + i], [j * parts + i + parts /
// 2])
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_UNPACK_H
#define COMPILER_CODEGEN_CONTRACTION_UNPACK_H

#include "compiler/codegen/Element.h"
#include "compiler/machine/Machine.h"

namespace hlo::codegen {

struct Unpacker {
  Emission &e;
  int64_t bits; ///< 2, 4 or 8
  bool isSigned;
  int64_t lanes;
  int64_t parts; ///< vectors of a tile; of less than 8 bits: integers of a word, `runs` times
  /// Non-null: parts are pairs of bf16, which this multiplies.
  const Product *pairs = nullptr;
  /// Vectors of words of a row in a tile.
  int64_t runs = 1;

  /// Integers of a tile, which are contiguous in memory.
  int64_t span() const { return lanes * parts; }
  int64_t tileBytes() const { return span() * bits / 8; }
  bool isPacked() const { return bits < 8; }
  double factor(int64_t part) const;
  double bias(int64_t part) const;
  bool hasBias() const { return isPacked() && !pairs; }

  /// The words of the tile at an address, as part() takes them; none for bytes. `next`: of the
  /// tile in the next row, for pairs of two rows.
  llvm::SmallVector<mlir::Value, 2> words(mlir::Value address, mlir::Value next = {}) const;
  /// A part of the tile, as f32; a pair has the bits of one.
  mlir::Value part(mlir::Value address, llvm::ArrayRef<mlir::Value> words, int64_t part) const;
  /// Vectors by parts, in the order of the integers; and back.
  llvm::SmallVector<mlir::Value> inOrder(llvm::ArrayRef<mlir::Value> vectors) const;
  llvm::SmallVector<mlir::Value> byParts(llvm::ArrayRef<mlir::Value> vectors) const;

private:
  int64_t perWord() const { return parts / runs; }
  llvm::SmallVector<mlir::Value> runInOrder(llvm::ArrayRef<mlir::Value> vectors) const;
  mlir::Value pair(llvm::ArrayRef<mlir::Value> words, int64_t part) const;
};

/// The product of pairs into which integers of so many bits can be unpacked; null if there is none.
const Product *productOfUnpacked(const Machine &machine, int64_t bits);

/// The elements of vectors one after the other, of each so many neighbours as there are vectors (a
/// power of two), apart: vector i has element i of each.
llvm::SmallVector<mlir::Value> takenApart(Emission &e, llvm::ArrayRef<mlir::Value> vectors);

/// The number of integers of so many bits in a word.
inline int64_t integersPerWord(int64_t bits) { return 32 / bits; }

} // namespace hlo::codegen

#endif

//===- Groups.h - Narrow products, two or four at a time ------------------===//
#ifndef COMPILER_CODEGEN_CONTRACTION_GROUPS_H
#define COMPILER_CODEGEN_CONTRACTION_GROUPS_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// Neighbours along k that a Product multiplies and adds to a 32-bit lane, as one element of it.
enum class KGroup { None, Bf16Pair, WordPair, ByteQuad };

/// The groups that a product takes; null: none.
KGroup groupOf(const Product *product);

/// How many neighbours a group has.
int64_t sizeOf(KGroup group);
/// Lanes of that many vectors of widened elements as lanes of groups. Pairs of bf16 are held as
/// f32.
mlir::Value groupLanes(Emission &e, KGroup group, llvm::ArrayRef<mlir::Value> values);
/// The storage bits of a vector of widened elements, each in as many bits as it has in a group.
mlir::Value narrowLanes(Emission &e, KGroup group, mlir::Value value);
/// Widened bytes with the upper bit of each flipped.
mlir::Value flipElements(Emission &e, mlir::Value elements);
/// Groups of four bytes with the upper bit of each flipped.
mlir::Value flipBytes(Emission &e, mlir::Value groups);
/// Flipped groups of zeros.
mlir::Value flippedZeros(Emission &e, int64_t lanes);

} // namespace hlo::codegen

#endif

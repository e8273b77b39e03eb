//===- Groups.h - Narrow products, two or four at a time ------------------===//
#ifndef COMPILER_CODEGEN_DOT_GROUPS_H
#define COMPILER_CODEGEN_DOT_GROUPS_H

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
/// sum + lhs * rhs, for groups of so many lanes. `rhsUnsigned`: the rhs is the unsigned side, if
/// the product takes one.
mlir::Value multiplyGroups(Emission &e, const Product &product, bool rhsUnsigned, mlir::Value sum,
                           mlir::Value lhs, mlir::Value rhs);
/// Groups of four bytes with the upper bit of each flipped: 128 more, or less.
mlir::Value flipBytes(Emission &e, mlir::Value groups);
/// What a lhs of zeros looks like when flipped.
mlir::Value flippedZeros(Emission &e, int64_t lanes);

} // namespace hlo::codegen

#endif

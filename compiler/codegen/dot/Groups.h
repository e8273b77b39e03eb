//===- Groups.h - Narrow products, two or four at a time ------------------===//
#ifndef COMPILER_CODEGEN_DOT_GROUPS_H
#define COMPILER_CODEGEN_DOT_GROUPS_H

#include "compiler/codegen/Element.h"

namespace hlo::codegen {

/// Neighbours along k that one instruction multiplies and adds to a 32-bit lane.
enum class KGroup {
  None,
  Bf16Pair, ///< vdpbf16ps
  WordPair, ///< vpmaddwd, or vpdpwssd
  ByteQuad  ///< vpdpbusd
};

/// How many neighbours a group has.
int64_t sizeOf(KGroup group);
/// Lanes of that many vectors of widened elements as lanes of groups. Pairs of bf16 are held as
/// f32.
mlir::Value groupLanes(Emission &e, KGroup group, llvm::ArrayRef<mlir::Value> values);
/// sum + lhs * rhs, for groups of so many lanes. ByteQuad: one side is unsigned.
mlir::Value multiplyGroups(Emission &e, KGroup group, bool rhsUnsigned, mlir::Value sum,
                           mlir::Value lhs, mlir::Value rhs);
/// Groups of four bytes with the upper bit of each flipped: 128 more, or less.
mlir::Value flipBytes(Emission &e, mlir::Value groups);
/// What a lhs of zeros looks like when flipped.
mlir::Value flippedZeros(Emission &e, int64_t lanes);

} // namespace hlo::codegen

#endif

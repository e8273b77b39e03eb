//===- EntryLayout.h - The entry as its user sees it ----------------------===//
//
// Passes flatten the entry's tuples and remove its layouts. What the module's user passes and
// receives is recorded once, when tuples are flattened, in module attributes that no later pass
// changes:
//
//   hlo.entry_layout = {
//     inputs  = [{name = "state_0_w", type = tensor<..., #hlo.layout<...>>,
//                 parameter = 0, index = array<i64: 0, 1>, donor}, ...],
//     outputs = [{name = "", type = ..., index = array<i64: 0>}, ...]}
//     (size_of, size_dim: see EntryLeaf)
//   hlo.leaf_alias = array<i64: output leaf, input leaf, ...>
//
// A leaf is one array of the flattened parameters or results, numbered depth first; tokens are not
// leaves. Leaf i is block argument i of the entry, or operand i of its hlo.return, as long as no
// pass drops arguments of the entry.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_ANALYSIS_ENTRY_ENTRYLAYOUT_H
#define COMPILER_ANALYSIS_ENTRY_ENTRYLAYOUT_H

#include "dialect/hlo/Dialect.h"

namespace hlo {

/// One array of the entry's parameters or results.
struct EntryLeaf {
  /// The parameter's HLO name and the path inside it: `state_0_1`; for a
  /// result the path alone, joined by `_`, empty if the result is no tuple.
  std::string name;
  /// Logical shape with the user's layout, dynamic bounds and properties, taken from
  /// `entry_computation_layout` if the module declares one.
  mlir::RankedTensorType type;
  /// HLO parameter number; -1 for a result.
  int64_t parameter = -1;
  /// Path of tuple indices inside the parameter or result.
  llvm::SmallVector<int64_t> index;
  /// The caller gives the buffer away (`buffer_donor`); it may also be aliased.
  bool donor = false;
  /// Set for a size leaf: an s64[] that holds the true size of dimension `sizeDim`, declared `<=N`,
  /// of leaf `sizeOf` of the same list. Size leaves come after all arrays of the module. -1: an
  /// array.
  int64_t sizeOf = -1, sizeDim = 0;
  /// Of a size leaf: the name that the program has for the size, "b"; empty if it has none.
  std::string symbol;
  /// Of an array whose dimensions are functions of named sizes: each as support/SizeExpr writes it,
  /// "2*b + 1"; else empty.
  llvm::SmallVector<std::string> sizes;
};

/// An output that may live in an input's buffer (`input_output_alias`).
struct LeafAlias {
  int64_t output = 0;
  int64_t input = 0;
};

struct EntryLayout {
  llvm::SmallVector<EntryLeaf> inputs;
  llvm::SmallVector<EntryLeaf> outputs;
  llvm::SmallVector<LeafAlias> aliases;

  /// Reads the module's attributes; an error at the module if there are none.
  static mlir::FailureOr<EntryLayout> get(mlir::ModuleOp module);
  /// Writes the attributes that `get` reads.
  void set(mlir::ModuleOp module) const;
};

/// The dimensions of `type` from slowest to fastest in memory.
llvm::SmallVector<int64_t> majorToMinor(mlir::RankedTensorType type);
/// The dense row-major type with the same bytes as `type` in its layout: its dimensions permuted by
/// `majorToMinor`.
mlir::RankedTensorType physicalType(mlir::RankedTensorType type);
/// True if the caller's buffers pack several elements of this type into a byte, the first in the
/// lowest bits: types of 1, 2 and 4 bits except pred.
bool isPacked(mlir::Type element);
/// Bytes of the caller's buffer of an array; static shapes only.
int64_t entryBytes(mlir::RankedTensorType type);

} // namespace hlo

#endif

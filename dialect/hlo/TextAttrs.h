//===- TextAttrs.h - Attributes that are kept as text -----------*- C++ -*-===//
//
// Replica groups, permutation pairs and aliasings stay in the form of the HLO
// text; here they are read. Whitespace is free; a malformed text gives failure,
// which the caller reports.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_TEXTATTRS_H
#define DIALECT_HLO_TEXTATTRS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace hlo {

/// Where the string in single or double quotes ends with which `text` begins: the place of the
/// second quote, or npos if it begins with none or the quote stays open. A backslash escapes.
size_t quotedEnd(llvm::StringRef text);
/// The text with all its strings emptied, so that no name or metadata is taken for syntax.
std::string withoutStrings(llvm::StringRef text);

using IntegerList = llvm::SmallVector<int64_t>;
using IntegerLists = llvm::SmallVector<IntegerList>;

/// `{{0,1},{2,3}}`, as `source_target_pairs` and `slice_sizes` are written.
mlir::FailureOr<IntegerLists> parseIntegerLists(llvm::StringRef text);

/// Replica groups in any form: `{}` (no list: all devices), lists, the iota form
/// `[groups,size]<=[dims]T(perm)`, and `mesh['x'=2,'y'=2] {'y'}`.
mlir::FailureOr<IntegerLists> parseReplicaGroups(llvm::StringRef text);

/// The device ids of `[dims]T(perm)`: 0, 1, ... reshaped to `dims`, transposed
/// by `perm` and flattened. Failure if the numbers do not fit or there are more
/// than 2^24 devices.
mlir::FailureOr<IntegerList> iotaDevices(llvm::ArrayRef<int64_t> dims,
                                         llvm::ArrayRef<int64_t> perm);

/// One entry of `{ {0}: (1, {}, may-alias), ... }`.
struct Alias {
  IntegerList output;
  int64_t parameter = 0;
  IntegerList parameterIndex;
  bool mustAlias = false;
};

/// `input_output_alias` and `output_to_operand_aliasing`.
mlir::FailureOr<llvm::SmallVector<Alias>> parseAliases(llvm::StringRef text);

/// `buffer_donor`: `{ (0, {}), (1, {0}) }`; `output` stays empty.
mlir::FailureOr<llvm::SmallVector<Alias>> parseDonors(llvm::StringRef text);

} // namespace hlo

#endif

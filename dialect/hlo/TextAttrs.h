//===- TextAttrs.h - Attributes that are kept as text -----------*- C++ -*-===//
//
// Replica groups, permutation pairs and aliasings stay in the form of the HLO text; these functions
// parse them. Whitespace is ignored; malformed text gives failure, which the caller reports.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_TEXTATTRS_H
#define DIALECT_HLO_TEXTATTRS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace hlo {

/// The position of the quote that ends the string (single or double quotes) at the start of `text`;
/// npos if `text` does not start with a quote or the string is not closed. A backslash escapes.
size_t quotedEnd(llvm::StringRef text);
/// The text with all its strings emptied, so that names and metadata are not taken for syntax.
std::string withoutStrings(llvm::StringRef text);

using IntegerList = llvm::SmallVector<int64_t>;
using IntegerLists = llvm::SmallVector<IntegerList>;

/// The form of `source_target_pairs` and `slice_sizes`: `{{0,1},{2,3}}`.
mlir::FailureOr<IntegerLists> parseIntegerLists(llvm::StringRef text);

/// Replica groups in any form: `{}` (no list: all devices), lists, the iota form
/// `[groups,size]<=[dims]T(perm)`, and `mesh['x'=2,'y'=2] {'y'}`.
mlir::FailureOr<IntegerLists> parseReplicaGroups(llvm::StringRef text);

/// The device ids of `[dims]T(perm)`: 0, 1, ... reshaped to `dims`, transposed by `perm` and
/// flattened. Failure if the numbers do not match or there are more than 2^24 devices.
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

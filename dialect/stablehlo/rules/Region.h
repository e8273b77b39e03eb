//===- Region.h - Checks of regions ---------------------------------------===//
#ifndef DIALECT_STABLEHLO_RULES_REGION_H
#define DIALECT_STABLEHLO_RULES_REGION_H

#include "dialect/stablehlo/rules/Rule.h"

namespace stablehlo {

/// The values that a region returns; none, reported, if it does not end in the dialect's return.
std::optional<mlir::ValueRange> returned(Check &check, llvm::StringRef label, mlir::Region &region,
                                         llvm::StringRef what);

/// `tensor<i1>`
mlir::Type predicateType(mlir::MLIRContext *context);

/// The region returns values of the expected types.
bool checkReturned(Check &check, llvm::StringRef label, mlir::Region &region, llvm::StringRef what,
                   mlir::TypeRange expected);

/// The region takes no arguments and returns values of the types of the op's results.
void checkBranch(Check &check, llvm::StringRef inputs, llvm::StringRef outputs,
                 mlir::Region &region, llvm::StringRef what);

/// The region has `expected` as its arguments.
bool checkArguments(Check &check, llvm::StringRef label, mlir::Region &region, llvm::StringRef what,
                    mlir::TypeRange expected);

/// The region combines two values of each of N arrays: 2 N arguments, N results, which are the
/// element types of the op's results from `firstResult` on, and can hold those of `inputs` and
/// `initial` (none: no initial values).
void checkReducer(Check &check, llvm::StringRef label, llvm::StringRef resultLabel,
                  mlir::Region &region, llvm::StringRef what, mlir::TypeRange inputs,
                  mlir::TypeRange initial, size_t firstResult = 0);

} // namespace stablehlo

#endif

//===- Types.h - Types of StableHLO as types of hlo -----------------------===//
#ifndef COMPILER_STABLEHLO_TYPES_H
#define COMPILER_STABLEHLO_TYPES_H

#include "compiler/support/Budget.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace hlo::stable {

/// The text of a type or an attribute.
template <typename T> std::string textOf(T value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

/// Converts types. A type that occurs several times is converted once.
class TypeConversion {
public:
  explicit TypeConversion(const Budget &budget) : budget(budget) {}

  /// The type in the hlo dialect; null if there is none, with the reason in `why`.
  ///
  ///   tensor<4xi32>                                 f32[4] with element type si32
  ///   tensor<?x3xf32, #stablehlo.bounds<4, ?>>      f32[<=4,3]
  ///   tuple<...>, !stablehlo.token                  the same
  mlir::Type convert(mlir::Type type, std::string &why);
  /// The element type in the hlo dialect; null if HLO has none.
  mlir::Type convertElement(mlir::Type type, std::string &why);

private:
  /// A converted type, the number of its arrays, and the depth of its tuples.
  struct Known {
    mlir::Type type;
    uint64_t leaves = 1, levels = 0;
  };
  Known compute(mlir::Type type, std::string &why);
  Known computeTuple(mlir::TupleType type, std::string &why);
  mlir::Type convertArray(mlir::RankedTensorType type, std::string &why);

  const Budget &budget;
  llvm::DenseMap<mlir::Type, Known> known;
};

} // namespace hlo::stable

#endif

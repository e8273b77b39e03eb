//===- Shapes.h - Questions about HLO shapes --------------------*- C++ -*-===//
//
// Base.td defines the type of a shape. All functions here are total: malformed types (negative
// sizes, sizes whose product overflows, a layout that is not a permutation) never make them crash.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_SHAPES_H
#define DIALECT_HLO_SHAPES_H

#include "dialect/hlo/Dialect.h"

#include <optional>
#include <string>

namespace hlo {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The HLO name of an element type ("f32", "s4", "pred", "c64", ...); "" if the type is not an HLO
/// element type.
llvm::StringRef primitiveName(mlir::Type elementType);

/// The element type with that HLO name; null if there is none. `token`, `opaque` and `tuple` are
/// not element types.
mlir::Type primitiveType(llvm::StringRef name, mlir::MLIRContext *context);

/// Bits of an element's value: 1 for pred, 4 for s4, 64 for c64; 0 if the type
/// is no element type.
int64_t elementBits(mlir::Type elementType);

/// Bits of an element in bitcast-convert: those of its value, but 8 for pred.
int64_t bitcastBits(mlir::Type elementType);

/// Bytes of one element in memory when elements are not packed: 1 for pred and
/// for sub-byte types, 8 for c64.
int64_t elementBytes(mlir::Type elementType);

inline bool isPred(mlir::Type type) { return type.isSignlessInteger(1); }
inline bool isSigned(mlir::Type type) { return type.isSignedInteger(); }
inline bool isUnsigned(mlir::Type type) { return type.isUnsignedInteger(); }
/// True for s* and u*, not for pred.
inline bool isInteger(mlir::Type type) { return isSigned(type) || isUnsigned(type); }
inline bool isFloat(mlir::Type type) { return llvm::isa<mlir::FloatType>(type); }
inline bool isComplex(mlir::Type type) { return llvm::isa<mlir::ComplexType>(type); }

/// f32 of c64, f64 of c128, the type itself otherwise.
mlir::Type componentType(mlir::Type elementType);

/// True for equal types, and for two floating types of at most 32 bits: HLO lets most ops mix
/// these, because all of them are computed in f32 (f64 is not included).
bool sameUpToPrecision(mlir::Type a, mlir::Type b);

/// The one of two equal-up-to-precision types with more bits; `a` on a tie.
mlir::Type widerType(mlir::Type a, mlir::Type b);

/// 0 for pred, 1 for integers, 2 for floats, 3 for complex types: a type of a higher class can
/// represent more.
int elementClass(mlir::Type type);

/// The element type of a dot or a convolution of these operands if none is written: the higher
/// class, then the wider type.
mlir::Type productType(mlir::Type lhs, mlir::Type rhs);

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The array type with these sizes; `dynamic` lists bounded dimensions. An empty or row-major
/// `minorToMajor` is the default layout. Defaults are not stored, so that equal shapes are equal
/// types.
mlir::RankedTensorType arrayType(llvm::ArrayRef<int64_t> sizes, mlir::Type element,
                                 llvm::ArrayRef<int64_t> minorToMajor = {},
                                 llvm::ArrayRef<int64_t> dynamic = {},
                                 llvm::StringRef properties = "");

/// The rank-0 array of an element type.
mlir::RankedTensorType scalarType(mlir::Type element);

/// The array if `type` is one, else null.
inline mlir::RankedTensorType asArray(mlir::Type type) {
  return llvm::dyn_cast_if_present<mlir::RankedTensorType>(type);
}

/// Whether `type` is a rank-0 array (of any element type).
bool isScalar(mlir::Type type);

/// `{rank-1, ..., 1, 0}`.
llvm::SmallVector<int64_t> defaultMinorToMajor(int64_t rank);

/// The order of the dimensions, fastest-varying first; the default if none is written or its length
/// is wrong.
llvm::SmallVector<int64_t> minorToMajor(mlir::RankedTensorType type);

/// True if the array is dense row-major.
bool hasDefaultLayout(mlir::RankedTensorType type);

/// True if the dimension is bounded, `<=N`.
bool isBounded(mlir::RankedTensorType type, int64_t dimension);

/// The bounded dimensions, in order.
llvm::ArrayRef<int64_t> boundedDimensions(mlir::RankedTensorType type);

/// Text after the layout's colon ("T(8,128)S(1)"), or "".
llvm::StringRef layoutProperties(mlir::RankedTensorType type);

/// Number of elements (bounds count in full); none on overflow, for an unbounded dimension and for
/// a negative size.
std::optional<int64_t> elementCount(mlir::Type arrayType);

/// A description of what is wrong with the array by itself: a negative size, a byte size that
/// overflows, a layout that is not a permutation, a bounded dimension out of range, an element type
/// that HLO does not have. Empty if it is valid.
std::string shapeProblem(mlir::RankedTensorType type);

/// Bytes of the unpacked array, or the sum over a tuple's leaves; tokens and opaques have none.
/// None on overflow or for an unbounded dimension.
std::optional<int64_t> byteSize(mlir::Type type);

/// The shape without its layout and layout properties, keeping bounded dimensions; also inside
/// tuples and buffers.
mlir::Type stripLayout(mlir::Type type);

/// The shape without its encoding, bounded dimensions included.
mlir::Type stripEncoding(mlir::Type type);

//===----------------------------------------------------------------------===//
// Tuples, comparison, text
//===----------------------------------------------------------------------===//

/// Leaves (arrays, tokens, opaques, buffers) depth first; a non-tuple is its
/// own only leaf.
llvm::SmallVector<mlir::Type> leafTypes(mlir::Type type);
llvm::SmallVector<mlir::Type> leafTypes(mlir::TypeRange types);

/// The type at a shape index ({1, 0} = element 0 of element 1); null if the
/// index leaves the shape.
mlir::Type typeAtIndex(mlir::Type type, llvm::ArrayRef<int64_t> index);

enum class Precision { exact, anyFloat };

/// True if two shapes have the same structure, sizes and element types. Layouts are ignored, `?`
/// matches every size and `<=N` matches N. `anyFloat` compares element types by sameUpToPrecision.
bool sameShape(mlir::Type a, mlir::Type b, Precision precision = Precision::exact);

enum class LayoutText { never, nonDefault, always };

/// The shape in HLO syntax: `f32[2,<=3]{0,1}`, `(s32[], token[])`.
std::string hloText(mlir::Type type, LayoutText layout = LayoutText::nonDefault);

/// The opcode in HLO syntax: `dynamic-slice` for `hlo.dynamic_slice`.
std::string hloOpcode(llvm::StringRef opName);

} // namespace hlo

#endif

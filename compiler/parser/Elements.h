//===- Elements.h - Bits of one literal element ---------------------------===//
#ifndef COMPILER_PARSER_ELEMENTS_H
#define COMPILER_PARSER_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include <string>

namespace hlo::parser {

/// How elements of one type are written in text and held in a DenseElementsAttr.
struct ElementFormat {
  enum Kind : uint8_t { Pred, Signed, Unsigned, Float, Complex } kind;
  /// Bits and bytes of one number (of a part, for Complex).
  unsigned bits;
  unsigned bytes;
  /// The format of Float, and of the parts of Complex.
  const llvm::fltSemantics *semantics;

  /// Bytes of one element; pred and 1-bit integers are packed by the caller.
  unsigned elementBytes() const { return kind == Complex ? 2 * bytes : bytes; }
  bool isOneBit() const { return bits == 1; }
};

/// The format of an array's element type; nullopt if the type has no literals.
std::optional<ElementFormat> getElementFormat(mlir::Type elementType);

/// The array whose elements are `bytes`, `elementBytes()` of them each, of one-bit types too. One
/// element alone is all of the array's.
mlir::DenseElementsAttr denseElements(mlir::RankedTensorType type, const ElementFormat &format,
                                      llvm::ArrayRef<char> bytes);

/// Encodes a finite number, rounded to nearest even. False if it does not fit.
bool encodeFinite(const ElementFormat &format, double value, uint64_t &bits);
/// Encodes an infinity, or its substitute in types without infinities.
uint64_t encodeInfinity(const ElementFormat &format, bool negative);
/// Encodes a NaN: the quiet NaN if `payload` is absent. False if the payload is not possible;
/// `maxPayload` is then the largest that is (0: none).
bool encodeNan(const ElementFormat &format, bool negative, std::optional<uint64_t> payload,
               uint64_t &bits, uint64_t &maxPayload);
/// Prints one number of a Float or Complex format so that it parses back to the same bits.
void printFloat(const ElementFormat &format, uint64_t bits, std::string &out);

} // namespace hlo::parser

#endif

//===- Number.h - One element of any type ----------------------*- C++ -*-===//
#ifndef COMPILER_BUILDER_NUMBER_H
#define COMPILER_BUILDER_NUMBER_H

#include <hlo/primitive_type.h>
#include <string>

namespace hlo::detail {

/// An element's value, exactly: an integer of 64 bits, or a pair of doubles.
class Number {
public:
  static Number Real(double value);
  /// The least and the greatest value: infinities where the type has them.
  static Number Least(PrimitiveType type);
  static Number Greatest(PrimitiveType type);

  /// The element at `data`, of ByteWidth(type) bytes.
  static Number Read(PrimitiveType type, const char *data);
  /// Stores it converted: integers keep the low bits; floating values become integers by
  /// truncation, within the type's range, NaN by 0; PRED is whether it is not 0.
  void Write(PrimitiveType type, char *data) const;

  double AsDouble() const;
  /// As in HLO text. `isScalar`: PRED is then a word.
  std::string ToString(PrimitiveType type, bool isScalar) const;

private:
  enum { isSigned, isUnsigned, isFloating } kind = isSigned;
  std::int64_t integer = 0; ///< of unsigned numbers: the bits
  double re = 0, im = 0;
};

} // namespace hlo::detail

#endif

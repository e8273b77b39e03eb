//===- hlo/op.h - Values in a builder --------------------------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_OP_H
#define HLO_OP_H

#include <hlo/builder_c.h>
#include <hlo/source_location.h>

namespace hlo {

class XlaBuilder;

/// The result of an instruction of a builder: a handle, valid as long as the builder lives. After
/// an error it is not valid; functions that are given such an operand add nothing.
class XlaOp {
public:
  /// Of no builder; not valid.
  XlaOp() = default;

  XlaBuilder *builder() const { return owner; }
  /// Whether it is a value.
  bool valid() const { return number != HLO_NO_VALUE; }
  bool IsUninitialized() const { return !owner; }
  /// The value in the C API.
  hlo_value handle() const { return number; }
  bool IsIdenticalTo(XlaOp other) const { return owner == other.owner && number == other.number; }

private:
  friend class XlaBuilder;
  XlaOp(XlaBuilder *owner, hlo_value number) : owner(owner), number(number) {}

  XlaBuilder *owner = nullptr;
  hlo_value number = HLO_NO_VALUE;
};

/// The first operand of an operator, with the operator's place.
struct PlacedOp {
  PlacedOp(XlaOp op, SourceLocation at = SourceLocation::current()) : op(op), at(at) {}
  XlaOp op;
  SourceLocation at;
};

/// Arithmetic with the implicit broadcasting of Add and the others. ~ is Not, >> is arithmetic for
/// signed operands and logical for unsigned ones. Comparisons are functions, Eq and the others.
XlaOp operator-(PlacedOp x);
XlaOp operator~(PlacedOp x);
XlaOp operator+(PlacedOp x, XlaOp y);
XlaOp operator-(PlacedOp x, XlaOp y);
XlaOp operator*(PlacedOp x, XlaOp y);
XlaOp operator/(PlacedOp x, XlaOp y);
XlaOp operator%(PlacedOp x, XlaOp y);
XlaOp operator&(PlacedOp x, XlaOp y);
XlaOp operator|(PlacedOp x, XlaOp y);
XlaOp operator^(PlacedOp x, XlaOp y);
XlaOp operator<<(PlacedOp x, XlaOp y);
XlaOp operator>>(PlacedOp x, XlaOp y);

} // namespace hlo

#endif

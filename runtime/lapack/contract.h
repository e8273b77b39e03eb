//===- contract.h - Contracts of the LAPACK targets -----------------------===//
//
// A contract lists a target's operands, results and attributes: element types, sizes in terms of
// the matrices of a call, and permitted values of attributes. Call::begin compares a call with it
// before anything touches memory. This is necessary because LAPACK does not check that its
// arguments fit its arrays, and ends the process if one is out of range.
//
// Every array has the batch dimensions of the first operand in front of the listed ones. A size
// given as a letter (m, n, k, p) is defined by the first array that lists it.
//
//===----------------------------------------------------------------------===//
#ifndef RUNTIME_LAPACK_CONTRACT_H
#define RUNTIME_LAPACK_CONTRACT_H

#include <stdint.h>

namespace hlo_lapack {

/// Numbers of element types in the typed FFI.
enum Type : int {
  typePred = 1,
  typeS32 = 4,
  typeU8 = 6,
  typeF32 = 11,
  typeF64 = 12,
  typeC64 = 15,
  typeC128 = 18
};

enum class Size : uint8_t {
  none,        // no dimension
  m,           // rows
  n,           // columns
  k,           // reflectors
  p,           // columns of an array that may have more columns than there are reflectors
  least,       // min(m, n)
  below,       // max(n - 1, 0)
  order,       // m if the other matrix multiplies from the left, else n
  reflectors,  // min(order, p), the most that k can be
  left,        // columns of left singular vectors, by `mode`
  right,       // rows of right singular vectors, by `mode`
};

/// The element type of an array: the target's, the type of its norms, the complex type of the same
/// precision, or a 32-bit integer.
enum class Element : uint8_t { same, real, complex, s32 };

struct Dimension {
  Size size = Size::none;
  Size most = Size::none;  // upper bound of a letter, if it has one
};

struct Array {
  const char *name = nullptr;  // null: no such operand or result
  Element element = Element::same;
  Dimension dims[2] = {};
  int8_t result = -1;  // for an operand: the result that overwrites it
};

/// A ui8 attribute with one of `letters` as its value; without letters, any number of its type.
struct Attribute {
  const char *name = nullptr;  // null: no such attribute
  const char *letters = nullptr;
  Type type = typeU8;
};

/// factor * a * b, where `none` counts as 1.
struct Term {
  int factor = 0;
  Size a = Size::none, b = Size::none;
};

struct Contract {
  static constexpr int mostOperands = 4, mostResults = 6, mostAttributes = 4;
  Array operands[mostOperands] = {};
  Array results[mostResults] = {};
  Attribute attributes[mostAttributes] = {};
  /// The sum bounds the elements of every workspace, and every product of sizes that LAPACK
  /// computes in 32-bit integers.
  Term work[4] = {};
};

}  // namespace hlo_lapack

#endif

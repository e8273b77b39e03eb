//===- Modules.h - Modules of one op, and their objects -------------------===//
#ifndef TEST_ACCURACY_MODULES_H
#define TEST_ACCURACY_MODULES_H

#include "Format.h"
#include <string>
#include <vector>

namespace accuracy {

/// Elements of a module's arrays: a multiple of every vector's lanes, plus three for the remainder
/// loop.
inline constexpr size_t arraySize = 4099, leftOver = 3;

/// One opcode for one element type.
struct Case {
  const RealFunction *real = nullptr;
  const ComplexFunction *complex = nullptr;
  const Format *format; ///< of the parts if complex

  std::string opcode() const { return complex != nullptr ? complex->opcode : real->opcode; }
  int operands() const { return complex != nullptr ? complex->operands : real->operands; }
  int parts() const { return complex != nullptr ? 2 : 1; }
  int resultParts() const { return complex != nullptr && !complex->realResult ? 2 : 1; }
  std::string type() const;
  /// The case's name as a C identifier.
  std::string name() const;
  std::string module() const;
};

/// All cases, functions first.
std::vector<Case> allCases();

} // namespace accuracy

#endif

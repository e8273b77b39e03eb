//===- Modules.cpp - Modules of one op ------------------------------------===//
//
// In: the tables of functions. Out: cases and their HLO.
//
//===----------------------------------------------------------------------===//
#include "Modules.h"
#include <algorithm>

namespace accuracy {

std::string Case::type() const {
  if (complex == nullptr) {
    return format->name;
  }
  return format->bytes == 4 ? "c64" : "c128";
}

std::string Case::name() const {
  std::string text = opcode() + "_" + type();
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string Case::module() const {
  std::string dims = "[" + std::to_string(arraySize) + "]";
  std::string operand = type() + dims;
  std::string result = resultParts() == parts() ? operand : format->name + dims;
  std::string text = "HloModule " + name() + "\n\nENTRY main {\n";
  text += "  x = " + operand + " parameter(0)\n";
  if (operands() == 2) {
    text += "  y = " + operand + " parameter(1)\n";
  }
  return text + "  ROOT r = " + result + " " + opcode() +
         (operands() == 2 ? "(x, y)\n}\n" : "(x)\n}\n");
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (int i = 0; i < realFunctionCount; ++i) {
    for (const Format *format : {&f16, &bf16, &f32, &f64}) {
      cases.push_back({&realFunctions[i], nullptr, format});
    }
  }
  for (int i = 0; i < complexFunctionCount; ++i) {
    for (const Format *format : {&f32, &f64}) {
      cases.push_back({nullptr, &complexFunctions[i], format});
    }
  }
  return cases;
}

} // namespace accuracy

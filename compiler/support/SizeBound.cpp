//===- SizeBound.cpp - What the user says of sizes given at run time ------===//
#include "compiler/support/SizeBound.h"

using namespace hlo;
using llvm::StringRef;

std::string hlo::parseSizeBound(StringRef text, SizeBound &bound) {
  auto [name, number] = text.split("<=");
  if (name.size() == text.size() || name.trim().empty()) {
    return "expected NAME<=N, where NAME is a size of the program, PARAMETER:DIMENSION, or all";
  }
  if (number.trim().getAsInteger(10, bound.bound) || bound.bound < 1 || bound.bound > INT32_MAX) {
    return "expected a number from 1 to 2147483647 after <=";
  }
  bound.name = name.trim().str();
  return "";
}

std::string hlo::parseSpecialSizes(StringRef text, std::vector<SpecialSizes> &lists) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    SpecialSizes &sizes = lists.emplace_back();
    while (!part.empty()) {
      // A name may have a colon: x:0=8.
      auto [name, rest] = part.split('=');
      StringRef number = rest.take_until([](char c) { return c == ':'; });
      int64_t value = 0;
      if (name.size() == part.size() || name.trim().empty()) {
        break;
      }
      if (number.trim().getAsInteger(10, value) || value < 0 || value > INT32_MAX) {
        return "expected a number from 0 to 2147483647 after '" + name.trim().str() + "='";
      }
      sizes.push_back(name.trim().str() + "=" + std::to_string(value));
      part = rest.drop_front(number.size());
      if (part.consume_front(":") && part.empty()) {
        part = ":";
      }
    }
    if (sizes.empty() || !part.empty()) {
      return "expected NAME=N, with : between sizes of one version and , between versions";
    }
  }
  return "";
}

//===- SizeBound.cpp - Bounds of sizes that are given at run time ---------===//
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

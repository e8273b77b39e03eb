//===- ResultAccuracy.cpp - The result_accuracy attribute -----------------===//
//
// Decides whether functions of f32 and narrower types are computed in f64, given the attribute's
// text as the parser wrote it: {mode=M} or {tolerance={atol=F,rtol=F,ulps=N}}.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Families.h"

using namespace mlir;

namespace hlo::codegen {

/// The number after `name=`; 0 if it is not there.
static double fieldOf(StringRef text, StringRef name) {
  size_t at = text.find(name);
  double value = 0;
  if (at == StringRef::npos || text.substr(at + name.size())
                                   .take_until([](char c) { return c == ',' || c == '}'; })
                                   .getAsDouble(value)) {
    return 0;
  }
  return value;
}

bool asksForAccuracy(DictionaryAttr attrs) {
  auto attr = attrs ? attrs.getAs<StringAttr>("result_accuracy") : StringAttr();
  StringRef text = attr ? attr.getValue() : StringRef();
  if (!text.contains("tolerance=")) {
    return text.contains("mode=highest");
  }
  // The allowed error is atol + rtol |x| + ulps. atol does not bound the error of small results.
  return fieldOf(text, "ulps=") < 2 && fieldOf(text, "rtol=") < 0x1p-22;
}

} // namespace hlo::codegen

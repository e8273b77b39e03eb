//===- LeafText.cpp - An array in generated headers -----------------------===//
//
// In: a leaf of the signature. Out: its element's type in C, and the text of the comment beside it.
// The headers for C and for C++ say the same of an array.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/LeafText.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hlo;

StringRef hlo::cType(hlo_type type) {
  switch (type) {
  case HLO_PRED: return "uint8_t";
  case HLO_S8: return "int8_t";
  case HLO_S16: return "int16_t";
  case HLO_S32: return "int32_t";
  case HLO_S64: return "int64_t";
  case HLO_U8: return "uint8_t";
  // These pack several elements into a byte.
  case HLO_S1:
  case HLO_S2:
  case HLO_S4:
  case HLO_U1:
  case HLO_U2:
  case HLO_U4: return "uint8_t";
  case HLO_U16: return "uint16_t";
  case HLO_U32: return "uint32_t";
  case HLO_U64: return "uint64_t";
  case HLO_F16: return "hlo_f16";
  case HLO_BF16: return "hlo_bf16";
  case HLO_F32: return "float";
  case HLO_F64: return "double";
  case HLO_C64: return "hlo_c64";
  case HLO_C128: return "hlo_c128";
  case HLO_F4E2M1FN:
  case HLO_F6E2M3FN:
  case HLO_F6E3M2FN: return "uint8_t";
  default: return "hlo_f8";
  }
}

/// Which functions of a module with a prepare function read an input.
static StringRef useText(uint8_t use) {
  switch (use) {
  case HLO_IMMUTABLE | HLO_READ_BY_PREPARE: return "; immutable, read by prepare only";
  case HLO_IMMUTABLE | HLO_READ_BY_PREPARE | HLO_READ_BY_RUN:
    return "; immutable, read by prepare and run";
  case HLO_IMMUTABLE | HLO_READ_BY_RUN: return "; immutable";
  case HLO_IMMUTABLE: return "; immutable, not read";
  default: return "";
  }
}

std::string hlo::leafText(const Leaf &leaf, bool isInput, const Signature &all,
                          ArrayRef<uint8_t> use) {
  std::string text;
  raw_string_ostream out(text);
  if (leaf.sizeOf >= 0) {
    const Leaf &array = (isInput ? all.inputs : all.outputs)[leaf.sizeOf];
    out << (isInput ? "" : "receives the ")
        << (leaf.symbol.empty() ? "" : "size " + cText(leaf.symbol) + ": the ")
        << "true size of dimension " << leaf.sizeDim << " of " << array.name << ", 0 to "
        << array.dims[leaf.sizeDim];
    return text;
  }
  out << leaf.typeText << (leaf.dims.size() > 1 ? ", " + leaf.layoutText : "") << ", " << leaf.bytes
      << " bytes";
  if (leaf.isDense()) {
    out << " at most, dense for its sizes";
  }
  if (!leaf.sizesText.empty()) {
    out << ", sizes " << cText(leaf.sizesText);
  }
  if (!leaf.shardingText.empty()) {
    out << ", " << leaf.shardingText;
  }
  if (leaf.alias >= 0) {
    const Leaf &other = (isInput ? all.outputs : all.inputs)[leaf.alias];
    out << (isInput ? ", overwritten if it is the same buffer as " : ", may be the same buffer as ")
        << other.name;
  }
  if (isInput && !use.empty()) {
    out << useText(use[&leaf - all.inputs.data()]);
  }
  return text;
}

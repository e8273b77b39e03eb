//===- Packed.cpp - Leaves smaller than a byte, one element a byte --------===//
//
// In: buffers of a module's leaves. Out: the same with one element a byte, and back.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Packed.h"
#include <algorithm>
#include <cstring>
#include <hlo/index.h>

using namespace hlo::run;

bool hlo::run::isPacked(const hlo_buffer_desc &leaf) {
  return hlo_type_bits(leaf.type) < 8 && 8 % hlo_type_bits(leaf.type) == 0;
}

UnpackedView::UnpackedView(const hlo_module_desc &original) : desc(original) {
  // The module's own may lack fields at the end.
  auto add = [&](std::vector<hlo_buffer_desc> &leaves, const hlo_buffer_desc *leaf) {
    hlo_buffer_desc copy = {};
    std::memcpy(&copy, leaf, std::min<size_t>(sizeof copy, original.buffer_stride));
    leaves.push_back(copy);
  };
  for (uint32_t i = 0; i < original.num_inputs; ++i) {
    add(inputs, hlo_input_at(&original, i));
  }
  for (uint32_t i = 0; i < original.num_outputs; ++i) {
    add(outputs, hlo_output_at(&original, i));
  }
  for (std::vector<hlo_buffer_desc> *leaves : {&inputs, &outputs}) {
    for (hlo_buffer_desc &leaf : *leaves) {
      if (isPacked(leaf)) {
        leaf.bytes = static_cast<uint64_t>(countOf(leaf));
      }
    }
  }
  desc.inputs = inputs.data();
  desc.outputs = outputs.data();
  desc.buffer_stride = sizeof(hlo_buffer_desc);
}

void hlo::run::pack(const hlo_buffer_desc &leaf, const char *from, char *to) {
  std::memset(to, 0, leaf.bytes);
  for (int64_t i = 0, count = countOf(leaf); i < count; ++i) {
    hlo_packed_set(to, leaf.type, i, static_cast<uint8_t>(from[i]));
  }
}

void hlo::run::unpack(const hlo_buffer_desc &leaf, const char *from, char *to) {
  bool isSigned = leaf.type == HLO_S1 || leaf.type == HLO_S2 || leaf.type == HLO_S4;
  int unused = isSigned ? 8 - hlo_type_bits(leaf.type) : 0;
  for (int64_t i = 0, count = countOf(leaf); i < count; ++i) {
    auto bits = static_cast<int8_t>(hlo_packed_get(from, leaf.type, i) << unused);
    to[i] = static_cast<char>(bits >> unused);
  }
}

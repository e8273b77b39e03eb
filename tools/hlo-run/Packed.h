//===- Packed.h - Leaves smaller than a byte, one element a byte ----------===//
#ifndef TOOLS_HLO_RUN_PACKED_H
#define TOOLS_HLO_RUN_PACKED_H

#include "tools/hlo-run/Leaf.h"
#include <hlo/rt.h>
#include <vector>

namespace hlo::run {

/// A module's leaves as files and the screen have them: elements of 1, 2 and 4 bits, which are
/// packed in the module's buffers, have a byte each.
class UnpackedView {
public:
  UnpackedView() = default;
  UnpackedView(UnpackedView &&) = default;
  UnpackedView &operator=(UnpackedView &&) = default;
  explicit UnpackedView(const hlo_module_desc &desc);
  /// The module's description, but for `bytes` of such leaves.
  const hlo_module_desc &describe() const { return desc; }

private:
  std::vector<hlo_buffer_desc> inputs, outputs;
  hlo_module_desc desc = {};
};

/// Whether the module's buffer of a leaf holds several elements in a byte.
bool isPacked(const hlo_buffer_desc &leaf);
/// From one element a byte to the module's buffer; the bits above an element's own are dropped.
void pack(const hlo_buffer_desc &leaf, const char *from, char *to);
/// The other way; signed elements are sign-extended, others zero-extended.
void unpack(const hlo_buffer_desc &leaf, const char *from, char *to);

} // namespace hlo::run

#endif

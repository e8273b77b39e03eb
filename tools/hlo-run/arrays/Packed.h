//===- Packed.h - Leaves smaller than a byte, one element a byte ----------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_PACKED_H
#define TOOLS_HLO_RUN_ARRAYS_PACKED_H

#include "tools/hlo-run/arrays/Leaf.h"
#include <hlo/rt.h>
#include <vector>

namespace hlo::run {

/// A module's leaves in the form of files and terminal output: elements of 1, 2 and 4 bits, which
/// are packed in the module's buffers, take a byte each.
class UnpackedView {
public:
  UnpackedView() = default;
  UnpackedView(UnpackedView &&) = default;
  UnpackedView &operator=(UnpackedView &&) = default;
  explicit UnpackedView(const hlo_module_desc &desc);
  /// The module's description, with `bytes` changed for such leaves.
  const hlo_module_desc &describe() const { return desc; }

private:
  std::vector<hlo_buffer_desc> inputs, outputs;
  hlo_module_desc desc = {};
};

/// True if the module's buffer of a leaf holds several elements per byte.
bool isPacked(const hlo_buffer_desc &leaf);
/// Converts from one element per byte to the module's buffer, dropping bits above the element's
/// width.
void pack(const hlo_buffer_desc &leaf, const char *from, char *to);
/// The inverse; signed elements are sign-extended, others zero-extended.
void unpack(const hlo_buffer_desc &leaf, const char *from, char *to);

} // namespace hlo::run

#endif

//===- Random.h - Inputs made up from a seed ------------------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_RANDOM_H
#define TOOLS_HLO_RUN_ARRAYS_RANDOM_H

#include <cstdint>
#include <hlo/rt.h>

namespace hlo::run {

/// Fills a leaf: floats are 0.05 * N(0,1), which keeps deep models finite; integers and pred are 0
/// or 1, valid as an index anywhere. The contents depend only on `seed`, `index` and the leaf's
/// type.
void fillRandom(uint64_t seed, uint32_t index, const hlo_buffer_desc &leaf, char *buffer);

} // namespace hlo::run

#endif

//===- ExactKernels.h - Kernels whose bits no machine changes -------------===//
//
// An object for several CPU levels needs a kernel once if a level's wider vectors or other
// instructions gain it nothing. Only kernels that are exact can be shared without changing a bit of
// a level's results: a sum depends on how many lanes it has, a product followed by a sum on whether
// the CPU rounds between them.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PLANS_EXACTKERNELS_H
#define COMPILER_PLANS_EXACTKERNELS_H

#include "compiler/machine/Machine.h"
#include "dialect/hlo/Dialect.h"

namespace hlo {

/// Whether a kernel gives the same bits whatever the machine: its ops move elements, compare them,
/// or compute with integers, and have no kernel form of their own.
bool isExact(FusionOp fusion);

/// Whether code for `earlier` is as fast on `machine` as code for `machine` itself, as far as the
/// model can tell. Only the vectors differ: caches and ports are those of `machine` in both.
bool gainsNothing(FusionOp exact, const Machine &earlier, const Machine &machine);

} // namespace hlo

#endif

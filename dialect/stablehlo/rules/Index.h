//===- Index.h - Shapes of scatter ----------------------------------------===//
#ifndef DIALECT_STABLEHLO_RULES_INDEX_H
#define DIALECT_STABLEHLO_RULES_INDEX_H

#include "dialect/stablehlo/rules/Rule.h"

namespace stablehlo {
/// Checks scatter's operands against its dimension numbers. There is at least one input.
void checkScatterShapes(Check &check);
} // namespace stablehlo

#endif

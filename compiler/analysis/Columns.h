//===- Columns.h - Arrays of short rows -----------------------------------===//
#ifndef COMPILER_ANALYSIS_COLUMNS_H
#define COMPILER_ANALYSIS_COLUMNS_H

#include <cstdint>

namespace hlo {

/// Arrays with rows of at most this many elements may be computed column by column, with one row
/// per vector lane (fusion/rewrites/LaneDimension.cpp and codegen/loops/Columns.h). Each column
/// keeps one vector alive per operand, so more columns would not fit into registers.
inline constexpr int64_t kMostSplitColumns = 8;

} // namespace hlo

#endif

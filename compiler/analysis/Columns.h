//===- Columns.h - Arrays of short rows -----------------------------------===//
#ifndef COMPILER_ANALYSIS_COLUMNS_H
#define COMPILER_ANALYSIS_COLUMNS_H

#include <cstdint>

namespace hlo {

/// Rows of at most so many elements may be computed column by column, a row in each lane
/// (fusion/SplitColumns.cpp and codegen/loops/Columns.h): as many vectors again are alive as
/// operands.
inline constexpr int64_t kMostSplitColumns = 8;

} // namespace hlo

#endif

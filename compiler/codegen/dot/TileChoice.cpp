//===- TileChoice.cpp - The register tile of the blocked contraction ------===//
//
// The register tile follows from the cost of the inner loop (machine/Costs.h): per k, a tile of R
// rows and V vectors issues R*V multiply-adds and R + V loads, and each sum is a chain. The
// tile whose full and partial copies cover m x n in the fewest cycles wins, so
// that 49 rows are cut into sevens and 64 columns into twos or fours.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockPlan.h"
#include "compiler/machine/Costs.h"

namespace hlo::codegen {

/// The most rows of a tile: 28 accumulators of one vector, with operands, fill 32 registers.
static constexpr int64_t kMostRows = 28;
/// Ways of L1 that are left to the panel and the result beside a tile's rows of the lhs.
static constexpr int64_t kOtherWays = 2;

int64_t rowsInL1(const Machine &machine, int64_t rowBytes) {
  if (!machine.vectors.halves || rowBytes <= 0) {
    return kMostRows;
  }
  int64_t way = machine.memory.l1Way, ways = machine.memory.l1 / way - kOtherWays;
  int64_t apart = std::min(way, rowBytes & -rowBytes);
  return std::min(kMostRows, ways * (way / apart));
}

bool hasNarrowLast(const Machine &machine, int64_t n, int64_t lanes) {
  // Fewer columns than a vector have narrower vectors (see lanesFor).
  return machine.vectors.halves && n > lanes && n % lanes != 0 && 2 * (n % lanes) <= lanes;
}

/// One step along k of a tile.
static double cyclesOfStep(const Machine &machine, double rows, double vectors, int64_t k,
                           int64_t parts, double multiplyAdd) {
  if (rows == 0 || vectors == 0) {
    return 0;
  }
  LoopBody body;
  body.multiplyAdds = rows * vectors * parts * parts * multiplyAdd;
  body.loads = (rows + vectors) * parts;
  body.chain = 1;
  // The panel is fetched to L1 again and again, since the lhs streams through it.
  body.fills = vectors * parts;
  if (machine.vectors.halves) {
    // So are the rows, for each panel: with few rows, wide tiles are better. 0.02 cycles a row:
    // unhiddenFill, of a line that holds the elements of 8 to 16 steps.
    body.extra = 0.02 * rows * parts;
  }
  // Sums are cleared, and stored one by one; the loop's branch is mispredicted at its end.
  body.start = kLoopStart + rows * vectors * parts / machine.issue.store;
  body.trips = k;
  return cyclesOfTrip(machine, body);
}

double cyclesOfTiles(const Machine &machine, int64_t m, int64_t vectors, int64_t k, int64_t parts,
                     const TileShape &tile, bool narrowLast, double multiplyAdd) {
  int64_t rowTail = m % tile.rows;
  double vectorTail = vectors % tile.vectors, down = m / tile.rows, across = vectors / tile.vectors;
  if (narrowLast) {
    across -= vectorTail == 0;
    vectorTail = (vectorTail == 0 ? tile.vectors : vectorTail) - 0.5;
  }
  auto cost = [&](double rows, double columns) {
    return cyclesOfStep(machine, rows, columns, k, parts, multiplyAdd);
  };
  double cycles = down * across * cost(tile.rows, tile.vectors) +
                  down * cost(tile.rows, vectorTail) + across * cost(rowTail, tile.vectors) +
                  cost(rowTail, vectorTail);
  // Each kind of partial tile has code of its own.
  return cycles * (1.0 + 0.01 * (rowTail != 0) + 0.01 * (vectorTail != 0));
}

TileShape chooseTile(const Machine &machine, int64_t m, int64_t n, int64_t k, int64_t lanes,
                     int64_t parts, int64_t rowMultiple, int64_t mostRows, bool narrowLast,
                     int64_t products, RowOperands rowOperands) {
  int64_t registers = machine.vectors.registers - products;
  int64_t needed = llvm::divideCeil(n, lanes);
  TileShape best{1, 1, 1e300};
  for (int64_t vectors = 1; vectors <= std::min<int64_t>(needed, 16); ++vectors) {
    for (int64_t rows = 1; rows <= std::min({m, mostRows, kMostRows}); ++rows) {
      // Two rows share a register of the lhs, and the rhs has another order in a second register.
      if (rowOperands == RowOperands::Pairs && rows > 1 && rows % 2 != 0) {
        continue;
      }
      int64_t others = rowOperands == RowOperands::Lanes && rows > 1 ? rows
                       : rowOperands == RowOperands::Pairs           ? vectors
                                                                     : 0;
      // Accumulators, the vectors of the rhs, broadcasts of the lhs.
      if (parts *
              (rows * vectors + (rows == 1 ? 1 : vectors) + others + machine.vectors.loadsAhead) >
          registers) {
        break;
      }
      if (rowMultiple != 0 && (rowMultiple % rows != 0 || !llvm::isPowerOf2_64(rows))) {
        continue;
      }
      double cycles = cyclesOfTiles(machine, m, needed, k, parts, {rows, vectors, 0}, narrowLast);
      // Equal candidates: the first, with fewer vectors and rows.
      if (isFaster(cycles, best.cycles)) {
        best = {rows, vectors, cycles};
      }
    }
  }
  return best;
}

} // namespace hlo::codegen

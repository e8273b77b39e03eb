//===- Costs.h - Cycles of a loop, from a Machine -------------------------===//
//
// The one model of time that plans compare their candidates by:
//
//   cycles of a trip = max(issue of each port, chain, bytes of each level / bytes per cycle)
//                      + what the loop does not hide + start / trips
//
// It is good for comparing ways to compute one thing. It knows nothing of branches, of pages, or
// of other threads.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_MACHINE_COSTS_H
#define COMPILER_MACHINE_COSTS_H

#include "compiler/machine/Machine.h"

namespace hlo {

/// Bytes of a page, and how many of them the second level of a TLB holds: 1536 in Skylake, 2048 in
/// Zen 2, more in later cores. Loops over more of them wait for page walks (LoopBody::pages).
inline constexpr double kPageBytes = 4096, kTlbPages = 1536;

/// Cycles between two loops: the mispredicted branch at the end of one, of which other work hides a
/// part, and the addresses and first loads of the next. An estimate: a misprediction alone costs 10
/// to 20 cycles.
inline constexpr double kLoopStart = 12;

/// One trip of a loop: instructions on whole vectors unless said otherwise.
struct LoopBody {
  double multiplyAdds = 0;
  double loads = 0; ///< also of one element for all lanes
  double stores = 0;
  double shuffles = 0;
  double others = 0;   ///< additions, shifts and logic of vectors
  double integers = 0; ///< arithmetic on scalars, branches
  /// Multiply-adds that one trip appends to the longest chain of sums. 0: trips are independent.
  double chain = 0;
  /// Bytes that come from the level behind L1 where the data is.
  double bytes = 0;
  Level level = Level::L1;
  /// Loads from a page each, in an order that no prefetcher follows.
  double pages = 0;
  /// Lines that arrive in L1 while the loop is bound by something else (see
  /// Memory::unhiddenFill).
  double fills = 0;
  /// Cycles beside the ports' work, as measured.
  double extra = 0;
  /// Cycles before the first trip and after the last one, and how many trips there are in between.
  double start = 0;
  double trips = 1;
};

/// Cycles of one trip, with its share of the start.
double cyclesOfTrip(const Machine &machine, const LoopBody &body);
/// Cycles of all trips.
inline double cyclesOfLoop(const Machine &machine, const LoopBody &body) {
  return cyclesOfTrip(machine, body) * body.trips;
}

/// True if a candidate is faster than the best one so far by more than the rounding of sums that
/// are added up in another order (a part in 2^50 per addition). Of equal candidates the first
/// stays.
inline bool isFaster(double cycles, double best) {
  constexpr double kRounding =
      1e-3; // far above any rounding, and far below what the model can tell
  return cycles < best * (1 - kRounding);
}

/// The nearest level that holds so many bytes beside what streams through it.
Level levelOf(const Machine &machine, double bytes);

} // namespace hlo

#endif

//===- TopologicalOrder.h - Topological order with edge insertion ---------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_TOPOLOGICALORDER_H
#define COMPILER_TRANSFORMS_SCHEDULE_TOPOLOGICALORDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace hlo::schedule {

/// A directed acyclic graph and a topological order of its nodes (Pearce and Kelly: a new edge
/// moves only nodes between its two ends).
class TopologicalOrder {
public:
  /// Nodes 0 .. nodes - 1, in this order.
  explicit TopologicalOrder(uint32_t nodes);

  /// Adds an edge that agrees with the current order.
  void addKnownEdge(uint32_t from, uint32_t to);
  /// Adds from -> to and reorders. False, without adding, if that closes a cycle or if the search
  /// would visit more than `effort` nodes.
  bool tryAddEdge(uint32_t from, uint32_t to, unsigned effort);

  uint32_t size() const { return nodeAt.size(); }
  llvm::ArrayRef<uint32_t> order() const { return nodeAt; }
  uint32_t positionOf(uint32_t node) const { return position[node]; }
  llvm::ArrayRef<uint32_t> predecessors(uint32_t node) const { return before[node]; }
  llvm::ArrayRef<uint32_t> successors(uint32_t node) const { return after[node]; }

private:
  /// Nodes reachable from `start` along `edges` with a position in [low, high].
  bool collect(uint32_t start, const std::vector<llvm::SmallVector<uint32_t, 2>> &edges,
               uint32_t low, uint32_t high, unsigned effort,
               llvm::SmallVectorImpl<uint32_t> &found);

  std::vector<llvm::SmallVector<uint32_t, 2>> before, after;
  std::vector<uint32_t> position, nodeAt, mark;
  uint32_t round = 0;
};

} // namespace hlo::schedule

#endif

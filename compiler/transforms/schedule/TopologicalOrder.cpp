//===- TopologicalOrder.cpp - Topological order with edge insertion -------===//
//
// To add an edge from -> to with `to` before `from` in the order: every node that is reachable from
// `to` and before `from` must move behind every node that reaches `from` and is after `to`. The
// positions of both sets are reassigned, first to the nodes that reach `from`.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/TopologicalOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace hlo::schedule;

TopologicalOrder::TopologicalOrder(uint32_t nodes)
    : before(nodes), after(nodes), position(nodes), nodeAt(nodes), mark(nodes, 0) {
  for (uint32_t node : llvm::seq(nodes)) {
    position[node] = nodeAt[node] = node;
  }
}

void TopologicalOrder::addKnownEdge(uint32_t from, uint32_t to) {
  if (after[from].empty() || after[from].back() != to) {
    after[from].push_back(to);
    before[to].push_back(from);
  }
}

bool TopologicalOrder::collect(uint32_t start,
                               const std::vector<llvm::SmallVector<uint32_t, 2>> &edges,
                               uint32_t low, uint32_t high, unsigned effort,
                               llvm::SmallVectorImpl<uint32_t> &found) {
  ++round;
  mark[start] = round;
  found.push_back(start);
  size_t looked = 0;
  for (size_t next = 0; next < found.size(); ++next) {
    looked += edges[found[next]].size();
    if (looked > effort) {
      return false;
    }
    for (uint32_t neighbour : edges[found[next]]) {
      if (mark[neighbour] != round && position[neighbour] >= low && position[neighbour] <= high) {
        mark[neighbour] = round;
        found.push_back(neighbour);
      }
    }
  }
  return true;
}

bool TopologicalOrder::tryAddEdge(uint32_t from, uint32_t to, unsigned effort) {
  if (from == to) {
    return false;
  }
  uint32_t low = position[to], high = position[from];
  if (low < high) {
    llvm::SmallVector<uint32_t> later, earlier;
    if (!collect(to, after, low, high, effort, later) || mark[from] == round ||
        !collect(from, before, low, high, effort, earlier)) {
      return false;
    }
    auto byPosition = [&](uint32_t a, uint32_t b) { return position[a] < position[b]; };
    llvm::sort(later, byPosition);
    llvm::sort(earlier, byPosition);
    llvm::SmallVector<uint32_t> places;
    for (uint32_t node : llvm::concat<uint32_t>(earlier, later)) {
      places.push_back(position[node]);
    }
    llvm::sort(places);
    size_t next = 0;
    for (uint32_t node : llvm::concat<uint32_t>(earlier, later)) {
      position[node] = places[next++];
      nodeAt[position[node]] = node;
    }
  }
  addKnownEdge(from, to);
  return true;
}

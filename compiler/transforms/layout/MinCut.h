//===- MinCut.h - The cheapest division of a graph in two -----------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_MINCUT_H
#define COMPILER_TRANSFORMS_LAYOUT_MINCUT_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace hlo {

/// A choice of yes or no for each node, with the least sum of costs: a minimum cut by Dinic's
/// algorithm. Costs are not negative.
class MinCut {
public:
  using Node = int;
  /// Larger than the sum of all costs: what must not be.
  static constexpr int64_t kNever = int64_t(1) << 60;

  MinCut() : edges(2), depth(), next() {}
  Node addNode() {
    edges.emplace_back();
    return static_cast<Node>(edges.size()) - 1;
  }
  /// What it costs if the node is yes.
  void addYes(Node node, int64_t cost) { addEdge(node, kSink, cost); }
  /// What it costs if the node is no.
  void addNo(Node node, int64_t cost) { addEdge(kSource, node, cost); }
  /// What it costs if `yes` is yes and `no` is no.
  void addPair(Node yes, Node no, int64_t cost) { addEdge(yes, no, cost); }

  /// Finds the cheapest choice, of equal ones that with the fewest nodes that are yes. False if
  /// more than `budget` edges were looked at before it was found.
  bool solve(int64_t budget);
  bool isYes(Node node) const { return depth[node] >= 0; }

  /// Nodes that are yes and hang together, and what their being yes saves. Such regions do not
  /// depend on each other.
  struct Region {
    llvm::SmallVector<Node> nodes;
    int64_t saved = 0;
  };
  std::vector<Region> regions() const;
  /// Makes all nodes of a region no.
  void reject(const Region &region);

private:
  static constexpr Node kSource = 0, kSink = 1;
  struct Edge {
    Node to;
    int64_t capacity; ///< what is left of it
    int64_t cost;     ///< what it was; 0 of an edge that is the reverse of another
    size_t reverse;   ///< its number among the edges of `to`
  };
  void addEdge(Node from, Node to, int64_t capacity);
  void grow(Region &region, std::vector<bool> &seen) const;
  bool findDepths();
  int64_t push();

  std::vector<llvm::SmallVector<Edge, 4>> edges;
  std::vector<int> depth;   ///< edges from the source; -1: not reached
  std::vector<size_t> next; ///< the first edge of a node that may still lead to the sink
  int64_t left = 0;         ///< of the budget
};

} // namespace hlo

#endif

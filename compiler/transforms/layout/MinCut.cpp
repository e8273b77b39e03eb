//===- MinCut.cpp - The cheapest division of a graph in two ---------------===//
//
// E. A. Dinic, Algorithm for solution of a problem of maximum flow in networks with power
// estimation, 1970: flows along shortest paths, a blocking flow for each length.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/layout/MinCut.h"

using namespace hlo;

void MinCut::addEdge(Node from, Node to, int64_t capacity) {
  if (capacity <= 0 || from == to) {
    return;
  }
  edges[from].push_back({to, capacity, capacity, edges[to].size()});
  edges[to].push_back({from, 0, 0, edges[from].size() - 1});
}

/// Finds how far each node is from the source; whether the sink is reached.
bool MinCut::findDepths() {
  depth.assign(edges.size(), -1);
  depth[kSource] = 0;
  std::vector<Node> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Edge &edge : edges[queue[i]]) {
      --left;
      if (edge.capacity > 0 && depth[edge.to] < 0) {
        depth[edge.to] = depth[queue[i]] + 1;
        queue.push_back(edge.to);
      }
    }
  }
  return depth[kSink] >= 0;
}

/// Pushes flow along one shortest path; 0 if there is none. Without recursion: paths are as long as
/// the program.
int64_t MinCut::push() {
  std::vector<Edge *> path;
  Node node = kSource;
  while (node != kSink) {
    size_t &i = next[node];
    while (i < edges[node].size() &&
           (edges[node][i].capacity == 0 || depth[edges[node][i].to] != depth[node] + 1)) {
      ++i;
      --left;
    }
    if (left < 0) {
      return 0;
    }
    if (i < edges[node].size()) {
      path.push_back(&edges[node][i]);
      node = edges[node][i].to;
      continue;
    }
    if (path.empty()) {
      return 0;
    }
    // A dead end: the edge to it is done with.
    const Edge &back = *path.back();
    node = edges[back.to][back.reverse].to;
    path.pop_back();
    ++next[node];
  }
  int64_t flow = kNever;
  for (Edge *edge : path) {
    flow = std::min(flow, edge->capacity);
  }
  for (Edge *edge : path) {
    edge->capacity -= flow;
    edges[edge->to][edge->reverse].capacity += flow;
  }
  left -= static_cast<int64_t>(path.size());
  return flow;
}

bool MinCut::solve(int64_t budget) {
  left = budget;
  while (findDepths()) {
    next.assign(edges.size(), 0);
    while (push() > 0) {
    }
    if (left < 0) {
      return false;
    }
  }
  return true;
}

/// Adds the nodes that hang together with the first one.
void MinCut::grow(Region &region, std::vector<bool> &seen) const {
  for (size_t i = 0; i < region.nodes.size(); ++i) {
    for (const Edge &edge : edges[region.nodes[i]]) {
      if (edge.to == kSource) {
        region.saved += edges[kSource][edge.reverse].cost;
      } else if (edge.to == kSink || !isYes(edge.to)) {
        region.saved -= edge.cost;
      } else if (!seen[edge.to]) {
        seen[edge.to] = true;
        region.nodes.push_back(edge.to);
      }
    }
  }
}

std::vector<MinCut::Region> MinCut::regions() const {
  std::vector<Region> found;
  std::vector<bool> seen(edges.size());
  for (Node node = kSink + 1; node < static_cast<Node>(edges.size()); ++node) {
    if (isYes(node) && !seen[node]) {
      seen[node] = true;
      found.push_back({{node}});
      grow(found.back(), seen);
    }
  }
  return found;
}

void MinCut::reject(const Region &region) {
  for (Node node : region.nodes) {
    depth[node] = -1;
  }
}

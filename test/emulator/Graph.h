//===- Graph.h - work with an order ---------------------------------------===//
#ifndef MP_EMULATOR_GRAPH_H
#define MP_EMULATOR_GRAPH_H

#include "Grid.h"
#include "Stream.h"

#include <map>
#include <memory>

namespace mp::emulator {

struct GraphNode {
  Operation work; // empty for an empty node
  std::vector<GraphNode *> after;
  std::shared_ptr<Launch> launch; // of a kernel's node
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode *add(Operation work, const std::vector<GraphNode *> &after);
  bool contains(const GraphNode *node) const;
};

/// A graph as it was when it was instantiated.
struct GraphExec {
  explicit GraphExec(const Graph &graph);

  /// Runs every node after those it depends on; beyond that, with
  /// MP_EMULATOR_SEED, in any order.
  CUresult run() const;

  struct Node {
    Operation work;
    std::vector<size_t> after;
  };
  int id;
  std::vector<Node> nodes;
  std::map<const GraphNode *, size_t> places;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_GRAPH_H

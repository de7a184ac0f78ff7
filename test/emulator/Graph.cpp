//===- Graph.cpp - work with an order -------------------------------------===//

#include "Graph.h"

#include "Call.h"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace mp::emulator {

GraphNode *Graph::add(Operation work, const std::vector<GraphNode *> &after) {
  nodes.push_back(std::make_unique<GraphNode>());
  nodes.back()->work = std::move(work);
  nodes.back()->after = after;
  return nodes.back().get();
}

bool Graph::contains(const GraphNode *node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto &own) { return own.get() == node; });
}

GraphExec::GraphExec(const Graph &graph) {
  static int last = 0;
  id = ++last;
  for (const auto &node : graph.nodes)
    places.emplace(node.get(), places.size());
  for (const auto &node : graph.nodes) {
    nodes.push_back({node->work, {}});
    for (const GraphNode *before : node->after)
      nodes.back().after.push_back(places.at(before));
  }
}

CUresult GraphExec::run() const {
  static unsigned launches = 0;
  unsigned seed = static_cast<unsigned>(setting(getenv("MP_EMULATOR_SEED"), 0));
  std::minstd_rand random(seed + ++launches);
  std::vector<size_t> missing(nodes.size()), ready;
  std::vector<std::vector<size_t>> followers(nodes.size());
  for (size_t at = nodes.size(); at-- > 0;) {
    missing[at] = nodes[at].after.size();
    for (size_t before : nodes[at].after)
      followers[before].push_back(at);
    if (!missing[at])
      ready.push_back(at);
  }
  while (!ready.empty()) {
    if (seed)
      std::swap(ready.back(), ready[random() % ready.size()]);
    size_t at = ready.back();
    ready.pop_back();
    CUresult error = nodes[at].work ? nodes[at].work() : CUDA_SUCCESS;
    if (error != CUDA_SUCCESS)
      return error;
    for (size_t next : followers[at])
      if (--missing[next] == 0)
        ready.push_back(next);
  }
  return CUDA_SUCCESS;
}

} // namespace mp::emulator

//===- ViewCompare.cpp - what differs between two pictures ----------------===//
#include "passes/inspect/view/View.h"
#include "llvm/ADT/BitVector.h"
#include <map>

using namespace mp::view;

/// A read and a write of one variable are two nodes.
static std::string identityOf(const Node &node) {
  return std::to_string(static_cast<int>(node.kind)) + node.key;
}

using Index = llvm::StringMap<const Node *>;

static Index indexOf(const Picture &picture) {
  Index index;
  for (const Node &node : picture.nodes)
    index.try_emplace(identityOf(node), &node);
  return index;
}

/// The cluster of a function, or of its phase, that a cluster is part of.
static unsigned phaseOf(const Picture &picture, unsigned cluster) {
  while (picture.clusters[cluster].kind == ClusterKind::Kernel ||
         picture.clusters[cluster].kind == ClusterKind::Region)
    cluster = picture.clusters[cluster].parent;
  return cluster;
}

/// Marks phases and functions in which all is new, instead of their nodes.
static void summarize(Picture &picture) {
  llvm::BitVector hasNew(picture.clusters.size()), hasOld = hasNew;
  for (const Node &node : picture.nodes)
    (node.change == Change::New ? hasNew : hasOld).set(node.cluster);
  // A cluster comes after its parent.
  for (unsigned i = picture.clusters.size(); i-- > 1;)
    for (llvm::BitVector *has : {&hasNew, &hasOld})
      if (has->test(i))
        has->set(picture.clusters[i].parent);
  for (auto [number, cluster] : llvm::enumerate(picture.clusters))
    cluster.isNew = hasNew.test(number) && !hasOld.test(number);
  for (Node &node : picture.nodes)
    if (picture.clusters[phaseOf(picture, node.cluster)].isNew)
      node.change = Change::None;
  for (Cluster &cluster : picture.clusters)
    if (cluster.kind != ClusterKind::Phase &&
        cluster.kind != ClusterKind::Function)
      cluster.isNew = false;
}

void mp::view::compare(Picture &before, Picture &after) {
  Index old = indexOf(before), now = indexOf(after);
  for (Node &node : before.nodes)
    if (!now.contains(identityOf(node)))
      node.change = Change::Gone;
  for (Node &node : after.nodes) {
    const Node *same = old.lookup(identityOf(node));
    if (!same) {
      node.change = Change::New;
    } else if (same->elements != node.elements) {
      node.change = Change::Changed;
      node.before = same->elements;
    }
  }
  summarize(after);
}

Picture mp::view::withReferences(const Picture &picture) {
  constexpr unsigned manyUses = 4;
  Picture result = picture;
  std::map<std::pair<unsigned, unsigned>, unsigned> uses; // of results
  for (const Edge &edge : picture.edges)
    ++uses[{edge.from, edge.result}];
  std::map<std::pair<unsigned, unsigned>, unsigned> references;
  for (Edge &edge : result.edges) {
    const Node &origin = picture.nodes[edge.from];
    unsigned there = phaseOf(picture, origin.cluster);
    unsigned user = picture.nodes[edge.to].cluster;
    unsigned here = phaseOf(picture, user);
    bool isNear = there == here && uses[{edge.from, edge.result}] <= manyUses;
    if (isNear || (origin.cluster == user && user != here))
      continue;
    // All ops of a kernel share a reference outside of it.
    while (user != here && picture.clusters[user].parent != here)
      user = picture.clusters[user].parent;
    unsigned clusters = picture.clusters.size();
    unsigned member = user == here ? clusters + edge.to : user;
    auto [known, isNew] =
        references.try_emplace({edge.from, member}, result.nodes.size());
    edge.from = known->second;
    if (isNew) {
      result.nodes.push_back(origin);
      Node &node = result.nodes.back();
      node.kind = NodeKind::Reference;
      node.change = Change::None;
      node.cluster = here;
      node.types.clear();
      node.precision = edge.precision;
    }
    auto &types = result.nodes[edge.from].types;
    if (!llvm::is_contained(types, edge.type))
      types.push_back(edge.type);
  }
  return result;
}

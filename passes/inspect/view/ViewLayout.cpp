//===- ViewLayout.cpp - where a picture's nodes are drawn -----------------===//
#include "passes/inspect/view/ViewLayout.h"
#include <algorithm>

using namespace mp::view;

namespace {
constexpr double kPhaseGap = 18;

class Placer {
public:
  Placer(const Picture &picture, llvm::ArrayRef<Size> sizes)
      : picture(picture), members(picture.clusters.size()) {
    for (Size size : sizes)
      layout.nodes.push_back({size});
    layout.clusters.resize(picture.clusters.size());
    layout.edges.resize(picture.edges.size());
  }

  Layout run();

private:
  /// A node or a cluster in an enclosing cluster.
  struct Member {
    bool isCluster;
    unsigned number;
  };

  Box &boxOf(Member member) {
    return (member.isCluster ? layout.clusters : layout.nodes)[member.number];
  }
  unsigned depthOf(unsigned cluster) const;
  void findMembers();
  void assignEdges();
  void placeCluster(unsigned cluster);
  Size placeMembers(unsigned cluster);
  Size stackPhases(unsigned cluster);
  void moveToFunctions();
  void drawEdges();

  const Picture &picture;
  Layout layout;
  std::vector<std::vector<Member>> members; ///< of each cluster
  /// For each node and cluster its number in its cluster.
  std::vector<unsigned> nodeSlots, clusterSlots;
  struct InnerEdge {
    unsigned edge;
    Link link;
  };
  std::vector<std::vector<InnerEdge>> inner; ///< of each cluster
};
} // namespace

void Placer::findMembers() {
  nodeSlots.resize(picture.nodes.size());
  clusterSlots.resize(picture.clusters.size());
  for (auto [number, cluster] : llvm::enumerate(picture.clusters))
    if (number > 0) {
      auto &siblings = members[cluster.parent];
      clusterSlots[number] = siblings.size();
      siblings.push_back({true, unsigned(number)});
    }
  for (auto [number, node] : llvm::enumerate(picture.nodes)) {
    auto &siblings = members[node.cluster];
    nodeSlots[number] = siblings.size();
    siblings.push_back({false, unsigned(number)});
  }
}

unsigned Placer::depthOf(unsigned cluster) const {
  unsigned depth = 0;
  for (; cluster != 0; cluster = picture.clusters[cluster].parent)
    ++depth;
  return depth;
}

/// Gives each edge to the innermost cluster that has both of its ends, as an
/// edge between the members that they are in.
void Placer::assignEdges() {
  inner.resize(picture.clusters.size());
  for (auto [number, edge] : llvm::enumerate(picture.edges)) {
    unsigned clusters[2] = {picture.nodes[edge.from].cluster,
                            picture.nodes[edge.to].cluster};
    unsigned slots[2] = {nodeSlots[edge.from], nodeSlots[edge.to]};
    while (clusters[0] != clusters[1]) {
      bool deeper = depthOf(clusters[0]) < depthOf(clusters[1]);
      slots[deeper] = clusterSlots[clusters[deeper]];
      clusters[deeper] = picture.clusters[clusters[deeper]].parent;
    }
    inner[clusters[0]].push_back({unsigned(number), {slots[0], slots[1]}});
  }
}

Size Placer::placeMembers(unsigned cluster) {
  std::vector<Box> boxes;
  for (Member member : members[cluster])
    boxes.push_back(boxOf(member));
  std::vector<Link> links;
  for (const InnerEdge &edge : inner[cluster])
    links.push_back(edge.link);
  Size size = layOutParts(boxes, links);
  for (auto [member, box] : llvm::zip_equal(members[cluster], boxes))
    boxOf(member) = box;
  for (auto [edge, link] : llvm::zip_equal(inner[cluster], links))
    layout.edges[edge.edge] = std::move(link.bends);
  return size;
}

Size Placer::stackPhases(unsigned cluster) {
  Size size;
  for (Member member : members[cluster]) {
    Box &box = boxOf(member);
    double top = size.height == 0 ? 0 : size.height + kPhaseGap;
    box.corner = {0, top};
    size = {std::max(size.width, box.size.width), top + box.size.height};
  }
  for (Member member : members[cluster])
    boxOf(member).size.width = size.width;
  return size;
}

void Placer::placeCluster(unsigned cluster) {
  bool hasPhases = false;
  for (Member member : members[cluster])
    hasPhases |= member.isCluster &&
                 picture.clusters[member.number].kind == ClusterKind::Phase;
  Size size = hasPhases ? stackPhases(cluster) : placeMembers(cluster);
  // A narrow cluster is widened for its title.
  size_t letters = picture.clusters[cluster].title.size();
  double title = double(std::min<size_t>(letters, 18)) * kHeadLetter;
  if (double missing = title - size.width; missing > 0 && !hasPhases) {
    size.width = title;
    for (Member member : members[cluster])
      boxOf(member).corner.x += missing / 2;
    for (const InnerEdge &edge : inner[cluster])
      for (Point &bend : layout.edges[edge.edge])
        bend.x += missing / 2;
  }
  layout.clusters[cluster].size = {size.width + 2 * kPadding,
                                   size.height + kHead + kPadding};
}

/// Makes places relative to the function instead of the cluster around them.
void Placer::moveToFunctions() {
  auto contentOf = [&](unsigned cluster) -> Point {
    Point corner = layout.clusters[cluster].corner;
    return {corner.x + kPadding, corner.y + kHead};
  };
  auto move = [](Point &point, Point by) {
    point = {point.x + by.x, point.y + by.y};
  };
  for (auto [number, cluster] : llvm::enumerate(picture.clusters)) {
    Box &box = layout.clusters[number];
    if (cluster.kind == ClusterKind::Function ||
        cluster.kind == ClusterKind::Picture)
      box.corner = {0, 0};
    else
      move(box.corner, contentOf(cluster.parent));
    for (const InnerEdge &edge : inner[number])
      for (Point &bend : layout.edges[edge.edge])
        move(bend, contentOf(number));
  }
  for (auto [box, node] : llvm::zip_equal(layout.nodes, picture.nodes))
    move(box.corner, contentOf(node.cluster));
}

/// Adds the ends of edges. Those that come to one node are spread over its
/// width, in an order in which they do not cross.
void Placer::drawEdges() {
  std::vector<std::vector<unsigned>> incoming(picture.nodes.size());
  for (auto [number, edge] : llvm::enumerate(picture.edges)) {
    const Box &from = layout.nodes[edge.from];
    auto &points = layout.edges[number];
    points.insert(points.begin(), {from.corner.x + from.size.width / 2,
                                   from.corner.y + from.size.height});
    incoming[edge.to].push_back(number);
  }
  for (auto [number, edges] : llvm::enumerate(incoming)) {
    llvm::stable_sort(edges, [&](unsigned a, unsigned b) {
      return layout.edges[a].back().x < layout.edges[b].back().x;
    });
    const Box &to = layout.nodes[number];
    for (auto [place, edge] : llvm::enumerate(edges))
      layout.edges[edge].push_back(
          {to.corner.x +
               to.size.width * double(place + 1) / double(edges.size() + 1),
           to.corner.y});
  }
}

Layout Placer::run() {
  findMembers();
  assignEdges();
  // An inner cluster comes after the one around it, and has to be placed first.
  for (unsigned number = picture.clusters.size(); number-- > 1;)
    placeCluster(number);
  moveToFunctions();
  drawEdges();
  return std::move(layout);
}

Layout mp::view::layOut(const Picture &picture, llvm::ArrayRef<Size> nodes) {
  return Placer(picture, nodes).run();
}

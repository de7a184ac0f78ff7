//===- LayeredLayout.cpp - boxes in layers, with edges downwards ----------===//
//
// The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual
// Understanding of Hierarchical System Structures" (IEEE SMC, 1981): layers by
// longest paths, an order in each layer by barycentres, and then coordinates
// that keep this order.
//
//===----------------------------------------------------------------------===//
#include "passes/inspect/view/LayeredLayout.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <numeric>

using namespace mp::view;

namespace {
constexpr double kGapAcross = 16; ///< between boxes of a layer
constexpr double kGapDown = 34;   ///< between layers
constexpr double kBendWidth = 2;  ///< space for an edge that crosses a layer
constexpr unsigned kOrderSweeps = 12;
constexpr unsigned kPlaceSweeps = 12;
/// How much more an edge through several layers wants to be straight.
constexpr double kBendWeight = 6;

/// A box, or the place where an edge crosses a layer.
struct Item {
  double width;
  unsigned layer = 0;
  bool isBend = false;
  double place = 0;  ///< in the order of its layer
  double x = 0;      ///< of its centre
  double weight = 1; ///< how much its neighbours follow it
  llvm::SmallVector<unsigned, 4> above = {}, below = {};
};

class Layers {
public:
  Layers(llvm::MutableArrayRef<Box> boxes, llvm::MutableArrayRef<Link> links)
      : boxes(boxes), links(links) {}
  Size run();

private:
  void findLayers();
  void sink(llvm::ArrayRef<unsigned> sorted);
  void addBends();
  void order();
  void place();
  void settle(llvm::ArrayRef<unsigned> layer);
  Size write();

  double neighbours(const Item &item, bool above, bool below,
                    double Item::*field) const;

  llvm::MutableArrayRef<Box> boxes;
  llvm::MutableArrayRef<Link> links;
  std::vector<Item> items; ///< the boxes, then the bends
  std::vector<std::vector<unsigned>> layers;
  /// The bends of all edges between two boxes.
  llvm::DenseMap<std::pair<unsigned, unsigned>, std::vector<unsigned>> bends;
};
} // namespace

/// Puts each box below all boxes that have edges to it.
void Layers::findLayers() {
  for (const Box &box : boxes)
    items.push_back({box.size.width});
  for (const Link &link : links)
    if (link.from != link.to &&
        bends.try_emplace({link.from, link.to}).second) {
      items[link.from].below.push_back(link.to);
      items[link.to].above.push_back(link.from);
    }
  std::vector<unsigned> missing, sorted;
  for (auto [number, item] : llvm::enumerate(items)) {
    missing.push_back(item.above.size());
    if (item.above.empty())
      sorted.push_back(number);
  }
  for (unsigned next = 0; next < sorted.size(); ++next)
    for (unsigned below : items[sorted[next]].below) {
      items[below].layer =
          std::max(items[below].layer, items[sorted[next]].layer + 1);
      if (--missing[below] == 0)
        sorted.push_back(below);
    }
  // What comes from afar keeps its course, and what feeds it goes aside.
  for (Item &item : items)
    item.weight = 0.3 + std::min(item.layer, 5u);
  sink(sorted);
}

/// Moves a box down to its users, unless more edges come to it than leave it:
/// a constant is drawn where it is used.
void Layers::sink(llvm::ArrayRef<unsigned> sorted) {
  for (unsigned number : llvm::reverse(sorted)) {
    Item &item = items[number];
    if (item.below.empty() || item.above.size() > item.below.size())
      continue;
    unsigned nearest = ~0u;
    for (unsigned below : item.below)
      nearest = std::min(nearest, items[below].layer);
    item.layer = std::max(item.layer, nearest - 1);
  }
}

/// Adds a bend for each layer that an edge crosses, so that every edge joins
/// neighbouring layers.
void Layers::addBends() {
  for (Item &item : items) {
    item.above.clear();
    item.below.clear();
  }
  for (const Link &link : links) {
    auto found = bends.find({link.from, link.to});
    if (found == bends.end() || !found->second.empty())
      continue;
    // Only a cycle has edges that do not point downwards.
    if (items[link.from].layer >= items[link.to].layer)
      continue;
    unsigned last = link.from;
    auto join = [&](unsigned next) {
      items[last].below.push_back(next);
      items[next].above.push_back(last);
      last = next;
    };
    for (unsigned layer = items[link.from].layer + 1,
                  end = items[link.to].layer;
         layer < end; ++layer) {
      found->second.push_back(items.size());
      items.push_back({kBendWidth, layer, /*isBend=*/true});
      items.back().weight = kBendWeight;
      join(items.size() - 1);
    }
    if (last != link.from || !llvm::is_contained(items[last].below, link.to))
      join(link.to);
  }
}

/// The mean of a field of the items that edges join to this one; its own if
/// there are none.
double Layers::neighbours(const Item &item, bool above, bool below,
                          double Item::*field) const {
  double sum = 0, count = 0;
  for (const auto *side :
       {above ? &item.above : nullptr, below ? &item.below : nullptr})
    for (unsigned other :
         side ? llvm::ArrayRef(*side) : llvm::ArrayRef<unsigned>()) {
      double weight = items[other].weight;
      sum += weight * (items[other].*field);
      count += weight;
    }
  return count == 0 ? item.*field : sum / count;
}

/// Orders each layer by the places of the neighbours above, then below, and so
/// on.
void Layers::order() {
  for (auto [number, item] : llvm::enumerate(items)) {
    if (layers.size() <= item.layer)
      layers.resize(item.layer + 1);
    layers[item.layer].push_back(number);
  }
  auto number = [&](llvm::ArrayRef<unsigned> layer) {
    for (auto [place, item] : llvm::enumerate(layer))
      items[item].place = place;
  };
  for (auto &layer : layers)
    number(layer);
  std::vector<double> wanted(items.size());
  auto sort = [&](std::vector<unsigned> &layer, bool isDown) {
    for (unsigned item : layer)
      wanted[item] = neighbours(items[item], isDown, !isDown, &Item::place);
    llvm::stable_sort(
        layer, [&](unsigned a, unsigned b) { return wanted[a] < wanted[b]; });
    number(layer);
  };
  for (unsigned sweep = 0; sweep < kOrderSweeps; ++sweep) {
    if (sweep % 2 == 0)
      for (auto &layer : layers)
        sort(layer, /*isDown=*/true);
    else
      for (auto &layer : llvm::reverse(layers))
        sort(layer, /*isDown=*/false);
  }
}

/// Brings the items of a layer as near to the places that they want as their
/// order and their widths allow, by least squares: those that would overlap
/// form a block ("pool adjacent violators").
void Layers::settle(llvm::ArrayRef<unsigned> layer) {
  struct Block {
    double weighted, weight; ///< of wanted places, less the offsets below
    unsigned end;
  };
  std::vector<double> offsets;
  std::vector<Block> blocks;
  for (auto [place, number] : llvm::enumerate(layer)) {
    const Item &item = items[number];
    double offset = 0;
    if (place > 0)
      offset = offsets.back() + kGapAcross +
               (items[layer[place - 1]].width + item.width) / 2;
    offsets.push_back(offset);
    blocks.push_back(
        {item.weight * (item.x - offset), item.weight, unsigned(place) + 1});
    while (blocks.size() > 1) {
      Block last = blocks.back(), &before = blocks[blocks.size() - 2];
      if (before.weighted / before.weight <= last.weighted / last.weight)
        break;
      before = {before.weighted + last.weighted, before.weight + last.weight,
                last.end};
      blocks.pop_back();
    }
  }
  unsigned place = 0;
  for (const Block &block : blocks)
    for (; place < block.end; ++place)
      items[layer[place]].x = block.weighted / block.weight + offsets[place];
}

/// Finds the x of each item.
void Layers::place() {
  for (auto &layer : layers)
    settle(layer);
  auto pull = [&](llvm::ArrayRef<unsigned> layer, bool above, bool below) {
    for (unsigned item : layer)
      items[item].x = neighbours(items[item], above, below, &Item::x);
    settle(layer);
  };
  for (unsigned sweep = 0; sweep < kPlaceSweeps; ++sweep) {
    bool isLast = sweep + 2 >= kPlaceSweeps; // balances both sides
    if (sweep % 2 == 0)
      for (auto &layer : layers)
        pull(layer, /*above=*/true, isLast);
    else
      for (auto &layer : llvm::reverse(layers))
        pull(layer, isLast, /*below=*/true);
  }
}

/// Finds the y of each layer, and writes the places of boxes and bends.
Size Layers::write() {
  double left = 0, right = 0;
  bool isFirst = true;
  for (const Item &item : items) {
    double begin = item.x - item.width / 2, end = item.x + item.width / 2;
    left = isFirst ? begin : std::min(left, begin);
    right = isFirst ? end : std::max(right, end);
    isFirst = false;
  }
  std::vector<Point> spans; // of layers: top and bottom
  double bottom = 0;
  for (const auto &layer : layers) {
    double top = spans.empty() ? 0 : bottom + kGapDown;
    double height = 0;
    for (unsigned item : layer)
      if (!items[item].isBend)
        height = std::max(height, boxes[item].size.height);
    bottom = top + height;
    spans.push_back({top, bottom});
  }
  for (auto [box, item] : llvm::zip(boxes, items)) {
    auto [top, end] = spans[item.layer];
    box.corner = {item.x - item.width / 2 - left,
                  (top + end - box.size.height) / 2};
  }
  for (Link &link : links)
    for (unsigned bend : bends.lookup({link.from, link.to})) {
      auto [top, end] = spans[items[bend].layer];
      link.bends.push_back({items[bend].x - left, top});
      link.bends.push_back({items[bend].x - left, end});
    }
  return {right - left, bottom};
}

Size Layers::run() {
  findLayers();
  addBends();
  order();
  place();
  return write();
}

Size mp::view::layOutLayers(llvm::MutableArrayRef<Box> boxes,
                            llvm::MutableArrayRef<Link> links) {
  return Layers(boxes, links).run();
}

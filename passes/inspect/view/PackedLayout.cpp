//===- PackedLayout.cpp - separate graphs in rows -------------------------===//
#include "passes/inspect/view/LayeredLayout.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mp::view;

namespace {
constexpr double kGapBetween = 30; ///< between two parts
constexpr double kRowWidth = 1600;

/// Boxes that edges connect.
struct Part {
  std::vector<unsigned> boxes, links; ///< their numbers in the whole
  Size size = {};
  Point corner = {0, 0};
};
} // namespace

/// Splits a graph into its connected parts, in the order of their first boxes.
static std::vector<Part> split(size_t boxes, llvm::ArrayRef<Link> links) {
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned box = 0; box < boxes; ++box)
    classes.insert(box);
  for (const Link &link : links)
    classes.unionSets(link.from, link.to);
  std::vector<Part> parts;
  std::vector<unsigned> partOfLeader(boxes, ~0u);
  auto partOf = [&](unsigned box) -> Part & {
    unsigned &part = partOfLeader[classes.getLeaderValue(box)];
    if (part == ~0u) {
      part = parts.size();
      parts.emplace_back();
    }
    return parts[part];
  };
  for (unsigned box = 0; box < boxes; ++box)
    partOf(box).boxes.push_back(box);
  for (auto [number, link] : llvm::enumerate(links))
    partOf(link.from).links.push_back(number);
  return parts;
}

static void layOutPart(Part &part, llvm::MutableArrayRef<Box> boxes,
                       llvm::MutableArrayRef<Link> links) {
  std::vector<unsigned> places(boxes.size());
  std::vector<Box> ownBoxes;
  for (auto [place, box] : llvm::enumerate(part.boxes)) {
    places[box] = place;
    ownBoxes.push_back(boxes[box]);
  }
  std::vector<Link> ownLinks;
  for (unsigned link : part.links)
    ownLinks.push_back({places[links[link].from], places[links[link].to]});
  part.size = layOutLayers(ownBoxes, ownLinks);
  for (auto [box, own] : llvm::zip_equal(part.boxes, ownBoxes))
    boxes[box] = own;
  for (auto [link, own] : llvm::zip_equal(part.links, ownLinks))
    links[link].bends = std::move(own.bends);
}

/// Puts the parts into rows; returns the size of all.
static Size pack(std::vector<Part> &parts) {
  double limit = kRowWidth;
  for (const Part &part : parts)
    limit = std::max(limit, part.size.width);
  Size all;
  Point next = {0, 0};
  for (Part &part : parts) {
    if (next.x > 0 && next.x + part.size.width > limit)
      next = {0, all.height + kGapBetween};
    part.corner = next;
    next.x += part.size.width + kGapBetween;
    all = {std::max(all.width, part.corner.x + part.size.width),
           std::max(all.height, part.corner.y + part.size.height)};
  }
  return all;
}

Size mp::view::layOutParts(llvm::MutableArrayRef<Box> boxes,
                           llvm::MutableArrayRef<Link> links) {
  std::vector<Part> parts = split(boxes.size(), links);
  for (Part &part : parts)
    layOutPart(part, boxes, links);
  Size size = pack(parts);
  auto move = [](Point &point, Point by) {
    point = {point.x + by.x, point.y + by.y};
  };
  for (const Part &part : parts) {
    for (unsigned box : part.boxes)
      move(boxes[box].corner, part.corner);
    for (unsigned link : part.links)
      for (Point &bend : links[link].bends)
        move(bend, part.corner);
  }
  return size;
}

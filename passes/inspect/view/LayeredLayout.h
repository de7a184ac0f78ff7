//===- LayeredLayout.h - boxes in layers, with edges downwards ------------===//
#ifndef MP_PASSES_INSPECT_VIEW_LAYEREDLAYOUT_H
#define MP_PASSES_INSPECT_VIEW_LAYEREDLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mp::view {

struct Point {
  double x, y;
};
struct Size {
  double width = 0, height = 0;
};
struct Box {
  Size size;
  Point corner = {0, 0}; ///< the upper left one
};
/// An edge between two boxes, by their numbers.
struct Link {
  unsigned from, to;
  /// The points that the edge passes between its boxes, where it crosses
  /// layers.
  std::vector<Point> bends = {};
};

/// Places boxes in horizontal layers, so that edges point downwards, are short
/// and cross each other little. Returns the size of the whole. Equal input
/// gives equal output.
Size layOutLayers(llvm::MutableArrayRef<Box> boxes,
                  llvm::MutableArrayRef<Link> links);

/// The same for a graph of several parts that no edge connects: each is placed
/// alone, and the parts in rows.
Size layOutParts(llvm::MutableArrayRef<Box> boxes,
                 llvm::MutableArrayRef<Link> links);

} // namespace mp::view

#endif // MP_PASSES_INSPECT_VIEW_LAYEREDLAYOUT_H

//===- ViewLayout.h - where a picture's nodes are drawn -------------------===//
#ifndef MP_PASSES_INSPECT_VIEW_VIEWLAYOUT_H
#define MP_PASSES_INSPECT_VIEW_VIEWLAYOUT_H

#include "passes/inspect/view/LayeredLayout.h"
#include "passes/inspect/view/View.h"

namespace mp::view {

/// Space between the frame of a cluster and its content; `kHead` is for the
/// title.
constexpr double kPadding = 14, kHead = 24;
/// The width of a letter of a title.
constexpr double kHeadLetter = 6.95;

/// Places in units of a pixel, from the upper left corner of the function.
struct Layout {
  std::vector<Box> nodes, clusters;
  std::vector<std::vector<Point>> edges;
};

/// Places the nodes of every function. A cluster is placed like a node that has
/// the size of its content; the phases of a step lie one below the other.
Layout layOut(const Picture &picture, llvm::ArrayRef<Size> nodes);

} // namespace mp::view

#endif // MP_PASSES_INSPECT_VIEW_VIEWLAYOUT_H

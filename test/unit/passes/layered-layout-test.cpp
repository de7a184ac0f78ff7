//===- layered-layout-test.cpp - places of boxes and edges ----------------===//
#include "passes/inspect/view/LayeredLayout.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <random>

using namespace mp::view;

namespace {
bool overlap(const Box &a, const Box &b) {
  auto meet = [](double begin, double length, double other,
                 double otherLength) {
    return begin < other + otherLength && other < begin + length;
  };
  return meet(a.corner.x, a.size.width, b.corner.x, b.size.width) &&
         meet(a.corner.y, a.size.height, b.corner.y, b.size.height);
}

double bottom(const Box &box) { return box.corner.y + box.size.height; }

/// A random graph without cycles, of boxes of several sizes.
struct RandomGraph {
  explicit RandomGraph(unsigned count, unsigned seed) {
    std::minstd_rand random(seed);
    for (unsigned i = 0; i < count; ++i) {
      boxes.push_back({{20.0 + random() % 100, 10.0 + random() % 80}});
      for (unsigned edge = 0; i > 0 && edge < random() % 4; ++edge)
        links.push_back({unsigned(random() % i), i});
    }
  }
  std::vector<Box> boxes;
  std::vector<Link> links;
};

void expectSeparate(llvm::ArrayRef<Box> boxes, Size size) {
  for (unsigned i = 0; i < boxes.size(); ++i) {
    EXPECT_GE(boxes[i].corner.x, -1e-6);
    EXPECT_GE(boxes[i].corner.y, -1e-6);
    EXPECT_LE(boxes[i].corner.x + boxes[i].size.width, size.width + 1e-6);
    EXPECT_LE(bottom(boxes[i]), size.height + 1e-6);
    for (unsigned j = 0; j < i; ++j)
      EXPECT_FALSE(overlap(boxes[i], boxes[j])) << i << " and " << j;
  }
}

TEST(LayeredLayout, SeparatesBoxesAndPointsDownwards) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomGraph graph(60, seed);
    Size size = layOutLayers(graph.boxes, graph.links);
    expectSeparate(graph.boxes, size);
    for (const Link &link : graph.links) {
      double y = bottom(graph.boxes[link.from]);
      for (Point bend : link.bends) {
        EXPECT_GE(bend.y, y - 1e-6);
        y = bend.y;
      }
      EXPECT_LT(y, graph.boxes[link.to].corner.y);
    }
  }
}

TEST(LayeredLayout, LongEdgesPassBesideBoxes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomGraph graph(60, seed);
    layOutLayers(graph.boxes, graph.links);
    for (const Link &link : graph.links)
      for (Point bend : link.bends)
        for (const Box &box : graph.boxes)
          EXPECT_FALSE(overlap({{0, 0}, bend}, box));
  }
}

TEST(LayeredLayout, EqualInputGivesEqualOutput) {
  RandomGraph a(80, 3), b(80, 3);
  layOutLayers(a.boxes, a.links);
  layOutLayers(b.boxes, b.links);
  for (auto [one, other] : llvm::zip_equal(a.boxes, b.boxes)) {
    EXPECT_EQ(one.corner.x, other.corner.x);
    EXPECT_EQ(one.corner.y, other.corner.y);
  }
}

TEST(LayeredLayout, DrawsAConstantBesideItsUser) {
  // A chain of four, and a box that only the last of them uses.
  std::vector<Box> boxes(5, Box{{40, 20}});
  std::vector<Link> links = {{0, 1}, {1, 2}, {2, 3}, {4, 3}};
  layOutLayers(boxes, links);
  EXPECT_EQ(boxes[4].corner.y, boxes[2].corner.y);
  // What is used from afar stays on one line.
  EXPECT_NEAR(boxes[0].corner.x, boxes[3].corner.x, 30);
}

TEST(LayeredLayout, ACycleEnds) {
  std::vector<Box> boxes(4, Box{{40, 20}});
  std::vector<Link> links = {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 3}};
  expectSeparate(boxes, layOutLayers(boxes, links));
}

TEST(LayeredLayout, NothingHasNoSize) {
  Size size = layOutParts({}, {});
  EXPECT_EQ(size.width, 0);
  EXPECT_EQ(size.height, 0);
}

TEST(LayeredLayout, PartsLieInRows) {
  // Sixty pairs; each needs 40 pixels, and a row has some 1,600.
  std::vector<Box> boxes(120, Box{{40, 20}});
  std::vector<Link> links;
  for (unsigned i = 0; i < 120; i += 2)
    links.push_back({i, i + 1});
  Size size = layOutParts(boxes, links);
  expectSeparate(boxes, size);
  EXPECT_LE(size.width, 1600);
  EXPECT_EQ(boxes[0].corner.y, boxes[2].corner.y);
  EXPECT_GT(boxes[118].corner.y, boxes[0].corner.y);
}
} // namespace

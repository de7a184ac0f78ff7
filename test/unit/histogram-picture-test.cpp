//===- histogram-picture-test.cpp - a histogram as SVG --------------------===//
#include "TestFiles.h"
#include "runtime/HistogramPicture.h"

using namespace mp;

namespace {
using Counts = std::vector<std::pair<int, uint64_t>>;

size_t occurrences(llvm::StringRef text, llvm::StringRef part) {
  return text.count(part);
}

TEST(HistogramPicture, HasABarForEachExponentInEachPanel) {
  Counts counts{{-40, 10}, {-30, 30}, {-2, 20}};
  std::string svg = histogramSvg({"gradients", counts, 40},
                                 {{"loss scale 1", 1}, {"loss scale 8", 8}});
  EXPECT_EQ(occurrences(svg, "2^-40 unscaled: 10 (10%)"), 2u);
  EXPECT_EQ(occurrences(svg, "2^-30 unscaled: 30 (30%)"), 2u);
  EXPECT_EQ(occurrences(svg, "zero: 40 (40%)"), 2u);
  EXPECT_EQ(occurrences(svg, "becomes zero"), 2u);
  // Both panels flush the two small ones.
  EXPECT_EQ(occurrences(svg, "class=\"lost\""), 4u);
  EXPECT_EQ(occurrences(histogramSvg({"", counts, 40}, {{"", 0x1p16}}),
                        "class=\"lost\""),
            0u);
}

/// What is far below the largest is one bar, and none is forgotten.
TEST(HistogramPicture, LumpsWhatIsFarBelow) {
  Counts counts{{-149, 1}, {-120, 2}, {-73, 3}, {0, 94}};
  std::string svg = histogramSvg({"", counts, 0}, {{"", 1}});
  EXPECT_EQ(occurrences(svg, "unscaled"), 2u);
  EXPECT_HAS(svg, "2^-72 unscaled and less: 6 (6%)");
  EXPECT_HAS(svg, "2^0 unscaled: 94 (94%)");
}

TEST(HistogramPicture, NothingIsDrawnOfNothing) {
  std::string svg = histogramSvg({"", {}, 0}, {{"", 1}});
  EXPECT_HAS(svg, "zero: 0 (0%)");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(HistogramPicture, EscapesAndFetchesNothing) {
  Counts counts{{0, 1}};
  std::string svg = histogramSvg({"<script>&\"\x01\xff]]>", counts, 0},
                                 {{"</svg><b onload='x'>", 1}});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<b"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xff'), std::string::npos);
  EXPECT_HAS(svg, "&lt;script&gt;&amp;&quot;");
  EXPECT_EQ(occurrences(svg, "http"), 1u); // the namespace
  EXPECT_EQ(svg.find("href"), std::string::npos);
}
} // namespace

//===- ViewSvg.cpp - functions as SVG -------------------------------------===//
#include "passes/inspect/view/ViewLayout.h"
#include "passes/inspect/view/ViewPage.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mp;
using namespace mp::view;

//===----------------------------------------------------------------------===//
// Text of nodes
//===----------------------------------------------------------------------===//

// Text is monospaced, so that its width is known: 0.602 of the font's size in
// the fonts that the style sheet names.
static constexpr double kTitleFont = 12, kTypeFont = 10.5, kCharacter = 0.602;
static constexpr double kLine = 14, kTextPadding = 9;
/// How much of a node's height is the curve of a cylinder.
static constexpr double kCap = 5;

/// "1.5", "12"
static std::string coordinate(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.1f", value);
  return llvm::StringRef(text).ends_with(".0") ? text.substr(0, text.size() - 2)
                                               : text;
}

/// The start of a path at a place in a box.
static std::string moveTo(const Box &box, double right, double down) {
  return "M" + coordinate(box.corner.x + right) + " " +
         coordinate(box.corner.y + down);
}

/// The number of characters of UTF-8.
static size_t lengthOf(llvm::StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// The beginning and the end of a text that is too long.
static std::string shorten(llvm::StringRef text, size_t limit = 34) {
  constexpr size_t end = 12;
  std::string printable = printableText(text);
  bool isAscii = lengthOf(printable) == printable.size();
  if (printable.size() <= limit || !isAscii)
    return printable;
  return printable.substr(0, limit - end - 1) + "…" +
         printable.substr(printable.size() - end);
}

static std::string titleOf(const Node &node) {
  switch (node.kind) {
  case NodeKind::Write:
    return "write " + shorten(node.title);
  case NodeKind::Result:
    return "return " + shorten(node.title);
  case NodeKind::Reference:
    return "↑ " + shorten(node.title, 24);
  default:
    return shorten(node.title);
  }
}

/// The lines below a node's title.
static std::vector<std::string> linesOf(const Node &node) {
  std::vector<std::string> lines;
  if (node.kind == NodeKind::Cast)
    return lines;
  constexpr size_t limit = 4;
  for (const std::string &type : llvm::ArrayRef(node.types).take_front(limit))
    lines.push_back(shorten(type));
  if (node.types.size() > limit)
    lines.push_back("and " + std::to_string(node.types.size() - limit) +
                    " more");
  if (node.change == Change::Changed)
    lines.push_back("was " + shorten(node.before));
  return lines;
}

static bool isCylinder(const Node &node) {
  return node.kind == NodeKind::Read || node.kind == NodeKind::Write;
}

static Size sizeOf(const Node &node) {
  if (node.kind == NodeKind::Cast)
    return {lengthOf(node.title) * kTypeFont * kCharacter + 2 * kTextPadding,
            19};
  double width = lengthOf(titleOf(node)) * kTitleFont * kCharacter;
  auto lines = linesOf(node);
  for (const std::string &line : lines)
    width = std::max(width, lengthOf(line) * kTypeFont * kCharacter);
  double height = 10 + kLine * double(lines.size() + 1);
  if (isCylinder(node))
    height += 2 * kCap;
  return {width + 2 * kTextPadding, height};
}

/// What the browser shows when the pointer is over the node.
static std::string tipOf(const Node &node) {
  std::string tip = node.text.empty() ? node.title : node.text;
  for (const std::string &line : {node.reason, node.source})
    if (!line.empty())
      tip += "\n" + line;
  if (node.change == Change::Changed)
    tip += "\nwas " + node.before + ", is " + node.elements;
  return tip;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
class Painter {
public:
  Painter(Html &html, const Picture &picture, const std::string &prefix)
      : html(html), picture(picture), prefix(prefix) {
    std::vector<Size> sizes;
    for (const Node &node : picture.nodes)
      sizes.push_back(sizeOf(node));
    layout = layOut(picture, sizes);
  }

  void paint(unsigned function);

private:
  unsigned functionOf(unsigned cluster) const;
  void paintCluster(unsigned number);
  void paintEdge(unsigned number);
  void paintNode(unsigned number);
  void paintShape(const Node &node, const Box &box);
  void paintCast(const Node &node, const Box &box);
  void paintCylinder(const Box &box);
  void paintSlanted(const Box &box, double lean);
  void paintBox(const Box &box, llvm::StringLiteral kind, double round);
  void paintText(const Node &node, const Box &box);
  void text(double x, double y, llvm::StringRef text, llvm::StringLiteral kind);

  Html &html;
  const Picture &picture;
  const std::string &prefix;
  Layout layout;
};
} // namespace

void Painter::text(double x, double y, llvm::StringRef content,
                   llvm::StringLiteral kind) {
  html.element(
      "text", content,
      {{"class", kind.str()}, {"x", coordinate(x)}, {"y", coordinate(y)}});
}

void Painter::paintCluster(unsigned number) {
  static constexpr llvm::StringLiteral names[] = {"picture", "function",
                                                  "phase", "kernel", "region"};
  const Cluster &cluster = picture.clusters[number];
  const Box &box = layout.clusters[number];
  html.empty(
      "rect",
      {{"class", "cluster " + names[static_cast<unsigned>(cluster.kind)].str()},
       {"x", coordinate(box.corner.x)},
       {"y", coordinate(box.corner.y)},
       {"width", coordinate(box.size.width)},
       {"height", coordinate(box.size.height)},
       {"rx", "8"}});
  auto fits = size_t((box.size.width - 2 * kPadding) / kHeadLetter + 0.5);
  text(box.corner.x + kPadding, box.corner.y + 16,
       shorten(cluster.title + (cluster.isNew ? " (new)" : ""),
               std::max<size_t>(fits, 18)),
       "head");
}

void Painter::paintEdge(unsigned number) {
  const Edge &edge = picture.edges[number];
  const auto &points = layout.edges[number];
  std::string data;
  for (auto [i, point] : llvm::enumerate(points)) {
    std::string place = coordinate(point.x) + " " + coordinate(point.y);
    if (i == 0) {
      data = "M" + place;
      continue;
    }
    // The edge leaves one layer and comes to the next one vertically.
    Point last = points[i - 1];
    double middle = (last.y + point.y) / 2;
    if (std::fabs(last.x - point.x) < 0.5)
      data += "L" + place;
    else
      data += "C" + coordinate(last.x) + " " + coordinate(middle) + " " +
              coordinate(point.x) + " " + coordinate(middle) + " " + place;
  }
  std::string kind = "edge " + nameOf(edge.precision).str();
  if (edge.isCondition)
    kind += " condition";
  html.open("path", {{"class", kind},
                     {"d", data},
                     {"data-ends", prefix + std::to_string(edge.from) + " " +
                                       prefix + std::to_string(edge.to)}});
  html.element("title", edge.type + (edge.isCondition ? ", if set" : ""));
  html.close();
  Point end = points.back();
  html.empty("path", {{"class", "tip " + nameOf(edge.precision).str()},
                      {"d", "M" + coordinate(end.x) + " " + coordinate(end.y) +
                                "l-3 -6h6z"}});
}

/// Fills the left half with the colour of the operand's type, and the right one
/// with that of the result's.
void Painter::paintCast(const Node &node, const Box &box) {
  double half = box.size.width / 2, round = box.size.height / 2;
  auto paintHalf = [&](ElementClass element, double turn) {
    std::string across = coordinate(turn * (half - round)),
                back = coordinate(-turn * (half - round)),
                radius = coordinate(round);
    html.empty("path",
               {{"class", "half " + nameOf(element).str()},
                {"d", moveTo(box, half, 0) + "h" + across + "a" + radius + " " +
                          radius + (turn < 0 ? " 0 0 0 0 " : " 0 0 1 0 ") +
                          coordinate(2 * round) + "h" + back + "z"}});
  };
  paintHalf(node.from, -1);
  paintHalf(node.precision, 1);
}

void Painter::paintCylinder(const Box &box) {
  std::string right = coordinate(box.size.width),
              side = coordinate(box.size.height - 2 * kCap);
  std::string arc =
      "a" + coordinate(box.size.width / 2) + " " + coordinate(kCap) + " 0 0 0 ";
  html.empty("path",
             {{"class", "shape"},
              {"d", moveTo(box, 0, kCap) + "v" + side + arc + right + " 0v-" +
                        side + arc + "-" + right + " 0" + arc + right + " 0"}});
}

void Painter::paintSlanted(const Box &box, double lean) {
  std::string across = coordinate(box.size.width);
  html.empty(
      "path",
      {{"class", "shape"},
       {"d", moveTo(box, -lean, 0) + "h" + across + "l" + coordinate(2 * lean) +
                 " " + coordinate(box.size.height) + "h-" + across + "z"}});
}

void Painter::paintBox(const Box &box, llvm::StringLiteral kind, double round) {
  html.empty("rect", {{"class", kind.str()},
                      {"x", coordinate(box.corner.x)},
                      {"y", coordinate(box.corner.y)},
                      {"width", coordinate(box.size.width)},
                      {"height", coordinate(box.size.height)},
                      {"rx", coordinate(round)}});
}

void Painter::paintShape(const Node &node, const Box &box) {
  switch (node.kind) {
  case NodeKind::Cast:
    return paintCast(node, box);
  case NodeKind::Read:
  case NodeKind::Write:
    return paintCylinder(box);
  case NodeKind::Argument:
    return paintSlanted(box, 4);
  case NodeKind::Result:
    return paintSlanted(box, -4);
  case NodeKind::Kernel: // has a second frame
    paintBox({{box.size.width - 6, box.size.height - 6},
              {box.corner.x + 3, box.corner.y + 3}},
             "inner", 3);
    return paintBox(box, "shape", 4);
  case NodeKind::Constant:
    return paintBox(box, "shape", 14);
  case NodeKind::Op:
  case NodeKind::Reference:
    return paintBox(box, "shape", 4);
  }
}

void Painter::paintText(const Node &node, const Box &box) {
  double x = box.corner.x + box.size.width / 2, y = box.corner.y;
  if (node.kind == NodeKind::Cast)
    return text(x, y + 13.5, node.title, "type");
  y += isCylinder(node) ? 2 * kCap + 14 : 16;
  text(x, y, titleOf(node), "name");
  for (const std::string &line : linesOf(node))
    text(x, y += kLine, line, "type");
}

void Painter::paintNode(unsigned number) {
  static constexpr llvm::StringLiteral kinds[] = {
      "op",    "kernel",   "cast",   "constant", "read",
      "write", "argument", "result", "reference"};
  const Node &node = picture.nodes[number];
  const Box &box = layout.nodes[number];
  std::string kind = "node " + kinds[static_cast<unsigned>(node.kind)].str() +
                     " " + nameOf(node.precision).str();
  bool isMarked = node.change != Change::None;
  if (isMarked)
    kind += " " + nameOf(node.change).str();
  html.open("g", {{"class", kind},
                  {"id", prefix + std::to_string(number)},
                  {"data-key", node.key}});
  html.element("title", tipOf(node));
  paintShape(node, box);
  paintText(node, box);
  // A changed node has a line that tells what it was.
  if (isMarked && node.change != Change::Changed)
    text(box.corner.x + box.size.width, box.corner.y - 3, nameOf(node.change),
         "mark");
  html.close();
}

unsigned Painter::functionOf(unsigned cluster) const {
  while (picture.clusters[cluster].kind != ClusterKind::Function)
    cluster = picture.clusters[cluster].parent;
  return cluster;
}

void Painter::paint(unsigned function) {
  constexpr double margin = 8; // marks and slanted boxes stand out
  Size size = layout.clusters[function].size;
  size = {size.width + 2 * margin, size.height + 2 * margin};
  std::string width = coordinate(size.width), height = coordinate(size.height);
  html.open("svg", {{"class", "graph"},
                    {"width", width},
                    {"height", height},
                    {"viewBox", "-8 -8 " + width + " " + height},
                    {"role", "img"},
                    {"aria-label", picture.clusters[function].title}});
  auto isHere = [&](unsigned cluster) {
    return cluster != 0 && functionOf(cluster) == function;
  };
  for (unsigned i = 1; i < picture.clusters.size(); ++i)
    if (isHere(i))
      paintCluster(i);
  for (unsigned i = 0; i < picture.edges.size(); ++i)
    if (isHere(picture.nodes[picture.edges[i].to].cluster))
      paintEdge(i);
  for (unsigned i = 0; i < picture.nodes.size(); ++i)
    if (isHere(picture.nodes[i].cluster))
      paintNode(i);
  html.close();
}

void mp::view::writeFunctions(Html &html, const Picture &drawn,
                              const std::string &prefix) {
  Picture picture = withReferences(drawn);
  Painter painter(html, picture, prefix);
  for (auto [number, cluster] : llvm::enumerate(picture.clusters))
    if (cluster.kind == ClusterKind::Function)
      painter.paint(number);
}

//===- ViewDot.cpp - a picture as Graphviz text ---------------------------===//
//
// Every label is a quoted string (https://graphviz.org/doc/info/lang.html), and
// every node has a number for its name, so that text of the module cannot be
// taken for syntax. Node and edge colours can be read on white and on black.
//
//===----------------------------------------------------------------------===//
#include "passes/inspect/view/View.h"
#include "support/Html.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mp;
using namespace mp::view;

/// The colours of Okabe and Ito, "Color Universal Design" (2008), with greys
/// for the wide floats. The text of a node is black.
static llvm::StringLiteral colourOf(ElementClass precision) {
  switch (precision) {
  case ElementClass::F64:
    return "#8c8c8c";
  case ElementClass::F32:
    return "#c4ccd4";
  case ElementClass::F16:
    return "#e69f00";
  case ElementClass::BF16:
    return "#56b4e9";
  case ElementClass::F8:
    return "#cc79a7";
  case ElementClass::Int:
    return "#29a583";
  case ElementClass::Flag:
    return "#f0e442";
  case ElementClass::None:
    return "#ffffff";
  }
  llvm_unreachable("all precisions are handled");
}

/// Quotes text. In Graphviz, a backslash and an ampersand begin an escape also
/// inside quotes.
static std::string quote(llvm::StringRef text) {
  std::string quoted = "\"";
  for (char c : printableText(text))
    switch (c) {
    case '"':
      quoted += "\\\"";
      break;
    case '\\':
      quoted += "\\\\";
      break;
    case '&':
      quoted += "&amp;";
      break;
    case '\n':
      quoted += "\\n";
      break;
    default:
      quoted += c;
    }
  return quoted + "\"";
}

static llvm::StringLiteral shapeOf(NodeKind kind) {
  switch (kind) {
  case NodeKind::Op:
  case NodeKind::Reference:
    return "box";
  case NodeKind::Kernel:
    return "component";
  case NodeKind::Cast:
    return "hexagon";
  case NodeKind::Constant:
    return "ellipse";
  case NodeKind::Read:
  case NodeKind::Write:
    return "cylinder";
  case NodeKind::Argument:
    return "invhouse";
  case NodeKind::Result:
    return "house";
  }
  llvm_unreachable("all kinds are handled");
}

static std::string labelOf(const Node &node) {
  std::string label = node.title;
  if (node.kind == NodeKind::Write)
    label = "write " + label;
  if (node.kind == NodeKind::Cast)
    return label;
  for (const std::string &type : node.types)
    label += "\n" + type;
  if (node.change == Change::Changed)
    label += "\nwas " + node.before;
  return label;
}

static std::string tooltipOf(const Node &node) {
  std::string tip = node.text.empty() ? node.title : node.text;
  for (const std::string &line : {node.reason, node.source})
    if (!line.empty())
      tip += "\n" + line;
  return tip;
}

namespace {
class DotWriter {
public:
  explicit DotWriter(llvm::raw_ostream &os) : os(os) {}
  void write(const Drawing &drawing);

private:
  void writeCluster(const Picture &picture, unsigned number);
  void writeNode(const Node &node, unsigned number);
  void writeEdge(const Edge &edge);
  void writeLegend(const Drawing &drawing);
  llvm::raw_ostream &line() { return os.indent(2 * depth); }

  llvm::raw_ostream &os;
  unsigned depth = 1;
  unsigned firstNode = 0; ///< the number of the picture's first node
  unsigned clusters = 0;
};
} // namespace

void DotWriter::writeNode(const Node &node, unsigned number) {
  line() << "n" << firstNode + number << " [label=" << quote(labelOf(node))
         << ", shape=" << shapeOf(node.kind);
  std::string fill = colourOf(node.precision).str();
  if (node.kind == NodeKind::Cast) {
    fill = colourOf(node.from).str() + ":" + fill;
    os << ", width=0, height=0, margin=\"0.02,0.01\", fontsize=9";
  }
  os << ", fillcolor=\"" << fill << "\", tooltip=" << quote(tooltipOf(node));
  if (node.change != Change::None)
    os << ", xlabel=" << nameOf(node.change)
       << (node.change == Change::Gone ? ", style=\"filled,dashed\""
                                       : ", penwidth=2.5");
  os << "];\n";
}

void DotWriter::writeEdge(const Edge &edge) {
  line() << "n" << firstNode + edge.from << " -> n" << firstNode + edge.to
         << " [label=" << quote(edge.type);
  if (edge.isCondition)
    os << ", style=dashed";
  os << "];\n";
}

void DotWriter::writeCluster(const Picture &picture, unsigned number) {
  const Cluster &cluster = picture.clusters[number];
  line() << "subgraph cluster_" << clusters++ << " {\n";
  ++depth;
  line() << "label=" << quote(cluster.title + (cluster.isNew ? " (new)" : ""))
         << ";\n";
  if (cluster.kind == ClusterKind::Phase)
    line() << "style=dashed;\n";
  if (cluster.kind == ClusterKind::Kernel ||
      cluster.kind == ClusterKind::Region)
    line() << "style=rounded;\n";
  for (unsigned inner = number + 1; inner < picture.clusters.size(); ++inner)
    if (picture.clusters[inner].parent == number)
      writeCluster(picture, inner);
  for (auto [place, node] : llvm::enumerate(picture.nodes))
    if (node.cluster == number)
      writeNode(node, place);
  --depth;
  line() << "}\n";
}

/// A node for each colour that occurs.
void DotWriter::writeLegend(const Drawing &drawing) {
  bool occurs[kElementClasses] = {};
  for (const Picture &picture : drawing.pictures)
    for (const Node &node : picture.nodes)
      occurs[static_cast<unsigned>(node.precision)] |= !node.types.empty();
  line() << "subgraph cluster_" << clusters++ << " {\n";
  ++depth;
  line() << "label=\"element type of the result\";\n";
  for (unsigned i = 0; i < kElementClasses; ++i) {
    auto precision = static_cast<ElementClass>(i);
    if (occurs[i])
      line() << nameOf(precision) << " [label=" << quote(describe(precision))
             << ", shape=box, fillcolor=\"" << colourOf(precision) << "\"];\n";
  }
  --depth;
  line() << "}\n";
}

void DotWriter::write(const Drawing &drawing) {
  std::string label = drawing.title;
  if (!drawing.passes.empty())
    label += "\nbefore and after " + drawing.passes;
  os << "digraph " << quote(drawing.title) << " {\n";
  os << "  graph [bgcolor=transparent, color=\"#808080\", "
        "fontcolor=\"#808080\", fontname=\"Helvetica\", label="
     << quote(label) << ", labelloc=t, tooltip=\" \"];\n"
     << "  node [style=filled, fontname=\"Helvetica\", fontsize=11, "
        "color=\"#808080\", fontcolor=black];\n"
     << "  edge [color=\"#808080\", fontcolor=\"#808080\", "
        "fontname=\"Helvetica\", fontsize=8, arrowsize=0.6];\n";
  writeLegend(drawing);
  for (const Picture &picture : drawing.pictures) {
    writeCluster(picture, 0);
    for (const Edge &edge : picture.edges)
      writeEdge(edge);
    firstNode += picture.nodes.size();
  }
  os << "}\n";
}

void mp::view::writeDot(llvm::raw_ostream &os, const Drawing &drawing) {
  DotWriter(os).write(drawing);
}

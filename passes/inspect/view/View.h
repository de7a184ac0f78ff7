//===- View.h - a graph of ops as a picture -------------------------------===//
//
// A picture is plain data: nodes, edges and clusters that enclose them. It is
// built from a module, compared with a second one, and then written as Graphviz
// text or as a page. In each list, things have the order of the IR.
//
//===----------------------------------------------------------------------===//
#ifndef MP_PASSES_INSPECT_VIEW_VIEW_H
#define MP_PASSES_INSPECT_VIEW_VIEW_H

#include "dialect/Mp.h"

namespace mp::view {

/// The element types that have a colour of their own.
enum class ElementClass { F64, F32, F16, BF16, F8, Int, Flag, None };
constexpr unsigned kElementClasses = 8;
ElementClass elementClassOf(mlir::Type type);
/// "f16"; also the class of the page's style sheet.
llvm::StringLiteral nameOf(ElementClass precision);
/// "8-bit floats"
llvm::StringLiteral describe(ElementClass precision);

enum class NodeKind {
  Op,
  /// A kernel whose ops are not drawn.
  Kernel,
  Cast,
  Constant,
  Read,
  Write,
  Argument,
  Result,
  /// A value that is made elsewhere, drawn once more beside its user.
  Reference
};

/// What became of a node between two pictures.
enum class Change { None, New, Changed, Gone };
llvm::StringLiteral nameOf(Change change);

struct Node {
  NodeKind kind = NodeKind::Op;
  /// Identifies the node in another picture: its op and its source location.
  std::string key;
  std::string title;                           ///< "linear", "fc1.weight"
  std::vector<std::string> types;              ///< of the results: "?x512xf16"
  ElementClass precision = ElementClass::None; ///< of the first result
  ElementClass from = ElementClass::None;      ///< of a cast's operand
  std::string elements; ///< element types of operands and results
  std::string text;     ///< the op in the IR
  std::string source;   ///< "model.mlir:12:8"
  std::string reason;   ///< why autocast chose these types
  unsigned cluster = 0;
  Change change = Change::None;
  std::string before; ///< a changed node's element types
};

struct Edge {
  unsigned from, to;
  unsigned result; ///< which result of `from`
  std::string type;
  ElementClass precision;
  bool isCondition = false; ///< the flag of a kernel or a write
};

enum class ClusterKind { Picture, Function, Phase, Kernel, Region };

struct Cluster {
  ClusterKind kind;
  std::string title;
  unsigned parent; ///< that of the first cluster, the picture, is itself
  /// Whether all nodes of a phase or a function are new; they are not marked.
  bool isNew = false;
};

struct Picture {
  std::vector<Cluster> clusters; ///< a cluster comes after its parent
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

struct DrawOptions {
  std::string function; ///< draw only this one; empty: all
  bool stages = false;  ///< draw the stages of lowered kernels
};
/// Draws functions of a module.
Picture draw(mlir::ModuleOp module, const llvm::Twine &title,
             const DrawOptions &options);

/// Marks what is new, changed or gone. A node is changed if an element type of
/// its operands or results is another; shapes do not count. If all nodes of a
/// phase or function are new, it is marked instead of them.
void compare(Picture &before, Picture &after);

/// Replaces each edge from one phase to another by one from a reference, so
/// that a phase can be read alone, and those of a value with many uses.
Picture withReferences(const Picture &picture);

struct Drawing {
  std::string title;  ///< of all pictures
  std::string passes; ///< those between two pictures
  std::vector<Picture> pictures;
};
void writeDot(llvm::raw_ostream &os, const Drawing &drawing);
void writePage(llvm::raw_ostream &os, const Drawing &drawing);

} // namespace mp::view

#endif // MP_PASSES_INSPECT_VIEW_VIEW_H

//===- ViewModel.cpp - a module as a picture ------------------------------===//
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Cast.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/State.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/inspect/StepPhases.h"
#include "passes/inspect/view/View.h"
#include "passes/inspect/view/ViewText.h"

using namespace mlir;
using namespace mp;
using namespace mp::view;

namespace {
/// The order of a step's phases; other functions have no phases.
enum Phase { Forward, Backward, Update };
constexpr llvm::StringLiteral kPhaseTitles[] = {"forward", "backward",
                                                "update"};

class Artist {
public:
  Artist(ModuleOp module, const Twine &title, const DrawOptions &options)
      : options(options), state(module, OpPrintingFlags()
                                            .skipRegions()
                                            .elideLargeElementsAttrs(16)
                                            .elideLargeResourceString(64)),
        reasons(module) {
    picture.clusters.push_back({ClusterKind::Picture, title.str(), 0});
  }

  void draw(func::FuncOp function);
  Picture take() { return std::move(picture); }

private:
  struct Origin {
    unsigned node, result;
    Type type;
  };

  void findPhases(Block &body);
  Phase phaseOf(Operation *op);
  /// The cluster of an op of the function's own block.
  unsigned clusterOf(Operation *op);
  unsigned clusterOf(Value value);

  void drawArguments(Block &body);
  void drawResults(Operation *terminator);
  void drawBlock(Block &body, std::optional<unsigned> inside);
  void drawOp(Operation *op, unsigned cluster);
  void drawKernel(KernelOp kernel, unsigned cluster);
  void drawRegion(AutocastOp region, unsigned cluster);
  void drawLoop(ScanOp scan, unsigned cluster);
  void explainCasts(unsigned first);

  unsigned addCluster(ClusterKind kind, const Twine &title, unsigned parent);
  unsigned addNode(Node node);
  Node nodeOf(Operation *op, unsigned cluster);
  void connect(Value from, unsigned to, bool isCondition = false);
  void forward(ValueRange outer, ValueRange inner);

  const DrawOptions &options;
  Picture picture;
  AsmState state;
  Reasons reasons;
  func::FuncOp function;
  unsigned frame = 0; ///< the function's cluster
  llvm::DenseMap<Operation *, Phase> phases;
  std::optional<unsigned> phaseClusters[3];
  llvm::DenseMap<Value, Origin> origins;
  llvm::StringMap<unsigned> occurrences; ///< of keys in the function
};
} // namespace

unsigned Artist::addCluster(ClusterKind kind, const Twine &title,
                            unsigned parent) {
  picture.clusters.push_back({kind, title.str(), parent});
  return picture.clusters.size() - 1;
}

/// Adds a node. The second op of the same name at one source location gets a
/// key of its own.
unsigned Artist::addNode(Node node) {
  bool isState = node.kind == NodeKind::Read || node.kind == NodeKind::Write;
  unsigned occurrence = isState ? 0 : occurrences[node.key]++;
  if (occurrence > 0)
    node.key += " " + std::to_string(occurrence + 1);
  picture.nodes.push_back(std::move(node));
  return picture.nodes.size() - 1;
}

void Artist::connect(Value from, unsigned to, bool isCondition) {
  auto origin = origins.find(from);
  if (origin == origins.end())
    return;
  auto [node, result, type] = origin->second;
  picture.edges.push_back(
      {node, to, result, shortType(type), elementClassOf(type), isCondition});
}

/// Makes inner values come from the nodes of the outer ones.
void Artist::forward(ValueRange outer, ValueRange inner) {
  for (auto [from, to] : llvm::zip_equal(outer, inner))
    if (auto origin = origins.find(from); origin != origins.end()) {
      Origin made = origin->second;
      made.type = to.getType();
      origins[to] = made;
    }
}

/// Assigns the ops of a step to its phases. A function that has no backward op
/// is not divided.
void Artist::findPhases(Block &body) {
  phases.clear();
  if (llvm::none_of(body,
                    [](Operation &op) { return isBackward(op.getLoc()); }))
    return;
  auto update = findUpdate(body);
  for (Operation &op : body.without_terminator())
    phases[&op] = isBackward(op.getLoc()) ? Backward
                  : update.contains(&op)  ? Update
                                          : Forward;
  // Constants and reads are drawn where they are used first.
  for (Operation &op : llvm::reverse(body))
    if (op.getNumOperands() == 0 && !op.use_empty()) {
      Phase first = Update;
      for (Operation *user : op.getUsers())
        first = std::min(first, phaseOf(user));
      phases[&op] = first;
    }
}

Phase Artist::phaseOf(Operation *op) {
  Operation *top = function.getBody().findAncestorOpInRegion(*op);
  if (top->hasTrait<OpTrait::IsTerminator>())
    return Update;
  auto phase = phases.find(top);
  return phase == phases.end() ? Forward : phase->second;
}

unsigned Artist::clusterOf(Operation *op) {
  return phases.empty() ? frame : *phaseClusters[phaseOf(op)];
}

/// Returns where a result of the function is drawn: beside its maker.
unsigned Artist::clusterOf(Value value) {
  if (Operation *maker = value.getDefiningOp())
    return clusterOf(maker);
  return phases.empty() ? frame : *phaseClusters[Forward];
}

void Artist::draw(func::FuncOp drawn) {
  function = drawn;
  origins.clear();
  occurrences.clear();
  for (auto &cluster : phaseClusters)
    cluster.reset();
  unsigned first = picture.nodes.size();
  frame = addCluster(ClusterKind::Function, "@" + drawn.getName(), 0);
  Block &entry = drawn.getBody().front();
  findPhases(entry);
  // The phases are drawn in their order, whichever has the first op.
  if (!phases.empty())
    for (Phase phase : {Forward, Backward, Update})
      if (phase == Forward ||
          llvm::any_of(phases, [&](auto &it) { return it.second == phase; }))
        phaseClusters[phase] =
            addCluster(ClusterKind::Phase, kPhaseTitles[phase], frame);
  drawArguments(entry);
  for (Block &block : drawn.getBody())
    drawBlock(block, std::nullopt);
  explainCasts(first);
}

void Artist::drawArguments(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttr);
    Node node;
    node.kind = NodeKind::Argument;
    node.title = name ? name.str()
                      : "argument " + std::to_string(argument.getArgNumber());
    node.key = "argument " + node.title;
    node.types = {shortType(argument.getType())};
    node.precision = elementClassOf(argument.getType());
    node.elements = typeName(getElementTypeOrSelf(argument.getType()));
    node.source = placeOf(argument.getLoc());
    node.cluster = phases.empty() ? frame : *phaseClusters[Forward];
    origins[argument] = {addNode(std::move(node)), 0, argument.getType()};
  }
}

void Artist::drawResults(Operation *terminator) {
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    Type type = operand.get().getType();
    Node node;
    node.kind = NodeKind::Result;
    if (number < function.getNumResults()) {
      if (auto name =
              function.getResultAttrOfType<StringAttr>(number, kNameAttr))
        node.title = name.str();
      else if (auto of = function.getResultAttrOfType<FlatSymbolRefAttr>(
                   number, kGradientAttr))
        node.title = ("gradient of " + of.getValue()).str();
    }
    if (node.title.empty())
      node.title = "result " + std::to_string(number);
    node.key = "result " + node.title;
    node.types = {shortType(type)};
    node.precision = elementClassOf(type);
    node.elements = typeName(getElementTypeOrSelf(type));
    node.source = placeOf(terminator->getLoc());
    node.cluster = clusterOf(operand.get());
    connect(operand.get(), addNode(std::move(node)));
  }
}

void Artist::drawBlock(Block &body, std::optional<unsigned> inside) {
  for (Operation &op : body) {
    if (isa<func::ReturnOp>(op)) {
      drawResults(&op);
      continue;
    }
    // The tensor that a stage writes to is no value.
    if (isa<YieldOp>(op) || op.getName().getStringRef() == "tensor.empty")
      continue;
    unsigned cluster = inside ? *inside : clusterOf(&op);
    if (auto kernel = dyn_cast<KernelOp>(op))
      drawKernel(kernel, cluster);
    else if (auto region = dyn_cast<AutocastOp>(op))
      drawRegion(region, cluster);
    else if (auto scan = dyn_cast<ScanOp>(op))
      drawLoop(scan, cluster);
    else
      drawOp(&op, cluster);
  }
}

/// Whether a kernel's body is stages for a target, instead of ops that a reader
/// knows.
static bool isLowered(KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front(), [](Operation &op) {
    return op.getName().getDialectNamespace() == "linalg";
  });
}

void Artist::drawKernel(KernelOp kernel, unsigned cluster) {
  if (isLowered(kernel) && !options.stages)
    return drawOp(kernel, cluster);
  std::string title = "kernel";
  if (auto ops = kernel.getOps())
    title += " of " + ops->str();
  unsigned inside = addCluster(ClusterKind::Kernel, title, cluster);
  Block &body = kernel.getBody().front();
  forward(kernel.getInputs(), body.getArguments());
  unsigned first = picture.nodes.size();
  drawBlock(body, inside);
  forward(body.getTerminator()->getOperands(), kernel.getOutputs());
  if (kernel.getPredicate() && first < picture.nodes.size())
    connect(kernel.getPredicate(), first, /*isCondition=*/true);
}

void Artist::drawRegion(AutocastOp region, unsigned cluster) {
  std::string title = "autocast";
  if (region.getEnabled() == false)
    title += " off";
  if (auto type = region.getDtype())
    title += " " + typeName(*type);
  if (auto policy = region.getPolicy())
    title += (" policy " + *policy).str();
  unsigned inside = addCluster(ClusterKind::Region, title, cluster);
  Block &body = region.getBody().front();
  drawBlock(body, inside);
  forward(body.getTerminator()->getOperands(), region.getResults());
}

/// Draws one time step: what it carries on has no edge back to its beginning.
void Artist::drawLoop(ScanOp scan, unsigned cluster) {
  std::string title = "scan of " + std::to_string(*scan.getSteps()) +
                      " time steps" + (scan.getReverse() ? ", reversed" : "");
  unsigned inside = addCluster(ClusterKind::Region, title, cluster);
  Block &body = scan.getBody().front();
  forward(scan.getOperands(), body.getArguments());
  drawBlock(body, inside);
  forward(body.getTerminator()->getOperands(), scan.getResults());
}

Node Artist::nodeOf(Operation *op, unsigned cluster) {
  Node node;
  StringRef name = op->getName().getStringRef();
  node.title = name.str();
  if (StringRef own = name; own.consume_front("mp."))
    node.title = own.str();
  node.source = placeOf(op->getLoc());
  node.key = (name + " " + node.source).str();
  if (isBackward(op->getLoc()))
    node.key += " backward";
  node.text = textOf(op, state);
  node.elements = elementsOf(op);
  node.reason = reasons.of(op);
  for (Type type : op->getResultTypes())
    node.types.push_back(shortType(type));
  if (op->getNumResults() > 0)
    node.precision = elementClassOf(op->getResult(0).getType());
  node.cluster = cluster;
  return node;
}

void Artist::drawOp(Operation *op, unsigned cluster) {
  Node node = nodeOf(op, cluster);
  Attribute value;
  if (auto read = dyn_cast<ReadOp>(op)) {
    node.kind = NodeKind::Read;
    node.title = read.getVariable().str();
    node.key = "read " + node.title;
  } else if (auto write = dyn_cast<WriteOp>(op)) {
    node.kind = NodeKind::Write;
    node.title = write.getVariable().str();
    node.key = "write " + node.title;
    node.types = {shortType(write.getValue().getType())};
    node.precision = elementClassOf(write.getValue().getType());
  } else if (auto cast = dyn_cast<CastOp>(op)) {
    node.kind = NodeKind::Cast;
    Type from = cast.getInput().getType();
    node.from = elementClassOf(from);
    node.title = typeName(getElementTypeOrSelf(from)) + " → " +
                 typeName(getElementTypeOrSelf(cast.getType()));
  } else if (auto kernel = dyn_cast<KernelOp>(op)) {
    node.kind = NodeKind::Kernel;
    if (auto ops = kernel.getOps())
      node.title = ops->str();
  } else if (matchPattern(op, m_Constant(&value))) {
    node.kind = NodeKind::Constant;
    node.title = constantText(value);
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    node.title = ("call @" + call.getCallee()).str();
  } else if (op->getName().getDialectNamespace() == "linalg") {
    node.title = stageTitle(op);
  }
  unsigned number = addNode(std::move(node));
  Value condition;
  if (auto write = dyn_cast<WriteOp>(op))
    condition = write.getPredicate();
  if (auto kernel = dyn_cast<KernelOp>(op))
    condition = kernel.getPredicate();
  for (Value operand : op->getOperands())
    connect(operand, number, operand == condition);
  for (OpResult result : op->getResults())
    origins[result] = {number, result.getResultNumber(), result.getType()};
}

/// A cast has the reason of the op that it was made for.
void Artist::explainCasts(unsigned first) {
  for (const Edge &edge : llvm::reverse(picture.edges)) {
    if (edge.from < first)
      break;
    Node &cast = picture.nodes[edge.from];
    const Node &user = picture.nodes[edge.to];
    if (cast.kind == NodeKind::Cast && cast.reason.empty() &&
        !user.reason.empty())
      cast.reason = "for " + user.title + ", " + user.reason;
  }
}

Picture view::draw(ModuleOp module, const Twine &title,
                   const DrawOptions &options) {
  Artist artist(module, title, options);
  for (auto candidate : module.getOps<func::FuncOp>())
    if (!candidate.isExternal() &&
        (options.function.empty() || candidate.getName() == options.function))
      artist.draw(candidate);
  return artist.take();
}

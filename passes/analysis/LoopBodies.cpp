//===- LoopBodies.cpp - the functions that loops call ---------------------===//
#include "passes/analysis/LoopBodies.h"
#include "dialect/ops/Autocast.h"
#include "dialect/ops/Gradient.h"
#include "dialect/ops/Normalization.h"
#include "dialect/ops/Recompute.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "program/Limits.h"

using namespace mlir;
using namespace mp;

static constexpr llvm::StringLiteral kLoopBodyAttr = "mp.loop_body";
static constexpr llvm::StringLiteral kMark = ".loop"; // in its name

StringRef mp::whyNoLoop(ScanOp scan) {
  if (*scan.getSteps() == 0)
    return "it has no time step";
  if (scan.getNumResults() == 0)
    return "it has no result";
  size_t scansAround = 0;
  Operation *around = scan->getParentOp();
  for (; isa<ScanOp>(around); around = around->getParentOp())
    ++scansAround;
  if (!isa<func::FuncOp>(around))
    return "it is within a region";
  if (scansAround >= kMostLoops)
    return "too many scans are around it";
  StringRef why;
  scan.getBody().walk([&](Operation *op) {
    if (auto random = dyn_cast<RandomOpInterface>(op);
        random && random.getKeyMutable().empty())
      why = "its random ops lack the time step that mp-number-streams gives";
    else if (isa<BatchNormOp>(op))
      why = "it has a batch norm";
    else if (isa<CheckpointOp>(op))
      why = "it has a checkpoint";
    else if (isa<GradientOp>(op))
      why = "it asks for a gradient";
    else if (op->getNumRegions() && !isa<ScanOp>(op))
      why = "it has a region";
  });
  return why;
}

void mp::dropUnusedSlices(ScanOp scan) {
  Block &body = scan.getBody().front();
  auto ops = llvm::map_to_vector(body.without_terminator(),
                                 [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
  int64_t steps = *scan.getSteps();
  size_t carried = scan.getCarried().size();
  for (size_t i = scan.getSliced().size(); i-- > 0;)
    if (body.getArgument(carried + i).use_empty()) {
      body.eraseArgument(carried + i);
      scan.getSlicedMutable().erase(i);
    }
  if (scan.getSliced().empty())
    scan.setLength(steps);
}

/// Returns a name for a body beside a function or another body.
static std::string freeName(func::FuncOp beside) {
  StringRef name = beside.getName();
  StringRef caller = name.take_front(name.rfind(kMark));
  auto module = beside->getParentOfType<ModuleOp>();
  for (unsigned number = 0;; ++number) {
    std::string name = (caller + kMark + Twine(number)).str();
    if (!module.lookupSymbol(name))
      return name;
  }
}

func::FuncOp mp::addLoopBody(func::FuncOp after, Location location,
                             TypeRange arguments, TypeRange results) {
  auto *context = after.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(after);
  auto body =
      func::FuncOp::create(builder, location, freeName(after),
                           FunctionType::get(context, arguments, results));
  body.setPrivate();
  body->setAttr(kLoopBodyAttr, UnitAttr::get(context));
  body.addEntryBlock();
  return body;
}

func::FuncOp mp::copyLoopBody(func::FuncOp body) {
  std::string name = freeName(body);
  OpBuilder builder(body.getContext());
  builder.setInsertionPointAfter(body);
  auto copy = cast<func::FuncOp>(builder.clone(*body));
  copy.setName(name);
  return copy;
}

DenseSet<Operation *> mp::calledByLoops(ModuleOp module) {
  DenseSet<Operation *> called;
  module.walk([&](LoopOp loop) { called.insert(loop.lookUpBody()); });
  return called;
}

void mp::dropUnusedBodies(ModuleOp module) {
  // Without one, those that it calls may be unused too.
  for (bool hasDropped = true; std::exchange(hasDropped, false);)
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (isLoopBody(function) &&
          SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.erase();
        hasDropped = true;
      }
}

bool mp::isLoopBody(func::FuncOp function) {
  return function->hasAttr(kLoopBodyAttr);
}

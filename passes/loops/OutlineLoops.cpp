//===- OutlineLoops.cpp - bodies of scans become functions ----------------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Linear.h"
#include "dialect/ops/Loop.h"
#include "dialect/ops/Scan.h"
#include "dialect/ops/View.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopBodies.h"

namespace mp {
#define GEN_PASS_DEF_OUTLINELOOPS
#include "passes/loops/Passes.h.inc"
} // namespace mp

using namespace mlir;
using namespace mp;

namespace {
/// Replaces one scan.
class Outliner {
public:
  explicit Outliner(ScanOp scan)
      : scan(scan), body(scan.getBody().front()), builder(scan.getLoc(), scan) {
  }

  void run() {
    hoist();
    findCaptured();
    func::FuncOp function = outline();
    SmallVector<Value> sliced = llvm::map_to_vector(
        scan.getSliced(), [&](Value value) { return timeFirst(value); });
    SmallVector<Type> types(function.getResultTypes());
    for (Type &type : MutableArrayRef(types).drop_front(carriedCount()))
      type = LoopOp::stackOf(cast<RankedTensorType>(type), *scan.getSteps());
    auto loop = LoopOp::create(builder, types, function.getName(),
                               captured.getArrayRef(), scan.getCarried(),
                               sliced, *scan.getSteps(), scan.getReverse());
    SmallVector<Value> results(loop.getResults());
    for (Value &value : MutableArrayRef(results).drop_front(carriedCount()))
      value = timeBack(value);
    scan->replaceAllUsesWith(results);
    scan->erase();
    for (Operation *product : replaced)
      product->erase();
  }

private:
  size_t carriedCount() { return scan.getCarried().size(); }

  bool isOutside(Value value) { return value.getParentBlock() != &body; }

  /// Moves what depends on no time step before the scan. Constants stay, and
  /// what moves takes copies of them along.
  void hoist() {
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      if (!isa<ConstantOp>(op) && op.getNumRegions() == 0 &&
          isMemoryEffectFree(&op) && readsOutsideAlone(op)) {
        for (OpOperand &operand : op.getOpOperands())
          if (!isOutside(operand.get()))
            operand.set(
                builder.clone(*operand.get().getDefiningOp())->getResult(0));
        op.moveBefore(scan);
      }
  }

  bool readsOutsideAlone(Operation &op) {
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return isOutside(operand) || operand.getDefiningOp<ConstantOp>();
    });
  }

  /// Finds the values of the outside that the body uses; constants are copied
  /// into it.
  void findCaptured() {
    OpBuilder inside = OpBuilder::atBlockBegin(&body);
    for (Operation &op : llvm::make_early_inc_range(body))
      for (OpOperand &operand : op.getOpOperands())
        if (Value value = operand.get(); isOutside(value)) {
          if (auto constant = value.getDefiningOp<ConstantOp>())
            operand.set(inside.clone(*constant)->getResult(0));
          else
            captured.insert(value);
        }
  }

  func::FuncOp outline() {
    auto caller = scan->getParentOfType<func::FuncOp>();
    SmallVector<Type> arguments(ValueRange(captured.getArrayRef()).getTypes());
    llvm::append_range(arguments, body.getArgumentTypes());
    auto function = addLoopBody(caller, scan.getLoc(), arguments,
                                scan.getYielded().getTypes());
    Block *block = &function.getBody().front();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(captured, block->getArguments()))
      mapping.map(from, to);
    for (auto [from, to] :
         llvm::zip(body.getArguments(),
                   block->getArguments().drop_front(captured.size()))) {
      to.setLoc(from.getLoc());
      mapping.map(from, to);
    }
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    for (Operation &op : body.without_terminator())
      inside.clone(op, mapping);
    auto returned = llvm::map_to_vector(
        scan.getYielded(), [&](Value value) { return mapping.lookup(value); });
    func::ReturnOp::create(inside, body.getTerminator()->getLoc(), returned);
    return function;
  }

  /// Returns a value with time as its first dimension. Rows that a product
  /// makes wider are transposed before it.
  Value timeFirst(Value value) {
    int64_t dim = scan.getDim(), rank = tensorType(value).getRank();
    if (dim == 0)
      return value;
    SmallVector<int64_t> permutation{dim};
    for (int64_t other = 0; other < rank; ++other)
      if (other != dim)
        permutation.push_back(other);
    auto product = value.getDefiningOp<LinearOp>();
    if (!product || !product->hasOneUse() || dim + 1 == rank ||
        product.getInput().getType().getDimSize(rank - 1) >
            product.getType().getDimSize(rank - 1))
      return TransposeOp::create(builder, value, permutation);
    IRMapping mapping;
    mapping.map(product.getInput(),
                TransposeOp::create(builder, product.getInput(), permutation));
    Value transposed = builder.clone(*product, mapping)->getResult(0);
    auto type = tensorType(value);
    transposed.setType(
        type.clone(applyPermutation(type.getShape(), permutation)));
    replaced.push_back(product);
    return transposed;
  }

  Value timeBack(Value value) {
    int64_t dim = scan.getDim();
    if (dim == 0)
      return value;
    SmallVector<int64_t> permutation;
    for (int64_t other = 1; other < tensorType(value).getRank(); ++other)
      permutation.push_back(other);
    permutation.insert(permutation.begin() + dim, 0);
    return TransposeOp::create(builder, value, permutation);
  }

  ScanOp scan;
  Block &body;
  ImplicitLocOpBuilder builder;
  llvm::SetVector<Value> captured;
  SmallVector<Operation *> replaced; ///< products, by ones of transposed rows
};

struct OutlineLoops : mp::impl::OutlineLoopsBase<OutlineLoops> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ScanOp> scans; // inner ones first
    WalkResult walked = getOperation().walk([&](ScanOp scan) {
      if (StringRef why = whyNoLoop(scan); !why.empty()) {
        scan.emitOpError() << "cannot be a loop: " << why
                           << "; mp-unroll-scans replaces such scans";
        return WalkResult::interrupt();
      }
      for (Value value : scan.getOperands())
        if (!tensorType(value).hasStaticShape()) {
          scan.emitOpError()
              << value.getType() << " has a '?': run mp-specialize before";
          return WalkResult::interrupt();
        }
      scans.push_back(scan);
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (ScanOp scan : scans)
      Outliner(scan).run();
  }
};
} // namespace

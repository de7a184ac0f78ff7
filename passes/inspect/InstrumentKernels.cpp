//===- InstrumentKernels.cpp - records of the values of kernels -----------===//
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Logic.h"
#include "dialect/ops/Reduction.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"
#include "passes/analysis/BackwardOps.h"
#include "passes/inspect/Instrument.h"
#include "passes/inspect/Records.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mp;

namespace {

/// A reduction for each value joins the kernel that stores it, or one that
/// reads it, where the elements are in registers anyhow. A single number that
/// is not state is not worth a launch and has no record.
class KernelRecorder {
public:
  explicit KernelRecorder(func::FuncOp function)
      : function(function), records(function) {}

  void run() {
    auto kernels = llvm::to_vector(function.getOps<KernelOp>());
    for (KernelOp kernel : kernels)
      for (OpResult result : kernel.getResults())
        if (isRecorded(result))
          describe(kernel, result);
    for (auto &[result, number] : numbers)
      choosePlace(cast<OpResult>(result), number);
    for (KernelOp kernel : kernels)
      if (auto found = wanted.find(kernel); found != wanted.end())
        extend(kernel, found->second);
    records.finish();
  }

private:
  struct Wanted {
    int64_t number; ///< of the record
    unsigned place; ///< of a result, or of a block argument
    bool isArgument;
  };

  /// An f16 copy, a cast of a recorded value, has no record either: it has a
  /// check of its own.
  static bool isRecorded(Value value) {
    auto type = tensorType(value);
    return isa<FloatType>(type.getElementType()) &&
           !type.getElementType().isF64() &&
           (type.getNumElements() > 1 || isState(value)) &&
           !(type.getElementType().isF16() && isCopy(value));
  }

  static bool isCopy(Value value) {
    return isWrittenTo(value, {StateKind::derived});
  }

  /// A single number may be a parameter, and if that breaks, the run breaks.
  static bool isState(Value value) {
    return isWrittenTo(
        value, {StateKind::parameter, StateKind::slot, StateKind::buffer});
  }

  static bool isWrittenTo(Value value, ArrayRef<StateKind> kinds) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto write = dyn_cast<WriteOp>(user);
      auto variable =
          write ? lookupVariable(write, write.getVariableAttr()) : VariableOp();
      return variable && llvm::is_contained(kinds, variable.getKind());
    });
  }

  static bool hasAnchor(KernelOp kernel) {
    return !kernel.getBody().getOps<AnchorOpInterface>().empty();
  }

  void describe(KernelOp kernel, OpResult result) {
    Operation *yield = kernel.getBody().front().getTerminator();
    Value inner = yield->getOperand(result.getResultNumber());
    RecordedValue value{nameOf(kernel, result, inner),
                        inner.getDefiningOp() ? inner.getLoc()
                                              : kernel.getLoc(),
                        phaseOf(kernel), tensorType(result)};
    for (Value input : kernel.getInputs())
      if (auto known = numbers.find(origin(input)); known != numbers.end())
        value.operands.push_back(known->second);
    value.meant = usesInfinity(kernel);
    value.watched = isWritten(result) || isChecked(kernel) ||
                    llvm::any_of(result.getUsers(), [](Operation *user) {
                      return isChecked(dyn_cast<KernelOp>(user));
                    });
    value.guarded = bool(kernel.getPredicate());
    numbers[result] = records.add(value);
  }

  /// "mp.relu (in a kernel of mp.linear mp.relu)", "update of variable 'w'"
  static std::string nameOf(KernelOp kernel, OpResult result, Value inner) {
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<WriteOp>(user))
        return ("update of variable '" + write.getVariable() + "'").str();
    Operation *maker = inner.getDefiningOp();
    std::string name = maker ? nameOfMaker(maker) : "a copy";
    auto ops = kernel.getOps();
    if (ops && ops->contains(' '))
      name += (" (in a kernel of " + *ops + ")").str();
    return name;
  }

  static StringRef phaseOf(KernelOp kernel) {
    // An update's location has the places of all ops that it fuses.
    if (kernel.getPredicate() ||
        llvm::any_of(kernel.getResults(), [](Value r) { return isWritten(r); }))
      return "update";
    return isBackward(kernel.getLoc()) ? "backward" : "forward";
  }

  static bool isWritten(Value value) {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return isa<WriteOp>(user); });
  }

  static bool usesInfinity(KernelOp kernel) {
    return llvm::any_of(kernel.getInputs(), isInfiniteConstant) ||
           llvm::any_of(kernel.getBody().getOps<ConstantOp>(),
                        [](ConstantOp op) { return isInfiniteConstant(op); });
  }

  /// Whether a kernel checks that something is finite.
  static bool isChecked(KernelOp kernel) {
    return kernel && !kernel.getBody().getOps<IsFiniteOp>().empty();
  }

  /// Returns the value that a reshape between kernels is a view of.
  static Value origin(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getInput();
    return value;
  }

  /// Chooses the kernel that computes a record. Not every target's anchor takes
  /// a reduction in, and then the value is read once more, so a kernel that
  /// reads it anyhow is better.
  void choosePlace(OpResult result, int64_t number) {
    auto kernel = cast<KernelOp>(result.getOwner());
    for (OpOperand &use : result.getUses()) {
      auto reader = dyn_cast<KernelOp>(use.getOwner());
      if (!hasAnchor(kernel) || !reader || hasAnchor(reader) ||
          reader.getPredicate())
        continue;
      wanted[reader].push_back({number, use.getOperandNumber(), true});
      return;
    }
    wanted[kernel].push_back({number, result.getResultNumber(), false});
  }

  /// Builds the largest magnitude of a value, at the place of `b`.
  static Value largest(ImplicitLocOpBuilder &b, Value value) {
    Value bits = MagnitudeOp::create(b, value);
    if (tensorType(value).getRank() == 0)
      return bits;
    auto dims =
        llvm::to_vector(llvm::seq<int64_t>(tensorType(value).getRank()));
    return MaxOp::create(b, bits, dims, false);
  }

  /// Builds the kernel again, with further results.
  void extend(KernelOp kernel, ArrayRef<Wanted> additions) {
    Block &inner = kernel.getBody().front();
    auto *yield = inner.getTerminator();
    ImplicitLocOpBuilder b(kernel.getLoc(), yield);
    SmallVector<Type> types(kernel.getResultTypes());
    for (const Wanted &one : additions) {
      Value value = one.isArgument ? Value(inner.getArgument(one.place))
                                   : yield->getOperand(one.place);
      Value found = largest(b, value);
      yield->insertOperands(yield->getNumOperands(), found);
      types.push_back(found.getType());
    }
    OpBuilder outer(kernel);
    auto extended =
        KernelOp::create(outer, kernel.getLoc(), types, kernel.getInputs(),
                         kernel.getPredicate(), kernel.getOpsAttr());
    extended.getBody().takeBody(kernel.getBody());
    size_t before = kernel.getNumResults();
    for (auto [at, one] : llvm::enumerate(additions))
      records.addFact(one.number, "magnitude", extended.getResult(before + at));
    kernel->replaceAllUsesWith(extended->getResults().take_front(before));
    kernel.erase();
  }

  func::FuncOp function;
  Records records;
  llvm::MapVector<Value, int64_t> numbers;           ///< of records, by result
  DenseMap<Operation *, SmallVector<Wanted>> wanted; ///< by kernel
};
} // namespace

void mp::recordKernels(func::FuncOp function) {
  KernelRecorder(function).run();
}

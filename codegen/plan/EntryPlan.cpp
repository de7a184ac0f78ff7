//===- EntryPlan.cpp - from a function of kernels to steps ----------------===//
#include "codegen/plan/EntryPlan.h"
#include "codegen/Backend.h"
#include "codegen/plan/Aliases.h"
#include "codegen/plan/ArenaPlan.h"
#include "codegen/plan/Describe.h"
#include "codegen/plan/Exchanges.h"
#include "codegen/plan/Lifetimes.h"
#include "codegen/plan/LoopRound.h"
#include "codegen/stages/InPlace.h"
#include "dialect/ops/Constant.h"
#include "dialect/ops/Kernel.h"
#include "dialect/ops/Loop.h"
#include "dialect/ops/State.h"
#include "dialect/ops/View.h"

using namespace mlir;
using namespace mp;

uint32_t ProgramBuilder::kernel(StringRef symbol, Operation *op,
                                Backend &backend) {
  auto [known, isNew] = kernels.try_emplace(symbol, program.kernels.size());
  if (isNew) {
    Kernel kernel = backend.code(symbol);
    describeSources(kernel, op);
    program.kernels.push_back(std::move(kernel));
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {
/// A place in the arena is named by its buffer until offsets are known.
class EntryPlanner {
public:
  EntryPlanner(func::FuncOp function, CodeOf codeOf, ProgramBuilder &builder,
               Backend &backend)
      : function(function), codeOf(codeOf), emitted(codeOf(function)),
        builder(builder), backend(backend),
        aliases(function.getBody().front()) {}

  FailureOr<Entry> plan() {
    Block &block = function.getBody().front();
    for (auto [index, argument] : llvm::enumerate(block.getArguments()))
      refs[argument] = {BufferRef::Space::Staging, static_cast<uint32_t>(index),
                        0};
    if (failed(findWrites(block)))
      return failure();
    for (Operation &op : block)
      planOp(&op);
    for (auto write : block.getOps<WriteOp>())
      planWrite(write);
    waitFor(exchanges.all());
    planResults(block.getTerminator());
    describeRecords(entry, function);
    if (failed(checkReads()))
      return failure();
    backend.finish(entry, stepPlaces, builder);
    findLifetimes(entry);
    entry.arenaBytes = planArena(entry.buffers);
    forEachPlace(entry, [&](BufferRef &ref, uint32_t) {
      if (ref.space != BufferRef::Space::Arena)
        return;
      ref.offset += entry.buffers[ref.index].offset;
      ref.index = 0;
    });
    return std::move(entry);
  }

private:
  uint32_t variableIndex(StringRef name) const {
    return builder.variables.lookup(name);
  }

  void planOp(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      planRead(read);
    else if (auto constant = dyn_cast<ConstantOp>(op))
      planConstant(constant);
    else if (auto reshape = dyn_cast<ReshapeOp>(op))
      refs[reshape] = refs.lookup(reshape.getInput());
    else if (auto part = dyn_cast<PartOp>(op))
      refs[part] = within(refs.lookup(part.getInput()), part.getOffset(),
                          part.getType());
    else if (auto assemble = dyn_cast<AssembleOp>(op))
      refs[assemble] = placeOf(assemble);
    else if (auto kernel = dyn_cast<KernelOp>(op))
      planKernel(kernel);
  }

  /// A read lies in its variable. If it leaves the function, or goes to another
  /// variable, although the variable is written, it is copied first.
  void planRead(ReadOp read) {
    uint32_t index = variableIndex(read.getVariable());
    BufferRef ref{BufferRef::Space::Variable, index, 0};
    bool leaves = false;
    aliases.forEachUse(read.getResult(), [&](OpOperand &use) {
      leaves |= isa<WriteOp, func::ReturnOp>(use.getOwner());
    });
    if (leaves && written.contains(index)) {
      BufferRef copy =
          newBuffer(describeType(read.getType()).bytes(), read, "read");
      addStep(Copy{copy, ref, describeType(read.getType()).bytes(), {}},
              {{ref}, {copy}});
      ref = copy;
    }
    refs[read] = ref;
  }

  void planConstant(ConstantOp constant) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    auto type = describeType(cast<RankedTensorType>(constant.getType()));
    auto index = static_cast<uint32_t>(builder.program.constants.size());
    builder.program.constants.push_back(
        {type, describeElements(elements, type)});
    refs[constant] = {BufferRef::Space::Constant, index, 0};
  }

  /// Returns the place of the element `offset` of a tensor.
  static BufferRef within(BufferRef tensor, int64_t offset,
                          RankedTensorType type) {
    tensor.offset += offset * byteWidth(describeType(type).element);
    return tensor;
  }

  /// Returns the place of what kernels write in parts: a new one for the first
  /// of them.
  BufferRef placeOf(AssembleOp assemble) {
    if (auto whole = placeInWhole(assemble.getResult()))
      return *whole;
    auto [known, isNew] = assembled.try_emplace(assemble);
    if (isNew)
      known->second = newBuffer(describeType(assemble.getType()).bytes(),
                                assemble, "concat");
    return known->second;
  }

  /// Returns the place of a value that is a part of another tensor.
  std::optional<BufferRef> placeInWhole(Value value) {
    for (OpOperand &use : value.getUses())
      if (auto assemble = dyn_cast<AssembleOp>(use.getOwner()))
        return within(placeOf(assemble),
                      assemble.getOffsets()[use.getOperandNumber()],
                      assemble.getType());
    return std::nullopt;
  }

  void planKernel(KernelOp kernel) {
    const EmittedKernel &code = emitted[nextKernel++];
    SmallVector<BufferRef> results, temporaries;
    DenseSet<uint32_t> taken;
    for (OpResult result : kernel.getOutputs()) {
      auto place = placeInWhole(result);
      if (!place)
        place = placeInRound(kernel, result);
      if (!place)
        place = inPlace(kernel, result);
      if (!place)
        place = placeOfOperand(kernel, result, taken);
      results.push_back(
          place ? *place
                : newBuffer(describeType(tensorType(result)).bytes(), kernel,
                            summaryOf(kernel)));
    }
    for (auto [result, place] : llvm::zip_equal(kernel.getOutputs(), results))
      refs[result] = place;
    if (auto loop = dyn_cast_or_null<LoopOp>(anchorOf(kernel)))
      return planLoop(kernel, loop, results);
    for (uint64_t bytes : code.temporaries)
      temporaries.push_back(
          newBuffer(bytes, kernel, "temporary of " + summaryOf(kernel)));
    auto resolveArguments = [&](ArrayRef<KernelArgument> arguments,
                                StepBufferRefs &touched) {
      std::vector<BufferRef> resolved;
      for (const KernelArgument &argument : arguments) {
        bool isOperand = argument.kind == KernelArgument::Kind::Operand;
        resolved.push_back(isOperand
                               ? refs.lookup(kernel->getOperand(argument.index))
                           : argument.kind == KernelArgument::Kind::Result
                               ? results[argument.index]
                               : temporaries[argument.index]);
        (isOperand ? touched.read : touched.written).push_back(resolved.back());
      }
      return resolved;
    };
    StepBufferRefs touched;
    for (const KernelLaunch &launch : code.launches) {
      auto arguments = resolveArguments(launch.arguments, touched);
      uint64_t bytes = trafficOf(launch.arguments, kernel, code.temporaries);
      addStep(Launch{.kernel = builder.kernel(launch.symbol, kernel, backend),
                     .grid = launch.grid,
                     .block = launch.block,
                     .shared = launch.shared,
                     .args = std::move(arguments),
                     .bytes = bytes,
                     .flops = launch.flops},
              std::exchange(touched, {}));
    }
    if (code.call) {
      auto arguments = resolveArguments(code.call->arguments, touched);
      for (StringRef symbol : code.call->kernels)
        builder.kernel(symbol, kernel, backend);
      StepBufferRefs exchanged = touched;
      if (!code.call->wait.empty())
        touched.exchange = StepBufferRefs::Exchange::Start;
      addStep(Call{.routine = code.call->routine,
                   .attributes = code.call->attributes,
                   .grid = code.call->grid,
                   .block = code.call->block,
                   .args = std::move(arguments),
                   .bytes = trafficOf(code.call->arguments, kernel, {}),
                   .flops = code.call->flops},
              std::move(touched));
      if (!code.call->wait.empty())
        exchanges.started(code.call->wait, std::move(exchanged));
    }
  }

  /// Returns the bytes of all arguments; temporaries count only if they have a
  /// size.
  static uint64_t trafficOf(ArrayRef<KernelArgument> arguments, KernelOp kernel,
                            ArrayRef<uint64_t> temporaries) {
    uint64_t bytes = 0;
    for (auto [kind, index] : arguments) {
      if (kind == KernelArgument::Kind::Operand)
        bytes += describeType(tensorType(kernel->getOperand(index))).bytes();
      else if (kind == KernelArgument::Kind::Result)
        bytes += describeType(tensorType(kernel->getResult(index))).bytes();
      else if (index < temporaries.size())
        bytes += temporaries[index];
    }
    return bytes;
  }

  /// Returns the variable that a result may be computed in.
  std::optional<BufferRef> inPlace(KernelOp kernel, OpResult result) {
    for (Operation *user : result.getUsers()) {
      auto write = dyn_cast<WriteOp>(user);
      if (!write || write.getPredicate() != kernel.getPredicate())
        continue;
      uint32_t index = variableIndex(write.getVariable());
      if (!stored.contains(write) &&
          isLastReadBy(kernel, result, write.getVariable())) {
        stored.insert(write);
        return BufferRef{BufferRef::Space::Variable, index, 0};
      }
    }
    return std::nullopt;
  }

  /// Whether nothing after the kernel reads the variable, and the kernel itself
  /// only where it writes.
  bool isLastReadBy(KernelOp kernel, OpResult result, StringRef variable) {
    for (auto read : function.getBody().getOps<ReadOp>()) {
      if (read.getVariable() != variable ||
          refs.lookup(read).space != BufferRef::Space::Variable)
        continue;
      bool isRead = false;
      aliases.forEachUse(read.getResult(), [&](OpOperand &use) {
        Operation *user = use.getOwner();
        unsigned operand = use.getOperandNumber();
        isRead |= user == kernel ? operand >= kernel.getInputs().size() ||
                                       !allowsInPlace(kernel, operand,
                                                      result.getResultNumber())
                                 : kernel->isBeforeInBlock(user);
      });
      if (isRead)
        return false;
    }
    return true;
  }

  /// Returns the buffer of an operand that nothing reads after the kernel, if
  /// the result may be computed in it. `taken` are those of other results.
  std::optional<BufferRef> placeOfOperand(KernelOp kernel, OpResult result,
                                          DenseSet<uint32_t> &taken) {
    for (Value input : kernel.getInputs()) {
      BufferRef ref = refs.lookup(input);
      if (ref.space == BufferRef::Space::Arena && !taken.contains(ref.index) &&
          (!round || round->owns(ref)) &&
          aliases.areLastUsedBy(kernel, input) &&
          mayReplace(kernel, ref, result.getResultNumber())) {
        taken.insert(ref.index);
        return ref;
      }
    }
    return std::nullopt;
  }

  /// Whether a result may replace a buffer that several operands may be.
  bool mayReplace(KernelOp kernel, const BufferRef &ref, unsigned result) {
    for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
      BufferRef other = refs.lookup(input);
      if (other.space == ref.space && other.index == ref.index &&
          !allowsInPlace(kernel, index, result))
        return false;
    }
    return true;
  }

  bool allowsInPlace(KernelOp kernel, unsigned operand, unsigned result) {
    if (auto anchor = dyn_cast_or_null<AnchorOpInterface>(anchorOf(kernel)))
      return mp::allowsInPlace(anchor, operand, result);
    // One analysis serves all results of a kernel, of which there may be
    // hundreds: an optimizer updates many small parameters at once.
    if (analyzed != kernel) {
      analyzed = kernel;
      stages = analyzeStages(kernel.getBody().front(), backend.stageTarget());
    }
    return succeeded(stages) && mp::allowsInPlace(*stages, operand, result);
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  void addCopy(BufferRef to, BufferRef from, Value value) {
    if (to != from)
      addStep(Copy{to, from, bytesOfValue(value), {}}, {{from}, {to}});
  }

  void planLoop(KernelOp kernel, LoopOp loop, ArrayRef<BufferRef> results) {
    func::FuncOp body = loop.lookUpBody();
    LoopRound own(loop, body, placesOf(kernel, loop, results),
                  entry.buffers.size());
    StepBufferRefs touched{{}, SmallVector<BufferRef>(results)};
    for (Value operand : loop.getOperands())
      touched.read.push_back(refs.lookup(
          kernel->getOperand(cast<BlockArgument>(operand).getArgNumber())));
    waitFor(exchanges.until(touched));
    size_t invariants = loop.getInvariant().size();
    for (size_t i = 0; i < own.carried(); ++i)
      addCopy(own.placeOf(i), touched.read[invariants + i], loop.getResult(i));

    size_t number = entry.steps.size();
    addStep(Repeat{static_cast<int64_t>(loop.getRounds()), 0}, {});
    bindArguments(own, touched.read);
    planRound(own, body);
    auto steps = static_cast<uint32_t>(entry.steps.size() - number - 1);
    std::get<Repeat>(entry.steps[number]).steps = steps;
    if (steps == 0) {
      entry.steps.pop_back();
      stepPlaces.pop_back();
    }
  }

  /// Returns the places of all results of a loop, also of those that its kernel
  /// does not yield.
  SmallVector<BufferRef> placesOf(KernelOp kernel, LoopOp loop,
                                  ArrayRef<BufferRef> results) {
    SmallVector<BufferRef> places;
    for (Value result : loop.getResults()) {
      auto isYield = [](OpOperand &use) {
        return isa<YieldOp>(use.getOwner());
      };
      auto use = llvm::find_if(result.getUses(), isYield);
      places.push_back(use != result.use_end()
                           ? results[use->getOperandNumber()]
                           : newBuffer(bytesOfValue(result), kernel,
                                       "unused result of loop"));
    }
    return places;
  }

  void bindArguments(LoopRound &own, ArrayRef<BufferRef> operands) {
    size_t invariants = LoopOp(own.loop).getInvariant().size();
    for (auto [index, argument] : llvm::enumerate(own.block.getArguments())) {
      if (index < invariants) {
        refs[argument] = operands[index];
      } else if (index < invariants + own.carried()) {
        refs[argument] = own.placeOf(index - invariants);
      } else if (BufferRef element = own.elementOf(operands[index], argument);
                 LoopRound::isAligned(argument)) {
        refs[argument] = element;
      } else {
        refs[argument] = newBuffer(bytesOfValue(argument), own.loop, "element");
        addCopy(refs[argument], element, argument);
      }
    }
  }

  /// Plans the steps of a round.
  void planRound(LoopRound &own, func::FuncOp body) {
    ArrayRef<EmittedKernel> code = codeOf(body);
    Aliases inside(own.block);
    LoopRound *around = &own;
    unsigned first = 0;
    auto swapScope = [&] {
      std::swap(emitted, code);
      std::swap(aliases, inside);
      std::swap(round, around);
      std::swap(nextKernel, first);
    };
    swapScope();
    // What the round before left is stacked before its place is written.
    for (unsigned i = own.carried(); i < own.results(); ++i)
      if (isa<BlockArgument>(own.yielded(i)))
        store(own, i);
    for (Operation &op : own.block)
      planOp(&op);
    for (unsigned i = own.carried(); i < own.results(); ++i)
      store(own, i);
    carry(own);
    swapScope();
  }

  void store(LoopRound &own, unsigned result) {
    Value value = own.yielded(result);
    if (!own.isStored(result))
      addCopy(own.placeOf(result), refs.lookup(value), value);
    own.setStored(result);
  }

  /// Moves what the next round takes to its place. What lies in the place of
  /// another carried value moves by way of a buffer, as that may come first.
  void carry(LoopRound &own) {
    SmallVector<BufferRef> places;
    for (unsigned i = 0; i < own.carried(); ++i)
      places.push_back(own.placeOf(i));
    for (unsigned i = 0; i < own.carried(); ++i) {
      Value value = own.yielded(i);
      BufferRef &from = refs[value];
      if (own.isStored(i) || from == places[i] ||
          !llvm::is_contained(places, from))
        continue;
      BufferRef between =
          newBuffer(bytesOfValue(value), own.loop, "carried value");
      addCopy(between, from, value);
      from = between;
    }
    for (unsigned i = 0; i < own.carried(); ++i)
      store(own, i);
  }

  /// Returns the place of a kernel's result among those of the loop.
  std::optional<BufferRef> placeInRound(KernelOp kernel, OpResult result) {
    if (!round)
      return std::nullopt;
    return round->takePlace(result, [&](Value before) {
      return mayReplace(kernel, result, before);
    });
  }

  /// Whether nothing reads what the round before carried on once the kernel has
  /// run, and the kernel only where it writes.
  bool mayReplace(KernelOp kernel, OpResult result, Value before) {
    bool isRead = false;
    aliases.forEachUse(before, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      unsigned operand = use.getOperandNumber();
      if (user->hasTrait<OpTrait::IsTerminator>())
        isRead |= !round->isStored(operand);
      else if (user == kernel)
        isRead |= operand >= kernel.getInputs().size() ||
                  !allowsInPlace(kernel, operand, result.getResultNumber());
      else
        isRead |= kernel->isBeforeInBlock(user);
    });
    return !isRead;
  }

  /// mp-verify-step has checked steps; this checks any function that is run.
  LogicalResult findWrites(Block &block) {
    for (auto write : block.getOps<WriteOp>()) {
      auto [known, isNew] =
          written.try_emplace(variableIndex(write.getVariable()), write);
      if (isNew)
        continue;
      auto diagnostic = write.emitOpError() << "writes @" << write.getVariable()
                                            << " a second time";
      diagnostic.attachNote(known->second.getLoc()) << "the first time";
      return diagnostic;
    }
    return success();
  }

  void planWrite(WriteOp write) {
    if (stored.contains(write))
      return;
    BufferRef from = refs.lookup(write.getValue());
    BufferRef to{BufferRef::Space::Variable, variableIndex(write.getVariable()),
                 0};
    StepBufferRefs touched{{from}, {to}};
    std::optional<BufferRef> flag;
    if (write.getPredicate()) {
      flag = refs.lookup(write.getPredicate());
      touched.read.push_back(*flag);
    }
    uint64_t bytes = describeType(tensorType(write.getValue())).bytes();
    std::optional<KernelLaunch> guarded;
    if (flag)
      guarded = backend.guardedCopy(bytes);
    if (!guarded)
      return addStep(Copy{to, from, bytes, flag}, std::move(touched));
    uint64_t flagBytes = 1;
    addStep(Launch{.kernel = builder.kernel(guarded->symbol, write, backend),
                   .grid = guarded->grid,
                   .block = guarded->block,
                   .shared = guarded->shared,
                   .args = {to, from, *flag},
                   .bytes = 2 * bytes + flagBytes},
            std::move(touched));
  }

  void planResults(Operation *terminator) {
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
      Result &result = entry.results.emplace_back();
      result.name = name ? name.getValue().str() : "";
      result.type = describeType(tensorType(value));
      result.ref = refs.lookup(value);
      if (auto origin =
              function.getResultAttrOfType<NameLoc>(index, kOriginAttr)) {
        result.origin = origin.getName().getValue().str();
        result.location = locate(origin.getChildLoc());
      }
    }
  }

  /// Fails if a step reads a buffer before a step has written it: it would find
  /// the bytes of another value.
  LogicalResult checkReads() {
    const Buffer *buffer = findUnwritten(entry, stepPlaces);
    if (!buffer)
      return success();
    return function.emitError()
           << "internal error: nothing writes the " << buffer->summary << " of "
           << buffer->location.str()
           << " before it is read; please report this with the module";
  }

  BufferRef newBuffer(uint64_t bytes, Operation *op, StringRef summary) {
    entry.buffers.push_back(
        {0, bytes, 0, 0, locate(op->getLoc()), summary.str()});
    return {BufferRef::Space::Arena,
            static_cast<uint32_t>(entry.buffers.size() - 1), 0};
  }
  void addStep(Step step, StepBufferRefs touched) {
    waitFor(exchanges.until(touched));
    entry.steps.push_back(std::move(step));
    stepPlaces.push_back(std::move(touched));
  }
  void waitFor(ArrayRef<Exchanges::Wait> waits) {
    for (const Exchanges::Wait &wait : waits) {
      entry.steps.push_back(wait.step);
      stepPlaces.push_back(wait.touched);
    }
  }

  func::FuncOp function;
  CodeOf codeOf;
  ArrayRef<EmittedKernel> emitted; ///< of the block that is planned
  ProgramBuilder &builder;
  Backend &backend;
  Aliases aliases;
  Entry entry;
  std::vector<StepBufferRefs> stepPlaces;
  Exchanges exchanges;
  LoopRound *round = nullptr; ///< null: outside of loops
  DenseMap<Value, BufferRef> refs;
  DenseMap<Operation *, BufferRef> assembled;
  DenseMap<uint32_t, WriteOp> written;
  DenseSet<Operation *> stored;
  /// The last kernel whose stages were analyzed.
  KernelOp analyzed;
  FailureOr<StageProgram> stages = failure();
  unsigned nextKernel = 0;
};
} // namespace

FailureOr<Entry> mp::planEntry(func::FuncOp function, CodeOf codeOf,
                               ProgramBuilder &builder, Backend &backend) {
  return EntryPlanner(function, codeOf, builder, backend).plan();
}

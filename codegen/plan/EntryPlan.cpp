//===- EntryPlan.cpp - from a function of kernels to steps ----------------===//
#include "codegen/plan/ArenaPlan.h"
#include "codegen/plan/Describe.h"
#include "codegen/plan/EntryPlanner.h"
#include "codegen/plan/Invariants.h"
#include "codegen/plan/Lifetimes.h"
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

FailureOr<Entry> EntryPlanner::plan() {
  Block &block = function.getBody().front();
  for (auto [index, argument] : llvm::enumerate(block.getArguments()))
    refs[argument] = {BufferRef::Space::Staging, static_cast<uint32_t>(index),
                      0};
  if (failed(findWrites(block)))
    return failure();
  for (auto read : block.getOps<ReadOp>())
    reads[read.getVariable()].push_back(read);
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

void EntryPlanner::planOp(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    planRead(read);
  else if (auto constant = dyn_cast<ConstantOp>(op))
    planConstant(constant);
  else if (auto reshape = dyn_cast<ReshapeOp>(op))
    refs[reshape] = refs.lookup(reshape.getInput());
  else if (auto part = dyn_cast<PartOp>(op))
    refs[part] =
        within(refs.lookup(part.getInput()), part.getOffset(), part.getType());
  else if (auto assemble = dyn_cast<AssembleOp>(op))
    refs[assemble] = placeOf(assemble);
  else if (auto kernel = dyn_cast<KernelOp>(op))
    planKernel(kernel);
}

void EntryPlanner::planRead(ReadOp read) {
  uint32_t index = variableIndex(read.getVariable());
  BufferRef ref{BufferRef::Space::Variable, index, 0};
  bool leaves = false;
  aliases.forEachUse(read.getResult(), [&](OpOperand &use) {
    leaves |= isa<WriteOp, func::ReturnOp>(use.getOwner());
  });
  if (leaves && written.contains(index)) {
    BufferRef copy = newBuffer(bytesOfValue(read), read, "read");
    addStep(Copy{copy, ref, bytesOfValue(read), {}}, {{ref}, {copy}});
    ref = copy;
  }
  refs[read] = ref;
}

void EntryPlanner::planConstant(ConstantOp constant) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  auto type = describeType(cast<RankedTensorType>(constant.getType()));
  auto index = static_cast<uint32_t>(builder.program.constants.size());
  builder.program.constants.push_back({type, describeElements(elements, type)});
  refs[constant] = {BufferRef::Space::Constant, index, 0};
}

/// Returns the bytes of all arguments; temporaries count only if they have a
/// size.
static uint64_t trafficOf(ArrayRef<KernelArgument> arguments, KernelOp kernel,
                          ArrayRef<uint64_t> temporaries) {
  uint64_t bytes = 0;
  for (auto [kind, index] : arguments) {
    if (kind == KernelArgument::Kind::Operand)
      bytes += bytesOfValue(kernel->getOperand(index));
    else if (kind == KernelArgument::Kind::Result)
      bytes += bytesOfValue(kernel->getResult(index));
    else if (index < temporaries.size())
      bytes += temporaries[index];
  }
  return bytes;
}

/// Whether a launch prepares for a loop what all its rounds read.
static bool isPreparation(const KernelLaunch &launch, KernelOp kernel) {
  return launch.prepares &&
         llvm::all_of(launch.arguments, [&](const KernelArgument &argument) {
           return argument.kind != KernelArgument::Kind::Operand ||
                  isInvariant(kernel, argument.index);
         });
}

void EntryPlanner::planKernel(KernelOp kernel) {
  const EmittedKernel &code = emitted[nextKernel++];
  body = code.body;
  if (auto loop = dyn_cast_or_null<LoopOp>(anchorOf(kernel)))
    return planLoop(kernel, loop);
  SmallVector<BufferRef> results = placesOf(kernel), temporaries;
  for (auto [result, place] : llvm::zip_equal(kernel.getOutputs(), results))
    refs[result] = place;
  if (auto scatter = dyn_cast_or_null<ScatterRowsOp>(anchorOf(kernel)))
    copyTable(kernel, scatter, results.front());
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
  touched.isLate = kernel->hasAttr(kLateAttr);
  for (const KernelLaunch &launch : code.launches) {
    auto arguments = resolveArguments(launch.arguments, touched);
    uint64_t bytes = trafficOf(launch.arguments, kernel, code.temporaries);
    Launch step{.kernel = builder.kernel(launch.symbol, kernel, backend),
                .grid = launch.grid,
                .block = launch.block,
                .shared = launch.shared,
                .args = std::move(arguments),
                .bytes = bytes,
                .flops = launch.flops};
    StepBufferRefs own = std::exchange(touched, {});
    if (round && isPreparation(launch, kernel))
      round->prepare(std::move(step), std::move(own));
    else
      addStep(std::move(step), std::move(own));
  }
  if (code.call) {
    for (StringRef symbol : code.call->kernels)
      builder.kernel(symbol, kernel, backend);
    auto arguments = resolveArguments(code.call->arguments, touched);
    planCall(kernel, *code.call, std::move(arguments), std::move(touched));
  }
}

void EntryPlanner::planCall(KernelOp kernel, const KernelCall &call,
                            std::vector<BufferRef> arguments,
                            StepBufferRefs touched) {
  StepBufferRefs exchanged = touched;
  if (!call.wait.empty())
    touched.exchange = StepBufferRefs::Exchange::Start;
  addStep(Call{.routine = call.routine,
               .attributes = call.attributes,
               .grid = call.grid,
               .block = call.block,
               .args = std::move(arguments),
               .bytes = trafficOf(call.arguments, kernel, {}),
               .flops = call.flops},
          std::move(touched));
  if (!call.wait.empty())
    exchanges.started(call.wait, std::move(exchanged));
}

LogicalResult EntryPlanner::findWrites(Block &block) {
  for (auto write : block.getOps<WriteOp>()) {
    auto [known, isNew] =
        written.try_emplace(variableIndex(write.getVariable()), write);
    if (isNew)
      continue;
    auto diagnostic = write.emitOpError()
                      << "writes @" << write.getVariable() << " a second time";
    diagnostic.attachNote(known->second.getLoc()) << "the first time";
    return diagnostic;
  }
  return success();
}

void EntryPlanner::planWrite(WriteOp write) {
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
  uint64_t bytes = bytesOfValue(write.getValue());
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

void EntryPlanner::planResults(Operation *terminator) {
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

LogicalResult EntryPlanner::checkReads() {
  const Buffer *buffer = findUnwritten(entry, stepPlaces);
  if (!buffer)
    return success();
  return function.emitError()
         << "internal error: nothing writes the " << buffer->summary << " of "
         << buffer->location.str()
         << " before it is read; please report this with the module";
}

BufferRef EntryPlanner::newBuffer(uint64_t bytes, Operation *op,
                                  StringRef summary) {
  entry.buffers.push_back(
      {0, bytes, 0, 0, locate(op->getLoc()), summary.str()});
  return {BufferRef::Space::Arena,
          static_cast<uint32_t>(entry.buffers.size() - 1), 0};
}

void EntryPlanner::addStep(Step step, StepBufferRefs touched) {
  waitFor(exchanges.until(touched));
  entry.steps.push_back(std::move(step));
  stepPlaces.push_back(std::move(touched));
}

void EntryPlanner::waitFor(ArrayRef<Exchanges::Wait> waits) {
  for (const Exchanges::Wait &wait : waits) {
    entry.steps.push_back(wait.step);
    stepPlaces.push_back(wait.touched);
  }
}

FailureOr<Entry> mp::planEntry(func::FuncOp function, CodeOf codeOf,
                               ProgramBuilder &builder, Backend &backend) {
  return EntryPlanner(function, codeOf, builder, backend).plan();
}

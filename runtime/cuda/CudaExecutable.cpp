//===- CudaExecutable.cpp - an entry point as two CUDA graphs -------------===//
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/Trace.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <numeric>

using namespace llvm;

namespace mp::cuda {

/// The alignment of cuMemAlloc, which inputs and results that share one
/// allocation keep.
static constexpr uint64_t kDeviceAlignment = 256;

static uint64_t alignToDevice(uint64_t bytes) {
  return alignTo(bytes, kDeviceAlignment);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Adds the steps of the entry point to a graph, each after the one before;
/// exchanges between ranks go on beside them.
class CudaExecutable::Builder {
public:
  Builder(CudaExecutable &executable, Slot &slot)
      : executable(executable), context(executable.context),
        driver(context.driver), slot(slot), graph(driver) {}

  /// Builds the graph of a run.
  Expected<OwnedGraphExec> build() {
    if (Error error = addSteps({}))
      return error;
    // The copies of results do not overlap.
    for (const Span &span : executable.spans)
      if (span.bytes)
        if (Error error = addReturn(span))
          return error;
    MP_CUDA(driver, cuGraphGetNodes, graph.get(), nullptr,
            &executable.graphNodes);
    return finish();
  }

  Expected<OwnedGraphExec> buildTimed(ArrayRef<OwnedEvent> timers) {
    if (Error error = addSteps(timers))
      return error;
    if (Error error = add(timers.back()))
      return error;
    return finish();
  }

private:
  Error addSteps(ArrayRef<OwnedEvent> timers) {
    MP_CUDA(driver, cuGraphCreate, graph.slot(), 0);
    timed = !timers.empty();
    if (Error error =
            timed ? addTimed(timers) : addAll(executable.description.steps))
      return error;
    return context.copyToDevice(slot.tables.get(), tables.data(),
                                tables.size() * sizeof(Address));
  }

  /// Adds steps, and those of a Repeat for each of its rounds.
  Error addAll(ArrayRef<Step> steps) {
    while (!steps.empty()) {
      const Step &step = steps.consume_front();
      const auto *repeat = std::get_if<Repeat>(&step);
      ArrayRef<Step> own = steps.take_front(repeat ? repeat->steps : 0);
      steps = steps.drop_front(own.size());
      if (Error error =
              repeat ? addRounds(repeat->rounds, [&] { return addAll(own); })
                     : addStep(step))
        return error;
    }
    return Error::success();
  }

  Error addStep(const Step &step) {
    return std::visit([&](const auto &step) { return add(step); }, step);
  }

  /// Calls `add` for each round of a Repeat.
  Error addRounds(int64_t count, function_ref<Error()> add) {
    size_t firstRoutine = nextRoutine;
    rounds.push_back(0);
    for (; rounds.back() < count; ++rounds.back()) {
      nextRoutine = firstRoutine;
      if (Error error = add())
        return error;
    }
    rounds.pop_back();
    return Error::success();
  }

  /// Adds an event before each step. All rounds of a step that is repeated
  /// follow one another: their times do not depend on the values.
  Error addTimed(ArrayRef<OwnedEvent> timers) {
    const Entry &entry = executable.description;
    for (auto [step, around] :
         llvm::zip_equal(entry.steps, entry.repeatsOfSteps())) {
      if (Error error = add(timers.consume_front()))
        return error;
      if (Error error = addAllRounds(around, step))
        return error;
    }
    return Error::success();
  }

  /// Adds a step for all rounds of the Repeats around it.
  Error addAllRounds(ArrayRef<uint32_t> around, const Step &step) {
    if (around.empty())
      return addStep(step);
    const Step &repeat = executable.description.steps[around.front()];
    return addRounds(std::get<Repeat>(repeat).rounds,
                     [&] { return addAllRounds(around.drop_front(), step); });
  }

  Expected<OwnedGraphExec> finish() {
    OwnedGraphExec ready(driver);
    MP_CUDA(driver, cuGraphInstantiateWithFlags, ready.slot(), graph.get(), 0);
    MP_CUDA(driver, cuGraphUpload, ready.get(), context.compute.get());
    return ready;
  }

  std::vector<Address> resolve(ArrayRef<BufferRef> refs) const {
    std::vector<Address> addresses;
    for (const BufferRef &ref : refs)
      addresses.push_back(resolve(ref));
    return addresses;
  }
  Address resolve(const BufferRef &ref) const {
    Address address = executable.address(ref, slot);
    for (auto [round, stride] : zip(rounds, ref.strides))
      address += round * stride;
    return address;
  }

  /// Makes a step come after a node too; null: there is none.
  void comeAfter(GraphNode node) {
    if (node && !llvm::is_contained(last, node))
      last.push_back(node);
  }

  Error add(const Launch &launch) {
    std::vector<Address> args = resolve(launch.args);
    if (launch.table) {
      Address table = slot.tables.get() + tables.size() * sizeof(Address);
      llvm::append_range(tables, args);
      if (launch.cooperative)
        tables.push_back(0);
      args = {table};
    }
    std::vector<void *> parameters;
    for (Address &arg : args)
      parameters.push_back(&arg);
    KernelNode node;
    node.function = executable.linkage.kernels[launch.kernel];
    node.gridX = launch.grid;
    if (launch.cooperative)
      if (Error error = limitToDevice(launch, node))
        return error;
    node.blockX = launch.block;
    node.sharedBytes = launch.shared;
    node.parameters = parameters.data();
    GraphNode added = nullptr;
    MP_CUDA(driver, cuGraphAddKernelNode_v2, &added, graph.get(), last.data(),
            last.size(), &node);
    last = {added};
    LaunchAttribute attribute{};
    attribute.cooperative = 1;
    if (launch.cooperative)
      MP_CUDA(driver, cuGraphKernelNodeSetAttribute, added, launchCooperative,
              &attribute);
    return Error::success();
  }

  /// Launches no more blocks than run at once.
  Error limitToDevice(const Launch &launch, KernelNode &node) const {
    int blocks = 0;
    MP_CUDA(driver, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
            node.function, launch.block, launch.shared);
    int64_t most = int64_t{1} * blocks * context.facts.multiprocessors;
    if (most < 1)
      return makeError(
          "no block of {0} threads with {1} bytes of shared memory "
          "fits on a multiprocessor of {2}",
          launch.block, launch.shared, context.facts.name);
    node.gridX = std::min(launch.grid, most);
    return Error::success();
  }

  /// Exchanges follow one another; other steps do not wait for them until a
  /// step says so.
  Error add(const Call &call) {
    DeviceRoutine &routine = *executable.routines[nextRoutine++];
    if (auto exchange = routine.waitsFor()) {
      comeAfter(exchanges[*exchange]);
      return Error::success();
    }
    SmallVector<GraphNode> before = last;
    if (routine.isExchange() && !exchanges.empty())
      comeAfter(exchanges.back());
    Expected<GraphNode> added = capture(routine, resolve(call.args));
    if (!added)
      return added.takeError();
    if (*added)
      last = {*added};
    if (!routine.isExchange())
      return Error::success();
    exchanges.push_back(*added              ? *added
                        : exchanges.empty() ? nullptr
                                            : exchanges.back());
    // A step that is timed has the device to itself.
    if (!timed)
      last = std::move(before);
    return Error::success();
  }

  /// Adds what a routine enqueues; returns null if that is nothing.
  Expected<GraphNode> capture(DeviceRoutine &routine, ArrayRef<Address> args) {
    if (Error error = routine.prepare())
      return std::move(error);
    OwnedGraph captured(driver);
    Stream stream = context.capture.get();
    MP_CUDA(driver, cuStreamBeginCapture_v2, stream, captureThreadLocal);
    Error error = routine.enqueue(args, stream);
    // The capture must end even if a call in it failed.
    Error ended =
        driver.check("cuStreamEndCapture",
                     driver.cuStreamEndCapture(stream, captured.slot()));
    if (error) {
      consumeError(std::move(ended));
      return std::move(error);
    }
    if (ended)
      return std::move(ended);
    size_t nodes = 0;
    MP_CUDA(driver, cuGraphGetNodes, captured.get(), nullptr, &nodes);
    GraphNode added = nullptr;
    if (nodes)
      MP_CUDA(driver, cuGraphAddChildGraphNode, &added, graph.get(),
              last.data(), last.size(), captured.get());
    return added;
  }

  Error add(const Copy &copy) {
    CopyNode node;
    node.from.device = resolve(copy.from);
    node.to.device = resolve(copy.to);
    node.bytes = copy.bytes;
    if (copy.bytes == 0 || node.from.device == node.to.device)
      return Error::success();
    GraphNode added = nullptr;
    MP_CUDA(driver, cuGraphAddMemcpyNode, &added, graph.get(), last.data(),
            last.size(), &node, context.handle());
    last = {added};
    return Error::success();
  }

  /// Its steps are added by themselves, as often as it says.
  Error add(const Repeat &) { return Error::success(); }

  Error add(const OwnedEvent &event) {
    GraphNode added = nullptr;
    MP_CUDA(driver, cuGraphAddEventRecordNode, &added, graph.get(), last.data(),
            last.size(), event.get());
    last = {added};
    return Error::success();
  }

  Error addReturn(const Span &span) {
    CopyNode node;
    node.from.device = executable.address(span.from, slot);
    node.to.memory = memoryHost;
    node.to.host = static_cast<char *>(slot.returned.get()) + span.offset;
    node.bytes = span.bytes;
    GraphNode added = nullptr;
    MP_CUDA(driver, cuGraphAddMemcpyNode, &added, graph.get(), last.data(),
            last.size(), &node, context.handle());
    return Error::success();
  }

  CudaExecutable &executable;
  DeviceContext &context;
  const Driver &driver;
  Slot &slot;
  OwnedGraph graph;
  SmallVector<GraphNode> last;      ///< after which the next step comes
  SmallVector<GraphNode> exchanges; ///< null: it does nothing
  size_t nextRoutine = 0;
  SmallVector<int64_t> rounds; ///< of the Repeats around what is added
  bool timed = false;
  std::vector<Address> tables; ///< of all launches that have a table
};

Address CudaExecutable::address(const BufferRef &ref, const Slot &slot) const {
  switch (ref.space) {
  case BufferRef::Space::Variable:
    return linkage.variables[ref.index] + ref.offset;
  case BufferRef::Space::Constant:
    return linkage.constants[ref.index] + ref.offset;
  case BufferRef::Space::Staging:
    return slot.inputs.get() + inputOffsets[ref.index] + ref.offset;
  case BufferRef::Space::Arena:
    return arena.get() + ref.offset;
  }
  llvm_unreachable("all spaces are handled");
}

/// Plans the results on the host in few pieces: a step's results are scalars
/// that are mostly side by side, and a copy of a few bytes takes as long as one
/// of some thousand. The places depend on the plan alone, so results keep them
/// when the arena moves.
void CudaExecutable::planResults() {
  const std::vector<mp::Result> &results = description.results;
  std::vector<size_t> order(results.size());
  std::iota(order.begin(), order.end(), 0);
  auto key = [&](size_t i) {
    const BufferRef &ref = results[i].ref;
    return std::tuple(ref.space, ref.index, ref.offset, i);
  };
  llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
  resultOffsets.resize(results.size());
  for (size_t i : order) {
    const BufferRef &ref = results[i].ref;
    uint64_t bytes = results[i].type.bytes();
    Span *last = spans.empty() ? nullptr : &spans.back();
    // A piece never spans two allocations.
    bool joins =
        last && last->from.space == ref.space &&
        last->from.index == ref.index &&
        ref.offset < last->from.offset + last->bytes + kDeviceAlignment;
    if (!joins) {
      spans.push_back({ref, 0, alignToDevice(resultBytes)});
      last = &spans.back();
    }
    uint64_t inside = ref.offset - last->from.offset;
    last->bytes = std::max(last->bytes, inside + bytes);
    resultOffsets[i] = last->offset + inside;
    resultBytes = last->offset + last->bytes;
  }
}

Error CudaExecutable::allocate() {
  for (const Input &input : description.inputs) {
    inputOffsets.push_back(inputBytes);
    inputBytes += alignToDevice(input.type.bytes());
  }
  for (auto [step, rounds] :
       zip_equal(description.steps, description.roundsOfSteps()))
    if (const auto *launch = std::get_if<Launch>(&step);
        launch && launch->table)
      tableBytes += (launch->args.size() + (launch->cooperative ? 1 : 0)) *
                    rounds * sizeof(Address);
  planResults();
  for (Slot &slot : slots)
    if (Error error = allocate(slot))
      return error;
  return Error::success();
}

Error CudaExecutable::allocate(Slot &slot) {
  const Driver &driver = context.driver;
  auto put = [](auto &to, auto memory) -> Error {
    if (!memory)
      return memory.takeError();
    to = std::move(*memory);
    return Error::success();
  };
  std::string of = " of '" + description.function + "'";
  if (Error error = put(slot.staged,
                        allocatePinned(driver, inputBytes, "the inputs" + of)))
    return error;
  if (Error error = put(slot.returned, allocatePinned(driver, resultBytes,
                                                      "the results" + of)))
    return error;
  if (Error error = put(slot.inputs,
                        allocateDevice(driver, inputBytes, "the inputs" + of)))
    return error;
  if (Error error = put(slot.tables, allocateDevice(driver, tableBytes,
                                                    "argument tables" + of)))
    return error;
  for (uint64_t offset : resultOffsets)
    slot.results.push_back(static_cast<char *>(slot.returned.get()) + offset);
  slot.copied = OwnedEvent(driver);
  slot.done = OwnedEvent(driver);
  MP_CUDA(driver, cuEventCreate, slot.copied.slot(), eventDisableTiming);
  MP_CUDA(driver, cuEventCreate, slot.done.slot(), eventDisableTiming);
  return Error::success();
}

Error CudaExecutable::build() {
  for (Slot &slot : slots) {
    Expected<OwnedGraphExec> graph = Builder(*this, slot).build();
    if (!graph)
      return graph.takeError();
    slot.graph = std::move(*graph);
  }
  return Error::success();
}

Expected<OwnedGraphExec>
CudaExecutable::buildTimed(Slot &slot, ArrayRef<OwnedEvent> timers) {
  return Builder(*this, slot).buildTimed(timers);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A device error shows in whichever call waits next, so the message says for
/// which entry point and run.
Error CudaExecutable::located(Error error, Ticket ticket) const {
  std::string what = "'" + description.function + "'";
  if (description.batch)
    what += " at batch " + std::to_string(description.batch);
  return deviceError("run " + Twine(ticket + 1) + " of " + what +
                     " on cuda:" + Twine(context.facts.index) + " (" +
                     context.facts.name + "): " + toString(std::move(error)));
}

Error CudaExecutable::launch(Slot &slot, Inputs inputs) {
  if (Error error = context.activate())
    return error;
  const Driver &driver = context.driver;
  Stream compute = context.compute.get(), transfer = context.transfer.get();
  // Waits for the run that used this slot before, two runs ago. An event that
  // was never recorded counts as complete.
  if (Error error = context.wait(slot.done.get()))
    return error;
  if (inputBytes) {
    auto *staged = static_cast<char *>(slot.staged.get());
    for (auto [i, input] : llvm::enumerate(description.inputs))
      std::memcpy(staged + inputOffsets[i], inputs[i].data(),
                  input.type.bytes());
    MP_CUDA(driver, cuMemcpyHtoDAsync_v2, slot.inputs.get(), staged, inputBytes,
            transfer);
    MP_CUDA(driver, cuEventRecord, slot.copied.get(), transfer);
    MP_CUDA(driver, cuStreamWaitEvent, compute, slot.copied.get(), 0);
  }
  MP_CUDA(driver, cuGraphLaunch, slot.graph.get(), compute);
  MP_CUDA(driver, cuEventRecord, slot.done.get(), compute);
  return Error::success();
}

Expected<Executable::Ticket> CudaExecutable::start(Inputs inputs) {
  TraceSpan span(context.trace.get(), Trace::Kind::Step, description.function);
  if (Error error = launch(slots[runs % slotCount], inputs))
    return located(std::move(error), runs);
  return runs++;
}

Expected<Executable::Results> CudaExecutable::results(Ticket ticket) {
  if (ticket >= runs || ticket + slotCount < runs)
    return makeError("'{0}': the results of run {1} are not kept, only those "
                     "of the last {2}",
                     description.function, ticket, slotCount);
  Slot &slot = slots[ticket % slotCount];
  auto wait = [&]() -> Error {
    TraceSpan span(context.trace.get(), Trace::Kind::Wait,
                   "wait for the device");
    if (Error error = context.activate())
      return error;
    return context.wait(slot.done.get());
  };
  if (Error error = wait())
    return located(std::move(error), ticket);
  return Results(description, slot.results);
}

} // namespace mp::cuda

//===- MergeLaunches.cpp - fewer launches of larger kernels ---------------===//
//
// Steps are put in a new order, such that launches that can be merged are ready
// at the same time: a step that is merged with nothing comes as early as it
// can, and a launch that is not urgent waits for others with its text. What
// waits for an exchange between ranks comes as late as it can, so that launches
// run meanwhile; exchanges keep their order, which is that of all ranks. What
// backward computes again, and each part of a loss, stays behind what stood
// before it.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/launches/MergeLaunches.h"
#include "codegen/cuda/launches/MergedKernel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mp;
using namespace mp::cuda;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

//===----------------------------------------------------------------------===//
// Dependencies
//===----------------------------------------------------------------------===//

/// A step, and the steps that wait for it.
struct Node {
  const StagePart *part = nullptr; ///< null: merged with nothing
  bool isWait = false;             ///< for an exchange between ranks
  SmallVector<uint32_t> next;
  unsigned waits = 0;
  /// Steps in the longest chain from here to the end.
  unsigned depth = 1;
  /// Parts in the longest chain from the begin to here, this one aside.
  unsigned rounds = 0;
};

/// The last step that wrote a place, and the steps that read it.
struct History {
  std::optional<uint32_t> writer;
  SmallVector<uint32_t> readers; ///< since then
};

class Dependencies {
public:
  static std::vector<Node> find(ArrayRef<StepBufferRefs> refs) {
    Dependencies dependencies(refs.size());
    for (auto [step, touched] : llvm::enumerate(refs))
      dependencies.add(step, touched);
    std::vector<Node> &nodes = dependencies.nodes;
    for (Node &node : llvm::reverse(nodes))
      for (uint32_t next : node.next)
        node.depth = std::max(node.depth, nodes[next].depth + 1);
    return std::move(nodes);
  }

private:
  explicit Dependencies(size_t steps) : nodes(steps) {}

  void add(uint32_t step, const StepBufferRefs &touched) {
    for (const BufferRef &ref : touched.read) {
      History &history = historyOf(ref);
      if (history.writer)
        connect(*history.writer, step);
      history.readers.push_back(step);
    }
    for (const BufferRef &ref : touched.written) {
      History &history = historyOf(ref);
      if (history.writer)
        connect(*history.writer, step);
      for (uint32_t reader : history.readers)
        connect(reader, step);
      history = {step, {}};
    }
    nodes[step].isWait = touched.exchange == StepBufferRefs::Exchange::Wait;
    if (!nodes[step].isWait)
      keepBehind(step, touched.isLate);
    if (touched.exchange == StepBufferRefs::Exchange::Start) {
      if (lastExchange)
        connect(*lastExchange, step);
      lastExchange = step;
    }
  }

  /// Lets a late step wait for all that stand before it, but for late ones
  /// directly before it.
  void keepBehind(uint32_t step, bool isLate) {
    if (!isLate && !late.empty())
      before = std::exchange(late, {});
    if (isLate)
      for (uint32_t other : before)
        connect(other, step);
    (isLate ? late : before).push_back(step);
  }

  /// Steps touch whole places, so offsets do not matter.
  History &historyOf(const BufferRef &ref) {
    return histories[{static_cast<unsigned>(ref.space), ref.index}];
  }

  void connect(uint32_t before, uint32_t after) {
    if (before == after)
      return;
    nodes[before].next.push_back(after);
    ++nodes[after].waits;
  }

  std::vector<Node> nodes;
  llvm::DenseMap<std::pair<unsigned, uint32_t>, History> histories;
  std::optional<uint32_t> lastExchange;
  /// The late steps without others between them, and what they wait for.
  SmallVector<uint32_t> late, before;
};

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

using Group = SmallVector<uint32_t>; ///< steps that become one

class Order {
public:
  explicit Order(std::vector<Node> found) : nodes(std::move(found)) {
    for (auto [step, node] : llvm::enumerate(nodes)) {
      if (node.part)
        textOf(step).left.insert(step);
      if (node.waits == 0)
        makeReady(step);
      for (uint32_t next : node.next)
        nodes[next].rounds =
            std::max(nodes[next].rounds, node.rounds + (node.part ? 1 : 0));
    }
  }

  std::vector<Group> run() {
    while (!ready.empty()) {
      groups.push_back(choose());
      for (uint32_t step : groups.back())
        finish(step);
    }
    return std::move(groups);
  }

private:
  Group choose() {
    for (uint32_t step : ready)
      if (!nodes[step].part && !nodes[step].isWait)
        return {step};
    SmallVector<uint32_t> launches = candidates();
    if (launches.empty())
      return {*firstWait()};
    Group chosen;
    llvm::StringSet<> bodies;
    for (uint32_t step : launches) {
      const StagePart &part = *nodes[step].part;
      bool fits = llvm::all_of(chosen, [&](uint32_t other) {
        return fitTogether(*nodes[other].part, part);
      });
      // All bodies of a kernel share its registers.
      constexpr unsigned mostBodies = 8;
      if (!fits ||
          (bodies.size() == mostBodies && !bodies.contains(part.function)))
        continue;
      bodies.insert(part.function);
      chosen.push_back(step);
    }
    return chosen;
  }

  /// Returns the ready launches on the longest chains of waiting steps, unless
  /// waiting is better for them, and then those that gain nothing by waiting,
  /// as all launches of their text are ready. Returns none if waiting for an
  /// exchange is better.
  SmallVector<uint32_t> candidates() const {
    unsigned depth = 0;
    for (uint32_t step : ready)
      if (!nodes[step].isWait)
        depth = std::max(depth, nodes[step].depth);
    SmallVector<uint32_t> urgent, patient, rest;
    for (uint32_t step : ready) {
      if (nodes[step].isWait)
        continue;
      bool isUrgent = nodes[step].depth == depth;
      if (!isAwaited(step))
        (isUrgent ? urgent : rest).push_back(step);
      else if (isUrgent)
        (mayWait(step) ? patient : urgent).push_back(step);
    }
    urgent.append(rest);
    return urgent.empty() && !firstWait() ? patient : urgent;
  }

  std::optional<uint32_t> firstWait() const {
    for (uint32_t step : ready)
      if (nodes[step].isWait)
        return step;
    return std::nullopt;
  }

  /// Whether another launch with this step's text is still to come.
  bool isAwaited(uint32_t step) const {
    const Text &text = textOf(step);
    return text.ready < text.left.size();
  }

  /// Whether all others with this step's text are ready after one more launch.
  bool mayWait(uint32_t step) const {
    unsigned round = nodes[step].rounds + 1;
    SmallVector<uint32_t> work = {step};
    llvm::DenseSet<uint32_t> after;
    while (!work.empty())
      for (uint32_t next : nodes[work.pop_back_val()].next)
        if (nodes[next].rounds <= round && after.insert(next).second)
          work.push_back(next);
    return llvm::all_of(textOf(step).left, [&](uint32_t other) {
      return nodes[other].rounds <= round && !after.contains(other);
    });
  }

  void finish(uint32_t step) {
    ready.erase(step);
    if (nodes[step].part) {
      textOf(step).left.erase(step);
      --textOf(step).ready;
    }
    for (uint32_t next : nodes[step].next)
      if (--nodes[next].waits == 0)
        makeReady(next);
  }

  void makeReady(uint32_t step) {
    ready.insert(step);
    if (nodes[step].part)
      ++textOf(step).ready;
  }

  /// The steps of a text that are not yet placed.
  struct Text {
    std::set<uint32_t> left;
    size_t ready = 0; ///< so many of them wait for nothing
  };

  Text &textOf(uint32_t step) { return texts[nodes[step].part->function]; }
  const Text &textOf(uint32_t step) const {
    return texts.find(nodes[step].part->function)->second;
  }

  std::vector<Node> nodes;
  std::set<uint32_t> ready;
  llvm::StringMap<Text> texts; ///< by the text of their part
  std::vector<Group> groups;
};

//===----------------------------------------------------------------------===//
// The launches
//===----------------------------------------------------------------------===//

/// Merges the launches of an entry point, or of the rounds of a Repeat.
class Merger {
public:
  Merger(ArrayRef<Step> steps, ArrayRef<StepBufferRefs> refs,
         ProgramBuilder &builder, KernelStore &store)
      : builder(builder), store(store) {
    findUnits(steps, refs);
  }

  std::vector<Step> run() {
    std::vector<Node> nodes = Dependencies::find(touched);
    for (auto [node, unit] : llvm::zip_equal(nodes, units))
      if (auto *launch = std::get_if<Launch>(&unit.steps.front()))
        node.part = store.part(kernelOf(*launch).symbol);
    std::vector<Step> merged;
    for (const Group &group : Order(nodes).run())
      if (group.size() > 1)
        merged.push_back(merge(group, nodes));
      else
        add(units[group.front()], merged);
    return merged;
  }

private:
  /// What keeps together: a step, or a Repeat and its steps.
  struct Unit {
    ArrayRef<Step> steps;
    ArrayRef<StepBufferRefs> refs;
  };

  void findUnits(ArrayRef<Step> steps, ArrayRef<StepBufferRefs> refs) {
    while (!steps.empty()) {
      auto *repeat = std::get_if<Repeat>(&steps.front());
      size_t count = repeat ? repeat->steps + 1 : 1;
      units.push_back({steps.take_front(count), refs.take_front(count)});
      StepBufferRefs &all = touched.emplace_back(refs.front());
      for (const StepBufferRefs &more : units.back().refs.drop_front()) {
        llvm::append_range(all.read, more.read);
        llvm::append_range(all.written, more.written);
      }
      steps = steps.drop_front(count);
      refs = refs.drop_front(count);
    }
  }

  /// Adds a unit; launches of one round are merged with each other.
  void add(const Unit &unit, std::vector<Step> &merged) {
    auto *repeat = std::get_if<Repeat>(&unit.steps.front());
    if (!repeat) {
      merged.push_back(unit.steps.front());
      return;
    }
    std::vector<Step> round =
        Merger(unit.steps.drop_front(), unit.refs.drop_front(), builder, store)
            .run();
    merged.push_back(
        Repeat{repeat->rounds, static_cast<uint32_t>(round.size())});
    llvm::append_range(merged, round);
  }

  const Kernel &kernelOf(const Launch &launch) const {
    return builder.program.kernels[launch.kernel];
  }
  const Launch &launchOf(uint32_t unit) const {
    return std::get<Launch>(units[unit].steps.front());
  }

  Launch merge(const Group &group, ArrayRef<Node> nodes) {
    SmallVector<const StagePart *> parts;
    SmallVector<uint32_t> kernels;
    for (uint32_t step : group) {
      parts.push_back(nodes[step].part);
      kernels.push_back(launchOf(step).kernel);
    }
    MergedKernel merged(parts);
    Launch launch;
    launch.kernel = addMerged(merged.source, kernels, builder, store);
    launch.grid = merged.grid;
    launch.block = merged.block;
    launch.shared = merged.shared;
    launch.table = true;
    for (size_t number : merged.order)
      llvm::append_range(launch.args, launchOf(group[number]).args);
    for (uint32_t step : group) {
      launch.bytes += launchOf(step).bytes;
      launch.flops += launchOf(step).flops;
    }
    return launch;
  }

  ProgramBuilder &builder;
  KernelStore &store;
  std::vector<Unit> units;
  std::vector<StepBufferRefs> touched; ///< by each of them
};

} // namespace

void mp::cuda::mergeLaunches(Entry &entry, ArrayRef<StepBufferRefs> refs,
                             ProgramBuilder &builder, KernelStore &store) {
  entry.steps = Merger(entry.steps, refs, builder, store).run();
}

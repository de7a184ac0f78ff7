//===- LoopKernels.cpp - one kernel for all rounds of a loop --------------===//
//
// A round of a recurrent network is short: the time between launches, and that
// in which the weights are read once more, are much of it. Here a round's
// launches become parts of one kernel; all of its blocks wait for one another
// where a part needs what another has written.
//
//===----------------------------------------------------------------------===//
#include "codegen/cuda/launches/LoopKernels.h"
#include "codegen/cuda/launches/LoopSource.h"
#include "codegen/cuda/launches/MergedKernel.h"

using namespace mp;
using namespace mp::cuda;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

bool overlap(ArrayRef<BufferRef> a, ArrayRef<BufferRef> b) {
  // Steps touch whole places, so offsets do not matter.
  return llvm::any_of(a, [&](const BufferRef &x) {
    return llvm::any_of(b, [&](const BufferRef &y) {
      return x.space == y.space && x.index == y.index;
    });
  });
}

/// Whether `second` must not begin before `first` has ended.
bool mustWait(const StepBufferRefs &first, const StepBufferRefs &second) {
  return overlap(first.written, second.read) ||
         overlap(first.written, second.written) ||
         overlap(first.read, second.written);
}

class LoopFormer {
public:
  LoopFormer(Entry &entry, ArrayRef<StepBufferRefs> refs, const Arch &arch,
             ProgramBuilder &builder, KernelStore &store)
      : entry(entry), refs(refs), arch(arch), builder(builder), store(store) {}

  std::vector<StepBufferRefs> run() {
    add(0, entry.steps.size(), 0);
    entry.steps = std::move(steps);
    return std::move(left);
  }

private:
  /// Adds the steps of [begin, end), which `loops` Repeats are around.
  void add(size_t begin, size_t end, size_t loops) {
    for (size_t number = begin; number < end; ++number) {
      auto *repeat = std::get_if<Repeat>(&entry.steps[number]);
      steps.push_back(entry.steps[number]);
      left.push_back(refs[number]);
      if (!repeat)
        continue;
      size_t at = steps.size() - 1;
      if (auto form = formOf(*repeat, number + 1, loops)) {
        left[at] = touchedBy(number + 1, repeat->steps);
        steps[at] = launchOf(*form, number + 1, repeat->steps, loops);
      } else {
        add(number + 1, number + 1 + repeat->steps, loops + 1);
        std::get<Repeat>(steps[at]).steps = steps.size() - at - 1;
      }
      number += repeat->steps;
    }
  }

  ArrayRef<Step> stepsOf(size_t first, size_t count) const {
    return ArrayRef(entry.steps).slice(first, count);
  }

  const std::string &symbolOf(size_t number) const {
    const auto &launch = std::get<Launch>(entry.steps[number]);
    return builder.program.kernels[launch.kernel].symbol;
  }

  bool copiesNothing(size_t number) const {
    auto *copy = std::get_if<Copy>(&entry.steps[number]);
    return copy && copy->bytes == 0;
  }

  /// Returns how a kernel would run a Repeat's steps from `first` on, if it
  /// can.
  std::optional<LoopForm> formOf(const Repeat &repeat, size_t first,
                                 size_t loops) const {
    LoopForm form;
    form.rounds = repeat.rounds;
    size_t end = first + repeat.steps;
    std::optional<StepBufferRefs> phase;
    for (size_t number = first; number < end; ++number) {
      if (copiesNothing(number))
        continue;
      auto part = partOf(number, end, loops);
      if (!part)
        return std::nullopt;
      StepBufferRefs touched = touchedBy(number, part->steps);
      part->waits = phase && mustWait(*phase, touched);
      if (!phase || part->waits) {
        phase = touched;
      } else {
        llvm::append_range(phase->read, touched.read);
        llvm::append_range(phase->written, touched.written);
      }
      number += part->steps - 1;
      form.parts.push_back(std::move(*part));
    }
    StepBufferRefs all = touchedBy(first, repeat.steps);
    bool keeps = llvm::all_of(form.parts, [&](const LoopPart &part) {
      return !part.product || !overlap(part.arguments[1].ref, all.written);
    });
    if (form.parts.empty() || !keeps || !form.fits(arch))
      return std::nullopt;
    return form;
  }

  /// Returns the part that does the work of step `number`, and of the one after
  /// it if they are one product; nothing if a kernel has no such part.
  std::optional<LoopPart> partOf(size_t number, size_t end,
                                 size_t loops) const {
    LoopPart part;
    auto add = [&](const BufferRef &ref) {
      part.arguments.push_back({ref, ref.stride(loops)});
    };
    if (auto *copy = std::get_if<Copy>(&entry.steps[number])) {
      add(copy->to);
      add(copy->from);
      part.copied = copy->bytes;
      return part;
    }
    auto *launch = std::get_if<Launch>(&entry.steps[number]);
    if (!launch)
      return std::nullopt;
    llvm::for_each(launch->args, add);
    part.stage = store.part(symbolOf(number));
    if (part.stage)
      return part;
    part.product = store.loopProduct(symbolOf(number));
    bool hasNext = number + 1 < end &&
                   std::holds_alternative<Launch>(entry.steps[number + 1]);
    if (!part.product && hasNext) {
      part.product = store.loopProduct(symbolOf(number + 1));
      if (!part.product || part.product->first != symbolOf(number))
        return std::nullopt;
      part.steps = 2;
      llvm::for_each(std::get<Launch>(entry.steps[number + 1]).args, add);
    } else if (!part.product || !part.product->first.empty()) {
      return std::nullopt;
    }
    SmallVector<LoopPart::Argument> own;
    for (unsigned place : part.product->arguments)
      own.push_back(part.arguments[place]);
    part.arguments = std::move(own);
    bool isKept = part.arguments[1].stride == 0;
    return isKept ? std::optional(std::move(part)) : std::nullopt;
  }

  /// Returns what the steps touch together.
  StepBufferRefs touchedBy(size_t first, size_t count) const {
    StepBufferRefs all;
    for (const StepBufferRefs &own : refs.slice(first, count)) {
      llvm::append_range(all.read, own.read);
      llvm::append_range(all.written, own.written);
      all.isLate |= own.isLate;
    }
    return all;
  }

  Launch launchOf(const LoopForm &form, size_t first, size_t count,
                  size_t loops) {
    Launch launch;
    launch.grid = form.grid(arch);
    launch.block = LoopTile::threads;
    launch.shared = form.sharedBytes();
    launch.table = launch.cooperative = true;
    for (const LoopPart &part : form.parts)
      for (const LoopPart::Argument &argument : part.arguments) {
        BufferRef &ref = launch.args.emplace_back(argument.ref);
        if (ref.strides.size() > loops)
          ref.strides.resize(loops);
        while (!ref.strides.empty() && ref.strides.back() == 0)
          ref.strides.pop_back();
      }
    SmallVector<uint32_t> kernels;
    for (const Step &step : stepsOf(first, count))
      if (auto *part = std::get_if<Launch>(&step)) {
        kernels.push_back(part->kernel);
        launch.bytes += form.rounds * part->bytes;
        launch.flops += form.rounds * part->flops;
      } else {
        launch.bytes += form.rounds * 2 * std::get<Copy>(step).bytes;
      }
    launch.bytes -= (form.rounds - 1) * form.weightBytes();
    launch.kernel = addMerged(form.source(), kernels, builder, store);
    return launch;
  }

  Entry &entry;
  ArrayRef<StepBufferRefs> refs;
  const Arch &arch;
  ProgramBuilder &builder;
  KernelStore &store;
  std::vector<Step> steps;
  std::vector<StepBufferRefs> left; ///< what each of them touches
};

} // namespace

std::vector<StepBufferRefs>
mp::cuda::formLoopKernels(Entry &entry, ArrayRef<StepBufferRefs> refs,
                          const Arch &arch, ProgramBuilder &builder,
                          KernelStore &store) {
  return LoopFormer(entry, refs, arch, builder, store).run();
}

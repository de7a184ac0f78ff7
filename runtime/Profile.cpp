//===- Profile.cpp - what the steps of an entry point cost ----------------===//
#include "runtime/Profile.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>

using namespace llvm;

namespace mp {

std::vector<KernelName> kernelNames(const Program &program) {
  std::vector<KernelName> names;
  for (const Kernel &kernel : program.kernels)
    names.push_back({kernel.symbol, kernel.summary, kernel.sources});
  return names;
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  llvm::sort(values);
  return values[values.size() / 2];
}

static StepCost describe(const Launch &launch, ArrayRef<KernelName> names) {
  const KernelName &name = names[launch.kernel];
  return {name.symbol,  name.summary, 0,
          launch.bytes, launch.flops, name.sources};
}
static StepCost describe(const Call &call, ArrayRef<KernelName>) {
  return {call.routine, call.routine, 0, call.bytes, call.flops};
}
static StepCost describe(const Copy &copy, ArrayRef<KernelName>) {
  return {"copy", "copy", 0, 2 * copy.bytes};
}
static StepCost describe(const Repeat &, ArrayRef<KernelName>) {
  return {"repeat", "repeat", 0, 0};
}

std::vector<StepCost> costsOf(const Entry &entry, ArrayRef<KernelName> names,
                              std::vector<std::vector<double>> microseconds) {
  std::vector<StepCost> costs;
  for (auto &&[step, rounds, times] :
       zip_equal(entry.steps, entry.roundsOfSteps(), microseconds)) {
    costs.push_back(std::visit(
        [&](const auto &step) { return describe(step, names); }, step));
    StepCost &cost = costs.back();
    cost.bytes *= rounds;
    cost.flops *= rounds;
    cost.microseconds = median(std::move(times));
    // A library routine has no source location; take that of its result.
    if (cost.sources.empty())
      for (const Buffer &buffer : entry.buffers)
        if (buffer.firstStep + 1 == costs.size() && buffer.location.line) {
          cost.sources = {buffer.location};
          break;
        }
  }
  return costs;
}

bool ProfileRuns::next() {
  constexpr unsigned least = 5;
  constexpr std::chrono::seconds most(2);
  auto now = std::chrono::steady_clock::now();
  if (!done)
    began = now;
  return ++done <= least || (done <= kProfileRuns && now - began < most);
}

Expected<double> timeSubmits(Executable &executable,
                             Executable::Inputs inputs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (ProfileRuns runs; runs.next();) {
    Clock::time_point start = Clock::now();
    Expected<Executable::Ticket> ticket =
        executable.submit(inputs, Executable::Ranges::Known);
    std::chrono::duration<double, std::micro> spent = Clock::now() - start;
    if (!ticket)
      return ticket.takeError();
    // Waiting here keeps the next submit from waiting for this run.
    if (auto results = executable.results(*ticket); !results)
      return results.takeError();
    times.push_back(spent.count());
  }
  return median(std::move(times));
}

uint64_t profiledCopyBytes(uint64_t free) {
  // Larger than any cache.
  constexpr uint64_t wanted = uint64_t(256) << 20, page = 4096;
  return std::max(std::min(wanted, free / 4 / page * page), page);
}

Expected<Profile> profileKeepingState(Session &session, Executable &executable,
                                      Executable::Inputs inputs) {
  std::vector<std::vector<char>> saved;
  for (const Variable &variable : session.variables()) {
    saved.emplace_back(variable.type.bytes());
    if (Error error = session.read(variable.name, saved.back()))
      return error;
  }
  Expected<Profile> profile = executable.profile(inputs);
  Error error = profile ? Error::success() : profile.takeError();
  for (auto &&[variable, bytes] : zip_equal(session.variables(), saved))
    error = joinErrors(std::move(error), session.write(variable.name, bytes));
  if (error)
    return error;
  return profile;
}

Expected<Profile> profileStep(Session &session, Executable *gather,
                              Executable &step, Executable::Inputs inputs) {
  auto profile = profileKeepingState(session, gather ? *gather : step, inputs);
  if (!profile || !gather)
    return profile;
  auto update = profileKeepingState(session, step, {});
  if (!update)
    return update;
  profile->graphNodes += update->graphNodes;
  profile->hostMicroseconds += update->hostMicroseconds;
  llvm::append_range(profile->launches, update->launches);
  return profile;
}

} // namespace mp

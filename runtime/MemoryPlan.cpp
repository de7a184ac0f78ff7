//===- MemoryPlan.cpp - checks that a plan fits into this machine ---------===//
#include "runtime/MemoryPlan.h"
#include "runtime/GroupLimits.h"
#include "runtime/Variables.h"
#include "runtime/report/PlanReport.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace mp {

/// The pages that this process has mapped, in all or as its data: statm of
/// proc(5).
static uint64_t mappedBytes(bool onlyData) {
  auto buffer = MemoryBuffer::getFileAsStream("/proc/self/statm");
  if (!buffer)
    return 0;
  SmallVector<StringRef> numbers;
  (*buffer)->getBuffer().trim().split(numbers, ' ');
  uint64_t pages = 0;
  if (numbers.size() < 6 || numbers[onlyData ? 5 : 0].getAsInteger(10, pages))
    return 0;
  return pages * sysconf(_SC_PAGESIZE);
}

UsableMemory usableMemory(uint64_t held) {
  uint64_t physical = uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  UsableMemory usable{physical, "this machine has " + amountOf(physical)};
  auto lower = [&](uint64_t bytes, std::string reason) {
    if (bytes < usable.bytes)
      usable = {bytes, std::move(reason)};
  };
  if (auto memory = GroupLimits::read().memory)
    lower(*memory, "its control group has " + amountOf(*memory));
  std::tuple<int, bool, const char *> limits[] = {
      {RLIMIT_AS, false, "the address space of this process (ulimit -v) has "},
      {RLIMIT_DATA, true, "the data of this process (ulimit -d) has "}};
  for (auto [resource, onlyData, what] : limits) {
    rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
      continue;
    uint64_t mapped = mappedBytes(onlyData);
    uint64_t others = mapped - std::min(mapped, held);
    lower(limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, others),
          what + amountOf(limit.rlim_cur) + ", of which " + amountOf(others) +
              " are in use");
  }
  return usable;
}

/// Lines for the largest values among variables and the entry point's.
static std::string largestValues(const Program &program, const Entry *entry) {
  struct Value {
    uint64_t bytes;
    std::string name;
    Location location;
  };
  std::vector<Value> values;
  for (const Variable &variable : program.variables)
    values.push_back({variable.type.bytes(), "variable " + variable.name,
                      variable.location});
  if (entry)
    for (const Buffer &buffer : entry->buffers)
      values.push_back({buffer.bytes, buffer.summary, buffer.location});
  llvm::sort(values, [](const Value &a, const Value &b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
  std::string lines;
  for (const Value &value : ArrayRef(values).take_front(5))
    lines +=
        "\n  " + amountOf(value.bytes) + "  " + value.name + at(value.location);
  return lines;
}

Error checkFits(const Program &program, uint64_t variableBytes,
                unsigned workers, const UsableMemory &usable) {
  PlanReport report = reportPlan(program, workers);
  // Variables of programs that were loaded before take memory, too.
  uint64_t bytes = variableBytes + report.total() - bytesOf(program.variables);
  if (bytes <= usable.bytes)
    return Error::success();
  const Entry *hungriest = nullptr;
  for (const Entry &entry : program.entries)
    if (!hungriest || entry.arenaBytes > hungriest->arenaBytes)
      hungriest = &entry;
  return makeError("'{0}' does not fit into memory: it takes {1}, and {2} can "
                   "be used, as {3}\n{4}the largest are{5}",
                   hungriest ? hungriest->function : program.module,
                   amountOf(bytes), amountOf(usable.bytes), usable.reason,
                   tableOf(report), largestValues(program, hungriest));
}

} // namespace mp

//===- MemoryPlan.cpp - checks that a plan fits into this machine ---------===//
#include "runtime/MemoryPlan.h"
#include "runtime/report/PlanReport.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

namespace mp {

/// The number in a file; nothing if it cannot be read or says "max".
static std::optional<uint64_t> numberIn(StringRef path) {
  auto buffer = MemoryBuffer::getFileAsStream(path);
  uint64_t number;
  if (!buffer || (*buffer)->getBuffer().trim().getAsInteger(10, number))
    return std::nullopt;
  return number;
}

uint64_t usableMemory() {
  uint64_t usable = uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  // Inside a container its own control group is the root, of version 2 or 1.
  for (StringRef path : {"/sys/fs/cgroup/memory.max",
                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    usable = std::min(usable, numberIn(path).value_or(usable));
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      usable = std::min<uint64_t>(usable, limit.rlim_cur);
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
                uint64_t usable) {
  const Entry *hungriest = nullptr;
  for (const Entry &entry : program.entries)
    if (!hungriest || entry.arenaBytes > hungriest->arenaBytes)
      hungriest = &entry;
  uint64_t arenaBytes = hungriest ? hungriest->arenaBytes : 0;
  uint64_t constantBytes = 0;
  for (const Constant &constant : program.constants)
    constantBytes += constant.bytes.size();
  if (variableBytes + constantBytes + arenaBytes <= usable)
    return Error::success();
  return makeError(
      "'{0}' does not fit into memory: {1} of variables, {2} of constants and "
      "{3} of intermediate values, but {4} can be used; the largest are{5}",
      hungriest ? hungriest->function : program.module, amountOf(variableBytes),
      amountOf(constantBytes), amountOf(arenaBytes), amountOf(usable),
      largestValues(program, hungriest));
}

} // namespace mp

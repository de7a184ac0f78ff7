//===- ResourceUsage.cpp - multiprocessor resources of a kernel -----------===//
#include "runtime/cuda/ResourceUsage.h"

using namespace llvm;
using namespace mp::cuda;

/// The number before `unit` in a line such as "Used 30 registers, used 1
/// barriers, 4096 bytes smem"; 0 if the unit is not named.
static unsigned amount(StringRef line, StringRef unit) {
  size_t at = line.find(" " + unit.str());
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at);
  unsigned number = 0;
  return before.drop_front(before.find_last_not_of("0123456789") + 1)
                 .getAsInteger(10, number)
             ? 0
             : number;
}

std::vector<ResourceUsage> mp::cuda::parseResourceUsage(StringRef log) {
  std::vector<ResourceUsage> all;
  while (!log.empty()) {
    auto [line, rest] = log.split('\n');
    log = rest;
    // A function's lines follow the one that names it.
    if (size_t at = line.find("Function properties for ");
        at != StringRef::npos)
      all.emplace_back().function = line.substr(at + 24).trim().str();
    if (all.empty())
      continue;
    ResourceUsage &usage = all.back();
    if (line.contains("bytes stack frame")) {
      usage.stackBytes = amount(line, "bytes stack frame");
      usage.spillBytes = amount(line, "bytes spill stores") +
                         amount(line, "bytes spill loads");
    } else if (line.contains(" registers")) {
      usage.registers = amount(line, "registers");
      usage.sharedBytes = amount(line, "bytes smem");
    }
  }
  return all;
}

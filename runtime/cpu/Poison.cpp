//===- Poison.cpp - fills memory with NaN before it is written ------------===//
#include "runtime/cpu/Poison.h"
#include <cstdlib>

using namespace mp;

bool mp::poisonsMemory() {
  if (const char *chosen = std::getenv("MP_POISON"); chosen && *chosen)
    return llvm::StringRef(chosen) != "0";
#ifdef NDEBUG
  return false;
#else
  return true;
#endif
}

std::vector<std::vector<Buffer>> mp::buffersToPoison(const Entry &entry) {
  if (!poisonsMemory())
    return {};
  std::vector<std::vector<Buffer>> begin(entry.steps.size());
  for (const Buffer &buffer : entry.buffers)
    if (buffer.firstStep < begin.size())
      begin[buffer.firstStep].push_back(buffer);
  return begin;
}

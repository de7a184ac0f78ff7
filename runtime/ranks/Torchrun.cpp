//===- Torchrun.cpp - the variables of torchrun ---------------------------===//
#include "runtime/ranks/Torchrun.h"
#include "support/Error.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>

using namespace llvm;

namespace mp {

namespace {

/// A variable of the environment, by its name; no value is an empty one.
struct Variable {
  Variable(const char *name, const char *value)
      : name(name), value(value ? value : "") {}
  StringRef name, value;
};

} // namespace

static Error missing(const Variable &variable) {
  return makeError("{0} is not set, but torchrun's other variables are",
                   variable.name);
}

/// Reads a number in [least, most].
static Expected<int64_t> number(const Variable &variable, int64_t least,
                                int64_t most) {
  int64_t value = 0;
  if (variable.value.empty())
    return missing(variable);
  if (variable.value.getAsInteger(10, value) || value < least || value > most)
    return makeError("{0} is '{1}', expected a number from {2} to {3}",
                     variable.name, variable.value, least, most);
  return value;
}

static Expected<std::string> meetingPlace() {
  constexpr int64_t mostPort = 65535;
  Variable host("MASTER_ADDR", std::getenv("MASTER_ADDR"));
  if (host.value.empty())
    return missing(host);
  auto master =
      number({"MASTER_PORT", std::getenv("MASTER_PORT")}, 1, mostPort);
  if (!master)
    return master.takeError();
  int64_t port = *master < mostPort ? *master + 1 : *master - 1;
  bool isIpv6 = host.value.contains(':') && !host.value.starts_with("[");
  return formatv(isIpv6 ? "[{0}]:{1}" : "{0}:{1}", host.value, port).str();
}

Expected<std::optional<TorchrunRank>> readTorchrun() {
  constexpr int64_t mostRanks = 1 << 20;
  Variable ranks("WORLD_SIZE", std::getenv("WORLD_SIZE"));
  Variable own("RANK", std::getenv("RANK"));
  Variable local("LOCAL_RANK", std::getenv("LOCAL_RANK"));
  if (own.value.empty() && ranks.value.empty())
    return std::nullopt;
  auto size = number(ranks, 1, mostRanks);
  if (!size)
    return size.takeError();
  auto rank = number(own, 0, mostRanks);
  if (!rank)
    return rank.takeError();
  if (*rank >= *size)
    return makeError("RANK is {0}, but WORLD_SIZE is {1}", *rank, *size);
  if (!local.value.empty())
    if (auto index = number(local, 0, *size - 1); !index)
      return index.takeError();
  TorchrunRank read{*rank, *size, ""};
  if (*size == 1)
    return read;
  auto address = meetingPlace();
  if (!address)
    return address.takeError();
  read.address = std::move(*address);
  return read;
}

bool isStartedByTorchrun() {
  return std::getenv("TORCHELASTIC_RUN_ID") != nullptr;
}

} // namespace mp

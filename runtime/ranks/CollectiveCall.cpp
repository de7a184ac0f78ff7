//===- CollectiveCall.cpp - exchanges among the calls of a Program --------===//
#include "runtime/ranks/CollectiveCall.h"
#include "runtime/MatmulCall.h"
#include "support/Error.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace mp {

static Error readReduction(const Call &call, Collective &collective) {
  std::string word;
  if (Error error = readAttribute(call, "reduction", word))
    return error;
  using Reduction = Collective::Reduction;
  auto reduction = StringSwitch<std::optional<Reduction>>(word)
                       .Case("sum", Reduction::Sum)
                       .Case("max", Reduction::Max)
                       .Case("or", Reduction::Or)
                       .Default(std::nullopt);
  if (!reduction)
    return makeError("reduction is '{0}', expected sum, max or or", word);
  collective.reduction = *reduction;
  return Error::success();
}

static Error readTensors(const Call &call, Collective &collective) {
  std::string word;
  if (Error error = readAttribute(call, "type", word))
    return error;
  if (Error error = readAttribute(call, "elements", collective.elements))
    return error;
  auto element = parseElementType(word);
  if (!element)
    return makeError("unknown type '{0}'", word);
  collective.element = *element;
  for (int64_t elements : collective.elements)
    if (elements < 0)
      return makeError("a tensor has {0} elements", elements);
  return checkArguments(call, 2 * collective.elements.size());
}

Expected<Collective> readCollective(const Call &call, StringRef kind,
                                    int64_t ranks) {
  using Kind = Collective::Kind;
  auto known = StringSwitch<std::optional<Kind>>(kind)
                   .Case("all_reduce", Kind::AllReduce)
                   .Case("all_gather", Kind::AllGather)
                   .Case("reduce_scatter", Kind::ReduceScatter)
                   .Case("broadcast_from", Kind::Broadcast)
                   .Default(std::nullopt);
  if (!known)
    return makeError("ranks do not exchange by '{0}'", kind);
  Collective collective;
  collective.kind = *known;
  if (Error error = readTensors(call, collective))
    return std::move(error);
  if (*known == Kind::AllReduce || *known == Kind::ReduceScatter)
    if (Error error = readReduction(call, collective))
      return std::move(error);
  if (*known == Kind::ReduceScatter)
    for (int64_t elements : collective.elements)
      if (elements % ranks != 0)
        return makeError("{0} elements cannot be divided by {1} ranks",
                         elements, ranks);
  if (*known == Kind::Broadcast) {
    if (Error error = readAttribute(call, "root", collective.root))
      return std::move(error);
    if (collective.root < 0 || collective.root >= ranks)
      return makeError("root is {0}, but there are {1} ranks", collective.root,
                       ranks);
  }
  return collective;
}

Error checkRanks(const Program &program, int64_t ranks) {
  if (program.ranks == 1 || program.ranks == ranks)
    return Error::success();
  return makeError("the program is for {0} ranks, but this session has {1}",
                   program.ranks, ranks);
}

} // namespace mp

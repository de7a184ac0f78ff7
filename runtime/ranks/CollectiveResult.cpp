//===- CollectiveResult.cpp - what a collective gives ---------------------===//
#include "runtime/ranks/CollectiveResult.h"
#include "runtime/ranks/OrderedReduce.h"
#include "llvm/ADT/SmallVector.h"
#include <cstring>

using namespace mp;

namespace {

/// One tensor of a collective.
class TensorResult {
public:
  TensorResult(const Collective &collective, llvm::ArrayRef<RankTensors> ranks,
               size_t tensor)
      : collective(collective), ranks(ranks), tensor(tensor),
        elements(collective.elements[tensor]),
        bytes(elements * byteWidth(collective.element)) {}

  void compute() {
    switch (collective.kind) {
    case Collective::Kind::AllReduce:
      return allReduce();
    case Collective::Kind::ReduceScatter:
      return reduceScatter();
    case Collective::Kind::AllGather:
      return allGather();
    case Collective::Kind::Broadcast:
      return broadcast();
    }
  }

private:
  const char *from(size_t rank) const {
    return static_cast<const char *>(ranks[rank].from[tensor]);
  }
  /// Null if this rank's result is not asked for.
  char *to(size_t rank) const {
    return ranks[rank].to.empty() ? nullptr
                                  : static_cast<char *>(ranks[rank].to[tensor]);
  }

  void reduce(uint64_t offset, int64_t count, void *result) {
    llvm::SmallVector<const void *> contributions;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      contributions.push_back(from(rank) + offset);
    orderedReduce(collective.reduction, collective.element, contributions,
                  count, result);
  }

  // memmove below, as a rank may give and get at one address.

  /// Reduces once, as a result may lie where a contribution was.
  void allReduce() {
    char *reduced = nullptr;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (char *result = to(rank); result && reduced)
        std::memmove(result, reduced, bytes);
      else if (result)
        reduce(0, elements, reduced = result);
  }

  void reduceScatter() {
    int64_t size = ranks.size();
    for (int64_t rank = 0; rank < size; ++rank)
      if (char *result = to(rank))
        reduce(rank * (bytes / size), elements / size, result);
  }

  void allGather() {
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (char *result = to(rank))
        for (size_t giver = 0; giver < ranks.size(); ++giver)
          std::memmove(result + giver * bytes, from(giver), bytes);
  }

  void broadcast() {
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      if (char *result = to(rank))
        std::memmove(result, from(collective.root), bytes);
  }

  const Collective &collective;
  llvm::ArrayRef<RankTensors> ranks;
  size_t tensor;
  int64_t elements;
  uint64_t bytes;
};

} // namespace

void mp::computeCollective(const Collective &collective,
                           llvm::ArrayRef<RankTensors> ranks) {
  for (size_t tensor = 0; tensor < collective.elements.size(); ++tensor)
    TensorResult(collective, ranks, tensor).compute();
}

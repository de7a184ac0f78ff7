//===- NcclCalls.cpp - calls that an emulated communicator runs together --===//
//
// NCCL does not notice that ranks make different calls: they hang, or get wrong
// numbers. Here this is an error that names both.
//
//===----------------------------------------------------------------------===//

#include "NcclCalls.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace mp::emulator {

namespace {
struct TypeFacts {
  const char *name;
  size_t bytes;
};
constexpr TypeFacts types[] = {{"i8", 1},  {"u8", 1},  {"i32", 4}, {"u32", 4},
                               {"i64", 8}, {"u64", 8}, {"f16", 2}, {"f32", 4},
                               {"f64", 8}, {"bf16", 2}};

struct Bf16 {
  uint16_t bits;
  operator float() const {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &wide, sizeof(value));
    return value;
  }
  static Bf16 of(float value) {
    uint32_t wide;
    memcpy(&wide, &value, sizeof(wide));
    return {static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16)};
  }
};
} // namespace

size_t ncclTypeBytes(int type) {
  return type >= 0 && type < static_cast<int>(std::size(types))
             ? types[type].bytes
             : 0;
}

uint64_t NcclCall::bytesFrom(int ranks) const {
  uint64_t bytes = count * ncclTypeBytes(type);
  return kind == Receive ? 0 : kind == ReduceScatter ? bytes * ranks : bytes;
}
uint64_t NcclCall::bytesTo(int ranks) const {
  uint64_t bytes = count * ncclTypeBytes(type);
  return kind == Send ? 0 : kind == AllGather ? bytes * ranks : bytes;
}

std::string NcclCall::str() const {
  static const char *const kinds[] = {"all_reduce",     "all_gather",
                                      "reduce_scatter", "broadcast",
                                      "send",           "receive"};
  std::string text = kinds[kind];
  if (kind == AllReduce || kind == ReduceScatter)
    text += operation == 0 ? " sum" : operation == 2 ? " max" : " other";
  text +=
      std::string(" ") + types[type].name + " [" + std::to_string(count) + "]";
  if (kind == Broadcast)
    text += " of rank " + std::to_string(peer);
  if (isBetweenTwo())
    text += (kind == Send ? " to rank " : " from rank ") + std::to_string(peer);
  return text;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The last rank comes first: another order than a sum over ranks would have.
template <typename T>
static void reduce(const std::vector<std::vector<char>> &given, int operation,
                   void *to, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    auto at = [&](size_t rank) {
      T value;
      memcpy(&value, given[rank].data() + i * sizeof(T), sizeof(T));
      return value;
    };
    T total = at(given.size() - 1);
    for (size_t rank = given.size() - 1; rank-- > 0;) {
      T next = at(rank);
      if constexpr (std::is_same_v<T, Bf16>)
        total = operation == 0 ? Bf16::of(float(total) + float(next))
                : next > total ? next
                               : total;
      else
        total = operation == 0 ? static_cast<T>(total + next)
                               : std::max(total, next);
    }
    memcpy(static_cast<char *>(to) + i * sizeof(T), &total, sizeof(T));
  }
}

static void reduceAny(const std::vector<std::vector<char>> &given,
                      const NcclCall &call) {
  static constexpr decltype(&reduce<float>) functions[] = {
      reduce<int8_t>,  reduce<uint8_t>,  reduce<int32_t>,  reduce<uint32_t>,
      reduce<int64_t>, reduce<uint64_t>, reduce<_Float16>, reduce<float>,
      reduce<double>,  reduce<Bf16>};
  functions[call.type](given, call.operation, call.to, call.count);
}

//===----------------------------------------------------------------------===//
// A group of calls
//===----------------------------------------------------------------------===//

namespace {
class Work {
public:
  Work(NcclGroup &group, std::vector<NcclCall> calls)
      : group(group), calls(std::move(calls)) {}

  void run() {
    if (!group.exchange(pack(), calls.front().str()))
      return;
    others.resize(group.ranks);
    for (int rank = 0; rank < group.ranks; ++rank)
      if (!readCalls(rank) || !compare(rank))
        return;
    for (const NcclCall &call : calls)
      if (!finish(call))
        return;
    group.finish();
  }

private:
  /// The number of calls, the calls, and what they give.
  std::vector<char> pack() {
    uint64_t count = calls.size(), bytes = sizeof(count);
    bytes += count * sizeof(NcclCall);
    for (NcclCall &call : calls) {
      call.offset = bytes;
      bytes += call.bytesFrom(group.ranks);
    }
    std::vector<char> all(bytes);
    memcpy(all.data(), &count, sizeof(count));
    memcpy(all.data() + sizeof(count), calls.data(), count * sizeof(NcclCall));
    for (const NcclCall &call : calls)
      if (uint64_t own = call.bytesFrom(group.ranks))
        memcpy(all.data() + call.offset, call.from, own);
    return all;
  }

  bool readCalls(int rank) {
    uint64_t count = 0;
    if (!group.read(rank, 0, &count, sizeof(count)))
      return false;
    others[rank].resize(count);
    return group.read(rank, sizeof(count), others[rank].data(),
                      count * sizeof(NcclCall));
  }

  static std::vector<const NcclCall *>
  pick(const std::vector<NcclCall> &calls,
       const std::function<bool(const NcclCall &)> &wanted) {
    std::vector<const NcclCall *> picked;
    for (const NcclCall &call : calls)
      if (wanted(call))
        picked.push_back(&call);
    return picked;
  }

  bool differ(int other, const std::string &own, const std::string &theirs) {
    // All ranks say it in the same way.
    bool lower = group.rank < other;
    group.fail("rank " + std::to_string(lower ? group.rank : other) +
               " starts " + (lower ? own : theirs) + ", but rank " +
               std::to_string(lower ? other : group.rank) + " starts " +
               (lower ? theirs : own));
    return false;
  }

  bool compare(int other) {
    auto isCommon = [](const NcclCall &call) { return !call.isBetweenTwo(); };
    auto withPeer = [](NcclCall::Kind kind, int peer) {
      return [=](const NcclCall &call) {
        return call.kind == kind && call.peer == peer;
      };
    };
    using Kind = NcclCall::Kind;
    const auto &theirs = others[other];
    return match(other, pick(calls, isCommon), pick(theirs, isCommon)) &&
           match(other, pick(calls, withPeer(Kind::Send, other)),
                 pick(theirs, withPeer(Kind::Receive, group.rank))) &&
           match(other, pick(calls, withPeer(Kind::Receive, other)),
                 pick(theirs, withPeer(Kind::Send, group.rank)));
  }

  bool match(int other, const std::vector<const NcclCall *> &own,
             const std::vector<const NcclCall *> &theirs) {
    for (size_t at = 0; at < std::max(own.size(), theirs.size()); ++at) {
      if (at >= own.size() || at >= theirs.size())
        return differ(other, at < own.size() ? own[at]->str() : "nothing",
                      at < theirs.size() ? theirs[at]->str() : "nothing");
      const NcclCall &a = *own[at], &b = *theirs[at];
      bool same =
          a.type == b.type && a.count == b.count && a.operation == b.operation;
      if (!a.isBetweenTwo())
        same &= a.kind == b.kind && a.peer == b.peer;
      if (!same)
        return differ(other, a.str(), b.str());
    }
    return true;
  }

  /// Returns what the call at the same place of another rank gave.
  bool readGiven(int rank, const NcclCall &call, uint64_t begin, uint64_t bytes,
                 void *to) {
    size_t place = &call - calls.data(), number = 0, seen = 0;
    for (size_t at = 0; at < place; ++at)
      number += !calls[at].isBetweenTwo();
    for (const NcclCall &theirs : others[rank])
      if (!theirs.isBetweenTwo() && seen++ == number)
        return group.read(rank, theirs.offset + begin, to, bytes);
    return false;
  }

  bool receive(const NcclCall &call) {
    size_t number = 0;
    for (const NcclCall *own = calls.data(); own != &call; ++own)
      number += own->kind == NcclCall::Receive && own->peer == call.peer;
    for (const NcclCall &theirs : others[call.peer])
      if (theirs.kind == NcclCall::Send && theirs.peer == group.rank &&
          number-- == 0)
        return group.read(call.peer, theirs.offset, call.to,
                          call.bytesTo(group.ranks));
    return false;
  }

  bool finish(const NcclCall &call) {
    uint64_t bytes = call.count * ncclTypeBytes(call.type);
    switch (call.kind) {
    case NcclCall::Send:
      return true;
    case NcclCall::Receive:
      return receive(call);
    case NcclCall::Broadcast:
      return readGiven(call.peer, call, 0, bytes, call.to);
    case NcclCall::AllGather:
      for (int rank = 0; rank < group.ranks; ++rank)
        if (!readGiven(rank, call, 0, bytes,
                       static_cast<char *>(call.to) + rank * bytes))
          return false;
      return true;
    case NcclCall::AllReduce:
    case NcclCall::ReduceScatter:
      break;
    }
    bool scatters = call.kind == NcclCall::ReduceScatter;
    std::vector<std::vector<char>> given(group.ranks, std::vector<char>(bytes));
    for (int rank = 0; rank < group.ranks; ++rank)
      if (!readGiven(rank, call, scatters ? group.rank * bytes : 0, bytes,
                     given[rank].data()))
        return false;
    reduceAny(given, call);
    return true;
  }

  NcclGroup &group;
  std::vector<NcclCall> calls;
  std::vector<std::vector<NcclCall>> others; ///< calls of all ranks
};
} // namespace

void runCalls(NcclGroup &group, std::vector<NcclCall> calls) {
  if (group.problem().empty())
    Work(group, std::move(calls)).run();
}

} // namespace mp::emulator

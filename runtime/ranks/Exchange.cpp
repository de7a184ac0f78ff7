//===- Exchange.cpp - one collective after the other, over MPI ------------===//
#include "runtime/ranks/Exchange.h"
#include "runtime/ranks/OrderedReduce.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <sched.h>
#include <thread>

using namespace mp;
using namespace std::chrono_literals;

/// The tags of the first messages, and of tensors; Peers has 2.
static constexpr int kTag = 1, kDataTag = 3;
/// Tensors of so many bytes in total travel in the first message. With its head
/// it is below 4 KiB, which MPI's libraries send at once.
static constexpr uint64_t kInline = 3584;
/// What the first message has room for.
static constexpr uint64_t kMessage = 4096;

namespace {

/// The head of the first message. Its text and tensors follow.
struct Head {
  uint64_t hash;
  uint32_t textBytes;
};
constexpr size_t kMostText = 256;

uint64_t tensorsAt(uint32_t textBytes) {
  return llvm::alignTo(sizeof(Head) + textBytes, 16);
}
static_assert(sizeof(Head) + kMostText + 16 + kInline <= kMessage);

} // namespace

char *Exchange::room(std::vector<char> &buffer, uint64_t bytes) {
  if (buffer.size() < bytes)
    buffer.resize(bytes);
  return buffer.data();
}

char *Exchange::message(int rank) { return messages.data() + rank * kMessage; }

bool Exchange::check(int code, const char *call) {
  if (code == 0)
    return true;
  char reason[512];
  mpi.table->errorText(code, reason);
  failure = llvm::formatv("{0} failed: {1}", call, reason).str();
  return false;
}

/// Whether this process has a single core, which computes too.
static bool hasOneCore() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 &&
         CPU_COUNT(&cores) == 1;
}

/// Waits are first short, at the price of a core, as most are; then they leave
/// the core to others, as ranks may share it; then they sleep. MPI goes on only
/// while it is called, so one that moves data sleeps late. On a single core it
/// sleeps soon: the core goes to the thread that computes, as with a yield, but
/// is given back when the sleep is over, and not when a time slice is. A wait
/// for a rank that computes becomes longer by an eighth at most.
bool Exchange::go(bool waitsLong, RankClock::time_point begin) {
  auto now = RankClock::now();
  peers.poll(now);
  failure = peers.failure();
  auto waited = now - begin;
  static const bool oneCore = hasOneCore();
  if (waited > (oneCore ? 50us : waitsLong ? 1ms : 100ms))
    std::this_thread::sleep_for(
        waitsLong ? std::clamp<RankClock::duration>(waited / 8, 50us, 500us)
                  : RankClock::duration(50us));
  else if (waited > 50us)
    sched_yield();
  return failure.empty();
}

bool Exchange::finish(int code, const char *call, MpiRequest &request) {
  if (!check(code, call))
    return false;
  auto begin = RankClock::now();
  while (true) {
    int done = 0;
    if (!check(mpi.table->test(&request, &done), call))
      return false;
    if (done)
      return true;
    if (!go(/*waitsLong=*/false, begin))
      return false;
  }
}

/// Lists the tensors, and writes this rank's first message.
void Exchange::describe(const StartedJob &job) {
  const Collective &collective = job.collective;
  text.clear();
  llvm::raw_svector_ostream stream(text);
  collective.print(stream);
  from.clear();
  to.clear();
  uint64_t width = byteWidth(collective.element);
  for (size_t i = 0; i < collective.elements.size(); ++i) {
    from.add(job.from[i], collective.elements[i] * width);
    to.add(job.to[i], collective.elementsOut(i, mpi.size) * width);
  }
  if (messages.empty()) {
    messages.resize(mpi.size * kMessage);
    sends.resize(mpi.size);
    receives.resize(mpi.size);
  }
  Head head{llvm::xxh3_64bits(text.str()),
            uint32_t(std::min(text.size(), kMostText))};
  std::memcpy(message(mpi.rank), &head, sizeof(head));
  std::memcpy(message(mpi.rank) + sizeof(head), text.data(), head.textBytes);
}

bool Exchange::meet(const StartedJob &job) {
  describe(job);
  uint64_t bytes = tensorsAt(std::min(text.size(), kMostText));
  if (from.bytes() <= kInline) {
    if (job.collective.kind != Collective::Kind::Broadcast ||
        job.collective.root == mpi.rank)
      from.pack(0, from.bytes(), message(mpi.rank) + bytes);
    bytes += from.bytes();
  }
  hasSent.assign(mpi.size, false);
  hasReceived.assign(mpi.size, false);
  hasSent[mpi.rank] = hasReceived[mpi.rank] = true;
  for (int rank = 0; rank < mpi.size; ++rank)
    if (rank != mpi.rank &&
        (!check(mpi.table->receive(mpi.group, message(rank), kMessage, rank,
                                   kTag, &receives[rank]),
                "MPI_Irecv") ||
         !check(mpi.table->send(mpi.group, message(mpi.rank), bytes, rank, kTag,
                                &sends[rank]),
                "MPI_Isend")))
      return false;
  auto begin = RankClock::now();
  auto test = [&](MpiRequest &request, std::vector<bool>::reference over) {
    int done = over;
    if (!done && check(mpi.table->test(&request, &done), "MPI_Test"))
      over = done;
    return bool(over);
  };
  while (true) {
    bool all = true;
    for (int rank = 0; rank < mpi.size; ++rank) {
      bool here = test(receives[rank], hasReceived[rank]);
      if (!here && failure.empty())
        failure = peers.lateness(rank, job.ticket, text, begin);
      all &= here & test(sends[rank], hasSent[rank]);
    }
    if (!failure.empty())
      return false;
    if (all)
      return compare(job);
    if (!go(/*waitsLong=*/true, begin))
      return false;
  }
}

/// Whether all ranks have started the same; names the lowest two if not.
bool Exchange::compare(const StartedJob &job) {
  auto headOf = [&](int rank) {
    Head head;
    std::memcpy(&head, message(rank), sizeof(head));
    return head;
  };
  auto started = [&](int rank) {
    const char *text = message(rank) + sizeof(Head);
    return StartedCollective{rank,
                             llvm::StringRef(text, headOf(rank).textBytes)};
  };
  for (int rank = 1; rank < mpi.size; ++rank)
    if (headOf(rank).hash != headOf(0).hash) {
      failure = differ(job.ticket, started(rank), started(0));
      return false;
    }
  return true;
}

/// Makes the result of what all ranks' first messages bring.
void Exchange::finishInline(const StartedJob &job) {
  const Collective &collective = job.collective;
  uint64_t width = byteWidth(collective.element);
  uint64_t offset = tensorsAt(std::min(text.size(), kMostText));
  llvm::SmallVector<const void *, 16> all(mpi.size);
  for (size_t i = 0; i < collective.elements.size(); ++i) {
    uint64_t elements = collective.elements[i], bytes = elements * width;
    uint64_t part = elements / mpi.size;
    bool scatters = collective.kind == Collective::Kind::ReduceScatter;
    for (int rank = 0; rank < mpi.size; ++rank)
      all[rank] =
          message(rank) + offset + (scatters ? mpi.rank * part * width : 0);
    auto *result = static_cast<char *>(job.to[i]);
    if (collective.reduces())
      orderedReduce(collective.reduction, collective.element, all,
                    scatters ? part : elements, result);
    else if (collective.kind == Collective::Kind::Broadcast)
      std::memcpy(result, all[collective.root], bytes);
    else
      for (int rank = 0; rank < mpi.size; ++rank)
        std::memcpy(result + rank * bytes, all[rank], bytes);
    offset += bytes;
  }
}

bool Exchange::send(int rank, const TensorRuns &tensors, Range range) {
  bool started = true;
  tensors.visit(
      range.begin, range.end, [&](const char *data, uint64_t, uint64_t bytes) {
        started = started &&
                  check(mpi.table->send(mpi.group, data, bytes, rank, kDataTag,
                                        &requests.emplace_back()),
                        "MPI_Isend");
      });
  return started;
}

bool Exchange::receive(int rank, const TensorRuns &tensors, Range range,
                       char *to) {
  bool started = true;
  tensors.visit(
      range.begin, range.end, [&](char *data, uint64_t offset, uint64_t bytes) {
        started =
            started &&
            check(mpi.table->receive(mpi.group, to ? to + offset : data, bytes,
                                     rank, kDataTag, &requests.emplace_back()),
                  "MPI_Irecv");
      });
  return started;
}

bool Exchange::finishAll() {
  bool good = true;
  for (MpiRequest &request : requests)
    good = good && finish(0, "MPI_Test", request);
  requests.clear();
  return good;
}

/// Gives a piece to each other rank, and gets as much from it.
bool Exchange::swap(llvm::function_ref<bool(int rank)> give,
                    llvm::function_ref<bool(int rank)> get) {
  for (int rank = 0; rank < mpi.size; ++rank)
    if (rank != mpi.rank && !get(rank))
      return false;
  // Each begins with its next neighbour, so that not all send to one.
  for (int step = 1; step < mpi.size; ++step)
    if (!give((mpi.rank + step) % mpi.size))
      return false;
  return finishAll();
}

/// Reduces the runs in `range` of `own`, and what other ranks have sent of
/// them, to the runs of `result` at the same place.
void Exchange::reduceTo(const TensorRuns &result, const TensorRuns &own,
                        Range range, const Collective &collective) {
  uint64_t width = byteWidth(collective.element);
  llvm::SmallVector<const void *, 16> all(mpi.size);
  result.visit(
      range.begin, range.end, [&](char *data, uint64_t offset, uint64_t bytes) {
        uint64_t begin = range.begin + offset;
        for (int rank = 0; rank < mpi.size; ++rank)
          all[rank] = rank == mpi.rank ? own.at(begin, begin + bytes)
                                       : received(rank, range) + offset;
        orderedReduce(collective.reduction, collective.element, all,
                      bytes / width, data);
      });
}

char *Exchange::received(int rank, Range range) {
  return receiving.data() + rank * (range.end - range.begin);
}

bool Exchange::allReduce(const StartedJob &job) {
  uint64_t width = byteWidth(job.collective.element);
  for (uint64_t begin = 0; begin < from.bytes(); begin += pieceBytes) {
    uint64_t end = std::min(from.bytes(), begin + pieceBytes);
    uint64_t elements = (end - begin) / width;
    auto slice = [&](int rank) {
      return Range{begin + elements * rank / mpi.size * width,
                   begin + elements * (rank + 1) / mpi.size * width};
    };
    Range own = slice(mpi.rank);
    room(receiving, (own.end - own.begin) * mpi.size);
    if (!swap([&](int rank) { return send(rank, from, slice(rank)); },
              [&](int rank) {
                return receive(rank, from, own, received(rank, own));
              }))
      return false;
    reduceTo(to, from, own, job.collective);
    if (!swap([&](int rank) { return send(rank, to, own); },
              [&](int rank) { return receive(rank, to, slice(rank)); }))
      return false;
  }
  return true;
}

/// Makes `parts` of tensors at `data`, of which every rank has one.
template <typename Data>
void Exchange::divide(llvm::ArrayRef<Data *> data, const Collective &collective,
                      int64_t share) {
  parts.resize(mpi.size);
  for (int rank = 0; rank < mpi.size; ++rank) {
    parts[rank].clear();
    for (auto [tensor, elements] : llvm::zip_equal(data, collective.elements)) {
      uint64_t bytes = elements / share * byteWidth(collective.element);
      parts[rank].add(static_cast<const char *>(tensor) + rank * bytes, bytes);
    }
  }
}

/// Part r of every tensor goes to rank r.
bool Exchange::reduceScatter(const StartedJob &job) {
  const Collective &collective = job.collective;
  divide<const void>(job.from, collective, mpi.size);
  uint64_t step = std::max<uint64_t>(pieceBytes / mpi.size / 16 * 16, 16);
  for (uint64_t begin = 0; begin < to.bytes(); begin += step) {
    Range piece{begin, std::min(to.bytes(), begin + step)};
    room(receiving, (piece.end - piece.begin) * mpi.size);
    if (!swap([&](int rank) { return send(rank, parts[rank], piece); },
              [&](int rank) {
                return receive(rank, to, piece, received(rank, piece));
              }))
      return false;
    reduceTo(to, parts[mpi.rank], piece, collective);
  }
  return true;
}

bool Exchange::allGather(const StartedJob &job) {
  divide<void>(job.to, job.collective, 1);
  parts[mpi.rank].visit(
      0, from.bytes(), [&](char *data, uint64_t offset, uint64_t size) {
        std::memcpy(data, from.at(offset, offset + size), size);
      });
  for (uint64_t begin = 0; begin < from.bytes(); begin += pieceBytes) {
    Range piece{begin, std::min(from.bytes(), begin + pieceBytes)};
    if (!swap([&](int rank) { return send(rank, from, piece); },
              [&](int rank) { return receive(rank, parts[rank], piece); }))
      return false;
  }
  return true;
}

bool Exchange::broadcast(const StartedJob &job) {
  bool isRoot = job.collective.root == mpi.rank;
  for (uint64_t begin = 0; begin < to.bytes(); begin += pieceBytes) {
    uint64_t end = std::min(to.bytes(), begin + pieceBytes);
    const TensorRuns &tensors = isRoot ? from : to;
    char *data = tensors.at(begin, end);
    if (!data) {
      room(packed, end - begin);
      if (isRoot)
        from.pack(begin, end, packed.data());
    }
    MpiRequest request;
    if (!finish(mpi.table->broadcast(mpi.group, data ? data : packed.data(),
                                     end - begin, job.collective.root,
                                     &request),
                "MPI_Ibcast", request))
      return false;
    if (isRoot)
      for (size_t i = 0; begin == 0 && i < job.to.size(); ++i)
        std::memmove(job.to[i], job.from[i],
                     job.collective.elements[i] *
                         byteWidth(job.collective.element));
    else if (!data)
      to.unpack(begin, end, packed.data());
  }
  return true;
}

std::string Exchange::run(const StartedJob &job) {
  if (!meet(job))
    return failure;
  metAt = RankClock::now();
  // What is small, and what has no other rank to go to.
  if (from.bytes() <= kInline)
    finishInline(job);
  else
    switch (job.collective.kind) {
    case Collective::Kind::AllReduce:
      allReduce(job);
      break;
    case Collective::Kind::ReduceScatter:
      reduceScatter(job);
      break;
    case Collective::Kind::AllGather:
      allGather(job);
      break;
    case Collective::Kind::Broadcast:
      broadcast(job);
      break;
    }
  return failure;
}

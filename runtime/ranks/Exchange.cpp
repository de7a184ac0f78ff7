//===- Exchange.cpp - one collective after the other, over MPI ------------===//
#include "runtime/ranks/Exchange.h"
#include "runtime/ranks/OrderedReduce.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <numeric>
#include <sched.h>
#include <thread>

using namespace mp;
using namespace std::chrono_literals;

/// The tag of the first messages; Peers has 2.
static constexpr int kTag = 1;
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
/// is given back when the sleep is over, and not when a time slice is.
bool Exchange::go(bool waitsLong, RankClock::time_point begin) {
  auto now = RankClock::now();
  peers.poll(now);
  failure = peers.failure();
  auto waited = now - begin;
  static const bool oneCore = hasOneCore();
  if (waited > (oneCore ? 50us : waitsLong ? 1ms : 100ms))
    std::this_thread::sleep_for(50us);
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
    counts.resize(mpi.size);
    offsets = countsTo = offsetsTo = counts;
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
  sent.assign(mpi.size, false);
  received.assign(mpi.size, false);
  sent[mpi.rank] = received[mpi.rank] = true;
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
      bool here = test(receives[rank], received[rank]);
      if (!here && failure.empty())
        failure = peers.lateness(rank, job.ticket, text, begin);
      all &= here & test(sends[rank], sent[rank]);
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

bool Exchange::allReduce(const StartedJob &job) {
  uint64_t width = byteWidth(job.collective.element);
  llvm::SmallVector<const void *, 16> all(mpi.size);
  for (uint64_t begin = 0; begin < from.bytes(); begin += pieceBytes) {
    uint64_t end = std::min(from.bytes(), begin + pieceBytes);
    uint64_t elements = (end - begin) / width;
    for (int rank = 0; rank < mpi.size; ++rank) {
      offsets[rank] = elements * rank / mpi.size * width;
      counts[rank] = elements * (rank + 1) / mpi.size * width - offsets[rank];
    }
    uint64_t own = counts[mpi.rank];
    for (int rank = 0; rank < mpi.size; ++rank) {
      countsTo[rank] = own;
      offsetsTo[rank] = rank * own;
    }
    const char *give = from.at(begin, end);
    if (!give)
      from.pack(begin, end, room(sending, end - begin));
    char *slices = room(receiving, own * mpi.size + 1);
    for (int rank = 0; rank < mpi.size; ++rank)
      all[rank] = slices + rank * own;
    MpiRequest request;
    if (!finish(mpi.table->allToAll(mpi.group, give ? give : sending.data(),
                                    counts.data(), offsets.data(), slices,
                                    countsTo.data(), offsetsTo.data(),
                                    &request),
                "MPI_Ialltoallv", request))
      return false;
    orderedReduce(job.collective.reduction, job.collective.element, all,
                  own / width, slices);
    char *get = to.at(begin, end);
    if (!get)
      room(gathering, end - begin);
    if (!finish(mpi.table->allGather(mpi.group, slices, own,
                                     get ? get : gathering.data(),
                                     counts.data(), offsets.data(), &request),
                "MPI_Iallgatherv", request))
      return false;
    if (!get)
      to.unpack(begin, end, gathering.data());
  }
  return true;
}

/// Part r of every tensor goes to rank r.
bool Exchange::reduceScatter(const StartedJob &job) {
  const Collective &collective = job.collective;
  uint64_t width = byteWidth(collective.element);
  uint64_t step = std::max<uint64_t>(pieceBytes / mpi.size / 16 * 16, 16);
  llvm::SmallVector<const void *, 16> all(mpi.size);
  for (uint64_t begin = 0; begin < to.bytes(); begin += step) {
    uint64_t end = std::min(to.bytes(), begin + step), bytes = end - begin;
    char *give = room(sending, bytes * mpi.size);
    for (int rank = 0; rank < mpi.size; ++rank) {
      from.clear();
      for (size_t i = 0; i < collective.elements.size(); ++i) {
        uint64_t part = collective.elements[i] / mpi.size * width;
        from.add(static_cast<const char *>(job.from[i]) + rank * part, part);
      }
      counts[rank] = bytes;
      offsets[rank] = rank * bytes;
      from.pack(begin, end, give + offsets[rank]);
    }
    char *slices = room(receiving, bytes * mpi.size);
    MpiRequest request;
    if (!finish(mpi.table->allToAll(mpi.group, give, counts.data(),
                                    offsets.data(), slices, counts.data(),
                                    offsets.data(), &request),
                "MPI_Ialltoallv", request))
      return false;
    to.visit(begin, end, [&](char *result, uint64_t offset, uint64_t size) {
      for (int rank = 0; rank < mpi.size; ++rank)
        all[rank] = slices + rank * bytes + offset;
      orderedReduce(collective.reduction, collective.element, all, size / width,
                    result);
    });
  }
  return true;
}

bool Exchange::allGather(const StartedJob &job) {
  const Collective &collective = job.collective;
  uint64_t width = byteWidth(collective.element);
  uint64_t step = std::max<uint64_t>(pieceBytes / mpi.size / 16 * 16, 16);
  for (uint64_t begin = 0; begin < from.bytes(); begin += step) {
    uint64_t end = std::min(from.bytes(), begin + step), bytes = end - begin;
    const char *give = from.at(begin, end);
    if (!give)
      from.pack(begin, end, room(sending, bytes));
    for (int rank = 0; rank < mpi.size; ++rank) {
      counts[rank] = bytes;
      offsets[rank] = rank * bytes;
    }
    char *get = room(gathering, bytes * mpi.size);
    MpiRequest request;
    if (!finish(mpi.table->allGather(mpi.group, give ? give : sending.data(),
                                     bytes, get, counts.data(), offsets.data(),
                                     &request),
                "MPI_Iallgatherv", request))
      return false;
    for (int rank = 0; rank < mpi.size; ++rank) {
      to.clear();
      for (size_t i = 0; i < collective.elements.size(); ++i) {
        uint64_t whole = collective.elements[i] * width;
        to.add(static_cast<const char *>(job.to[i]) + rank * whole, whole);
      }
      to.unpack(begin, end, get + rank * bytes);
    }
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
      room(sending, end - begin);
      if (isRoot)
        from.pack(begin, end, sending.data());
    }
    MpiRequest request;
    if (!finish(mpi.table->broadcast(mpi.group, data ? data : sending.data(),
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
      to.unpack(begin, end, sending.data());
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

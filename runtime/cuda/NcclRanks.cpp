//===- NcclRanks.cpp - ranks that NCCL alone connects ---------------------===//
#include "runtime/cuda/NcclRanks.h"
#include "runtime/Device.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/Nccl.h"
#include "runtime/ranks/CollectiveResult.h"
#include "runtime/ranks/FailureText.h"
#include "runtime/ranks/HostPeers.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <thread>

using namespace llvm;
using namespace std::chrono_literals;

namespace mp::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// What a rank gives in a collective is a row of bytes: a head, and its tensors
/// one after the other. The first piece of a row always has as many bytes, so
/// that ranks which have started different collectives learn it from the heads:
/// NCCL would hang or give wrong numbers.
struct Head {
  uint64_t hash;
  uint32_t textBytes;
  char text[244];
};
constexpr uint64_t kFirst = 4096;
/// The rest travels in pieces of so many bytes at most, which bounds the
/// device's memory.
constexpr uint64_t kPiece = 1 << 20;
/// Tensors begin at multiples of this in a row, as if allocated.
constexpr uint64_t kAlignment = 16;
static_assert(sizeof(Head) % kAlignment == 0 && sizeof(Head) < kFirst);

/// Where the tensors of a rank are in its row.
struct Row {
  explicit Row(const Collective &collective) {
    for (int64_t elements : collective.elements) {
      offsets.push_back(bytes);
      sizes.push_back(elements * byteWidth(collective.element));
      bytes = alignTo(bytes + sizes.back(), kAlignment);
    }
    bytes = std::max(bytes, kFirst);
  }
  std::vector<uint64_t> offsets, sizes;
  uint64_t bytes = sizeof(Head);
};

Head headOf(const Collective &collective) {
  std::string text = collective.str();
  Head head = {xxh3_64bits(text),
               uint32_t(std::min(text.size(), sizeof(Head::text))),
               {}};
  std::memcpy(head.text, text.data(), head.textBytes);
  return head;
}

class NcclRanks final : public Communicator {
public:
  NcclRanks(const NcclRank &place, std::unique_ptr<DeviceContext> context,
            const nccl::Library &library)
      : own(place.rank), ranks(place.size), context(std::move(context)),
        library(library) {}
  ~NcclRanks() override;

  /// `id`: nothing asks NCCL, which has it of NCCL_COMM_ID.
  Error join(StringRef id);
  /// Finds the ranks on this host, to watch them.
  Error meetPeers(const RanksOptions &options);

  int64_t rank() const override { return own; }
  int64_t size() const override { return ranks; }
  bool isForCpus() const override { return false; }
  Ticket start(const Collective &collective, ArrayRef<const void *> from,
               ArrayRef<void *> to) override;
  /// A collective has ended when `start` returns.
  void wait(Ticket) override {}
  Error failure() override;
  void setBusy(bool busy) override {
    if (peers)
      peers->setBusy(busy);
  }
  [[noreturn]] void abort(StringRef message) override;

private:
  Error exchange(const Collective &collective, ArrayRef<const void *> from,
                 ArrayRef<void *> to);
  Error gather(uint64_t begin, uint64_t count, uint64_t stride);
  Error compare(uint64_t stride) const;
  void computeResult(const Collective &collective, const Row &row,
                     ArrayRef<void *> to) const;
  Error waitForStream();
  void fail(Error error);

  int64_t own, ranks;
  std::unique_ptr<DeviceContext> context;
  const nccl::Library &library;
  nccl::Comm comm = nullptr;
  DeviceMemory given, got;          ///< a piece of this rank, and of all
  std::vector<char> rows;           ///< of all ranks
  std::unique_ptr<HostPeers> peers; ///< null: none on this host
  Ticket started = 0;
  std::string problem; ///< of the first failure
};

Error NcclRanks::join(StringRef text) {
  if (Error error = context->activate())
    return error;
  nccl::UniqueId id = {};
  if (text.empty()) {
    // With NCCL_COMM_ID, every rank gets the same id here, which is made of the
    // address alone, and rank 0 listens there in ncclCommInitRank, where the
    // others try to connect for some time (NCCL's bootstrapGetUniqueId and
    // bootstrapCreateRoot).
    MP_NCCL(library, ncclGetUniqueId, &id);
  } else {
    if (text.size() != sizeof(id.bytes))
      return makeError("the id of a group has {0} bytes, expected {1}",
                       text.size(), sizeof(id.bytes));
    std::memcpy(id.bytes, text.data(), sizeof(id.bytes));
  }
  // Memory first: once the ranks have met, they wait for each other.
  for (auto [memory, pieces] :
       {std::pair(&given, int64_t(1)), std::pair(&got, ranks)}) {
    auto made =
        allocateDevice(context->driver, pieces * kPiece, "what hosts exchange");
    if (!made)
      return made.takeError();
    *memory = std::move(*made);
  }
  MP_NCCL(library, ncclCommInitRank, &comm, ranks, id, own);
  return Error::success();
}

Error NcclRanks::meetPeers(const RanksOptions &options) {
  auto met = HostPeers::meet(*this, options);
  if (!met)
    return met.takeError();
  peers = std::move(*met);
  started = 0; // messages count those of the program
  return Error::success();
}

/// Waits without a limit, as another rank may compile, evaluate or write; but
/// not for one that is known to have failed.
Error NcclRanks::waitForStream() {
  constexpr auto interval = 20ms;
  auto begin = Clock::now(), next = begin + interval;
  Result result;
  while ((result = context->driver.cuStreamQuery(context->compute.get())) ==
         statusNotReady) {
    auto now = Clock::now();
    if (now - begin < 1ms)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(50us);
    if (now < next)
      continue;
    if (Error error = failure())
      return error;
    next = now + interval;
  }
  if (Error error = context->driver.check("cuStreamQuery", result))
    return error;
  return failure();
}

/// Gives the bytes [begin, begin + count) of this rank's row, and gets those of
/// all.
Error NcclRanks::gather(uint64_t begin, uint64_t count, uint64_t stride) {
  char *mine = rows.data() + own * stride + begin;
  if (Error error = context->copyToDevice(given.get(), mine, count))
    return error;
  MP_NCCL(library, ncclAllGather, given.get(), got.get(), count,
          nccl::dataType(ElementType::U8), comm, context->compute.get());
  if (Error error = waitForStream())
    return error;
  if (count == stride)
    return context->copyToHost(rows.data(), got.get(), ranks * count);
  for (int64_t rank = 0; rank < ranks; ++rank)
    if (Error error = context->copyToHost(rows.data() + rank * stride + begin,
                                          got.get() + rank * count, count))
      return error;
  return Error::success();
}

/// Fails unless all ranks have started the same collective.
Error NcclRanks::compare(uint64_t stride) const {
  auto head = [&](int64_t rank) {
    return reinterpret_cast<const Head *>(rows.data() + rank * stride);
  };
  auto started = [&](int64_t rank) {
    return StartedCollective{
        rank, StringRef(head(rank)->text, head(rank)->textBytes)};
  };
  for (int64_t rank = 1; rank < ranks; ++rank)
    if (head(rank)->hash != head(0)->hash)
      return createStringError(
          differ(this->started - 1, started(0), started(rank)));
  return Error::success();
}

Error NcclRanks::exchange(const Collective &collective,
                          ArrayRef<const void *> from, ArrayRef<void *> to) {
  if (Error error = context->activate())
    return error;
  Row row(collective);
  rows.resize(row.bytes * ranks);
  char *mine = rows.data() + own * row.bytes;
  Head head = headOf(collective);
  std::memcpy(mine, &head, sizeof(head));
  if (collective.kind != Collective::Kind::Broadcast || collective.root == own)
    for (auto [offset, size, tensor] :
         llvm::zip_equal(row.offsets, row.sizes, from))
      if (size)
        std::memcpy(mine + offset, tensor, size);
  if (Error error = gather(0, kFirst, row.bytes))
    return error;
  if (Error error = compare(row.bytes))
    return error;
  for (uint64_t begin = kFirst; begin < row.bytes; begin += kPiece)
    if (Error error =
            gather(begin, std::min(kPiece, row.bytes - begin), row.bytes))
      return error;
  computeResult(collective, row, to);
  if (row.bytes > kPiece) // large ones are rare: checkpoints of parts
    rows = {};
  return Error::success();
}

void NcclRanks::computeResult(const Collective &collective, const Row &row,
                              ArrayRef<void *> to) const {
  std::vector<std::vector<const void *>> addresses(ranks);
  std::vector<RankTensors> everyone(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (uint64_t offset : row.offsets)
      addresses[rank].push_back(rows.data() + rank * row.bytes + offset);
    everyone[rank].from = addresses[rank];
  }
  everyone[own].to = to;
  computeCollective(collective, everyone);
}

Communicator::Ticket NcclRanks::start(const Collective &collective,
                                      ArrayRef<const void *> from,
                                      ArrayRef<void *> to) {
  Ticket ticket = started++;
  if (!problem.empty())
    return ticket;
  auto begin = Clock::now();
  if (peers)
    peers->started(ticket, collective.str());
  if (Error error = exchange(collective, from, to))
    fail(std::move(error));
  if (peers)
    peers->finished();
  if (!problem.empty())
    return ticket;
  // When the others came is not known, but these bytes take no time to speak
  // of: what is long is the wait.
  if (observer)
    observer(collective, begin, Clock::now());
  return ticket;
}

/// Keeps the first failure, and ends kernels that wait for another rank.
void NcclRanks::fail(Error error) {
  std::string text = toString(std::move(error));
  if (problem.empty())
    problem = std::move(text);
  if (comm)
    library.ncclCommAbort(comm);
  comm = nullptr;
}

Error NcclRanks::failure() {
  // Peers name the rank, and NCCL may not.
  if (problem.empty() && peers)
    if (std::string text = peers->failure(); !text.empty())
      fail(deviceError(text));
  if (problem.empty())
    if (Error error = library.asyncError(comm))
      fail(std::move(error));
  return problem.empty() ? Error::success() : deviceError(problem);
}

void NcclRanks::abort(StringRef message) {
  if (peers)
    peers->abort(message);
  errs() << message << "\n";
  // Destructors would wait for kernels that wait for other ranks.
  std::_Exit(1);
}

NcclRanks::~NcclRanks() {
  consumeError(context->activate());
  if (comm && problem.empty())
    library.ncclCommDestroy(comm);
}

} // namespace
} // namespace mp::cuda

using namespace mp;

static Error checkPlace(const NcclRank &place) {
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size)
    return makeError("there is no rank {0} of {1}", place.rank, place.size);
  return Error::success();
}

Expected<std::string> mp::createNcclId() {
  auto library = cuda::nccl::open();
  if (!library)
    return library.takeError();
  cuda::nccl::UniqueId id = {};
  MP_NCCL(*library, ncclGetUniqueId, &id);
  return std::string(id.bytes, sizeof(id.bytes));
}

Expected<std::unique_ptr<Communicator>>
mp::openNcclRanks(const NcclRank &place, const RanksOptions &options) {
  if (Error error = checkPlace(place))
    return std::move(error);
  auto choice = chooseDevice(place.device);
  if (!choice)
    return choice.takeError();
  if (choice->device.kind != Device::Kind::Cuda)
    return makeError("NCCL connects CUDA devices, and '{0}' is {1}",
                     place.device, choice->device.str());
  auto facts = cuda::examine(choice->device.index);
  if (!facts)
    return facts.takeError();
  auto library = cuda::nccl::open();
  if (!library)
    return library.takeError();
  auto context = cuda::DeviceContext::create(*facts);
  if (!context)
    return context.takeError();
  auto ranks =
      std::make_unique<cuda::NcclRanks>(place, std::move(*context), *library);
  if (Error error = ranks->join(place.id))
    return std::move(error);
  if (Error error = ranks->meetPeers(options))
    return std::move(error);
  return ranks;
}

//===- DeviceRanks.cpp - the devices of the ranks that train together -----===//
#include "runtime/cuda/DeviceRanks.h"
#include <cstring>

using namespace llvm;

namespace mp::cuda {

/// Fails on all ranks if there is a problem on one of them.
static Error agree(Communicator &ranks, const std::string &own) {
  auto problems = gatherTexts(ranks, own);
  if (!problems)
    return problems.takeError();
  for (size_t rank = 0; rank < problems->size(); ++rank)
    if (!(*problems)[rank].empty())
      return deviceError("rank " + Twine(rank) + ": " + (*problems)[rank]);
  return Error::success();
}

/// The id that rank 0 makes.
static Expected<nccl::UniqueId> shareId(const nccl::Library &library,
                                        Communicator &ranks) {
  nccl::UniqueId id = {};
  std::string problem;
  if (ranks.rank() == 0)
    problem = toString(
        library.check("ncclGetUniqueId", library.ncclGetUniqueId(&id)));
  if (Error error = agree(ranks, problem))
    return std::move(error);
  auto bytes = broadcastText(ranks, StringRef(id.bytes, sizeof(id.bytes)));
  if (!bytes)
    return bytes.takeError();
  if (bytes->size() != sizeof(id.bytes))
    return deviceError("rank 0 has sent " + Twine(bytes->size()) +
                       " bytes, expected the id of an NCCL communicator");
  std::memcpy(id.bytes, bytes->data(), sizeof(id.bytes));
  return id;
}

Expected<std::shared_ptr<DeviceRanks>>
DeviceRanks::join(const DeviceContext &context,
                  std::shared_ptr<Communicator> ranks) {
  std::string problem;
  Expected<const nccl::Library &> library = nccl::open();
  if (!library)
    problem = toString(library.takeError());
  if (Error error = agree(*ranks, problem))
    return std::move(error);
  if (Error error = context.activate())
    return std::move(error);
  auto id = shareId(*library, *ranks);
  if (!id)
    return id.takeError();
  std::shared_ptr<DeviceRanks> joined(
      new DeviceRanks(context, *library, std::move(ranks)));
  MP_NCCL(*library, ncclCommInitRank, &joined->comm, joined->size(), *id,
          joined->rank());
  if (Error error = joined->connect())
    return std::move(error);
  return joined;
}

DeviceRanks::~DeviceRanks() {
  if (!comm)
    return;
  // Destroying waits for other ranks, which may be gone.
  if (Error error = failure())
    consumeError(std::move(error));
  else
    library.ncclCommDestroy(comm);
}

Error DeviceRanks::exchangeOnce(Address from, Address to) {
  constexpr size_t bytes = 1;
  int type = nccl::dataType(ElementType::U8);
  Stream stream = context.capture.get();
  MP_NCCL(library, ncclGroupStart);
  for (int64_t peer = 0; peer < size(); ++peer) {
    MP_NCCL(library, ncclSend, from, bytes, type, peer, comm, stream);
    MP_NCCL(library, ncclRecv, to + peer, bytes, type, peer, comm, stream);
  }
  MP_NCCL(library, ncclGroupEnd);
  MP_NCCL(library, ncclAllGather, from, to, bytes, type, comm, stream);
  return Error::success();
}

Error DeviceRanks::connect() {
  auto from = allocateDevice(context.driver, 1, "a first exchange");
  if (!from)
    return from.takeError();
  auto to = allocateDevice(context.driver, size(), "a first exchange");
  if (!to)
    return to.takeError();
  if (Error error = exchangeOnce(from->get(), to->get()))
    return error;
  MP_CUDA(context.driver, cuStreamSynchronize, context.capture.get());
  return failure();
}

Error DeviceRanks::failure() {
  if (!problem.empty())
    return deviceError(problem);
  if (Error error = ranks->failure())
    problem = toString(std::move(error));
  else if (Error error = library.asyncError(comm))
    problem = toString(std::move(error));
  if (problem.empty())
    return Error::success();
  // Kernels that wait for another rank end.
  library.ncclCommAbort(comm);
  comm = nullptr;
  return deviceError(problem);
}

Error DeviceRanks::allocate() {
  if (allocated >= reserved)
    return Error::success();
  auto memory =
      allocateDevice(context.driver, reserved, "exchanges between ranks");
  if (!memory)
    return memory.takeError();
  // Graphs that exist contain the addresses of earlier memory.
  memories.push_back(std::move(*memory));
  allocated = reserved;
  return Error::success();
}

} // namespace mp::cuda

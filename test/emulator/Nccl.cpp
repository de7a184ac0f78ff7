//===- Nccl.cpp - the exported functions of the emulated NCCL -------------===//
//
// The declarations are written by hand; names and values are those of NCCL 2.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "Cuda.h"
#include "NcclCalls.h"

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

using namespace mp::emulator;

enum ncclResult_t : int {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
};

struct ncclUniqueId {
  char internal[128];
};

namespace {
/// A group of calls on a stream. A graph may run it many times.
struct Enqueued {
  NcclGroup *group;
  std::vector<NcclCall> calls;
};

/// It stays when the communicator is destroyed, as the work of streams refers
/// to it; only its ranks go.
struct Communicator {
  std::unique_ptr<NcclGroup> group;
  std::vector<std::unique_ptr<Enqueued>> enqueued;
};

/// Calls between ncclGroupStart and ncclGroupEnd.
struct Pending {
  int depth = 0;
  Communicator *comm = nullptr;
  CUstream stream = nullptr;
  std::vector<NcclCall> calls;
};
} // namespace
using ncclComm_t = Communicator *;

extern "C" CUresult cuLaunchHostFunc(CUstream, void (*)(void *), void *);
extern "C" CUresult cuMemGetAddressRange_v2(CUdeviceptr *, size_t *,
                                            CUdeviceptr);

static Pending &pending() {
  static thread_local Pending calls;
  return calls;
}

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

static ncclResult_t refuse(ncclResult_t result, const std::string &text) {
  lastError() = text;
  return result;
}

/// Logs a call, and returns the error that the user asked for.
static ncclResult_t begin(const char *name, const std::string &details = {}) {
  std::lock_guard<CallLock> guard(lock());
  return static_cast<ncclResult_t>(enter(name, details));
}

static ncclResult_t launch() {
  Pending group = std::exchange(pending(), {});
  if (group.calls.empty())
    return ncclSuccess;
  auto work = std::make_unique<Enqueued>();
  work->group = group.comm->group.get();
  work->calls = std::move(group.calls);
  auto run = [](void *data) {
    auto *enqueued = static_cast<Enqueued *>(data);
    runCalls(*enqueued->group, enqueued->calls);
  };
  if (cuLaunchHostFunc(group.stream, run, work.get()) != CUDA_SUCCESS)
    return refuse(ncclUnhandledCudaError, "cuLaunchHostFunc failed");
  group.comm->enqueued.push_back(std::move(work));
  return ncclSuccess;
}

/// Whether the bytes are in one allocation of the device.
static bool isOnDevice(const void *address, uint64_t bytes) {
  CUdeviceptr base = 0, at = reinterpret_cast<CUdeviceptr>(address);
  size_t size = 0;
  return bytes == 0 ||
         (cuMemGetAddressRange_v2(&base, &size, at) == CUDA_SUCCESS &&
          at - base + bytes <= size);
}

static ncclResult_t enqueue(const char *name, ncclComm_t comm, CUstream stream,
                            NcclCall call) {
  size_t width = ncclTypeBytes(call.type);
  if (!comm || !width)
    return refuse(ncclInvalidArgument, "no communicator, or no such type");
  if (ncclResult_t error = begin(name, call.str()))
    return error;
  NcclGroup &ranks = *comm->group;
  if (call.peer < 0 || call.peer >= ranks.ranks)
    return refuse(ncclInvalidArgument, call.str() + ": there are " +
                                           std::to_string(ranks.ranks) +
                                           " ranks");
  if (!isOnDevice(call.from, call.bytesFrom(ranks.ranks)) ||
      !isOnDevice(call.to, call.bytesTo(ranks.ranks)))
    return refuse(ncclInvalidArgument,
                  call.str() + " leaves an allocation of the device");
  Pending &group = pending();
  if (group.comm && (group.comm != comm || group.stream != stream))
    return refuse(ncclInvalidUsage, "the emulator has groups of one "
                                    "communicator on one stream alone");
  group.comm = comm;
  group.stream = stream;
  group.calls.push_back(call);
  return group.depth ? ncclSuccess : launch();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

MP_EXPORT ncclResult_t ncclGetVersion(int *version) {
  *version = 22703;
  return begin("ncclGetVersion");
}

MP_EXPORT const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclUnhandledCudaError:
    return "unhandled cuda error";
  case ncclSystemError:
    return "unhandled system error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclRemoteError:
    return "remote process exited or there was a network error";
  }
  return "unknown result code";
}

MP_EXPORT const char *ncclGetLastError(ncclComm_t) {
  return lastError().c_str();
}

/// The name of a group that meets at an address; "" if that has no port.
static std::string nameOf(const std::string &address) {
  size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size() ||
      address.find_first_not_of("0123456789", colon + 1) != std::string::npos)
    return "";
  std::string name = address;
  for (char &c : name)
    c = isalnum(static_cast<unsigned char>(c)) ? c : '-';
  return "/mantissa-nccl-" + name;
}

MP_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  if (ncclResult_t error = begin("ncclGetUniqueId"))
    return error;
  std::random_device random;
  std::string name = format("/mantissa-nccl-%08x%08x", random(), random());
  if (const char *address = getenv("NCCL_COMM_ID"); address && *address) {
    name = nameOf(address);
    if (name.empty())
      return refuse(ncclInvalidArgument,
                    std::string("NCCL_COMM_ID is ") + address +
                        ", expected <ipv4>:<port> or [<ipv6>]:<port> or "
                        "<hostname>:<port>");
  }
  memset(id, 0, sizeof(*id));
  memcpy(id->internal, name.c_str(), name.size());
  return ncclSuccess;
}

MP_EXPORT ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks,
                                        ncclUniqueId id, int rank) {
  if (ncclResult_t error =
          begin("ncclCommInitRank", format("rank=%d of=%d", rank, ranks)))
    return error;
  if (ranks < 1 || ranks > mostRanks || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, format("rank %d of %d", rank, ranks));
  auto group = std::make_unique<NcclGroup>(id.internal, ranks, rank);
  if (!group->join(getenv("NCCL_COMM_ID") != nullptr))
    return refuse(ncclRemoteError, group->problem());
  *comm = new Communicator{std::move(group), {}};
  return ncclSuccess;
}

MP_EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm,
                                             ncclResult_t *result) {
  *result = ncclSuccess;
  if (std::string problem = comm->group->problem(); !problem.empty())
    *result = refuse(ncclRemoteError, problem);
  return ncclSuccess;
}

static ncclResult_t leave(const char *name, ncclComm_t comm) {
  ncclResult_t error = begin(name);
  if (error == ncclSuccess)
    comm->group->fail("the communicator is destroyed");
  return error;
}
MP_EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return leave("ncclCommDestroy", comm);
}
MP_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return leave("ncclCommAbort", comm);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

MP_EXPORT ncclResult_t ncclGroupStart() {
  ++pending().depth;
  return begin("ncclGroupStart");
}
MP_EXPORT ncclResult_t ncclGroupEnd() {
  if (ncclResult_t error = begin("ncclGroupEnd"))
    return error;
  if (pending().depth == 0)
    return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  return --pending().depth ? ncclSuccess : launch();
}

MP_EXPORT ncclResult_t ncclSend(const void *from, size_t count, int type,
                                int peer, ncclComm_t comm, CUstream stream) {
  return enqueue("ncclSend", comm, stream,
                 {NcclCall::Send, type, 0, peer, count, 0, from, nullptr});
}
MP_EXPORT ncclResult_t ncclRecv(void *to, size_t count, int type, int peer,
                                ncclComm_t comm, CUstream stream) {
  return enqueue("ncclRecv", comm, stream,
                 {NcclCall::Receive, type, 0, peer, count, 0, nullptr, to});
}
MP_EXPORT ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                                     int type, ncclComm_t comm,
                                     CUstream stream) {
  return enqueue("ncclAllGather", comm, stream,
                 {NcclCall::AllGather, type, 0, 0, count, 0, from, to});
}
MP_EXPORT ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
                                     int type, int root, ncclComm_t comm,
                                     CUstream stream) {
  return enqueue("ncclBroadcast", comm, stream,
                 {NcclCall::Broadcast, type, 0, root, count, 0, from, to});
}
MP_EXPORT ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                                     int type, int operation, ncclComm_t comm,
                                     CUstream stream) {
  return enqueue("ncclAllReduce", comm, stream,
                 {NcclCall::AllReduce, type, operation, 0, count, 0, from, to});
}
MP_EXPORT ncclResult_t ncclReduceScatter(const void *from, void *to,
                                         size_t count, int type, int operation,
                                         ncclComm_t comm, CUstream stream) {
  return enqueue(
      "ncclReduceScatter", comm, stream,
      {NcclCall::ReduceScatter, type, operation, 0, count, 0, from, to});
}

//===- OpenRanks.cpp - joins the processes of this run --------------------===//
#include "runtime/ranks/OpenRanks.h"
#include "runtime/Device.h"
#include "runtime/cuda/Libraries.h"
#include "runtime/ranks/Torchrun.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace llvm;

namespace mp {

namespace {

/// Sets a variable of the environment, unless the user has, until the end of a
/// scope, at which it is not set in either case: NCCL would use NCCL_COMM_ID
/// for every further communicator, which has an id of its own.
class CommId {
public:
  explicit CommId(const std::string &address) {
    setenv(kName, address.c_str(), /*overwrite=*/0);
  }
  ~CommId() { unsetenv(kName); }
  std::string text() const { return std::getenv(kName); }

private:
  static constexpr char kName[] = "NCCL_COMM_ID";
};

} // namespace

static Expected<std::shared_ptr<Communicator>>
openTorchrun(const TorchrunRank &own, const RanksOptions &options) {
  std::string who = formatv("rank {0} of {1}", own.rank, own.size).str();
  if (const char *local = std::getenv("LOCAL_RANK"))
    who += std::string(", LOCAL_RANK ") + local;
  if (auto device = chooseDevice("cuda"); !device)
    return cuda::deviceError(
        who + ": " + toString(device.takeError()) +
        "; torchrun is for CUDA devices, start ranks on CPUs by mpirun");
  CommId id(own.address);
  std::string address = id.text();
  auto ranks = openNcclRanks({.rank = own.rank, .size = own.size}, options);
  if (ranks)
    return std::shared_ptr<Communicator>(std::move(*ranks));
  return cuda::deviceError(who + ", cannot join the others at " + address +
                           ": " + toString(ranks.takeError()));
}

Expected<std::shared_ptr<Communicator>> openRanks(const RanksOptions &options) {
  if (isStartedByMpi() && !isStartedByTorchrun()) {
    auto ranks = openMpiRanks(options);
    if (!ranks)
      return ranks.takeError();
    return std::shared_ptr<Communicator>(std::move(*ranks));
  }
  auto own = readTorchrun();
  if (!own)
    return own.takeError();
  if (!*own || (*own)->size == 1)
    return nullptr;
  return openTorchrun(**own, options);
}

} // namespace mp

//===- OrderedExchange.cpp - reductions in the order of ranks -------------===//
#include "runtime/cuda/OrderedExchange.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mp::cuda {

/// The bytes of a tensor up to which every rank reduces all of it: one exchange
/// fewer is worth more than that.
static constexpr uint64_t kSmall = 16 << 10;
/// The alignment of the parts of scratch memory.
static constexpr uint64_t kAlignment = 256;

OrderedExchange::OrderedExchange(Collective collective, Function reduction,
                                 const Driver &driver, DeviceRanks &ranks)
    : collective(std::move(collective)), reduction(reduction), driver(driver),
      ranks(ranks), type(nccl::dataType(this->collective.element)) {
  uint64_t width = byteWidth(this->collective.element), bytes = 0;
  auto take = [&](int64_t elements) {
    return std::exchange(bytes, alignTo(bytes + elements * width, kAlignment));
  };
  bool scatters = this->collective.kind == Collective::Kind::ReduceScatter;
  for (int64_t elements : this->collective.elements) {
    Tensor tensor;
    if (scatters || elements * width > kSmall)
      tensor.part = elements / ranks.size();
    tensor.rest = elements - tensor.part * ranks.size();
    tensor.partScratch = take(ranks.size() * tensor.part);
    tensor.restScratch = take(ranks.size() * tensor.rest);
    tensors.push_back(tensor);
  }
  ranks.reserve(bytes);
}

/// Sends to each rank what it reduces.
Error OrderedExchange::distribute(ArrayRef<Address> from, Stream stream) const {
  const nccl::Library &library = ranks.library;
  nccl::Comm comm = ranks.comm;
  MP_NCCL(library, ncclGroupStart);
  for (auto [tensor, given] : llvm::zip_equal(tensors, from))
    for (int64_t peer = 0; peer < ranks.size(); ++peer) {
      Address parts = ranks.scratch() + tensor.partScratch;
      Address rests = ranks.scratch() + tensor.restScratch;
      if (tensor.part) {
        MP_NCCL(library, ncclSend, after(given, peer * tensor.part),
                tensor.part, type, peer, comm, stream);
        MP_NCCL(library, ncclRecv, after(parts, peer * tensor.part),
                tensor.part, type, peer, comm, stream);
      }
      if (tensor.rest) {
        MP_NCCL(library, ncclSend, after(given, ranks.size() * tensor.part),
                tensor.rest, type, peer, comm, stream);
        MP_NCCL(library, ncclRecv, after(rests, peer * tensor.rest),
                tensor.rest, type, peer, comm, stream);
      }
    }
  MP_NCCL(library, ncclGroupEnd);
  return Error::success();
}

Error OrderedExchange::reduce(Address from, Address to, int64_t count,
                              Stream stream) const {
  if (count == 0)
    return Error::success();
  // Few blocks, as other kernels run meanwhile.
  constexpr uint64_t threads = 256, mostBlocks = 264;
  unsigned blocks = std::min(mostBlocks, divideCeil(uint64_t(count), threads));
  long long elements = count;
  int size = ranks.size();
  void *parameters[] = {&from, &to, &elements, &size};
  MP_CUDA(driver, cuLaunchKernel, reduction, blocks, 1, 1, threads, 1, 1, 0,
          stream, parameters, nullptr);
  return Error::success();
}

/// Gives all ranks the parts that each has reduced in its place.
Error OrderedExchange::gather(ArrayRef<Address> to, Stream stream) const {
  const nccl::Library &library = ranks.library;
  if (llvm::none_of(tensors, [](const Tensor &t) { return t.part > 0; }))
    return Error::success();
  MP_NCCL(library, ncclGroupStart);
  for (auto [tensor, result] : llvm::zip_equal(tensors, to))
    if (tensor.part)
      MP_NCCL(library, ncclAllGather, after(result, ranks.rank() * tensor.part),
              result, tensor.part, type, ranks.comm, stream);
  MP_NCCL(library, ncclGroupEnd);
  return Error::success();
}

Error OrderedExchange::enqueue(ArrayRef<Address> from, ArrayRef<Address> to,
                               Stream stream) const {
  if (Error error = distribute(from, stream))
    return error;
  bool scatters = collective.kind == Collective::Kind::ReduceScatter;
  for (auto [tensor, result] : llvm::zip_equal(tensors, to)) {
    int64_t own = scatters ? 0 : ranks.rank() * tensor.part;
    if (Error error = reduce(ranks.scratch() + tensor.partScratch,
                             after(result, own), tensor.part, stream))
      return error;
    if (Error error = reduce(ranks.scratch() + tensor.restScratch,
                             after(result, ranks.size() * tensor.part),
                             tensor.rest, stream))
      return error;
  }
  return scatters ? Error::success() : gather(to, stream);
}

} // namespace mp::cuda

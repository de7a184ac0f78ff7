//===- OrderedExchange.h - reductions in the order of ranks ---------------===//
//
// NCCL adds in an order of its own. Here every rank gets its part of what all
// ranks give, reduces it in their order with a kernel of the program, and sends
// the result to all. That moves as many bytes as a ring does.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_CUDA_ORDEREDEXCHANGE_H
#define MP_RUNTIME_CUDA_ORDEREDEXCHANGE_H

#include "runtime/cuda/DeviceRanks.h"

namespace mp::cuda {

class OrderedExchange {
public:
  /// `reduction` is a kernel of codegen/cuda/kernels/ranks.cuh.
  OrderedExchange(Collective collective, Function reduction,
                  const Driver &driver, DeviceRanks &ranks);

  llvm::Error enqueue(llvm::ArrayRef<Address> from, llvm::ArrayRef<Address> to,
                      Stream stream) const;

private:
  /// A tensor: of the first `size * part` elements, rank r reduces part r. All
  /// ranks reduce the other ones, which are too few to be shared.
  struct Tensor {
    int64_t part = 0, rest = 0;
    uint64_t partScratch = 0, restScratch = 0; ///< offsets
  };

  llvm::Error distribute(llvm::ArrayRef<Address> from, Stream stream) const;
  llvm::Error reduce(Address from, Address to, int64_t count,
                     Stream stream) const;
  llvm::Error gather(llvm::ArrayRef<Address> to, Stream stream) const;
  Address after(Address tensor, int64_t elements) const {
    return tensor + elements * byteWidth(collective.element);
  }

  Collective collective;
  Function reduction;
  const Driver &driver;
  DeviceRanks &ranks;
  const int type; ///< NCCL's
  std::vector<Tensor> tensors;
};

} // namespace mp::cuda

#endif // MP_RUNTIME_CUDA_ORDEREDEXCHANGE_H

//===- ExchangeRoutines.cpp - calls that exchange tensors -----------------===//
#include "runtime/cuda/ExchangeRoutines.h"
#include "runtime/MatmulCall.h"
#include "runtime/cuda/OrderedExchange.h"
#include "runtime/ranks/CollectiveCall.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>

using namespace llvm;

namespace mp::cuda {

namespace {

/// The only rank gets what it gives.
class CopyExchange final : public DeviceRoutine {
public:
  CopyExchange(Collective collective, const Driver &driver)
      : collective(std::move(collective)), driver(driver) {}

  bool isExchange() const override { return true; }
  Error enqueue(ArrayRef<Address> args, Stream stream) override {
    size_t count = collective.elements.size();
    for (auto [tensor, elements] : enumerate(collective.elements)) {
      uint64_t bytes = elements * byteWidth(collective.element);
      Address from = args[tensor], to = args[count + tensor];
      if (bytes && from != to)
        MP_CUDA(driver, cuMemcpyDtoDAsync_v2, to, from, bytes, stream);
    }
    return Error::success();
  }

private:
  Collective collective;
  const Driver &driver;
};

/// An exchange by one call of NCCL for each tensor.
class DirectExchange final : public DeviceRoutine {
public:
  DirectExchange(Collective collective, DeviceRanks &ranks)
      : collective(std::move(collective)), ranks(ranks) {}

  bool isExchange() const override { return true; }
  Error enqueue(ArrayRef<Address> args, Stream stream) override {
    size_t count = collective.elements.size();
    MP_NCCL(ranks.library, ncclGroupStart);
    for (size_t tensor = 0; tensor < count; ++tensor)
      if (Error error = enqueueOne(collective.elements[tensor], args[tensor],
                                   args[count + tensor], stream))
        return error;
    MP_NCCL(ranks.library, ncclGroupEnd);
    return Error::success();
  }

private:
  Error enqueueOne(int64_t elements, Address from, Address to, Stream stream) {
    const nccl::Library &library = ranks.library;
    int type = nccl::dataType(collective.element);
    int operation = collective.reduction == Collective::Reduction::Sum
                        ? nccl::sum
                        : nccl::maximum;
    switch (collective.kind) {
    case Collective::Kind::AllGather:
      MP_NCCL(library, ncclAllGather, from, to, elements, type, ranks.comm,
              stream);
      break;
    case Collective::Kind::Broadcast:
      MP_NCCL(library, ncclBroadcast, from, to, elements, type, collective.root,
              ranks.comm, stream);
      break;
    case Collective::Kind::AllReduce:
      MP_NCCL(library, ncclAllReduce, from, to, elements, type, operation,
              ranks.comm, stream);
      break;
    case Collective::Kind::ReduceScatter:
      MP_NCCL(library, ncclReduceScatter, from, to, elements / ranks.size(),
              type, operation, ranks.comm, stream);
      break;
    }
    return Error::success();
  }

  Collective collective;
  DeviceRanks &ranks;
};

/// A reduction in the order of ranks.
class Reduction final : public DeviceRoutine {
public:
  Reduction(const Collective &collective, Function kernel, const Driver &driver,
            DeviceRanks &ranks)
      : tensors(collective.elements.size()), ranks(ranks),
        exchange(collective, kernel, driver, ranks) {}

  bool isExchange() const override { return true; }
  Error prepare() override { return ranks.allocate(); }
  Error enqueue(ArrayRef<Address> args, Stream stream) override {
    return exchange.enqueue(args.take_front(tensors), args.drop_front(tensors),
                            stream);
  }

private:
  size_t tensors;
  DeviceRanks &ranks;
  OrderedExchange exchange;
};

class Wait final : public DeviceRoutine {
public:
  explicit Wait(size_t exchange) : exchange(exchange) {}
  std::optional<size_t> waitsFor() const override { return exchange; }
  Error enqueue(ArrayRef<Address>, Stream) override { return Error::success(); }

private:
  size_t exchange;
};

class Rank final : public DeviceRoutine {
public:
  Rank(const Driver &driver, DeviceMemory memory)
      : driver(driver), memory(std::move(memory)) {}
  Error enqueue(ArrayRef<Address> args, Stream stream) override {
    MP_CUDA(driver, cuMemcpyDtoDAsync_v2, args[0], memory.get(),
            sizeof(int64_t), stream);
    return Error::success();
  }

private:
  const Driver &driver;
  DeviceMemory memory;
};

/// Whether NCCL's own reduction has the bits of one in the order of ranks, or
/// the user prefers it.
bool isDirect(const Collective &collective) {
  if (!collective.reduces())
    return true;
  bool isFloating = isFloat(collective.element);
  switch (collective.reduction) {
  case Collective::Reduction::Sum:
    break;
  case Collective::Reduction::Max: // NCCL may lose a NaN
    return !isFloating;
  case Collective::Reduction::Or: // of a flag, that is its maximum
    return collective.element == ElementType::I1;
  }
  const char *wanted = std::getenv("MP_NCCL_SUM");
  return !isFloating || StringRef(wanted ? wanted : "") == "1";
}

} // namespace

Expected<std::unique_ptr<DeviceRoutine>>
createDeviceExchange(const Call &call, RoutineContext &context) {
  const DeviceContext &device = context.device;
  auto collective =
      readCollective(call, StringRef(call.routine).split('.').second,
                     device.ranks ? device.ranks->size() : 1);
  if (!collective)
    return collective.takeError();
  ++context.exchanges;
  if (!device.ranks)
    return std::make_unique<CopyExchange>(std::move(*collective),
                                          device.driver);
  auto ranks = device.joinRanks();
  if (!ranks)
    return ranks.takeError();
  if (isDirect(*collective))
    return std::make_unique<DirectExchange>(std::move(*collective), **ranks);
  std::string kernel;
  if (Error error = readAttribute(call, "kernel", kernel))
    return std::move(error);
  Function function = context.kernels.find(kernel);
  if (!function)
    return createStringError("the program has no kernel '" + kernel + "'");
  return std::make_unique<Reduction>(*collective, function, device.driver,
                                     **ranks);
}

Expected<std::unique_ptr<DeviceRoutine>>
createDeviceWait(const Call &call, RoutineContext &context) {
  int64_t exchange = 0;
  if (Error error = readAttribute(call, "exchange", exchange))
    return std::move(error);
  if (exchange < 0 || size_t(exchange) >= context.exchanges)
    return createStringError("waits for exchange " + Twine(exchange) +
                             ", which no call before it starts");
  return std::make_unique<Wait>(exchange);
}

Expected<std::unique_ptr<DeviceRoutine>>
createDeviceRank(const Call &call, RoutineContext &context) {
  if (Error error = checkArguments(call, 1))
    return std::move(error);
  const DeviceContext &device = context.device;
  if (Error error = device.activate())
    return std::move(error);
  auto memory =
      allocateDevice(device.driver, sizeof(int64_t), "the number of the rank");
  if (!memory)
    return memory.takeError();
  int64_t rank = device.ranks ? device.ranks->rank() : 0;
  if (Error error = device.copyToDevice(memory->get(), &rank, sizeof(rank)))
    return std::move(error);
  return std::make_unique<Rank>(device.driver, std::move(*memory));
}

} // namespace mp::cuda

//===- RankRoutines.cpp - calls that exchange tensors between ranks -------===//
#include "runtime/cpu/RankRoutines.h"
#include "runtime/MatmulCall.h"
#include "runtime/ranks/CollectiveCall.h"
#include <cstring>

using namespace llvm;

namespace mp {

namespace {

/// A routine of one task, which the thread of the step runs.
class RankRoutine : public Routine {
public:
  Error prepare(unsigned) override { return Error::success(); }
  uint64_t scratchBytes() const override { return 0; }
  void run(void *const *args, int64_t, int64_t, void *, unsigned) override {
    run(args);
  }

protected:
  virtual void run(void *const *args) = 0;
};

class Exchange final : public RankRoutine {
public:
  Exchange(Collective collective, const RoutineContext &context)
      : collective(std::move(collective)), context(context),
        number(context.exchanges->size()) {
    context.exchanges->push_back(0);
  }

private:
  void run(void *const *args) override {
    size_t count = collective.elements.size();
    if (!context.ranks)
      return copy(args, args + count);
    (*context.exchanges)[number] = context.ranks->start(
        collective, {const_cast<const void *const *>(args), count},
        {const_cast<void **>(args + count), count});
  }

  /// The only rank gets what it gives.
  void copy(void *const *from, void *const *to) {
    for (auto [tensor, elements] : enumerate(collective.elements))
      if (from[tensor] != to[tensor])
        std::memcpy(to[tensor], from[tensor],
                    elements * byteWidth(collective.element));
  }

  Collective collective;
  RoutineContext context;
  size_t number;
};

class Wait final : public RankRoutine {
public:
  Wait(size_t exchange, const RoutineContext &context)
      : exchange(exchange), context(context) {}

private:
  void run(void *const *) override {
    if (context.ranks)
      context.ranks->wait((*context.exchanges)[exchange]);
  }

  size_t exchange;
  RoutineContext context;
};

class Rank final : public RankRoutine {
public:
  explicit Rank(int64_t rank) : rank(rank) {}

private:
  void run(void *const *args) override {
    std::memcpy(args[0], &rank, sizeof(rank));
  }

  int64_t rank;
};

} // namespace

Expected<std::unique_ptr<Routine>>
createExchange(const Call &call, const RoutineContext &context) {
  auto collective =
      readCollective(call, StringRef(call.routine).split('.').second,
                     context.ranks ? context.ranks->size() : 1);
  if (!collective)
    return collective.takeError();
  return std::make_unique<Exchange>(std::move(*collective), context);
}

Expected<std::unique_ptr<Routine>> createWait(const Call &call,
                                              const RoutineContext &context) {
  int64_t exchange = 0;
  if (Error error = readAttribute(call, "exchange", exchange))
    return std::move(error);
  if (exchange < 0 || size_t(exchange) >= context.exchanges->size())
    return createStringError("waits for exchange " + Twine(exchange) +
                             ", which no call before it starts");
  return std::make_unique<Wait>(exchange, context);
}

Expected<std::unique_ptr<Routine>> createRank(const Call &call,
                                              const RoutineContext &context) {
  if (Error error = checkArguments(call, 1))
    return std::move(error);
  return std::make_unique<Rank>(context.ranks ? context.ranks->rank() : 0);
}

} // namespace mp

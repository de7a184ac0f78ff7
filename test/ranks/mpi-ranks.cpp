//===- mpi-ranks.cpp - what mpi-ranks.py runs under mpirun ----------------===//
//
// mpi-ranks CASE: each case is a rank's part in what the script looks at. A
// rank that finds a fault writes it and ends all.
//
//===----------------------------------------------------------------------===//
#include "CollectiveCase.h"
#include "runtime/ranks/MpiRanks.h"
#include "runtime/ranks/OrderedReduce.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace mp;
using namespace mp::test;
using Clock = std::chrono::steady_clock;

namespace {

void expect(Communicator &rank, bool holds, const std::string &what) {
  if (!holds)
    rank.abort("FAULT on rank " + std::to_string(rank.rank()) + ": " + what);
}

Collective sum(int64_t elements) { return {.elements = {elements}}; }

void runsAs(Communicator &rank, const CollectiveCase &test, bool inPlace) {
  auto given = test.given(rank.rank()), got = test.room();
  auto to = inPlace ? writable(given) : writable(got);
  if (llvm::Error error = run(rank, test.collective, readable(given), to))
    rank.abort(llvm::toString(std::move(error)));
  for (size_t i = 0; i < to.size(); ++i) {
    Bytes expected = test.expected(rank.rank(), i);
    expect(rank, std::memcmp(to[i], expected.data(), expected.size()) == 0,
           test.collective.str());
  }
}

/// Every collective, in the first message and after it, and some that are long.
void everything(Communicator &rank) {
  int64_t size = rank.size();
  for (int64_t elements : {5, 1501})
    for (const Collective &collective : everyCollective(size, elements)) {
      runsAs(rank, {collective, size}, false);
      if (collective.kind == Collective::Kind::AllReduce)
        runsAs(rank, {collective, size}, true);
    }
  auto texts = gatherTexts(rank, std::string(rank.rank() * 9, 'x'));
  expect(rank, texts && int64_t(texts->size()) == size, "texts");
  for (int64_t i = 0; i < size; ++i)
    expect(rank, int64_t((*texts)[i].size()) == i * 9, "text of a rank");
  auto text = broadcastText(rank, rank.rank() == 1 ? "second" : "", 1);
  expect(rank, text && *text == "second", "broadcast text");
}

/// In pieces that begin and end within tensors.
void pieces(Communicator &rank) {
  for (const Collective &collective : everyCollective(rank.size(), 5003))
    runsAs(rank, {collective, rank.size()},
           collective.kind == Collective::Kind::AllReduce);
}

void manyInFlight(Communicator &rank) {
  std::vector<std::vector<float>> values;
  Communicator::Ticket last = 0;
  for (int i = 0; i < 300; ++i)
    values.emplace_back(i % 7 == 0 ? 3000 : 3, float(i));
  for (auto &tensor : values)
    last = rank.start(sum(tensor.size()), {tensor.data()}, {tensor.data()});
  rank.wait(last);
  for (size_t i = 0; i < values.size(); ++i)
    for (float value : values[i])
      expect(rank, value == float(i * rank.size()), "order");
}

/// Prints the failure on every rank, and ends without abort.
[[noreturn]] void reportFailure(Communicator &rank) {
  llvm::Error error = rank.failure();
  std::string line = "rank " + std::to_string(rank.rank()) + " learns: " +
                     (error ? llvm::toString(std::move(error)) : "nothing") +
                     "\n";
  (void)!write(STDOUT_FILENO, line.data(), line.size()); // a line at once
  // All have said so before mpirun ends the others.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  rank.abort("the group failed");
}

void differs(Communicator &rank) {
  std::vector<float> values(128 * rank.size());
  Collective collective = sum(128);
  if (rank.rank() == 1)
    collective = {.kind = Collective::Kind::AllGather, .elements = {4}};
  rank.wait(rank.start(sum(1), {values.data()}, {values.data()}));
  rank.wait(rank.start(collective, {values.data()}, {values.data()}));
  reportFailure(rank);
}

/// A rank is stopped or killed; it goes on only to be ended.
void loses(Communicator &rank, int64_t lost, int signal) {
  std::vector<float> values(100000);
  for (int step = 0;; ++step) {
    if (step == 3 && rank.rank() == lost)
      raise(signal);
    if (run(rank, sum(values.size()), {values.data()}, {values.data()}))
      reportFailure(rank);
  }
}

void late(Communicator &rank) {
  float value = 0;
  bool isLate = rank.rank() == rank.size() - 1;
  // Busy for longer than the limit, which is no fault.
  rank.setBusy(isLate);
  if (isLate)
    std::this_thread::sleep_for(std::chrono::seconds(2));
  rank.wait(rank.start(sum(1), {&value}, {&value}));
  rank.setBusy(false);
  expect(rank, !rank.failure(), "a busy rank is waited for");
  if (isLate)
    std::this_thread::sleep_for(std::chrono::seconds(20));
  rank.wait(rank.start(sum(1), {&value}, {&value}));
  reportFailure(rank);
}

/// Ranks end far apart, and none takes another's end for a fault.
void endsApart(Communicator &rank) {
  float value = 1;
  expect(rank, !run(rank, sum(1), {&value}, {&value}), "a sum");
  std::this_thread::sleep_for(std::chrono::seconds(3 * rank.rank()));
}

void measure(Communicator &rank) {
  for (int64_t elements : {1, 256, 1 << 14, 4 << 20}) {
    std::vector<float> values(elements, 1);
    int rounds = elements > 1 << 20 ? 20 : 2000;
    auto begin = Clock::now();
    for (int i = 0; i < rounds + rounds / 10; ++i) {
      if (i == rounds / 10)
        begin = Clock::now();
      rank.wait(rank.start(sum(elements), {values.data()}, {values.data()}));
    }
    double us = std::chrono::duration<double, std::micro>(Clock::now() - begin)
                    .count() /
                rounds;
    if (rank.rank() == 0)
      llvm::outs() << rank.size() << " ranks, " << elements * 4
                   << " bytes: " << llvm::format("%.1f us\n", us);
  }
  // What a rank adds up of 8 MiB, with contributions of all.
  int64_t elements = (2 << 20) / rank.size();
  std::vector<std::vector<float>> given(rank.size());
  std::vector<const void *> all;
  for (auto &values : given) {
    values.assign(elements, 1);
    all.push_back(values.data());
  }
  std::vector<float> reduced(elements);
  auto begin = Clock::now();
  for (int i = 0; i < 50; ++i)
    orderedReduce(Collective::Reduction::Sum, ElementType::F32, all, elements,
                  reduced.data());
  double seconds =
      std::chrono::duration<double>(Clock::now() - begin).count() / 50;
  if (rank.rank() == 0)
    llvm::outs() << "reduces "
                 << llvm::format("%.2f GB/s\n",
                                 4e-9 * elements * rank.size() / seconds);
}

} // namespace

int main(int argc, char **argv) {
  std::string name = argc > 1 ? argv[1] : "";
  RanksOptions options;
  if (llvm::StringRef(name).starts_with("stopped") || name == "late" ||
      name == "ends-apart") {
    options.deadAfterSeconds = 2;
    options.lateAfterSeconds = name == "late" ? 1 : 3;
  }
  if (name == "pieces")
    options.pieceBytes = 4096;
  if (name == "measure" && argc > 2)
    options.pieceBytes = std::stoull(argv[2]);
  if (!isStartedByMpi()) {
    llvm::errs() << "not started by mpirun\n";
    return 1;
  }
  auto opened = openMpiRanks(options);
  if (!opened) {
    llvm::errs() << llvm::toString(opened.takeError()) << "\n";
    return 1;
  }
  Communicator &rank = **opened;
  if (name == "everything")
    everything(rank), manyInFlight(rank);
  else if (name == "pieces")
    pieces(rank);
  else if (name == "differs")
    differs(rank);
  else if (name == "stopped")
    loses(rank, 2, SIGSTOP);
  else if (name == "stopped-lowest")
    loses(rank, 0, SIGSTOP);
  else if (name == "killed")
    loses(rank, 2, SIGKILL);
  else if (name == "late")
    late(rank);
  else if (name == "ends-apart")
    endsApart(rank);
  else if (name == "aborts")
    rank.abort("no data on rank " + std::to_string(rank.rank()));
  else if (name == "measure")
    measure(rank);
  else
    rank.abort("no such case");
  if (rank.rank() == 0)
    llvm::outs() << "done: " << name << "\n";
  return 0;
}

//===- RunRanks.cpp - what the ranks of a run agree on --------------------===//
#include "runtime/train/RunRanks.h"
#include "program/MpVersion.h"
#include "support/Error.h"
#include "support/OutputFile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace mp {

Error agree(Communicator &ranks, Error own) {
  auto all = gatherTexts(ranks, toString(std::move(own)));
  if (!all)
    return all.takeError();
  MapVector<StringRef, std::vector<std::string>> byText;
  for (auto [rank, text] : enumerate(*all))
    if (!text.empty())
      byText[text].push_back(std::to_string(rank));
  std::string message;
  for (auto &[text, who] : byText) {
    if (!message.empty())
      message += '\n';
    // What all of them say is said as one rank alone says it.
    if (who.size() < all->size())
      message +=
          (who.size() == 1 ? "rank " : "ranks ") + join(who, ", ") + ": ";
    message += text.str();
  }
  return message.empty() ? Error::success() : makeError("{0}", message);
}

/// Returns a hash of samples all over the data, as ranks may have other copies.
static Expected<uint64_t> sampleData(const Dataset &data) {
  constexpr int64_t samples = 64;
  int64_t count = std::min(samples, data.samples());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(i * data.samples() / count);
  std::string bytes;
  for (auto [index, column] : enumerate(data.columns())) {
    std::string own(column.recordBytes * rows.size(), '\0');
    if (Error error = data.gather(index, rows, own.data()))
      return std::move(error);
    bytes += own;
  }
  return xxh3_64bits(bytes);
}

using Facts = std::vector<std::pair<std::string, std::string>>;

static Expected<Facts> factsOf(const TrainingRun &run) {
  const RunState &state = run.state;
  auto data = sampleData(*run.trainData);
  if (!data)
    return data.takeError();
  Facts facts = {{"version of Mantissa", MpVersion::ours().str()},
                 {"seed", std::to_string(state.seed)},
                 {"order of samples", state.shuffle ? "shuffled" : "as given"},
                 {"number of samples", std::to_string(state.samples)},
                 {"data", utohexstr(*data)},
                 {"batch", std::to_string(state.batch)},
                 {"set of buckets", bucketsText(state.buckets)},
                 {"micro-batches", std::to_string(state.accumulate)},
                 {"number of steps", std::to_string(run.lastStep())},
                 {"first step", std::to_string(state.step)},
                 {"CPU or device", run.model->arch()},
                 {"program (module, settings or weights' shapes)",
                  utohexstr(run.model->digest())}};
  return facts;
}

static std::string textOf(const Facts &facts) {
  std::string text;
  for (const auto &[name, value] : facts)
    text += value + '\n';
  return text;
}

Error checkAlike(const TrainingRun &run) {
  Communicator &ranks = *run.options.ranks;
  auto own = factsOf(run);
  if (!own)
    return agree(ranks, own.takeError());
  if (Error error = agree(ranks, Error::success()))
    return error;
  if (run.trace)
    run.trace->meet();
  auto all = gatherTexts(ranks, textOf(*own));
  if (!all)
    return all.takeError();
  SmallVector<StringRef> first, other;
  StringRef(all->front()).split(first, '\n');
  for (size_t rank = 1; rank < all->size(); ++rank) {
    other.clear();
    StringRef((*all)[rank]).split(other, '\n');
    for (auto [index, fact] : enumerate(*own))
      if (index >= other.size() || first[index] != other[index])
        return makeError("rank {0} has another {1} than rank 0: {2}, not {3}",
                         rank, fact.first,
                         index < other.size() ? other[index] : "none",
                         first[index]);
  }
  return Error::success();
}

void traceExchanges(Communicator &ranks, std::shared_ptr<Trace> trace) {
  ranks.observe([trace](const Collective &collective, Communicator::Time begin,
                        Communicator::Time met) {
    std::string text = collective.str();
    trace->add(Trace::Kind::Exchange, trace->name("wait for other ranks", text),
               begin, met);
    trace->add(Trace::Kind::Exchange,
               trace->name(StringRef(text).split(' ').first, text), met);
  });
}

Error writeTraceOfRanks(const TrainingRun &run) {
  Communicator &ranks = *run.options.ranks;
  Trace &trace = *run.trace;
  auto meeting =
      broadcastText(ranks, std::to_string(trace.meeting().count()), /*root=*/0);
  if (!meeting)
    return meeting.takeError();
  int64_t first = 0;
  if (StringRef(*meeting).getAsInteger(10, first))
    return makeError("rank 0 has sent no time");
  // Clocks of machines differ; they agree on when the ranks met.
  auto all = gatherTexts(
      ranks, trace.events(run.rank(),
                          Trace::Clock::duration(first) - trace.meeting()));
  if (!all || run.rank() != 0)
    return all.takeError();
  std::string text = Trace::json(*all, trace.dropped());
  return writeAtomically(run.options.trace,
                         [&](OutputFile &file) { return file.write(text); });
}

Expected<Ending> agree(Communicator &ranks, Ending own) {
  Ending all;
  if (Error error = mp::run(ranks,
                            {.kind = Collective::Kind::AllReduce,
                             .reduction = Collective::Reduction::Max,
                             .element = ElementType::I64,
                             .elements = {1, 1}},
                            {&own.signal, &own.rank}, {&all.signal, &all.rank}))
    return std::move(error);
  return all;
}

} // namespace mp

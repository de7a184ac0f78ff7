//===- Communicator.cpp - the processes that train together ---------------===//
#include "runtime/ranks/Communicator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mp;

static llvm::StringRef nameOf(Collective::Kind kind) {
  switch (kind) {
  case Collective::Kind::AllReduce:
    return "all_reduce";
  case Collective::Kind::AllGather:
    return "all_gather";
  case Collective::Kind::ReduceScatter:
    return "reduce_scatter";
  case Collective::Kind::Broadcast:
    return "broadcast";
  }
  llvm_unreachable("an unknown kind");
}

static llvm::StringRef nameOf(Collective::Reduction reduction) {
  switch (reduction) {
  case Collective::Reduction::Sum:
    return " sum";
  case Collective::Reduction::Max:
    return " max";
  case Collective::Reduction::Or:
    return " or";
  }
  llvm_unreachable("an unknown reduction");
}

bool Collective::reduces() const {
  return kind == Kind::AllReduce || kind == Kind::ReduceScatter;
}

int64_t Collective::elementsOut(size_t tensor, int64_t size) const {
  if (kind == Kind::AllGather)
    return elements[tensor] * size;
  if (kind == Kind::ReduceScatter)
    return elements[tensor] / size;
  return elements[tensor];
}

void Collective::print(llvm::raw_ostream &stream) const {
  stream << nameOf(kind);
  if (reduces())
    stream << nameOf(reduction);
  stream << " " << elementTypeName(element) << " [";
  llvm::interleaveComma(elements, stream);
  stream << "]";
  if (kind == Kind::Broadcast)
    stream << " of rank " << root;
}

std::string Collective::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

llvm::Error mp::run(Communicator &ranks, const Collective &collective,
                    llvm::ArrayRef<const void *> from,
                    llvm::ArrayRef<void *> to) {
  ranks.wait(ranks.start(collective, from, to));
  return ranks.failure();
}

static Collective gather(ElementType element, int64_t elements) {
  return {.kind = Collective::Kind::AllGather,
          .element = element,
          .elements = {elements}};
}

llvm::Expected<std::vector<std::string>> mp::gatherTexts(Communicator &ranks,
                                                         llvm::StringRef own) {
  std::vector<int64_t> lengths(ranks.size());
  int64_t length = own.size();
  if (llvm::Error error =
          run(ranks, gather(ElementType::I64, 1), {&length}, {lengths.data()}))
    return std::move(error);
  // Every rank gives as many bytes as the one with the longest text.
  int64_t most = *llvm::max_element(lengths);
  std::string padded = own.str(), all(most * ranks.size(), '\0');
  padded.resize(most);
  if (most > 0)
    if (llvm::Error error = run(ranks, gather(ElementType::U8, most),
                                {padded.data()}, {all.data()}))
      return std::move(error);
  std::vector<std::string> texts;
  for (auto [rank, bytes] : llvm::enumerate(lengths))
    texts.push_back(all.substr(rank * most, bytes));
  return texts;
}

llvm::Expected<std::string>
mp::broadcastText(Communicator &ranks, llvm::StringRef own, int64_t root) {
  Collective collective{.kind = Collective::Kind::Broadcast,
                        .element = ElementType::I64,
                        .root = root,
                        .elements = {1}};
  int64_t length = own.size();
  if (llvm::Error error = run(ranks, collective, {&length}, {&length}))
    return std::move(error);
  std::string text = ranks.rank() == root ? own.str() : std::string();
  text.resize(length);
  collective.element = ElementType::U8;
  collective.elements = {length};
  if (length > 0)
    if (llvm::Error error =
            run(ranks, collective, {text.data()}, {text.data()}))
      return std::move(error);
  return text;
}

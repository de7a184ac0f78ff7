//===- Generate.cpp - texts that a language model continues ---------------===//
#include "runtime/train/Generate.h"
#include "program/Names.h"
#include "runtime/data/Convert.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

using tokenizers::Tokens;

/// The tokens of a call where there are many of them: enough for the weights to
/// be read less often than once a token.
static constexpr int64_t kSeveral = 32;

static std::string typesOf(const Entry &entry) {
  std::vector<std::string> types;
  for (const Result &result : entry.results)
    types.push_back(result.name + ": " + result.type.str());
  return join(types, ", ");
}

static Error checkEntry(const Entry &entry) {
  const TensorType &text = entry.inputs[0].type;
  if (entry.results.size() == 1 && isFloat(entry.results[0].type.element) &&
      entry.results[0].type.shape.size() == 3 &&
      ArrayRef(entry.results[0].type.shape).take_front(2) ==
          ArrayRef(text.shape))
    return Error::success();
  return makeError("the network predicts ({0}), expected logits of [batch, "
                   "tokens, vocabulary]: name them (--output, "
                   "StepOptions::predictions){1}",
                   typesOf(entry), at(entry.location));
}

Expected<Generator> Generator::open(const EvalOptions &options, StringRef input,
                                    Compiler compiler,
                                    SessionFactory createSession) {
  auto trained =
      TrainedModel::open(options, std::move(compiler), createSession);
  if (!trained)
    return trained.takeError();
  Generator made;
  made.trained = std::move(*trained);
  CompileOptions &compile = made.trained.model->compileOptions();
  compile.text = input.str();
  auto next = made.trained.load(options, Goal::Decode, kDecodeEntry,
                                options.batch.value_or(1));
  if (!next)
    return next.takeError();
  made.next = *next;
  if (Error error = checkEntry(made.next->entry()))
    return std::move(error);
  auto range = made.next->entry().inputs[1].range;
  made.isRecurrent = made.keeps(kStateVariable);
  made.contextSize = range ? range->second : INT32_MAX;
  made.taken.resize(made.texts());
  made.logits.resize(made.texts());
  if (Error error = made.openSource())
    return std::move(error);
  return made;
}

bool Generator::keeps(StringRef prefix) const {
  return any_of(model().session().variables(), [&](const Variable &variable) {
    return StringRef(variable.name).starts_with(prefix);
  });
}

Error Generator::openSource() {
  if (!keeps(kSourceVariable))
    return Error::success();
  auto entry = model().get(Goal::Encode, kEncodeEntry, texts());
  if (!entry)
    return entry.takeError();
  auto opened = TextSource::open(**entry);
  if (!opened)
    return opened.takeError();
  source = std::move(*opened);
  return Error::success();
}

Error Generator::read(ArrayRef<Tokens> rows) {
  clear();
  return source->read(rows);
}

Expected<ArrayRef<std::vector<float>>> Generator::take(ArrayRef<Tokens> rows) {
  for (const Tokens &row : rows)
    for (tokenizers::Token token : row)
      if (token >= vocabulary())
        return makeError("token {0} is not in the vocabulary of {1}", token,
                         vocabulary());
  int64_t first = length();
  for (auto [all, row] : zip_equal(taken, rows))
    append_range(all, row);
  // The newest tokens that the context holds; older ones make room for more.
  if (length() > contextSize) {
    for (Tokens &all : taken)
      all.erase(all.begin(), all.end() - remembered());
    first = 0;
  }
  if (Error error = computeFrom(first))
    return std::move(error);
  return ArrayRef(logits);
}

Error Generator::computeFrom(int64_t first) {
  int64_t count = std::min(kSeveral, contextSize);
  bool takesSeveral = count > 1 && !(isRecurrent && hasSource());
  if (!several && takesSeveral && length() - first >= count) {
    CompileOptions &compile = trained.model->compileOptions();
    compile.tokens = count;
    auto entry = trained.model->get(Goal::Decode, decodeEntry(count), texts());
    compile.tokens = 1;
    if (!entry)
      return entry.takeError();
    several = *entry;
  }
  while (first < length()) {
    int64_t left = length() - first;
    bool isOne = !several || left == 1 || (isRecurrent && left < count);
    if (Error error = compute(isOne ? *next : *several, first))
      return error;
    first += isOne ? 1 : count;
  }
  return Error::success();
}

Error Generator::compute(Executable &entry, int64_t first) {
  const TensorType &type = entry.entry().inputs[0].type;
  int64_t count = type.shape[1];
  // Near the end of the context, some tokens are computed again.
  int64_t begin = std::min(first, contextSize - count);
  input.assign(type.bytes(), 0);
  char *to = input.data();
  for (const Tokens &all : taken)
    for (int64_t i = begin; i < begin + count;
         ++i, to += byteWidth(type.element))
      if (i < length())
        storeElement(type.element, all[i], to);
  int32_t position = begin;
  TensorView inputs[] = {{type.element, input}, TensorView(ArrayRef(position))};
  auto results = entry.run(inputs);
  if (!results)
    return results.takeError();
  int64_t last = std::min(length(), begin + count) - 1;
  readLogits(entry.entry(), *results, last - begin);
  return Error::success();
}

void Generator::readLogits(const Entry &entry, Results results, int64_t row) {
  const TensorType &type = entry.results[0].type;
  int64_t classes = type.shape[2];
  unsigned width = byteWidth(type.element);
  for (auto [text, numbers] : enumerate(logits)) {
    const char *at = results[0].bytes().data() +
                     (text * type.shape[1] + row) * classes * width;
    numbers.resize(classes);
    for (float &number : numbers) {
      number = loadElement(type.element, at);
      at += width;
    }
  }
}

} // namespace mp

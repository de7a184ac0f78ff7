//===- Generator.cpp - texts that a language model writes -----------------===//
#include "api/run/GeneratorImpl.h"
#include "program/Limits.h"
#include "support/Error.h"
#include "support/Number.h"

using namespace llvm;

namespace mantissa {

static_assert(std::is_same_v<Token, mp::tokenizers::Token>);

Generator::Generator(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Generator::Generator(Generator &&) noexcept = default;
Generator &Generator::operator=(Generator &&) noexcept = default;
Generator::~Generator() = default;

static Error checkOptions(const SamplingOptions &options, int64_t vocabulary) {
  struct Field {
    StringRef name;
    double value, least, most;
  };
  // The upper bound of counts is what a double has exactly.
  constexpr double most = mp::kMostElements;
  for (const Field &field : {
           Field{"temperature", options.temperature, 0, 100},
           Field{"topK", double(options.topK), 0, most},
           Field{"topP", options.topP, 0, 1},
           Field{"samples", double(options.samples), 1, most},
           Field{"length", double(options.length), 1, most},
           Field{"drawnTokens", double(options.drawnTokens), 0, most},
       })
    if (!(field.value >= field.least && field.value <= field.most))
      return mp::makeError("SamplingOptions::{0} is {1}, expected a number "
                           "from {2} to {3}",
                           field.name, mp::shortestDecimal(field.value),
                           mp::shortestDecimal(field.least),
                           mp::shortestDecimal(field.most));
  if (options.endToken && *options.endToken >= vocabulary)
    return mp::makeError("SamplingOptions::endToken is {0}, which is not in "
                         "the vocabulary of {1}",
                         *options.endToken, vocabulary);
  return Error::success();
}

Error Generator::Impl::begin(ArrayRef<Tokens> prompts,
                             const SamplingOptions &options) {
  writer.reset();
  written.clear();
  if (Error error = checkOptions(options, model.vocabulary()))
    return error;
  mp::WritingOptions writing{.sampling = {.temperature = options.temperature,
                                          .topK = uint64_t(options.topK),
                                          .topP = options.topP,
                                          .seed = options.seed},
                             .samples = options.samples,
                             .length = options.length,
                             .end = options.endToken};
  if (options.drawnTokens)
    writing.known = options.drawnTokens;
  auto begun = mp::TextWriter::begin(model, prompts, writing);
  if (!begun)
    return begun.takeError();
  writer = std::move(*begun);
  return Error::success();
}

Expected<ArrayRef<WrittenToken>> Generator::Impl::next() {
  written.clear();
  if (!writer)
    return ArrayRef(written);
  auto tokens = writer->next();
  if (!tokens)
    return tokens.takeError();
  for (const mp::WrittenToken &token : *tokens)
    written.push_back(
        {int64_t(token.text), token.token, token.isLast, token.logits});
  return ArrayRef(written);
}

Error Generator::begin(ArrayRef<Tokens> prompts,
                       const SamplingOptions &options) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take("generator"))
    return error;
  return impl->begin(prompts, options);
}

Expected<ArrayRef<WrittenToken>> Generator::next() {
  Impl::Lock lock(*impl);
  if (Error error = lock.take("generator"))
    return error;
  return impl->next();
}

Expected<std::vector<Tokens>>
Generator::write(ArrayRef<Tokens> prompts, const SamplingOptions &options,
                 function_ref<void(const WrittenToken &)> onToken) {
  Impl::Lock lock(*impl);
  if (Error error = lock.take("generator"))
    return error;
  if (Error error = impl->begin(prompts, options))
    return error;
  std::vector<Tokens> texts(prompts.size() * options.samples);
  while (true) {
    auto tokens = impl->next();
    if (!tokens)
      return tokens.takeError();
    if (tokens->empty())
      return texts;
    for (const WrittenToken &token : *tokens) {
      texts[token.text].push_back(token.token);
      if (onToken)
        onToken(token);
    }
  }
}

int64_t Generator::texts() const { return impl->model.texts(); }
int64_t Generator::context() const { return impl->model.context(); }
int64_t Generator::vocabulary() const { return impl->model.vocabulary(); }
std::string Generator::device() const { return impl->model.model().device(); }
uint64_t Generator::plannedBytes() const {
  return impl->model.model().session().plannedBytes();
}

} // namespace mantissa

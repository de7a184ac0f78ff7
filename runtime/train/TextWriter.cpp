//===- TextWriter.cpp - texts that grow token by token --------------------===//
#include "runtime/train/TextWriter.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mp {

using tokenizers::Token;
using tokenizers::Tokens;

static Error checkPrompt(size_t index, const Tokens &prompt,
                         const Generator &generator) {
  if (prompt.empty())
    return makeError("prompt {0} has no token", index);
  if (prompt.size() > static_cast<uint64_t>(generator.longestPrompt()))
    return makeError(
        "prompt {0} has {1} tokens, and the network {2}", index, prompt.size(),
        formatv(generator.hasSource() ? "reads {0}"
                                      : "looks at {0}: take its last ones",
                generator.longestPrompt()));
  if (generator.hasSource()) // whose vocabulary the network checks
    return Error::success();
  for (auto [place, token] : enumerate(prompt))
    if (token >= generator.vocabulary())
      return makeError("prompt {0} has token {1} at {2}, which is not in the "
                       "vocabulary of {3}",
                       index, token, place, generator.vocabulary());
  return Error::success();
}

static Error checkNumber(size_t prompts, int64_t samples,
                         const Generator &generator) {
  if (prompts == 0)
    return makeError("there is no prompt");
  // The product of two large numbers is not computed.
  if (samples <= generator.texts() &&
      prompts <= static_cast<uint64_t>(generator.texts() / samples))
    return Error::success();
  return makeError("{0} prompts with {1} samples of each are more texts than "
                   "the {2} that are written at once",
                   prompts, samples, generator.texts());
}

Expected<TextWriter> TextWriter::begin(Generator &generator,
                                       ArrayRef<Tokens> prompts,
                                       const WritingOptions &options) {
  if (Error error = checkNumber(prompts.size(), options.samples, generator))
    return std::move(error);
  for (auto [index, prompt] : enumerate(prompts))
    if (Error error = checkPrompt(index, prompt, generator))
      return std::move(error);
  TextWriter made(generator, options);
  tokenizers::SamplingOptions sampling = options.sampling;
  for (const Tokens &prompt : prompts)
    for (int64_t sample = 0; sample < options.samples;
         ++sample, ++sampling.seed)
      made.texts.push_back({prompt, tokenizers::Sampler(sampling)});
  generator.clear();
  if (generator.hasSource())
    if (Error error = made.readSource())
      return std::move(error);
  return made;
}

Error TextWriter::readSource() {
  // Each text begins with a token, which stands for the network's first one,
  // and a row without a text reads such a token, too.
  for (auto [i, row] : enumerate(rows)) {
    row.assign(1, 0);
    if (i < texts.size())
      row.swap(texts[i].tokens);
  }
  return generator->read(rows);
}

Expected<ArrayRef<std::vector<float>>> TextWriter::take(size_t count) {
  for (auto [i, row] : enumerate(rows)) {
    // What the other rows take is looked at by nobody.
    row.assign(count, 0);
    if (i >= texts.size() || texts[i].hasEnded)
      continue;
    Text &text = texts[i];
    llvm::copy(ArrayRef(text.tokens).slice(text.taken, count), row.begin());
    text.taken += count;
  }
  return generator->take(rows);
}

Error TextWriter::draw(size_t index, ArrayRef<float> logits) {
  Text &text = texts[index];
  auto token = text.sampler.draw(
      logits.take_front(std::min<uint64_t>(logits.size(), options.known)));
  if (!token)
    return token.takeError();
  text.tokens.assign(1, *token);
  text.taken = 0;
  text.hasEnded = ++text.written >= options.length || options.end == *token ||
                  (generator->hasSource() && generator->isFull());
  written.push_back({index, *token, text.hasEnded, logits});
  return Error::success();
}

Expected<ArrayRef<WrittenToken>> TextWriter::next() {
  written.clear();
  std::optional<size_t> count;
  for (const Text &text : texts)
    if (!text.hasEnded)
      count = std::min(count.value_or(text.left()), text.left());
  if (!count)
    return ArrayRef(written);
  auto logits = take(*count);
  Error error = logits ? Error::success() : logits.takeError();
  for (size_t i = 0; i < texts.size() && !error; ++i)
    if (!texts[i].hasEnded && texts[i].left() == 0)
      error = draw(i, (*logits)[i]);
  if (!error)
    return ArrayRef(written);
  texts.clear();
  return std::move(error);
}

} // namespace mp

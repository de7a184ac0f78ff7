//===- Generator.cpp - texts in C -----------------------------------------===//
#include "api/c/Handles.h"
#include "api/c/Options.h"
#include "api/c/Sized.h"
#include "program/Limits.h"

using namespace llvm;
using namespace mantissa;
using namespace mantissa::c;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Error mantissa::c::takeOptions(const mantissa_sampling_options *given,
                               SamplingOptions &options) {
  mantissa_sampling_options taken = MANTISSA_SAMPLING_OPTIONS_INIT;
  if (given)
    if (Error error = takeSized("options", *given, taken))
      return error;
  // As many names as the structures have fields: with another field on either
  // side, this does not compile.
  const auto &[structSize, temperature, topP, topK, seed, samples, length,
               endToken, drawnTokens] = taken;
  auto &[toTemperature, toTopK, toTopP, toSeed, toSamples, toLength, toEndToken,
         toDrawnTokens] = options;
  if (endToken < -1 || endToken > UINT32_MAX)
    return argumentError("options->end_token is {0}, expected a token or -1",
                         endToken);
  toTemperature = temperature;
  toTopK = topK;
  toTopP = topP;
  toSeed = seed;
  toSamples = samples;
  toLength = length;
  toEndToken.reset();
  if (endToken >= 0)
    toEndToken = static_cast<Token>(endToken);
  toDrawnTokens = drawnTokens;
  return Error::success();
}

mantissa_status *
mantissa_sampling_options_init(mantissa_sampling_options *options,
                               size_t struct_size) {
  return call({{"options", options}}, [&]() -> Error {
    return initializeSized<mantissa_sampling_options>(
        "options", MANTISSA_SAMPLING_OPTIONS_INIT, options, struct_size);
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

mantissa_generator::mantissa_generator(Generator made)
    : generator(std::move(made)), device(generator.device()) {}

void mantissa_generator_destroy(mantissa_generator *generator) {
  delete generator;
}

/// Copies the prompts of a caller.
static Expected<std::vector<Tokens>> takePrompts(const mantissa_prompt *prompts,
                                                 size_t count) {
  if (count && !prompts)
    return argumentError("prompts is null, and {0} are to be there", count);
  if (count > kMostElements)
    return argumentError("prompts: {0} prompts are more than {1}", count,
                         kMostElements);
  std::vector<Tokens> taken;
  for (size_t i = 0; i < count; ++i) {
    auto [tokens, length] = prompts[i];
    if (length && !tokens)
      return argumentError("prompts[{0}].tokens is null, and {1} are to be "
                           "there",
                           i, length);
    // More than any context holds.
    if (length > mp::kMostCount)
      return argumentError("prompts[{0}].count is {1}, expected at most {2}", i,
                           length, mp::kMostCount);
    taken.emplace_back(tokens, tokens + length);
  }
  return taken;
}

mantissa_status *
mantissa_generator_begin(mantissa_generator *generator,
                         const mantissa_prompt *prompts, size_t count,
                         const mantissa_sampling_options *options) {
  return call(generator, {}, [&]() -> Error {
    generator->written.clear();
    auto taken = takePrompts(prompts, count);
    if (!taken)
      return taken.takeError();
    SamplingOptions sampling;
    if (Error error = takeOptions(options, sampling))
      return error;
    return generator->generator.begin(*taken, sampling);
  });
}

mantissa_status *mantissa_generator_next(mantissa_generator *generator,
                                         const mantissa_written_token **tokens,
                                         size_t *count) {
  if (tokens)
    *tokens = nullptr;
  return call(
      generator, {{"tokens", tokens}, {"count", count}}, [&]() -> Error {
        generator->written.clear();
        auto written = generator->generator.next();
        if (!written)
          return written.takeError();
        for (const WrittenToken &token : *written)
          generator->written.push_back(
              {token.text, token.token, token.isLast, token.logits.data()});
        *tokens = generator->written.data();
        *count = generator->written.size();
        return Error::success();
      });
}

mantissa_status *mantissa_generator_get_facts(mantissa_generator *generator,
                                              mantissa_generator_facts *facts) {
  return call(generator, {{"facts", facts}}, [&]() -> Error {
    const Generator &made = generator->generator;
    mantissa_generator_facts value = MANTISSA_GENERATOR_FACTS_INIT;
    value.texts = made.texts();
    value.context = made.context();
    value.vocabulary = made.vocabulary();
    value.planned_bytes = made.plannedBytes();
    value.device = generator->device.c_str();
    return giveSized("facts", value, facts);
  });
}

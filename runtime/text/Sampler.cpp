//===- Sampler.cpp - the next token, drawn from logits --------------------===//
#include "runtime/text/Sampler.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace mp::tokenizers {

/// Returns the token with the largest logit.
static Expected<Token> mostProbable(ArrayRef<float> logits) {
  Token best = 0;
  for (auto [token, logit] : enumerate(logits)) {
    if (std::isnan(logit) || (std::isinf(logit) && logit > 0))
      return makeError("the logit of token {0} is {1}", token,
                       std::isnan(logit) ? "NaN" : "infinite");
    if (logit > logits[best])
      best = token;
  }
  if (logits.empty() || std::isinf(logits[best]))
    return makeError("no token has a finite logit");
  return best;
}

void Sampler::choose(ArrayRef<float> logits, float largest) {
  candidates.clear();
  for (auto [token, logit] : enumerate(logits))
    candidates.push_back(
        {std::exp((double(logit) - largest) / options.temperature),
         static_cast<Token>(token)});
  auto before = [](const Candidate &a, const Candidate &b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  };
  if (options.topK && options.topK < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + options.topK - 1,
                     candidates.end(), before);
    candidates.resize(options.topK);
  }
  if (options.topP >= 1)
    return;
  llvm::sort(candidates, before);
  double sum = 0, kept = 0;
  for (const Candidate &candidate : candidates)
    sum += candidate.weight;
  size_t count = 0;
  while (count < candidates.size() && (count == 0 || kept < options.topP * sum))
    kept += candidates[count++].weight;
  candidates.resize(count);
}

Expected<Token> Sampler::draw(ArrayRef<float> logits) {
  auto best = mostProbable(logits);
  if (!best || options.temperature == 0)
    return best;
  choose(logits, logits[*best]);
  double sum = 0;
  for (const Candidate &candidate : candidates)
    sum += candidate.weight;
  // 53 bits are a number in [0, 1) that a double holds.
  double left = std::ldexp(static_cast<double>(bits() >> 11), -53) * sum;
  for (const Candidate &candidate : candidates) {
    left -= candidate.weight;
    if (left < 0)
      return candidate.token;
  }
  return candidates.back().token; // what rounding left over
}

} // namespace mp::tokenizers

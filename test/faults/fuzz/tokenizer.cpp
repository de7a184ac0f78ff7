//===- tokenizer.cpp - fuzz target: tokenizer.json ------------------------===//
#include "runtime/text/Tokenizer.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// The file, and after a zero byte the text that it encodes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto [file, text] = textOf(data, size).split('\0');
  auto tokenizer = tokenizers::parseTokenizer(file, "tokenizer.json");
  if (!succeeds(tokenizer))
    return 0;
  auto tokens = tokenizers::encodeSample(**tokenizer, text, 1000);
  if (!succeeds(tokens))
    return 0;
  for (tokenizers::Token token : *tokens)
    require(token < (*tokenizer)->vocabularySize(),
            "a token beyond the vocabulary");
  touch((*tokenizer)->decode(*tokens));
  return 0;
}

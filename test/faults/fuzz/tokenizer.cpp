//===- tokenizer.cpp - fuzz target: tokenizer.json ------------------------===//
#include "runtime/text/Tokenizer.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// The file, and after a zero byte the text that it encodes, alone and twice.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto [file, text] = textOf(data, size).split('\0');
  auto tokenizer = tokenizers::parseTokenizer(file, "tokenizer.json");
  if (!succeeds(tokenizer))
    return 0;
  llvm::StringRef texts[] = {text, text};
  for (size_t count : {1, 2}) {
    auto sample = tokenizers::encodeSample(
        **tokenizer, llvm::ArrayRef(texts).take_front(count), 1000);
    if (!succeeds(sample))
      return 0;
    for (tokenizers::Token token : sample->tokens)
      require(token < (*tokenizer)->vocabularySize(),
              "a token beyond the vocabulary");
    require(sample->types.size() == sample->tokens.size(),
            "a type for each token");
    touch((*tokenizer)->decode(sample->tokens));
  }
  return 0;
}

//===- tokenizer.cpp - fuzz target: files of tokenizers -------------------===//
#include "runtime/text/Tokenizer.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;

/// The file, and after a zero byte the text that it encodes, alone and twice.
/// After an 'm' it is a .model, which has zero bytes: the last one ends it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef input = textOf(data, size);
  bool isModel = input.consume_front("m");
  auto [file, text] = isModel ? input.rsplit('\0') : input.split('\0');
  auto tokenizer = isModel ? tokenizers::parseSentencePieces(file, "m.model")
                           : tokenizers::parseTokenizer(file, "tokenizer.json");
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

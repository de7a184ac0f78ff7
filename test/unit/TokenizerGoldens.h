//===- TokenizerGoldens.h - tokens in goldens and of texts ------*- C++ -*-===//
#ifndef MP_TEST_UNIT_TOKENIZERGOLDENS_H
#define MP_TEST_UNIT_TOKENIZERGOLDENS_H

#include "runtime/text/Tokenizer.h"
#include "llvm/Support/JSON.h"

namespace mp::test {

inline tokenizers::Tokens numbersOf(const llvm::json::Array &array) {
  tokenizers::Tokens tokens;
  for (const llvm::json::Value &value : array)
    tokens.push_back(*value.getAsUINT64());
  return tokens;
}

inline tokenizers::Tokens encoded(const tokenizers::Tokenizer &tokenizer,
                                  llvm::StringRef text) {
  tokenizers::Tokens tokens;
  llvm::cantFail(tokenizer.encode(text, tokens));
  return tokens;
}

} // namespace mp::test

#endif // MP_TEST_UNIT_TOKENIZERGOLDENS_H

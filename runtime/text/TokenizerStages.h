//===- TokenizerStages.h - the stages that a tokenizer.json names ---------===//
#ifndef MP_RUNTIME_TEXT_TOKENIZERSTAGES_H
#define MP_RUNTIME_TEXT_TOKENIZERSTAGES_H

#include "runtime/text/JsonField.h"
#include "runtime/text/Stages.h"

namespace mp::tokenizers {

// Each reads a field of the file, which may be null, and returns true if it
// fails.

bool readNormalizer(const JsonField &field, Normalizer &normalizer);
bool readPreTokenizer(const JsonField &field, PreTokenizer &preTokenizer);
bool readDecoder(const JsonField &field, Decoder &decoder);

} // namespace mp::tokenizers

#endif // MP_RUNTIME_TEXT_TOKENIZERSTAGES_H

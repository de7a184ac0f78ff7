//===- TokenizerStages.cpp - the stages that a tokenizer.json names -------===//
#include "runtime/text/TokenizerStages.h"
#include "runtime/text/Unicode.h"

using namespace llvm;

namespace mp::tokenizers {

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

static bool readBertNormalizer(const JsonField &field, Normalizer &normalizer) {
  BertNormalizer bert;
  bool strips = false;
  if (field["clean_text"].readIfThere(bert.cleanText) ||
      field["handle_chinese_chars"].readIfThere(bert.handleChineseChars) ||
      field["lowercase"].readIfThere(bert.lowercase) ||
      field["strip_accents"].readIfThere(strips))
    return true;
  if (field["strip_accents"])
    bert.stripAccents = strips;
  normalizer = bert;
  return false;
}

bool readNormalizer(const JsonField &field, Normalizer &normalizer) {
  std::string type;
  if (!field)
    return false;
  if (field["type"].read(type))
    return true;
  if (type == "Sequence") {
    std::vector<Normalizer> parts;
    if (field["normalizers"].elements([&](const JsonField &part) {
          return readNormalizer(part, parts.emplace_back());
        }))
      return true;
    normalizer = [parts](StringRef text) {
      std::string changed = text.str();
      for (const Normalizer &part : parts)
        changed = part(changed);
      return changed;
    };
    return false;
  }
  if (type == "BertNormalizer")
    return readBertNormalizer(field, normalizer);
  if (type == "Lowercase")
    return normalizer = lowercase, false;
  if (type == "StripAccents")
    return normalizer = stripAccents, false;
  for (auto [name, form] :
       {std::pair("NFC", NormalForm::C), std::pair("NFD", NormalForm::D),
        std::pair("NFKC", NormalForm::KC), std::pair("NFKD", NormalForm::KD)})
    if (type == name) {
      normalizer = [form](StringRef text) { return normalized(text, form); };
      return false;
    }
  return field["type"].expected("Sequence, BertNormalizer, Lowercase, "
                                "StripAccents, NFC, NFD, NFKC or NFKD");
}

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

/// Splits by one after another from `first` on.
static void splitBy(ArrayRef<PreTokenizer> parts, StringRef text,
                    WordSink word) {
  if (parts.empty())
    return word(text);
  parts.front()(
      text, [&](StringRef piece) { splitBy(parts.drop_front(), piece, word); });
}

bool readPreTokenizer(const JsonField &field, PreTokenizer &preTokenizer) {
  std::string type;
  if (!field)
    return false;
  if (field["type"].read(type))
    return true;
  if (type == "Sequence") {
    std::vector<PreTokenizer> parts;
    if (field["pretokenizers"].elements([&](const JsonField &part) {
          return readPreTokenizer(part, parts.emplace_back());
        }))
      return true;
    preTokenizer = [parts](StringRef text, WordSink word) {
      splitBy(parts, text, word);
    };
    return false;
  }
  if (type == "ByteLevel") {
    ByteLevel byteLevel;
    if (field["add_prefix_space"].readIfThere(byteLevel.addPrefixSpace) ||
        field["use_regex"].readIfThere(byteLevel.useRegex))
      return true;
    preTokenizer = byteLevel;
    return false;
  }
  if (type == "BertPreTokenizer")
    return preTokenizer = bertPreTokenizer, false;
  if (type == "Whitespace")
    return preTokenizer = whitespaceRuns, false;
  if (type == "WhitespaceSplit")
    return preTokenizer = whitespaceSplit, false;
  return field["type"].expected("Sequence, ByteLevel, BertPreTokenizer, "
                                "Whitespace or WhitespaceSplit");
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

bool readDecoder(const JsonField &field, Decoder &decoder) {
  std::string type;
  decoder = spacedDecoder;
  if (!field)
    return false;
  if (field["type"].read(type))
    return true;
  if (type == "ByteLevel")
    return decoder = byteLevelDecoder, false;
  if (type == "WordPiece") {
    WordPieceDecoder pieces;
    if (field["prefix"].readIfThere(pieces.prefix) ||
        field["cleanup"].readIfThere(pieces.cleanup))
      return true;
    decoder = pieces;
    return false;
  }
  if (type == "BPEDecoder") {
    SuffixDecoder suffixes;
    if (field["suffix"].readIfThere(suffixes.suffix))
      return true;
    decoder = suffixes;
    return false;
  }
  return field["type"].expected("ByteLevel, WordPiece or BPEDecoder");
}

} // namespace mp::tokenizers

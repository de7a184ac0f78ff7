//===- TokenizerStages.cpp - the stages that a tokenizer.json names -------===//
#include "runtime/text/TokenizerStages.h"
#include "runtime/text/CharacterMap.h"
#include "runtime/text/Unicode.h"
#include "llvm/Support/Base64.h"

using namespace llvm;

namespace mp::tokenizers {

/// Reads a stage of one kind.
template <typename T, typename To>
static bool readAs(bool (*read)(const JsonField &, T &), const JsonField &field,
                   To &to) {
  T made{};
  if (read(field, made))
    return true;
  to = std::move(made);
  return false;
}

/// Appends a stage, or those of a sequence, which are in field `parts`.
template <typename Stage>
static bool readStages(const JsonField &field, StringRef parts,
                       bool (*readOne)(const JsonField &, StringRef, Stage &),
                       std::vector<Stage> &stages) {
  std::string type;
  if (field["type"].read(type))
    return true;
  if (type != "Sequence")
    return readOne(field, type, stages.emplace_back());
  return field[parts].elements([&](const JsonField &part) {
    return readStages(part, parts, readOne, stages);
  });
}

/// A pattern: {"String": " "} or {"Regex": " {2,}"}.
static bool readPattern(const JsonField &field, Pattern &pattern) {
  std::string text;
  if (JsonField regex = field["Regex"]) {
    if (regex.read(text))
      return true;
    auto made = Pattern::ofRegex(text);
    if (!made)
      return regex.fail(toString(made.takeError()));
    pattern = std::move(*made);
    return false;
  }
  JsonField literal = field["String"];
  if (literal.read(text))
    return true;
  if (text.empty())
    return literal.expected("a text that is not empty");
  pattern = Pattern::ofText(std::move(text));
  return false;
}

/// Reads a text of one character.
static bool readCharacter(const JsonField &field, std::string &character) {
  if (field.read(character))
    return true;
  bool isOne =
      !character.empty() && characterLength(character) == character.size();
  return !isOne && field.expected("a character");
}

//===----------------------------------------------------------------------===//
// Normalizers
//===----------------------------------------------------------------------===//

static bool readBertNormalizer(const JsonField &field, BertNormalizer &bert) {
  bool strips = false;
  if (field["clean_text"].readIfThere(bert.cleanText) ||
      field["handle_chinese_chars"].readIfThere(bert.handleChineseChars) ||
      field["lowercase"].readIfThere(bert.lowercase) ||
      field["strip_accents"].readIfThere(strips))
    return true;
  if (field["strip_accents"])
    bert.stripAccents = strips;
  return false;
}

static bool readStrip(const JsonField &field, Strip &strip) {
  return field["strip_left"].read(strip.left) ||
         field["strip_right"].read(strip.right);
}

static bool readPrepend(const JsonField &field, Prepend &prepend) {
  return field["prepend"].read(prepend.text);
}

static bool readReplace(const JsonField &field, Replace &replace) {
  return readPattern(field["pattern"], replace.pattern) ||
         field["content"].read(replace.with);
}

static bool readPrecompiled(const JsonField &field, Normalizer &normalizer) {
  JsonField table = field["precompiled_charsmap"];
  std::string text;
  if (table.read(text))
    return true;
  std::vector<char> bytes;
  if (Error error = decodeBase64(text, bytes))
    return table.fail(toString(std::move(error)));
  auto map = CharacterMap::read({bytes.data(), bytes.size()});
  if (!map)
    return table.fail(toString(map.takeError()));
  normalizer = [map = std::make_shared<const CharacterMap>(std::move(*map))](
                   StringRef text) { return map->normalized(text); };
  return false;
}

/// Applies one after another.
static Expected<std::string> applyAll(ArrayRef<Normalizer> parts,
                                      StringRef text) {
  std::string changed = text.str();
  for (const Normalizer &part : parts) {
    auto made = part(changed);
    if (!made)
      return made.takeError();
    changed = std::move(*made);
    if (Error error = checkGrowth(text.size(), changed.size()))
      return error;
  }
  return changed;
}

static bool readOneNormalizer(const JsonField &field, StringRef type,
                              Normalizer &normalizer) {
  if (type == "BertNormalizer")
    return readAs(readBertNormalizer, field, normalizer);
  if (type == "Strip")
    return readAs(readStrip, field, normalizer);
  if (type == "Prepend")
    return readAs(readPrepend, field, normalizer);
  if (type == "Replace")
    return readAs(readReplace, field, normalizer);
  if (type == "Precompiled")
    return readPrecompiled(field, normalizer);
  if (type == "Nmt")
    return normalizer = nmt, false;
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
  return field["type"].expected(
      "Sequence, BertNormalizer, Strip, Prepend, Replace, Precompiled, Nmt, "
      "Lowercase, StripAccents, NFC, NFD, NFKC or NFKD");
}

bool readNormalizer(const JsonField &field, Normalizer &normalizer) {
  std::vector<Normalizer> parts;
  if (!field)
    return false;
  if (readStages(field, "normalizers", readOneNormalizer, parts))
    return true;
  normalizer = [parts](StringRef text) { return applyAll(parts, text); };
  return false;
}

//===----------------------------------------------------------------------===//
// Pre-tokenizers
//===----------------------------------------------------------------------===//

/// Splits a piece of a text of `bytes` by one after another.
static Error splitBy(ArrayRef<PreTokenizer> parts, Piece piece, size_t bytes,
                     WordSink word) {
  if (parts.empty())
    return word(piece), Error::success();
  if (Error error = checkGrowth(bytes, piece.text.size()))
    return error;
  Error within = Error::success();
  Error failed = parts.front()(piece, [&](Piece part) {
    if (!within)
      within = splitBy(parts.drop_front(), part, bytes, word);
  });
  return joinErrors(std::move(failed), std::move(within));
}

/// `prepend_scheme` of Metaspace; older files have `add_prefix_space`.
static bool readPrepends(const JsonField &field,
                         Metaspace::Prepends &prepends) {
  JsonField scheme = field["prepend_scheme"];
  bool isAdded = true;
  if (field["add_prefix_space"].readIfThere(isAdded))
    return true;
  if (!scheme) {
    prepends =
        isAdded ? Metaspace::Prepends::Always : Metaspace::Prepends::Never;
    return false;
  }
  std::string name;
  if (scheme.read(name))
    return true;
  for (auto [known, value] : {std::pair("always", Metaspace::Prepends::Always),
                              std::pair("first", Metaspace::Prepends::First),
                              std::pair("never", Metaspace::Prepends::Never)})
    if (name == known) {
      prepends = value;
      return !isAdded && value != Metaspace::Prepends::Never &&
             scheme.expected("never, as add_prefix_space is false");
    }
  return scheme.expected("always, first or never");
}

static bool readMetaspace(const JsonField &field, Metaspace &metaspace) {
  return readCharacter(field["replacement"], metaspace.replacement) ||
         readPrepends(field, metaspace.prepends) ||
         field["split"].readIfThere(metaspace.splits);
}

static bool readBehavior(const JsonField &field, Behavior &behavior) {
  std::string name;
  if (field.read(name))
    return true;
  for (auto [known, value] :
       {std::pair("Isolated", Behavior::Isolated),
        std::pair("Removed", Behavior::Removed),
        std::pair("MergedWithPrevious", Behavior::MergedWithPrevious),
        std::pair("MergedWithNext", Behavior::MergedWithNext),
        std::pair("Contiguous", Behavior::Contiguous)})
    if (name == known)
      return behavior = value, false;
  return field.expected("Isolated, Removed, MergedWithPrevious, "
                        "MergedWithNext or Contiguous");
}

static bool readSplit(const JsonField &field, Split &split) {
  return readPattern(field["pattern"], split.pattern) ||
         readBehavior(field["behavior"], split.behavior) ||
         field["invert"].read(split.isInverted);
}

static bool readByteLevel(const JsonField &field, ByteLevel &byteLevel) {
  return field["add_prefix_space"].readIfThere(byteLevel.addPrefixSpace) ||
         field["use_regex"].readIfThere(byteLevel.useRegex);
}

static bool readDigits(const JsonField &field, Digits &digits) {
  return field["individual_digits"].read(digits.isEachAlone);
}

static bool readPunctuation(const JsonField &field, Punctuation &punctuation) {
  JsonField behavior = field["behavior"];
  return behavior && readBehavior(behavior, punctuation.behavior);
}

static bool readOnePreTokenizer(const JsonField &field, StringRef type,
                                PreTokenizer &preTokenizer) {
  if (type == "ByteLevel")
    return readAs(readByteLevel, field, preTokenizer);
  if (type == "Metaspace")
    return readAs(readMetaspace, field, preTokenizer);
  if (type == "Split")
    return readAs(readSplit, field, preTokenizer);
  if (type == "Digits")
    return readAs(readDigits, field, preTokenizer);
  if (type == "Punctuation")
    return readAs(readPunctuation, field, preTokenizer);
  if (type == "BertPreTokenizer")
    return preTokenizer = bertPreTokenizer, false;
  if (type == "Whitespace")
    return preTokenizer = whitespaceRuns, false;
  if (type == "WhitespaceSplit")
    return preTokenizer = whitespaceSplit, false;
  return field["type"].expected(
      "Sequence, ByteLevel, Metaspace, Split, Digits, Punctuation, "
      "BertPreTokenizer, Whitespace or WhitespaceSplit");
}

bool readPreTokenizer(const JsonField &field, PreTokenizer &preTokenizer) {
  std::vector<PreTokenizer> parts;
  if (!field)
    return false;
  if (readStages(field, "pretokenizers", readOnePreTokenizer, parts))
    return true;
  preTokenizer = [parts](Piece piece, WordSink word) {
    return splitBy(parts, piece, piece.text.size(), word);
  };
  return false;
}

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

static bool readWordPieceDecoder(const JsonField &field,
                                 WordPieceDecoder &decoder) {
  return field["prefix"].readIfThere(decoder.prefix) ||
         field["cleanup"].readIfThere(decoder.cleanup);
}

static bool readSuffixDecoder(const JsonField &field, SuffixDecoder &decoder) {
  return field["suffix"].readIfThere(decoder.suffix);
}

static bool readMetaspaceDecoder(const JsonField &field,
                                 MetaspaceDecoder &decoder) {
  Metaspace metaspace;
  if (readMetaspace(field, metaspace))
    return true;
  decoder = {metaspace.replacement,
             metaspace.prepends != Metaspace::Prepends::Never};
  return false;
}

/// Decoding never fails, so that a regular expression is not read here.
static bool readReplaceDecoder(const JsonField &field,
                               ReplaceDecoder &decoder) {
  JsonField literal = field["pattern"]["String"];
  if (literal.read(decoder.what) || field["content"].read(decoder.with))
    return true;
  if (decoder.what.empty())
    return literal.expected("a text that is not empty");
  // What replaces what has been replaced would grow without end.
  return decoder.with.size() > decoder.what.size() &&
         field["content"].expected("no longer text than that of the pattern");
}

static bool readStripDecoder(const JsonField &field, StripDecoder &decoder) {
  return readCharacter(field["content"], decoder.character) ||
         field["start"].read(decoder.start) || field["stop"].read(decoder.stop);
}

static bool readOneDecoder(const JsonField &field, StringRef type,
                           Decoder &decoder) {
  if (type == "ByteLevel")
    return decoder = byteLevelDecoder, false;
  if (type == "ByteFallback")
    return decoder = byteFallbackDecoder, false;
  if (type == "Fuse")
    return decoder = fuseDecoder, false;
  if (type == "WordPiece")
    return readAs(readWordPieceDecoder, field, decoder);
  if (type == "BPEDecoder")
    return readAs(readSuffixDecoder, field, decoder);
  if (type == "Metaspace")
    return readAs(readMetaspaceDecoder, field, decoder);
  if (type == "Replace")
    return readAs(readReplaceDecoder, field, decoder);
  if (type == "Strip")
    return readAs(readStripDecoder, field, decoder);
  return field["type"].expected("Sequence, ByteLevel, ByteFallback, Fuse, "
                                "WordPiece, BPEDecoder, Metaspace, Replace or "
                                "Strip");
}

bool readDecoder(const JsonField &field, Decoder &decoder) {
  std::vector<Decoder> parts;
  decoder = spacedDecoder;
  if (!field)
    return false;
  if (readStages(field, "decoders", readOneDecoder, parts))
    return true;
  decoder = [parts](std::vector<std::string> &pieces) {
    for (const Decoder &part : parts)
      part(pieces);
  };
  return false;
}

} // namespace mp::tokenizers

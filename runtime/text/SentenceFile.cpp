//===- SentenceFile.cpp - reads a .model of SentencePiece -----------------===//
//
// The message ModelProto of its sentencepiece_model.proto, whose numbers of
// fields are here. Fields that concern training are not read.
//
//===----------------------------------------------------------------------===//
#include "runtime/text/Protobuf.h"
#include "runtime/text/SentencePieces.h"
#include "runtime/text/Unicode.h"
#include "support/Error.h"

using namespace llvm;

namespace mp::tokenizers {

namespace {

/// A text that is given out, so that it must be UTF-8.
bool readText(const ProtobufField &field, StringRef name, StringRef &text) {
  if (field.read(name, text))
    return true;
  if (std::optional<size_t> at = firstInvalid(text))
    return field.fail(name, "byte " + Twine(*at) + " is not UTF-8");
  return false;
}

bool readType(const ProtobufField &field, PieceType &type) {
  uint64_t number = 0;
  if (field.read("type", number))
    return true;
  if (number < 1 || number > 6)
    return field.fail("type",
                      "expected a type from 1 to 6, found " + Twine(number));
  type = static_cast<PieceType>(number);
  return false;
}

bool readPiece(const ProtobufMessage &message, SentenceModel &model) {
  // Those that SentencePiece takes are shorter.
  constexpr size_t mostBytes = 8000;
  StringRef name;
  float score = 0;
  PieceType type = PieceType::Normal;
  if (message.fields([&](const ProtobufField &field) {
        switch (field.number) {
        case 1:
          return readText(field, "piece", name);
        case 2:
          return field.read("score", score);
        case 3:
          return readType(field, type);
        default:
          return false;
        }
      }))
    return true;
  if (name.empty() || name.size() >= mostBytes || name.contains('\0'))
    return message.fail("expected a text of fewer than " + Twine(mostBytes) +
                            " bytes, none of them zero",
                        "piece");
  StringRef digits = name.slice(3, 5);
  if (type == PieceType::Byte && (!byteOf(name) || digits != digits.upper()))
    return message.fail("expected a byte such as <0x0A>, found '" +
                            printableName(name) + "'",
                        "piece");
  if (Error error = model.vocabulary.add(name, model.types.size()))
    return message.fail(toString(std::move(error)), "piece");
  model.scores.push_back(score);
  model.types.push_back(type);
  return false;
}

bool readTrainer(const ProtobufMessage &message, SentenceModel &model) {
  return message.fields([&](const ProtobufField &field) {
    uint64_t type = 0;
    bool isSuffix = false;
    StringRef text;
    switch (field.number) {
    case 3:
      if (field.read("model_type", type))
        return true;
      if (type != 1 && type != 2)
        return field.fail("model_type", "expected 1 (unigram) or 2 (BPE), "
                                        "found " +
                                            Twine(type));
      model.type = static_cast<SentenceModel::Type>(type);
      return false;
    case 24:
      return field.read("treat_whitespace_as_suffix", isSuffix) ||
             (isSuffix && field.fail("treat_whitespace_as_suffix",
                                     "expected false, which is read alone"));
    case 35:
      return field.read("byte_fallback", model.byteFallback);
    case 44:
      if (readText(field, "unk_surface", text))
        return true;
      model.unknownSurface = text.str();
      return false;
    default:
      return false;
    }
  });
}

bool readNormalizer(const ProtobufMessage &message, SentenceModel &model) {
  return message.fields([&](const ProtobufField &field) {
    StringRef bytes;
    switch (field.number) {
    case 2: {
      constexpr StringLiteral name = "precompiled_charsmap";
      if (field.read(name, bytes))
        return true;
      model.characterMap.reset();
      if (bytes.empty())
        return false;
      auto map = CharacterMap::read(bytes);
      if (!map)
        return field.fail(name, toString(map.takeError()));
      model.characterMap = std::move(*map);
      return false;
    }
    case 3:
      return field.read("add_dummy_prefix", model.addDummyPrefix);
    case 4:
      return field.read("remove_extra_whitespaces",
                        model.removeExtraWhitespaces);
    case 5:
      return field.read("escape_whitespaces", model.escapeWhitespaces);
    default:
      return false;
    }
  });
}

/// What decodes texts otherwise than they are written.
bool refuseDenormalizer(const ProtobufMessage &message) {
  return message.fields([&](const ProtobufField &field) {
    constexpr StringLiteral name = "precompiled_charsmap";
    StringRef bytes;
    return field.number == 2 &&
           (field.read(name, bytes) ||
            (!bytes.empty() &&
             field.fail(name, "expected none, and " + Twine(bytes.size()) +
                                  " bytes are there")));
  });
}

/// Finds the pieces of each type, and what must be among them.
bool finish(const ProtobufMessage &file, SentenceModel &model) {
  std::optional<Token> unknown;
  size_t bytes = 0;
  for (Token token = 0; token < model.types.size(); ++token) {
    StringRef name = model.vocabulary.nameOf(token);
    if (model.isOf(token, PieceType::Unknown)) {
      if (unknown)
        return file.fail("are of the type UNKNOWN more than once", "pieces");
      unknown = token;
    }
    bytes += model.isOf(token, PieceType::Byte);
    if (model.isOf(token, PieceType::UserDefined))
      model.userDefined.add(name, token);
    if (model.findInText(name))
      model.inText.add(name, token);
    if (model.isOf(token, PieceType::Normal))
      model.lowestScore = std::min(model.lowestScore, model.scores[token]);
  }
  if (!unknown)
    return file.fail("expected one of the type UNKNOWN", "pieces");
  if (bytes != (model.byteFallback ? 256 : 0))
    return file.fail("expected 256 of the type BYTE if trainer_spec."
                     "byte_fallback is true, and else none, found " +
                         Twine(bytes),
                     "pieces");
  model.unknown = *unknown;
  model.inText.sort();
  model.userDefined.sort();
  return false;
}

bool readModel(const ProtobufMessage &file, std::string &problem,
               SentenceModel &model) {
  return file.fields([&](const ProtobufField &field) {
    StringRef bytes;
    switch (field.number) {
    case 1:
      return field.read("pieces", bytes) ||
             readPiece({bytes, problem, "pieces", model.types.size()}, model);
    case 2:
      return field.read("trainer_spec", bytes) ||
             readTrainer({bytes, problem, "trainer_spec"}, model);
    case 3:
      return field.read("normalizer_spec", bytes) ||
             readNormalizer({bytes, problem, "normalizer_spec"}, model);
    case 5:
      return field.read("denormalizer_spec", bytes) ||
             refuseDenormalizer({bytes, problem, "denormalizer_spec"});
    default:
      return false;
    }
  }) || finish(file, model);
}

} // namespace

Expected<std::unique_ptr<Tokenizer>> parseSentencePieces(StringRef bytes,
                                                         StringRef path) {
  std::string problem;
  auto model = std::make_unique<SentenceModel>();
  if (readModel({bytes, problem}, problem, *model))
    return makeError("{0}: is no model of SentencePiece that is read: {1}",
                     path, problem);
  return std::make_unique<SentencePieces>(std::move(model));
}

} // namespace mp::tokenizers

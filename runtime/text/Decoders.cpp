//===- Decoders.cpp - tokens to text --------------------------------------===//
#include "runtime/text/Stages.h"
#include "runtime/text/Unicode.h"

using namespace llvm;

namespace mp::tokenizers {

static void replaceAll(std::string &text, StringRef what, StringRef with) {
  if (what.empty())
    return;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += with.size())
    text.replace(at, what.size(), with);
}

void WordPieceDecoder::operator()(std::vector<std::string> &pieces) const {
  // Those of Hugging Face's clean_up_tokenization, in its order.
  constexpr std::pair<StringLiteral, StringLiteral> tidied[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (size_t i = 0; i < pieces.size(); ++i) {
    std::string &piece = pieces[i];
    if (i && StringRef(piece).starts_with(prefix))
      piece.erase(0, prefix.size());
    else if (i)
      piece.insert(0, " ");
    if (!cleanup)
      continue;
    for (auto [what, with] : tidied)
      replaceAll(piece, what, with);
  }
}

void SuffixDecoder::operator()(std::vector<std::string> &pieces) const {
  for (size_t i = 0; i < pieces.size(); ++i)
    replaceAll(pieces[i], suffix, i + 1 < pieces.size() ? " " : "");
}

void byteLevelDecoder(std::vector<std::string> &pieces) {
  for (std::string &piece : pieces)
    piece = bytesOfByteLevel(piece);
  fuseDecoder(pieces);
}

void MetaspaceDecoder::operator()(std::vector<std::string> &pieces) const {
  for (size_t i = 0; i < pieces.size(); ++i)
    replaceAll(pieces[i], replacement, i == 0 && isPrepended ? "" : " ");
}

void ReplaceDecoder::operator()(std::vector<std::string> &pieces) const {
  for (std::string &piece : pieces)
    replaceAll(piece, what, with);
}

void StripDecoder::operator()(std::vector<std::string> &pieces) const {
  for (std::string &piece : pieces) {
    StringRef rest = piece;
    for (uint64_t i = 0; i < start && rest.consume_front(character); ++i) {
    }
    for (uint64_t i = 0; i < stop && rest.consume_back(character); ++i) {
    }
    piece = rest.str();
  }
}

void byteFallbackDecoder(std::vector<std::string> &pieces) {
  std::vector<std::string> decoded;
  std::string run; // of bytes
  auto endRun = [&] {
    if (run.empty())
      return;
    if (!firstInvalid(run))
      decoded.push_back(run);
    else
      decoded.insert(decoded.end(), run.size(), "\xEF\xBF\xBD");
    run.clear();
  };
  for (std::string &piece : pieces) {
    if (std::optional<char> byte = byteOf(piece)) {
      run += *byte;
      continue;
    }
    endRun();
    decoded.push_back(std::move(piece));
  }
  endRun();
  pieces = std::move(decoded);
}

void fuseDecoder(std::vector<std::string> &pieces) {
  std::string all;
  for (const std::string &piece : pieces)
    all += piece;
  pieces = {std::move(all)};
}

void spacedDecoder(std::vector<std::string> &pieces) {
  for (size_t i = 1; i < pieces.size(); ++i)
    pieces[i].insert(0, " ");
}

} // namespace mp::tokenizers

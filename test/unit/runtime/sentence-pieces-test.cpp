//===- sentence-pieces-test.cpp - SentencePiece's own files ---------------===//
//
// The numbers are those of its package (goldens/piece_files.py).
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "TokenizerGoldens.h"
#include "runtime/text/Tokenizer.h"
#include "support/Json.h"
#include "llvm/ADT/bit.h"

using namespace mp;
using namespace mp::test;
using namespace mp::tokenizers;
using llvm::StringRef;

namespace {

std::string pathOf(StringRef name) {
  return (MP_GOLDENS_DIR "/tokenizers/" + name + ".model").str();
}

TEST(SentencePieces, AgreeWithTheirPackage) {
  auto buffer = llvm::MemoryBuffer::getFile(MP_GOLDENS_DIR "/pieces.json");
  ASSERT_TRUE(bool(buffer));
  auto goldens = llvm::cantFail(parseJson((*buffer)->getBuffer()));
  size_t texts = 0, decoded = 0;
  for (auto &[name, cases] : *goldens.getAsObject()->getObject("cases")) {
    auto tokenizer = llvm::cantFail(readTokenizer(pathOf(name)));
    for (const llvm::json::Value &value : *cases.getAsArray()) {
      const llvm::json::Object &golden = *value.getAsObject();
      Tokens tokens = numbersOf(*golden.getArray("tokens"));
      if (auto text = golden.getString("text")) {
        SCOPED_TRACE(name.str() + ": " + text->str());
        EXPECT_EQ(encoded(*tokenizer, *text), tokens);
        ++texts;
      }
      SCOPED_TRACE(name.str());
      EXPECT_EQ(tokenizer->decode(tokens), golden.getString("decoded")->str());
      ++decoded;
    }
  }
  EXPECT_EQ(texts, 132u);
  EXPECT_EQ(decoded, 204u);
}

TEST(SentencePieces, AreFoundByTheirNames) {
  auto tokenizer =
      llvm::cantFail(readTokenizer(pathOf("pieces-unigram-bytes")));
  EXPECT_EQ(tokenizer->find("<unk>"), 0u);
  EXPECT_EQ(tokenizer->find("</s>"), 2u);
  EXPECT_EQ(tokenizer->find("nothing"), std::nullopt);
  Tokens tokens;
  EXPECT_EQ(message(tokenizer->encode("ab\x80", tokens)),
            "byte 2 is not UTF-8");
  // A character of bytes that may go on is printed when it is over.
  Token byte = *tokenizer->find("<0xE2>");
  EXPECT_EQ(tokenizer->settled({0, byte, 1, byte, byte}), 3u);
}

TEST(SentencePieces, AreReadByTheNameOfTheFile) {
  TestFolder folder;
  auto buffer = llvm::MemoryBuffer::getFile(pathOf("pieces-bpe"));
  ASSERT_TRUE(bool(buffer));
  std::string bytes = (*buffer)->getBuffer().str();
  auto messageOf = [&](const std::string &name) {
    return message(readTokenizer(folder.write(name, bytes)));
  };
  EXPECT_EQ(messageOf("a.model"), "no error");
  EXPECT_EQ(messageOf("a.model.v3"), "no error");
  EXPECT_NE(messageOf("a.model.json"), "no error");
  EXPECT_NE(messageOf("model"), "no error");
}

// A file, field by field. Keys and lengths here have one byte.

std::string bytesField(unsigned number, const std::string &bytes) {
  return std::string{char(number << 3 | 2), char(bytes.size())} + bytes;
}
std::string numberField(unsigned number, unsigned value) {
  return {char(number << 3), char(value)};
}
std::string floatField(unsigned number, float value) {
  char bytes[4];
  llvm::support::endian::write32le(bytes, llvm::bit_cast<uint32_t>(value));
  return std::string(1, char(number << 3 | 5)) + std::string(bytes, 4);
}
std::string piece(const std::string &name, float score, unsigned type = 1) {
  return bytesField(1, bytesField(1, name) + floatField(2, score) +
                           numberField(3, type));
}
/// trainer_spec.model_type, which is 1 for unigram and 2 for BPE.
std::string ofType(unsigned type) {
  return bytesField(2, numberField(3, type));
}
const std::string unknown = piece("?", 0, 2);

std::string messageOf(const std::string &bytes) {
  return message(parseSentencePieces(bytes, "t.model"));
}
void expectFault(const std::string &bytes, const std::string &expected) {
  std::string found = messageOf(bytes);
  EXPECT_EQ(found,
            "t.model: is no model of SentencePiece that is read: " + expected);
}

TEST(SentencePieces, NameTheFieldThatIsWrong) {
  EXPECT_EQ(messageOf(unknown), "no error");
  // Fields that are not known are left out, of each way to write them.
  EXPECT_EQ(messageOf(numberField(9, 3) + floatField(9, 1) +
                      bytesField(9, "x") +
                      "\x49"
                      "12345678" +
                      unknown),
            "no error");
  expectFault("", "pieces: expected one of the type UNKNOWN");
  expectFault(unknown + piece("!", 0, 2),
              "pieces: are of the type UNKNOWN more than once");
  expectFault(numberField(1, 3), "pieces: expected a text or a message");
  expectFault(bytesField(1, numberField(1, 3)),
              "pieces[0].piece: expected a text or a message");
  expectFault(unknown + bytesField(1, bytesField(1, "a\xC3")),
              "pieces[1].piece: byte 1 is not UTF-8");
  expectFault(unknown + piece("", 0),
              "pieces[1].piece: expected a text of fewer than 8000 bytes, none "
              "of them zero");
  expectFault(unknown + piece("?", 0),
              "pieces[1].piece: token '?' is number 0 and 1");
  expectFault(bytesField(1, bytesField(1, "a") + numberField(2, 1)),
              "pieces[0].score: expected a number of 32 bits");
  expectFault(piece("a", NAN), "pieces[0].score: expected a finite number");
  expectFault(piece("a", 0, 7),
              "pieces[0].type: expected a type from 1 to 6, found 7");
  expectFault(piece("<0x0a>", 0, 6),
              "pieces[0].piece: expected a byte such as <0x0A>, found "
              "'<0x0a>'");
  const std::string bytes = "pieces: expected 256 of the type BYTE if "
                            "trainer_spec.byte_fallback is true, and else "
                            "none, found ";
  expectFault(unknown + piece("<0x0A>", 0, 6), bytes + "1");
  // trainer_spec.byte_fallback
  expectFault(unknown + bytesField(2, "\x98\x02\x01"), bytes + "0");
}

TEST(SentencePieces, RefuseWhatWouldMeanSomethingElse) {
  expectFault(ofType(3), "trainer_spec.model_type: expected 1 (unigram) or 2 "
                         "(BPE), found 3");
  expectFault(bytesField(2, "\xC0\x01\x01"),
              "trainer_spec.treat_whitespace_as_suffix: expected false, which "
              "is read alone");
  expectFault(bytesField(3, numberField(3, 2)),
              "normalizer_spec.add_dummy_prefix: expected true or false");
  expectFault(bytesField(3, bytesField(2, "abc")),
              "normalizer_spec.precompiled_charsmap: expected a table of "
              "characters, found 3 bytes");
  expectFault(bytesField(5, bytesField(2, "abc")),
              "denormalizer_spec.precompiled_charsmap: expected none, and 3 "
              "bytes are there");
  EXPECT_EQ(messageOf(unknown + bytesField(5, bytesField(2, ""))), "no error");
}

TEST(SentencePieces, AreRefusedIfDamaged) {
  expectFault("\x0A", "byte 0 of 1 begins a field without a number");
  expectFault(unknown + "\x0A\x05xy",
              "byte 12 of 16 begins a field of 5 bytes, more than are left");
  expectFault("\x80", "byte 0 of 1 begins no field");
  expectFault(std::string(1, '\0'), "byte 0 of 1 begins no field");
  expectFault("\x0B", "byte 0 of 1 begins a field without a value");
  expectFault("\x12\x02\x18\x80",
              "trainer_spec: byte 0 of 2 begins a field without a number");
  expectFault("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
              "byte 0 of 11 begins a field without a number");
}

/// What is left of a file is read only if it ends after a field.
TEST(SentencePieces, AreRefusedIfCutOff) {
  auto buffer = llvm::MemoryBuffer::getFile(pathOf("pieces-bpe"));
  ASSERT_TRUE(bool(buffer));
  StringRef bytes = (*buffer)->getBuffer();
  size_t pieces =
      llvm::cantFail(parseSentencePieces(bytes, "t.model"))->vocabularySize();
  size_t read = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (messageOf(bytes.take_front(i).str()) == "no error")
      ++read;
  // After each piece, and after trainer_spec.
  EXPECT_EQ(read, pieces + 1);
}

TEST(SentencePieces, LongTextsAreExactToo) {
  // A float of the whole sum, -45 millions, does not hold the quarter that "ab"
  // is less probable than "a" and "b".
  auto tokenizer = llvm::cantFail(parseSentencePieces(
      unknown + piece("ab", -900.25F) + piece("a", -400) + piece("b", -500) +
          bytesField(3, numberField(3, 0)),
      "t.model"));
  std::string text;
  for (int i = 0; i < 50000; ++i)
    text += "ab";
  Tokens tokens = encoded(*tokenizer, text);
  ASSERT_EQ(tokens.size(), 100000u);
  EXPECT_EQ(tokens.back(), 3u);
}

} // namespace

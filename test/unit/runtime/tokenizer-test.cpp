//===- tokenizer-test.cpp - text to tokens and back -----------------------===//
//
// The numbers are those of Hugging Face's package (goldens/tokenizer_files.py).
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "TokenizerGoldens.h"
#include "runtime/text/TokenFile.h"
#include "runtime/text/Unicode.h"
#include "support/Json.h"

using namespace mp;
using namespace mp::test;
using namespace mp::tokenizers;
using llvm::StringRef;

namespace {

Tokens sampleOf(const Tokenizer &tokenizer, StringRef text, size_t most) {
  return llvm::cantFail(encodeSample(tokenizer, text, most)).tokens;
}

TEST(Tokenizers, AgreeWithHuggingFace) {
  auto buffer = llvm::MemoryBuffer::getFile(MP_GOLDENS_DIR "/tokenizers.json");
  ASSERT_TRUE(bool(buffer));
  auto goldens = llvm::cantFail(parseJson((*buffer)->getBuffer()));
  llvm::json::Object &file = *goldens.getAsObject();
  size_t texts = 0;
  for (auto &[name, cases] : *file.getObject("cases")) {
    std::string path = MP_GOLDENS_DIR "/tokenizers/" + name.str() + ".json";
    auto tokenizer = llvm::cantFail(readTokenizer(path));
    for (const llvm::json::Value &value : *cases.getAsArray()) {
      const llvm::json::Object &golden = *value.getAsObject();
      StringRef text = *golden.getString("text");
      SCOPED_TRACE(name.str() + ": " + text.str());
      Tokens tokens = encoded(*tokenizer, text);
      EXPECT_EQ(tokens, numbersOf(*golden.getArray("tokens")));
      EXPECT_EQ(sampleOf(*tokenizer, text, 1000),
                numbersOf(*golden.getArray("sample")));
      EXPECT_EQ(tokenizer->decode(tokens), golden.getString("decoded")->str());
      ++texts;
    }
  }
  EXPECT_EQ(texts, 437u);
}

TEST(Tokenizers, ByteLevelIsReversible) {
  auto tokenizer = llvm::cantFail(
      readTokenizer(MP_GOLDENS_DIR "/tokenizers/byte-level.json"));
  EXPECT_EQ(tokenizer->vocabularySize(), 400u);
  EXPECT_EQ(tokenizer->find("<|endoftext|>"), 0u);
  std::string all;
  for (char32_t c = 0; c < 0x3000; c += 7)
    appendCharacter(c, all);
  EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, all)), all);
  // A word of 100,000 letters is merged in a moment.
  std::string longWord;
  for (int i = 0; i < 100000; ++i)
    longWord += "sailor"[i % 6];
  EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, longWord)), longWord);
}

TEST(Tokenizers, SamplesAreCutOffWithinTheTokensAroundThem) {
  auto tokenizer =
      llvm::cantFail(readTokenizer(MP_GOLDENS_DIR "/tokenizers/bert.json"));
  Token cls = *tokenizer->find("[CLS]"), sep = *tokenizer->find("[SEP]");
  Tokens whole = sampleOf(*tokenizer, "the sailors sail", 1000);
  Tokens part = sampleOf(*tokenizer, "the sailors sail", 4);
  ASSERT_GT(whole.size(), 4u);
  EXPECT_EQ(part, (Tokens{cls, whole[1], whole[2], sep}));
  EXPECT_EQ(sampleOf(*tokenizer, "", 10), (Tokens{cls, sep}));
}

/// [CLS] A [SEP] B [SEP]. Of a pair that is too long, the longer text is cut
/// until both have as many tokens, as by `longest_first`.
TEST(Tokenizers, PairsHaveTypesAndAreCutOffAtTheLongerText) {
  auto tokenizer =
      llvm::cantFail(readTokenizer(MP_GOLDENS_DIR "/tokenizers/bert.json"));
  Token cls = *tokenizer->find("[CLS]"), sep = *tokenizer->find("[SEP]");
  Token a = encoded(*tokenizer, "a")[0], s = encoded(*tokenizer, "s")[0];
  auto pair = [&](StringRef first, StringRef second, size_t most) {
    return llvm::cantFail(encodeSample(*tokenizer, {first, second}, most));
  };
  Sample whole = pair("a a", "s", 10);
  EXPECT_EQ(whole.tokens, (Tokens{cls, a, a, sep, s, sep}));
  EXPECT_EQ(whole.types, (std::vector<uint8_t>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(pair("a", "", 10).tokens, (Tokens{cls, a, sep, sep}));
  EXPECT_EQ(pair("a a a a a", "s", 6).tokens, (Tokens{cls, a, a, sep, s, sep}));
  EXPECT_EQ(pair("a", "s s s s s", 6).tokens, (Tokens{cls, a, sep, s, s, sep}));
  EXPECT_EQ(pair("a a a a a", "s s s", 8).tokens,
            (Tokens{cls, a, a, a, sep, s, s, sep}));
  EXPECT_EQ(pair("a a a", "s s s", 2).tokens, (Tokens{cls, sep}));
}

/// The package's BertProcessing gives the second text the type 1, and
/// RobertaProcessing separates texts by two tokens without types.
TEST(Tokenizers, PairsOfOtherFiles) {
  auto of = [](StringRef type) {
    std::string text = R"({"model": {"type": "WordPiece", "unk_token": "u",
      "vocab": {"u": 0, "a": 1, "b": 2, "s": 3, "e": 4}},
      "pre_tokenizer": {"type": "Whitespace"},
      "post_processor": {"type": ")" +
                       type.str() + R"(", "cls": ["s", 3], "sep": ["e", 4]}})";
    auto tokenizer = llvm::cantFail(parseTokenizer(text, "t.json"));
    return llvm::cantFail(encodeSample(*tokenizer, {"a", "b"}, 10));
  };
  Sample bert = of("BertProcessing"), roberta = of("RobertaProcessing");
  EXPECT_EQ(bert.tokens, (Tokens{3, 1, 4, 2, 4}));
  EXPECT_EQ(bert.types, (std::vector<uint8_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(roberta.tokens, (Tokens{3, 1, 4, 4, 2, 4}));
  EXPECT_EQ(roberta.types, (std::vector<uint8_t>(6, 0)));
  EXPECT_EQ(
      llvm::cantFail(encodeSample(*byteTokenizer(), {StringRef("a"), "b"}, 3))
          .types,
      (std::vector<uint8_t>{0, 1}));
}

TEST(Tokenizers, BytesAndCharacters) {
  auto bytes = byteTokenizer();
  EXPECT_EQ(encoded(*bytes, "a\xFF"), (Tokens{97, 255}));
  EXPECT_EQ(bytes->decode({97, 255}), "a\xFF");
  TokenizerChoice choice("characters");
  llvm::cantFail(choice.add("béa\n"));
  llvm::cantFail(choice.add("ab𠀀"));
  auto characters = llvm::cantFail(choice.make());
  EXPECT_EQ(characters->vocabularySize(), 5u);
  EXPECT_EQ(encoded(*characters, "\nabé𠀀"), (Tokens{0, 1, 2, 3, 4}));
  EXPECT_EQ(characters->decode({4, 3, 0}), "𠀀é\n");
  EXPECT_EQ(characters->find("é"), 3u);
  Tokens tokens;
  EXPECT_EQ(message(characters->encode("ab!", tokens)),
            "byte 2: the vocabulary has no character like \"!\"");
  EXPECT_EQ(message(choice.add("a\x80")), "byte 1 is not UTF-8");
  // Its description names it.
  llvm::json::Object description;
  choice.describe(description);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(description));
  auto again = llvm::cantFail(parseTokenizer(text, "t.json"));
  EXPECT_EQ(encoded(*again, "\nabé𠀀"), (Tokens{0, 1, 2, 3, 4}));
}

TEST(Tokenizers, RefuseWhatIsNotUtf8) {
  auto tokenizer = llvm::cantFail(
      readTokenizer(MP_GOLDENS_DIR "/tokenizers/byte-level.json"));
  for (StringRef text : {"ab\x80", "ab\xC3", "ab\xED\xA0\x80",
                         "ab\xF5\x80\x80\x80", "ab\xC0\x80"}) {
    Tokens tokens;
    EXPECT_EQ(message(tokenizer->encode(text, tokens)), "byte 2 is not UTF-8");
  }
}

/// A file with a model and what else is given.
std::string file(const std::string &model, const std::string &rest = "") {
  return "{\"model\": " + model + rest + "}";
}

TEST(Tokenizers, NameTheFieldThatIsWrong) {
  auto fault = [](const std::string &text, const std::string &expected) {
    std::string found = message(parseTokenizer(text, "t.json"));
    EXPECT_EQ(found.substr(0, 8), "t.json: ") << found;
    EXPECT_HAS(found, expected);
  };
  const std::string bpe =
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},)"
      R"("merges": ["a b"]})";
  EXPECT_EQ(message(parseTokenizer(file(bpe), "t.json")), "no error");
  fault("", "Unexpected EOF");
  fault("[]", "expected a tokenizer.json");
  fault("{}", "model: expected an object, found none");
  fault(file("3"), "model: expected an object, found \"3\"");
  fault(file(R"({"type": "WordLevel"})"),
        "model.type: expected BPE, WordPiece or Unigram, found");
  fault(file(R"({"type": "BPE"})"), "model.vocab: expected an object");
  fault(file(R"({"type": "BPE", "vocab": {"a": -1}, "merges": []})"),
        "model.vocab.a: expected a whole number");
  fault(file(R"({"type": "BPE", "vocab": {"a": 4000000000}, "merges": []})"),
        "model.vocab: token 'a' is number 4000000000, expected numbers below");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1, "b": 1}, "merges": []})"),
        "are both token 1");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}})"),
        "model.merges: expected an array, found none");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}, "merges": ["a"]})"),
        "model.merges[0]: expected two tokens with a space between them");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}, "merges": ["a  b"]})"),
        "model.merges[0]: expected two tokens");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}, "merges": [["a"]]})"),
        "model.merges[0]: expected two tokens");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}, "merges": [["a", 1]]})"),
        "model.merges[0][1]: expected a string, found \"1\"");
  fault(file(R"({"type": "BPE", "vocab": {"a": 1}, "merges": ["a a"]})"),
        "needs the token 'aa', which the vocabulary has not");
  fault(file(R"({"type": "BPE", "vocab": {}, "merges": [], "unk_token": "x"})"),
        "model.unk_token: the vocabulary has no token 'x'");
  fault(file(R"({"type": "BPE", "vocab": {}, "merges": [], "dropout": 0.1})"),
        "model.dropout: expected none or 0, as all merges are made");
  fault(file(R"({"type": "WordPiece", "vocab": {"a": 0}})"),
        "model.unk_token: expected a string, found none");
  fault(file(bpe, R"(, "normalizer": {"type": "ByteLevel"})"),
        "normalizer.type: expected Sequence, BertNormalizer");
  fault(file(bpe, R"(, "normalizer": {"type": "Sequence"})"),
        "normalizer.normalizers: expected an array");
  fault(
      file(bpe, R"(, "pre_tokenizer": {"type": "ByteLevel", "use_regex": 1})"),
      "pre_tokenizer.use_regex: expected true or false");
  fault(file(bpe, R"(, "pre_tokenizer": {})"),
        "pre_tokenizer.type: expected a string, found none");
  fault(file(bpe, R"(, "decoder": {"type": "CTC"})"),
        "decoder.type: expected Sequence, ByteLevel");
  fault(file(bpe, R"(, "added_tokens": [{"id": 0, "content": "x"}])"),
        "added_tokens[0]: token 0 is 'x' here, and another one in the model");
  fault(file(bpe, R"(, "added_tokens": [{"id": 1e300, "content": "x"}])"),
        "added_tokens[0].id: expected a whole number");
  fault(file(bpe, R"(, "post_processor": {"type": "BertProcessing",)"
                  R"("sep": ["[SEP]", 7], "cls": ["a", 0]})"),
        "post_processor.sep: is not a token of the vocabulary");
  fault(file(bpe, R"(, "post_processor": {"type": "TemplateProcessing",)"
                  R"("single": [{"SpecialToken": {"id": "x"}}]})"),
        "post_processor.special_tokens.x.ids: expected an array");
  auto single = [&](const std::string &text) {
    return file(bpe, R"(, "post_processor": {"type": "TemplateProcessing",)"
                     R"("single": [{"Sequence": {"id": )" +
                         text + "}}]}");
  };
  fault(single(R"("B")"), "post_processor.single[0].Sequence.id: expected A");
  fault(single(R"("A", "type_id": 256)"),
        "Sequence.type_id: expected a type below 256");
  fault(R"({"tokenizer": "gpt2.json"})", "tokenizer: is gpt2.json: give that");
}

TEST(Tokenizers, FallBackToBytes) {
  std::string vocabulary = R"("<unk>": 0, "a": 1)";
  for (int byte = 0; byte < 256; ++byte)
    vocabulary += llvm::formatv(R"(, "<0x{0:X-2}>": {1})", byte, byte + 2);
  auto tokenizer = llvm::cantFail(parseTokenizer(
      file(R"({"type": "BPE", "byte_fallback": true, "unk_token": "<unk>",)"
           R"("merges": [], "vocab": {)" +
           vocabulary + "}}"),
      "t.json"));
  EXPECT_EQ(encoded(*tokenizer, "aé"), (Tokens{1, 0xC3 + 2, 0xA9 + 2}));
}

TEST(TokenFile, TypesHoldTheVocabulary) {
  EXPECT_EQ(llvm::cantFail(tokenType(65536, "")), ElementType::U16);
  EXPECT_EQ(llvm::cantFail(tokenType(65537, "")), ElementType::U32);
  EXPECT_EQ(llvm::cantFail(tokenType(100, "uint32")), ElementType::U32);
  EXPECT_EQ(message(tokenType(65537, "uint16")),
            "the vocabulary has 65537 tokens, and uint16 holds 65536: give "
            "--dtype uint32");
  std::string bytes;
  appendTokens({1, 65535}, ElementType::U16, bytes);
  EXPECT_EQ(bytes, std::string("\1\0\xFF\xFF", 4));
  EXPECT_EQ(tokensOf(bytes, ElementType::U16), (Tokens{1, 65535}));
}

} // namespace

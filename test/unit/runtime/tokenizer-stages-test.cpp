//===- tokenizer-stages-test.cpp - the stages of SentencePiece's kind -----===//
//
// What goldens/tokenizers.json has no case of: damaged files, expressions that
// are not read, and scores that are equal. The expected words are those of
// Hugging Face's package.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/text/CharacterMap.h"
#include "runtime/text/Stages.h"
#include "runtime/text/Tokenizer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mp;
using namespace mp::test;
using namespace mp::tokenizers;
using llvm::StringRef;

namespace {

/// A file with a small model and these other fields.
std::string with(const std::string &fields) {
  return R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, )" +
         fields + "}";
}

std::string unigram(const std::string &vocabulary,
                    const std::string &rest = R"(, "unk_id": 0)") {
  return R"({"model": {"type": "Unigram", "vocab": )" + vocabulary + rest +
         "}}";
}

void expectFault(const std::string &text, const std::string &expected) {
  EXPECT_HAS(message(parseTokenizer(text, "t.json")), "t.json: " + expected);
}

TEST(Unigram, NamesTheFieldThatIsWrong) {
  expectFault(unigram("{}"), "model.vocab: expected an array");
  expectFault(unigram(R"([["a"]])"),
              "model.vocab[0]: expected a piece and its score");
  expectFault(unigram(R"([["a", "b"]])"),
              "model.vocab[0][1]: expected a number");
  expectFault(unigram(R"([["a", 1e999]])"),
              "model.vocab[0][1]: expected a number");
  expectFault(unigram(R"([["a", 1], ["a", 2]])"),
              "model.vocab[1]: token 'a' is number 0 and 1");
  expectFault(unigram(R"([["a", 1]])", ""), "model.unk_id: expected a whole");
  expectFault(unigram(R"([["a", 1]])", R"(, "unk_id": 1)"),
              "model.unk_id: expected the place of a piece");
}

TEST(Unigram, TakesTheFirstOfEqualWaysAndJoinsUnknownCharacters) {
  auto tokenizer = llvm::cantFail(
      parseTokenizer(unigram(R"([["<unk>", 0], ["a", -1], ["b", -1],
                                 ["ab", -2], ["ba", -2], ["abc", -9]])"),
                     "t.json"));
  auto encoded = [&](StringRef text) {
    Tokens tokens;
    llvm::cantFail(tokenizer->encode(text, tokens));
    return tokens;
  };
  EXPECT_EQ(encoded("ab"), (Tokens{3}));
  EXPECT_EQ(encoded("aba"), (Tokens{1, 4}));
  EXPECT_EQ(encoded("xyab<unk>z"), (Tokens{0, 3, 0}));
  EXPECT_EQ(encoded("abc"), (Tokens{5}));
}

TEST(Stages, NameTheFieldThatIsWrong) {
  expectFault(with(R"("normalizer": {"type": "Strip", "strip_left": true})"),
              "normalizer.strip_right: expected true or false");
  expectFault(with(R"("normalizer": {"type": "Replace", "content": "",
                      "pattern": {"String": ""}})"),
              "normalizer.pattern.String: expected a text that is not empty");
  expectFault(with(R"("pre_tokenizer": {"type": "Metaspace",
                      "replacement": "__"})"),
              "pre_tokenizer.replacement: expected a character");
  expectFault(with(R"("pre_tokenizer": {"type": "Metaspace",
                      "replacement": "_", "prepend_scheme": "last"})"),
              "pre_tokenizer.prepend_scheme: expected always, first or never");
  expectFault(with(R"("pre_tokenizer": {"type": "Metaspace",
                      "replacement": "_", "prepend_scheme": "first",
                      "add_prefix_space": false})"),
              "pre_tokenizer.prepend_scheme: expected never, as");
  expectFault(with(R"("pre_tokenizer": {"type": "Split", "invert": false,
                      "pattern": {"String": "a"}, "behavior": "Merged"})"),
              "pre_tokenizer.behavior: expected Isolated, Removed");
  for (const auto &[stage, parts] :
       {std::pair("normalizer", "normalizers"),
        std::pair("pre_tokenizer", "pretokenizers"),
        std::pair("decoder", "decoders")})
    expectFault(with(llvm::formatv("\"{0}\": {{\"type\": \"Sequence\", "
                                   "\"{1}\": [null]}",
                                   stage, parts)),
                std::string(stage) + "." + parts +
                    "[0].type: expected a string, found none");
  expectFault(with(R"("decoder": {"type": "Strip", "content": "",
                      "start": 1, "stop": 0})"),
              "decoder.content: expected a character");
  expectFault(with(R"("decoder": {"type": "Sequence", "decoders":
                      [{"type": "Replace", "content": "",
                        "pattern": {"Regex": "a"}}]})"),
              "decoder.decoders[0].pattern.String: expected a string");
}

/// The bytes of a table of one key, "a", which stands for "bc".
std::string table() {
  // The root's children are at 0 ^ 1 ^ byte; the value of "a" is beside it.
  std::vector<uint32_t> units(256);
  units[0] = 1 << 10;
  units[1 ^ 'a'] = 'a' | 1 << 8 | 2 << 10;
  units[1 ^ 'a' ^ 2] = 1u << 31 | 1;
  std::string bytes;
  auto append = [&](uint32_t number) {
    for (int i = 0; i < 4; ++i)
      bytes += static_cast<char>(number >> (8 * i));
  };
  append(4 * units.size());
  for (uint32_t unit : units)
    append(unit);
  return bytes + std::string("\0bc\0", 4);
}

TEST(CharacterMap, ReplacesGraphemesByTheirBeginning) {
  auto map = llvm::cantFail(CharacterMap::read(table()));
  EXPECT_EQ(map.normalized("xaya"), "xbcybc");
  EXPECT_EQ(map.normalized("a\u0301"), "bc");      // 3 bytes
  EXPECT_EQ(map.normalized("a\u0301\u0301\u0301"), // 7 bytes
            "bc\u0301\u0301\u0301");
}

TEST(CharacterMap, IsRefusedIfDamaged) {
  auto fault = [](StringRef bytes, const std::string &expected) {
    EXPECT_HAS(message(CharacterMap::read(bytes)), expected);
  };
  std::string good = table(), bad = good;
  fault("abc", "expected a table of characters, found 3 bytes");
  fault(StringRef("\0\0\0\0", 4), "expected a trie of whole units");
  fault(StringRef(good).take_front(1000), "in 996 bytes, found one of 1024");
  bad[4 + 4 * (1 ^ 'a' ^ 2)] = 100; // the place of a text
  fault(bad, "unit 96 of the trie has no text");
  bad = good;
  bad[4 + 4 * (1 ^ 'a') + 3] = 1; // the place of the value
  fault(bad, "unit 96 of the trie has no text");
  bad = good;
  bad.back() = '\xFF';
  fault(bad, "byte 1031 is not UTF-8");
  fault(good + std::string(300, 'x'), "a text of more than 256 bytes stands");
  expectFault(with(R"("normalizer": {"type": "Precompiled",
                      "precompiled_charsmap": "AAA"})"),
              "normalizer.precompiled_charsmap: ");
  expectFault(with(R"("normalizer": {"type": "Precompiled",
                      "precompiled_charsmap": "AAAA"})"),
              "normalizer.precompiled_charsmap: expected a table");
}

/// The words of a text, with a bar between them.
std::string split(StringRef regex, StringRef text,
                  Behavior behavior = Behavior::Isolated) {
  std::string words;
  auto word = [&](Piece piece) {
    words += (words.empty() ? "" : "|") + piece.text.str();
  };
  Split split = {llvm::cantFail(Pattern::ofRegex(regex)), behavior};
  llvm::cantFail(split({text, true}, word));
  return words;
}

TEST(Pattern, MeansWhatItMeansToOniguruma) {
  EXPECT_EQ(split("x{1,2}+", "xxxxxa"), "xxxxx|a");
  EXPECT_EQ(split("x{,2}", "xxxa"), "xx|x|a");
  EXPECT_EQ(split("x{2}?y", "xxyy"), "xxy|y");
  EXPECT_EQ(split("\\w+", "e\u0301\u00b2-"), "e\u0301\u00b2|-");
  EXPECT_EQ(split("\\s", "a\u180e\u0085b"), "a\u180e|\u0085|b");
  EXPECT_EQ(split("^.", "ab\ncd"), "a|b\n|c|d");
  EXPECT_EQ(split("(?i:'S)", "'s'S"), "'s|'S");
  EXPECT_EQ(split("[\\u0061-\\x{63}]", "abcd"), "a|b|c|d");
}

TEST(Pattern, EmptyMatchesAreBetweenWords) {
  EXPECT_EQ(split("(?=b)", "abab"), "a|ba|b");
  EXPECT_EQ(split("x*", "axb", Behavior::Removed), "a|b");
}

TEST(Pattern, RefusesWhatWouldMeanSomethingElse) {
  for (StringRef regex :
       {"[a[b]]", "[a&&b]", "[[:alpha:]]", "(?i)a", "(?<name>a)", "(*FAIL)",
        "\\bword", "\\1", "\\Qa", "\\h", "\\pL", "[\\W]", "\\xE9", "(?i:ß)",
        "(?i:first)"})
    EXPECT_HAS(message(Pattern::ofRegex(regex)), "are not read with");
  for (StringRef regex : {"(", "a)", "*", "[a", "a**", "\\p{Klingon}", "[b-a]"})
    EXPECT_HAS(message(Pattern::ofRegex(regex)), "is no regular expression");
  expectFault(with(R"("pre_tokenizer": {"type": "Split", "invert": false,
                      "pattern": {"Regex": "("}, "behavior": "Removed"})"),
              "pre_tokenizer.pattern.Regex: is no regular expression");
}

/// It tries all ways to divide the letters, and ends with an error before long.
TEST(Pattern, TakesSoManySteps) {
  auto tokenizer = llvm::cantFail(
      parseTokenizer(with(R"("normalizer": {"type": "Replace", "content": "",
                              "pattern": {"Regex": "(?:a+)+$"}})"),
                     "t.json"));
  Tokens tokens;
  EXPECT_HAS(message(tokenizer->encode(std::string(100, 'a') + "b", tokens)),
             "matching a regular expression from byte 0 on: match limit");
}

TEST(Stages, MakeNoTextWithoutEnd) {
  auto sequence = [](const std::string &stage, const std::string &parts,
                     const std::string &part) {
    std::string all = part;
    for (int i = 0; i < 40; ++i)
      all += ", " + part;
    return with("\"" + stage + "\": {\"type\": \"Sequence\", \"" + parts +
                "\": [" + all + "]}");
  };
  for (const std::string &text :
       {sequence("normalizer", "normalizers",
                 R"({"type": "Replace", "content": "aa",
                     "pattern": {"String": "a"}})"),
        sequence("pre_tokenizer", "pretokenizers",
                 R"({"type": "ByteLevel", "use_regex": false})")}) {
    auto tokenizer = llvm::cantFail(parseTokenizer(text, "t.json"));
    Tokens tokens;
    EXPECT_HAS(message(tokenizer->encode("aé", tokens)),
               "make more than 65728 bytes of 3");
  }
  expectFault(with(R"("decoder": {"type": "Replace", "content": "aa",
                      "pattern": {"String": "a"}})"),
              "decoder.content: expected no longer text than that of the");
}

/// A character of bytes that may go on is printed when it is over.
TEST(Tokenizers, BytesAtTheEndAreNotSettled) {
  auto tokenizer =
      llvm::cantFail(readTokenizer(MP_GOLDENS_DIR "/tokenizers/llama-2.json"));
  Tokens tokens = {*tokenizer->find("<0xE2>"), *tokenizer->find("▁the"),
                   *tokenizer->find("<0xC3>"), *tokenizer->find("<0xA9>")};
  EXPECT_EQ(tokenizer->settled(tokens), 2u);
  EXPECT_EQ(tokenizer->decode(tokens), "\uFFFD theé");
  EXPECT_EQ(byteTokenizer()->settled(tokens), 4u);
}

} // namespace

//===- module-text-test.cpp - the scan before MLIR's parser ---------------===//
#include "program/Limits.h"
#include "program/ModuleText.h"
#include "program/MpVersion.h"
#include "support/Error.h"
#include "gtest/gtest.h"

using namespace mp;

namespace {

std::string repeated(llvm::StringRef part, size_t count) {
  std::string text;
  while (count--)
    text += part;
  return text;
}

/// "LINE:COLUMN: MESSAGE", or "" of a text without a fault.
std::string faultOf(const std::string &text, llvm::StringRef marker = "") {
  auto fault = findTextFault(text, marker);
  if (!fault)
    return "";
  return llvm::formatv("{0}:{1}: {2}", fault->line, fault->column,
                       fault->message);
}

constexpr char kDeep[] = "nests deeper than 256 brackets";

TEST(ModuleText, CountsBracketsOfAllKinds) {
  EXPECT_EQ(faultOf(repeated("(", 256)), "");
  EXPECT_EQ(faultOf("\n " + repeated("([{<", 65)),
            "2:258: " + std::string(kDeep));
  EXPECT_EQ(faultOf(repeated("(", 256) + "\n("), "2:1: " + std::string(kDeep));
}

TEST(ModuleText, CountsOpenBracketsAlone) {
  EXPECT_EQ(faultOf(repeated("([{<>}])", 1000)), "");
  // A closing bracket that closes none closes nothing.
  EXPECT_NE(faultOf(repeated("(]", 257)), "");
  EXPECT_NE(faultOf(repeated("(>", 257)), "");
}

TEST(ModuleText, KnowsArrowsAndComparisons) {
  EXPECT_EQ(faultOf(repeated("->", 300)), "");
  EXPECT_EQ(faultOf(repeated("(d0 <= 1)", 300)), "");
  EXPECT_EQ(faultOf(repeated("(d0 >= 1)", 300)), "");
  EXPECT_EQ(faultOf(repeated("tensor<2xf32>= ", 300)), "")
      << "'>' closes before '=', too";
  // An op of a plugin may compare.
  EXPECT_EQ(faultOf(repeated("(a < b)", 300)), "");
}

TEST(ModuleText, SkipsStringsAndComments) {
  EXPECT_EQ(faultOf("\"" + repeated("[", 300) + "\""), "");
  EXPECT_EQ(faultOf("// " + repeated("[", 300)), "");
  EXPECT_EQ(faultOf("\"\\\"" + repeated("[", 300) + "\""), "");
  // Neither goes on in the next line, and a comment in a string is none.
  EXPECT_NE(faultOf("// \"\n" + repeated("[", 300)), "");
  EXPECT_NE(faultOf("\"\n" + repeated("[", 300)), "");
  EXPECT_NE(faultOf("\"//\"" + repeated("[", 300)), "");
}

TEST(ModuleText, BeginsAgainAfterAMarker) {
  std::string text = repeated("{\n// -----\n", 300);
  EXPECT_EQ(faultOf(text, "// -----"), "");
  EXPECT_NE(faultOf(text), "");
}

TEST(ModuleText, CountsOperatorsOfAnExpression) {
  EXPECT_EQ(faultOf("d0" + repeated(" + s0 mod 2", 128)), "");
  EXPECT_EQ(faultOf("d0" + repeated(" + s0 mod 2", 129)),
            "1:1412: an expression has more than 256 operators");
  EXPECT_EQ(faultOf("[" + repeated("-1, ", 1000) + "]"), "");
}

/// Aliases of which each is in brackets of the next.
std::string chain(size_t count, llvm::StringRef value) {
  std::string text = "#a0 = [1]\n";
  for (size_t i = 1; i < count; ++i)
    text += llvm::formatv("#a{0} = ", i).str() +
            llvm::formatv(value.data(), i - 1).str();
  return text;
}

TEST(ModuleText, FollowsAliases) {
  EXPECT_EQ(faultOf(chain(256, "[#a{0}]\n")), "");
  EXPECT_EQ(faultOf(chain(257, "[#a{0}]\n")),
            "257:10: " + std::string(kDeep) + ", with the aliases written out");
  // Lines and signs between do not hide it.
  EXPECT_NE(faultOf(chain(300, "\n[#a{0}] ")), "");
  EXPECT_NE(faultOf(chain(300, "dense<1>\n : tensor<1xf32, #a{0}>\n")), "");
  EXPECT_NE(faultOf(chain(300, "() -> \n tuple\n<[#a{0}]>\n")), "");
}

TEST(ModuleText, EndsAliasesWhereTheirValueEnds) {
  std::string deep = repeated("{", 200) + repeated("}", 200);
  EXPECT_EQ(faultOf("#a = [1]\nmodule " + deep + "\nmodule " +
                    repeated("{", 100) + "#a" + repeated("}", 100)),
            "");
}

TEST(ModuleText, LimitsWhatAliasesWriteOut) {
  std::string text = "!a0 = tuple<i32>\n";
  for (int i = 1; i < 64; ++i)
    text += llvm::formatv("!a{0} = tuple<!a{1}, !a{1}>\n", i, i - 1);
  EXPECT_NE(faultOf(text).find("is longer than 256 MiB with the aliases"),
            std::string::npos);
  // Locations are shared, and never written out.
  text = "#loc0 = loc(\"f\":1:1)\n";
  for (int i = 1; i < 64; ++i)
    text += llvm::formatv("#loc{0} = loc(callsite(#loc{1} at #loc{1}))\n", i,
                          i - 1);
  EXPECT_EQ(faultOf(text), "");
}

TEST(ModuleText, FindsNewerVersions) {
  MpVersion newer = MpVersion::ours();
  ++newer.minor;
  std::string text = "module attributes {mp.version = \"";
  EXPECT_EQ(faultOf(text + newer.str() + "\"} {}"),
            "1:20: needs mp dialect " + newer.str() + ", this is " +
                MpVersion::ours().str());
  EXPECT_EQ(faultOf(text + MpVersion::ours().str() + "\"} {}"), "");
  EXPECT_EQ(faultOf("// mp.version = \"99.0\""), "");
}

TEST(ModuleText, RefusesBytecodeAndWhatIsTooLong) {
  EXPECT_NE(faultOf("ML\xEFR").find("is MLIR bytecode"), std::string::npos);
  std::string text(kMostModuleBytes, ' ');
  EXPECT_EQ(faultOf(text), "");
  EXPECT_EQ(faultOf(text + " "),
            "1:1: is longer than 256 MiB, which is no module");
}

TEST(ModuleText, ShowsControlsInCodesToo) {
  for (const char *text : {"\x1b[31m", "\"\\1B[31m\"", "\"\\E2\\80\\AE\"",
                           "\xE2\x80\xAE", "\xC2\x9B", "\"\\7F\""})
    EXPECT_TRUE(showsControls(text)) << withoutControls(text);
  for (const char *text : {"plain\n\ttext", "\"\\n \\22 \\\\ \"", "\xC3\xA4"})
    EXPECT_FALSE(showsControls(text)) << text;
}

TEST(WithoutControls, ShowsThemAsNumbers) {
  EXPECT_EQ(withoutControls("a\x1b[2J\x07\n\tb\x7f"),
            "a\\x1b[2J\\x07\n\tb\\x7f");
  EXPECT_EQ(withoutControls("\xC2\x9B\xC3\xA4"), "\\x9b\xC3\xA4");
  EXPECT_EQ(withoutControls("\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C"),
            "\\u202e\\u2066\\u061c");
  EXPECT_EQ(withoutControls("\xE2\x82\xAC \xE2\x80"), "\xE2\x82\xAC \xE2\x80");
}

TEST(MpVersion, ReadsTwoNumbersOrMore) {
  EXPECT_EQ(MpVersion::parse("0.5"), (MpVersion{0, 5}));
  EXPECT_EQ(MpVersion::parse("1.12.3"), (MpVersion{1, 12}));
  for (const char *text : {"", "1", "1.", "x.1", "1.2-rc", "1.2x", "-1.2"})
    EXPECT_FALSE(MpVersion::parse(text)) << text;
  EXPECT_LT((MpVersion{0, 9}), (MpVersion{0, 10}));
}

} // namespace

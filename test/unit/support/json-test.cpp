//===- json-test.cpp - JSON of files --------------------------------------===//
#include "support/Json.h"
#include <gtest/gtest.h>

using namespace mp;

namespace {

std::string read(llvm::StringRef text) {
  auto value = parseJson(text);
  return value ? value->getAsString().value_or("").str()
               : llvm::toString(value.takeError());
}

TEST(Json, CharactersOfTwoEscapes) {
  EXPECT_EQ(read(R"("\ud83d\ude00")"), "😀");
  EXPECT_EQ(read(R"("a\uD840\uDC00\udbff\udfffb")"), "a𠀀\U0010FFFFb");
  // A backslash, and no escape.
  EXPECT_EQ(read(R"("\\ud840\\udc00")"), R"(\ud840\udc00)");
  EXPECT_EQ(read(R"("\\\ud840\udc00\"")"), "\\𠀀\"");
  // Half of a pair is U+FFFD, as before.
  EXPECT_EQ(read(R"("\ud840x\udc00")"), "\uFFFDx\uFFFD");
  EXPECT_EQ(read(R"("\ud840\u0041")"), "\uFFFDA");
  // Text that ends within one.
  for (llvm::StringRef text : {R"("\ud8)", R"("\ud840\)", R"("\ud840\udc0)"})
    EXPECT_TRUE(llvm::StringRef(read(text)).starts_with("[1:")) << read(text);
}

} // namespace

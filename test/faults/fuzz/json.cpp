//===- json.cpp - fuzz target: JSON of files ------------------------------===//
//
// Of the two readers of JSON, JsonReader is the stricter one: what it takes,
// llvm::json takes too, and strings are the same.
//
//===----------------------------------------------------------------------===//
#include "support/Json.h"
#include "Target.h"
#include "support/JsonReader.h"

using namespace mp;
using namespace mp::fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text = textOf(data, size);
  auto value = parseJson(text);
  bool isParsed = succeeds(value);

  JsonReader reader(text);
  bool isTaken = llvm::json::isUTF8(text) && !reader.skip() && !reader.end();
  require(isTaken == reader.message().empty() || !llvm::json::isUTF8(text),
          "a failure without message");
  if (!isTaken)
    return 0;
  auto parsed = llvm::json::parse(text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    require(false, "llvm::json does not take it");
  }
  JsonReader again(text);
  JsonReader::String string;
  if (!isParsed) // it nests too deep
    return 0;
  if (auto expected = value->getAsString())
    require(!again.string(string) && string.str() == *expected,
            "a string is read otherwise");
  return 0;
}

//===- rows.cpp - fuzz target: JSON lines and CSV -------------------------===//
#include "runtime/text/Rows.h"
#include "Target.h"

using namespace mp;
using namespace mp::fuzz;
using tokenizers::RowFormat;

/// CSV after a 'c', tabs after a 't', else JSON lines.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text = textOf(data, size);
  RowFormat format = RowFormat::JsonLines;
  if (text.consume_front("c"))
    format = RowFormat::Csv;
  else if (text.consume_front("t"))
    format = RowFormat::Tsv;
  size_t last = 0;
  llvm::Error error = tokenizers::parseRows(
      text, format, {"a", "b"},
      [&](llvm::ArrayRef<std::string> values, size_t line) {
        require(values.size() == 2, "a row with other fields");
        require(line > last, "lines that do not rise");
        last = line;
        return llvm::Error::success();
      });
  if (error)
    require(!llvm::toString(std::move(error)).empty(),
            "an error without message");
  return 0;
}

//===- Tokens.cpp - files of the tokens of a text -------------------------===//
#include "runtime/data/Tokens.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Returns the type of the samples of a file of so many bytes.
static Expected<TensorType> typeOf(StringRef path, uint64_t bytes,
                                   const DataColumn &column) {
  unsigned width = byteWidth(column.element);
  if (bytes % width)
    return makeError("{0}: has {1} bytes, which are no whole number of tokens "
                     "of {2}: it is truncated, or in another format",
                     path, bytes, elementTypeName(column.element));
  auto tokens = static_cast<int64_t>(bytes / width);
  const TokenWindow &window = column.window;
  if (tokens < window.tokens)
    return makeError("{0}: has {1} tokens of {2}, which are fewer than the {3} "
                     "of a window",
                     path, tokens, elementTypeName(column.element),
                     window.tokens);
  int64_t windows = (tokens - window.tokens) / window.stride + 1;
  if (windows < window.streams)
    return makeError("{0}: has {1} windows, which are fewer than the {2} "
                     "streams",
                     path, windows, window.streams);
  windows -= windows % window.streams;
  return TensorType{column.element, {windows, column.shape.front()}};
}

Expected<TensorType> peekTokens(StringRef path, const DataColumn &column) {
  auto file = mapFile(path);
  if (!file)
    return file.takeError();
  return typeOf(path, (*file)->getBuffer().size(), column);
}

Expected<Array> readTokens(StringRef path, const DataColumn &column) {
  auto file = mapFile(path);
  if (!file)
    return file.takeError();
  StringRef content = (*file)->getBuffer();
  auto type = typeOf(path, content.size(), column);
  if (!type)
    return type.takeError();
  ArrayRef<char> bytes(content.data(), content.size());
  return Array{std::move(*type), bytes, *file, file->get()};
}

} // namespace mp

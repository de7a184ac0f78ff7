//===- DataColumn.cpp - what columns of data may say ----------------------===//
#include "program/Limits.h"
#include "program/Program.h"
#include "support/Error.h"

namespace mp {

/// Returns the bytes of a sample in a record; nothing if they are none or no
/// number of bytes.
static std::optional<int64_t> sampleBytes(const DataColumn &column) {
  int64_t bytes = byteWidth(column.element);
  for (int64_t size : column.shape)
    if (size < 1 || __builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  return bytes;
}

static std::string recordMistake(const DataColumn &column) {
  if (column.recordBytes < 1)
    return "has no record <bytes = N>, the size of a record";
  std::optional<int64_t> bytes = sampleBytes(column);
  if (!bytes)
    return "has a shape with a size that is no size";
  if (column.recordOffset < 0 || column.recordOffset > column.recordBytes ||
      *bytes > column.recordBytes - column.recordOffset)
    return llvm::formatv("has samples of {0} bytes from byte {1} on, which "
                         "leave records of {2} bytes",
                         *bytes, column.recordOffset, column.recordBytes);
  return "";
}

static std::string tokenMistake(const DataColumn &column) {
  if (column.element != ElementType::U8 && column.element != ElementType::U16 &&
      column.element != ElementType::U32)
    return "has elements other than ui8, ui16 and ui32, the types of tokens";
  if (column.shape.size() != 1 || !sampleBytes(column))
    return "has no shape[length], the tokens of a sample";
  const TokenWindow &window = column.window;
  if (window.tokens < 1)
    return "has no window <tokens = N, stride = N>, the tokens around a sample";
  if (window.stride < 1 || window.stride > kMostElements ||
      window.tokens > kMostElements)
    return llvm::formatv("has windows of {0} tokens, each {1} after the one "
                         "before, expected positive numbers below 2^48",
                         window.tokens, window.stride);
  if (window.offset < 0 || window.offset > window.tokens ||
      column.shape[0] > window.tokens - window.offset)
    return llvm::formatv("has samples of {0} tokens from token {1} on, which "
                         "leave windows of {2} tokens",
                         column.shape[0], window.offset, window.tokens);
  if (window.streams < 1 || window.streams > kMostCount)
    return llvm::formatv("has {0} streams, expected 1 to {1}", window.streams,
                         kMostCount);
  return "";
}

static std::string imageMistake(const DataColumn &column) {
  if (column.element != ElementType::U8)
    return "has elements other than ui8, the bytes of pictures";
  if (column.shape.size() != 3 || !sampleBytes(column))
    return "has no shape[height, width, channels], to which pictures are "
           "scaled";
  if (column.shape[0] > kMostSide || column.shape[1] > kMostSide)
    return llvm::formatv("has pictures of more than {0} pixels a side",
                         kMostSide);
  if (column.shape[2] != 1 && column.shape[2] != 3)
    return "has pictures of neither 1 channel nor 3";
  return "";
}

std::string columnMistake(const DataColumn &column) {
  if (column.format != "records" && column.recordBytes)
    return "has a record, which only records have";
  if (column.format != "tokens" && column.window.tokens)
    return "has a window, which only tokens have";
  if (column.format == "tokens")
    return tokenMistake(column);
  if (column.format == "records")
    return recordMistake(column);
  if (column.format == "images")
    return imageMistake(column);
  if (!column.shape.empty())
    return "has a shape, which the files say themselves";
  if (column.format == "classes" &&
      (isFloat(column.element) || column.element == ElementType::I1))
    return "has elements other than integers, the numbers of classes";
  return "";
}

} // namespace mp

//===- Records.cpp - files of records of one size -------------------------===//
#include "runtime/data/Records.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

/// Returns the number of records in `bytes` bytes.
static Expected<int64_t> countRecords(StringRef path, uint64_t bytes,
                                      int64_t record) {
  if (bytes && bytes % record == 0)
    return bytes / record;
  return makeError("{0}: has {1} bytes, which are no whole number of records "
                   "of {2} bytes: it is truncated, or in another format",
                   path, bytes, record);
}

Expected<TensorType> peekRecords(ArrayRef<std::string> paths,
                                 const DataColumn &column) {
  TensorType type{column.element, {0}};
  append_range(type.shape, column.shape);
  for (const std::string &path : paths) {
    auto file = mapFile(path);
    if (!file)
      return file.takeError();
    auto records =
        countRecords(path, (*file)->getBuffer().size(), column.recordBytes);
    if (!records)
      return records.takeError();
    type.shape.front() += *records;
  }
  return type;
}

/// Copies the sample of each record of a file to `to`, and moves it on.
static Error copySamples(StringRef content, const DataColumn &column,
                         uint64_t sampleBytes, MutableArrayRef<char> &to) {
  for (; !content.empty(); content = content.drop_front(column.recordBytes)) {
    // A file may have grown since its size was looked at.
    if (to.size() < sampleBytes ||
        content.size() < static_cast<uint64_t>(column.recordBytes))
      return makeError("has changed while it was being read");
    copy(content.substr(column.recordOffset, sampleBytes), to.begin());
    to = to.drop_front(sampleBytes);
  }
  return Error::success();
}

Expected<Array> readRecords(ArrayRef<std::string> paths,
                            const DataColumn &column) {
  auto type = peekRecords(paths, column);
  if (!type)
    return type.takeError();
  uint64_t sampleBytes = type->bytes() / type->shape.front();
  char *storage;
  Array array = Array::allocate(std::move(*type), &storage);
  MutableArrayRef<char> to(storage, array.bytes.size());
  for (const std::string &path : paths) {
    auto file = mapFile(path);
    if (!file)
      return file.takeError();
    if (Error error =
            copySamples((*file)->getBuffer(), column, sampleBytes, to))
      return makeError("{0}: {1}", path, toString(std::move(error)));
    if (Error changed = (*file)->check())
      return std::move(changed);
  }
  if (!to.empty())
    return makeError("{0}: has changed while it was being read", paths.back());
  return array;
}

} // namespace mp

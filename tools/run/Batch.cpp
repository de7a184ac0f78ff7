//===- Batch.cpp - the rows of a batch that no one chose ------------------===//
#include "tools/run/Batch.h"
#include <algorithm>

int64_t mp::tool::batchOf(uint64_t given, const DataSource *source) {
  if (given)
    return static_cast<int64_t>(given);
  int64_t streams = 1;
  if (source) // Datasets check that the columns agree.
    for (const DataColumn &column : source->columns)
      streams = std::max(streams, column.window.streams);
  return streams > 1 ? streams : 32;
}

//===- Batch.h - the rows of a batch that no one chose ----------*- C++ -*-===//
#ifndef MP_TOOLS_RUN_BATCH_H
#define MP_TOOLS_RUN_BATCH_H

#include "program/Program.h"

namespace mp::tool {

/// Returns the rows of a batch: those that were given or, if that is 0, a row
/// for each text that goes on from batch to batch in the data `source`, which
/// may be null, or else 32.
int64_t batchOf(uint64_t given, const DataSource *source);

} // namespace mp::tool

#endif // MP_TOOLS_RUN_BATCH_H

//===- Streams.h - standard input, output and error -----------------------===//
#ifndef MP_TOOLS_COMMON_STREAMS_H
#define MP_TOOLS_COMMON_STREAMS_H

namespace mp::tool {

/// Opens /dev/null in the place of standard streams that are closed. Otherwise,
/// the next file that is opened would take the place, and messages would be
/// written into it. Comes before any file is opened.
void openStandardStreams();

/// Flushes standard output. If it could not be written (the disk is full),
/// reports that and returns 1; else returns `code`. Messages that standard
/// error did not take are lost, and nothing more.
int finishStreams(int code);

/// Whether whoever read standard output is gone. If so, what was printed so far
/// is dropped, and the rest is no error.
bool dropUnreadOutput();

} // namespace mp::tool

#endif // MP_TOOLS_COMMON_STREAMS_H

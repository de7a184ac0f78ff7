//===- EventFile.h - event files as TensorBoard reads them ------*- C++ -*-===//
//
// A file of TFRecords, each with an Event message of TensorFlow's event.proto.
// Only the fields that scalars need are written.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_TRAIN_EVENTFILE_H
#define MP_RUNTIME_TRAIN_EVENTFILE_H

#include "runtime/train/Metrics.h"

namespace mp {

class EventFile {
public:
  /// Makes a new file in the folder, "events.out.tfevents.TIME.HOST.PID.N". A
  /// reader forgets what files before it say of `firstStep` and later steps.
  static llvm::Expected<EventFile> create(llvm::StringRef folder,
                                          int64_t firstStep);

  /// Adds the scalars of a step by their tags, such as "test/loss", with the
  /// time of this call.
  void add(int64_t step, const NamedNumbers &scalars);
  /// Writes what was added.
  llvm::Error flush();

private:
  explicit EventFile(OutputFile file) : file(std::move(file)) {}
  void addRecord(llvm::StringRef event);

  OutputFile file;
  std::string pending;
};

} // namespace mp

#endif // MP_RUNTIME_TRAIN_EVENTFILE_H

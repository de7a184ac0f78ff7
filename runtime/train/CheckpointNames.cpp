//===- CheckpointNames.cpp - the checkpoints of a run folder --------------===//
#include "runtime/train/CheckpointNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

static constexpr StringLiteral kBegin = kCheckpointBeginning,
                               kEnd = ".safetensors", kStep = "step-",
                               kEarlier = "earlier-run";

std::string checkpointOfStep(int64_t step) {
  return (kBegin + kStep + std::to_string(step) + kEnd).str();
}

std::string ofEarlierRun(StringRef name) {
  name.consume_front(kBegin.drop_back());
  return (kBegin + kEarlier + name).str();
}

/// The names of the files in the folder that are called like checkpoints.
static std::vector<std::string> namesIn(StringRef folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code)) {
    StringRef name = sys::path::filename(entry->path());
    if (name.starts_with(kBegin) && name.ends_with(kEnd))
      names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

static std::string in(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

std::vector<int64_t> stepsOfCheckpoints(StringRef folder) {
  std::vector<int64_t> steps;
  for (StringRef name : namesIn(folder)) {
    int64_t step;
    if (name.consume_front(kBegin) && name.consume_front(kStep) &&
        name.consume_back(kEnd) && !name.getAsInteger(10, step))
      steps.push_back(step);
  }
  llvm::sort(steps);
  return steps;
}

std::vector<std::string> earlierCheckpoints(StringRef folder) {
  std::vector<std::string> paths;
  for (StringRef name : namesIn(folder))
    if (name.starts_with((kBegin + kEarlier).str()))
      paths.push_back(in(folder, name));
  return paths;
}

std::vector<std::string> checkpointsIn(StringRef folder) {
  std::vector<std::string> paths;
  std::vector<std::string> names = namesIn(folder);
  for (StringRef known :
       {kNewestCheckpoint, kPreviousCheckpoint, kBestCheckpoint})
    if (is_contained(names, known))
      paths.push_back(in(folder, known));
  for (StringRef name : names)
    if (std::string path = in(folder, name); !is_contained(paths, path))
      paths.push_back(path);
  return paths;
}

std::string checkpointPath(StringRef path) {
  return sys::fs::is_directory(path) ? in(path, kNewestCheckpoint) : path.str();
}

} // namespace mp

//===- Verify.cpp - mp-run verify -----------------------------------------===//
#include "runtime/train/Checkpoint.h"
#include "runtime/train/CheckpointNames.h"
#include "support/Error.h"
#include "tools/run/Commands.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace mp::tool {

/// The files to verify: all checkpoints of a folder.
static std::vector<std::string> filesOf(StringRef path) {
  if (!sys::fs::is_directory(path))
    return {path.str()};
  std::vector<std::string> files = checkpointsIn(path);
  // Without the newest, its name is in the error.
  if (!llvm::is_contained(files, checkpointPath(path)))
    files.insert(files.begin(), checkpointPath(path));
  return files;
}

static Error verify(const std::string &path) {
  auto checkpoint = Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeError();
  outs() << path << ": step " << checkpoint->state().step << ", "
         << checkpoint->tensors() << " tensors, "
         << format("%.1f MiB: ", checkpoint->bytes() / 1048576.0)
         << (checkpoint->hasDigests()
                 ? "as it was written\n"
                 : "well formed; an earlier version wrote it, without digests "
                   "of its content\n");
  return Error::success();
}

int verifyRun(ArrayRef<const char *> arguments) {
  Command command{"verify", "RUN",
                  "Compares the checkpoints of a run folder, or one file, with "
                  "the digests that they\ncontain. Exits with 1 if one is "
                  "damaged, and names the tensor."};
  command.positional = 1;
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  const std::string &run = others->value().front();
  if (Error error = checkFiles({{"RUN", run, Names::InputRun}}))
    return report(std::move(error));
  Error damaged = Error::success();
  for (const std::string &file : filesOf(run))
    damaged = joinErrors(std::move(damaged), verify(file));
  return damaged ? report(std::move(damaged)) : 0;
}

} // namespace mp::tool

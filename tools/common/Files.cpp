//===- Files.cpp - the files that a command line names --------------------===//
#include "support/Error.h"
#include "support/OutputFile.h"
#include "tools/common/Options.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp::tool {

static bool isOutput(const NamedFile &file) {
  return file.names == Names::Output || file.names == Names::OutputRun;
}

static bool isRun(const NamedFile &file) {
  return file.names == Names::InputRun || file.names == Names::OutputRun;
}

/// Returns the path with the existing part of its folder resolved.
static std::string resolved(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  SmallString<256> real;
  if (sys::fs::real_path(folder.empty() ? "." : folder, real))
    return path.str();
  sys::path::append(real, sys::path::filename(path));
  return real.str().str();
}

static bool areSame(StringRef a, StringRef b) {
  return resolved(a) == resolved(b) || sys::fs::equivalent(a, b);
}

/// Whether writing `output` would change `other`.
static bool overwrites(StringRef output, const NamedFile &other) {
  if (sys::fs::exists(output) && !sys::fs::is_regular_file(output))
    return false;
  if (areSame(output, other.path))
    return true;
  if (!isRun(other))
    return false;
  for (StringRef name :
       {"metrics.jsonl", "summary.json", "plan.json", "casts.json",
        "ledger.jsonl", "non-finite.jsonl", "values.json",
        "checkpoint.safetensors", "checkpoint.previous.safetensors",
        "checkpoint.earlier-run.safetensors"}) {
    SmallString<256> part(other.path);
    sys::path::append(part, name);
    if (areSame(output, part))
      return true;
  }
  return false;
}

static Error checkOutput(const NamedFile &file) {
  if (file.names == Names::Output)
    return checkWritable(file.path);
  if (sys::fs::exists(file.path) && !sys::fs::is_directory(file.path))
    return makeError("{0} {1}: expected a folder, found a file", file.by,
                     file.path);
  return Error::success();
}

Error checkFiles(ArrayRef<NamedFile> files) {
  for (const NamedFile &file : files)
    if (file.path.empty())
      return make_error<UsageError>(file.by + " names no file");
  for (const NamedFile &file : files) {
    if (!isOutput(file))
      continue;
    for (const NamedFile &other : files)
      if (&other != &file && file.names == Names::Output &&
          overwrites(file.path, other))
        return make_error<UsageError>(
            formatv("{0} {1} would overwrite {2}{3}", file.by, file.path,
                    isOutput(other) ? "what is written by " : "", other.by));
    if (Error error = checkOutput(file))
      return error;
  }
  return Error::success();
}

} // namespace mp::tool

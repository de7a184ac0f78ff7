//===- TrainerFiles.cpp - what a run writes beside its metrics ------------===//
#include "runtime/train/Trainer.h"
#include "support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {

std::string Trainer::outPath(StringRef name) const {
  SmallString<256> path(options.out);
  sys::path::append(path, name);
  return path.str().str();
}

/// Of the run folder.
Error Trainer::writeFile(StringRef name, StringRef text) {
  return writeAtomically(outPath(name),
                         [&](OutputFile &file) { return file.write(text); });
}

Error Trainer::makeRunFolder() {
  if (std::error_code code = sys::fs::create_directories(options.out))
    return makeError("cannot make run folder {0}: {1}", options.out,
                     code.message());
  removeAbandoned(outPath("checkpoint.safetensors"));
  // What is known before the first step, as a run that does not end is looked
  // at too. What is written at the end, or of the whole run by mp-run report,
  // is of another run where it is there already.
  for (StringRef name : {"summary.json", "report.html", "values.json"})
    if (std::string old = outPath(name);
        run.step == 0 && sys::fs::is_regular_file(old))
      if (std::error_code code = sys::fs::remove(old))
        return makeError("cannot remove {0}: {1}", old, code.message());
  if (const std::optional<PlanReport> &memory = model->memoryPlan()) {
    PlanReport report = *memory;
    report.policy = run.policy;
    if (Error error = writeFile("plan.json", toJson(report)))
      return error;
  }
  return casts.empty() ? Error::success()
                       : writeFile("casts.json", casts + "\n");
}

/// A new run in the folder of an earlier one: what that one learnt gets another
/// name just before it is replaced, rather than being lost to a forgotten
/// --resume.
Error Trainer::saveKeepingEarlier() {
  std::string path = outPath("checkpoint.safetensors");
  std::string previous = outPath("checkpoint.previous.safetensors");
  if (!sys::fs::exists(path))
    return save(path);
  std::error_code failed = sys::fs::remove(previous);
  // Where a folder has no links, a copy does.
  if (!failed && sys::fs::create_hard_link(path, previous))
    failed = sys::fs::copy_file(path, previous);
  if (failed)
    return makeError("{0}: cannot keep the earlier checkpoint: {1}", previous,
                     failed.message());
  Error error = save(path);
  if (error)
    failed = sys::fs::remove(previous);
  return error;
}

} // namespace mp

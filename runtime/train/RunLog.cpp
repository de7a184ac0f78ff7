//===- RunLog.cpp - a file of a run with a line for some steps ------------===//
#include "runtime/train/RunLog.h"
#include "support/Error.h"

using namespace llvm;

namespace mp {

Error RunLog::open() {
  auto opened = MetricsFile::open(run.path(name), run.state.step);
  if (!opened)
    return opened.takeError();
  file.emplace(std::move(*opened));
  return Error::success();
}

void RunLog::add(int64_t step, StringRef object) {
  if (file)
    file->add(step, object);
}

void RunLog::say(const Twine &text) {
  if (!run.options.log)
    return;
  progress.endLine();
  *run.options.log << "note: " << withoutControls(text.str()) << "\n";
}

void RunLog::flush() {
  if (!file)
    return;
  Error error = file->flush();
  if (!error) {
    if (std::exchange(hasWarned, false))
      say(name + " is written again");
    return;
  }
  std::error_code code;
  std::string text;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    code = info.convertToErrorCode();
    text = info.message();
  });
  if (code == std::errc::broken_pipe) {
    file.reset();
    say(text + "; the run goes on without it");
  } else if (!std::exchange(hasWarned, true))
    say(text + "; the run goes on, and its lines are kept until there is room");
}

Error RunLog::finish() {
  if (file && file->hasPending())
    flush();
  return file && file->hasPending() ? file->flush() : Error::success();
}

} // namespace mp

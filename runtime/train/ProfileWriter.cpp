//===- ProfileWriter.cpp - what a step costs, after a run -----------------===//
#include "runtime/train/ProfileWriter.h"

using namespace llvm;

namespace mp {

Error ProfileWriter::runEnded(const TrainOutcome &outcome) {
  if (run.options.profile.empty() || outcome.signal)
    return Error::success();
  Expected<Profile> profile = steps.profile();
  if (!profile)
    return profile.takeError();
  return writeAtomically(run.options.profile, [&](OutputFile &file) {
    return file.write(toJson(*profile));
  });
}

} // namespace mp

//===- Compiler.cpp - the names of entry points ---------------------------===//
#include "program/Compiler.h"
#include "program/Names.h"

using namespace llvm;

namespace mp {

std::string entryName(const CompileOptions &options, StringRef phase,
                      StringRef function) {
  switch (options.goal) {
  case Goal::Train:
    return phase.empty() ? kStepEntry.str() : phase.str();
  case Goal::Diagnose:
    return phase.empty() ? kDiagnoseEntry.str()
                         : (kDiagnoseEntry + "." + phase).str();
  case Goal::Evaluate:
    return kEvaluateEntry.str();
  case Goal::Predict:
    return kPredictEntry.str();
  case Goal::Decode:
    return decodeEntry(options.tokens);
  case Goal::Encode:
    return kEncodeEntry.str();
  case Goal::Calibrate:
    return kCalibrateEntry.str();
  case Goal::Run:
  case Goal::Inspect:
    return function.str();
  }
  llvm_unreachable("all goals covered");
}

} // namespace mp

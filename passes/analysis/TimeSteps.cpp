//===- TimeSteps.cpp - which time step of a loop an op is of --------------===//
#include "passes/analysis/TimeSteps.h"

using namespace mlir;
using namespace mp;

static constexpr llvm::StringLiteral kTimeStep = "time step ";

Location mp::inTimeStep(Location op, Location loop, int64_t step) {
  auto name = StringAttr::get(op.getContext(), kTimeStep + Twine(step));
  return CallSiteLoc::get(op, NameLoc::get(name, loop));
}

/// Returns the time step that a call stands for; nothing for other calls.
static std::optional<uint32_t> timeStepOf(CallSiteLoc call) {
  auto caller = dyn_cast<NameLoc>(call.getCaller());
  StringRef name = caller ? caller.getName().getValue() : StringRef();
  uint32_t step = 0;
  if (!name.consume_front(kTimeStep) || name.getAsInteger(10, step))
    return std::nullopt;
  return step;
}

std::optional<PlaceInSteps> mp::placeInSteps(Location location) {
  if (auto place = dyn_cast<FileLineColLoc>(location))
    return PlaceInSteps{place, {}};
  if (auto name = dyn_cast<NameLoc>(location))
    return placeInSteps(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    auto found = placeInSteps(call.getCallee());
    if (!found)
      found = placeInSteps(call.getCaller());
    if (auto step = timeStepOf(call); found && step)
      found->timeSteps.insert(found->timeSteps.begin(), *step);
    return found;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location one : fused.getLocations())
      if (auto found = placeInSteps(one))
        return found;
  return std::nullopt;
}

Location mp::withoutTimeSteps(Location location) {
  auto call = dyn_cast<CallSiteLoc>(location);
  if (!call)
    return location;
  Location callee = withoutTimeSteps(call.getCallee());
  if (timeStepOf(call))
    return callee;
  return CallSiteLoc::get(callee, withoutTimeSteps(call.getCaller()));
}

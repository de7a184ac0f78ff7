//===- StepDiagnosis.cpp - a step with a record of each op ----------------===//
#include "runtime/train/StepDiagnosis.h"
#include "program/Names.h"
#include "runtime/data/Convert.h"

using namespace llvm;

namespace mp {

namespace {
/// Sets the state that every step attempt changes back to what the last attempt
/// found, as long as this exists.
class Rewound {
public:
  Rewound(Session &session, double scale) : session(session) {
    for (const Variable &variable : session.variables()) {
      bool isScale = variable.role.kind == VariableRole::Kind::Scale;
      if (!isScale && variable.kind != VariableKind::Attempt)
        continue;
      std::vector<char> bytes(variable.type.bytes());
      if (Error error = session.read(variable.name, bytes)) {
        consumeError(std::move(error)); // the next run reports it
        continue;
      }
      kept.emplace_back(variable.name, bytes);
      ElementType type = variable.type.element;
      storeElement(type, isScale ? scale : loadElement(type, bytes.data()) - 1,
                   bytes.data());
      consumeError(session.write(variable.name, bytes));
    }
  }
  ~Rewound() {
    for (auto &[name, bytes] : kept)
      consumeError(session.write(name, bytes));
  }
  Rewound(const Rewound &) = delete;

private:
  Session &session;
  std::vector<std::pair<std::string, std::vector<char>>> kept;
};
} // namespace

/// The entry point that takes a micro-batch, or the whole step.
StringRef StepDiagnosis::micro() const {
  return gathers ? kDiagnoseAccumulateEntry : kDiagnoseEntry;
}

Expected<bool> StepDiagnosis::run(Executable::Inputs inputs, BatchSize size) {
  return run(micro(), inputs, size);
}

Expected<bool> StepDiagnosis::run(Prefetcher &batches, BatchSize size) {
  auto executable = model.get(Goal::Diagnose, micro(), size);
  if (!executable)
    return executable.takeError();
  auto batch = batches.take((*executable)->entry());
  if (!batch)
    return batch.takeError();
  return run(*batch, size);
}

Expected<bool> StepDiagnosis::apply(BatchSize size) {
  return run(kDiagnoseApplyEntry, {}, size);
}

Expected<bool> StepDiagnosis::run(StringRef function, Executable::Inputs inputs,
                                  BatchSize size) {
  auto executable = model.get(Goal::Diagnose, function, size);
  if (!executable)
    return executable.takeError();
  std::optional<Rewound> rewound;
  if (skippedScale)
    rewound.emplace(model.session(), *skippedScale);
  auto results = (*executable)->run(inputs, Executable::Ranges::Known);
  if (!results)
    return results.takeError();
  if (origin)
    return false;
  const Entry &entry = (*executable)->entry();
  origin = findNonFiniteOrigin(entry, readRecords(entry, *results),
                               /*applied=*/true, /*isCertain=*/!gathers);
  return origin.has_value();
}

} // namespace mp

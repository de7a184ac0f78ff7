//===- LintFindings.cpp - findings of mp-lint -----------------------------===//
#include "passes/inspect/LintFindings.h"
#include "dialect/ops/Autocast.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/analysis/TimeSteps.h"
#include "program/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mp;

/// The names of the checks, in the order of the enum.
static constexpr StringLiteral kNames[] = {
    "f16-without-scaler",  "no-master-weight", "lost-constant",
    "lost-epsilon",        "sum-overflow",     "exp-overflow",
    "softmax-without-max", "cut-gradient"};

std::string mp::numberText(double value) {
  return llvm::formatv("{0}", llvm::format("%g", value)).str();
}

LintFindings::LintFindings() : enabled(std::size(kNames), true) {}

LogicalResult LintFindings::disable(Operation *op,
                                    ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    const auto *known = llvm::find(kNames, name);
    if (known == std::end(kNames))
      return op->emitError()
             << "unknown check \"" << name << "\", expected one of "
             << llvm::join(ArrayRef(kNames), ", ");
    enabled.reset(known - std::begin(kNames));
  }
  return success();
}

void LintFindings::setContext(mlir::Location location, std::string text) {
  ofTimeSteps.clear();
  context.emplace(location, std::move(text));
}

void LintFindings::rememberRegions(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto region = op->getParentOfType<AutocastOp>())
      regions.insert({LocationAttr(op->getLoc()), region.getLoc()});
  });
}

void LintFindings::add(Finding finding) {
  if (!isEnabled(finding.check))
    return;
  if (finding.check == LintCheck::CutGradient)
    for (auto [location, text] : llvm::to_vector(finding.notes))
      if (auto region = regions.find(LocationAttr(location));
          region != regions.end())
        finding.notes.push_back({region->second, "in this region"});
  if (context && finding.location != context->first)
    finding.notes.push_back(*context);
  if (!joinTimeStep(finding))
    findings.push_back(std::move(finding));
}

/// The text without its numbers, which differ between time steps.
static std::string withoutNumbers(StringRef text) {
  std::string words;
  llvm::copy_if(text, std::back_inserter(words),
                [](char c) { return !llvm::isDigit(c); });
  return words;
}

bool LintFindings::joinTimeStep(Finding &finding) {
  auto found = placeInSteps(finding.location);
  if (!found || found->timeSteps.empty())
    return false;
  finding.location = withoutTimeSteps(finding.location);
  finding.timeStep = textOfTimeSteps(found->timeSteps);
  for (auto &[location, text] : finding.notes)
    location = withoutTimeSteps(location);
  auto [known, isNew] =
      ofTimeSteps.insert({{finding.location.getAsOpaquePointer(), finding.check,
                           withoutNumbers(finding.text)},
                          findings.size()});
  if (!isNew)
    ++findings[known->second].moreTimeSteps;
  return !isNew;
}

/// "in time step 0, and in 34 more"
static std::string whenFound(const LintFindings::Finding &finding) {
  std::string text = "in " + finding.timeStep;
  if (finding.moreTimeSteps)
    text += ", and in " + std::to_string(finding.moreTimeSteps) + " more";
  return text;
}

/// Returns line and column; an op without a place in a file comes first.
static std::pair<unsigned, unsigned> placeOf(mlir::Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return {place.getLine(), place.getColumn()};
  return {0, 0};
}

void LintFindings::emit() {
  // Findings at one place stay in their order.
  std::vector<std::tuple<std::pair<unsigned, unsigned>, size_t>> order;
  for (auto [index, finding] : llvm::enumerate(findings))
    order.push_back({placeOf(finding.location), index});
  llvm::sort(order);
  llvm::DenseSet<std::pair<Attribute, StringRef>> told;
  for (auto [place, index] : order) {
    const Finding &finding = findings[index];
    // Duplicates come from a function that two recipes train, or a constant
    // cast twice.
    if (!told.insert({LocationAttr(finding.location), finding.text}).second)
      continue;
    InFlightDiagnostic diagnostic = emitWarning(finding.location)
                                    << finding.text << " ["
                                    << kNames[unsigned(finding.check)] << "]";
    if (!finding.timeStep.empty())
      diagnostic.attachNote(finding.location) << whenFound(finding);
    for (const auto &[location, text] : finding.notes)
      diagnostic.attachNote(location) << text;
  }
}

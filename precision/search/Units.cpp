//===- Units.cpp - the ops that a search may set low ----------------------===//
#include "precision/search/Units.h"
#include "codegen/plan/Describe.h"
#include "dialect/ops/Autocast.h"
#include "passes/analysis/Constants.h"
#include "passes/autocast/AutocastCasts.h"
#include "precision/compare/Work.h"
#include "support/Json.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace mp::precision {

std::string Unit::place() const {
  if (source.line == 0)
    return StringRef(entry).split('@').second.str();
  return llvm::formatv("{0}:{1}", source.line, source.column);
}

void Units::describeTo(ColouringProblem &problem) const {
  for (const Unit &unit : free) {
    StringRef kind = unit.kind;
    kind.consume_front("mp.");
    auto known = llvm::find(problem.kindNames, kind);
    problem.kinds.push_back(known - problem.kindNames.begin());
    if (known == problem.kindNames.end())
      problem.kindNames.push_back(kind.str());
    problem.names.push_back((kind + " " + unit.place()).str());
  }
}

/// Whether the outermost policy decides on the op.
static bool isDecided(AutocastOpInterface op) {
  if (Policy::decideByWord(op) || eligibleOperands(op).empty())
    return false;
  for (auto region = op->getParentOfType<AutocastOp>(); region;
       region = region->getParentOfType<AutocastOp>())
    if (region.getPolicy() || !region.getEnabled().value_or(true))
      return false;
  return true;
}

static bool canBeLow(AutocastOpInterface op, FloatType low) {
  return llvm::all_of(eligibleOperands(op), [&](OpOperand *operand) {
    return whyNotExact(operand->get(), low).empty();
  });
}

/// Returns the names of an op, from the one that survives most changes of the
/// text to the most exact, if a file in JSON can have them.
static std::vector<std::string> entriesOf(Operation *op) {
  std::vector<std::string> names = placeNames(op);
  llvm::erase_if(
      names, [](const std::string &name) { return !llvm::json::isUTF8(name); });
  std::reverse(names.begin(), names.end());
  return names;
}

llvm::Expected<Units> findUnits(const Subject &subject,
                                const Setting &setting) {
  Work work(subject.text, subject.filename, subject.onWarning);
  auto function = prepare(work, subject);
  if (!function)
    return function.takeError();
  FloatType low = setting.dtype == "f16"
                      ? FloatType(Float16Type::get(&work.context))
                      : FloatType(BFloat16Type::get(&work.context));
  SmallVector<AutocastOpInterface> ops;
  llvm::StringMap<unsigned> uses;
  function->walk([&](AutocastOpInterface op) {
    for (const std::string &name : entriesOf(op))
      ++uses[name];
    if (isDecided(op) && !entriesOf(op).empty())
      ops.push_back(op);
  });
  Units units;
  llvm::StringMap<size_t> known;
  for (AutocastOpInterface op : ops) {
    std::vector<std::string> entries = entriesOf(op);
    auto own = llvm::find_if(
        entries, [&](const std::string &name) { return uses[name] == 1; });
    std::string entry = own == entries.end() ? entries.back() : *own;
    Unit unit{op->getName().getStringRef().str(),
              entry,
              locate(op->getLoc()),
              {numberOf(op)}};
    if (!canBeLow(op, low)) {
      units.fixed.push_back(std::move(unit));
      continue;
    }
    auto [at, isNew] = known.try_emplace(entry, units.free.size());
    if (isNew)
      units.free.push_back(std::move(unit));
    else
      units.free[at->second].ops.push_back(numberOf(op));
  }
  return units;
}

Colouring colouringOf(const Units &units, const Variant &variant,
                      StringRef dtype) {
  Colouring colouring;
  for (const Unit &unit : units.free)
    colouring.push_back(variant.ops.at(unit.ops.front()).runsIn == dtype);
  return colouring;
}

std::string toPolicy(const Units &units, const Colouring &colouring,
                     StringRef name, StringRef about, StringRef dtype) {
  llvm::StringMap<std::pair<unsigned, unsigned>> kinds; // low, and all
  for (auto [unit, isLow] : llvm::zip_equal(units.free, colouring)) {
    kinds[unit.kind].first += isLow;
    ++kinds[unit.kind].second;
  }
  for (const Unit &unit : units.fixed)
    ++kinds[unit.kind].second;
  llvm::json::Array allow;
  std::vector<std::string> listed;
  for (auto [unit, isLow] : llvm::zip_equal(units.free, colouring)) {
    auto [low, all] = kinds[unit.kind];
    const std::string &entry = low == all ? unit.kind : unit.entry;
    if (!isLow || llvm::is_contained(listed, entry))
      continue;
    listed.push_back(entry);
    allow.push_back(entry);
  }
  // This is the order for a reader, which an object does not have.
  std::string text;
  llvm::raw_string_ostream os(text);
  auto field = [&](StringRef key, const llvm::json::Value &value) {
    os << (text.empty() ? "{\n " : ",\n ") << llvm::json::Value(key) << ": "
       << llvm::formatv("{0}", value);
  };
  field("name", name);
  field("about", validUtf8(about));
  field("system", "class");
  field("dtypes", llvm::json::Array{dtype});
  field("unlisted", "deny");
  if (!allow.empty()) {
    os << ",\n \"allow\": [";
    for (auto [i, entry] : llvm::enumerate(allow))
      os << (i ? ",\n  " : "\n  ") << entry;
    os << "\n ]";
  }
  os << "\n}\n";
  return text;
}

} // namespace mp::precision

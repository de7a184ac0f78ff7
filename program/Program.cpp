//===- Program.cpp - names, sizes and look-ups of a Program ---------------===//
#include "program/Program.h"
#include "program/Names.h"
#include "support/Permutation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace mp {

namespace {

struct ElementFact {
  ElementType type;
  llvm::StringLiteral name;
  unsigned bytes;
};

constexpr ElementFact kElementFacts[] = {
    {ElementType::I1, "i1", 1},         {ElementType::I8, "i8", 1},
    {ElementType::U8, "ui8", 1},        {ElementType::I32, "i32", 4},
    {ElementType::I64, "i64", 8},       {ElementType::F16, "f16", 2},
    {ElementType::BF16, "bf16", 2},     {ElementType::F32, "f32", 4},
    {ElementType::F64, "f64", 8},       {ElementType::F8E4M3FN, "f8E4M3FN", 1},
    {ElementType::F8E5M2, "f8E5M2", 1}, {ElementType::I16, "i16", 2},
    {ElementType::U16, "ui16", 2},      {ElementType::U32, "ui32", 4},
};

const ElementFact &factOf(ElementType type) {
  const auto *fact = llvm::find_if(
      kElementFacts, [&](const ElementFact &f) { return f.type == type; });
  if (fact == std::end(kElementFacts))
    llvm_unreachable("element type without a fact");
  return *fact;
}

constexpr std::pair<VariableKind, llvm::StringLiteral> kKindNames[] = {
    {VariableKind::Parameter, "parameter"}, {VariableKind::Buffer, "buffer"},
    {VariableKind::Slot, "slot"},           {VariableKind::Scaler, "scaler"},
    {VariableKind::Attempt, "attempt"},     {VariableKind::Derived, "derived"},
    {VariableKind::Window, "window"},
};

constexpr std::pair<VariableRole::Kind, llvm::StringLiteral> kRoleNames[] = {
    {VariableRole::Kind::Slot, "slot"},
    {VariableRole::Kind::Average, "average"},
    {VariableRole::Kind::Count, "count"},
    {VariableRole::Kind::Scale, "scale"},
    {VariableRole::Kind::Tracker, "tracker"},
    {VariableRole::Kind::History, "history"},
    {VariableRole::Kind::Position, "position"},
};

} // namespace

unsigned byteWidth(ElementType type) { return factOf(type).bytes; }

llvm::StringRef elementTypeName(ElementType type) { return factOf(type).name; }

std::optional<ElementType> parseElementType(llvm::StringRef name) {
  for (const ElementFact &fact : kElementFacts)
    if (fact.name == name)
      return fact.type;
  return std::nullopt;
}

llvm::StringRef variableKindName(VariableKind kind) {
  for (const auto &[candidate, name] : kKindNames)
    if (candidate == kind)
      return name;
  llvm_unreachable("variable kind without a name");
}

std::optional<VariableKind> parseVariableKind(llvm::StringRef name) {
  for (const auto &[kind, candidate] : kKindNames)
    if (candidate == name)
      return kind;
  return std::nullopt;
}

llvm::StringRef roleKindName(VariableRole::Kind kind) {
  for (const auto &[candidate, name] : kRoleNames)
    if (candidate == kind)
      return name;
  return "";
}

std::optional<VariableRole::Kind> parseRoleKind(llvm::StringRef name) {
  for (const auto &[kind, candidate] : kRoleNames)
    if (candidate == name)
      return kind;
  return std::nullopt;
}

int64_t TensorType::elements() const {
  int64_t product = 1;
  for (int64_t dim : shape)
    product *= dim;
  return product;
}

TensorType TensorType::permuted(llvm::ArrayRef<int64_t> dims) const {
  return {element, mp::permuted(shape, dims)};
}

std::string TensorType::str() const {
  std::string text;
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text + elementTypeName(element).str();
}

std::string Location::str() const {
  if (line == 0)
    return "";
  std::string text =
      file + ":" + std::to_string(line) + ":" + std::to_string(column);
  return timeSteps.empty() ? text : text + " in " + textOfTimeSteps(timeSteps);
}

std::string textOfTimeSteps(llvm::ArrayRef<uint32_t> outermostFirst) {
  std::string text;
  for (uint32_t step : llvm::reverse(outermostFirst))
    text +=
        (text.empty() ? "" : " of ") + ("time step " + std::to_string(step));
  return text;
}

std::string at(const Location &location) {
  std::string text = location.str();
  return text.empty() ? text : " (" + text + ")";
}

static constexpr llvm::StringLiteral kRecordFactNames[kRecordFacts] = {
    "magnitude", "nonfinite", "least", "largest", "row"};

llvm::StringRef recordFactName(RecordFact fact) {
  return kRecordFactNames[static_cast<size_t>(fact)];
}

std::optional<RecordFact> parseRecordFact(llvm::StringRef name) {
  const auto *found = llvm::find(kRecordFactNames, name);
  if (found == std::end(kRecordFactNames))
    return std::nullopt;
  return static_cast<RecordFact>(found - kRecordFactNames);
}

const Call::Attribute *Call::find(llvm::StringRef name) const {
  for (const auto &[candidate, value] : attributes)
    if (candidate == name)
      return &value;
  return nullptr;
}

bool Entry::isCalled(llvm::StringRef name) const {
  if (name == function)
    return true;
  if (recipe.empty() || !name.consume_front(recipe))
    return false;
  return name.empty() ? function == kStepEntry
                      : name.consume_front(".") && name == function;
}

std::vector<std::vector<uint32_t>> Entry::repeatsOfSteps() const {
  std::vector<std::vector<uint32_t>> around(steps.size());
  for (uint32_t i = 0; i < steps.size(); ++i)
    if (const auto *repeat = std::get_if<Repeat>(&steps[i]))
      for (uint32_t inner = i + 1; inner <= i + repeat->steps; ++inner)
        around[inner].push_back(i);
  return around;
}

std::vector<int64_t> Entry::roundsOfSteps() const {
  std::vector<int64_t> rounds(steps.size(), 1);
  for (auto [own, around] : llvm::zip_equal(rounds, repeatsOfSteps()))
    for (uint32_t repeat : around)
      own *= std::get<Repeat>(steps[repeat]).rounds;
  return rounds;
}

const Entry *Program::find(llvm::StringRef function, int64_t batch) const {
  for (const Entry &entry : entries)
    if (entry.isCalled(function) && entry.batch == batch)
      return &entry;
  return nullptr;
}

} // namespace mp

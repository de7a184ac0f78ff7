//===- BoundInputs.cpp - a call's tensors by name -------------------------===//
#include "api/run/StepImpl.h"
#include "runtime/InputCheck.h"
#include "support/Error.h"
#include "support/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mantissa {

BoundInputs::BoundInputs(const mp::Entry &entry, int64_t parts)
    : entry(&entry), whole(entry.inputs.size()), views(entry.inputs.size()) {
  for (const mp::Input &input : entry.inputs) {
    types.push_back(input.type);
    // A product that is too large is the size of no tensor.
    if (auto &shape = types.back().shape; !shape.empty())
      shape.front() = SaturatingMultiply<uint64_t>(shape.front(), parts);
  }
}

std::vector<TensorInfo> BoundInputs::describe() const {
  std::vector<TensorInfo> infos;
  for (auto [input, type] : zip_equal(entry->inputs, types))
    infos.push_back({input.name, type, "input"});
  return infos;
}

/// The name of an input, or its place among all if it has none.
static std::string nameOf(const mp::Entry &entry, size_t index) {
  const std::string &name = entry.inputs[index].name;
  return name.empty() ? std::to_string(index) : name;
}

Error BoundInputs::bind(NamedTensors tensors) {
  if (tensors.size() != entry->inputs.size())
    return otherNames(tensors);
  for (size_t i = 0; i < entry->inputs.size(); ++i) {
    const NamedTensor *found = find(i, tensors);
    if (!found)
      return otherNames(tensors);
    if (Error error = bind(i, found->tensor))
      return error;
  }
  return Error::success();
}

/// Returns the tensor for an input, or null. An input without a name is known
/// by its place, or takes a tensor without a name that stands there.
const NamedTensor *BoundInputs::find(size_t index, NamedTensors tensors) const {
  StringRef name = entry->inputs[index].name;
  if (name.empty() && tensors[index].name.empty())
    return &tensors[index];
  for (const NamedTensor &tensor : tensors) {
    size_t place = 0;
    if (name.empty() ? !tensor.name.getAsInteger(10, place) && place == index
                     : tensor.name == name)
      return &tensor;
  }
  return nullptr;
}

Error BoundInputs::bind(size_t index, const TensorRef &tensor) {
  const mp::Input &input = entry->inputs[index];
  if (Error error = tensor.check(nameOf(*entry, index), types[index]))
    return error;
  whole[index] = tensor.view();
  if (auto outside = mp::firstOutside(input, whole[index]))
    return mp::makeError("'{0}' has an element out of range at {1}: expected "
                         "{2}{3}",
                         nameOf(*entry, index), *outside, mp::rangeText(input),
                         mp::at(input.location));
  return Error::success();
}

/// Says which names are wrong; they are, or their number is.
Error BoundInputs::otherNames(NamedTensors tensors) const {
  std::vector<std::string> known, given;
  for (size_t i = 0; i < entry->inputs.size(); ++i)
    known.push_back(nameOf(*entry, i));
  for (const NamedTensor &tensor : tensors) {
    if (is_contained(given, tensor.name))
      return mp::makeError("'{0}' is given twice", tensor.name);
    if (!is_contained(known, tensor.name))
      return mp::makeError("there is no input '{0}'{1}", tensor.name,
                           mp::suggest(tensor.name, known));
    given.push_back(tensor.name.str());
  }
  for (auto [name, type] : zip_equal(known, types))
    if (!is_contained(given, name))
      return mp::makeError("input '{0}' of {1} is missing", name, type.str());
  return mp::makeError("the inputs cannot be told apart (known: {0})",
                       join(known, ", "));
}

ArrayRef<mp::TensorView> BoundInputs::part(int64_t index) {
  for (size_t i = 0; i < views.size(); ++i) {
    uint64_t bytes = entry->inputs[i].type.bytes();
    bool isWhole = entry->inputs[i].type.shape.empty();
    views[i] = {whole[i].element(),
                whole[i].bytes().data() + (isWhole ? 0 : index * bytes), bytes};
  }
  return views;
}

} // namespace mantissa

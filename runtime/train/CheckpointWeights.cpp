//===- CheckpointWeights.cpp - weights without the rest of a state --------===//
#include "runtime/train/CheckpointWeights.h"
#include "runtime/data/Convert.h"
#include "runtime/train/CheckpointFile.h"
#include "runtime/train/CheckpointOrders.h"
#include "runtime/train/CheckpointRoles.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/Permutation.h"
#include "support/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

using namespace llvm;

namespace mp {

/// The tensor that a weight is loaded from: its own, or its moving average.
static std::string tensorOf(const Variable &variable, const Roles &roles,
                            Weights which) {
  StringRef average;
  if (which == Weights::Averaged)
    average = averageOf(variable.name, roles);
  return average.empty() ? variable.name : average.str();
}

/// Averages exist only after every optimizer has applied a step.
static Error checkAverages(const Safetensors &file, const Roles &roles,
                           ArrayRef<Variable> variables) {
  if (none_of(variables, [&](const Variable &variable) {
        return isWeight(variable) && !averageOf(variable.name, roles).empty();
      }))
    return makeError("{0}: holds no averages of weights, such as '{1}.ema': "
                     "train with ema = 0.999 in mp.minimize",
                     file.path, variables.empty() ? "w" : variables[0].name);
  bool isUntouched = any_of(roles, [&](const auto &entry) {
    const auto &[name, role] = entry;
    const Array &tensor = file.tensors.at(name);
    return role.kind == VariableRole::Kind::Count &&
           tensor.type == TensorType{ElementType::I64, {}} &&
           loadElement(ElementType::I64, tensor.bytes.data()) == 0;
  });
  if (isUntouched)
    return makeError("{0}: no step was applied yet, so that there are no "
                     "averages of weights",
                     file.path);
  return Error::success();
}

/// Whether the variable may be missing in the file.
static bool isOptional(const Variable &variable, Weights which) {
  return which == Weights::Initial && isHistory(variable);
}

/// Says how a tensor differs from a weight of another shape or element type.
static std::string difference(const Variable &variable, const TensorType &type,
                              ArrayRef<int64_t> dims) {
  std::string text =
      formatv("'{0}' is {1} in the file, ", variable.name, type.str());
  if (dims.empty())
    return text + formatv("{0} in the graph{1}", variable.type.str(),
                          at(variable.location))
                      .str();
  TensorType expected = variable.type;
  if (dims.size() == expected.shape.size())
    expected = expected.permuted(dims);
  bool isInGraphOrder =
      type.shape == variable.type.shape && type.shape != expected.shape;
  return text + formatv("expected {0}: {1} in the graph, permuted by "
                        "dims_in_files {2}{3}{4}",
                        expected.str(), variable.type.str(), dimsText(dims),
                        at(variable.location),
                        isInGraphOrder
                            ? "; the file has the order of the graph already"
                            : "")
                    .str();
}

/// Says why a weight's tensor does not fit; "" if it fits.
static std::string misfit(const Variable &variable, const Safetensors &file,
                          const Roles &roles, const FileOrders &orders,
                          ArrayRef<std::string> unexpected, Weights which) {
  auto tensor = file.tensors.find(tensorOf(variable, roles, which));
  if (tensor == file.tensors.end() && isOptional(variable, which))
    return "";
  if (tensor == file.tensors.end() && isHistory(variable))
    return formatv("missing '{0}' ({1}), which training in 8 bits writes",
                   variable.name, variable.type.str());
  if (tensor == file.tensors.end()) {
    auto nearest = nearestNames(variable.name, unexpected, 1);
    return formatv("missing '{0}' ({1}){2}", variable.name,
                   variable.type.permuted(variable.dimsInFiles).str(),
                   nearest.empty() ? "" : "; is it '" + nearest[0] + "'?");
  }
  ArrayRef<int64_t> dims = orderOf(tensor->first, orders);
  TensorType type = inGraphOrder(tensor->second.type, dims);
  bool convertible = type.element == variable.type.element ||
                     (isFloat(type.element) && isFloat(variable.type.element));
  if (type.shape == variable.type.shape && convertible)
    return "";
  return difference(variable, tensor->second.type, dims);
}

/// The orders of a file's tensors. A checkpoint knows them; other files have
/// those that the graph says.
static Expected<FileOrders> ordersOfWeights(const Safetensors &file,
                                            ArrayRef<Variable> variables,
                                            const Roles &roles, Weights which) {
  if (file.metadata.count(kFormatKey.str()))
    return ordersIn(file);
  FileOrders orders;
  for (const Variable &variable : variables)
    if (isWeight(variable) && !variable.dimsInFiles.empty())
      orders[tensorOf(variable, roles, which)] = variable.dimsInFiles;
  return orders;
}

/// Whether the tensor is a count that PyTorch keeps for a batch norm and uses
/// only if the norm has no momentum, which ours always have.
static bool isBatchCount(StringRef name, const StringSet<> &known) {
  return name.consume_back("num_batches_tracked") &&
         known.contains((name + "running_mean").str());
}

namespace {
/// Shell patterns over names of weights.
class NamePatterns {
public:
  /// Fails if a pattern is malformed, or matches no weight of the session.
  static Expected<NamePatterns> make(ArrayRef<std::string> texts,
                                     ArrayRef<Variable> variables) {
    NamePatterns made;
    std::vector<std::string> names;
    for (const Variable &variable : variables)
      if (isWeight(variable))
        names.push_back(variable.name);
    for (const std::string &text : texts) {
      Expected<GlobPattern> pattern = GlobPattern::create(text);
      if (!pattern)
        return makeError("pattern '{0}' of weights that are not loaded: {1}",
                         text, toString(pattern.takeError()));
      if (none_of(names, [&](StringRef name) { return pattern->match(name); }))
        return makeError("pattern '{0}' of weights that are not loaded matches "
                         "none{1}",
                         text, suggest(text, names));
      made.patterns.push_back(std::move(*pattern));
    }
    return made;
  }
  bool match(StringRef name) const {
    return any_of(patterns, [&](const GlobPattern &pattern) {
      return pattern.match(name);
    });
  }

private:
  std::vector<GlobPattern> patterns;
};
} // namespace

/// The names of tensors that no weight takes.
static std::vector<std::string> unexpectedNames(const Safetensors &file,
                                                const Roles &roles,
                                                ArrayRef<Variable> variables,
                                                Weights which,
                                                const NamePatterns &left) {
  // A checkpoint also holds the optimizer's state, which is not a weight.
  bool isCheckpoint = file.metadata.count(kFormatKey.str());
  StringSet<> known;
  for (const Variable &variable : variables)
    known.insert(variable.name);
  std::vector<std::string> unexpected;
  for (auto &[name, tensor] : file.tensors) {
    bool isAverage = which == Weights::Averaged &&
                     roleOf(name, roles).kind == VariableRole::Kind::Average;
    if (!known.contains(name) && !isCheckpoint && !isAverage &&
        !isBatchCount(name, known) && !left.match(name))
      unexpected.push_back(name);
  }
  return unexpected;
}

Error loadWeights(StringRef path, Session &session, Weights which,
                  ArrayRef<std::string> except) {
  Expected<NamePatterns> left = NamePatterns::make(except, session.variables());
  if (!left)
    return left.takeError();
  Expected<Safetensors> file = readWeights(path);
  if (!file)
    return file.takeError();
  Expected<Roles> roles = rolesIn(*file);
  if (!roles)
    return roles.takeError();
  if (which == Weights::Averaged)
    if (Error error = checkAverages(*file, *roles, session.variables()))
      return error;
  Expected<FileOrders> orders =
      ordersOfWeights(*file, session.variables(), *roles, which);
  if (!orders)
    return orders.takeError();
  std::vector<std::string> unexpected =
      unexpectedNames(*file, *roles, session.variables(), which, *left);
  Differences differences;
  for (const Variable &variable : session.variables())
    if (isWeight(variable) && !left->match(variable.name))
      if (std::string text =
              misfit(variable, *file, *roles, *orders, unexpected, which);
          !text.empty())
        differences.add(std::move(text));
  if (!unexpected.empty())
    differences.add("unexpected " + quoteList(unexpected));
  if (Error error = differences.finish(
          file->path + ": does not hold the weights of this graph"))
    return error;
  std::vector<char> converted, ordered;
  for (const Variable &variable : session.variables()) {
    if (!isWeight(variable) || left->match(variable.name))
      continue;
    auto found = file->tensors.find(tensorOf(variable, *roles, which));
    if (found == file->tensors.end())
      continue; // a missing history
    const Array &tensor = found->second;
    converted.resize(variable.type.bytes());
    ArrayRef<char> bytes =
        bytesInGraphOrder(tensor, orderOf(found->first, *orders), ordered);
    convertElements(tensor.type.element, bytes, variable.type.element,
                    converted);
    if (Error error = session.write(variable.name, converted))
      return error;
  }
  if (Error error = file->check())
    return error;
  return session.derive();
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

/// The names and types of the checkpoint's weights.
static Expected<std::vector<Variable>> weightsOf(const Safetensors &file) {
  if (!file.metadata.count(kFormatKey.str()))
    return makeError("{0}: holds weights alone already", file.path);
  auto listed = file.metadata.find(kWeightsKey.str());
  if (listed == file.metadata.end())
    return makeError("{0}: an earlier version wrote it, which did not say what "
                     "is a weight; train one step more, with --resume",
                     file.path);
  auto damaged = [&] {
    return makeError("{0}: damaged checkpoint: metadata '{1}' is malformed",
                     file.path, kWeightsKey);
  };
  Expected<json::Value> names = parseJson(listed->second);
  if (!names)
    return consumeError(names.takeError()), damaged();
  if (!names->getAsArray())
    return damaged();
  std::vector<Variable> weights;
  for (const json::Value &name : *names->getAsArray()) {
    auto text = name.getAsString();
    auto tensor = text ? file.tensors.find(text->str()) : file.tensors.end();
    if (tensor == file.tensors.end())
      return damaged();
    Variable &weight = weights.emplace_back();
    weight.name = tensor->first;
    weight.type = tensor->second.type;
  }
  return weights;
}

/// Rounds the elements of a tensor and counts those that become zero. Fails if
/// one becomes infinite.
static Expected<Array> rounded(const Array &tensor, ElementType to,
                               StringRef name, uint64_t &flushed) {
  ElementType from = tensor.type.element;
  if (!isFloat(from) || from == to)
    return tensor;
  char *storage;
  Array result = Array::allocate({to, tensor.type.shape}, &storage);
  convertElements(from, tensor.bytes, to, {storage, result.bytes.size()});
  for (int64_t i = 0; i < tensor.type.elements(); ++i) {
    double before = loadElement(from, &tensor.bytes[i * byteWidth(from)]);
    double after = loadElement(to, storage + i * byteWidth(to));
    if (std::isfinite(before) && !std::isfinite(after))
      return makeError("'{0}' holds {1}, which is too large for {2}", name,
                       before, elementTypeName(to));
    flushed += before != 0 && after == 0;
  }
  if (Error error = tensor.check())
    return std::move(error);
  return result;
}

Expected<Exported> exportWeights(StringRef from, StringRef to, Weights which,
                                 std::optional<ElementType> element) {
  Expected<Safetensors> file = readWeights(from);
  if (!file)
    return file.takeError();
  Expected<std::vector<Variable>> weights = weightsOf(*file);
  if (!weights)
    return weights.takeError();
  Expected<Roles> roles = rolesIn(*file);
  if (!roles)
    return roles.takeError();
  if (which == Weights::Averaged)
    if (Error error = checkAverages(*file, *roles, *weights))
      return error;
  Exported exported;
  std::vector<NamedTensor> tensors;
  for (const Variable &weight : *weights) {
    Array tensor = file->tensors.at(tensorOf(weight, *roles, which));
    if (element) {
      auto narrow = rounded(tensor, *element, weight.name, exported.flushed);
      if (!narrow)
        return makeError("{0}: {1}", file->path, toString(narrow.takeError()));
      tensor = std::move(*narrow);
    }
    exported.bytes += tensor.bytes.size();
    // A copy is known to be whole when it is written, whatever happens to the
    // file.
    auto view = [tensor](function_ref<void(ArrayRef<char>)> see) -> Error {
      std::vector<char> bytes(tensor.bytes.begin(), tensor.bytes.end());
      if (Error error = tensor.check())
        return error;
      see(bytes);
      return Error::success();
    };
    tensors.push_back({weight.name, tensor.type, {}, view});
  }
  exported.tensors = tensors.size();
  // PyTorch's tools expect this metadata.
  if (Error error =
          writeSafetensors(to, std::move(tensors), {{"format", "pt"}}))
    return error;
  return exported;
}

} // namespace mp

//===- Checkpoint.cpp - the state of a training run in a file -------------===//
#include "runtime/train/Checkpoint.h"
#include "runtime/data/Convert.h"
#include "runtime/data/LengthBuckets.h"
#include "runtime/train/CheckpointFile.h"
#include "runtime/train/GraphRecord.h"
#include "runtime/train/ScalerState.h"
#include "support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"
#include <bit>

using namespace llvm;

namespace mp {
namespace {

using Metadata = std::map<std::string, std::string>;

/// Writes the fields of a RunState to metadata. Writer and reader visit the
/// same list of fields, so that neither can forget one.
struct MetadataWriter {
  Metadata &metadata;
  void operator()(StringRef key, const std::string &value) {
    metadata[key.str()] = value;
  }
  // A double is written as its bits, so that a sum continues exactly.
  void operator()(StringRef key, double value) {
    metadata[key.str()] = std::to_string(std::bit_cast<uint64_t>(value));
  }
  template <typename T> void operator()(StringRef key, T value) {
    metadata[key.str()] = std::to_string(value);
  }
};

/// "clip-value" is "clip_value_bits", as its bits are kept.
template <typename T> std::string keyOf(const SettingInfo &setting, const T &) {
  std::string key = setting.name.str();
  std::replace(key.begin(), key.end(), '-', '_');
  return std::is_floating_point_v<T> ? key + "_bits" : key;
}

struct MetadataReader {
  const Metadata &metadata;
  std::string bad; ///< the first field that is missing or malformed
  /// Fields that a checkpoint of an earlier version may lack. Such a run had
  /// their defaults. Every setting is one of them, so that adding one suffices.
  StringSet<> optional = {"plan",
                          "insert_passes",
                          "scaler_fields",
                          "eval_every",
                          "patience",
                          "monitor",
                          "evaluated",
                          "best_step",
                          "best_score_bits",
                          "evaluations_since_best"};

  explicit MetadataReader(const Metadata &metadata) : metadata(metadata) {
    RecipeSettings settings;
    forEachSetting([&](const SettingInfo &setting, auto field) {
      optional.insert(keyOf(setting, settings.*field));
    });
  }

  void operator()(StringRef key, std::string &value) {
    if (const std::string *text = find(key))
      value = *text;
  }
  void operator()(StringRef key, double &value) {
    uint64_t bits = 0;
    (*this)(key, bits);
    value = std::bit_cast<double>(bits);
  }
  void operator()(StringRef key, bool &value) {
    int64_t number = 0;
    (*this)(key, number);
    value = number != 0;
  }
  template <typename T> void operator()(StringRef key, T &value) {
    const std::string *text = find(key);
    if (text && StringRef(*text).getAsInteger(10, value) && bad.empty())
      bad = key.str();
  }
  const std::string *find(StringRef key) {
    auto found = metadata.find(key.str());
    if (found != metadata.end())
      return &found->second;
    if (bad.empty() && !optional.contains(key))
      bad = key.str();
    return nullptr;
  }
};

template <typename State, typename Visitor>
void visitFields(State &state, Visitor &visit) {
  forEachSetting([&](const SettingInfo &setting, auto field) {
    if (setting.onResume != OnResume::NotSaved)
      visit(keyOf(setting, state.*field), state.*field);
  });
  visit("seed", state.seed);
  visit("step", state.step);
  visit("skipped_steps", state.skippedSteps);
  visit("records", state.samples);
  visit("batch", state.batch);
  visit("epochs", state.epochs);
  visit("shuffle", state.shuffle);
  visit("drop_last", state.dropLast);
  visit("scaler_fields", state.scalerFields);
  visit("module", state.module);
  visit("target", state.target);
  visit("cpu", state.cpu);
  visit("plan", state.plan);
  visit("insert_passes", state.insertPasses);
  visit("last_scale_bits", state.lastScale);
  visit("epoch_loss_sum_bits", state.epochLossSum);
  visit("epoch_loss_count", state.epochLossCount);
  visit("eval_every", state.evalEvery);
  visit("patience", state.patience);
  visit("monitor", state.monitor);
  visit("evaluated", state.evaluated);
  visit("best_step", state.bestStep);
  visit("best_score_bits", state.bestScore);
  visit("evaluations_since_best", state.evaluationsSinceBest);
}

} // namespace

bool isSaved(const Variable &variable) {
  return variable.kind != VariableKind::Derived &&
         variable.kind != VariableKind::Window;
}

std::string fingerprint(ArrayRef<Variable> variables) {
  std::vector<std::string> lines;
  for (const Variable &variable : variables)
    if (isSaved(variable))
      lines.push_back(formatv("{0} {1} {2}\n", variable.name,
                              variableKindName(variable.kind),
                              variable.type.str()));
  llvm::sort(lines);
  std::string text;
  for (const std::string &line : lines)
    text += line;
  return formatv("{0:x-16}", xxh3_64bits(text));
}

static std::string namesOfWeights(ArrayRef<Variable> variables) {
  json::Array names;
  for (const Variable &variable : variables)
    if (isWeight(variable) && !isHistory(variable))
      names.push_back(variable.name);
  return formatv("{0}", json::Value(std::move(names)));
}

Error saveCheckpoint(StringRef path, Session &session, const RunState &state) {
  std::vector<NamedTensor> tensors;
  for (const Variable &variable : session.variables())
    if (isSaved(variable))
      tensors.push_back(tensorInFile(session, variable));
  Metadata metadata;
  metadata[kFormatKey.str()] = kFormatVersion.str();
  if (FileOrders orders = ordersOf(session.variables()); !orders.empty()) {
    metadata[kFormatKey.str()] = kPermutedFormatVersion.str();
    metadata[kFileOrdersKey.str()] = ordersToText(orders);
  }
  metadata[kFingerprintKey.str()] = fingerprint(session.variables());
  metadata[kWeightsKey.str()] = namesOfWeights(session.variables());
  metadata[kRolesKey.str()] = rolesToText(session.variables());
  MetadataWriter writer{metadata};
  visitFields(state, writer);
  if (!state.graph.empty())
    metadata[kGraphKey.str()] = graphToText(state.graph);
  if (!state.buckets.empty())
    metadata[kBucketsKey.str()] = bucketsText(state.buckets);
  if (!state.classes.empty())
    metadata[kClassesKey.str()] =
        formatv("{0}", json::Value(json::Array(state.classes)));
  return writeSafetensors(path, std::move(tensors), std::move(metadata),
                          Digests::Written);
}

/// The names of classes that a file holds, or none.
static Expected<std::vector<std::string>>
parseClasses(const Safetensors &file) {
  std::vector<std::string> classes;
  auto text = file.metadata.find(kClassesKey.str());
  if (text == file.metadata.end())
    return classes;
  Expected<json::Value> list = json::parse(text->second);
  json::Path::Root root;
  if (!list || !json::fromJSON(*list, classes, root)) {
    if (!list)
      consumeError(list.takeError());
    return makeError("{0}: damaged: the names of its classes", file.path);
  }
  return classes;
}

Expected<Checkpoint> Checkpoint::open(StringRef path) {
  Expected<Safetensors> file = readWeights(path);
  if (!file)
    return file.takeError();
  Checkpoint checkpoint;
  checkpoint.file = std::move(*file);
  Metadata &metadata = checkpoint.file.metadata;
  const std::string &name = checkpoint.file.path;
  if (!metadata.count(kFormatKey.str()))
    return makeError("{0}: holds weights but no training state; to start from "
                     "weights, load them as the initial ones",
                     name);
  // Runs had no micro-batches in an earlier version.
  metadata.try_emplace("accumulate", "1");
  MetadataReader reader(metadata);
  visitFields(checkpoint.run, reader);
  reader(kFingerprintKey, checkpoint.print);
  Expected<Roles> roles = rolesIn(checkpoint.file);
  if (!roles)
    return roles.takeError();
  checkpoint.roles = std::move(*roles);
  Expected<FileOrders> orders = ordersIn(checkpoint.file);
  if (!orders)
    return orders.takeError();
  checkpoint.orders = std::move(*orders);
  RunState &run = checkpoint.run;
  if (reader.bad.empty() && (run.step < 0 || run.batch < 0 || run.samples < 0))
    reader.bad = "step";
  if (reader.bad.empty() && run.accumulate < 1)
    reader.bad = "accumulate";
  auto classes = parseClasses(checkpoint.file);
  if (!classes)
    return classes.takeError();
  run.classes = std::move(*classes);
  if (auto text = metadata.find(kBucketsKey.str()); text != metadata.end()) {
    auto buckets = parseBuckets(text->second);
    if (!buckets)
      return makeError("{0}: damaged checkpoint: {1}", name,
                       toString(buckets.takeError()));
    run.buckets = std::move(*buckets);
  }
  if (auto graph = metadata.find(kGraphKey.str()); graph != metadata.end()) {
    auto ops = parseGraph(graph->second);
    if (ops)
      run.graph = std::move(*ops);
    else if (reader.bad.empty())
      reader.bad = kGraphKey.str();
  }
  if (!reader.bad.empty())
    return makeError("{0}: damaged checkpoint: metadata '{1}' is missing or "
                     "malformed",
                     name, reader.bad);
  return checkpoint;
}

/// Why the file's variables differ from the session's, apart from a scaler's.
static Error compareVariables(ArrayRef<Variable> variables,
                              const Safetensors &file, const Roles &roles,
                              const FileOrders &orders,
                              const std::string &module) {
  Differences differences;
  StringSet<> known;
  for (const Variable &variable : variables) {
    if (!isSaved(variable))
      continue;
    known.insert(variable.name);
    auto tensor = file.tensors.find(variable.name);
    if (tensor == file.tensors.end()) {
      if (!isScaler(variable))
        differences.add(
            formatv("'{0}' ({1} {2}) is not in the checkpoint{3}",
                    variable.name, variableKindName(variable.kind),
                    describeOrdered(variable.type, variable.dimsInFiles),
                    at(variable.location)));
      continue;
    }
    ArrayRef<int64_t> dims = orderOf(variable.name, orders);
    TensorType type = inGraphOrder(tensor->second.type, dims);
    if (type != variable.type)
      differences.add(
          formatv("'{0}' is {1} in the checkpoint, {2} in the graph{3}",
                  variable.name, describeOrdered(type, dims),
                  describeOrdered(variable.type, variable.dimsInFiles),
                  at(variable.location)));
  }
  for (auto &[name, tensor] : file.tensors)
    if (!known.contains(name) && !isScalerState(roleOf(name, roles)))
      differences.add(
          formatv("'{0}' ({1}) is not in the graph", name, tensor.type.str()));
  return differences.finish(
      file.path + ": checkpoint of another graph (module '" + module + "')");
}

/// The variables that the file's fingerprint covers, with the session's kinds.
static std::vector<Variable> variablesInFile(ArrayRef<Variable> variables,
                                             const Safetensors &file,
                                             const ScalerChange &change) {
  std::vector<Variable> found;
  for (const Variable &variable : variables)
    if (file.tensors.count(variable.name))
      found.push_back(variable);
  for (auto &[name, value] : change.dropped)
    found.push_back({.name = name,
                     .kind = VariableKind::Scaler,
                     .type = file.tensors.at(name).type,
                     .init = {},
                     .location = {}});
  return found;
}

uint64_t Checkpoint::bytes() const {
  uint64_t sum = 0;
  for (auto &[name, tensor] : file.tensors)
    sum += tensor.bytes.size();
  return sum;
}

double Checkpoint::scale() const {
  for (auto &[name, role] : roles)
    if (role.kind == VariableRole::Kind::Scale) {
      const Array &tensor = file.tensors.at(name);
      return loadElement(tensor.type.element, tensor.bytes.data());
    }
  return run.lastScale;
}

Error Checkpoint::checkVariables(Session &session) const {
  return compareVariables(session.variables(), file, roles, orders, run.module);
}

std::vector<GraphDifference>
Checkpoint::compareGraph(StringRef module, ArrayRef<SourceOp> graph) const {
  // An earlier version saved the checkpoint, or the Program.
  if (run.graph.empty() || graph.empty())
    return {};
  auto differences = compareGraphs(run.graph, graph);
  if (module != run.module)
    differences.push_back({formatv("module '{0}' instead of the checkpoint's "
                                   "'{1}'",
                                   module, run.module)});
  return differences;
}

Error Checkpoint::checkGraph(StringRef module, ArrayRef<SourceOp> graph) const {
  Differences differences;
  for (GraphDifference &difference : compareGraph(module, graph))
    if (!difference.isHyperparameter)
      differences.add(std::move(difference.text));
  return differences.finish(file.path + ": checkpoint of another graph:");
}

Expected<ScalerChange> Checkpoint::restore(Session &session) const {
  ArrayRef<Variable> variables = session.variables();
  if (Error error = checkVariables(session))
    return error;
  ScalerChange change = compareScalers(variables, file, roles);
  if (Error error = checkScale(variables, file))
    return joinErrors(file.check(), std::move(error));
  std::string expected = fingerprint(variablesInFile(variables, file, change));
  if (print != expected)
    return makeError("{0}: checkpoint of another graph: its variables are of "
                     "other kinds (fingerprint {1}, the graph's is {2})",
                     file.path, print, expected);
  for (const Variable &variable : variables) {
    if (!isSaved(variable) && variable.kind != VariableKind::Window)
      continue;
    auto tensor = file.tensors.find(variable.name);
    std::vector<char> first;
    ArrayRef<char> bytes;
    if (isSaved(variable) && tensor != file.tensors.end()) {
      bytes = bytesInGraphOrder(tensor->second, orderOf(variable.name, orders),
                                first);
    } else {
      first.resize(variable.type.bytes());
      if (isScaler(variable))
        storeElement(variable.type.element, variable.init.a, first.data());
      bytes = first;
    }
    if (Error error = session.write(variable.name, bytes))
      return error;
  }
  if (Error error = file.check())
    return error;
  if (Error error = session.derive())
    return error;
  return change;
}

} // namespace mp

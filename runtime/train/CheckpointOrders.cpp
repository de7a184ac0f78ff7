//===- CheckpointOrders.cpp - orders of dimensions in files ---------------===//
#include "runtime/train/CheckpointOrders.h"
#include "runtime/data/PermutedCopy.h"
#include "runtime/train/Checkpoint.h"
#include "support/Error.h"
#include "support/Json.h"
#include "support/Permutation.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace mp {

FileOrders ordersOf(ArrayRef<Variable> variables) {
  FileOrders orders;
  for (const Variable &variable : variables)
    if (isSaved(variable) && !variable.dimsInFiles.empty())
      orders[variable.name] = variable.dimsInFiles;
  return orders;
}

std::string ordersToText(const FileOrders &orders) {
  json::Object fields;
  for (auto &[name, dims] : orders)
    fields[name] = json::Array(dims);
  return formatv("{0}", json::Value(std::move(fields)));
}

/// Returns the permutation that a JSON list is; none if it is not one of so
/// many dimensions.
static std::optional<std::vector<int64_t>> parseDims(const json::Value &value,
                                                     size_t rank) {
  const json::Array *list = value.getAsArray();
  std::vector<int64_t> dims;
  if (!list)
    return std::nullopt;
  for (const json::Value &entry : *list)
    if (auto dim = entry.getAsInteger())
      dims.push_back(*dim);
    else
      return std::nullopt;
  if (!whyNotPermutation(dims, rank).empty())
    return std::nullopt;
  return dims;
}

Expected<FileOrders> ordersIn(const Safetensors &file) {
  FileOrders orders;
  auto kept = file.metadata.find(kFileOrdersKey.str());
  if (kept == file.metadata.end())
    return orders;
  auto damaged = [&] {
    return makeError("{0}: damaged checkpoint: metadata '{1}' is malformed",
                     file.path, kFileOrdersKey);
  };
  auto parsed = parseJson(kept->second);
  if (!parsed)
    return consumeError(parsed.takeError()), damaged();
  const json::Object *all = parsed->getAsObject();
  if (!all)
    return damaged();
  for (auto &[name, value] : *all) {
    auto tensor = file.tensors.find(name.str());
    if (tensor == file.tensors.end())
      return damaged();
    auto dims = parseDims(value, tensor->second.type.shape.size());
    if (!dims)
      return damaged();
    orders[name.str()] = std::move(*dims);
  }
  return orders;
}

ArrayRef<int64_t> orderOf(StringRef tensor, const FileOrders &orders) {
  auto found = orders.find(tensor.str());
  if (found == orders.end())
    return {};
  return found->second;
}

TensorType inGraphOrder(const TensorType &inFile, ArrayRef<int64_t> dims) {
  if (dims.size() != inFile.shape.size())
    return inFile;
  return inFile.permuted(inverse(dims));
}

std::string describeOrdered(const TensorType &type, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return type.str();
  return formatv("{0} ({1} in files)", type.str(), type.permuted(dims).str());
}

NamedTensor tensorInFile(Session &session, const Variable &variable) {
  NamedTensor tensor{
      variable.name, variable.type.permuted(variable.dimsInFiles), {}, {}};
  tensor.view = [&](function_ref<void(ArrayRef<char>)> see) {
    return session.view(variable, [&](ArrayRef<char> bytes) {
      if (variable.dimsInFiles.empty())
        return see(bytes);
      std::vector<char> inFile(bytes.size());
      copyPermuted(variable.type, variable.dimsInFiles, bytes, inFile);
      see(inFile);
    });
  };
  return tensor;
}

ArrayRef<char> bytesInGraphOrder(const Array &tensor, ArrayRef<int64_t> dims,
                                 std::vector<char> &storage) {
  if (dims.empty())
    return tensor.bytes;
  storage.resize(tensor.bytes.size());
  copyPermuted(tensor.type, inverse(dims), tensor.bytes, storage);
  return storage;
}

} // namespace mp

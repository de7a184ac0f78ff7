//===- StageKernel.cpp - a kernel of stages as text -----------------------===//
#include "codegen/cuda/nest/StageKernel.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/stages/StageGroup.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

namespace {
/// The values of a warp or a block come first here, so that what follows is
/// aligned.
constexpr uint64_t kAlignment = 128;

RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
} // namespace

StageKernel::StageKernel(Value predicate) {
  if (!predicate)
    return;
  body.line("if (!" + memory(predicate) + ".load(0))");
  body.line("  return;");
}

std::string StageKernel::memory(Value tensor) {
  std::string &name = parameters[tensor];
  if (name.empty())
    name = "a" + std::to_string(parameters.size() - 1);
  return name;
}

void StageKernel::setIndexBound(int64_t bound) {
  if (bound < (int64_t(1) << 31))
    index = "int";
}

std::string StageKernel::scratch(uint64_t bytes) {
  scratchBytes = std::max(scratchBytes, llvm::alignTo(bytes, kAlignment));
  return "shared";
}

std::string StageKernel::shared(uint64_t bytes) {
  std::string address = "own + " + std::to_string(ownBytes);
  ownBytes += llvm::alignTo(bytes, kAlignment);
  return address;
}

uint64_t StageKernel::sharedBytes() const { return scratchBytes + ownBytes; }

SmallVector<Value> StageKernel::arguments() const {
  SmallVector<Value> tensors;
  for (auto &[tensor, name] : parameters)
    tensors.push_back(tensor);
  return tensors;
}

std::string StageKernel::store(KernelStore &store) const {
  StagePart part;
  SmallVector<std::string> declared;
  std::string sizes;
  for (const auto &[name, count] : counts) {
    sizes += index + " " + name + ", ";
    part.counts.push_back(count);
  }
  for (auto &[tensor, name] : parameters) {
    std::string type = storageType(typeOf(tensor).getElementType());
    declared.push_back("Global<" + type + "> " + name);
    part.parameters.push_back({type, extentOf(tensor)});
  }
  SourceText function;
  function.open(("inline void BODY_NAME(int block, " + sizes +
                 llvm::join(declared, ",\n                 ") + ")"));
  if (sharedBytes())
    function.line("MP_SHARED_MEMORY(shared);");
  if (ownBytes)
    function.line("unsigned char *own = shared + " + llvm::Twine(scratchBytes) +
                  ";");
  function.append(body);
  function.close();
  part.function = function.str();
  part.grid = grid;
  part.block = block;
  part.shared = sharedBytes();
  return store.add(std::move(part));
}

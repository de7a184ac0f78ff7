//===- LayoutKernel.cpp - kernels that instantiate a header ---------------===//
#include "codegen/cuda/layout/LayoutKernel.h"
#include "codegen/cuda/ScalarPrinter.h"
#include <numeric>

using namespace mlir;
using namespace mp;
using namespace mp::cuda;

std::string LayoutKernel::memory(const LayoutTensor &tensor,
                                 const std::string &type) {
  std::string name = "a" + std::to_string(part.parameters.size());
  declared += ", Global<" + type + "> " + name;
  part.parameters.push_back({type, tensor.count()});
  launch.arguments.push_back(tensor.argument);
  return name;
}

std::string LayoutKernel::count(const std::string &type, int64_t value) {
  std::string name = "c" + std::to_string(part.counts.size());
  counts += ", " + type + " " + name;
  part.counts.push_back(value);
  return name;
}

void LayoutKernel::add(KernelStore &store, int64_t grid,
                       EmittedKernel &kernel) {
  SourceText function;
  function.open("inline void BODY_NAME(int block" + counts + declared + ")");
  if (part.shared)
    function.line("MP_SHARED_MEMORY(shared);");
  function.append(body);
  function.close();
  part.function = function.str();
  launch.grid = part.grid = grid;
  launch.block = part.block;
  launch.shared = part.shared;
  launch.symbol = store.add(std::move(part));
  kernel.launches.push_back(std::move(launch));
}

std::string mp::cuda::wordOf(Type element) {
  switch (storageBytes(element)) {
  case 1:
    return "unsigned char";
  case 2:
    return "unsigned short";
  case 4:
    return "unsigned";
  default:
    return "unsigned long long";
  }
}

int64_t mp::cuda::widthFor(ArrayRef<int64_t> multiples, Type element) {
  int64_t width = 16 / storageBytes(element);
  for (int64_t number : multiples)
    width = std::gcd(width, number);
  return width;
}

int64_t mp::cuda::itemsOfThread(int64_t items) {
  return items >= (1 << 18) ? 4 : 1;
}
int64_t mp::cuda::blocksFor(int64_t items) {
  return llvm::divideCeil(items, kBlockThreads * itemsOfThread(items));
}

std::string mp::cuda::indexType(ArrayRef<int64_t> counts) {
  constexpr int64_t slack = 1 << 16;
  for (int64_t count : counts)
    if (count >= (int64_t(1) << 31) - slack)
      return "long long";
  return "int";
}

std::string mp::cuda::list(ArrayRef<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

//===- KernelStore.cpp - the CUDA sources of a compilation ----------------===//
#include "codegen/cuda/KernelStore.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MD5.h"

using namespace mp::cuda;

namespace {
struct Embedded {
  llvm::StringLiteral name, text;
};
/// codegen/CMakeLists.txt writes this from the files in kernels/.
constexpr Embedded kEmbedded[] = {
#include "codegen/cuda/Kernels.inc"
};
} // namespace

static void replaceAll(std::string &text, llvm::StringRef from,
                       llvm::StringRef to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
    text.replace(at, from.size(), to);
}

std::string KernelStore::add(llvm::StringRef source) {
  std::string symbol =
      ("k_" + llvm::MD5::hash(llvm::arrayRefFromStringRef(source)).digest())
          .str();
  std::string named = source.str();
  replaceAll(named, name, symbol);
  std::lock_guard lock(mutex);
  sources.try_emplace(symbol, std::move(named));
  return symbol;
}

std::string KernelStore::named(llvm::StringRef part, llvm::StringRef name) {
  std::string text = part.str();
  replaceAll(text, bodyName, name);
  return text;
}

std::string KernelStore::add(StagePart part) {
  std::string function = named(part.function, "body");
  std::string declared, passed = "blockIdx.x";
  for (int64_t count : part.counts)
    passed += ", " + std::to_string(count);
  for (auto [i, parameter] : llvm::enumerate(part.parameters)) {
    std::string pointer = "p" + std::to_string(i);
    declared += (i ? ", " : "") + parameter.type + " *" + pointer;
    passed += ",\n       global(" + pointer + ", " +
              std::to_string(parameter.count) + ")";
  }
  std::string source = "#include \"" + part.header +
                       "\"\n\nusing namespace mp;\n\n" + function + "\n" +
                       head(part.block, part.resident) + "\n    " + name.str() +
                       "(" + declared + ") {\n  body(" + passed + ");\n}\n";
  std::string symbol = add(source);
  std::lock_guard lock(mutex);
  parts.try_emplace(symbol, std::move(part));
  return symbol;
}

const StagePart *KernelStore::part(llvm::StringRef symbol) const {
  std::lock_guard lock(mutex);
  auto found = parts.find(symbol);
  return found == parts.end() ? nullptr : &found->second;
}

void KernelStore::add(llvm::StringRef symbol, LoopProduct product) {
  std::lock_guard lock(mutex);
  ofLoopProducts.insert(symbol);
  if (!product.first.empty())
    ofLoopProducts.insert(product.first);
  loopProducts.try_emplace(symbol, std::move(product));
}

const LoopProduct *KernelStore::loopProduct(llvm::StringRef symbol) const {
  std::lock_guard lock(mutex);
  auto found = loopProducts.find(symbol);
  return found == loopProducts.end() ? nullptr : &found->second;
}

bool KernelStore::isFinal(llvm::StringRef symbol) const {
  std::lock_guard lock(mutex);
  return !parts.contains(symbol) && !ofLoopProducts.contains(symbol);
}

llvm::StringRef KernelStore::source(llvm::StringRef symbol) const {
  std::lock_guard lock(mutex);
  auto found = sources.find(symbol);
  return found == sources.end() ? llvm::StringRef()
                                : llvm::StringRef(found->second);
}

std::vector<mp::Header> mp::cuda::kernelHeaders() {
  std::vector<Header> headers;
  for (const Embedded &header : kEmbedded)
    headers.push_back({header.name.str(), header.text.str()});
  return headers;
}

#include "codegen/cuda/KernelStore.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MD5.h"

using namespace mp::cuda;

namespace {
struct Embedded {
  llvm::StringLiteral name, text;
};
/// Written by codegen/CMakeLists.txt from what lies in kernels/.
constexpr Embedded embedded[] = {
#include "codegen/cuda/Kernels.inc"
};
} // namespace

std::string KernelStore::add(llvm::StringRef source) {
  std::string symbol =
      ("k_" + llvm::MD5::hash(llvm::arrayRefFromStringRef(source)).digest())
          .str();
  std::string named = source.str();
  for (size_t at = 0; (at = named.find(name, at)) != std::string::npos;)
    named.replace(at, name.size(), symbol);
  std::lock_guard lock(mutex);
  sources.try_emplace(symbol, std::move(named));
  return symbol;
}

llvm::StringRef KernelStore::source(llvm::StringRef symbol) const {
  std::lock_guard lock(mutex);
  auto found = sources.find(symbol);
  return found == sources.end() ? llvm::StringRef()
                                : llvm::StringRef(found->second);
}

std::vector<mp::Header> mp::cuda::kernelHeaders() {
  std::vector<Header> headers;
  for (const Embedded &header : embedded)
    headers.push_back({header.name.str(), header.text.str()});
  return headers;
}

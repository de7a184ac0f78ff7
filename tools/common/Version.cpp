//===- Version.cpp - the output of --version ------------------------------===//
#include "tools/common/Version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace mp::tool {

// MP_VERSION is the project's, set for this file by CMakeLists.txt.
std::string versionText(llvm::StringRef tool) {
  return (tool + " of Mantissa " MP_VERSION ", with LLVM " LLVM_VERSION_STRING)
      .str();
}

void setVersionOf(llvm::StringRef tool) {
  llvm::cl::SetVersionPrinter(
      [tool](llvm::raw_ostream &os) { os << versionText(tool) << "\n"; });
}

} // namespace mp::tool

//===- Info.cpp - mp-run info ---------------------------------------------===//
#include "runtime/Onednn.h"
#include "tools/run/Commands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include <thread>
#include <zlib.h>

using namespace llvm;

namespace mp::tool {

int info(ArrayRef<const char *> arguments) {
  Command command{"info", "",
                  "Prints the targets, the libraries found and the CPU."};
  auto others = command.parse(arguments);
  if (!others)
    return report(others.takeError());
  if (!*others)
    return 0;
  std::vector<std::string> features;
  for (auto &feature : sys::getHostCPUFeatures())
    if (feature.second)
      features.push_back(feature.first().str());
  llvm::sort(features);
  std::string onednn = onednnVersion();
  outs() << "targets:  cpu\n"
         << "cpu:      " << sys::getHostCPUName() << "\n"
         << "features: " << llvm::join(features, ",") << "\n"
         << "threads:  " << std::thread::hardware_concurrency() << "\n"
         << "LLVM:     " << LLVM_VERSION_STRING << "\n"
         << "oneDNN:   "
         << (onednn.empty() ? "not found (Debian package libdnnl2)" : onednn)
         << "\n"
         << "zlib:     " << zlibVersion() << "\n";
  return 0;
}

} // namespace mp::tool

//===- HostCompiler.h - kernels compiled for this process -----------------===//
#ifndef MP_EMULATOR_HOSTCOMPILER_H
#define MP_EMULATOR_HOSTCOMPILER_H

#include <string>
#include <utility>
#include <vector>

namespace mp::emulator {

struct HostInput {
  std::string name, source;
  std::vector<std::pair<std::string, std::string>> headers; // name, text
  std::vector<std::string> defines;                         // in the form of -D
  /// Names that cuModuleGetFunction knows, and their names in the source.
  std::vector<std::pair<std::string, std::string>> kernels;
  int arch = 80;
  bool contract = true; // a * b + c with one rounding
};

struct HostOutput {
  bool compiled = false;
  std::string object, log;
};

/// Compiles kernels into a shared object that the emulated driver loads, or
/// takes it from the folder MP_EMULATOR_CACHE. A header named prelude.cuh is
/// replaced by the twin. Can be called from many threads.
HostOutput compileForHost(const HostInput &input);

/// Returns a number that changes with the twin: as a part of NVRTC's version it
/// keeps caches from returning objects of another twin, or cubins.
int twinVersion();

} // namespace mp::emulator

#endif // MP_EMULATOR_HOSTCOMPILER_H

//===- Nvrtc.cpp - NVIDIA's compiler, opened at run time ------------------===//
#include "runtime/cuda/Nvrtc.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <dlfcn.h>

using namespace llvm;

namespace mp::cuda {

Error Nvrtc::check(const char *call, NvrtcResult result) const {
  if (result == 0)
    return Error::success();
  return deviceError(Twine("NVRTC: ") + call + " failed: " +
                     nvrtcGetErrorString(result) + " (" + Twine(result) + ")");
}

/// NVRTC opens its builtins library by name alone, which the loader does not
/// find in a wheel's folder unless it is open already. If this fails, NVRTC
/// reports it later.
static void openBuiltins(const Nvrtc &nvrtc) {
  SmallString<128> file = sys::path::parent_path(nvrtc.path);
  sys::path::append(file, "libnvrtc-builtins.so." + nvrtc.version());
  (void)dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

static Expected<Nvrtc> load() {
  Expected<OpenLibrary> library = openLibrary(kNvrtcLibrary);
  if (!library)
    return library.takeError();
  Nvrtc nvrtc;
  nvrtc.path = library->path;
  auto getErrorString =
      findFunction(*library, kNvrtcLibrary.title, "nvrtcGetErrorString");
  if (!getErrorString)
    return getErrorString.takeError();
  nvrtc.nvrtcGetErrorString =
      reinterpret_cast<const char *(*)(NvrtcResult)>(*getErrorString);
#define MP_RESOLVE(NAME, PARAMETERS)                                           \
  {                                                                            \
    auto address = findFunction(*library, kNvrtcLibrary.title, #NAME);         \
    if (!address)                                                              \
      return address.takeError();                                              \
    nvrtc.NAME = reinterpret_cast<NvrtcResult(*) PARAMETERS>(*address);        \
  }
  MP_NVRTC_FUNCTIONS(MP_RESOLVE)
#undef MP_RESOLVE
  MP_NVRTC(nvrtc, nvrtcVersion, &nvrtc.major, &nvrtc.minor);
  if (nvrtc.major < 12)
    return deviceError("NVRTC " + nvrtc.path + " is version " +
                       nvrtc.version() + ", expected 12.0 or later");
  openBuiltins(nvrtc);
  int count = 0;
  MP_NVRTC(nvrtc, nvrtcGetNumSupportedArchs, &count);
  nvrtc.architectures.resize(count);
  MP_NVRTC(nvrtc, nvrtcGetSupportedArchs, nvrtc.architectures.data());
  llvm::sort(nvrtc.architectures);
  return nvrtc;
}

Expected<const Nvrtc &> openNvrtc() { return openOnce(load); }

Expected<std::string> chooseArchitecture(const Nvrtc &nvrtc, int major,
                                         int minor) {
  int device = major * 10 + minor, best = 0;
  for (int known : nvrtc.architectures)
    if (known <= device && known / 10 == major)
      best = known;
  if (best)
    return "sm_" + std::to_string(best);
  return deviceError("NVRTC " + nvrtc.version() + " (" + nvrtc.path +
                     ") cannot compile for compute capability " + Twine(major) +
                     "." + Twine(minor) + ", a later one is needed");
}

std::vector<std::string> compilerOptions(const Nvrtc &nvrtc,
                                         StringRef architecture) {
  // Warpgroups are in the part of sm_90 that no other architecture has.
  StringRef features = architecture == "sm_90" ? "a" : "";
  std::vector<std::string> options = {
      ("--gpu-architecture=" + architecture + features).str(),
      "-std=c++17",
      "-default-device",
      // fma contraction would change the bits of results.
      "-fmad=false",
      "--ptxas-options=-v",
      "--ptxas-options=--warn-on-spills",
  };
  // Since 12.9 the driver keeps a cache of its own, which would hide ours.
  // "minimal" leaves out only features that we do not use, above all textures,
  // and saves 3 to 10 ms per kernel.
  if (std::pair(nvrtc.major, nvrtc.minor) >= std::pair(12, 9))
    options.insert(options.end(), {"-no-cache", "--minimal"});
  return options;
}

namespace {
/// Destroys a program on every path.
struct OwnedProgram {
  const Nvrtc &nvrtc;
  NvrtcProgram value = nullptr;
  ~OwnedProgram() {
    if (value)
      nvrtc.nvrtcDestroyProgram(&value);
  }
};
} // namespace

/// The compiler's log; "" if it is empty.
static std::string log(const Nvrtc &nvrtc, NvrtcProgram program) {
  size_t size = 0;
  if (nvrtc.nvrtcGetProgramLogSize(program, &size) != 0 || size < 2)
    return "";
  std::string text(size, '\0');
  if (nvrtc.nvrtcGetProgramLog(program, text.data()) != 0)
    return "";
  text.resize(std::strlen(text.c_str()));
  return text;
}

/// The first lines of a log, each after a line feed.
static std::string headOf(StringRef log) {
  constexpr size_t most = 8;
  SmallVector<StringRef> lines;
  log.split(lines, '\n', most, /*KeepEmpty=*/false);
  if (lines.size() > most)
    lines.resize(most);
  std::string head;
  for (StringRef line : lines)
    head += "\n  " + line.str();
  return head;
}

Expected<Compilation> compileToCubin(const Nvrtc &nvrtc,
                                     const std::string &source,
                                     ArrayRef<Header> headers,
                                     ArrayRef<std::string> options) {
  std::vector<const char *> texts, names, words;
  for (const Header &header : headers) {
    texts.push_back(header.text.c_str());
    names.push_back(header.name.c_str());
  }
  for (const std::string &option : options)
    words.push_back(option.c_str());
  OwnedProgram program{nvrtc};
  MP_NVRTC(nvrtc, nvrtcCreateProgram, &program.value, source.c_str(),
           "kernel.cu", headers.size(), texts.data(), names.data());
  if (Error error = nvrtc.check(
          "nvrtcCompileProgram",
          nvrtc.nvrtcCompileProgram(program.value, words.size(), words.data())))
    return deviceError(toString(std::move(error)) +
                       headOf(log(nvrtc, program.value)));
  size_t size = 0;
  MP_NVRTC(nvrtc, nvrtcGetCUBINSize, program.value, &size);
  Compilation made;
  made.cubin.resize(size);
  MP_NVRTC(nvrtc, nvrtcGetCUBIN, program.value, made.cubin.data());
  made.log = log(nvrtc, program.value);
  return made;
}

} // namespace mp::cuda

//===- Nvrtc.cpp - the exported functions of libnvrtc ---------------------===//

#include "Call.h"
#include "Cuda.h"
#include "HostCompiler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>

using namespace mp::emulator;

namespace {
struct Program {
  HostInput input;
  HostOutput output;
  bool tried = false;
  std::map<std::string, std::string> lowered; // expression, name
};
} // namespace
using nvrtcProgram = Program *;

// NVRTC 13.0 lists these.
static const int archs[] = {75, 80,  86,  87,  88,  89,
                            90, 100, 103, 110, 120, 121};

/// One call: counts and logs it. The lock is not held while `body` runs: many
/// threads compile at once.
template <typename Body>
static nvrtcResult call(const char *name, const std::string &details,
                        Body body) {
  int error;
  {
    std::lock_guard<CallLock> guard(lock());
    error = enter(name, details);
  }
  return error ? static_cast<nvrtcResult>(error) : body();
}

MP_EXPORT nvrtcResult nvrtcVersion(int *major, int *minor) {
  return call("nvrtcVersion", "", [&] {
    *major = 13;
    *minor = twinVersion();
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT const char *nvrtcGetErrorString(nvrtcResult result) {
  static const char *const names[] = {
      "NVRTC_SUCCESS",
      "NVRTC_ERROR_OUT_OF_MEMORY",
      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM",
      "NVRTC_ERROR_INVALID_OPTION",
      "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR"};
  size_t index = static_cast<size_t>(result);
  return index < std::size(names) ? names[index] : "NVRTC_ERROR unknown";
}

MP_EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int *count) {
  return call("nvrtcGetNumSupportedArchs", "", [&] {
    *count = static_cast<int>(std::size(archs));
    return NVRTC_SUCCESS;
  });
}
MP_EXPORT nvrtcResult nvrtcGetSupportedArchs(int *list) {
  return call("nvrtcGetSupportedArchs", "", [&] {
    std::copy(std::begin(archs), std::end(archs), list);
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *program,
                                         const char *source, const char *name,
                                         int count, const char *const *headers,
                                         const char *const *names) {
  return call("nvrtcCreateProgram", "", [&] {
    if (!source || count < 0 || (count && (!headers || !names)))
      return NVRTC_ERROR_INVALID_INPUT;
    *program = new Program;
    HostInput &input = (*program)->input;
    input.name = name && *name ? name : "default_program";
    input.source = source;
    for (int i = 0; i < count; ++i)
      input.headers.emplace_back(names[i], headers[i]);
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  return call("nvrtcDestroyProgram", "", [&] {
    if (!program || !*program)
      return NVRTC_ERROR_INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
  });
}

//===----------------------------------------------------------------------===//
// Options and kernels
//===----------------------------------------------------------------------===//

/// Maps "sm_90", "compute_90" or "sm_90a" to 90; 0 if it is not such an
/// architecture.
static int parseArch(const std::string &text) {
  int arch = 0;
  char feature = 0;
  if (sscanf(text.c_str(), "sm_%d%c", &arch, &feature) < 1 &&
      sscanf(text.c_str(), "compute_%d%c", &arch, &feature) < 1)
    return 0;
  bool known =
      std::find(std::begin(archs), std::end(archs), arch) != std::end(archs);
  return known && (!feature || strchr("af", feature)) ? arch : 0;
}

/// Whether an option changes nothing here: those on optimisation of device
/// code, and on its messages.
static bool ignored(const std::string &name) {
  static const char *const names[] = {"-std",
                                      "--std",
                                      "-default-device",
                                      "--device-as-default-execution-space",
                                      "-no-cache",
                                      "--no-cache",
                                      "--ptxas-options",
                                      "-Xptxas",
                                      "-lineinfo",
                                      "--generate-line-info",
                                      "-w",
                                      "--disable-warnings",
                                      "--restrict",
                                      "-restrict",
                                      "--extra-device-vectorization",
                                      "-extra-device-vectorization",
                                      "--maxrregcount",
                                      "-maxrregcount",
                                      "--minimal",
                                      "-minimal",
                                      "--dopt",
                                      "-dopt",
                                      "--split-compile",
                                      "-split-compile"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

static bool parseOption(const std::string &option, HostInput &input) {
  size_t equals = option.find('=');
  std::string name = option.substr(0, equals);
  std::string value =
      equals == std::string::npos ? "" : option.substr(equals + 1);
  if (name == "--gpu-architecture" || name == "-arch")
    return (input.arch = parseArch(value)) != 0;
  if (name == "--fmad" || name == "-fmad") {
    input.contract = value == "true";
    return value == "true" || value == "false";
  }
  if (option.rfind("-D", 0) == 0) {
    input.defines.push_back(option.substr(2));
    return option.size() > 2;
  }
  return ignored(name);
}

/// Finds `extern "C" __global__ void name(`: kernels known by their own names.
static void findKernels(HostInput &input) {
  static const std::regex kernel(
      R"(extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^()]*\)\s*)?(\w+)\s*\()");
  const std::string &source = input.source;
  for (std::sregex_iterator at(source.begin(), source.end(), kernel), end;
       at != end; ++at)
    input.kernels.emplace_back((*at)[1], (*at)[1]);
}

MP_EXPORT nvrtcResult nvrtcAddNameExpression(nvrtcProgram program,
                                             const char *expression) {
  return call("nvrtcAddNameExpression", "", [&] {
    if (program->tried)
      return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    std::string name = format("expression_%zu", program->lowered.size());
    if (program->lowered.emplace(expression, name).second)
      program->input.kernels.emplace_back(name, expression);
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram program,
                                          const char *expression,
                                          const char **name) {
  return call("nvrtcGetLoweredName", "", [&] {
    if (!program->output.compiled)
      return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    auto found = program->lowered.find(expression);
    if (found == program->lowered.end())
      return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *name = found->second.c_str();
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count,
                                          const char *const *options) {
  return call("nvrtcCompileProgram", "", [&] {
    program->tried = true;
    for (int i = 0; i < count; ++i)
      if (!parseOption(options[i], program->input)) {
        program->output.log =
            format("nvrtc: error: invalid value or unrecognized option %s\n",
                   options[i]);
        return NVRTC_ERROR_INVALID_OPTION;
      }
    findKernels(program->input);
    program->output = compileForHost(program->input);
    return program->output.compiled ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

template <typename Body>
static nvrtcResult callResult(const char *name, nvrtcProgram program,
                              Body body) {
  return call(name, "", [&] {
    if (!program || !program->output.compiled)
      return NVRTC_ERROR_INVALID_PROGRAM;
    body();
    return NVRTC_SUCCESS;
  });
}

MP_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
  return callResult("nvrtcGetCUBINSize", program,
                    [&] { *size = program->output.object.size(); });
}
MP_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *code) {
  return callResult("nvrtcGetCUBIN", program, [&] {
    memcpy(code, program->output.object.data(), program->output.object.size());
  });
}

// There is no PTX; a reader gets a line that says so.
static const char noPtx[] = "// compiled by the emulator for the host\n";
MP_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size) {
  return callResult("nvrtcGetPTXSize", program, [&] { *size = sizeof(noPtx); });
}
MP_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx) {
  return callResult("nvrtcGetPTX", program,
                    [&] { memcpy(ptx, noPtx, sizeof(noPtx)); });
}

MP_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program,
                                             size_t *size) {
  return call("nvrtcGetProgramLogSize", "", [&] {
    *size = program->output.log.size() + 1;
    return NVRTC_SUCCESS;
  });
}
MP_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  return call("nvrtcGetProgramLog", "", [&] {
    memcpy(log, program->output.log.c_str(), program->output.log.size() + 1);
    return NVRTC_SUCCESS;
  });
}

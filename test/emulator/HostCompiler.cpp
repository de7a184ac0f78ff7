//===- HostCompiler.cpp - kernels compiled for this process ---------------===//

#include "HostCompiler.h"

#include "Call.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace fs = std::filesystem;

namespace mp::emulator {

static const fs::path sourceFolder = MP_EMULATOR_SOURCE;

static std::string readFile(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

static bool writeFile(const fs::path &path, const std::string &text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  return static_cast<bool>(stream.flush());
}

static std::string onPath(const std::string &program) {
  if (program.find('/') != std::string::npos)
    return access(program.c_str(), X_OK) == 0 ? program : "";
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = folder + "/" + program;
    if (access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

/// The compiler's path; empty if there is none.
static std::string hostCompiler() {
  if (const char *wanted = getenv("MP_EMULATOR_CXX"))
    return onPath(wanted);
  for (const char *name :
       {MP_EMULATOR_COMPILER, "clang++-22", "clang++", "g++"})
    if (std::string path = onPath(name); !path.empty())
      return path;
  return "";
}

static std::vector<std::string> arguments(const HostInput &input,
                                          const std::string &compiler) {
  bool clang = compiler.find("clang") != std::string::npos;
  std::vector<std::string> all = {
      compiler, "-x", "c++", "-std=c++17", "-fPIC", "-fno-exceptions",
      "-fno-rtti", "-fno-math-errno", "-fno-stack-protector",
      "-fvisibility=hidden",
      setting(getenv("MP_EMULATOR_OPTIMIZE"), 0) ? "-O1" : "-O0",
      // The sanitizer does not know the emulator's threads; only its calls are
      // used.
      "-w", "-fno-strict-aliasing",
      input.contract ? "-ffp-contract=fast" : "-ffp-contract=off",
      "-D__CUDA_ARCH__=" + std::to_string(input.arch * 10),
      "-I" + sourceFolder.string()};
  if (setting(getenv("MP_EMULATOR_RACES"), 1)) {
    all.insert(all.end(), {"-fsanitize=thread", "-DMP_EMULATOR_RACES"});
    if (clang)
      all.insert(all.end(), {"-mllvm", "-tsan-instrument-func-entry-exit=0",
                             "-mllvm", "-tsan-instrument-atomics=0"});
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma"))
    all.push_back("-mfma"); // else fma is a call of a slow function
#endif
  for (const std::string &define : input.defines)
    all.push_back("-D" + define);
  return all;
}

/// Returns the table by which the driver finds kernels, after the user's text.
static std::string registration(const HostInput &input) {
  std::string text = "\n#line 1 \"kernels\"\nextern \"C\" {\n"
                     "__attribute__((visibility(\"default\"))) extern const "
                     "mp::emulator::KernelEntry mpEmulatorKernels[] = {\n";
  for (const auto &[name, expression] : input.kernels)
    text += "  mp::emulator::entry<" + expression + ">(\"" + name + "\"),\n";
  return text + "  {nullptr, nullptr, 0, nullptr}};\n}\n";
}

/// Returns 128 bits: two FNV-1a hashes with different starts.
static std::string keyOf(const std::vector<std::string> &texts) {
  uint64_t hashes[2] = {14695981039346656037u, 0x9e3779b97f4a7c15u};
  for (const std::string &text : texts)
    for (uint64_t &hash : hashes) {
      for (unsigned char byte : text)
        hash = (hash ^ byte) * 1099511628211u;
      hash = (hash ^ text.size() ^ 0x100) * 1099511628211u;
    }
  return format("%016llx%016llx", static_cast<unsigned long long>(hashes[0]),
                static_cast<unsigned long long>(hashes[1]));
}

static std::string twinText() {
  std::string text;
  for (const char *name : {"prelude.cuh", "Interface.h", "Hooks.h"})
    text += readFile(sourceFolder / name);
  return text;
}

int twinVersion() {
  // The number is beyond any real minor version, and fits an int.
  std::string digits = keyOf({twinText()}).substr(0, 7);
  return 1000 + static_cast<int>(strtol(digits.c_str(), nullptr, 16));
}

static std::string cacheKey(const HostInput &input,
                            const std::vector<std::string> &command) {
  std::vector<std::string> texts = command;
  std::error_code error;
  auto changed = fs::last_write_time(command[0], error);
  texts.push_back(std::to_string(changed.time_since_epoch().count()));
  texts.push_back(twinText());
  for (const auto &[name, text] : input.headers) {
    texts.push_back(name);
    texts.push_back(text);
  }
  texts.push_back(input.name);
  texts.push_back(input.source);
  texts.push_back(registration(input));
  return keyOf(texts);
}

/// Runs `command` in `folder`, its output in the file `output`. Returns false
/// if it could not be run or failed.
static bool execute(const std::vector<std::string> &command,
                    const fs::path &folder, const fs::path &output) {
  std::vector<char *> argv;
  for (const std::string &argument : command)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int error =
      posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return !error && status == 0;
}

/// Compiles and links in `folder`. lld is called directly: a compiler that also
/// links starts one more process, which is a third of the work.
static bool build(const fs::path &folder, std::vector<std::string> command) {
  auto run = [&](const std::vector<std::string> &what) {
    return execute(what, folder, folder / "log");
  };
  std::string linker = MP_EMULATOR_LLD[0] ? onPath(MP_EMULATOR_LLD) : "";
  if (linker.empty()) {
    command.insert(command.end(), {"-shared", "-nostdlib", "-o", "object.so",
                                   "-x", "none", "-lm"});
    return run(command);
  }
  command.insert(command.end(), {"-c", "-o", "object.o"});
  return run(command) && run({linker, "-shared", "object.o", "-o", "object.so",
                              MP_EMULATOR_LIBM});
}

/// Writes the input to `folder` and compiles it there, so that messages have
/// the names that the user gave.
static HostOutput compileIn(const fs::path &folder, const HostInput &input,
                            std::vector<std::string> command) {
  fs::path source = fs::path(input.name).filename();
  bool written =
      writeFile(folder / source, "#include \"prelude.cuh\"\n#line 1\n" +
                                     input.source + registration(input));
  for (const auto &[name, text] : input.headers)
    if (name != "prelude.cuh")
      written &= writeFile(folder / name, text);
  if (!written)
    return {false, "", "cannot write to " + folder.string()};
  command.insert(command.end(), {"-I.", source.string()});
  HostOutput output;
  output.compiled = build(folder, std::move(command));
  output.log = readFile(folder / "log");
  if (output.compiled)
    output.object = readFile(folder / "object.so");
  return output;
}

static fs::path cacheFolder() {
  const char *folder = getenv("MP_EMULATOR_CACHE");
  return folder ? folder : MP_EMULATOR_CACHE_FOLDER;
}

HostOutput compileForHost(const HostInput &input) {
  std::string compiler = hostCompiler();
  if (compiler.empty())
    return {false, "", "no host compiler: expected clang++ or g++\n"};
  auto command = arguments(input, compiler);
  fs::path cached = cacheFolder() / (cacheKey(input, command) + ".so");
  if (std::string object = readFile(cached); !object.empty())
    return {true, object, ""};
  std::error_code error;
  std::string folder =
      (fs::temp_directory_path(error) / "mp-nvrtc-XXXXXX").string();
  if (error || !mkdtemp(folder.data()))
    return {false, "", "cannot make a temporary folder\n"};
  HostOutput output = compileIn(folder, input, std::move(command));
  fs::remove_all(folder, error);
  // The file is written aside and renamed: others may compile the same at this
  // moment.
  fs::path aside = cached;
  aside += format(".%d.%p", getpid(), static_cast<const void *>(&output));
  if (output.compiled && writeFile(aside, output.object))
    fs::rename(aside, cached, error);
  return output;
}

} // namespace mp::emulator

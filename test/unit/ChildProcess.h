//===- ChildProcess.h - a piece of a test in a process of its own ---------===//
//
// The CUDA libraries are opened once in a process, and an error of the device
// stays; a test that depends on either needs a process to itself.
//
//===----------------------------------------------------------------------===//
#ifndef MP_TEST_UNIT_CHILDPROCESS_H
#define MP_TEST_UNIT_CHILDPROCESS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mp::test {

/// The way a child ended.
struct Outcome {
  int exit = -1;       ///< 0, 3 for a device that is missing or failed, else 1
  int signal = 0;      ///< the signal that killed it; SIGALRM after a minute
  std::string message; ///< of its error
  std::string said;    ///< its standard error
};

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Runs `body` in a copy of this process with variables of the environment set.
/// Call it before this process has threads or has opened CUDA.
inline Outcome inChild(const Settings &settings,
                       llvm::function_ref<llvm::Error()> body) {
  int ends[2], speech[2];
  Outcome outcome;
  if (pipe(ends) != 0 || pipe(speech) != 0)
    return outcome;
  pid_t child = fork();
  if (child == 0) {
    for (auto &[name, value] : settings)
      setenv(name.c_str(), value.c_str(), 1);
    dup2(speech[1], STDERR_FILENO);
    alarm(60); // a hang fails
    int code = 0;
    llvm::handleAllErrors(body(), [&](const llvm::ErrorInfoBase &info) {
      bool noDevice = info.convertToErrorCode() == std::errc::no_such_device;
      code = noDevice ? 3 : 1;
      std::string text = info.message();
      (void)!write(ends[1], text.data(), text.size());
    });
    _exit(code);
  }
  auto drain = [](int *pipe, std::string &to) {
    close(pipe[1]);
    char buffer[4096];
    for (ssize_t count; (count = read(pipe[0], buffer, sizeof(buffer))) > 0;)
      to.append(buffer, count);
    close(pipe[0]);
  };
  drain(ends, outcome.message);
  drain(speech, outcome.said);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status))
    outcome.exit = WEXITSTATUS(status);
  else
    outcome.signal = WTERMSIG(status);
  return outcome;
}

} // namespace mp::test

#endif // MP_TEST_UNIT_CHILDPROCESS_H

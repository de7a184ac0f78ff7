//===- EscapedErrors.cpp - standard error without controls ----------------===//
#include "tools/common/EscapedErrors.h"
#include "support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mp::tool;

/// Returns how many bytes at the end may begin a character that goes on.
static size_t unfinished(StringRef text) {
  for (size_t length = 1; length < 4 && length <= text.size(); ++length) {
    unsigned char c = text[text.size() - length];
    if (c >= 0xC0)
      return length;
    if (c < 0x80)
      return 0;
  }
  return 0;
}

/// Writes what comes through a pipe to standard error, until it ends.
[[noreturn]] static void copyEscaped(int pipe) {
  // A request to end goes to both processes; this one ends after the other.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    std::signal(signal, SIG_IGN);
  std::string text;
  char buffer[1 << 12];
  while (true) {
    ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    text.append(buffer, count);
    size_t rest = unfinished(text);
    errs() << mp::withoutControls(StringRef(text).drop_back(rest));
    text.erase(0, text.size() - rest);
  }
  errs() << mp::withoutControls(text);
  _exit(0);
}

EscapedErrors::EscapedErrors(bool isNeeded) {
  int ends[2];
  if (!isNeeded || pipe(ends) != 0)
    return;
  child = fork();
  if (child == 0) {
    close(ends[1]);
    copyEscaped(ends[0]);
  }
  before = child < 0 ? -1 : dup(STDERR_FILENO);
  if (before >= 0)
    dup2(ends[1], STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
}

EscapedErrors::~EscapedErrors() {
  if (before >= 0) {
    errs().flush();
    dup2(before, STDERR_FILENO); // closes the pipe
    close(before);
  }
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
}

//===- Streams.cpp - standard input, output and error ---------------------===//
#include "tools/common/Streams.h"
#include "support/Error.h"
#include "tools/common/Options.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

void mp::tool::openStandardStreams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      if (open("/dev/null", O_RDWR) < 0) // takes the lowest that is free
        return;
}

int mp::tool::finishStreams(int code) {
  raw_fd_ostream &os = outs();
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error) {
    int failed =
        report(makeSystemError("write", "standard output", error.value()));
    code = code ? code : failed;
  }
  // The stream's destructor would end the process with an error of its own.
  static_cast<raw_fd_ostream &>(errs()).clear_error();
  return code;
}

bool mp::tool::dropUnreadOutput() {
  raw_fd_ostream &os = outs();
  os.flush();
  if (os.error() != std::errc::broken_pipe)
    return false;
  os.clear_error();
  return true;
}

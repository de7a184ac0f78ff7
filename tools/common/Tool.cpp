//===- Tool.cpp - the shared main of all tools ----------------------------===//
#include "tools/common/Tool.h"
#include "support/Error.h"
#include "tools/common/CrashReport.h"
#include "tools/common/Options.h"
#include <csignal>

using namespace mp::tool;

/// One process runs one tool, in the portable program too.
static llvm::StringRef current;

llvm::StringRef mp::tool::toolName() { return current; }

/// Checks that standard output was written: a full disk gives an error here,
/// and not an abort in the stream's destructor.
static int finishOutput(int code) {
  llvm::raw_fd_ostream &os = llvm::outs();
  os.flush();
  if (!os.has_error())
    return code;
  std::error_code error = os.error();
  os.clear_error();
  int failed =
      report(mp::makeSystemError("write", "standard output", error.value()));
  return code ? code : failed;
}

int mp::tool::runTool(llvm::StringRef name, int argc, char **argv,
                      int (*run)(llvm::ArrayRef<const char *> arguments)) {
  current = name;
  reportCrashes(argc, argv);
  // A file that exceeds its size limit must fail like one on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  // A reader that closes the pipe (mp-run train ... | head) does not end a run.
  std::signal(SIGPIPE, SIG_IGN);
  return finishOutput(run({argv + 1, argv + argc}));
}

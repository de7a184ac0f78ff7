//===- Tool.cpp - the shared main of all tools ----------------------------===//
#include "tools/common/Tool.h"
#include "tools/common/CrashReport.h"
#include "tools/common/OutOfMemory.h"
#include "tools/common/Streams.h"
#include <csignal>

using namespace mp::tool;

/// One process runs one tool, in the portable program too.
static llvm::StringRef current;

llvm::StringRef mp::tool::toolName() { return current; }

int mp::tool::runTool(llvm::StringRef name, int argc, char **argv,
                      int (*run)(llvm::ArrayRef<const char *> arguments)) {
  current = name;
  openStandardStreams();
  reportCrashes(argc, argv);
  reportOutOfMemory();
  // A file that exceeds its size limit must fail like one on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  // A reader that closes the pipe (mp-run train ... | head) does not end a run.
  std::signal(SIGPIPE, SIG_IGN);
  return finishStreams(run({argv + 1, argv + argc}));
}

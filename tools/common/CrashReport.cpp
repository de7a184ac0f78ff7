//===- CrashReport.cpp - the report of a crash ----------------------------===//
#include "tools/common/CrashReport.h"
#include "support/ShellWord.h"
#include "tools/common/Tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <unistd.h>

using namespace llvm;

static std::string rerunCommand(ArrayRef<char *> words) {
  SmallString<128> folder;
  std::string command;
  if (!sys::fs::current_path(folder))
    command = "cd " + mp::shellWord(folder) + " &&";
  for (StringRef word : words)
    command += " " + mp::shellWord(word);
  return StringRef(command).ltrim().str();
}

/// Prints the stack, then the message, then the work of LLVM's passes.
static void registerHandlers(const char *program) {
  // Upstream also takes over signals that ask a process to end, even if they
  // are ignored, as under nohup; they are not crashes.
  constexpr int requests[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR2};
  struct sigaction before[std::size(requests)];
  for (auto [signal, action] : zip_equal(requests, before))
    sigaction(signal, nullptr, &action);
  // A crash in malloc holds its lock, which printing a stack may want.
  sys::AddSignalHandler([](void *) { alarm(10); }, nullptr);
  sys::PrintStackTraceOnErrorSignal(program);
  EnablePrettyStackTrace();
  for (auto [signal, action] : zip_equal(requests, before))
    sigaction(signal, &action, nullptr);
}

/// Reports LLVM's fatal errors. A thread that the system refuses is not a
/// crash.
static void reportFatal(void *, const char *reason, bool) {
  StringRef text = reason;
  if (!text.consume_front("pthread_create failed: ")) {
    errs() << "LLVM ERROR: " << text << "\n";
    return;
  }
  errs() << mp::tool::toolName() << ": error: cannot start a thread: " << text
         << "; allow more threads or memory (ulimit -u, -v, -s), or use fewer "
            "(--threads, taskset)\n";
  sys::RunInterruptHandlers(); // other threads go on, so nothing is destroyed
  _exit(1);
}

void mp::tool::reportCrashes(int argc, char **argv) {
  // It is never destroyed, as a crash at exit needs it too.
  static const auto &message = *new std::string(
      toolName().str() +
      ": crashed. A report needs what stands here, and the module; where "
      "a compiler pass\ncrashed, --reproducer FILE leaves in FILE what it "
      "crashed on. Rerun with:\n" +
      rerunCommand({argv, argv + argc}) + "\n");
  setBugReportMsg(message.c_str());
  registerHandlers(argv[0]);
  install_fatal_error_handler(reportFatal);
}

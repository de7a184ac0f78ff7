//===- BytecodeText.cpp - MLIR's bytecode as text -------------------------===//
#include "tools/common/BytecodeText.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using Clock = std::chrono::steady_clock;

static constexpr std::chrono::seconds kPatience(10);
/// The memory that the reading process may use.
static constexpr rlim_t kMostMemory = rlim_t(16) << 30;

/// Prints every attribute in full, whatever the command line asks for.
static mlir::OpPrintingFlags printingFlags() {
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo().skipRegions(false);
  flags.elideLargeElementsAttrs(INT64_MAX).elideLargeResourceString(INT64_MAX);
  return flags;
}

namespace {
/// The process that reads. It ends with 0 after a text, with 1 after the text
/// of errors.
struct Reader {
  StringRef bytes, file;
  mlir::DialectRegistry &registry;
  bool takesUnknownDialects;

  [[noreturn]] void run(int output) const {
    // A crash is reported by the other process.
    if (int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
      dup2(nowhere, STDERR_FILENO);
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP})
      std::signal(signal, SIG_DFL);
    rlimit none = {0, 0}, memory = {kMostMemory, kMostMemory};
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_AS, &memory);
    std::string text;
    bool isRead = read(text);
    {
      raw_fd_ostream os(output, /*shouldClose=*/true);
      os << text;
    }
    _exit(isRead ? 0 : 1);
  }

  bool read(std::string &text) const {
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects(takesUnknownDialects);
    context.printOpOnDiagnostic(false);
    std::string errors;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return;
          auto place =
              diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
          errors += errors.empty() ? "" : "\n";
          if (place && place.getLine() > 0)
            errors += formatv("{0}:{1}:{2}: ", place.getFilename().getValue(),
                              place.getLine(), place.getColumn());
          else
            errors += formatv("{0}: ", file);
          errors += "error: " + diagnostic.str();
        });
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(bytes, &context, file);
    if (!module) {
      text = errors.empty() ? "error: is not read" : errors;
      return false;
    }
    raw_string_ostream os(text);
    module->print(os, printingFlags());
    return true;
  }
};
} // namespace

/// Reads to the end of a pipe; false where the time runs out first.
static bool drain(int pipe, std::string &text) {
  auto end = Clock::now() + kPatience;
  char buffer[1 << 16];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    pollfd waited = {pipe, POLLIN, 0};
    int ready = poll(&waited, 1, std::max<int>(0, left.count()));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    ssize_t count = read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return true;
    text.append(buffer, count);
  }
}

Expected<std::string> mp::tool::textOfBytecode(StringRef bytes, StringRef file,
                                               mlir::DialectRegistry &registry,
                                               bool takesUnknownDialects) {
  int ends[2];
  if (pipe(ends) != 0)
    return makeSystemError("make", "a pipe", errno);
  pid_t child = fork();
  if (child < 0)
    return makeSystemError("make", "a process that reads bytecode", errno);
  if (child == 0) {
    close(ends[0]);
    Reader{bytes, file, registry, takesUnknownDialects}.run(ends[1]);
  }
  close(ends[1]);
  std::string text;
  bool isInTime = drain(ends[0], text);
  close(ends[0]);
  if (!isInTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!isInTime)
    return makeError("{0}: bytecode reader did not finish in {1} s", file,
                     kPatience.count());
  if (WIFSIGNALED(status))
    return makeError("{0}: bytecode reader failed (signal {1})", file,
                     WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return makeError("{0}", text);
  return text;
}

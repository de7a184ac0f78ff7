//===- OutOfMemory.cpp - an error where there is no memory left -----------===//
#include "tools/common/OutOfMemory.h"
#include "runtime/MemoryPlan.h"
#include "tools/common/Tool.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <malloc.h>
#include <new>
#include <sys/resource.h>
#include <typeinfo>
#include <unistd.h>

using namespace llvm;

/// Made at the start, when there is memory for it; never destroyed, as threads
/// may fail while the process exits.
static const std::string *message = nullptr;
static std::terminate_handler terminateBefore = nullptr;

void mp::tool::exitOutOfMemory() {
  // Other threads fail soon after the first, which is on its way out.
  static std::atomic<bool> isFirst = true;
  while (!isFirst.exchange(false))
    pause();
  if (message)
    (void)!write(STDERR_FILENO, message->data(), message->size());
  sys::RunInterruptHandlers(); // removes temporary files
  _exit(1);
}

/// Exceptions for want of memory come from libraries that are built with them,
/// which do not ask the handler of `new` first.
static void terminate() {
  const std::type_info *thrown = abi::__cxa_current_exception_type();
  if (thrown && (std::strcmp(thrown->name(), "St9bad_alloc") == 0 ||
                 std::strcmp(thrown->name(), "St20bad_array_new_length") == 0))
    mp::tool::exitOutOfMemory();
  terminateBefore();
}

void mp::tool::reportOutOfMemory() {
  rlimit limit;
  bool isLimited =
      getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  // The C library reserves 64 MiB of addresses for each thread's allocations,
  // which is most of what a process under such a limit would have.
  if (isLimited)
    mallopt(M_ARENA_MAX, 1);
  message = new std::string(
      (toolName() + ": error: out of memory: " + usableMemory().reason +
       " at the start; 'mp-run plan' prints what "
       "training takes\n")
          .str());
  std::set_new_handler(exitOutOfMemory);
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { exitOutOfMemory(); });
  terminateBefore = std::set_terminate(terminate);
}

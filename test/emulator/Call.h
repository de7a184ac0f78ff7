//===- Call.h - one call of the emulated libraries --------------*- C++ -*-===//
//
// Every exported function goes through `enter`: it takes the library's lock,
// logs the call and returns the error that the user asked for.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_CALL_H
#define MP_EMULATOR_CALL_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mp::emulator {

/// printf into a string.
std::string format(const char *pattern, ...)
    __attribute__((format(printf, 1, 2)));

/// Returns the text of an environment variable as a number; `otherwise` if it
/// is unset (null) or not a number.
long long setting(const char *text, long long otherwise);

/// Returns an environment variable that is not a switch of the emulator; empty
/// if it is unset.
std::string environment(const char *name);

/// Appends a line to the file that MP_EMULATOR_LOG names, if it is set.
void log(const std::string &line);

/// The lock held while a call runs: calls are made one after the other.
class CallLock {
public:
  void lock();
  void unlock();
  /// Lets other threads call until `take`, which gets the depth that this
  /// returned.
  int release();
  void take(int depth);
  /// Lets other threads call until one of them has called `notify`.
  void wait();
  void notify() { changed.notify_all(); }

private:
  std::mutex mutex;
  std::condition_variable free, changed;
  std::thread::id owner; ///< none: nobody holds it
  int depth = 0;
};
CallLock &lock();

/// Lets other threads call while it is alive.
struct Unlocked {
  Unlocked() : depth(lock().release()) {}
  ~Unlocked() { lock().take(depth); }
  const int depth;
};

/// Logs `name details` and counts the call. Returns the error that
/// MP_EMULATOR_FAIL selects for it, else 0. A version suffix (_v2) of `name` is
/// left out. The switches are read again whenever they change; that restarts
/// the count.
int enter(const char *name, const std::string &details = {});

} // namespace mp::emulator

#endif // MP_EMULATOR_CALL_H

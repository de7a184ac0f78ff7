//===- OneThread.h - one thread at a time -----------------------*- C++ -*-===//
#ifndef MP_API_RUN_ONETHREAD_H
#define MP_API_RUN_ONETHREAD_H

#include "llvm/Support/Error.h"
#include <atomic>

namespace mantissa {

/// Lets one thread at a time use a step or a generator. A second one does not
/// wait, but gets an error.
class OneThread {
public:
  class Lock;

private:
  std::atomic<bool> isBusy = false;
};

/// Keeps other threads out for as long as it lives.
class OneThread::Lock {
public:
  explicit Lock(OneThread &users)
      : users(users), isMine(!users.isBusy.exchange(true)) {}
  ~Lock() {
    if (isMine)
      users.isBusy = false;
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

  /// An error if another thread is in a call.
  llvm::Error take(llvm::StringRef what = "step") const {
    return isMine ? llvm::Error::success()
                  : llvm::createStringError("another thread is using this " +
                                            what + ": a " + what +
                                            " is for one thread at a time");
  }

private:
  OneThread &users;
  bool isMine;
};

} // namespace mantissa

#endif // MP_API_RUN_ONETHREAD_H

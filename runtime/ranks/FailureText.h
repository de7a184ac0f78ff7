//===- FailureText.h - messages of a group that fails ---------------------===//
//
// Groups of threads and of processes fail with the same words.
//
//===----------------------------------------------------------------------===//
#ifndef MP_RUNTIME_RANKS_FAILURETEXT_H
#define MP_RUNTIME_RANKS_FAILURETEXT_H

#include "runtime/ranks/Communicator.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace mp {

/// What a rank started.
struct StartedCollective {
  int64_t rank;
  llvm::StringRef text;
};

/// Names the lower rank first, whoever has noticed.
inline std::string differ(Communicator::Ticket ticket, StartedCollective a,
                          StartedCollective b) {
  if (b.rank < a.rank)
    std::swap(a, b);
  return llvm::formatv("ranks differ in collective {0}: rank {1} started {2}, "
                       "rank {3} {4}",
                       ticket, a.rank, a.text, b.rank, b.text)
      .str();
}

/// `waiting` waits for a rank that will start no collective any more.
inline std::string endedBefore(Communicator::Ticket ticket, int64_t gone,
                               StartedCollective waiting) {
  return llvm::formatv("rank {0} ended before collective {1} ({2}), in which "
                       "rank {3} waits for it",
                       gone, ticket, waiting.text, waiting.rank)
      .str();
}

/// A rank's process is no longer there.
inline std::string killed(int64_t gone) {
  return llvm::formatv(
             "rank {0} ended in the middle of the run: it was killed, "
             "or crashed",
             gone)
      .str();
}

using RankSeconds = std::chrono::duration<double>;

inline std::string hasNotAnswered(int64_t rank, RankSeconds silence) {
  return llvm::formatv("rank {0} has not answered for {1:F0} s", rank,
                       silence.count())
      .str();
}

/// `waiting` has waited for a rank that answers.
inline std::string isLate(Communicator::Ticket ticket, int64_t late,
                          StartedCollective waiting, RankSeconds waited) {
  return llvm::formatv("rank {0} has not started collective {1} ({2}), in "
                       "which rank {3} has waited for it for {4:F0} s",
                       late, ticket, waiting.text, waiting.rank, waited.count())
      .str();
}

/// Writes a group's last message as a line in one piece: launchers forward what
/// comes in several with text of their own in between.
inline void writeLast(llvm::StringRef message) {
  llvm::errs() << (message + "\n").str();
}

} // namespace mp

#endif // MP_RUNTIME_RANKS_FAILURETEXT_H

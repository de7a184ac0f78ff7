//===- NcclGroup.h - the ranks of an emulated communicator ----------------===//
//
// Ranks are threads of one process or processes of one machine. What a rank
// gives lies in a file in shared memory, from which the others read it.
//
//===----------------------------------------------------------------------===//
#ifndef MP_EMULATOR_NCCLGROUP_H
#define MP_EMULATOR_NCCLGROUP_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mp::emulator {

constexpr int mostRanks = 64;

/// In memory that all ranks share; zeros at first.
struct NcclShared {
  enum State : int { Absent, Joined, Gone };
  struct Member {
    std::atomic<int> state;
    std::atomic<pid_t> process;
    /// Groups of calls that it has published, and whose results it has.
    std::atomic<uint64_t> published, finished;
  };
  std::atomic<int> ranks, ready;
  Member members[mostRanks];
};

/// One rank's end. A failure is final.
class NcclGroup {
public:
  NcclGroup(std::string name, int ranks, int rank);
  ~NcclGroup();

  /// Waits for all ranks. Returns false after a failure. With an id that all
  /// ranks derive from an address, and not from one that a rank has drawn,
  /// `atAddress`, the group begins when rank 0 comes, as it is the one that
  /// listens there.
  bool join(bool atAddress);
  /// Waits until all ranks have read what this one gave before; then gives
  /// `bytes` to them, and waits for what they give.
  bool exchange(const std::vector<char> &bytes, const std::string &what);
  /// Reads what rank `from` gave, between `exchange` and `finish`.
  bool read(int from, uint64_t offset, void *to, uint64_t bytes);
  void finish() { own().finished = ++groups; }
  void fail(const std::string &text);
  /// Returns the text of the first failure; empty: there is none.
  std::string problem() const;

  const int ranks, rank;

private:
  using Member = NcclShared::Member;
  Member &own() const { return shared->members[rank]; }
  std::string fileName(int of) const { return name + "-" + std::to_string(of); }
  /// Opens and maps what the ranks share.
  bool map(int flags);
  bool mapOfRankZero();
  bool refuse(const std::string &call);
  /// Waits until all members are as `reached` says.
  bool waitFor(const std::string &what,
               const std::function<bool(const Member &)> &reached);

  const std::string name;
  NcclShared *shared = nullptr;
  std::vector<int> files; ///< of all ranks
  uint64_t groups = 0;
  mutable std::mutex mutex; ///< guards the text
  std::string text;
};

} // namespace mp::emulator

#endif // MP_EMULATOR_NCCLGROUP_H

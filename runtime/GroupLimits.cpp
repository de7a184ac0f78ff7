//===- GroupLimits.cpp - limits of the control groups of a process --------===//
#include "runtime/GroupLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace mp {
namespace {

/// The words of a short file; none if it cannot be read.
SmallVector<std::string, 2> wordsIn(const Twine &path) {
  SmallVector<std::string, 2> words;
  // Files in /proc and /sys have no size.
  auto buffer = MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return words;
  for (StringRef word : split((*buffer)->getBuffer().trim(), ' '))
    words.push_back(word.str());
  return words;
}

template <typename T> std::optional<T> numberIn(StringRef text) {
  T number;
  return to_integer(text, number, 10) ? std::optional(number) : std::nullopt;
}

template <typename T> void lower(std::optional<T> &limit, T other) {
  limit = limit ? std::min(*limit, other) : other;
}

void lowerCores(GroupLimits &limits, StringRef quota, StringRef period) {
  auto allowed = numberIn<int64_t>(quota), of = numberIn<int64_t>(period);
  if (allowed && of && *allowed > 0 && *of > 0)
    lower(limits.cores, static_cast<double>(*allowed) / *of);
}

/// "max", or -1 in version 1, stands for no limit.
void readGroup(const Twine &folder, GroupLimits &limits) {
  for (StringRef name : {"memory.max", "memory.limit_in_bytes"})
    if (auto words = wordsIn(folder + "/" + name); words.size() == 1)
      if (auto bytes = numberIn<uint64_t>(words[0]))
        lower(limits.memory, *bytes);
  if (auto words = wordsIn(folder + "/cpu.max"); words.size() == 2)
    lowerCores(limits, words[0], words[1]);
  auto quota = wordsIn(folder + "/cpu.cfs_quota_us");
  auto period = wordsIn(folder + "/cpu.cfs_period_us");
  if (quota.size() == 1 && period.size() == 1)
    lowerCores(limits, quota[0], period[0]);
}

/// Where the hierarchy of these controllers may be mounted. That of version 2
/// names none.
SmallVector<StringRef, 3> mountsOf(StringRef controllers) {
  if (controllers.empty())
    return {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  SmallVector<StringRef> names;
  controllers.split(names, ',');
  SmallVector<StringRef, 3> mounts;
  if (is_contained(names, "memory"))
    mounts.push_back("/sys/fs/cgroup/memory");
  if (is_contained(names, "cpu"))
    mounts.append({"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"});
  return mounts;
}

} // namespace

GroupLimits GroupLimits::read(StringRef root) {
  GroupLimits limits;
  auto buffer = MemoryBuffer::getFileAsStream(root + "/proc/self/cgroup");
  if (!buffer)
    return limits;
  for (StringRef line : split((*buffer)->getBuffer().trim(), '\n')) {
    auto [controllers, group] = line.split(':').second.split(':');
    // The group may lie outside of what this process sees of the hierarchy,
    // whose root is then the nearest one around it.
    if (!group.starts_with("/") || group.contains(".."))
      group = "/";
    for (StringRef mount : mountsOf(controllers))
      for (StringRef each = group;; each = sys::path::parent_path(each)) {
        bool isRoot = each.empty() || each == "/";
        readGroup(root + mount + (isRoot ? "" : each), limits);
        if (isRoot)
          break;
      }
  }
  return limits;
}

} // namespace mp

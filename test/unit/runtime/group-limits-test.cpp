//===- group-limits-test.cpp - limits of control groups -------------------===//
#include "TestFiles.h"
#include "runtime/GroupLimits.h"
#include "runtime/ThreadPool.h"

using namespace mp;
using namespace mp::test;

namespace {

/// A root with /proc/self/cgroup and a hierarchy.
class GroupLimitsTest : public testing::Test {
protected:
  void put(const std::string &name, const std::string &text) {
    std::string path = folder.path(name);
    ASSERT_FALSE(
        llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)));
    folder.write(name, text);
  }
  GroupLimits read() { return GroupLimits::read(folder.root); }
  TestFolder folder;
};

TEST_F(GroupLimitsTest, ReadsVersion2) {
  put("proc/self/cgroup", "0::/job\n");
  put("sys/fs/cgroup/job/memory.max", "1048576\n");
  put("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(read().memory, 1048576u);
  EXPECT_EQ(read().cores, 1.5);
}

TEST_F(GroupLimitsTest, GroupsAroundCount) {
  put("proc/self/cgroup", "0::/a/b/c\n");
  put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.max", "300\n");
  put("sys/fs/cgroup/a/memory.max", "200\n");
  put("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(read().memory, 200u);
  EXPECT_EQ(read().cores, 0.5);
}

TEST_F(GroupLimitsTest, ReadsVersion1) {
  put("proc/self/cgroup", "5:memory:/box\n3:cpu,cpuacct:/box\n1:pids:/other\n");
  put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n");
  put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "200000\n");
  put("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read().memory, 4096u);
  EXPECT_EQ(read().cores, 2);
}

TEST_F(GroupLimitsTest, ReadsBothVersionsAtATime) {
  put("proc/self/cgroup", "4:memory:/box\n0::/box\n");
  put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4096\n");
  put("sys/fs/cgroup/unified/box/cpu.max", "300000 100000\n");
  EXPECT_EQ(read().memory, 4096u);
  EXPECT_EQ(read().cores, 3);
}

TEST_F(GroupLimitsTest, AGroupOutsideOfWhatIsSeenIsTheRoot) {
  put("proc/self/cgroup", "0::/../../host\n");
  put("sys/fs/cgroup/memory.max", "77\n");
  EXPECT_EQ(read().memory, 77u);
  put("proc/self/cgroup", "0::/not/mounted/here\n");
  EXPECT_EQ(read().memory, 77u);
}

TEST_F(GroupLimitsTest, WhatIsNoLimitIsNone) {
  EXPECT_FALSE(read().memory || read().cores);
  put("proc/self/cgroup", "garbage\n0::/\n:::\n3:cpu:/box\n");
  put("sys/fs/cgroup/memory.max", "max\n");
  put("sys/fs/cgroup/cpu.max", "10000\n");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "0\n");
  EXPECT_FALSE(read().memory || read().cores);
}

TEST(Cores, AreAtMostTheQuotaAndAtLeastOne) {
  EXPECT_EQ(ThreadPool::coresWithin(8, std::nullopt), 8u);
  EXPECT_EQ(ThreadPool::coresWithin(8, 2.9), 2u);
  EXPECT_EQ(ThreadPool::coresWithin(8, 0.3), 1u);
  EXPECT_EQ(ThreadPool::coresWithin(2, 64), 2u);
}

} // namespace

//===- kernel-cache-test.cpp - the cache of compiled kernels --------------===//
//
// The cache returns the stored code, and no change of its folder breaks a run.
//
//===----------------------------------------------------------------------===//
#include "TestFiles.h"
#include "runtime/cache/CodeCache.h"
#include "runtime/cuda/CompilePool.h"
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mp;
using mp::cuda::cubinKey;
using namespace mp::test;

namespace {

class KernelCacheFiles : public testing::Test {
protected:
  std::unique_ptr<KernelCache> open(uint64_t limit = 1 << 20) {
    return llvm::cantFail(KernelCache::open(folder.path("cache"), limit));
  }
  static CodeKey key(const std::string &source,
                     const std::string &version = "22.1.8") {
    return {"o", source, {{"LLVM", version}, {"cpu", "znver4"}}};
  }
  std::string file(const std::string &source) const {
    return "cache/" + KernelCache::fileName(key(source));
  }
  /// The size of the entry before the code.
  static constexpr uint64_t overhead = 32 + sizeof("LLVM=22.1.8\ncpu=znver4\n");
  static mode_t modeOf(const std::string &path) {
    struct stat status = {};
    stat(path.c_str(), &status);
    return status.st_mode & 0777;
  }
  TestFolder folder;
};

TEST_F(KernelCacheFiles, GivesBackWhatItKeeps) {
  auto cache = open();
  EXPECT_FALSE(cache->find(key("a")));
  ASSERT_EQ(message(cache->store(key("a"), "code of a")), "no error");
  EXPECT_EQ(cache->find(key("a")), "code of a");
  EXPECT_EQ(open()->find(key("a")), "code of a") << "after a restart";
  KernelCache::Usage usage = cache->usage();
  EXPECT_EQ(usage.entries, 1u);
  EXPECT_EQ(usage.bytes, overhead + 9);
  EXPECT_EQ(cache->usage("o").entries, 1u);
  EXPECT_EQ(cache->usage("cubin").entries, 0u);
  EXPECT_EQ(modeOf(folder.path("cache")), 0700u);
  EXPECT_EQ(modeOf(folder.path(file("a"))), 0600u);
}

TEST_F(KernelCacheFiles, TheKeyIsEverythingThatDecides) {
  std::set<std::string> names;
  auto isNew = [&](CodeKey key) {
    return names.insert(KernelCache::fileName(key)).second;
  };
  EXPECT_TRUE(isNew(key("a")));
  EXPECT_FALSE(isNew(key("a")));
  EXPECT_TRUE(isNew(key("b")));
  EXPECT_TRUE(isNew(key("a", "22.1.9")));
  CodeKey other = key("a");
  other.kind = "cubin";
  EXPECT_TRUE(isNew(other));
  other = key("a");
  other.facts[1].second = "znver5";
  EXPECT_TRUE(isNew(other));
  other = key("a");
  other.label = "net.mlir:3:5";
  EXPECT_FALSE(isNew(other)) << "a label is for people";
  // The boundary between two texts counts too.
  EXPECT_NE(hashOf({"a", "b"}), hashOf({"ab"}));
  EXPECT_EQ(hashOf({"a"}).size(), 64u);
}

TEST_F(KernelCacheFiles, WhatDecidesOnACubin) {
  std::vector<Header> headers = {{"a.cuh", "int x;"}};
  std::vector<std::string> options = {"-O3"};
  std::set<std::string> names;
  auto isNew = [&](CodeKey key) {
    return names.insert(KernelCache::fileName(key)).second;
  };
  EXPECT_TRUE(isNew(cubinKey("s", headers, options, "13.0", "sm_90")));
  EXPECT_FALSE(isNew(cubinKey("s", headers, options, "13.0", "sm_90")));
  EXPECT_TRUE(isNew(cubinKey("t", headers, options, "13.0", "sm_90")));
  EXPECT_TRUE(isNew(cubinKey("s", {}, options, "13.0", "sm_90")));
  EXPECT_TRUE(
      isNew(cubinKey("s", {{"b.cuh", "int x;"}}, options, "13.0", "sm_90")));
  EXPECT_TRUE(
      isNew(cubinKey("s", {{"a.cuh", "int y;"}}, options, "13.0", "sm_90")));
  EXPECT_TRUE(isNew(cubinKey("s", headers, {}, "13.0", "sm_90")));
  EXPECT_TRUE(isNew(cubinKey("s", headers, options, "12.0", "sm_90")));
  EXPECT_TRUE(isNew(cubinKey("s", headers, options, "13.0", "sm_80")));
}

TEST_F(KernelCacheFiles, AMissIsExplained) {
  auto cache = open();
  EXPECT_EQ(cache->explainMiss(key("a")), "new");
  llvm::cantFail(cache->store(key("a", "22.1.6"), "x"));
  llvm::cantFail(cache->store(key("b"), "x"));
  EXPECT_EQ(cache->explainMiss(key("a")),
            "known with LLVM '22.1.6', and this is '22.1.8'");
  CodeKey other = key("a", "22.1.7");
  other.facts[1].second = "znver5";
  EXPECT_EQ(cache->explainMiss(other),
            "known with LLVM '22.1.6', and this is '22.1.7'; cpu 'znver4', "
            "and this is 'znver5'");
  // The most similar entry explains a miss.
  llvm::cantFail(cache->store(key("a", "22.1.7"), "x"));
  EXPECT_EQ(cache->explainMiss(other),
            "known with cpu 'znver4', and this is 'znver5'");
}

TEST_F(KernelCacheFiles, ALogSaysWhatWasFound) {
  std::string path = folder.path("log");
  setenv("MP_CACHE_LOG", path.c_str(), 1);
  {
    CodeCache cache(open(), nullptr);
    CodeKey labelled = key("a");
    labelled.label = "net.mlir:3:5";
    EXPECT_FALSE(cache.find(labelled));
    cache.keep(labelled, "code", 0.5);
    EXPECT_EQ(cache.find(labelled), "code");
    EXPECT_EQ(cache.counts().misses, 1u);
    EXPECT_EQ(cache.counts().hits, 1u);
    EXPECT_EQ(cache.counts().seconds, 0.5);
    EXPECT_FALSE(CodeCache(nullptr, nullptr).find(key("b")));
  }
  unsetenv("MP_CACHE_LOG");
  std::string name = KernelCache::fileName(key("a"));
  EXPECT_EQ(folder.read("log"), name + " net.mlir:3:5: made anew: new\n" +
                                    name + " net.mlir:3:5: found\n" +
                                    KernelCache::fileName(key("b")) +
                                    ": made anew: there is no cache\n");
}

TEST_F(KernelCacheFiles, ADamagedEntryIsAMissAndGone) {
  auto cache = open();
  std::string value(1000, 'x');
  llvm::cantFail(cache->store(key("a"), value));
  std::string whole = folder.read(file("a"));
  std::string flipped = whole;
  flipped[500] ^= 1;
  for (const std::string &damaged :
       {std::string(), whole.substr(0, 31), whole.substr(0, 700), whole + "x",
        flipped}) {
    folder.write(file("a"), damaged);
    EXPECT_FALSE(cache->find(key("a"))) << damaged.size();
    EXPECT_FALSE(llvm::sys::fs::exists(folder.path(file("a"))));
  }
  // A pipe is not waited for.
  ASSERT_EQ(mkfifo(folder.path(file("a")).c_str(), 0600), 0);
  EXPECT_FALSE(cache->find(key("a")));
  EXPECT_FALSE(llvm::sys::fs::exists(folder.path(file("a"))));
  // An entry under the name of another is not a hit either.
  folder.write(file("b"), whole);
  EXPECT_FALSE(cache->find(key("b")));
  llvm::cantFail(cache->store(key("a"), value));
  EXPECT_EQ(cache->find(key("a")), value);
}

/// What is in an entry's place without being a file must not be waited for.
TEST_F(KernelCacheFiles, WhatIsNoFileIsAMissAndGone) {
  auto cache = open();
  std::string path = folder.path(file("a"));
  std::pair<const char *, std::function<int()>> kinds[] = {
      {"folder", [&] { return mkdir(path.c_str(), 0700); }},
      {"dangling link", [&] { return symlink("nowhere", path.c_str()); }},
      {"link to a device", [&] { return symlink("/dev/zero", path.c_str()); }},
      {"pipe", [&] { return mkfifo(path.c_str(), 0600); }}};
  for (auto &[what, make] : kinds) {
    ASSERT_EQ(make(), 0) << what;
    EXPECT_FALSE(cache->find(key("a"))) << what;
    EXPECT_EQ(message(cache->store(key("a"), "code")), "no error") << what;
    EXPECT_EQ(cache->find(key("a")), "code") << what;
    ASSERT_EQ(unlink(path.c_str()), 0);
  }
}

TEST_F(KernelCacheFiles, DamageIsToldOnce) {
  std::vector<std::string> told;
  CodeCache cache(open(),
                  [&](llvm::StringRef text) { told.push_back(text.str()); });
  for (const char *source : {"a", "b"}) {
    ASSERT_EQ(mkdir(folder.path(file(source)).c_str(), 0700), 0);
    EXPECT_FALSE(cache.find(key(source)));
  }
  EXPECT_EQ(told,
            std::vector<std::string>{
                "warning: in the cache of kernels, " + folder.path(file("a")) +
                " is not what was stored there; such kernels are "
                "compiled anew"});
}

TEST_F(KernelCacheFiles, SaysWhatCannotBeRemoved) {
  auto cache = open();
  ASSERT_FALSE(
      llvm::sys::fs::create_directories(folder.path(file("a") + "/full")));
  EXPECT_FALSE(cache->find(key("a")));
  EXPECT_HAS(cache->firstDamage(), "and cannot be removed");
  EXPECT_HAS(message(cache->store(key("a"), "code")), "Is a directory");
}

TEST_F(KernelCacheFiles, RefusesALinkOfAnotherUser) {
  open();
  std::string link = folder.path("link");
  ASSERT_EQ(symlink(folder.path("cache").c_str(), link.c_str()), 0);
  EXPECT_EQ(message(KernelCache::open(link)), "no error");
  if (lchown(link.c_str(), geteuid() + 1, -1) != 0)
    GTEST_SKIP() << "only root can give a link away";
  EXPECT_EQ(message(KernelCache::open(link)),
            link + " belongs to another user");
}

TEST_F(KernelCacheFiles, RefusesAFolderThatOthersMayWriteTo) {
  open();
  for (mode_t mode : {0770, 0707, 0722}) {
    chmod(folder.path("cache").c_str(), mode);
    EXPECT_EQ(message(KernelCache::open(folder.path("cache"))),
              folder.path("cache") + " can be written by others");
  }
  chmod(folder.path("cache").c_str(), 0755);
  EXPECT_EQ(message(KernelCache::open(folder.path("cache"))), "no error");
}

TEST_F(KernelCacheFiles, RefusesAFolderOfAnotherUser) {
  open();
  if (chown(folder.path("cache").c_str(), geteuid() + 1, -1) != 0)
    GTEST_SKIP() << "only root can give a folder away";
  EXPECT_EQ(message(KernelCache::open(folder.path("cache"))),
            folder.path("cache") + " belongs to another user");
}

TEST_F(KernelCacheFiles, AFolderThatCannotBeIsAnError) {
  folder.write("file", "");
  EXPECT_HAS(message(KernelCache::open(folder.path("file"))),
             "Not a directory");
  EXPECT_HAS(message(KernelCache::open(folder.path("file/below"))),
             "cannot make");
}

TEST_F(KernelCacheFiles, AFullDiskLeavesNothingBehind) {
  auto cache = open();
  rlimit old, tiny;
  getrlimit(RLIMIT_FSIZE, &old);
  tiny = {512, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tiny);
  std::string text = message(cache->store(key("a"), std::string(4096, 'x')));
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_HAS(text, "File too large");
  EXPECT_FALSE(cache->find(key("a")));
  EXPECT_EQ(std::distance(
                std::filesystem::directory_iterator(folder.path("cache")), {}),
            0);
}

TEST_F(KernelCacheFiles, DropsWhatWasUsedLongestAgo) {
  auto cache = open(10000);
  auto age = [&](const std::string &source, time_t seconds) {
    timespec times[2] = {{seconds, 0}, {seconds, 0}};
    utimensat(AT_FDCWD, folder.path(file(source)).c_str(), times, 0);
  };
  for (int i = 0; i < 9; ++i) {
    std::string source(1, 'a' + i);
    llvm::cantFail(cache->store(key(source), std::string(1000, 'x')));
    age(source, 1000 + i);
  }
  EXPECT_TRUE(cache->find(key("a"))) << "and is used now";
  llvm::cantFail(cache->store(key("j"), std::string(3000, 'x')));
  // The next cache counts the existing entries.
  llvm::cantFail(cache->store(key("k"), std::string(10, 'x')));
  EXPECT_LE(cache->usage().bytes, 10000u);
  EXPECT_TRUE(cache->find(key("a")));
  EXPECT_FALSE(cache->find(key("b")));
  EXPECT_TRUE(cache->find(key("j")));
}

TEST_F(KernelCacheFiles, WritersOfOneEntryDoNotMeet) {
  std::string value(100000, 'x');
  std::vector<std::thread> writers;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&] {
      auto cache = open();
      for (int round = 0; round < 50; ++round) {
        if (llvm::Error error = cache->store(key("a"), value)) {
          llvm::consumeError(std::move(error));
          ++wrong;
        }
        // An entry is found whole or not at all.
        if (auto found = cache->find(key("a")); found && *found != value)
          ++wrong;
      }
    });
  for (std::thread &writer : writers)
    writer.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(open()->find(key("a")), value);
  EXPECT_EQ(open()->usage().entries, 1u);
}

TEST(CacheFolder, FollowsTheEnvironment) {
  setenv("MP_CACHE_DIR", "/somewhere", 1);
  EXPECT_EQ(cacheFolder(), "/somewhere");
  setenv("MP_CACHE_DIR", "off", 1);
  EXPECT_EQ(cacheFolder(), "");
  unsetenv("MP_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(cacheFolder(), "/xdg/mantissa");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cacheFolder(), "/home/me/.cache/mantissa");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(cacheFolder(), "");
  std::string told;
  CodeCache::open([&](llvm::StringRef text) { told = text.str(); });
  EXPECT_HAS(told, "HOME names a folder");
}

} // namespace

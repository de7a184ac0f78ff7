//===- mapped-file-test.cpp - files that change while they are read -------===//
#include "runtime/data/MappedFile.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace mp;

namespace {

constexpr size_t kLarge = 4 * MappedFile::kCopied;

/// A file with bytes 'a', removed at the end.
struct TestFile {
  std::string path;

  explicit TestFile(size_t bytes = kLarge) {
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("mapped", "bin", name));
    path = name.str().str();
    std::ofstream(path) << std::string(bytes, 'a');
  }
  ~TestFile() { llvm::sys::fs::remove(path); }
  auto open() const { return llvm::cantFail(MappedFile::open(path)); }
  void overwrite(size_t place, char byte) const {
    std::fstream(path, std::ios::in | std::ios::out).seekp(place).put(byte);
  }
};

std::string problemOf(const MappedFile &file) {
  return llvm::toString(file.check());
}

bool hasDefaultAction() {
  struct sigaction action = {};
  sigaction(SIGBUS, nullptr, &action);
  return action.sa_handler == SIG_DFL;
}

TEST(MappedFile, ReadsZerosWhereAFileHasShrunk) {
  TestFile made;
  auto file = made.open();
  llvm::StringRef bytes = file->getBuffer();
  EXPECT_EQ(problemOf(*file), "");
  ASSERT_EQ(truncate(made.path.c_str(), 4096), 0);
  EXPECT_EQ(bytes[4095], 'a');
  EXPECT_EQ(bytes[4096], 0);
  EXPECT_EQ(bytes[kLarge - 1], 0);
  EXPECT_EQ(problemOf(*file), made.path +
                                  ": has changed since it was opened: it has "
                                  "4096 bytes now, and had 262144");
}

/// The file is as long as before, so that only the missing page tells.
TEST(MappedFile, RemembersWhatCouldNotBeRead) {
  TestFile made;
  auto file = made.open();
  struct stat before;
  ASSERT_EQ(stat(made.path.c_str(), &before), 0);
  ASSERT_EQ(truncate(made.path.c_str(), 4096), 0);
  EXPECT_EQ(file->getBuffer()[8192], 0);
  ASSERT_EQ(truncate(made.path.c_str(), kLarge), 0);
  timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, made.path.c_str(), times, 0), 0);
  EXPECT_EQ(problemOf(*file),
            made.path +
                ": a part of it cannot be read, or could not for a while");
}

TEST(MappedFile, NoticesWrites) {
  TestFile made;
  auto file = made.open();
  usleep(20000); // times of files advance in ticks of the kernel
  made.overwrite(5000, 'b');
  EXPECT_EQ(problemOf(*file),
            made.path + ": has changed since it was opened: it was written to");
}

TEST(MappedFile, CopiesSmallFiles) {
  TestFile made(MappedFile::kCopied);
  auto file = made.open();
  usleep(20000);
  made.overwrite(5000, 'b');
  EXPECT_EQ(problemOf(*file), "");
  EXPECT_EQ(file->getBuffer().count('a'), MappedFile::kCopied);
}

TEST(MappedFile, KeepsTheFileThatWasReplaced) {
  TestFile made, other;
  auto file = made.open();
  EXPECT_FALSE(file->isReplaced());
  other.overwrite(0, 'b');
  ASSERT_EQ(rename(other.path.c_str(), made.path.c_str()), 0);
  EXPECT_EQ(problemOf(*file), "");
  EXPECT_TRUE(file->isReplaced());
  EXPECT_EQ(file->getBuffer()[0], 'a');
}

TEST(MappedFile, RefusesWhatHasNoEnd) {
  EXPECT_EQ(llvm::toString(MappedFile::open("/dev/zero").takeError()),
            "/dev/zero: expected a regular file");
}

TEST(BusErrors, HandlerIsThereOnlyWhileFilesAreMapped) {
  ASSERT_TRUE(hasDefaultAction());
  TestFile made;
  {
    auto one = made.open(), two = made.open();
    EXPECT_FALSE(hasDefaultAction());
    one.reset();
    EXPECT_FALSE(hasDefaultAction());
  }
  EXPECT_TRUE(hasDefaultAction());
}

/// Reads a page of a mapping that is not guarded, and is not there.
void readElsewhere(const TestFile &made) {
  int descriptor = open(made.path.c_str(), O_RDWR);
  auto *bytes = static_cast<volatile char *>(
      mmap(nullptr, kLarge, PROT_READ, MAP_SHARED, descriptor, 0));
  if (ftruncate(descriptor, 0) == 0)
    (void)bytes[0];
}

TEST(BusErrors, OtherFaultsEndTheProcess) {
  TestFile guarded, other;
  auto file = guarded.open();
  EXPECT_EXIT(readElsewhere(other), testing::KilledBySignal(SIGBUS), "");
}

TEST(BusErrors, OtherFaultsGoToTheHandlerBefore) {
  TestFile guarded, other;
  auto run = [&] {
    std::signal(SIGBUS, [](int) { _exit(7); });
    auto file = guarded.open();
    readElsewhere(other);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

TEST(BusErrors, SignalsOfProcessesEndTheProcess) {
  TestFile guarded;
  auto file = guarded.open();
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

} // namespace

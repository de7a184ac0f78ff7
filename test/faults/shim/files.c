//===- files.c - calls on files that can fail -----------------------------===//
#include "Rules.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/// Defines a function of the C library that fails as the rules say.
#define ON_PATH(name, parameters, path, ...)                                   \
  int name parameters {                                                        \
    int(*next) parameters = original(#name);                                   \
    return judge(#name, path) == Fails ? -1 : next(__VA_ARGS__);               \
  }
#define ON_FILE(name, parameters, file, ...)                                   \
  int name parameters {                                                        \
    int(*next) parameters = original(#name);                                   \
    return judgeFile(#name, file) == Fails ? -1 : next(__VA_ARGS__);           \
  }

ON_FILE(fsync, (int file), file, file)
ON_FILE(fdatasync, (int file), file, file)
ON_FILE(ftruncate, (int file, off_t size), file, file, size)
ON_FILE(ftruncate64, (int file, off64_t size), file, file, size)
ON_FILE(flock, (int file, int operation), file, file, operation)
ON_PATH(rename, (const char *from, const char *to), to, from, to)
ON_PATH(link, (const char *from, const char *to), to, from, to)
ON_PATH(mkdir, (const char *path, mode_t mode), path, path, mode)

/// A name in a folder that is given by its descriptor has no path: the folder's
/// is taken.
int renameat(int fromFolder, const char *from, int toFolder, const char *to) {
  int (*next)(int, const char *, int, const char *) = original("renameat");
  enum Outcome outcome = toFolder == AT_FDCWD ? judge("rename", to)
                                              : judgeFile("rename", toFolder);
  return outcome == Fails ? -1 : next(fromFolder, from, toFolder, to);
}

/// A file that is opened for writing. Reading never fails here.
static int isWriting(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    int (*next)(const char *, int, ...) = original(#name);                     \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                  \
    va_end(rest);                                                              \
    if (isWriting(flags) && judge("open", path) == Fails)                      \
      return -1;                                                               \
    return next(path, flags, mode);                                            \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                           \
  int name(int folder, const char *path, int flags, ...) {                     \
    int (*next)(int, const char *, int, ...) = original(#name);                \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                  \
    va_end(rest);                                                              \
    enum Outcome outcome = Passes;                                             \
    if (isWriting(flags))                                                      \
      outcome = folder == AT_FDCWD ? judge("open", path)                       \
                                   : judgeFile("open", folder);                \
    return outcome == Fails ? -1 : next(folder, path, flags, mode);            \
  }
OPENAT(openat)
OPENAT(openat64)

/// How many of the bytes the rules let through: -1 for an error.
static ssize_t allowed(const char *call, int file, size_t bytes) {
  enum Outcome outcome = judgeFile(call, file);
  if (outcome == Fails)
    return -1;
  if (outcome == IsShort && bytes > 1)
    bytes /= 2;
  size_t fits = roomFor(file, bytes);
  if (fits == 0 && bytes > 0) {
    errno = ENOSPC;
    return -1;
  }
  return (ssize_t)fits;
}

ssize_t write(int file, const void *bytes, size_t size) {
  ssize_t (*next)(int, const void *, size_t) = original("write");
  ssize_t some = allowed("write", file, size);
  return some < 0 ? -1 : next(file, bytes, (size_t)some);
}

#define PWRITE(name, offset_t)                                                 \
  ssize_t name(int file, const void *bytes, size_t size, offset_t offset) {    \
    ssize_t (*next)(int, const void *, size_t, offset_t) = original(#name);    \
    ssize_t some = allowed("write", file, size);                               \
    return some < 0 ? -1 : next(file, bytes, (size_t)some, offset);            \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

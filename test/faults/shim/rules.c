//===- rules.c - which calls of the system fail, and how ------------------===//
#include "Rules.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // guards what follows
static struct {
  char call[32];
  long nth, count;
} rule;
static char how[32];
static long all, left = -1;
static int isRead;

static const struct {
  const char *name;
  int code;
} codes[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
             {"EACCES", EACCES}, {"EBUSY", EBUSY},   {"ENOLCK", ENOLCK},
             {"EROFS", EROFS},   {"EDQUOT", EDQUOT}, {"EPERM", EPERM}};

void *original(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found)
    abort();
  return found;
}

static void readRules(void) {
  const char *fail = getenv("FAULTS_FAIL"), *room = getenv("FAULTS_ROOM");
  isRead = 1;
  if (fail && sscanf(fail, "@%ld:%31s", &rule.nth, how) != 2 &&
      sscanf(fail, "%31[^:]:%ld:%31s", rule.call, &rule.nth, how) != 3)
    abort();
  if (room)
    left = atol(room);
}

static int matches(const char *path) {
  const char *pattern = getenv("FAULTS_MATCH");
  return pattern && path && fnmatch(pattern, path, 0) == 0;
}

/// Writes by system calls, which no rule of this library meets.
static void logCall(const char *call, const char *path) {
  const char *name = getenv("FAULTS_LOG");
  if (!name)
    return;
  char line[PATH_MAX + 64];
  int size = snprintf(line, sizeof line, "%s %s\n", call, path);
  long file = syscall(SYS_openat, AT_FDCWD, name,
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || syscall(SYS_write, file, line, size) != size)
    abort();
  syscall(SYS_close, file);
}

/// Whether the rule is for this call, which it counts.
static int isMeant(const char *call) {
  ++all;
  if (!how[0])
    return 0;
  if (!rule.call[0])
    return all == rule.nth;
  return strcmp(call, rule.call) == 0 &&
         (++rule.count == rule.nth || rule.nth == 0);
}

static enum Outcome outcomeOf(const char *call) {
  if (!isMeant(call))
    return Passes;
  if (strcmp(how, "kill") == 0)
    kill(getpid(), SIGKILL);
  if (strcmp(how, "short") == 0)
    return IsShort;
  // A call that is always interrupted would never end.
  if (strcmp(how, "EINTR") == 0 && rule.nth == 0 && rule.count % 2 == 0)
    return Passes;
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i)
    if (strcmp(how, codes[i].name) == 0) {
      errno = codes[i].code;
      return Fails;
    }
  abort();
}

enum Outcome judge(const char *call, const char *path) {
  if (!matches(path))
    return Passes;
  int saved = errno;
  pthread_mutex_lock(&mutex);
  if (!isRead)
    readRules();
  logCall(call, path);
  errno = saved;
  enum Outcome outcome = outcomeOf(call);
  pthread_mutex_unlock(&mutex);
  return outcome;
}

/// The path of an open file, as the system knows it.
static const char *pathOf(int descriptor, char *to) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, to, PATH_MAX - 1);
  if (size < 0)
    return NULL;
  to[size] = 0;
  return to;
}

enum Outcome judgeFile(const char *call, int descriptor) {
  char path[PATH_MAX];
  int saved = errno;
  const char *found = pathOf(descriptor, path);
  errno = saved;
  return judge(call, found);
}

size_t roomFor(int descriptor, size_t bytes) {
  char path[PATH_MAX];
  if (!getenv("FAULTS_ROOM") || !matches(pathOf(descriptor, path)))
    return bytes;
  pthread_mutex_lock(&mutex);
  if (!isRead)
    readRules();
  size_t fits = left < (long)bytes ? (size_t)left : bytes;
  left -= (long)fits;
  pthread_mutex_unlock(&mutex);
  return fits;
}

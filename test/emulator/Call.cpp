//===- Call.cpp - one call of the emulated libraries ----------------------===//

#include "Call.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

namespace mp::emulator {

std::string format(const char *pattern, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return text;
}

static std::string textOf(const char *value) { return value ? value : ""; }

std::string environment(const char *name) { return textOf(getenv(name)); }

long long setting(const char *text, long long otherwise) {
  char *end = nullptr;
  long long value = text ? strtoll(text, &end, 10) : 0;
  return !text || !*text || *end ? otherwise : value;
}

void log(const std::string &line) {
  // The last line comes after the destructors of the process.
  static auto &path = *new std::string;
  static FILE *file = nullptr;
  std::string wanted = textOf(getenv("MP_EMULATOR_LOG"));
  if (wanted != path) {
    if (file)
      fclose(file);
    path = wanted;
    file = path.empty() ? nullptr : fopen(path.c_str(), "ae");
  }
  if (!file)
    return;
  fprintf(file, "%s\n", line.c_str());
  fflush(file); // a crash must not lose the lines before it
}

void CallLock::lock() {
  std::unique_lock guard(mutex);
  if (owner != std::this_thread::get_id()) {
    free.wait(guard, [&] { return owner == std::thread::id(); });
    owner = std::this_thread::get_id();
  }
  ++depth;
}

void CallLock::unlock() {
  std::lock_guard guard(mutex);
  if (--depth > 0)
    return;
  owner = {};
  free.notify_one();
}

int CallLock::release() {
  std::lock_guard guard(mutex);
  owner = {};
  free.notify_one();
  return std::exchange(depth, 0);
}

void CallLock::take(int held) {
  std::unique_lock guard(mutex);
  free.wait(guard, [&] { return owner == std::thread::id(); });
  owner = std::this_thread::get_id();
  depth = held;
}

void CallLock::wait() {
  std::unique_lock guard(mutex);
  int held = std::exchange(depth, 0);
  auto self = std::exchange(owner, {});
  free.notify_one();
  changed.wait(guard);
  free.wait(guard, [&] { return owner == std::thread::id(); });
  owner = self;
  depth = held;
}

CallLock &lock() {
  static auto *one = new CallLock; // outlives all destructors
  return *one;
}

static std::string withoutVersion(const std::string &name) {
  size_t suffix = name.rfind("_v");
  bool versioned = suffix != std::string::npos && suffix + 3 == name.size();
  return versioned ? name.substr(0, suffix) : name;
}

namespace {
/// MP_EMULATOR_FAIL: "NAME:NTH:ERROR" with commas between; NTH 0 is every call.
struct Failures {
  std::string text;
  std::map<std::string, int> calls;

  int next(const std::string &name) {
    std::string wanted = textOf(getenv("MP_EMULATOR_FAIL"));
    if (wanted != text) {
      text = wanted;
      calls.clear();
    }
    if (text.empty())
      return 0;
    int count = ++calls[name];
    for (size_t start = 0; start < text.size();) {
      size_t end = text.find(',', start);
      std::string item = text.substr(start, end - start);
      char failing[128];
      int nth = 0, error = 0;
      if (sscanf(item.c_str(), "%127[^:]:%d:%d", failing, &nth, &error) != 3)
        fprintf(stderr,
                "mantissa emulator: MP_EMULATOR_FAIL: expected "
                "NAME:NTH:ERROR, found '%s'\n",
                item.c_str());
      else if (withoutVersion(failing) == name && (!nth || nth == count))
        return error;
      start = end == std::string::npos ? text.size() : end + 1;
    }
    return 0;
  }
};
} // namespace

int enter(const char *name, const std::string &details) {
  static auto *failures = new Failures;
  std::string plain = withoutVersion(name);
  int error = failures->next(plain);
  log(plain + (details.empty() ? "" : " ") + details +
      (error ? format(" fails=%d", error) : ""));
  return error;
}

} // namespace mp::emulator

"""Tests of threads under ThreadSanitizer, and of readers under AddressSanitizer and UBSan."""

import os
import subprocess

from _registry import Absent, require

# LLVM's libraries are not instrumented, so only tests whose threads are ours are of use.
THREADS = ("thread-pool-test", "dataset-test", "session-test", "cuda-compile-pool-test", "kernel-cache-test")
READERS = ("data-test", "dataset-test", "program-test", "checkpoint-test", "metrics-test", "inputs-test")
SOURCES = ("runtime/ThreadPool.cpp", "runtime/GroupLimits.cpp", "runtime/Trace.cpp", "support/Error.cpp", "support/Json.cpp", "support/OutputFile.cpp")
ENVIRONMENT = {"MP_CACHE_DIR": "off", "TSAN_OPTIONS": "halt_on_error=1", "ASAN_OPTIONS": "allow_user_poisoning=0:detect_leaks=0",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


RACE = """
#include "runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <unistd.h>
TEST(Race, IsPlanted) {
  mp::ThreadPool pool(4);
  int count = 0;
  pool.run(64, [&](int64_t, unsigned) {
    ++count;
    usleep(1000);
  });
}
"""


def pool(context):
    """Builds the tests of the pool alone, in a few seconds, and a race that has to be found."""
    llvm = "/usr/lib/llvm-22"
    (context.work / "race.cpp").write_text(RACE)
    objects = []
    for file in (*(context.source / name for name in SOURCES), context.source / "test/unit/runtime/thread-pool-test.cpp", context.work / "race.cpp"):
        objects.append(context.work / f"{file.stem}.o")
        done = context.run("clang++-22", "-std=c++20", "-fsanitize=thread", "-O1", "-g", "-I", context.source, "-I", f"{llvm}/include",
                           "-c", file, "-o", objects[-1])
        if done.returncode:
            raise Absent(f"clang++-22 does not build {file}: {done.stdout[-300:]}")
    *library, tests, race = objects
    said = {}
    for name, test in (("tests", tests), ("race", race)):
        context.succeeds("clang++-22", "-fsanitize=thread", *library, test, "-o", context.work / name, "-lgtest", "-lgtest_main",
                         "-L", f"{llvm}/lib", "-lLLVM", f"-Wl,-rpath,{llvm}/lib")
        # A thread that is out of stack is no matter of races.
        said[name] = context.run(context.work / name, "--gtest_filter=-*DeathTest*", environment=ENVIRONMENT)
    require("WARNING: ThreadSanitizer: data race" in said["race"].stdout, f"the planted race is not found: {said['race'].stdout[-500:]}")
    require(said["tests"].returncode == 0 and "WARNING: ThreadSanitizer" not in said["tests"].stdout, said["tests"].stdout[-1500:])
    return said["tests"].stdout.splitlines()[-1].strip()


def run(source, folder):
    """Configures the presets, builds the tests and runs them; the exit status."""
    failed = 0
    for preset, tests in (("tsan", THREADS), ("asan", READERS)):
        build = folder / preset
        subprocess.run(["cmake", "--preset", preset, "-B", build], cwd=source, check=True)
        subprocess.run(["cmake", "--build", build, "--target", *tests], check=True)
        for test in tests:
            done = subprocess.run([build / "bin" / test], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, errors="replace",
                                  check=False)
            report = "Sanitizer" in done.stderr or "runtime error:" in done.stderr
            failed += bool(done.returncode or report)
            print(f"{preset} {test}: {'FAILS' if done.returncode or report else 'no report'}, {done.stdout.splitlines()[-1:]}", flush=True)
            if done.returncode or report:
                print(done.stderr[-6000:], flush=True)
    print(f"sanitizers: {len(THREADS) + len(READERS) - failed} of {len(THREADS) + len(READERS)} without a report")
    return 1 if failed else 0

"""The process: threads, signals, its surroundings, the libraries that it loads, and how it is built."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import _sanitizers
from _context import lines, sha
from _existing import ctest, lit, unit
from _registry import Severity, also, fault, require, shown

KEPT = "checkpoint.safetensors"


@fault(45, "races of threads", Severity.LOSS,
       "ThreadSanitizer finds nothing in the pool, the prefetcher, sessions, the cache and the pool of compilers; AddressSanitizer "
       "and UBSan find nothing in readers",
       by=[unit("thread-pool-test"), unit("dataset-test", "DatasetTest.PrefetchesEveryRecordOnceAnEpoch", "DatasetTest.PrefetcherStopsEarly"),
           unit("session-test"), unit("cuda-compile-pool-test")])
def pool_under_thread_sanitizer(context):
    """the pool is built and tested with ThreadSanitizer; run.py --sanitizers DIR does so with all of them"""
    return _sanitizers.pool(context)


shown(46, "signals", Severity.LOSS,
      "SIGINT and SIGTERM end a run after a step, with a checkpoint, and exit with 130 and 143; a second one ends it at once",
      by=[lit("mp-run/interrupt.test"), unit("trainer-test", "TrainerTest.ASignalSavesAndStops"), lit("mp-run/crash.test"),
          lit("mp-run/signals.test")])


@fault(49, "odd surroundings", Severity.MISLED,
       "locale, time zone, clocks that go back, a large environment, few descriptors and closed streams change no number: the "
       "run ends well, or with an error")
def clocks_descriptors_and_streams(context):
    """clocks that go back an hour, 1 MB of environment, 8 to 40 descriptors, each of stdin, stdout and stderr closed, no PATH, an odd umask"""
    context.net()
    good, run = context.work / "good", context.work / "run"
    context.train("--max-steps", 40, "--out", good)
    command = context.training("--max-steps", 40, "--out", run)
    ways = [("clocks go back an hour", {"environment": context.shim(clock=3600)}, ()),
            ("clocks go ahead 100 years", {"environment": context.shim(clock=-3155760000)}, ()),
            ("a large environment", {"environment": {f"FAULTS_{nth}": "x" * 100_000 for nth in range(10)}}, ()),
            ("no PATH, HOME, LANG, TERM", {}, ("env", "-u", "PATH", "-u", "HOME", "-u", "LANG", "-u", "TERM", context.tools / "mp-run")),
            ("an odd TZ", {"environment": {"TZ": ":/etc/passwd", "LC_ALL": "no such locale"}}, ()),
            ("stdin closed", {}, ("sh", "-c", 'exec "$@" <&-', "sh")), ("stdout closed", {}, ("sh", "-c", 'exec "$@" >&-', "sh")),
            ("stderr closed", {}, ("sh", "-c", 'exec "$@" 2>&-', "sh")), ("all closed", {}, ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")),
            ("umask 777", {}, ("sh", "-c", 'umask 0777; exec "$@"', "sh"))]
    for name, how, before in ways:
        shutil.rmtree(run, ignore_errors=True)
        words = command[1:] if before and str(before[-1]).endswith("mp-run") else command
        done = context.run(*before, *words, **how)
        if "closed" in name and done.returncode == 1:
            # A stream that cannot be written is an error, once all is saved.
            require(name in ("stdout closed", "all closed"), f"{name}: exits with 1: {done.stdout[-300:]}")
        else:
            require(done.returncode == 0 or name == "umask 777" and "error: " in done.stdout, f"{name}: exits with {done.returncode}: {done.stdout[-300:]}")
        require(done.returncode or sha(run / KEPT) == sha(good / KEPT), f"{name}: the run is another one")
        if (run / "metrics.jsonl").exists():
            require(all((line["samples_per_second"] or 0) >= 0 for line in lines(run / "metrics.jsonl")), f"{name}: a negative speed")
    for descriptors in (8, 12, 16, 24, 40):
        shutil.rmtree(run, ignore_errors=True)
        done = context.run("prlimit", f"--nofile={descriptors}", *command)
        require(done.returncode == 0 and sha(run / KEPT) == sha(good / KEPT) or done.returncode in (1, 127) and "error" in done.stdout,
                f"{descriptors} descriptors: exits with {done.returncode}: {done.stdout[-300:]}")
    return f"{len(ways) + 5} ways"


@also(49)
def processes_of_two_containers(context):
    """two pid namespaces with equal process numbers write one run folder and one cache: a lock refuses the second, a killed one leaves nothing"""
    enter = ("unshare", "-Urpf", "--mount-proc") if os.geteuid() else ("unshare", "-pf", "--mount-proc")
    if context.run(*enter, "true").returncode:
        return context.skip("pid namespaces", f"{' '.join(enter)} is not allowed")
    context.net()
    run, cache = context.work / "run", {"MP_CACHE_DIR": str(context.work / "cache")}
    first = context.start(*enter, *context.training("--out", run, "--checkpoint-every", 1), environment=cache)
    while first.poll() is None and not (run / KEPT).exists():
        time.sleep(0.01)
    second = context.refused(*enter, *context.training("--out", run, "--max-steps", 1), environment=cache, says="is being written by process ")
    # Saves of both go to folders of their own, through temporary files of the same number.
    context.succeeds(*enter, *context.training("--out", context.work / "other", "--max-steps", 30, "--checkpoint-every", 1), environment=cache)
    subprocess.run(["pkill", "-KILL", "-P", str(first.pid)], check=False)
    first.kill()
    first.communicate()
    context.train("--resume", run, "--out", run, "--max-steps", 2400)
    left = [path.name for path in run.iterdir() if ".tmp." in path.name or path.name == ".lock"]
    require(not left, f"left are {left}")
    return second.strip().rsplit("/", 1)[-1]


shown(50, "a plugin of another LLVM", Severity.CRASH,
      "a plugin that was built with another LLVM is refused, with both versions",
      by=[ctest("consumer/installed")])

shown(51, "a second OpenMP, odd numbers of threads", Severity.MISLED,
      "a preloaded OpenMP and odd OMP_NUM_THREADS are noticed; threads are no more than the quota of a control group",
      by=[lit("mp-run/threads.test"), lit("mp-run/two-openmps.test"), unit("group-limits-test")])


@fault(52, "oneDNN missing or odd", Severity.CRASH,
       "a oneDNN that cannot be used is an error where it is asked for, and of no effect else; generated kernels compute the same within the tolerance of bf16; mp-run info says what was tried",
       by=[unit("onednn-test"), ctest("acceptance/onednn"), lit("mp-run/libraries.test")])
def hidden_and_broken(context):
    """a oneDNN that is absent, empty, a text, or has no functions; losses of bf16 and fp32 within 2 % of those with oneDNN"""
    context.net()
    module = context.source / "examples" / "fashion-mnist" / "mlp.mlir"
    (context.work / "empty.so").write_bytes(b"")
    (context.work / "text.so").write_text("hello")
    losses = {}
    for name, path in (("none", "/nonexistent/libdnnl.so.2"), ("empty", context.work / "empty.so"), ("text", context.work / "text.so"),
                       ("zlib", "libz.so.1"), ("as it is", "")):
        environment = {"MP_DNNL_PATH": str(path)} if path else {}
        if path:
            context.refused("mp-run", "plan", module, "--batch", "128", "--device", "cpu", "--onednn", "always", says="oneDNN is asked for always", environment=environment)
        for precision in ("bf16", "fp32"):
            run = context.work / f"{name}-{precision}"
            context.succeeds("mp-run", "train", module, "--data", context.data, "--batch", "128", "--max-steps", 60, "--device", "cpu",
                             "--precision", precision, "--out", run, "--onednn", "never" if path else "always", environment=environment)
            losses[name, precision] = lines(run / "metrics.jsonl")[-1]["loss"]
        said = context.succeeds("mp-run", "info", environment=environment)
        require(name == "as it is" or re.search(r"^oneDNN: *no|^oneDNN: .*(not|cannot|missing|none)", said, re.MULTILINE), f"{name}: {said}")
    for precision in ("bf16", "fp32"):
        values = [value for (_, kind), value in losses.items() if kind == precision]
        require(max(values) - min(values) < 0.02 * max(values), f"{precision}: {losses}")
    return ", ".join(f"{precision} {losses['none', precision]:.4f} without, {losses['as it is', precision]:.4f} with" for precision in ("bf16", "fp32"))


# The libraries that docs/reliability.md lists: linked, and opened by name at run time.
LINKED = {"libMantissa.so", "libMantissaRuntime.so", "libMLIR.so", "libLLVM.so", "libz.so", "libpng16.so", "libturbojpeg.so", "libutf8proc.so", "libpcre2-8.so", "libstdc++.so", "libm.so", "libgcc_s.so", "libc.so",
          "ld-linux-x86-64.so"}
OPENED = {"libdnnl.so", "libcuda.so", "libnvrtc.so", "libcublasLt.so", "libcudnn.so",
          "libcudnn_graph.so", "libnvrtc-builtins.so"}
# What is built finds its libraries as what is installed does: not in the folder of the build.
BUILD = ("-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DMP_TESTS=OFF", "-DMP_EXAMPLES=OFF", "-DMP_INSTALL=OFF")


def plain(name):
    """libz.so.1 -> libz.so"""
    return re.sub(r"\.so.*", ".so", name)


@fault(55, "what is built and loaded", Severity.BREACH,
       "two builds in two folders are equal, byte for byte; a tool loads the libraries of this list and no others: "
       "libMantissa, libMantissaRuntime, libMLIR, libLLVM, zlib, libpng, libturbojpeg, libutf8proc, libpcre2-8, libstdc++ and the C library, and, where they are found, "
       "oneDNN, the CUDA driver, NVRTC, cuBLASLt and cuDNN",
       by=[ctest("consumer/installed")])
def loaded_libraries(context):
    """the dynamic sections of all tools, and what the loader opens in runs on the CPU and the emulated device"""
    for tool in ("mp-run", "mp-opt", "mp-translate", "mp-diff", "mp-reduce", "mp-lsp-server", "mp-zoo", "mp-data"):
        if (context.tools / tool).exists():
            needed = {plain(name) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", context.succeeds("readelf", "-d", context.tools / tool))}
            require(needed <= LINKED, f"{tool} is linked with {sorted(needed - LINKED)}")
    context.net()
    opened = set()
    for environment in ({}, {"MP_CUDA_PATH": str(context.build / "test" / "emulator" / "lib")}):
        for command in (("mp-run", "info"), context.training("--max-steps", 1, "--precision", "bf16", "--device", "auto")):
            said = context.succeeds(*command, environment={**environment, "LD_DEBUG": "files"})
            # What the tool itself asks for; a library brings others of its own.
            opened |= {plain(os.path.basename(name)) for name in re.findall(r"file=(\S+) \[0\];  dynamically loaded by \S*(?:mp-run|libMantissa\w*\.so\S*) ", said)}
    require(opened <= OPENED, f"opened are {sorted(opened - OPENED)}")
    return f"opened are {', '.join(sorted(opened)) or 'none'}"


@also(55)
def built_twice(context):
    """support/ (--long: mp-run) is built in two folders, without a cache of compilers"""
    target = context.either("MpSupport", "mp-run")
    trees = [context.work / name for name in ("one", "another-folder")]
    for tree in trees:
        tree.mkdir()
        files = context.succeeds("git", "-C", context.source, "ls-files", "-co", "--exclude-standard", "-z", "--", ":!test/goldens", ":!bench/results").split("\0")
        for file in filter(None, files):
            if (context.source / file).is_file():
                (tree / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(context.source / file, tree / file)
        environment = {"CCACHE_DISABLE": "1"}
        context.succeeds("cmake", "--preset", "release", *BUILD, cwd=tree, environment=environment)
        context.succeeds("cmake", "--build", "build/release", "--target", target, cwd=tree, environment=environment, timeout=3600)
    made = [{path.relative_to(tree): sha(path) for path in sorted((tree / "build").rglob("*")) if path.suffix in (".o", ".a") or path.name == target or ".so" in path.name}
            for tree in trees]
    differ = [str(name) for name in made[0] if made[0][name] != made[1].get(name)]
    require(made[0] and not differ, f"{len(differ)} of {len(made[0])} files differ: {', '.join(differ[:5])}")
    return f"{len(made[0])} equal files"

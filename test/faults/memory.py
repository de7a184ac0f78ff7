"""Memory: plans that do not fit, processes that the system ends, and runs that last."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from _context import lines, npy, sha, step_of
from _existing import lit, unit
from _registry import Absent, Severity, also, fault, require

KEPT = "checkpoint.safetensors"
# 32 GiB of weights, of which AdamW keeps four times as many.
LARGE = """
mp.variable @huge : tensor<1048576x8192xf32> = #mp.init<zeros>
func.func @loss(%x: tensor<?x8192xf32> {mp.name = "x"}) -> (tensor<f32> {mp.name = "loss"}) {
  %w = mp.read @huge : tensor<1048576x8192xf32>
  %y = mp.linear %x, %w : tensor<?x8192xf32>, tensor<1048576x8192xf32>
  %loss = mp.sum %y dims[0, 1] : tensor<?x1048576xf32>
  return %loss : tensor<f32>
}
mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.adamw} }
mp.data @train {x = #mp.column<"large.npy" as npy, f32>}
"""


def large(context):
    npy(context.work / "large.npy", (8, 8192), "<f4", bytes(4 * 8 * 8192))
    (context.work / "large.mlir").write_text(LARGE)
    return ("mp-run", "train", context.work / "large.mlir", "--data", context.work, "--batch", "8", "--out", context.work / "run")


def needs(said):
    """A table of what is large, before anything ran."""
    require("does not fit into memory: " in said and "variable huge" in said and "can be used, as " in said and
            "  total " in said and "the largest are" in said, said[-600:])


@fault(15, "a plan larger than memory", Severity.CRASH,
       "the run is refused before its first step, with what takes how much and how much there is",
       by=[unit("memory-plan-test"), unit("group-limits-test"), lit("mp-run/memory.test")])
def refused_before_the_first_step(context):
    """128 GiB of weights and slots, without a limit, and under limits of 2 and 8 GiB of data"""
    command = large(context)
    for limit in ((), ("prlimit", f"--data={2 << 30}"), ("prlimit", f"--data={8 << 30}")):
        begin = time.monotonic()
        said = context.refused(*limit, *command)
        needs(said)
        require(time.monotonic() - begin < 20, "it took more than 20 s")
        require(not (context.work / "run" / KEPT).exists(), "something was saved")
    return re.search(r"'\w+' does not fit into memory: (.*), as ", said)[1]


@fault(16, "killed in the middle of a step", Severity.LOSS,
       "the next start finds the last checkpoint and a valid cache; where the system ends a process for want of memory, no "
       "less is left",
       by=[lit("mp-run/run-lock.test")])
def killed_while_compiling_and_training(context):
    """one run with a cache is killed 12 times (100 with --long) at random times from its start on, compiling or training, and resumed"""
    context.net()
    kills, long = context.either(12, 100), ("--epochs", 1_000_000)  # no run comes to its end
    run, cache, whole = context.work / "run", context.work / "cache", context.work / "whole"
    context.train("--max-steps", 1, "--checkpoint-every", 1, "--out", run, *long)
    for nth in range(kills):
        if nth % 2:
            shutil.rmtree(cache, ignore_errors=True)
        process = context.start(*context.training("--resume", run, "--out", run, "--checkpoint-every", 10, *long),
                                environment={"MP_CACHE_DIR": str(cache)})
        time.sleep(context.random.uniform(0.02, 0.8))
        process.kill()
        process.communicate()
        require(process.returncode == -signal.SIGKILL, f"exits with {process.returncode}")
        require(context.verify(run).returncode == 0, "the checkpoint is not whole")
    last = step_of(run / KEPT) + 5
    context.train("--resume", run, "--out", run, "--max-steps", last, *long, environment={"MP_CACHE_DIR": str(cache)})
    context.train("--max-steps", last, "--checkpoint-every", 10000, "--out", whole, *long)
    require(sha(run / KEPT) == sha(whole / KEPT), "the resumed run is another one")
    require([line["step"] for line in lines(run / "metrics.jsonl")] == list(range(1, last + 1)), "metrics lack steps")
    return f"{kills} kills, the last at step {last - 5}"


class ControlGroup:
    """Processes of a folder of the system, which together have 400 MiB (cgroup v1)."""

    def __init__(self, context):
        self.context, self.folder = context, Path(f"/sys/fs/cgroup/memory/mp-faults-{os.getpid()}")
        self.started = []

    def __enter__(self):
        try:
            self.folder.mkdir()
            (self.folder / "memory.limit_in_bytes").write_text("400M")
        except OSError as error:
            raise Absent(f"no control group: {error.strerror}: {self.folder}") from error
        return self

    def start(self, score, *command):
        """A process of the group; the one with the highest score is ended first, and one of -1000 never."""
        join = f'echo {score} > /proc/self/oom_score_adj; echo $$ > {self.folder}/cgroup.procs; exec "$@"'
        self.started.append(self.context.start("sh", "-c", join, "sh", *command))
        return self.started[-1]

    def __exit__(self, *_):
        for process in self.started:
            process.kill()
            process.communicate()
        if self.folder.exists():
            time.sleep(0.2)
            self.folder.rmdir()


EATER = "import sys, time\ndata = []\nfor i in range(int(sys.argv[1])):\n    data.append(bytearray(b'x') * (1 << 20))\n    time.sleep(0.01)\n"


@also(16)
def ended_by_the_system(context):
    """a control group has no memory left for a run that trains, and the system ends it"""
    with ControlGroup(context) as group:
        if group.start(0, sys.executable, "-c", EATER, "450").wait() == 0:
            raise Absent("this machine does not enforce the limit of a control group")
        context.net()
        run = context.work / "run"
        context.train("--max-steps", 3, "--out", run)
        train = group.start(1000, *context.training("--resume", run, "--out", run, "--checkpoint-every", 1, "--epochs", 9999999))
        group.start(-1000, sys.executable, "-c", EATER, "450")
        try:
            train.wait(timeout=20)
        except subprocess.TimeoutExpired as late:
            raise Absent("this machine ends another process of the control group") from late
    require(train.returncode == -signal.SIGKILL, f"exits with {train.returncode}")
    require(context.verify(run).returncode == 0, "the checkpoint is not whole")
    steps = step_of(run / KEPT)
    context.train("--resume", run, "--out", run, "--max-steps", steps + 2)
    return f"ended at step {steps}, and resumed"


@fault(17, "a device without memory", Severity.CRASH,
       "what does not fit is refused before the first step with the same table; an allocation that fails ends the run within "
       "5 s, says how many bytes of what, and keeps the checkpoint",
       by=[unit("cuda-failures-test", "CudaFailures.EveryCallInTurn")])
def allocations_fail_in_turn(context):
    """a plan of 128 GiB, and each allocation on the device and in pinned memory fails in turn, with a checkpoint to resume"""
    environment = {"MP_CUDA_PATH": str(context.build / "test" / "emulator" / "lib"), "MP_CACHE_DIR": str(context.work / "cache")}
    needs(context.refused(*large(context), "--device", "cuda", environment=environment))
    context.net()
    run, log = context.work / "run", context.work / "log"
    context.train("--device", "cuda", "--max-steps", 2, "--out", run, environment={**environment, "MP_EMULATOR_LOG": str(log)})
    good, tried = sha(run / KEPT), 0
    for call in ("cuMemAlloc", "cuMemHostAlloc"):
        for nth in range(1, 1 + log.read_text().count(f"\n{call} ")):
            begin = time.monotonic()
            said = context.refused(*context.training("--device", "cuda", "--resume", run, "--out", run, "--max-steps", 4), code=3,
                                   environment={**environment, "MP_EMULATOR_FAIL": f"{call}:{nth}:2"}, says="CUDA_ERROR_OUT_OF_MEMORY")
            require(re.search(r"cannot allocate \d+ bytes of ", said), f"{call} {nth}: {said[-300:]}")
            require(time.monotonic() - begin < 5, f"{call} {nth}: it took {time.monotonic() - begin:.1f} s")
            require(sha(run / KEPT) == good, "the checkpoint has changed")
            tried += 1
    require(tried >= 3, f"only {tried} allocations were found")
    return f"{tried} allocations"


def usage(pid):
    """(resident MiB, open files) of a process."""
    with open(f"/proc/{pid}/statm") as statm:
        pages = int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20, len(os.listdir(f"/proc/{pid}/fd"))


def slowest_percent(metrics):
    """The 99th percentile of the time of a step over the median."""
    times = sorted(1 / json.loads(line)["samples_per_second"] for line in metrics.read_text().splitlines() if "samples_per_second" in line)
    return times[len(times) * 99 // 100] / times[len(times) // 2]


@fault(53, "a run that lasts", Severity.CRASH,
       "memory grows by less than 1 MB in 1,000 steps, and the number of open files stays; on an idle machine, 99 of 100 "
       "steps take less than twice the median",
       by=[unit("step-allocations-test")])
def ten_thousand_steps(context):
    """10,000 steps of examples/fashion-mnist in batches of 16 (100,000 with --long), with checkpoints, metrics and epochs"""
    steps = context.either(10_000, 100_000)
    command = ("mp-run", "train", context.source / "examples" / "fashion-mnist" / "mlp.mlir", "--data", context.data, "--batch", "16",
               "--epochs", steps // 3750 + 1, "--max-steps", steps, "--checkpoint-every", "500", "--device", "cpu", "--out", context.work / "run")
    # A pipe that nobody reads would be full after some 79,000 steps.
    output = context.work / "output.txt"
    with open(output, "w") as file:
        process, samples = context.start(*command, stdout=file), []
    seen = context.work / "run" / KEPT
    stamp = None
    while process.poll() is None:
        time.sleep(0.02)
        # A save is a step whose number is known.
        if seen.exists() and seen.stat().st_mtime_ns != stamp:
            stamp = seen.stat().st_mtime_ns
            try:
                samples.append(usage(process.pid))
            except (OSError, IndexError):
                break
    process.wait()
    require(process.returncode == 0, output.read_text()[-500:])
    require(len(samples) >= steps // 500 * 0.7, f"only {len(samples)} samples of {steps // 500}")
    # The first fifth grows: pools, the first epoch's order.
    rest = samples[len(samples) // 5:-1]
    slope = (sum(mib for mib, _ in rest[-3:]) - sum(mib for mib, _ in rest[:3])) / 3 / ((len(rest) - 3) * 0.5)
    files = {count for _, count in rest}
    require(slope < 1, f"memory grows by {slope:.2f} MiB in 1,000 steps: {samples}")
    require(max(files) - min(files) <= 2, f"open files: {sorted(files)}")  # a checkpoint may be open
    slowest = slowest_percent(context.work / "run" / "metrics.jsonl")
    # Other faults run beside the short form, and take its time.
    require(slowest < 2 or not context.long, f"99 of 100 steps take less than {slowest:.2f} times the median, not 2")
    return f"{slope:+.3f} MiB in 1,000 steps at {rest[-1][0]:.0f} MiB, {min(files)} to {max(files)} files, p99 {slowest:.2f} of the median"

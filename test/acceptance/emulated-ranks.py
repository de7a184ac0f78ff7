#!/usr/bin/env python3
"""Processes with an emulated CUDA device each train to the bits of one that takes as many micro-batches, started by mpirun and
by torchrun's variables.

The stage `ranks` of bench/gpu.sh, with emulated devices in the place of GPUs; and what it has no GPUs for: three ranks, a rank
that is killed, one that is stopped, a signal to one, and a divided optimizer."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

from _acceptance import finish, options

#: Within so many seconds after something has happened, all ranks have ended.
LONGEST = 30


def stage(arguments, work, environment):
    """What the stage finds."""
    result = work / "ranks.json"
    subprocess.run([sys.executable, "-B", arguments.source / "bench" / "gpu" / "ranks.py", "--tools", arguments.tools,
                    "--data", arguments.data, "--work", work, "--json", result, "--quick", "--seconds", "600"],
                   env={**os.environ, **environment}, check=True)
    outcome = json.loads(result.read_text())
    yield from outcome["faults"]
    if outcome["status"] != "ok" or not outcome["rows"]:
        yield f"the stage is {outcome['status']}: {outcome.get('reason')}"


class Torchrun:
    """Runs of a small model, by torchrun's variables or alone."""

    def __init__(self, arguments, work, environment):
        sys.path.insert(0, str(arguments.source / "bench" / "gpu"))
        from _tensors import write_columns  # pylint: disable=import-outside-toplevel
        from _torchrun import Ranks  # pylint: disable=import-outside-toplevel
        self.ranks, self.work, self.environment = Ranks, work, environment
        module = arguments.source / "test" / "models" / "overflow.mlir"
        write_columns(module, work / "data", 256)
        self.command = [arguments.tools / "mp-run", "train", module, "--data", work / "data", "--device", "cuda", "--batch", 16,
                        "--epochs", 2000, "--precision", "fp16"]

    def start(self, ranks, *flags):
        return self.ranks(ranks, [*self.command, *flags], self.environment)

    def same_bits(self, ranks, *flags):
        """Whether so many ranks, which are interrupted and go on, write the checkpoint of one that takes their micro-batches."""
        run, alone = self.work / f"torchrun-{ranks}", self.work / f"alone-{ranks}"
        shutil.rmtree(run, ignore_errors=True)
        for what in (("--max-steps", 8, "--out", run), ("--max-steps", 20, "--resume", run)):
            statuses, output = self.start(ranks, *what, *flags).end(300)
            if any(statuses):
                yield f"{ranks} ranks of torchrun {what} exit with {statuses}:\n{output}"
                return
        single, text = self.start(1, "--max-steps", 20, "--out", alone, "--accumulate", ranks).end(300)
        if any(single):
            yield f"one rank exits with {single}:\n{text}"
        elif (run / "checkpoint.safetensors").read_bytes() != (alone / "checkpoint.safetensors").read_bytes():
            yield f"{ranks} ranks of torchrun {flags} have other bits than one rank"

    def disturbed(self, number, rank, statuses, message):
        """Sends a signal to one of two ranks while they train; all must end in time, with these statuses and one message."""
        run = self.work / f"disturbed-{number}"
        several = self.start(2, "--out", run, "--checkpoint-every", 5)
        until = time.monotonic() + 120
        while not (run / "checkpoint.safetensors").exists():
            if time.monotonic() > until or several.processes[0].poll() is not None:
                return [f"no run to disturb: {several.end(0)}"]
            time.sleep(0.05)
        began, victim = time.monotonic(), several.processes[rank]
        victim.send_signal(number)
        others = [process for process in several.processes if process != victim]
        while time.monotonic() < began + LONGEST and any(process.poll() is None for process in others):
            victim.poll()
            time.sleep(0.02)
        took = time.monotonic() - began
        found, output = several.end(0 if number == signal.SIGSTOP else 1)
        (run / "checkpoint.safetensors").unlink()
        name, said = signal.Signals(number).name, sum(message in line for line in output.splitlines())
        print(f"{name} to rank {rank}: all have ended after {took:.1f} s")
        if found != statuses or said != 1 or took >= LONGEST:
            return [f"after {name}, ranks exit with {found} in {took:.1f} s, expected {statuses} and '{message}' once:\n{output}"]
        return []


def main():
    arguments = options(__doc__)
    work = arguments.work / "emulated-ranks"
    work.mkdir(parents=True, exist_ok=True)
    emulator = arguments.tools.parent / "test" / "emulator" / "lib"
    environment = {"MP_CUDA_PATH": str(emulator), "MP_EMULATOR_DEVICES": "2", "MP_CACHE_DIR": str(work / "cache")}
    faults = list(stage(arguments, work, environment))
    torchrun = Torchrun(arguments, work, {**environment, "MP_EMULATOR_DEVICES": "3"})
    faults += torchrun.same_bits(2, "--shard-optimizer")
    faults += torchrun.same_bits(3)
    faults += torchrun.disturbed(signal.SIGKILL, 1, [1, -9], "rank 1")
    faults += torchrun.disturbed(signal.SIGSTOP, 1, [1, -9], "rank 1 has not answered for")
    faults += torchrun.disturbed(signal.SIGTERM, 1, [143, 143], "interrupted after step")
    finish(faults)


if __name__ == "__main__":
    main()

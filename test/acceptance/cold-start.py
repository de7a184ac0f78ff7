#!/usr/bin/env python3
"""From the start of the process to the end of the first step: under 1.5 seconds.

The step has ended when its line stands in metrics.jsonl. The best of three counts, as the machine may be busy."""

import subprocess
import sys
import time

from _acceptance import finish, options, train_command

LIMIT = 1.5


def first_step(arguments, precision):
    """Seconds until the first line of metrics."""
    run = arguments.work / f"cold-start-{precision}"
    command = train_command(arguments, run, "--precision", precision, "--max-steps", 1)
    path = run / "metrics.jsonl"
    start = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not (path.exists() and b"\n" in path.read_bytes()):
            if process.poll() is not None and not path.exists():
                sys.exit(f"{' '.join(command)}\nexits with {process.returncode} without a step:\n{process.stdout.read()}")
            if time.monotonic() - start > 60:
                process.kill()
                sys.exit(f"{' '.join(command)}\nno step within a minute")
            time.sleep(0.002)
        seconds = time.monotonic() - start
        process.communicate()
    return seconds


def main():
    arguments = options(__doc__)
    faults = []
    for precision in ("fp32", "fp16", "bf16"):
        best = min(first_step(arguments, precision) for _ in range(3))
        print(f"{precision}: {best:.3f} s to the end of the first step")
        if best >= LIMIT:
            faults.append(f"{precision}: {best:.3f} s, expected less than {LIMIT} s")
    finish(faults)


if __name__ == "__main__":
    main()

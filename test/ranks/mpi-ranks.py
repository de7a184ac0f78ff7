#!/usr/bin/env python3
"""Ranks that MPI connects: every collective against plain loops, and what a group says when a rank differs, stops, dies,
comes late or gives up. The program of each case is mpi-ranks.cpp."""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# As root, Open MPI asks to be told twice; more ranks than cores are meant here.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
LONGEST = 30


def mpirun(arguments, ranks, case, program="mpi-ranks"):
    """(exit status, output, seconds) of a case. Everything has to end by itself."""
    command = [arguments.mpirun, "--oversubscribe", "-np", str(ranks), arguments.programs / program, case]
    began = time.monotonic()
    result = subprocess.run(command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=60, check=False)
    took = time.monotonic() - began
    print(f"{program} {case} with {ranks} ranks: {took:.1f} s")
    return result.returncode, result.stdout, took


def succeeds(arguments, ranks, case):
    status, output, _ = mpirun(arguments, ranks, case)
    if status != 0 or output != f"done: {case}\n":
        sys.exit(f"{case} exits with {status}:\n{output}")


def works_beside(arguments, level, name):
    """A program that has initialised MPI itself, with a thread level."""
    status, output, _ = mpirun(arguments, 3, str(level), "mpi-own")
    if status != 0 or output != "done\n":
        sys.exit(f"a program with {name} exits with {status}:\n{output}")


def fails(arguments, ranks, case, learns, says):
    """Each of `learns`, {rank: pattern}, is what a rank learns; `says` stands on the screen once."""
    status, output, took = mpirun(arguments, ranks, case)
    faults = [f"rank {rank} does not learn {pattern!r}" for rank, pattern in learns.items()
              if not re.search(f"^rank {rank} learns: {pattern}$", output, re.MULTILINE)]
    if says and len(re.findall(says, output)) != 1:
        faults.append(f"{says!r} is there {len(re.findall(says, output))} times")
    if status == 0 or took > LONGEST or faults:
        sys.exit(f"{case} exits with {status} after {took:.0f} s: {', '.join(faults)}\n{output}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=Path, required=True, help="folder of mpi-ranks and mpi-own")
    parser.add_argument("--mpirun", required=True)
    arguments = parser.parse_args()
    for ranks in (2, 3, 4):
        succeeds(arguments, ranks, "everything")
    succeeds(arguments, 3, "pieces")
    succeeds(arguments, 2, "ends-apart")
    differ = re.escape("ranks differ in collective 1: rank 0 started all_reduce sum f32 [128], rank 1 all_gather f32 [4]")
    fails(arguments, 3, "differs", {0: differ, 1: differ, 2: differ}, "the group failed\n")
    silent = r"rank 2 has not answered for [23] s"
    fails(arguments, 3, "stopped", {0: silent, 1: silent}, "the group failed\n")
    # Then the next rank speaks for the group.
    lowest = r"rank 0 has not answered for [23] s"
    fails(arguments, 3, "stopped-lowest", {1: lowest, 2: lowest}, "the group failed\n")
    slow = r"rank 2 has not started collective 1 \(all_reduce sum f32 \[1\]\), in which rank [01] has waited for it for [123] s"
    fails(arguments, 3, "late", {0: slow}, "the group failed\n")
    works_beside(arguments, 0, "MPI_THREAD_SINGLE")
    works_beside(arguments, 3, "MPI_THREAD_MULTIPLE")
    # mpirun notices this first, ends the others, and says so itself.
    fails(arguments, 3, "killed", {}, r"signal 9 \(Killed\)")
    fails(arguments, 3, "aborts", {}, r"no data on rank \d\n")


if __name__ == "__main__":
    main()

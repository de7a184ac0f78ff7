#!/usr/bin/env python3
"""What happens to ranks: one is killed, stops, or has other data, another seed or another program; or a host leaves the
network. All ranks end in time, with one message that names the rank, and leave a whole checkpoint, from which a run goes on to
the bits of one that nothing has happened to. Then ranks are killed at random times, over and over; `--kills 200` by hand."""

import argparse
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from _acceptance import example, finish, options, safetensors, train, train_command
from _mpi import LONGEST, Hosts, Ranks, missing

STEPS = 120
FLAGS = ("--threads", 1, "--accumulate", 2, "--max-steps", STEPS, "--checkpoint-every", 5)


def write_data(folder):
    """Few images, so that a run begins soon."""
    draw = random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    for part, samples in (("train", 4000), ("t10k", 40)):
        images, labels = draw.randbytes(samples * 28 * 28), bytes(i % 10 for i in range(samples))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, samples, 28, 28) + images)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, samples) + labels)
    return folder


def command(arguments, run, *flags, module=None):
    return train_command(arguments, run, *FLAGS, *flags, module=module, batch=8)


def resuming(arguments, run):
    """The command that goes on from what is in `run`."""
    words = command(arguments, run.parent / "unused")
    words[words.index("--out") + 1] = run
    return [*words, "--resume", run]


def has_saved(run):
    return (run / "checkpoint.safetensors").exists()


def problems(arguments, what, run, ended, says, left):
    """What is wrong with the end of a run that something has happened to; `says` is a pattern of the one message."""
    status, output, took = ended
    lines = [line for line in output.splitlines() if line.startswith("mp-run:") or re.search(says, line)]
    if status is None or took > LONGEST:
        yield f"{what}: not all ranks have ended after {took:.0f} s:\n{output}"
    if status == 0:
        yield f"{what}: exits with 0"
    if len(lines) != 1 or not re.search(says, lines[0]):
        yield f"{what}: says {lines}, and not once '{says}':\n{output}"
    if left:
        yield f"{what}: the processes of ranks {left} are left"
    if has_saved(run):
        verified = subprocess.run([arguments.tools / "mp-run", "verify", run], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
        if verified.returncode:
            yield f"{what}: {verified.stdout}"
    print(f"{what}: all have ended after {took:.1f} s")


def differ(arguments, faults):
    """Ranks that do not do the same."""
    other = arguments.work / "other-data"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(arguments.data, other)
    labels = bytearray((other / "train-labels-idx1-ubyte").read_bytes())
    labels[8:] = bytes((label + 1) % 10 for label in labels[8:])
    (other / "train-labels-idx1-ubyte").write_bytes(labels)
    changed = arguments.work / "other.mlir"
    changed.write_text(example(arguments).read_text().replace("lr = 1.0e-3", "lr = 2.0e-3"))
    if changed.read_text() == example(arguments).read_text():
        sys.exit(f"{example(arguments)} has no lr = 1.0e-3")
    for what, flags, module, says in (
            ("other data", ("--data", other), None, r"rank 1 has another data than rank 0: \w+, not \w+"),
            ("another seed", ("--seed", 8), None, "rank 1 has another seed than rank 0: 8, not 0"),
            ("another module", (), changed, r"rank 1 has another program \(module, settings or weights' shapes\) than rank 0"),
            ("another precision", ("--precision", "bf16"), None, "rank 1 has another program"),
            ("a mistake", ("--bach", 8), None, "rank 1: unknown option '--bach'"),
            ("no data", ("--data", "/nowhere"), None, "rank 1: cannot open data folder /nowhere")):
        run = arguments.work / "differs"
        ranks = Ranks([command(arguments, run), command(arguments, run, *flags, module=module)])
        ranks.wait_for(lambda: len(ranks.processes()) == 2)
        faults += problems(arguments, what, run, ranks.end(), says, ranks.left())


def ends_alike(arguments, faults, what, run, expected):
    """A run that goes on from `run` reaches the state that was expected."""
    ended = Ranks([resuming(arguments, run)], 2).end()
    if ended[0] != 0:
        faults.append(f"{what}: cannot go on:\n{ended[1]}")
    elif safetensors(run / "checkpoint.safetensors") != expected:
        faults.append(f"{what}: a run that went on has reached another state")


def begin(arguments, name, options=()):
    """A run that has saved a checkpoint."""
    run = arguments.work / name
    ranks = Ranks([command(arguments, run)], 2, options)
    ranks.wait_for(lambda: len(ranks.processes()) == 2 and has_saved(run))
    return run, ranks


def killed(arguments, faults, expected):
    run, ranks = begin(arguments, "killed")
    ranks.signal(1, signal.SIGKILL)
    faults += problems(arguments, "rank 1 is killed", run, ranks.end(), r"process rank 1 .*signal 9", ranks.left())
    ends_alike(arguments, faults, "rank 1 is killed", run, expected)


def stopped(arguments, faults, expected, meanwhile):
    """Ranks that are stopped, of two runs at the same time, as nothing happens for long."""
    runs = []
    for rank in (0, 1):
        runs.append(begin(arguments, f"stopped-{rank}"))
        runs[-1][1].signal(rank, signal.SIGSTOP)
    meanwhile()
    for rank, (run, ranks) in enumerate(runs):
        faults += problems(arguments, f"rank {rank} is stopped", run, ranks.end(), rf"rank {rank} has not answered for 1[5-9] s",
                           ranks.left())
        ends_alike(arguments, faults, f"rank {rank} is stopped", run, expected)


def two_hosts(arguments, faults, expected):
    """Ranks on two hosts reach the same bits; then one host leaves the network."""
    with Hosts(arguments.work / "hosts") as hosts:
        if hosts.why_not:
            print(f"two hosts are left out: {hosts.why_not}")
            return
        run = arguments.work / "hosts-run"
        ended = Ranks([command(arguments, run)], 2, hosts.options()).end()
        if ended[0] != 0 or safetensors(run / "checkpoint.safetensors") != expected:
            faults.append(f"two hosts: exits with {ended[0]}, or has reached another state:\n{ended[1]}")
        run, ranks = begin(arguments, "hosts-cut", hosts.options())
        hosts.cut()
        # Ranks, and mpirun itself, may notice first.
        faults += problems(arguments, "a host leaves the network", run, ranks.end(),
                           r"rank [01] has not answered for 1[5-9] s|lost communication", ranks.left())
    ends_alike(arguments, faults, "a host leaves the network", run, expected)


def killed_at_random(arguments, faults, expected):
    """One run is killed and resumed until it has reached its end, again and again."""
    draw, run, done, whole, began = random.Random(arguments.seed), arguments.work / "random", 0, 0, time.monotonic()
    shutil.rmtree(run, ignore_errors=True)
    while done < arguments.kills:
        ranks = Ranks([resuming(arguments, run) if has_saved(run) else command(arguments, run)], 2)
        until, victim = time.monotonic() + draw.uniform(0.1, 1.5), draw.randrange(2)
        while ranks.running() and time.monotonic() < until:
            ranks.processes()
            time.sleep(0.005)
        killed = ranks.running() and ranks.signal(victim, signal.SIGKILL)
        ended = ranks.end()
        if killed and ended[0] != 0:
            done += 1
            faults += problems(arguments, f"kill {done}, of rank {victim}", run, ended, rf"process rank {victim} .*signal 9",
                               ranks.left())
        elif ended[0] != 0:
            faults.append(f"a run that nobody has killed exits with {ended[0]}:\n{ended[1]}")
            return
        elif safetensors(run / "checkpoint.safetensors") != expected:
            faults.append(f"after {done} kills, a run has reached another state")
            return
        else:
            whole += 1
            shutil.rmtree(run)
    if has_saved(run):
        ends_alike(arguments, faults, f"{done} kills", run, expected)
    print(f"{done} kills, {whole} whole runs, {time.monotonic() - began:.0f} s")


def parse():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--kills", type=int, default=8, help="of a random rank at a random time (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of these times (%(default)s)")
    parser.add_argument("--only-kills", action="store_true", help="nothing else")
    return parser


def main():
    arguments = options(__doc__, [parse()])
    if reason := missing():
        print(reason)
        return
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.data = write_data(arguments.work / "data")
    faults = []
    expected = safetensors(train(arguments, arguments.work / "undisturbed", *FLAGS, batch=8) / "checkpoint.safetensors")
    if not arguments.only_kills:
        stopped(arguments, faults, expected, lambda: differ(arguments, faults))
        killed(arguments, faults, expected)
        two_hosts(arguments, faults, expected)
    killed_at_random(arguments, faults, expected)
    finish(faults)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""N ranks take the steps of one rank with N micro-batches, bit for bit: 200 steps of the example in three precisions with 2, 3
and 4 ranks, with the optimizer's state whole and divided among them, and with a checkpoint that goes from some ranks to others;
and batches of length buckets with 2 ranks.
In fp16 steps overflow every few steps, often on one rank alone, so that ranks have to agree on what they skip.

`--whole` takes every precision with every number of ranks, and then the same with resnet20, which has batch norms and random
crops: half an hour on two cores."""

import argparse
import gzip
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from _acceptance import finish, metrics, options, overflowing_module, ran, safetensors, train, train_command

EXACT = ("step", "loss", "scale", "skipped", "lr", "grad_norm")
STEPS = 200
LIT = Path(__file__).resolve().parents[1] / "lit/mp-run/Inputs"


def on_ranks(arguments, ranks, run, *flags, **how):
    """Trains on so many ranks, of one thread each."""
    # As root, Open MPI asks to be told twice; more ranks than cores are meant here.
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    ran(["mpirun", "--oversubscribe", "-n", str(ranks), *train_command(arguments, run, "--threads", 1, *flags, **how)])
    return run


def compare(faults, what, expected, found, last=STEPS):
    """Adds the metrics and tensors that differ in any bit."""
    one, other = metrics(expected), metrics(found)
    faults += [f"{what}: {key} differs" for key in EXACT if one[key][-last:] != other[key][-last:]]
    a, b = (safetensors(run / "checkpoint.safetensors") for run in (expected, found))
    names = sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
    if names:
        faults.append(f"{what}: {', '.join(names)} differ")
    scores = {re.sub('"seconds":[^,]*', "", (run / "evaluations.jsonl").read_text().splitlines()[-1]) for run in (expected, found)}
    if len(scores) > 1:
        faults.append(f"{what}: evaluations differ")


def resnet20(arguments):
    """The module, with a scaler of its own."""
    path = arguments.work / "resnet20.mlir"
    text = subprocess.run([arguments.tools / "mp-zoo", "resnet20"], stdout=subprocess.PIPE, text=True, check=True).stdout
    path.write_text(re.sub(r"( *)(mp\.train .*?) \{", r'\1mp.scaler @scaler {preset = "torch"}\n\1\2 scaler(@scaler) {', text))
    return path


def few_to_test_on(arguments):
    """A folder with the data, of whose test set 256 samples are there."""
    folder = arguments.work / "few"
    folder.mkdir(parents=True, exist_ok=True)
    for path in arguments.data.glob("*ubyte.gz"):
        link, header = folder / path.name, 16 if "images" in path.name else 8
        link.unlink(missing_ok=True)
        if path.name.startswith("train"):
            link.symlink_to(path)
        else:
            idx = gzip.decompress(path.read_bytes())
            count, size = 256, (len(idx) - header) // int.from_bytes(idx[4:8], "big")
            link.write_bytes(gzip.compress(idx[:4] + count.to_bytes(4, "big") + idx[8:header + count * size]))
    return folder


def same_steps(arguments, faults, precision, ranks, module=None, batch=32):
    name = module.stem if module else "example"
    if precision == "fp16":
        module = overflowing_module(arguments, module)
    folder = arguments.work / f"ranks-{name}-{precision}-{ranks}"
    flags = ("--precision", precision, "--accumulate", ranks, "--eval-every", STEPS // 2)
    how = {"module": module, "batch": batch}
    one = train(arguments, folder / "one", "--max-steps", STEPS, "--threads", 1, *flags, **how)
    whole = on_ranks(arguments, ranks, folder / "whole", "--max-steps", STEPS, *flags, **how)
    what = f"{name}, {precision}, {ranks} ranks"
    compare(faults, what, one, whole)
    divided = on_ranks(arguments, ranks, folder / "divided", "--max-steps", STEPS // 2, "--shard-optimizer", *flags, **how)
    resumed = on_ranks(arguments, ranks, folder / "resumed", "--max-steps", STEPS, "--resume", divided, *flags, **how)
    compare(faults, f"{what}, the first half with a divided optimizer", one, resumed, STEPS // 2)
    alone = train(arguments, folder / "alone", "--max-steps", STEPS, "--resume", divided, *flags, **how)
    compare(faults, f"{what}, one rank from their checkpoint", one, alone, STEPS // 2)
    begun = train(arguments, folder / "begun", "--max-steps", STEPS // 2, *flags, **how)
    joined = on_ranks(arguments, ranks, folder / "joined", "--max-steps", STEPS, "--shard-optimizer", "--resume", begun,
                      *flags, **how)
    compare(faults, f"{what}, from a checkpoint of one", one, joined, STEPS // 2)
    if precision == "fp16" and not any(metrics(one)["skipped"]):
        faults.append(f"{what}: no step was skipped, so that ranks had nothing to agree on")
    print(f"{what}: {sum(metrics(one)['skipped'])} of {STEPS} steps skipped", flush=True)


def same_buckets(arguments, faults):
    """The micro-batches of a step are of one bucket, on all ranks."""
    texts = argparse.Namespace(**vars(arguments))
    texts.data, script = arguments.work / "buckets", LIT / "length-buckets.py"
    subprocess.run([sys.executable, script, "data"], cwd=arguments.work, check=True)
    flags = ("--buckets", "4,8,16", "--precision", "fp16", "--set", "optimizer.lr=0.01")
    how = {"module": "zoo:bert-tiny,tokens=16,vocabulary=64,layers=1", "batch": 3}
    one = train(texts, arguments.work / "buckets-1", "--accumulate", 2, *flags, **how)
    compare(faults, "length buckets", one, on_ranks(texts, 2, arguments.work / "buckets-2", *flags, **how))


def refusals(arguments, faults):
    """What ranks cannot do together is one message."""
    for flags, message in (
            (("--accumulate", 3), "a step has 3 micro-batches, which 2 ranks cannot share equally: --accumulate 4"),
            (("--nan-check", "step"), "--nan-check is for a run of one rank, and this one has 2")):
        command = ["mpirun", "--oversubscribe", "-n", "2", *train_command(arguments, arguments.work / "refused", *flags)]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False, timeout=60)
        if result.returncode == 0 or result.stdout.count(message) != 1:
            faults.append(f"{flags}: exits with {result.returncode}, and not with one '{message}':\n{result.stdout}")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--whole", action="store_true", help="every precision with 2, 3 and 4 ranks, and resnet20")
    arguments = options(__doc__, [parser])
    if not shutil.which("mpirun"):
        print("there is no mpirun: apt-get install openmpi-bin")
        return
    faults = []
    every = list(itertools.product(("fp32", "fp16", "bf16"), (2, 3, 4)))
    for precision, ranks in every if arguments.whole else (("fp32", 3), ("fp16", 4), ("bf16", 2)):
        same_steps(arguments, faults, precision, ranks)
    if arguments.whole:
        arguments.data = few_to_test_on(arguments)
        for precision, ranks in every:
            same_steps(arguments, faults, precision, ranks, resnet20(arguments), batch=8)
    same_buckets(arguments, faults)
    refusals(arguments, faults)
    finish(faults)


if __name__ == "__main__":
    main()

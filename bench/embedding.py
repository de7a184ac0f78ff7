#!/usr/bin/env python3
"""What a training loop of one's own costs: the time of a step of own_arrays (examples/own_arrays.cpp), which draws its batches
itself, divided by that of `mp-run train` on the same network, data, batch and device.

    bench/embedding.py --data /usr/share/datasets/fashion-mnist --json bench/results/embedding.json

Rounds take turns, so that what disturbs the machine disturbs both, and the median of their ratios counts."""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from _machine import ROOT, circumstances

BATCH = 128


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE).stdout


def own_loop(options):
    printed = output(options.tools / "own_arrays", options.data, options.epochs)
    return float(re.search(r"microseconds a step (\S+)", printed).group(1))


def trainer(options, folder):
    output(options.tools / "mp-run", "train", ROOT / "examples/fashion-mnist/mlp.mlir", "--data", options.data, "--batch", BATCH,
           "--epochs", options.epochs, "--drop-last", "--out", folder, "--seed", 1)
    summary = json.loads((folder / "summary.json").read_text())
    return 1e6 * summary["train_seconds"] / summary["steps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Fashion-MNIST")
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run and own_arrays (%(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="of each, taking turns (%(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="in a round (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began, rounds = circumstances(options.tools), []
    print(f"{'mp-run us':>10} {'own us':>10} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            # Each goes first in turn.
            measures = [("mp_run_us", lambda: trainer(options, Path(folder))), ("own_us", lambda: own_loop(options))]
            one = {name: measure() for name, measure in (measures if number % 2 else reversed(measures))}
            rounds.append({**one, "ratio": one["own_us"] / one["mp_run_us"]})
            print(f"{one['mp_run_us']:10.1f} {one['own_us']:10.1f} {rounds[-1]['ratio']:7.3f}", flush=True)
    medians = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    print(f"{medians['mp_run_us']:10.1f} {medians['own_us']:10.1f} {medians['ratio']:7.3f}  median of {len(rounds)}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "batch": BATCH, "medians": medians, "results": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()

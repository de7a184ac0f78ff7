#!/usr/bin/env python3
"""Trains resnet20 on Fashion-MNIST in fp32, fp16 and bf16, with and without a loss scaler, and compares the accuracies.

    bench/resnet20_training.py --runs runs/resnet20 --json bench/results/resnet20-training.json

A run that has ended is not made again: its folder's summary.json is taken, so that some runs can be made at a time
(--only bf16-0). The exit status is 1 if an accuracy is under 0.91, or precisions are more than half a point apart."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from _machine import ROOT, circumstances

# name: precision, seed, scaler (the recipe's if there is none)
RUNS = {
    "fp32-0": ("fp32", 0, None),
    "fp16-0": ("fp16", 0, None),
    "bf16-0": ("bf16", 0, None),
    "bf16-1": ("bf16", 1, None),
    "fp16-no-scaler": ("fp16", 0, "none"),
}
KEPT = ("precision", "seed", "scaler", "test_accuracy", "test_loss", "train_loss", "steps", "skipped_steps", "final_scale",
        "train_seconds", "compile_seconds", "planned_bytes", "peak_rss_bytes")
LEAST, APART = 0.91, 0.005


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "release" / "bin", help="folder of mp-run and mp-zoo")
    parser.add_argument("--data", type=Path, default=Path("/usr/share/datasets/fashion-mnist"), help="folder of Fashion-MNIST")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "resnet20", help="folder of the runs' folders")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=RUNS, nargs="+", help="make these runs, and no others")
    parser.add_argument("--json", type=Path, help="file to write the results to")
    return parser.parse_args()


def train(arguments, module, name):
    precision, seed, scaler = RUNS[name]
    command = [arguments.tools / "mp-run", "train", module, "--data", arguments.data, "--epochs", arguments.epochs, "--batch", 128,
               "--device", "cpu", "--threads", arguments.threads, "--precision", precision, "--seed", seed, "--out", arguments.runs / name]
    subprocess.run([str(part) for part in command + (["--scaler", scaler] if scaler else [])], check=True)


def main():
    arguments = options()
    arguments.runs.mkdir(parents=True, exist_ok=True)
    module = arguments.runs / "resnet20.mlir"
    module.write_text(subprocess.run([arguments.tools / "mp-zoo", "resnet20"], capture_output=True, text=True, check=True).stdout)
    results = {}
    for name in RUNS:
        summary = arguments.runs / name / "summary.json"
        if not summary.exists() and (not arguments.only or name in arguments.only):
            train(arguments, module, name)
        if summary.exists():
            read = json.loads(summary.read_text())
            results[name] = {key: read[key] for key in KEPT}
            print(f"{name:16} accuracy {read['test_accuracy']:.4f}, skipped {read['skipped_steps']}, {read['train_seconds']:.0f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps({**circumstances(arguments.tools), "epochs": arguments.epochs, "runs": results}, indent=1) + "\n")
    scaled = [run["test_accuracy"] for name, run in results.items() if not RUNS[name][2]]
    return bool(scaled and (min(scaled) < LEAST or max(scaled) - min(scaled) > APART))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What loss scaling costs: a step in fp16 with a scaler over one without.

    bench/scaling.py --data /usr/share/datasets/fashion-mnist --json bench/results/scaling.json

Rounds take turns, so that what disturbs the machine disturbs all; of each round the scaled step is divided by the unscaled
one, and the median of these ratios counts. Steps that were skipped write nothing, and would look cheap: where there are
any among those measured, this fails."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _machine import ROOT, circumstances

MODELS = {"mlp": "examples/fashion-mnist/mlp.mlir", "mlp-8x1024": "bench/models/mlp-8x1024.mlir"}


def measure(options, model, scaler, folder):
    """Median microseconds of a step, and the bytes that its launches move."""
    path = folder / "bench.json"
    command = [options.tools / "mp-run", "bench", ROOT / MODELS[model], "--data", options.data, "--batch", options.batch,
               "--precision", "fp16", "--scaler", scaler, "--device", options.device, "--threads", options.threads,
               "--warmup", options.warmup, "--steps", options.steps, "--json", path]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{ended.args}\nexits with {ended.returncode}:\n{ended.stderr}")
    found = json.loads(path.read_text())
    if found["skipped_steps"]:
        sys.exit(f"{model}, {scaler}: {found['skipped_steps']} of the measured steps were skipped: take more --warmup")
    return found["step_microseconds"]["median"], sum(launch["bytes"] for launch in found["launches"])


def compare(options, model, folder):
    rounds = [{scaler: measure(options, model, scaler, folder) for scaler in ["none", *options.scalers]}
              for _ in range(options.rounds)]
    for scaler in options.scalers:
        ratio = statistics.median(one[scaler][0] / one["none"][0] for one in rounds)
        step, unscaled = (statistics.median(one[name][0] for one in rounds) for name in (scaler, "none"))
        moved = rounds[0][scaler][1] / rounds[0]["none"][1]
        print(f"{model:12} {scaler:12} {unscaled:10.1f} {step:10.1f} {ratio:7.3f} {moved:7.3f}", flush=True)
        yield {"model": model, "scaler": scaler, "unscaled_us": unscaled, "scaled_us": step, "ratio": ratio,
               "bytes_ratio": moved, "ratios": [one[scaler][0] / one["none"][0] for one in rounds]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Fashion-MNIST")
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="which (%(default)s)")
    parser.add_argument("--scalers", nargs="+", default=["torch", "megatron", "static:1024"], help="which (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="of each, taking turns (%(default)s)")
    parser.add_argument("--batch", type=int, default=128, help="samples a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=200, help="measured in a round (%(default)s)")
    parser.add_argument("--warmup", type=int, default=60, help="steps before, in which the scale comes down (%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--device", default="cpu", help="(%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began, results = circumstances(options.tools), []
    print(f"{'model':12} {'scaler':12} {'none us':>10} {'scaled us':>10} {'ratio':>7} {'bytes':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            results += compare(options, model, Path(folder))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

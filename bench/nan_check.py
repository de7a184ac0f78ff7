#!/usr/bin/env python3
"""What --nan-check=step costs: a step with records over one without.

    bench/nan_check.py --data /usr/share/datasets/fashion-mnist --json bench/results/nan-check.json

Rounds take turns, so that what disturbs the machine disturbs all; of each round the step with records is divided by the one
without, and the median of these ratios counts. Beside it stand what the steps' launches took, each alone, and the bytes that
the plan and the launches have."""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _machine import ROOT, circumstances

MODELS = {"mlp": "examples/fashion-mnist/mlp.mlir", "mlp-8x1024": "bench/models/mlp-8x1024.mlir"}


def measure(options, model, precision, check, folder):
    """Median microseconds of a step and of its launches, and the bytes that these move and that are planned."""
    path = folder / "bench.json"
    scaler = "static:1024" if precision == "fp16" else "none"
    command = [options.tools / "mp-run", "bench", ROOT / MODELS[model], "--data", options.data, "--batch", options.batch,
               "--precision", precision, "--scaler", scaler, "--device", options.device, "--threads", options.threads,
               "--warmup", options.warmup, "--steps", options.steps, "--json", path, "--nan-check", check]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{ended.args}\nexits with {ended.returncode}:\n{ended.stderr}")
    found = json.loads(path.read_text())
    if found["skipped_steps"]:
        sys.exit(f"{model}, {precision}: {found['skipped_steps']} of the measured steps were skipped, which are cheaper")
    return {"step_us": found["step_microseconds"]["median"], "launches_us": found["launches_microseconds"],
            "moved_bytes": sum(launch["bytes"] for launch in found["launches"]), "planned_bytes": found["planned_bytes"]}


def compare(options, model, precision, folder):
    rounds = [[measure(options, model, precision, check, folder) for check in ("off", "step")] for _ in range(options.rounds)]
    row = {"model": model, "precision": precision}
    for key in ("step_us", "launches_us", "moved_bytes", "planned_bytes"):
        ratios = [checked[key] / off[key] for off, checked in rounds]
        row[key] = {"off": statistics.median(off[key] for off, _ in rounds),
                    "step": statistics.median(checked[key] for _, checked in rounds),
                    "ratio": statistics.median(ratios), "ratios": ratios}
    print(f"{model:12} {precision:5} {row['step_us']['off']:10.1f} " +
          " ".join(f"{row[key]['ratio']:9.4f}" for key in ("step_us", "launches_us", "moved_bytes", "planned_bytes")), flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of Fashion-MNIST")
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="which (%(default)s)")
    parser.add_argument("--precisions", nargs="+", default=["fp16", "bf16", "fp32"], help="which (%(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="of each, taking turns (%(default)s)")
    parser.add_argument("--batch", type=int, default=128, help="records a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=100, help="measured in a round (%(default)s)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before (%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--device", default="cpu", help="(%(default)s)")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    options = parser.parse_args()
    began = circumstances(options.tools)
    print(f"{'model':12} {'':5} {'off us':>10} {'step':>9} {'launches':>9} {'moved':>9} {'planned':>9}   step / off")
    with tempfile.TemporaryDirectory() as folder:
        rows = [compare(options, model, precision, Path(folder)) for model in options.models for precision in options.precisions]
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "results": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

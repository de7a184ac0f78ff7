#!/usr/bin/env python3
"""scripts/train-fashion-mnist.sh works from any folder and prints what it promises."""

import os
import subprocess
import tempfile

from _acceptance import finish, metrics, options, summary

PROMISED = ("loss", "scale", "skipped", "samples/s", "accuracy")
SUMMARY = {"train_loss", "test_accuracy", "steps", "skipped_steps", "final_scale", "compile_seconds", "train_seconds",
           "planned_bytes", "peak_rss_bytes", "precision", "device", "seed"}
METRICS = {"step", "loss", "scale", "skipped", "lr", "grad_norm", "samples_per_second"}


def main():
    arguments = options(__doc__)
    run = arguments.work.resolve() / "train-script"
    preset = arguments.tools.resolve().parent.name  # build/<preset>/bin
    with tempfile.TemporaryDirectory() as elsewhere:
        result = subprocess.run([arguments.source / "scripts" / "train-fashion-mnist.sh", "--max-steps", "100", "--out", run],
                                cwd=elsewhere, env={**os.environ, "MP_PRESET": preset, "MP_DATA": str(arguments.data)},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(result.stdout)
    if result.returncode:
        finish([f"exits with {result.returncode}"])
    faults = [f"says nothing of '{word}'" for word in PROMISED if word not in result.stdout]
    if "\r" in result.stdout or "\x1b" in result.stdout:
        faults.append("draws a progress line although nobody watches a terminal")
    faults += [f"summary.json lacks {key}" for key in sorted(SUMMARY - summary(run).keys())]
    faults += [f"metrics.jsonl lacks {key}" for key in sorted(METRICS - metrics(run).keys())]
    if summary(run).get("precision") != "fp16" or len(metrics(run)["step"]) != 100:
        faults.append(f"expected 100 steps in fp16, got {len(metrics(run)['step'])} in {summary(run).get('precision')}")
    if not (run / "checkpoint.safetensors").is_file():
        faults.append("wrote no checkpoint.safetensors")
    finish(faults)


if __name__ == "__main__":
    main()

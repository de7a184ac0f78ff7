#!/usr/bin/env python3
"""TensorBoard's own reader finds in a run's event files what metrics.jsonl and evaluations.jsonl say, after a resume too.

pip installs the tensorboard package into a virtual environment."""

import json
import shutil
import subprocess
import sys

from _acceptance import finish, metrics, options, train

READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
print(json.dumps({tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))
"""


def scalars(python, run):
    return json.loads(subprocess.run([python, "-c", READ, run], check=True, stdout=subprocess.PIPE, text=True).stdout)


def python_with_tensorboard(arguments):
    folder = arguments.work / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "tensorboard"], check=True)
    return python


def main():
    arguments = options(__doc__)
    faults = []
    python = python_with_tensorboard(arguments)
    # Steps 51 to 60 are lost with the second checkpoint, and made again.
    flags = ("--tensorboard", "--eval-every", 20, "--checkpoint-every", 25)
    run = train(arguments, arguments.work / "run", "--max-steps", 60, *flags)
    shutil.move(run / "checkpoint.previous.safetensors", run / "checkpoint.safetensors")
    subprocess.run([arguments.tools / "mp-run", "train", arguments.source / "examples/fashion-mnist/mlp.mlir", "--data",
                    arguments.data, "--device", "cpu", "--resume", run, "--max-steps", "80", *map(str, flags)], check=True,
                   stderr=subprocess.DEVNULL)
    found = scalars(python, run)
    known = metrics(run)
    names = {"scale": "loss_scale"}
    for key, values in known.items():
        if key == "step":
            continue
        pairs = found.get(f"train/{names.get(key, key)}", [])
        if [step for step, _ in pairs] != known["step"]:
            faults.append(f"{key}: has other steps")
        elif any(abs(value - float(wanted)) > 1e-6 * abs(float(wanted)) for (_, value), wanted in zip(pairs, values)):
            faults.append(f"{key}: has other values")
    lines = [json.loads(line) for line in (run / "evaluations.jsonl").read_text().splitlines()]
    for key in ("loss", "accuracy"):
        pairs = found.get(f"test/{key}", [])
        if [step for step, _ in pairs] != [line["step"] for line in lines] or len(pairs) != 4:
            faults.append(f"test {key}: {pairs}, expected {lines}")
    print(f"{len(found)} tags, {sum(map(len, found.values()))} scalars of {known['step'][-1]} steps")
    finish(faults)


if __name__ == "__main__":
    main()

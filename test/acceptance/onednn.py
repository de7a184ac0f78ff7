#!/usr/bin/env python3
"""Training gives the same results with oneDNN and with generated products alone.

Both sum products of f32 in f32, in another order: fp32 losses of ten steps within 1e-5 relative, bf16 within 1e-2
(oneDNN's bf16 dot products flush subnormals). fp16 has no oneDNN product, so there the bits must be equal."""

import re
import subprocess

from _acceptance import example, finish, metrics, options, train

TOLERANCE = {"fp32": 1e-5, "bf16": 1e-2, "fp16": 0.0}


def losses(arguments, precision, use):
    return metrics(train(arguments, arguments.work / f"onednn-{precision}-{use}", "--precision", precision,
                         "--max-steps", 10, "--onednn", use))["loss"]


def program(arguments):
    """Text of the fp32 step's Program if oneDNN may be used."""
    command = [arguments.tools / "mp-translate", "--mp-to-program", "--mp-onednn", "--mp-precision=fp32",
               "--mp-batch=128", "--mp-total-steps=10", example(arguments)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    arguments = options(__doc__)
    faults = []
    info = subprocess.run([arguments.tools / "mp-run", "info"], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(r"oneDNN:\s+\d", info):
        faults.append(f"there is no oneDNN here, so nothing was compared:\n{info}")
    if "call dnnl.matmul" not in program(arguments):
        faults.append("the fp32 step calls no oneDNN product")
    for precision, tolerance in TOLERANCE.items():
        ours, theirs = losses(arguments, precision, "never"), losses(arguments, precision, "always")
        off = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
        print(f"{precision}: loss differs by {off:.1e} relative at most (limit {tolerance:.0e})")
        if not off <= tolerance:
            faults.append(f"{precision}: {ours} without oneDNN, {theirs} with it")
    finish(faults)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the goldens beside this file. Needs PyTorch; README.md here says how."""

import argparse
import importlib
import sys
from pathlib import Path

import torch

import adaptive
import colors
import ctc
import mlp
import optimizers
import recurrent
import scaler
import scaler_protocol
import scaler_traces
import sparse
from files import write_json, write_safetensors

HERE = Path(__file__).resolve().parent
FAMILIES = sorted(path.stem for path in (HERE / "ops").glob("*.py"))


def write_family(name):
    """Goldens of a family of ops: ops/NAME.py yields cases, as cases.py makes them, from a generator of random numbers."""
    cases = list(importlib.import_module(f"ops.{name}").cases(torch.Generator().manual_seed(2)))
    write_json(HERE / "ops" / f"{name}.json", {
        "torch": torch.__version__,
        "forward": [c for c in cases if "outputs" in c],
        "backward": [c for c in cases if "gradients" in c]})


def write_steps(data):
    weights, steps = mlp.goldens(data)
    write_safetensors(HERE / "mlp-init.safetensors", weights)
    write_json(HERE / "mlp-steps.json", steps)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of Fashion-MNIST's idx.gz files")
    arguments.add_argument("what", nargs="*", help="mlp, scaler, scaler-traces, scaler-protocol, colors, recurrent, ctc, adaptive, optimizers, sparse or a family of ops; all by default")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    writers = {
        "mlp": lambda: write_steps(options.data),
        "scaler": lambda: write_json(HERE / "scaler-updates.json", scaler.goldens()),
        "scaler-traces": lambda: write_json(HERE / "scaler-traces.json", scaler_traces.goldens()),
        "scaler-protocol": lambda: write_json(HERE / "scaler-protocol.json", scaler_protocol.goldens()),
        "colors": lambda: write_json(HERE / "colors.json", colors.goldens()),
        "recurrent": lambda: write_json(HERE / "recurrent.json", recurrent.goldens()),
        "ctc": lambda: write_json(HERE / "ctc.json", ctc.goldens()),
        "adaptive": lambda: write_json(HERE / "adaptive.json", adaptive.goldens()),
        "optimizers": lambda: write_json(HERE / "optimizers.json", optimizers.goldens()),
        "sparse": lambda: write_json(HERE / "sparse.json", sparse.goldens()),
        **{name: lambda name=name: write_family(name) for name in FAMILIES}}
    for name in options.what or writers:
        if name not in writers:
            arguments.error(f"unknown goldens \"{name}\", expected {', '.join(writers)}")
        writers[name]()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the goldens beside this file. Needs PyTorch; README.md here says how."""

import argparse
from pathlib import Path

import torch

import mlp
import ops
import scaler
from files import write_json, write_safetensors

HERE = Path(__file__).resolve().parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of Fashion-MNIST's idx.gz files")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    weights, steps = mlp.goldens(options.data)
    write_safetensors(HERE / "mlp-init.safetensors", weights)
    write_json(HERE / "mlp-steps.json", steps)
    write_json(HERE / "scaler-updates.json", scaler.goldens())
    write_json(HERE / "ops.json", ops.goldens())


if __name__ == "__main__":
    main()

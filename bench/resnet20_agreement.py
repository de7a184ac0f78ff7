#!/usr/bin/env python3
"""Trains resnet20 from PyTorch's weights, here and in PyTorch, and compares the losses of each step and the last weights;
and with PyTorch in double, which tells whose rounding the difference is.

    python3 -m venv VENV && VENV/bin/pip install torch numpy
    VENV/bin/python bench/resnet20_agreement.py --precision fp32 bf16 --json resnet20-agreement.json

Both take the same samples in order, without random crops, and PyTorch takes the learning rates from our metrics."""

import argparse
import copy
import gzip
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from _machine import ROOT, circumstances
from _networks import plain, printed
from rivals.resnet20 import ResNet20

DTYPES = {"fp32": None, "bf16": torch.bfloat16}


def read_idx(path):
    data = gzip.open(path).read()
    shape = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def write_safetensors(path, state):
    """A state_dict as safetensors.torch.save_file writes it."""
    header, data = {}, b""
    for name, tensor in state.items():
        values = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    return {name: np.frombuffer(content, np.float32, offset=8 + size + entry["data_offsets"][0], count=int(np.prod(entry["shape"])))
            .reshape(entry["shape"]) for name, entry in header.items() if name != "__metadata__" and entry["dtype"] == "F32"}


def loss_of(model, images, labels, dtype):
    with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        logits = model(images)
    return F.cross_entropy(logits.float() if dtype else logits, labels)


def torch_losses(model, images, labels, batch, rates, dtype, loss_of=loss_of):
    """The losses of a step for each rate."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    losses = []
    for step, rate in enumerate(rates):
        rows = slice(step * batch, (step + 1) * batch)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss = loss_of(model, images[rows], labels[rows], dtype)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def farthest(some, others):
    """The largest difference, relative to `others`."""
    return max(abs(one - other) / abs(other) for one, other in zip(some, others, strict=True))


def compare(options, precision, data):
    torch.manual_seed(0)
    model = ResNet20()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "resnet20.mlir").write_text(plain(printed(options.tools, "resnet20")))
        write_safetensors(folder / "weights.safetensors", model.state_dict())
        subprocess.run([options.tools / "mp-run", "train", folder / "resnet20.mlir", "--data", options.data, "--batch", str(options.batch),
                        "--max-steps", str(options.steps), "--precision", precision, "--scaler", "none", "--no-shuffle", "--device", "cpu",
                        "--init", folder / "weights.safetensors", "--out", folder / "run"], check=True, stdout=subprocess.DEVNULL)
        metrics = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
        trained = read_safetensors(folder / "run" / "checkpoint.safetensors")
    steps = [line for line in metrics if "loss" in line and "step" in line]
    rates, found = [line["lr"] for line in steps], [line["loss"] for line in steps]
    exact = torch_losses(copy.deepcopy(model).double(), *data, options.batch, rates, None)
    theirs = torch_losses(model, *data, options.batch, rates, DTYPES[precision])
    final = {name: value.detach().numpy() for name, value in model.state_dict().items() if value.is_floating_point()}
    far = {name: float(np.abs(trained[name] - value).max() / max(np.abs(value).max(), 1e-6)) for name, value in final.items()}
    worst = max(far, key=far.get)
    result = {"precision": precision, "steps": len(steps), "losses": found, "losses_pytorch": theirs, "losses_pytorch_in_double": exact,
              "difference_from_pytorch": farthest(found, theirs), "difference_from_double": farthest(found, exact),
              "difference_of_pytorch_from_double": farthest(theirs, exact), "largest_weight_difference": far[worst], "weight": worst}
    print(f"{precision}: losses differ from PyTorch's by at most {result['difference_from_pytorch']:.1e}, from those in double by "
          f"{result['difference_from_double']:.1e}, and PyTorch's from those by {result['difference_of_pytorch_from_double']:.1e}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--data", type=Path, default=Path("/usr/share/datasets/fashion-mnist"), help="Fashion-MNIST (%(default)s)")
    parser.add_argument("--precision", nargs="+", choices=DTYPES, default=["fp32", "bf16"])
    parser.add_argument("--batch", type=int, default=128, help="samples a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=10, help="(%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began = circumstances(options.tools)
    count = options.batch * options.steps
    data = (torch.from_numpy(read_idx(options.data / "train-images-idx3-ubyte.gz")[:count].copy()),
            torch.from_numpy(read_idx(options.data / "train-labels-idx1-ubyte.gz")[:count].copy()).long())
    results = [compare(options, precision, data) for precision in options.precision]
    if options.json:
        options.json.write_text(json.dumps({**began, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

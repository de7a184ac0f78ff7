#!/usr/bin/env python3
"""Trains networks of mp-zoo from torchvision's weights, here and in torchvision, and compares the losses of each step; and with
torchvision in double, which tells whose rounding the difference is.

    python3 -m venv VENV && VENV/bin/pip install torch torchvision numpy
    VENV/bin/python bench/zoo_agreement.py --precision fp32 bf16 --json zoo-agreement.json

Both take the same made-up photographs in order, without dropout, and torchvision takes the learning rates from our metrics. Where
a few samples decide a batch norm, a difference in the last bit grows with every step, in torchvision as here."""

import argparse
import copy
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

from _machine import ROOT, circumstances
from _networks import write_npy
from resnet20_agreement import DTYPES, farthest, torch_losses, write_safetensors

#: The network in torchvision, and the least pixels of images that it takes.
NETWORKS = {
    "alexnet": (torchvision.models.alexnet, 64),
    "vgg16": (torchvision.models.vgg16, 64),
    "googlenet": (lambda **more: torchvision.models.googlenet(init_weights=False, **more), 64),
    "inception-v3": (lambda **more: torchvision.models.inception_v3(init_weights=False, **more), 299),
    "resnet18": (torchvision.models.resnet18, 64),
    "resnet50": (torchvision.models.resnet50, 64),
    "mobilenet-v2": (torchvision.models.mobilenet_v2, 64),
    "vit-tiny": (lambda num_classes: torchvision.models.VisionTransformer(64, 16, 12, 3, 192, 768, num_classes=num_classes), 64),
}


def without_dropout(text):
    """The module in which each dropout is its operand."""
    kept = []
    for line in text.splitlines():
        dropped = re.match(r"\s*(%\w+) = mp\.dropout (%\w+)", line)
        if dropped:
            text = re.sub(rf"{dropped[1]}\b", dropped[2], text)
    for line in text.splitlines():
        if "mp.dropout" not in line:
            kept.append(line)
    return "\n".join(kept)


def loss_of(model, images, labels, dtype):
    """The loss that is minimized: that of the last layer, and 0.3 of those in the middle."""
    weight = next(model.parameters())
    scaled = (images.to(weight.dtype) / 255 - 0.4490) / 0.2260
    with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        logits = model(scaled.permute(0, 3, 1, 2))
    parts = logits if isinstance(logits, tuple) else (logits,)
    losses = [F.cross_entropy(part.float() if dtype else part, labels) for part in parts]
    return losses[0] + sum(0.3 * loss for loss in losses[1:])


def torchvision_model(name):
    torch.manual_seed(0)
    model = NETWORKS[name][0](num_classes=10).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    if name == "vit-tiny":  # its last layer begins with zeros, which would hide the others
        torch.nn.init.normal_(model.heads.head.weight, std=0.02)
    return model


def compare(options, name, precision):
    side, count = NETWORKS[name][1], options.batch * options.steps
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (count, side, side, 3), np.uint8)
    labels = random.integers(0, 10, count, np.uint8)
    model = torchvision_model(name)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text = subprocess.run([options.tools / "mp-zoo", name, "--image", str(side), "--classes", "10", "--data", "arrays"], check=True,
                              capture_output=True, text=True).stdout
        (folder / "network.mlir").write_text(without_dropout(text))
        for part in ("train", "test"):
            write_npy(folder / f"{part}-images.npy", images.shape, images.tobytes())
            write_npy(folder / f"{part}-labels.npy", labels.shape, labels.tobytes())
        write_safetensors(folder / "weights.safetensors", model.state_dict())
        subprocess.run([options.tools / "mp-run", "train", folder / "network.mlir", "--data", folder, "--batch", str(options.batch),
                        "--max-steps", str(options.steps), "--precision", precision, "--scaler", "none", "--no-shuffle", "--device", "cpu",
                        "--init", folder / "weights.safetensors", "--out", folder / "run"], check=True, stdout=subprocess.DEVNULL)
        metrics = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    steps = [line for line in metrics if "loss" in line and "step" in line]
    rates, found = [line["lr"] for line in steps], [line["loss"] for line in steps]
    data = torch.from_numpy(images), torch.from_numpy(labels).long()
    exact = torch_losses(copy.deepcopy(model).double(), *data, options.batch, rates, None, loss_of)
    theirs = torch_losses(model, *data, options.batch, rates, DTYPES[precision], loss_of)
    result = {"network": name, "image": side, "precision": precision, "steps": len(steps), "losses": found, "losses_pytorch": theirs,
              "losses_pytorch_in_double": exact, "difference_of_first_step": farthest(found[:1], theirs[:1]),
              "difference_from_pytorch": farthest(found, theirs),
              "difference_from_double": farthest(found, exact), "difference_of_pytorch_from_double": farthest(theirs, exact)}
    print(f"{name:13} {precision}: losses differ from PyTorch's by {result['difference_of_first_step']:.1e} in the first step and at most "
          f"{result['difference_from_pytorch']:.1e}, from those in double by {result['difference_from_double']:.1e}, and PyTorch's from those "
          f"by {result['difference_of_pytorch_from_double']:.1e}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run and mp-zoo (%(default)s)")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS), help="(all)")
    parser.add_argument("--precision", nargs="+", choices=DTYPES, default=["fp32"], help="(fp32)")
    parser.add_argument("--batch", type=int, default=4, help="samples a step (%(default)s)")
    parser.add_argument("--steps", type=int, default=10, help="(%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began = circumstances(options.tools)
    results = [compare(options, name, precision) for name in options.networks for precision in options.precision]
    if options.json:
        options.json.write_text(json.dumps({**began, "torchvision": torchvision.__version__, "batch": options.batch, "results": results},
                                           indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Networks of mp-zoo agree with torchvision's and Hugging Face's: losses of ten steps in fp32 and bf16, and the gradients of the
first, from the same weights and samples (test/goldens/zoo.py).

In fp32 a loss may differ by 1e-4, and an element of a gradient by 1e-3 of the gradient's largest. Under autocast to bf16 a loss may
differ by 2e-2 from PyTorch's in f32. Where an activation lies within its rounding of a kink, as of relu, the gradients of all before
may be those of the other side. Weights that differ by one rounding leave that place, and no error."""

import importlib
import json
import subprocess
import sys

from _acceptance import import_numpy, metrics, options, safetensors

np = import_numpy()

LOSS, GRADIENT, MIXED = 1e-4, 1e-3, 2e-2
TRIALS = 3  # of weights


def run(arguments, folder, name, *flags):
    """Trains from the formula's weights without shuffling."""
    subprocess.run([str(word) for word in (
        arguments.tools / "mp-run", "train", folder / "network.mlir", "--data", folder, "--no-shuffle", "--scaler", "none",
        "--device", "cpu", "--init", folder / "weights.safetensors", "--out", folder / name, *flags)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / name


def apart(found, expected):
    return max(abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True))


def gradients_apart(cases, checkpoint, expected):
    """The largest difference of an element, as a part of its gradient's largest; after one step, the momentum is the gradient."""
    found = safetensors(checkpoint)
    farthest = (0, "")
    for name, (size, *golden) in expected.items():
        ours = cases.fingerprint(name, np.frombuffer(found[f"{name}.momentum_buffer"][2], np.float32))
        difference = max(abs(a - b) for a, b in zip([ours[0], *ours[2:]], [golden[0], *golden[2:]], strict=True)) / size
        if golden[0] == size:
            difference = max(difference, abs(ours[1] - golden[1]) / golden[1])
        farthest = max(farthest, (difference, name))
    return farthest


def disturbed(weights, seed):
    """The weights, each larger or smaller by one rounding, or as it was."""
    random = np.random.default_rng(seed)
    return {name: (value * (1 + 2.0 ** -23 * random.integers(-1, 2, value.shape))).astype(value.dtype)
            for name, value in weights.items()}


def compare(arguments, cases, write_safetensors, name, golden):
    case = cases.CASES[name]
    if golden["case"] != case:
        sys.exit(f"{name}: zoo.json was made of another case: run test/goldens/zoo.py")
    folder = arguments.work / name
    folder.mkdir(parents=True, exist_ok=True)
    text = cases.module(arguments.tools, case)
    (folder / "network.mlir").write_text(text)
    weights = cases.weights(text, case)
    write_safetensors(folder / "weights.safetensors", weights)
    for part, array in cases.arrays(case).items():
        np.save(folder / f"{part}.npy", array)
    batch = ("--batch", case["batch"])
    single = metrics(run(arguments, folder, "fp32", *batch, "--precision", "fp32"))["loss"]
    mixed = metrics(run(arguments, folder, "bf16", *batch, "--precision", "bf16"))["loss"]
    for trial in range(TRIALS):
        if trial:
            print(f"{name:15} gradients {gradient:.1e} ({where}): once more from weights that differ by a rounding", flush=True)
            write_safetensors(folder / "weights.safetensors", disturbed(weights, trial))
        first = run(arguments, folder, f"first-{trial}", *batch, "--precision", "fp32", "--max-steps", 1)
        gradient, where = gradients_apart(cases, first / "checkpoint.safetensors", golden["gradients"])
        if gradient <= GRADIENT:
            break
    losses, halves = apart(single, golden["losses_f32"]), apart(mixed, golden["losses_f32"])
    print(f"{name:15} losses {losses:.1e} (from double {apart(single, golden['losses']):.1e}), gradients {gradient:.1e} ({where}), "
          f"bf16 {halves:.1e} (PyTorch's {apart(golden['losses_bf16'], golden['losses_f32']):.1e})", flush=True)
    return losses <= LOSS and gradient <= GRADIENT and halves <= MIXED


def main():
    arguments = options(__doc__)
    goldens = arguments.source / "test" / "goldens"
    sys.path.insert(0, str(goldens))
    write = importlib.import_module("files").write_safetensors
    cases = {name: module for module in map(importlib.import_module, ("zoo_cases", "text_cases")) for name in module.CASES}
    networks = json.loads((goldens / "zoo.json").read_text())["networks"]
    differ = [name for name, golden in networks.items() if not compare(arguments, cases[name], write, name, golden)]
    if differ:
        sys.exit(f"{', '.join(differ)}: further from PyTorch than {LOSS} (losses), {GRADIENT} (gradients) or {MIXED} (bf16)")
    print(f"{len(networks)} networks agree")


if __name__ == "__main__":
    main()

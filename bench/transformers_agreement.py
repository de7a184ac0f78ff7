#!/usr/bin/env python3
"""Trains the zoo's transformers from the weights of Hugging Face's, here and in PyTorch, and compares the losses of each step, the
gradients of the first and the last weights; and with PyTorch in double, which tells whose rounding the difference is. Then trains one in
fp16 from a loss scale of 2^32, and compares which steps are skipped with PyTorch's GradScaler.

    python3 -m venv VENV && VENV/bin/pip install torch transformers numpy
    VENV/bin/python bench/transformers_agreement.py --json transformers-agreement.json

Both take the same made-up samples in order, without dropout, and PyTorch takes the learning rates from our metrics. Weights are read from
the file that save_pretrained writes. A loss is compared relative to PyTorch's, and a gradient relative to its largest element in double:
PyTorch's own in f32 are further from that where rounding decides on which side of relu's kink an activation is. In bf16, a loss may also be
from PyTorch's by twice what PyTorch's is from those in double."""

import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

import _transformers
from _machine import ROOT, circumstances
from resnet20_agreement import farthest, read_safetensors

LAYERS, BATCH, STEPS = 2, 4, 10
NETWORKS = {kind.zoo: kind for kind in (_transformers.Gpt2, _transformers.Bert, _transformers.BertMaskedLm, _transformers.T5,
                                        _transformers.Llama32, _transformers.Vit, _transformers.TinyLlama)}
DTYPES = {"fp32": None, "bf16": torch.bfloat16}
LOSS, GRADIENT = {"fp32": 1e-5, "bf16": 1e-3}, 1e-4


def optimizer_of(network, model):
    named = list(model.named_parameters())
    decays = [value for name, value in named if name.endswith("weight") and not re.search(network.plain, name)]
    others = [value for name, value in named if not name.endswith("weight") or re.search(network.plain, name)]
    return torch.optim.AdamW([{"params": decays, "weight_decay": network.weight_decay}, {"params": others, "weight_decay": 0}],
                             betas=network.betas)


def torch_steps(network, model, rates, dtype, scaler=None):
    """The losses of a step for each rate, the gradients of the first step, and whether each was skipped."""
    optimizer, scaler = optimizer_of(network, model), scaler or torch.amp.GradScaler("cpu", enabled=False)
    losses, gradients, skipped = [], {}, []
    for step, rate in enumerate(rates):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = network.loss(model, step)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        gradients = gradients or {name: value.grad.numpy().copy() for name, value in model.named_parameters()}
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scale = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
        skipped.append(scaler.get_scale() < scale)
    return losses, gradients, skipped


class Ours:
    """A folder with the module, the samples and the weights of a network, and its runs."""

    def __init__(self, options, network, folder):
        self.tools, self.network, self.folder = options.tools, network, folder
        torch.manual_seed(0)
        self.model = network.model().train()
        network.data(folder, np.random.default_rng(0))
        module = subprocess.run([options.tools / "mp-zoo", *network.arguments()], check=True, capture_output=True, text=True).stdout
        self.module = network.text(re.sub(r"mp\.data @test .*\n", "", module))
        self.model.save_pretrained(folder / "weights")

    def train(self, name, module, steps, *flags):
        """The metrics of the steps and the last state."""
        (self.folder / "network.mlir").write_text(module)
        subprocess.run([self.tools / "mp-run", "train", self.folder / "network.mlir", "--data", self.folder, "--batch",
                        str(self.network.batch), "--max-steps", str(steps), "--no-shuffle", "--device", "cpu", "--init",
                        self.folder / "weights" / "model.safetensors", "--out", self.folder / name, *flags],
                       check=True, stdout=subprocess.DEVNULL)
        metrics = [json.loads(line) for line in (self.folder / name / "metrics.jsonl").read_text().splitlines()]
        state = read_safetensors(self.folder / name / "checkpoint.safetensors")
        return [line for line in metrics if "loss" in line and "step" in line], state

    def gradients(self):
        """The gradients of the first step: after one step of SGD, the momentum is the gradient."""
        module = re.sub(r"#mp\.adamw<[^>]*>", "#mp.sgd<lr = 1.0e-3, momentum = 0.9>", self.module)
        module = re.sub(r" attributes \{clip_norm = [^}]*\}", "", module)
        state = self.train("first", module, 1, "--precision", "fp32", "--scaler", "none")[1]
        return {name: state[f"{self.network.in_file(name)}.momentum_buffer"] for name, _ in self.model.named_parameters()}


def apart(network, found, expected):
    """{name: the largest difference, relative to the largest element}, of parameters whose gradient is more than rounding."""
    return {name: float(np.abs(found[name] - value).max() / max(np.abs(value).max(), 1e-9)) for name, value in expected.items()
            if not re.search(network.without_gradient, name)}


def worst(far):
    name = max(far, key=far.get)
    return far[name], name


def compare(options, kind):
    network, results = kind(LAYERS, BATCH, STEPS), []
    with tempfile.TemporaryDirectory() as name:
        ours = Ours(options, network, Path(name))
        runs = {precision: ours.train(precision, ours.module, STEPS, "--precision", precision, "--scaler", "none")
                for precision in options.precision}
        first = ours.gradients()
    rates = [line["lr"] for line in next(iter(runs.values()))[0]]
    exact, exact_first, _ = torch_steps(network, copy.deepcopy(ours.model).double(), rates, None)
    for precision, (metrics, state) in runs.items():
        model = copy.deepcopy(ours.model)
        found = [line["loss"] for line in metrics]
        theirs, their_first, _ = torch_steps(network, model, rates, DTYPES[precision])
        final = {name: value.detach().numpy() for name, value in model.named_parameters()}
        far = apart(network, {name: state[network.in_file(name)] for name in final}, final)
        result = {"network": network.zoo, "options": " ".join(network.options), "parameters": sum(value.numel() for value in model.parameters()),
                  "precision": precision, "losses": found, "losses_pytorch": theirs, "losses_pytorch_in_double": exact,
                  "difference_from_pytorch": farthest(found, theirs), "difference_from_double": farthest(found, exact),
                  "difference_of_pytorch_from_double": farthest(theirs, exact)}
        result["largest_weight_difference"], result["weight"] = worst(far)
        print(f"{network.zoo} {precision}: losses differ from PyTorch's by at most {result['difference_from_pytorch']:.1e}, from those in "
              f"double by {result['difference_from_double']:.1e}, and PyTorch's from those by "
              f"{result['difference_of_pytorch_from_double']:.1e}; weights by {worst(far)[0]:.1e} ({worst(far)[1]})", flush=True)
        own = 2 * result["difference_of_pytorch_from_double"] if DTYPES[precision] else 0
        result["agrees"] = result["difference_from_pytorch"] <= max(LOSS[precision], own)
        if precision == "fp32":
            far, from_double = (apart(network, first, expected) for expected in (their_first, exact_first))
            result["gradients"], result["largest_gradient_difference"], result["gradient"] = len(far), *worst(far)
            result["largest_gradient_difference_from_double"] = worst(from_double)[0]
            result["agrees"] &= worst(from_double)[0] <= GRADIENT
            print(f"{network.zoo}: {len(far)} gradients differ from PyTorch's by at most {worst(far)[0]:.1e} ({worst(far)[1]}), and from "
                  f"those in double by {worst(from_double)[0]:.1e}", flush=True)
        results.append(result)
    return results


def compare_skips(options, growth_interval, steps=40):
    """The steps that are skipped in fp16 from a scale of 2^32."""
    network = _transformers.CharGpt(LAYERS, BATCH, steps)
    with tempfile.TemporaryDirectory() as name:
        ours = Ours(options, network, Path(name))
        scaler = f'  mp.scaler @scaler {{preset = "torch", init_scale = {2.0 ** 32:e}, growth_interval = {growth_interval}}}'
        module = ours.module.replace("  mp.train", f"{scaler}\n  mp.train").replace("<dtype = bf16>)", "<dtype = f16>) scaler(@scaler)")
        metrics, _ = ours.train("fp16", module, steps)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 32, growth_interval=growth_interval)
    losses, _, skipped = torch_steps(network, ours.model, [line["lr"] for line in metrics], torch.float16, scaler)
    found = [step for step, line in enumerate(metrics, 1) if line["skipped"]]
    expected = [step for step, skips in enumerate(skipped, 1) if skips]
    print(f"{network.zoo} fp16, growth every {growth_interval} steps: skipped {found}, PyTorch {expected}", flush=True)
    return {"network": network.zoo, "precision": "fp16", "steps": steps, "init_scale": 2 ** 32, "growth_interval": growth_interval,
            "skipped": found, "skipped_pytorch": expected, "last_scale": metrics[-1]["scale"], "agrees": found == expected,
            "difference_from_pytorch": farthest([line["loss"] for line in metrics], losses)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS), help="of mp-zoo (%(default)s)")
    parser.add_argument("--precision", nargs="+", choices=DTYPES, default=["fp32", "bf16"])
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began = circumstances(options.tools)
    sizes = {"layers": LAYERS, "batch": BATCH, "tokens": _transformers.TOKENS, "transformers": transformers.__version__,
             "torch": torch.__version__}
    results, skips = [], [compare_skips(options, interval) for interval in (2000, 4)]
    for name in options.networks:
        results += compare(options, NETWORKS[name])
        # After each network: the last ones take long.
        if options.json:
            options.json.write_text(json.dumps({**began, **sizes, "results": results, "skips": skips}, indent=1) + "\n")
    if not all(result["agrees"] for result in results + skips):
        sys.exit(f"a loss differs by more than {LOSS}, a gradient by more than {GRADIENT}, or other steps are skipped")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Trains the zoo's networks of text from the weights of Hugging Face's transformers, here and in PyTorch, and compares the losses of
each step and the last weights; and with PyTorch in double, which tells whose rounding the difference is.

    python3 -m venv VENV && VENV/bin/pip install torch transformers numpy
    VENV/bin/python bench/transformers_agreement.py --json transformers-agreement.json

Both take the same made-up tokens in order, without dropout, and PyTorch takes the learning rates from our metrics."""

import argparse
import copy
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

from _machine import ROOT, circumstances
from resnet20_agreement import DTYPES, farthest, read_safetensors, write_safetensors

LAYERS, BATCH, TOKENS, STEPS = 2, 4, 96, 10


class Gpt2:
    """Two layers of GPT-2 at full width."""
    zoo, weight_decay, betas, plain = "gpt2", 0.1, (0.9, 0.95), r"ln_"

    def model(self):
        off = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=LAYERS, tie_word_embeddings=True, **off))

    def data(self, folder, numbers):
        # One window after the other: no token is in two samples.
        self.tokens = numbers.integers(0, 50257, STEPS * BATCH * (TOKENS + 1)).astype(np.uint16)
        self.tokens.tofile(folder / "train.bin")

    def text(self, module):
        return module.replace("stride = 1>", f"stride = {TOKENS + 1}>").replace("stride = 1,", f"stride = {TOKENS + 1},")

    def loss(self, model, step):
        windows = torch.from_numpy(self.tokens.astype(np.int64)).view(STEPS, BATCH, TOKENS + 1)[step]
        logits = model(windows[:, :-1]).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1).to(loss_type(logits)), windows[:, 1:].flatten())


class Bert:
    """Two layers of BERT-base, for texts of all lengths."""
    zoo, weight_decay, betas, plain = "bert-base", 0.01, (0.9, 0.999), r"LayerNorm"

    def model(self):
        return transformers.BertForSequenceClassification(transformers.BertConfig(
            num_hidden_layers=LAYERS, hidden_dropout_prob=0, attention_probs_dropout_prob=0))

    def data(self, folder, numbers):
        samples = STEPS * BATCH
        self.tokens = numbers.integers(0, 30522, (samples, TOKENS)).astype(np.uint16)
        self.lengths = numbers.integers(1, TOKENS + 1, samples).astype(np.int32)
        self.labels = numbers.integers(0, 2, samples).astype(np.int32)
        for name, array in (("train", self.tokens), ("train-lengths", self.lengths), ("train-labels", self.labels)):
            np.save(folder / f"{name}.npy", array)

    def text(self, module):
        return module.replace("{p = 1.000000e-01 : f64}", "{p = 0.0 : f64}")

    def loss(self, model, step):
        rows = slice(step * BATCH, (step + 1) * BATCH)
        ids = torch.from_numpy(self.tokens[rows].astype(np.int64))
        mask = torch.arange(TOKENS) < torch.from_numpy(self.lengths[rows])[:, None]
        logits = model(ids, attention_mask=mask.long()).logits
        return torch.nn.functional.cross_entropy(logits.to(loss_type(logits)), torch.from_numpy(self.labels[rows].astype(np.int64)))


def loss_type(logits):
    return torch.float64 if logits.dtype == torch.float64 else torch.float32


def torch_losses(case, model, rates, dtype):
    decays = [value for name, value in model.named_parameters() if name.endswith("weight") and not re.search(case.plain, name)]
    others = [value for name, value in model.named_parameters() if not name.endswith("weight") or re.search(case.plain, name)]
    optimizer = torch.optim.AdamW([{"params": decays, "weight_decay": case.weight_decay}, {"params": others, "weight_decay": 0}],
                                  betas=case.betas)
    losses = []
    for step, rate in enumerate(rates):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = case.loss(model, step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def compare(options, case, precision):
    torch.manual_seed(0)
    model = case.model().train()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.data(folder, np.random.default_rng(0))
        module = subprocess.run([options.tools / "mp-zoo", case.zoo, "--layers", str(LAYERS), "--tokens", str(TOKENS)], check=True,
                                capture_output=True, text=True).stdout
        (folder / "network.mlir").write_text(case.text(re.sub(r"mp\.data @test .*\n", "", module)))
        parameters = dict(model.named_parameters())
        write_safetensors(folder / "weights.safetensors", parameters)
        subprocess.run([options.tools / "mp-run", "train", folder / "network.mlir", "--data", folder, "--batch", str(BATCH),
                        "--max-steps", str(STEPS), "--precision", precision, "--scaler", "none", "--no-shuffle", "--device", "cpu",
                        "--init", folder / "weights.safetensors", "--out", folder / "run"], check=True, stdout=subprocess.DEVNULL)
        metrics = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
        trained = read_safetensors(folder / "run" / "checkpoint.safetensors")
    steps = [line for line in metrics if "loss" in line and "step" in line]
    rates, found = [line["lr"] for line in steps], [line["loss"] for line in steps]
    exact = torch_losses(case, copy.deepcopy(model).double(), rates, None)
    theirs = torch_losses(case, model, rates, DTYPES[precision])
    far = {name: float(np.abs(trained[name] - value.detach().numpy()).max() / max(np.abs(value.detach().numpy()).max(), 1e-6))
           for name, value in parameters.items()}
    worst = max(far, key=far.get)
    result = {"network": case.zoo, "precision": precision, "losses": found, "losses_pytorch": theirs, "losses_pytorch_in_double": exact,
              "difference_from_pytorch": farthest(found, theirs), "difference_from_double": farthest(found, exact),
              "difference_of_pytorch_from_double": farthest(theirs, exact), "largest_weight_difference": far[worst], "weight": worst}
    print(f"{case.zoo} {precision}: losses differ from PyTorch's by at most {result['difference_from_pytorch']:.1e}, from those in double "
          f"by {result['difference_from_double']:.1e}, and PyTorch's from those by {result['difference_of_pytorch_from_double']:.1e}; "
          f"weights by {far[worst]:.1e} ({worst})", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--precision", nargs="+", choices=DTYPES, default=["fp32", "bf16"])
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began = circumstances(options.tools)
    results = [compare(options, case(), precision) for case in (Gpt2, Bert) for precision in options.precision]
    if options.json:
        sizes = {"layers": LAYERS, "batch": BATCH, "tokens": TOKENS, "transformers": transformers.__version__}
        options.json.write_text(json.dumps({**began, **sizes, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

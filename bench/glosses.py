#!/usr/bin/env python3
"""Trains a network on WordNet's glosses in fp32, fp16 and bf16, with the same seeds and steps, and compares the scores:
bert-tiny tells parts of speech, char-gpt and char-rnn predict the next byte, and lstm-lm and biglstm the next piece of a
word (docs/glosses.md). biglstm trains in fp16 without loss scaling and with a scale of 128, and its results have the shares
of gradients that f16 flushes to zero. All results have means of the loss over each 100 steps.

    bench/glosses.py bert --seeds 0 1 2 --json bench/results/bert-glosses.json
    bench/glosses.py char-gpt --json bench/results/char-gpt-glosses.json
    bench/glosses.py lstm-lm --json bench/results/lstm-lm-glosses.json
    bench/glosses.py biglstm --seeds 0 1 2 --json bench/results/biglstm-glosses.json

Scores are means over the seeds. A run that has ended is not made again: its folder's summary.json is taken. The exit status
is 1 if a precision is further from fp32 than half a point of accuracy or macro F1, or 0.01 bits a character or piece;
biglstm has no such limit, as what is drawn of its words makes its runs differ by more."""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from _machine import ROOT, circumstances

PRECISIONS = {name: ("--precision", name) for name in ("fp32", "fp16", "bf16")}
#: What is run of a network, if not its precisions alone.
RUNS = {"biglstm": {"fp32": ("--precision", "fp32"),
                    "fp16-none": ("--precision", "fp16", "--scaler", "none", "--ledger", 100),
                    "fp16-static-128": ("--precision", "fp16", "--scaler", "static:128", "--ledger", 100),
                    "bf16": ("--precision", "bf16")}}
NETWORKS = {
    "bert": ("zoo:bert-tiny,tokens=32,vocabulary=8000,texts=2,class-weights={data}/weights.npy",
             ("--epochs", 1, "--batch", 32, "--accumulate", 2, "--set", "optimizer.lr=1e-3", "--eval-every", 400,
              "--monitor", "max:macro_f1")),
    "char-gpt": ("zoo:char-gpt", ("--max-steps", 600, "--batch", 16, "--set", "optimizer.lr=2e-3", "--set", "schedule.then.steps=500")),
    "char-rnn": ("zoo:char-rnn", ("--max-steps", 2500, "--batch", 32, "--set", "schedule.then.steps=2400")),
    "lstm-lm": ("zoo:lstm-lm,vocabulary=8000", ("--max-steps", 900, "--batch", 20, "--set", "schedule.then.steps=800")),
    # Adagrad's sums begin at 1 / 20^2, not 1: its steps are those of a loss summed over the 20 words of a window.
    "biglstm": ("zoo:biglstm,vocabulary=8000,width=0.0625",
                ("--max-steps", 1000, "--batch", 128, "--set", "optimizer.initial_accumulator_value=0.0025")),
}
#: Where the texts have another form than bytes and pairs.
FOLDERS = {"lstm-lm": "pieces", "biglstm": "pieces"}
#: The scores, and how far the precisions may be from fp32.
APART = {"bert": {"test_accuracy": 0.005, "test_macro_f1": 0.005}, **{name: {"test_bits": 0.01} for name in ("char-gpt", "char-rnn", "lstm-lm")},
         "biglstm": {"test_bits": float("inf")}}
KEPT = ("precision", "seed", "test_accuracy", "test_macro_f1", "test_loss", "test_bits", "best_score", "best_step", "train_loss", "steps",
        "skipped_steps", "final_scale", "train_seconds", "compile_seconds", "planned_bytes", "peak_rss_bytes", "losses", "ledger")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "release" / "bin", help="folder of mp-run and mp-data")
    parser.add_argument("--data", type=Path, default=ROOT / "runs" / "glosses", help="folder of the texts, which are made if they are missing")
    parser.add_argument("--runs", type=Path, default=ROOT / "runs" / "bench-glosses", help="folder of the runs' folders")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file to write the results to")
    return parser.parse_args()


def called(*command):
    subprocess.run([str(word) for word in command], check=True)


def prepare(arguments):
    """Makes the texts, and of them what the networks read."""
    if not (arguments.data / "tokenizer.json").exists():
        called(ROOT / "examples" / "glosses" / "prepare.py", arguments.data)
    if not (arguments.data / FOLDERS.get(arguments.network, "") / "val.bin").exists():
        called(ROOT / "examples" / "glosses" / "tokenize.sh", arguments.tools.resolve() / "mp-data", arguments.data)


def share(records):
    """How much of what is not zero in gradients becomes zero in f16."""
    return sum(record["flushed"] for record in records) / max(1, sum(record["elements"] - record["zero"] for record in records))


def losses(ledger):
    """What f16 flushes to zero at some steps: of all gradients, and of those five ops whose gradients lose most. An op of a
    loop has a gradient in each time step."""
    for line in map(json.loads, ledger.read_text().splitlines()):
        ops = {}
        for record in line["gradients"]:
            source = record["source"].partition(" in time step ")[0]
            ops.setdefault(f"{record['of']} at {source}", []).append(record)
        most = sorted(((name, share(records)) for name, records in ops.items()), key=lambda item: -item[1])[:5]
        yield {"step": line["step"], "scale": line["scale"], "flushed": share([line["all"]]), "most": dict(most)}


def course(metrics):
    """Means of the loss over each 100 steps that were not skipped."""
    records = map(json.loads, metrics.read_text().splitlines())
    found = [record["loss"] for record in records if not record["skipped"]]
    return [round(statistics.mean(found[at:at + 100]), 5) for at in range(0, len(found), 100)]


def train(arguments, precision, flags_of_run, seed):
    """The summary of a run."""
    module, flags = NETWORKS[arguments.network]
    out = arguments.runs / f"{arguments.network}-{precision}-{seed}"
    if not (out / "summary.json").exists():
        data = arguments.data / FOLDERS.get(arguments.network, "")
        called(arguments.tools / "mp-run", "train", module.format(data=arguments.data), "--data", data, *flags, *flags_of_run,
               "--seed", seed, "--device", "cpu", "--threads", arguments.threads, "--out", out)
    summary, ledger = json.loads((out / "summary.json").read_text()), out / "ledger.jsonl"
    summary["losses"] = course(out / "metrics.jsonl")
    return {**summary, "ledger": list(losses(ledger))} if ledger.exists() else summary


def main():
    arguments = options()
    arguments.runs.mkdir(parents=True, exist_ok=True)
    prepare(arguments)
    results, far = {}, False
    for precision, flags in RUNS.get(arguments.network, PRECISIONS).items():
        runs = [train(arguments, precision, flags, seed) for seed in arguments.seeds]
        results[precision] = {score: statistics.mean(run[score] for run in runs) for score in APART[arguments.network]}
        for score, apart in APART[arguments.network].items():
            mean = results[precision][score]
            far |= abs(mean - results["fp32"][score]) > apart
            print(f"{arguments.network}, {precision}: {score} {mean:.4f} of {[round(run[score], 4) for run in runs]}", flush=True)
        results[precision]["flags"] = " ".join(map(str, flags))
        results[precision]["runs"] = [{key: run[key] for key in KEPT if run.get(key) is not None} for run in runs]
    if arguments.json:
        module, flags = NETWORKS[arguments.network]
        arguments.json.write_text(json.dumps({**circumstances(arguments.tools), "module": module.format(data="DATA"),
                                              "flags": " ".join(map(str, flags)), "results": results}, indent=1) + "\n")
    return far


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Trains a network on WordNet's glosses in fp32, fp16 and bf16, with the same seeds and steps, and compares the scores:
bert-tiny tells parts of speech, char-gpt and char-rnn predict the next byte, and lstm-lm the next piece of a word
(docs/glosses.md).

    bench/glosses.py bert --seeds 0 1 2 --json bench/results/bert-glosses.json
    bench/glosses.py char-gpt --json bench/results/char-gpt-glosses.json
    bench/glosses.py lstm-lm --json bench/results/lstm-lm-glosses.json

Scores are means over the seeds. A run that has ended is not made again: its folder's summary.json is taken. The exit status
is 1 if a precision is further from fp32 than half a point of accuracy or macro F1, or 0.01 bits a character or piece."""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from _machine import ROOT, circumstances

PRECISIONS = ("fp32", "fp16", "bf16")
NETWORKS = {
    "bert": ("zoo:bert-tiny,tokens=32,vocabulary=8000,texts=2,class-weights={data}/weights.npy",
             ("--epochs", 1, "--batch", 32, "--accumulate", 2, "--set", "optimizer.lr=1e-3", "--eval-every", 400,
              "--monitor", "max:macro_f1")),
    "char-gpt": ("zoo:char-gpt", ("--max-steps", 600, "--batch", 16, "--set", "optimizer.lr=2e-3", "--set", "schedule.then.steps=500")),
    "char-rnn": ("zoo:char-rnn", ("--max-steps", 2500, "--batch", 32, "--set", "schedule.then.steps=2400")),
    "lstm-lm": ("zoo:lstm-lm,vocabulary=8000", ("--max-steps", 900, "--batch", 20, "--set", "schedule.then.steps=800")),
}
#: Where the texts have another form than bytes and pairs.
FOLDERS = {"lstm-lm": "pieces"}
#: The scores, and how far the precisions may be from fp32.
APART = {"bert": {"test_accuracy": 0.005, "test_macro_f1": 0.005}, **{name: {"test_bits": 0.01} for name in ("char-gpt", "char-rnn", "lstm-lm")}}
KEPT = ("precision", "seed", "test_accuracy", "test_macro_f1", "test_loss", "test_bits", "best_score", "best_step", "train_loss", "steps",
        "skipped_steps", "final_scale", "train_seconds", "compile_seconds", "planned_bytes", "peak_rss_bytes")


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


def train(arguments, precision, seed):
    """The summary of a run."""
    module, flags = NETWORKS[arguments.network]
    out = arguments.runs / f"{arguments.network}-{precision}-{seed}"
    if not (out / "summary.json").exists():
        data = arguments.data / FOLDERS.get(arguments.network, "")
        called(arguments.tools / "mp-run", "train", module.format(data=arguments.data), "--data", data, *flags, "--precision",
               precision, "--seed", seed, "--device", "cpu", "--threads", arguments.threads, "--out", out)
    return json.loads((out / "summary.json").read_text())


def main():
    arguments = options()
    arguments.runs.mkdir(parents=True, exist_ok=True)
    prepare(arguments)
    results, far = {}, False
    for precision in PRECISIONS:
        runs = [train(arguments, precision, seed) for seed in arguments.seeds]
        results[precision] = {score: statistics.mean(run[score] for run in runs) for score in APART[arguments.network]}
        for score, apart in APART[arguments.network].items():
            mean = results[precision][score]
            far |= abs(mean - results["fp32"][score]) > apart
            print(f"{arguments.network}, {precision}: {score} {mean:.4f} of {[round(run[score], 4) for run in runs]}", flush=True)
        results[precision]["runs"] = [{key: run[key] for key in KEPT if key in run} for run in runs]
    if arguments.json:
        module, flags = NETWORKS[arguments.network]
        arguments.json.write_text(json.dumps({**circumstances(arguments.tools), "module": module.format(data="DATA"),
                                              "flags": " ".join(map(str, flags)), "results": results}, indent=1) + "\n")
    return far


if __name__ == "__main__":
    sys.exit(main())

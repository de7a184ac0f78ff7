#!/usr/bin/env python3
"""Our convolutions, products and attention beside PyTorch's (channels_last) and the machine's peak: one thread, CPU time, in turns.

    python3 -m venv VENV && VENV/bin/pip install torch numpy
    cmake --build --preset release --target bench-micro
    bench/kernels_compare.py --python VENV/bin/python --json kernels-compare.json

The convolutions are those of ResNet-50 for 8 images of 224x224 and of resnet20 for 128 of 32x32, each forward and both
gradients; attention is beside PyTorch's flash kernel, forward and backward. A turn is ours, then PyTorch's, then the peak; a kernel's ratio is the median over turns of our rate divided by
PyTorch's, so above one ours is faster. PyTorch's process keeps the memory that it frees, so that its results do not cost
page faults. The peaks are of multiply-adds in f32, and of dot products and tiles in bf16 where the CPU has them."""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from _machine import ROOT, circumstances
from _rival import Rival

PASSES = {"forward": 2, "backward": 5}  # products of a score and a depth
KINDS, FORMS, SIZES = ("forward", "input", "weight"), ("nn", "nt"), (1024, 500)
KEEPS_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}


def floating_point_operations(case):
    """Padding is counted as if it was multiplied, for ours and for PyTorch's; of causal scores, half are counted."""
    if case["op"] == "matmul":
        return 2 * case["size"] ** 3
    if case["op"] == "attention":
        pairs = case["batch"] * case["heads"] * case["tokens"] ** 2
        return PASSES[case["kind"]] * 2 * pairs * case["depth"] // (2 if case["causal"] else 1)
    places = (case["side"] + 2 * case["padding"] - case["window"]) // case["stride"] + 1
    return 2 * case["images"] * places ** 2 * case["window"] ** 2 * case["in"] * case["out"]


def cases(convolutions, attentions, types):
    """(name as bench-micro has it, family, what PyTorch is asked)."""
    for kind_of_element in types:
        for shape in convolutions:
            family = "resnet20" if shape["name"].startswith("cifar") else "resnet50"
            fields = {key: value for key, value in shape.items() if key != "name"}
            for kind in KINDS:
                yield (f"conv2d/{kind_of_element}/{shape['name']}/{kind}", family,
                       {"op": "conv2d", "type": kind_of_element, "kind": kind, **fields})
        for shape in attentions:
            fields = {key: value for key, value in shape.items() if key != "name"}
            for kind in PASSES:
                yield (f"attention/{kind_of_element}/{shape['name']}/{kind}", f"attention {kind}",
                       {"op": "attention", "type": kind_of_element, "kind": kind, **fields})
        for size in SIZES:
            for form in FORMS:
                yield f"matmul/{kind_of_element}/{size}/{form}", "products", {"op": "matmul", "type": kind_of_element, "size": size, "form": form}


def measure(ours, theirs, name, case, options):
    def turn(runs):
        return (statistics.median(ours.ask(f"{name} {runs}")["seconds"]),
                statistics.median(theirs.ask(json.dumps({**case, "runs": runs}))["seconds"]))
    runs = max(1, min(50, round(options.turn_seconds / max(turn(1)))))
    turns, peaks = [], []
    for _ in range(options.turns):
        turns.append(turn(runs))
        peaks.append(ours.ask("peaks")[case["type"]])
    work = floating_point_operations(case)
    peak = {key: statistics.median(p[key] for p in peaks) for key in peaks[0]}
    our_seconds, their_seconds = (statistics.median(turn[side] for turn in turns) for side in (0, 1))
    return {"ours_us": 1e6 * our_seconds, "torch_us": 1e6 * their_seconds, "gflops": work / our_seconds / 1e9,
            "torch_gflops": work / their_seconds / 1e9, "ratio": statistics.median(t / o for o, t in turns), "peak_gflops": peak}


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def summaries(results):
    """For each family and type: how many, the geometric mean of the ratios, and the worst."""
    for family, element in sorted({(r["family"], r["type"]) for r in results}):
        some = [r for r in results if (r["family"], r["type"]) == (family, element)]
        worst = min(some, key=lambda r: r["ratio"])
        yield {"family": family, "type": element, "kernels": len(some), "geometric_mean": geometric_mean(r["ratio"] for r in some),
               "worst": worst["ratio"], "worst_kernel": worst["name"], "below_0.9": sum(r["ratio"] < 0.9 for r in some)}


def row(result):
    shares = " ".join(f"{result['gflops'] / rate:5.2f} {'/':1} {result['torch_gflops'] / rate:4.2f} {name}"
                      for name, rate in result["peak_gflops"].items() if result["type"] == "f32" or name != "multiply-adds")
    return f"{result['name']:34} {result['ours_us']:9.1f} {result['torch_us']:9.1f} {result['ratio']:6.2f} {result['gflops']:8.1f} {shares}"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of bench-micro (%(default)s)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has PyTorch (%(default)s)")
    parser.add_argument("--types", nargs="+", choices=("f32", "bf16"), default=["f32", "bf16"], help="types of the elements (both)")
    parser.add_argument("--filter", default="", help="which kernels, a regular expression (all)")
    parser.add_argument("--turns", type=int, default=5, help="how often ours and PyTorch's take turns (%(default)s)")
    parser.add_argument("--turn-seconds", type=float, default=0.05, help="how long a kernel runs in a turn (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    return parser.parse_args()


def main():
    arguments = options()
    began = circumstances(arguments.tools)
    ours = Rival("bench-micro", [arguments.tools / "bench-micro", "--threads=1", "--serve"],
                 "cmake --build --preset release --target bench-micro, which wants Debian's libbenchmark-dev")
    theirs = Rival("PyTorch", [arguments.python, ROOT / "bench/rivals/torch_kernels.py"],
                   "python3 -m venv VENV && VENV/bin/pip install torch numpy", {**os.environ, **KEEPS_MEMORY})
    print(f"{'kernel':34} {'ours us':>9} {'torch us':>9} {'ratio':>6} {'GFLOP/s':>8} ours / torch as shares of the peak")
    listed, results = ours.ask("list"), []
    for name, family, case in cases(listed["convolutions"], listed["attentions"], arguments.types):
        if re.search(arguments.filter, name):
            results.append({"name": name, "family": family, "type": case["type"], **measure(ours, theirs, name, case, arguments)})
            print(row(results[-1]), flush=True)
    if not results:
        sys.exit(f"kernels_compare.py: no kernel's name matches '{arguments.filter}'")
    summary = list(summaries(results))
    for s in summary:
        print(f"{s['family']:18} {s['type']:5} {s['kernels']:3} kernels: geometric mean {s['geometric_mean']:.2f},"
              f" worst {s['worst']:.2f} ({s['worst_kernel']}), {s['below_0.9']} below 0.9")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({**began, "threads": 1, "summary": summary, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

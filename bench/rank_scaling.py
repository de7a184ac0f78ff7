#!/usr/bin/env python3
"""The time of a step on 1 to 4,096 ranks: a model, what it predicts for this machine, what is measured, and published runs.

    bench/rank_scaling.py --json bench/results/rank-scaling.json

The model. A step on one rank takes C seconds, of which the part `backward` (2/3) makes gradients, B bytes in all. They are
exchanged in buckets, in the order in which backward makes them. An exchange of b bytes among N ranks takes

    e(b, N) = m(N) * latency + 2 * (N - 1) / N * b / bandwidth + b / reduce

where m(N) is the number of messages that follow one another: 3 * (N - 1) of Mantissa's exchange (the meeting, each rank's part
from all, the parts to all), 2 * (N - 1) of a ring, and 2 * log2(N) of halving and doubling. `bandwidth` is that of one rank's connection, and `reduce` the bytes a
second that are added up. An exchange begins when its bucket is there and the one before has ended. Of its time, the part `free`
needs no core of the rank's, and runs while backward goes on; the rest is added to the step:

    begin(k) = max(ready(k), end(k - 1)),  end(k) = begin(k) + free * e(b(k), N)
    T(N) = max(C * forward_and_backward, end(last)) + C * update + (1 - free) * sum of e(b(k), N) + small

`small` is what ranks exchange beside gradients: flags, and whether all go on. The efficiency is C / T(N), as every rank has a batch of its own (weak scaling).

On this machine, ranks exchange through memory, which takes their cores, so `free` is 0. C is measured on N processes at a time
that exchange nothing, as cores share caches, memory and perhaps more; latency, bandwidth and reduce are measured by `mpi-ranks
measure` with as many ranks. Nothing is fitted to the steps that are predicted. `one_rank_seconds` is the step of a process that
has the machine for itself; `images_ratio` compares with that.

The published runs are predicted from the sizes of the networks, the speed of one GPU and that of the network cards, with all of
an exchange free (`predicted`) and with none (`no_overlap`): between the two, a run is explained."""

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import _networks
from _machine import ROOT, circumstances, output

MODELS = {"mlp": ("examples/fashion-mnist/mlp.mlir", [32, 128, 512]), "mlp-8x1024": ("bench/models/mlp-8x1024.mlir", [128])}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
GB, MIB = 1e9, 2**20
MESSAGES = {"mantissa": lambda ranks: 3 * (ranks - 1), "ring": lambda ranks: 2 * (ranks - 1),
            "halving": lambda ranks: 2 * math.log2(ranks)}

#: A P100's images a second with a batch of 64 are those of TensorFlow's benchmarks of 2017 (tensorflow.org/performance/benchmarks);
#: that of ResNet-101 is interpolated by operations between ResNet-50 (219) and ResNet-152 (91.8). ResNet-50's backward pass of
#: 120 ms for 32 images is that of Goyal and others, and forward is taken to be half of it; their ranks are servers of 8 GPUs, which
#: add up among themselves first. Cards have their nominal speed. `first` is the part of the gradients
#: that backward makes in its first tenth: in VGG-16, three dense layers have nine tenths of the parameters.
PUBLISHED = [
    {"run": "Inception V3, 512 P100 (arXiv 1802.05799)", "ranks": 512, "parameters": 27.2e6, "step": 64 / 142, "gbit": 25,
     "algorithm": "ring", "bucket": 64 * MIB, "first": 0.1, "measured": 0.90},
    {"run": "ResNet-101, 512 P100 (arXiv 1802.05799)", "ranks": 512, "parameters": 44.5e6, "step": 64 / 128.6, "gbit": 25,
     "algorithm": "ring", "bucket": 64 * MIB, "first": 0.1, "measured": 0.90},
    {"run": "VGG-16, 512 P100 (arXiv 1802.05799)", "ranks": 512, "parameters": 138.4e6, "step": 64 / 154, "gbit": 25,
     "algorithm": "ring", "bucket": 64 * MIB, "first": 0.9, "measured": 0.68},
    {"run": "ResNet-50, 256 P100 (arXiv 1706.02677)", "ranks": 32, "parameters": 25.6e6, "step": 0.180, "gbit": 50,
     "algorithm": "halving", "bucket": 4 * MIB, "first": 0.1, "measured": 0.90},
]


def exchange_seconds(size, ranks, link):
    if ranks == 1:
        return 0.0
    return MESSAGES[link["algorithm"]](ranks) * link["latency"] + 2 * (ranks - 1) / ranks * size / link["bandwidth"] + size / link["reduce"]


def step_seconds(compute, buckets, ranks, link, free):
    """T(N). `buckets` are (bytes, the part of backward after which they are there); `link` has what an exchange takes."""
    forward, backward, update = 0.3 * compute, 0.6 * compute, 0.1 * compute
    if link.get("update_is_free"):
        forward, backward, update = compute / 3, compute * 2 / 3, 0.0
    end, total = 0.0, 0.0
    for size, ready in buckets:
        took = exchange_seconds(size, ranks, link)
        end, total = max(end, forward + backward * ready) + free * took, total + took
    return max(forward + backward, end) + update + (1 - free) * total + link.get("small", 0.0) * (ranks > 1)


def even_buckets(total, size, first):
    """Buckets of `size` bytes: the part `first` of all in the first tenth of backward, and the rest evenly after it."""
    count = max(1, round(total / size))
    done = [(number + 1) / count for number in range(count)]
    return [(total / count, 0.1 * part / first if part <= first else 0.1 + 0.9 * (part - first) / (1 - first)) for part in done]


def published():
    for run in PUBLISHED:
        link = {"algorithm": run["algorithm"], "latency": 5e-6, "bandwidth": run["gbit"] / 8 * GB, "reduce": 200 * GB, "update_is_free": True}
        buckets = even_buckets(4 * run["parameters"], run["bucket"], run["first"])
        predicted, serial = (run["step"] / step_seconds(run["step"], buckets, run["ranks"], link, free) for free in (1, 0))
        print(f"{run['run']:44} measured {run['measured']:.2f}, predicted {predicted:.2f}, without overlap {serial:.2f}")
        yield {**run, "predicted": predicted, "no_overlap": serial, "error": predicted / run["measured"] - 1,
               "no_overlap_error": serial / run["measured"] - 1}


def table():
    """The efficiency of Mantissa's exchange on more ranks than there are here, each on a host of its own."""
    networks = {"mlp-8x1024, batch 128, 16 cores": (0.030, 4 * 7.2e6), "ResNet-50, batch 32, a GPU": (0.180, 4 * 25.6e6),
                "GPT-2 124M, 4,096 tokens, a GPU": (0.250, 4 * 124e6)}
    for name, (compute, total) in networks.items():
        for gbit in (10, 100):
            link = {"algorithm": "mantissa", "latency": 2e-6, "bandwidth": gbit / 8 * GB, "reduce": 5 * GB}
            row = {ranks: compute / step_seconds(compute, even_buckets(total, 4 * MIB, 0.1), ranks, link, 1)
                   for ranks in (1, 2, 4, 8, 16, 64, 256, 1024, 4096)}
            print(f"{name:34} {gbit:4} Gbit/s  " + "  ".join(f"{ranks}: {part:.2f}" for ranks, part in row.items()))
            yield {"network": name, "step": compute, "bytes": total, "gbit": gbit, "efficiency": row}


def mpirun(options, ranks, *command):
    # A rank has a core of its own where there are enough.
    binding = "core" if ranks <= options.cores else "none"
    words = ["mpirun", "--oversubscribe", "--bind-to", binding, "-n", ranks, *command]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env={**options.environment})
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, words))}\nexits with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout


def probe(options, ranks):
    """What an exchange takes on this machine."""
    text = mpirun(options, ranks, options.tools / "mpi-ranks", "measure")
    took = {int(size): float(us) * 1e-6 for size, us in re.findall(r"ranks, (\d+) bytes: ([\d.]+) us", text)}
    reduce = float(re.search(r"reduces ([\d.]+) GB/s", text).group(1)) * GB
    small, middle, large = took[4], took[1 << 16], took[1 << 24]
    latency = small / (ranks - 1)  # a small exchange is the meeting alone
    moved = (large - middle) - ((1 << 24) - (1 << 16)) / reduce
    return {"algorithm": "mantissa", "latency": latency, "reduce": reduce, "small": 2 * small, "seconds": took,
            "bandwidth": 2 * (ranks - 1) / ranks * ((1 << 24) - (1 << 16)) / max(moved, 1e-9)}


def spans(events, holds):
    return sorted((event["ts"], event["ts"] + event["dur"]) for event in events if holds(event))


def overlap(one, other):
    """The length of what two lists of disjoint spans have in common."""
    common, place = 0.0, 0
    for begin, end in one:
        while place < len(other) and other[place][1] <= begin:
            place += 1
        at = place
        while at < len(other) and other[at][0] < end:
            common += min(end, other[at][1]) - max(begin, other[at][0])
            at += 1
    return common


def read_trace(path, warmup):
    """The median time from a step to the next of rank 0, its buckets, and the part of exchanges while which it computes."""
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X" and event["pid"] < 2]
    events = [event for event in events if event["pid"] == min(each["pid"] for each in events)]
    begins = [begin for begin, _ in spans(events, lambda event: event["cat"] == "step" and event["name"] == "step")][warmup:]
    later = [event for event in events if event["ts"] >= begins[0]]

    def carries_gradients(event):
        return event["cat"] == "exchange" and event["name"] == "all_reduce" and " sum " in event["args"]["detail"]

    moving, waiting = spans(later, carries_gradients), spans(later, lambda event: event["name"] == "mpi.wait")
    waits = spans(later, lambda event: event["cat"] == "exchange" and event["name"] == "wait for other ranks")
    sizes = [4 * sum(map(int, re.findall(r"\d+", event["args"]["detail"].split("[")[1])))
             for event in sorted(later, key=lambda event: event["ts"]) if carries_gradients(event)]
    moved, steps = sum(end - begin for begin, end in moving), len(begins)
    return {"step": statistics.median(b - a for a, b in zip(begins, begins[1:])) * 1e-6,
            "buckets": sizes[:round(len(sizes) / steps)], "exchange": moved / steps * 1e-6,
            "waits_for_ranks": sum(end - begin for begin, end in waits) / steps * 1e-6,
            "hidden": 1 - overlap(moving, waiting) / moved if moved else None}


#: Runs a command as a process that is not a rank, which mpirun binds as it would bind a rank.
ALONE = ("sh", "-c", 'trace=$0-$OMPI_COMM_WORLD_RANK.json; unset OMPI_COMM_WORLD_SIZE PMIX_RANK PMI_RANK; exec "$@" --trace $trace')


def train(options, model, batch, ranks, folder, exchanges=True):
    trace = folder / "trace"
    command = (options.tools / "mp-run", "train", ROOT / MODELS[model][0], "--data", folder / "data", "--batch", batch,
               "--precision", "fp32", "--threads", 1, "--epochs", 10000, "--max-steps", options.warmup + options.steps,
               "--eval-every", 10**6, "--drop-last")
    if exchanges:
        mpirun(options, ranks, *command, "--trace", f"{trace}-0.json")
    else:
        mpirun(options, ranks, *ALONE, trace, *command)
    return read_trace(Path(f"{trace}-0.json"), options.warmup)


def compare(options, model, batch, links, folder):
    kinds = [(1, False), *((ranks, exchanges) for ranks in options.ranks for exchanges in (False, True))]
    rounds = [{(ranks, exchanges): train(options, model, batch, ranks, folder, exchanges) for ranks, exchanges in kinds}
              for _ in range(options.rounds)]
    middle = {kind: {key: statistics.median(one[kind][key] for one in rounds) if isinstance(value, float) else value
                     for key, value in rounds[0][kind].items()} for kind in kinds}
    alone = middle[1, False]["step"]
    for ranks in options.ranks:
        crowded, found = middle[ranks, False]["step"], middle[ranks, True]
        predicted = step_seconds(crowded, [(size, 1) for size in found["buckets"]], ranks, links[ranks], free=0)
        measured, hidden = found["step"], found["hidden"]
        ratios = [ranks * one[1, False]["step"] / one[ranks, True]["step"] for one in rounds]
        print(f"{model:12} {batch:6} {ranks:6} {1e3 * alone:9.2f} {1e3 * crowded:9.2f} {1e3 * predicted:10.2f} {1e3 * measured:9.2f} "
              f"{predicted / measured - 1:7.2f} {statistics.median(ratios):8.2f} {hidden or 0:7.2f}", flush=True)
        yield {"model": model, "batch": batch, "ranks": ranks, "one_rank_seconds": alone, "without_exchange_seconds": crowded,
               "predicted_seconds": predicted, "measured_seconds": measured, "error": predicted / measured - 1,
               "images_ratio": statistics.median(ratios), "images_ratios": ratios, "hidden": hidden,
               "exchange_seconds": found["exchange"], "wait_for_ranks_seconds": found["waits_for_ranks"], "buckets": found["buckets"]}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run and mpi-ranks (%(default)s)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="which (%(default)s)")
    parser.add_argument("--batches", nargs="+", type=int, help="of a rank (each model's own)")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4], help="beside one (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of each, taking turns (%(default)s)")
    parser.add_argument("--steps", type=int, default=40, help="measured in a round (%(default)s)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before (%(default)s)")
    parser.add_argument("--model-only", action="store_true", help="measure nothing")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    return parser.parse_args()


def measure(options):
    for name in ("mp-run", "mpi-ranks"):
        if not (options.tools / name).is_file():
            sys.exit(f"no {name} in {options.tools}: run scripts/build.sh {name}, or give its folder by --tools")
    if not shutil.which("mpirun"):
        sys.exit("there is no mpirun: apt-get install openmpi-bin, or give --model-only")
    links = {ranks: probe(options, ranks) for ranks in options.ranks}
    results = []
    print(f"{'model':12} {'batch':>6} {'ranks':>6} {'alone ms':>9} {'N alone':>9} {'predicted':>10} {'measured':>9} {'error':>7} {'images/s':>8} {'hidden':>7}")
    with tempfile.TemporaryDirectory() as folder:
        plan = [(model, batch) for model in options.models for batch in options.batches or MODELS[model][1]]
        _networks.write_data(Path(folder) / "data", _networks.MODELS["mlp"], max(batch for _, batch in plan) * max(options.ranks))
        for model, batch in plan:
            results += compare(options, model, batch, links, Path(folder))
    return links, results


def main():
    options = parse()
    options.cores = int(output("nproc") or 1)
    options.environment = {**os.environ, **ENVIRONMENT}
    began = circumstances(options.tools)
    links, results = ({}, []) if options.model_only else measure(options)
    runs, predictions = list(published()), list(table())
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "links": links, "results": results, "published": runs, "predictions": predictions},
                                           indent=1) + "\n")


if __name__ == "__main__":
    main()

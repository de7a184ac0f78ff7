#!/usr/bin/env python3
"""Our training step beside PyTorch's, on the same cores in turns.

    python3 -m venv VENV && VENV/bin/pip install torch
    bench/compare.py --tools build/release/bin --python VENV/bin/python --json bench/results/cpu-compare.json

For each model, precision and number of threads: `mp-run bench`, then PyTorch eager, then torch.compile (convolutions with
channels_last), and so on, a few times over. A round's ratio is our median step over the better of PyTorch's two; the
table has the median round. A round of two threads counts only where a plain loop in two processes, run beside it, does
1.8 to 2.2 times the work of one: virtual cores come and go. Products of matrices and convolutions are listed apart: the
rest of a step is what a compiler can win. Memory is the most that a fresh process of `mp-run train`, and one of PyTorch's
better way, hold in a few steps."""

import argparse
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _machine import circumstances
from _networks import MODELS, plain, printed, write_data
from _rival import Rival

HERE = Path(__file__).resolve().parent
#: What a launch does, by the names of its ops; the first that is in there counts.
KERNELS = (("convolution", ("conv2d",)), ("gradient of images", ("conv2d_backward_input",)),
           ("gradient of windows", ("conv2d_backward_weight",)), ("products", ("linear", "matmul", "dnnl.matmul")),
           ("optimizer", ("sgd", "adamw")), ("reductions", ("sum", "max", "mean")))
KINDS = ("eager", "compile")
INSTALL = "python3 -m venv VENV && VENV/bin/pip install torch torchvision transformers"


def spin(seconds, counts):
    done, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(1000):
            done += 1
    counts.put(done)


def scaling(processes, seconds=0.3):
    """Work of so many processes at once over that of one."""
    def work(count):
        counts = multiprocessing.Queue()
        running = [multiprocessing.Process(target=spin, args=(seconds, counts)) for _ in range(count)]
        for process in running:
            process.start()
        done = sum(counts.get() for _ in running)
        for process in running:
            process.join()
        return done
    return work(processes) / work(1)


def torch(options, model, precision, threads):
    command = [options.python, HERE / "rivals/torch_step.py", "--device", "cpu", "--precision", precision, "--batch", model["batch"],
               "--threads", threads, "--warmup", max(model["warmup"] // options.shorter, 2), *model["rival"]]
    return Rival("PyTorch", command, INSTALL)


def mp_run(options, command, model, precision, threads, *words):
    """Runs a command of mp-run on the model; the most memory of its process in bytes."""
    words = (options.tools / "mp-run", command, model["path"], "--batch", model["batch"], "--precision", precision, "--threads", threads, *words)
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            sys.exit(f"{said.read()}compare.py: mp-run {command} exits with {process.returncode}")
    return 1024 * usage.ru_maxrss


def ours(options, model, precision, threads, steps):
    path = model["path"].with_suffix(".json")
    mp_run(options, "bench", model, precision, threads, "--steps", steps, "--json", path)
    return json.loads(path.read_text())


def our_memory(options, model, precision, threads):
    folder = model["path"].parent
    write_data(folder / "data", model, model["batch"])
    return mp_run(options, "train", model, precision, threads, "--data", folder / "data", "--max-steps", 3, "--epochs", 3, "--device", "cpu",
                  "--out", folder / "run")


def shares(report):
    """{kind of launch: its part of the time of all launches}."""
    total, found = sum(launch["microseconds"] for launch in report["launches"]), {}
    for launch in report["launches"]:
        words = set(launch["summary"].split())
        kind = next((kind for kind, names in KERNELS if words & set(names)), "elementwise")
        found[kind] = found.get(kind, 0) + launch["microseconds"] / total
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def products(report):
    """The time of matrix products and convolutions."""
    names = {name for kind, names in KERNELS[:4] for name in names}
    found = [launch["microseconds"] for launch in report["launches"] if names & set(launch["summary"].split())]
    if not found:
        sys.exit("compare.py: no product among the launches that mp-run bench reports")
    return sum(found)


def rounds_of(options, model, precision, threads, rival):
    steps = max(model["steps"] // options.shorter, 2)
    for _ in range(options.rounds):
        scale = scaling(threads) if threads > 1 else 1.0
        report = ours(options, model, precision, threads, steps)
        found = {"scaling": scale, "ours": report["step_microseconds"]["median"], "our_products": products(report), "shares": shares(report)}
        for kind in KINDS:
            found[kind] = rival.ask(f"{kind} {steps}")["microseconds"]
        found["ratio"] = found["ours"] / min(found[kind] for kind in KINDS)
        found["counts"] = threads == 1 or 1.8 <= scale <= 2.2
        yield found


def memory(options, model, precision, threads, better):
    """The most that our process and PyTorch's hold; PyTorch's also the other way."""
    found = {"ours": our_memory(options, model, precision, threads)}
    for kind in KINDS:
        rival = torch(options, model, precision, threads)
        found[kind] = rival.ask(f"memory-{kind} 3")["bytes"]
        rival.close()
    return {**found, "ratio": found["ours"] / found[better]}


def compare(options, name, precision, threads, folder):
    model = {**MODELS[name], "path": folder / f"{name}.mlir"}
    text = plain(printed(options.tools, model["network"])) if "network" in model else model["file"].read_text()
    model["path"].write_text(text)
    rival = torch(options, model, precision, threads)
    rounds = list(rounds_of(options, model, precision, threads, rival))
    better = min(KINDS, key=lambda kind: statistics.median(r[kind] for r in rounds))
    # There are several profiles, as one may fall into a moment of other load.
    profiles = [rival.ask(f"products-{better} {min(10, model['steps'])}") for _ in range(5)]
    apart = sorted(profiles, key=lambda profile: profile["microseconds"])[2]
    rival.close()
    counted = [r for r in rounds if r["counts"]] or rounds
    middle = {key: statistics.median(r[key] for r in counted) for key in ("ours", "our_products", "eager", "compile", "ratio")}
    return {"model": name, "batch": model["batch"], "precision": precision, "threads": threads, "counts": any(r["counts"] for r in rounds),
            "torch": apart["torch"], "better": better, "their_products": apart["microseconds"], **middle,
            "shares": sorted(counted, key=lambda r: r["ratio"])[len(counted) // 2]["shares"],
            "memory_bytes": memory(options, model, precision, threads, better), "rounds": rounds}


def row(result):
    rest = result["ours"] - result["our_products"], result[result["better"]] - result["their_products"]
    held = result["memory_bytes"]
    return (f"{result['model']:14} {result['batch']:5} {result['precision']:6} {result['threads']:2} {result['ours']:10.0f}"
            f" {result['eager']:10.0f} {result['compile']:10.0f} {result['ratio']:6.2f} {rest[0]:10.0f} {rest[1]:10.0f}"
            f" {held['ours'] / 2**20:6.0f} {held[result['better']] / 2**20:6.0f} {held['ratio']:6.2f}"
            f"{'' if result['counts'] else '  (second core missing: does not count)'}\n"
            f"{'':14} {', '.join(f'{kind} {share:.0%}' for kind, share in result['shares'].items())}")


def check_tools(options):
    """Ends the program if something that it compares is missing."""
    if not (options.tools / "mp-run").is_file():
        sys.exit(f"compare.py: no mp-run in {options.tools}: run scripts/build.sh, or give its folder by --tools")
    try:
        found = subprocess.run([options.python, "-c", "import torch"], capture_output=True, text=True, check=False)
        why = found.stderr.strip().splitlines()[-1] if found.returncode else None
    except OSError as error:
        why = str(error)
    if why:
        sys.exit(f"compare.py: {options.python} cannot import PyTorch ({why}). Install it:\n  {INSTALL}\nand give --python VENV/bin/python")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=HERE.parent / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has PyTorch (%(default)s)")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="which networks (all)")
    parser.add_argument("--precisions", nargs="+", choices=("fp32", "fp16", "bf16"), default=["fp32", "bf16"],
                        help="in which precisions (fp32 bf16)")
    parser.add_argument("--threads", nargs="+", type=int, default=sorted({1, min(2, os.cpu_count())}),
                        help="on how many threads, each apart (1 2)")
    parser.add_argument("--rounds", type=int, default=5, help="how often ours, eager and compiled take turns (%(default)s)")
    parser.add_argument("--shorter", type=int, default=1, metavar="N", help="take an Nth of the steps, to try it out (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    check_tools(options)
    began = circumstances(options.tools)
    print(f"{'model':14} {'batch':>5} {'type':6} {'th':>2} {'ours us':>10} {'eager':>10} {'compile':>10} {'ratio':>6}"
          f" {'ours-gemm':>10} {'best-gemm':>10} {'MiB':>6} {'best':>6} {'ratio':>6}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, precision, threads in itertools.product(options.models, options.precisions, options.threads):
            results.append(compare(options, name, precision, threads, Path(folder)))
            print(row(results[-1]), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

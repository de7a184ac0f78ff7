#!/usr/bin/env python3
"""Our training step beside PyTorch's, on the same cores in turns.

    python3 -m venv VENV && VENV/bin/pip install torch
    bench/compare.py --tools build/release/bin --python VENV/bin/python --json bench/results/cpu-compare.json

For each model, precision and number of threads: `mp-run bench`, then PyTorch eager, then torch.compile, and so on, a few
times over. A round's ratio is our median step over the better of PyTorch's two; the table has the median round. A
round of two threads counts only where a plain loop in two processes, run beside it, does 1.8 to 2.2 times the work of one:
virtual cores come and go. Products of matrices are listed apart: the rest of a step is what a compiler can win."""

import argparse
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

HERE = Path(__file__).resolve().parent
MODELS = {
    "mlp": {"file": HERE.parent / "examples/fashion-mnist/mlp.mlir", "sizes": "784,512,256,10", "batch": 128, "steps": 200},
    "mlp-8x1024": {"file": HERE / "models/mlp-8x1024.mlir", "sizes": "784" + 7 * ",1024" + ",10", "batch": 512, "steps": 20},
}
KINDS = ("eager", "compile")


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


class Torch:
    """A rival that waits for commands, so that it is warm when its turn comes."""

    def __init__(self, python, model, precision, threads):
        command = [python, HERE / "rivals/torch_mlp.py", "--device", "cpu", "--precision", precision, "--batch",
                   str(model["batch"]), "--sizes", model["sizes"], "--threads", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command, steps):
        try:
            self.process.stdin.write(f"{command} {steps}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and so has its output
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare.py: PyTorch ended at \"{command} {steps}\"; the reason stands above")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(tools, model, precision, threads, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.json"
        subprocess.run([tools / "mp-run", "bench", model["file"], "--batch", str(model["batch"]), "--precision", precision,
                        "--threads", str(threads), "--steps", str(steps), "--json", path],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(path.read_text())


def products(report):
    found = [launch["microseconds"] for launch in report["launches"]
             if {"linear", "matmul", "dnnl.matmul"} & set(launch["summary"].split())]
    if not found:
        sys.exit("compare.py: no product among the launches that mp-run bench reports")
    return sum(found)


def compare(options, name, precision, threads):
    model = MODELS[name]
    steps = max(model["steps"] // options.shorter, 2)
    rival, rounds = Torch(options.python, model, precision, threads), []
    for _ in range(options.rounds):
        scale = scaling(threads) if threads > 1 else 1.0
        report = ours(options.tools, model, precision, threads, steps)
        found = {"scaling": scale, "ours": report["step_microseconds"]["median"], "our_products": products(report)}
        for kind in KINDS:
            answer = rival.ask(kind, max(steps, 20))
            found[kind] = answer["microseconds"]
        found["ratio"] = found["ours"] / min(found[kind] for kind in KINDS)
        found["counts"] = threads == 1 or 1.8 <= scale <= 2.2
        rounds.append(found)
    better = min(KINDS, key=lambda kind: statistics.median(r[kind] for r in rounds))
    # There are several profiles, as one may fall into a moment of other load.
    profiles = [rival.ask(f"products-{better}", 10) for _ in range(5)]
    apart = sorted(profiles, key=lambda profile: profile["microseconds"])[2]
    rival.close()
    counted = [r for r in rounds if r["counts"]]
    middle = {key: statistics.median(r[key] for r in counted or rounds)
              for key in ("ours", "our_products", "eager", "compile", "ratio")}
    return {"model": name, "batch": model["batch"], "precision": precision, "threads": threads, "counts": bool(counted),
            "torch": apart["torch"], "better": better, "their_products": apart["microseconds"], **middle, "rounds": rounds}


def row(result):
    rest = result["ours"] - result["our_products"], result[result["better"]] - result["their_products"]
    return (f"{result['model']:12} {result['batch']:5} {result['precision']:6} {result['threads']:2} {result['ours']:10.0f}"
            f" {result['eager']:10.0f} {result['compile']:10.0f} {result['ratio']:6.2f} {rest[0]:10.0f} {rest[1]:10.0f}"
            f"{'' if result['counts'] else '  (second core missing: does not count)'}")


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
        sys.exit(f"compare.py: {options.python} cannot import PyTorch ({why}). Install it:\n"
                 "  python3 -m venv VENV && VENV/bin/pip install torch\nand give --python VENV/bin/python")


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
    print(f"{'model':12} {'batch':>5} {'type':6} {'th':>2} {'ours us':>10} {'eager':>10} {'compile':>10} {'ratio':>6}"
          f" {'ours-gemm':>10} {'best-gemm':>10}")
    results = []
    for name in options.models:
        for precision in options.precisions:
            for threads in options.threads:
                results.append(compare(options, name, precision, threads))
                print(row(results[-1]), flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

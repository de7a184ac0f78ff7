#!/usr/bin/env python3
"""Searches for graphs that the compiler gets wrong.

Random graphs are compiled and run, and every number is compared with an oracle that shares nothing with the compiler: NumPy in
f64, rounding to the types of the graph op by op, with bounds that follow from these types (bounded.py). What differs is made as
small as it can be, and printed.

  --mode value      a function's results
  --mode gradient   derivatives of a number, by mp.gradient
  --mode step       training steps: losses and parameters, of every optimizer
  --mode example    gates, residuals and branches by name, values and gradients: 36 graphs

A graph is known by its seed: `--seed 7 --graphs 1` makes the 7th again. Exits with 1 where a graph differs.
"""

import argparse
import concurrent.futures
import os
import sys
import time
from pathlib import Path

import numpy as np

import check
import generate
import reduce

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "release"


def count(text):
    """A number above zero."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number above zero")
    return int(text)


def seed(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number from zero on")
    return int(text)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=list(generate.MODES), default="value")
    parser.add_argument("--target", choices=["cpu", "emulator"], default="cpu")
    parser.add_argument("--graphs", type=count, default=500, help="how many (500)")
    parser.add_argument("--seed", type=seed, default=0, help="of the first graph; the next one's is one more (0)")
    parser.add_argument("--jobs", type=count, default=os.cpu_count(), help="processes (one a core)")
    parser.add_argument("--failures", type=count, default=5, help="stop after so many graphs that differ (5)")
    parser.add_argument("--onednn", action="store_true", help="products by oneDNN wherever it takes the types")
    parser.add_argument("--driver", default=BUILD / "bin" / "fuzz-driver", help="build/release/bin/fuzz-driver")
    parser.add_argument("--emulator", default=os.environ.get("MP_CUDA_PATH", BUILD / "test" / "emulator" / "lib"),
                        help="folder of the emulated CUDA libraries")
    parser.add_argument("--print", action="store_true", help="print the modules and run nothing")
    arguments = parser.parse_args()
    needed = [Path(arguments.driver)] + ([Path(arguments.emulator) / "libcuda.so.1"] if arguments.target == "emulator" else [])
    for path in needed if not arguments.print else []:
        if not path.exists():
            parser.error(f"{path}: no such file; scripts/build.sh makes it")
    return arguments


_driver = None


def driver_of(arguments):
    global _driver
    if _driver is None:
        environment = {**os.environ, "MP_CACHE_DIR": "off", "MP_POISON": "1"}
        device = "cpu"
        if arguments.target == "emulator":
            environment["MP_CUDA_PATH"], device = str(arguments.emulator), "cuda"
        _driver = check.Driver([str(arguments.driver), device], environment)
    return _driver


def search(arguments, seeds):
    """Checks graphs one after the other: (decided, undecided, exact, [(seed, finding, module)])."""
    driver, counts, found = driver_of(arguments), np.zeros(3, np.int64), []
    ask = {"onednn": arguments.onednn}
    for seed in seeds:
        graph = generate.graph_of(arguments.mode, seed)
        report = check.check(graph, driver, ask)
        counts += (report.decided, report.undecided, report.exact)
        if report.finding:
            small, finding = reduce.reduced(graph, report.finding, lambda g: check.check(g, driver, ask))
            found.append((seed, finding, check.text_of(small)))
    return counts, found


def shares(seeds):
    """Seeds in parts for one process each: those that share a setting, unless there are too few of these to go round."""
    size = min(generate.SHARING, max(1, len(seeds) // 8))
    return [seeds[i:i + size] for i in range(0, len(seeds), size)]


def main():
    arguments = options()
    seeds = range(arguments.seed, arguments.seed + arguments.graphs)
    if arguments.print:
        for seed in seeds:
            print(f"// seed {seed}\n{check.text_of(generate.graph_of(arguments.mode, seed))}")
        return 0
    begin, done, counts, failures = time.monotonic(), 0, np.zeros(3, np.int64), 0
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = {pool.submit(search, arguments, own): own for own in shares(seeds)}
        for job in concurrent.futures.as_completed(jobs):
            if job.cancelled():
                continue
            own, found = job.result()
            counts, done = counts + own, done + len(jobs[job])
            for seed, finding, text in found:
                failures += 1
                print(f"seed {seed}: {finding.what}: {finding.text}\n{text}", flush=True)
            if failures >= arguments.failures:
                for other in jobs:
                    other.cancel()
                print(f"stopped after {failures} graphs that differ", flush=True)
                break
    seconds = time.monotonic() - begin
    print(f"{arguments.mode} on {arguments.target}: {done} graphs in {seconds:.1f} s ({done / seconds:.1f} a second); "
          f"{counts[0]} numbers compared, {counts[2]} of them exactly, {counts[1]} left open by their bounds; {failures} graphs differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

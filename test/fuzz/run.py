#!/usr/bin/env python3
"""Searches for graphs that the compiler gets wrong.

Random graphs are compiled and run, and every number is compared with an oracle that shares nothing with the compiler: NumPy in
f64, rounding to the types of the graph op by op, with bounds that follow from these types (bounded.py). What differs is made as
small as it can be, and printed.

  --mode value      a function's results
  --mode gradient   derivatives of a number, by mp.gradient
  --mode step       training steps: losses and parameters, of every optimizer
  --mode decode     networks of texts, a few tokens at a time, and what their texts are written from
  --mode example    gates, residuals and branches by name, values and gradients: 36 graphs

A graph is known by its seed: `--seed 7 --graphs 1` makes the 7th again. Exits with 1 where a graph differs.
"""

import argparse
import concurrent.futures
import json
import math
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
#: An op that is not in so many graphs is in none.
RARE = 5000


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
    parser.add_argument("--target", choices=["cpu", "emulator", "cuda"], default="cpu", help="where graphs run (cpu)")
    parser.add_argument("--graphs", type=count, default=500, help="how many (500)")
    parser.add_argument("--seed", type=seed, default=0, help="of the first graph; the next one's is one more (0)")
    parser.add_argument("--stride", type=count, default=1, help="from a seed to the next; neighbours share sizes and types (1)")
    parser.add_argument("--holding", metavar="OP", help="only graphs that have this op, such as mp.scan, or this word before a space; others are passed over")
    parser.add_argument("--seconds", type=count, help="begin no graph after so many (no limit)")
    parser.add_argument("--patience", type=count, help="seconds that a graph may take (no limit)")
    parser.add_argument("--json", type=Path, help="file for the counts and what differs, written as the search goes on (none)")
    parser.add_argument("--jobs", type=count, default=os.cpu_count(), help="processes (one a core)")
    parser.add_argument("--failures", type=count, default=5, help="stop after so many graphs that differ (5)")
    parser.add_argument("--onednn", action="store_true", help="products by oneDNN wherever it takes the types")
    parser.add_argument("--ranks", action="store_true", help="let ranks take the micro-batches of a step, one each, with the optimizer's state whole and divided")
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
            environment["MP_EMULATOR_DEVICES"] = "8"  # one for each rank
        elif arguments.target == "cuda":
            device = "cuda"
        _driver = check.Driver([str(arguments.driver), device, *(["ranks"] if arguments.ranks else [])], environment, arguments.patience)
    return _driver


def search(arguments, deadline, seeds):
    """Checks graphs one after the other: their number, (decided, undecided, exact), [(seed, finding, module)]."""
    driver, done, counts, found = driver_of(arguments), 0, np.zeros(3, np.int64), []
    ask = {"onednn": arguments.onednn}

    def check_in_time(graph):
        """What does not differ ends the reduction."""
        return check.check(graph, driver, ask) if time.monotonic() < deadline else check.Report()

    for seed in seeds:
        if time.monotonic() >= deadline:
            break
        graph = generate.graph_of(arguments.mode, seed)
        report = check.check(graph, driver, ask)
        done += 1
        counts += (report.decided, report.undecided, report.exact)
        if report.finding:
            small, finding = reduce.reduced(graph, report.finding, check_in_time)
            found.append((seed, finding, check.text_of(small)))
    return done, counts, found


def chosen(arguments):
    """The seeds of the graphs that are wanted."""
    if not arguments.holding:
        return list(range(arguments.seed, arguments.seed + arguments.graphs * arguments.stride, arguments.stride))
    found, seed, last = [], arguments.seed, arguments.seed
    while len(found) < arguments.graphs:
        if f"{arguments.holding} " in check.text_of(generate.graph_of(arguments.mode, seed)):
            found.append(seed)
            last = seed
        elif seed - last > RARE * arguments.stride:
            sys.exit(f"no {arguments.holding} in the {RARE} graphs from seed {last} on")
        seed += arguments.stride
    return found


def shares(seeds, jobs):
    """Seeds in parts for one process each: those that share a setting, unless there are too few of these to go round."""
    size = min(generate.SHARING, max(1, len(seeds) // max(8, 4 * jobs)))
    return [seeds[i:i + size] for i in range(0, len(seeds), size)]


def write(arguments, seconds, done, counts, failures):
    """The state of the search, for a reader that may not wait for its end."""
    if arguments.json:
        compared, left_open, exact = counts.tolist()
        arguments.json.write_text(json.dumps({
            "mode": arguments.mode, "target": arguments.target, "seed": arguments.seed, "stride": arguments.stride, "graphs": done,
            "seconds": seconds, "compared": compared, "exact": exact, "left_open": left_open,
            "differ": [{"seed": seed, "what": finding.what, "text": finding.text, "module": text} for seed, finding, text in failures]}))


def main():
    arguments = options()
    seeds = chosen(arguments)
    if arguments.print:
        for seed in seeds:
            print(f"// seed {seed}\n{check.text_of(generate.graph_of(arguments.mode, seed))}")
        return 0
    begin, done, counts, failures = time.monotonic(), 0, np.zeros(3, np.int64), []
    deadline = begin + arguments.seconds if arguments.seconds else math.inf
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(search, arguments, deadline, own) for own in shares(seeds, arguments.jobs)]
        for job in concurrent.futures.as_completed(jobs):
            if job.cancelled():
                continue
            more, own, found = job.result()
            counts, done = counts + own, done + more
            for seed, finding, text in found:
                print(f"seed {seed}: {finding.what}: {finding.text}\n{text}", flush=True)
            failures += found
            write(arguments, time.monotonic() - begin, done, counts, failures)
            if len(failures) >= arguments.failures:
                for other in jobs:
                    other.cancel()
                print(f"stopped after {len(failures)} graphs that differ", flush=True)
                break
    seconds = time.monotonic() - begin
    print(f"{arguments.mode} on {arguments.target}: {done} graphs in {seconds:.1f} s ({done / seconds:.1f} a second); "
          f"{counts[0]} numbers compared, {counts[2]} of them exactly, {counts[1]} left open by their bounds; {len(failures)} graphs differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs bench-micro and prints a table: each kernel's rate, and its ratio to a copy, or to peak arithmetic, in the same run.

  bench/micro/report.py [--filter REGEX] [--threads N] [--out bench/results/micro.json]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from _machine import circumstances  # noqa: E402

KEYS = ("GB/s", "copy_GB/s", "GFLOP/s", "peak_GFLOP/s", "ratio", "bytes")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bin" / "bench-micro",
                        help="the benchmark (%(default)s)")
    parser.add_argument("--filter", default="", help="which kernels, a regular expression (all)")
    parser.add_argument("--threads", type=int, default=1, help="threads of a kernel (%(default)s)")
    parser.add_argument("--out", type=Path, help="file for all numbers, the machine and versions (none)")
    return parser.parse_args()


def run(arguments):
    """Returns the output of Google Benchmark."""
    if not arguments.program.is_file():
        sys.exit(f"report.py: no {arguments.program}: cmake --build --preset release --target bench-micro, which wants "
                 "Debian's libbenchmark-dev")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [arguments.program, f"--threads={arguments.threads}", f"--benchmark_out={out}",
                   "--benchmark_out_format=json"]
        if arguments.filter:
            command.append(f"--benchmark_filter={arguments.filter}")
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def rows(document):
    for benchmark in document["benchmarks"]:
        name = benchmark["name"].split("/iterations:")[0]
        yield {"name": name, "microseconds": round(benchmark["us"], 2),
               **{key: round(benchmark[key], 4) for key in KEYS if key in benchmark}}


def table(results):
    yield f"{'kernel':40} {'us':>10} {'GB/s':>7} {'copy':>7} {'GFLOP/s':>8} {'peak':>7} {'ratio':>6}"
    for row in results:
        cells = [f"{row[key]:{width}.1f}" if row.get(key) else " " * width
                 for key, width in (("GB/s", 7), ("copy_GB/s", 7), ("GFLOP/s", 8), ("peak_GFLOP/s", 7))]
        yield f"{row['name']:40} {row['microseconds']:10.1f} {' '.join(cells)} {row['ratio']:6.2f}"


def main():
    arguments = options()
    began = circumstances(arguments.program.parent)
    results = list(rows(run(arguments)))
    print("\n".join(table(results)))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps({**began, "threads": arguments.threads, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

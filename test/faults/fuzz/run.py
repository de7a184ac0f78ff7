#!/usr/bin/env python3
"""Builds the fuzz targets and runs them one after the other.

A target is NAME.cpp here, its corpus the folder corpus/NAME. Prints a line per target and fails if there is a finding,
whose input it leaves in the folder of findings. Needs Clang with libFuzzer (Debian: libclang-rt-22-dev)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# LLVM's allocators poison memory in headers that we instrument, and unpoison it in libraries that are not.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allow_user_poisoning=0:detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
LONGEST, LONGEST_KEPT = 6000, 3000  # bytes of an input, and of one in a corpus


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="for each target (default: 600)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder (default: build/release)")
    parser.add_argument("--findings", type=Path, help="where inputs of findings are left (default: fuzz-findings in the build folder)")
    parser.add_argument("--keep", action="store_true", help="write the corpus anew: the fewest inputs that reach what was reached")
    parser.add_argument("--inputs", type=Path, metavar="DIR", help="more inputs to begin with: DIR/NAME")
    parser.add_argument("target", nargs="*", help="names of targets (default: all)")
    return parser.parse_args()


def build(folder, targets):
    configure = ["cmake", "--preset", "release"] if folder == ROOT / "build/release" else ["cmake"]
    subprocess.run([*configure, "-S", ROOT, "-B", folder, "-DMP_FUZZ=ON"], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    subprocess.run(["cmake", "--build", folder, "--target", *(f"fuzz-{name}" for name in targets)], check=True, cwd=ROOT)


def fuzz(program, longest, *options):
    return subprocess.run([program, "-timeout=10", "-rss_limit_mb=2048", f"-max_len={longest}", *options], env=ENVIRONMENT,
                          text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def keep(program, corpus, inputs):
    """Replaces the corpus, but for inputs with a name of their own, by the fewest that reach each edge of the code."""
    with tempfile.TemporaryDirectory() as folder:
        merged = fuzz(program, LONGEST_KEPT, "-set_cover_merge=1", "-use_counters=0", folder, corpus, *inputs)
        if merged.returncode:
            sys.exit(f"{program}: merging failed\n{merged.stdout[-2000:]}")
        for file in corpus.iterdir():
            if re.fullmatch("[0-9a-f]{12}", file.name):
                file.unlink()
        for file in Path(folder).iterdir():
            shutil.copyfile(file, corpus / file.name[:12])


def run(name, options, findings):
    program, corpus = options.build / "bin" / f"fuzz-{name}", HERE / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    known = [folder for folder in [options.inputs / name if options.inputs else None] if folder and folder.is_dir()]
    with tempfile.TemporaryDirectory() as found:
        result = fuzz(program, LONGEST, f"-max_total_time={options.seconds}", "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-",
                      found, corpus, *known)
        executed = re.search(r"number_of_executed_units: *(\d+)", result.stdout)
        print(f"{name:14} {executed[1] if executed else '?':>12} executions {'no finding' if not result.returncode else 'A FINDING'}", flush=True)
        if result.returncode:
            print("\n".join(result.stdout.splitlines()[-60:]))
        elif options.keep:
            keep(program, corpus, [found, *known])
    return result.returncode == 0


def main():
    options = arguments()
    known = sorted(path.stem for path in HERE.glob("*.cpp") if path.stem != "Replay")
    for name in options.target:
        if name not in known:
            sys.exit(f"unknown target '{name}', expected {', '.join(known)}")
    targets = options.target or known
    options.build = options.build.resolve()
    findings = (options.findings or options.build / "fuzz-findings").resolve()
    findings.mkdir(parents=True, exist_ok=True)
    build(options.build, targets)
    results = [run(name, options, findings) for name in targets]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()

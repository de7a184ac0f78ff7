#!/usr/bin/env python3
"""From the start of the process to the end of the first step of ResNet-50 for 32x32 images: with an empty cache of kernels and
with a full one; and what a start on a GPU compiles, without a GPU.

    cmake --build --preset release --target mp-run mp-zoo bench-nvrtc-start
    bench/cold_start.py --json cold-start.json

On the CPU `mp-run train` runs until the first step stands in its metrics. Its trace says what the time went into: parts of the
compiler that ran on several threads are added up, so that together they may exceed the time that passed. `compiler_cpu` is
the CPU time of `mp-run plan`, which compiles the same step and runs nothing. For CUDA, NVRTC compiles the kernels while others
are generated, as it does in mp-run; it is found as docs/cuda.md says. The driver, which loads the code, is left out, so
that a network of any size can be asked for: `--network gpt2-xl --targets cuda --batch 8`."""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _machine import ROOT, circumstances
from _networks import plain, printed, write_data

IMAGES = {"resnet20": (28, 28), "resnet20-cifar": (32, 32, 3), "resnet50-cifar": (32, 32, 3)}


def train_words(options, folder, precision):
    return [str(word) for word in (options.tools / "mp-run", "train", folder / "network.mlir", "--data", folder / "data", "--batch",
                                   options.batch, "--precision", precision, "--device", "cpu", "--threads", options.threads,
                                   "--max-steps", 1, "--out", folder / "run", "--trace", folder / "trace.json")]


def first_step(options, folder, precision, environment):
    """Seconds until the first line of metrics stands in the run folder, and what was compiled, as mp-run says it."""
    metrics = folder / "run/metrics.jsonl"
    shutil.rmtree(folder / "run", ignore_errors=True)
    began = time.monotonic()
    with subprocess.Popen(train_words(options, folder, precision), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        while not (metrics.exists() and b"\n" in metrics.read_bytes()):
            if process.poll() is not None and not metrics.exists():
                sys.exit(f"{process.stderr.read()}cold_start.py: mp-run train exits with {process.returncode} without a step")
            time.sleep(0.002)
        seconds = time.monotonic() - began
        process.communicate()
    return seconds


def parts(path):
    """From a trace: seconds of each part of the compiler, when the first step began, and how long it took."""
    sums, steps = collections.Counter(), []
    for event in json.loads(path.read_text())["traceEvents"]:
        if event.get("cat") == "compile":
            sums[event["name"]] += event["dur"] / 1e6
        elif event.get("cat") == "step" and event["name"] == "step":
            steps.append((event["ts"] / 1e6, event["dur"] / 1e6))
    began, took = min(steps)
    return {"parts": {name: sums[name] for name in ("parse", "passes", "kernel", "plan", "link")}, "step_began": began, "step_took": took}


def compile_cost(options, folder, precision, environment):
    """CPU seconds of `mp-run plan`."""
    words = [options.tools / "mp-run", "plan", folder / "network.mlir", "--batch", options.batch, "--precision", precision, "--device", "cpu",
             "--threads", options.threads]
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"cold_start.py: mp-run plan exits with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def on_cpu(options, folder, precision):
    result = {"target": "cpu", "precision": precision}
    for state in ("cold", "warm"):
        with tempfile.TemporaryDirectory() as other:
            cache = folder / f"cache-{precision}"
            environment = {**os.environ, "MP_CACHE_DIR": str(cache)}
            apart = {**os.environ, "MP_CACHE_DIR": str(Path(other) / "cache") if state == "cold" else str(cache)}
            seconds = first_step(options, folder, precision, environment)
            result[state] = {"seconds": seconds, **parts(folder / "trace.json"),
                             "compiler_cpu": compile_cost(options, folder, precision, apart)}
    program = subprocess.run([options.tools / "mp-translate", "--mp-to-program", "--mp-target=cpu", f"--mp-batch={options.batch}",
                              f"--mp-precision={precision}", "--mp-total-steps=1", folder / "network.mlir"], check=True, capture_output=True,
                             text=True).stdout.splitlines()
    launched = [line.split()[1] for line in program if line.startswith("  launch ")]
    return {**result, "launches": len(launched), "kernels": len(set(launched))}


def on_cuda(options, folder, precision):
    result = {"target": f"cuda {options.arch}", "precision": precision}
    environment = {**os.environ, "MP_CACHE_DIR": str(folder / f"cache-cuda-{precision}")}
    for state in ("cold", "warm"):
        words = [options.tools / "bench-nvrtc-start", folder / "network.mlir", options.batch, precision, options.arch]
        ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env=environment)
        if ended.returncode:
            return {**result, "reason": ended.stderr.strip().splitlines()[-1]}
        result[state] = json.loads(ended.stdout)
    return {**result, "launches": result["cold"]["launches"], "kernels": result["cold"]["kernels"]}


def row(result):
    if "reason" in result:
        return f"{result['target']:11} {result['precision']:5} {result['reason']}"
    text = []
    for state in ("cold", "warm"):
        found = result[state]
        more = (f"step began at {found['step_began']:.2f} s, compiler {found['compiler_cpu']:.2f} s of CPU" if "step_began" in found else
                f"generated in {found['generated_seconds']:.2f} s, NVRTC {found['nvrtc_seconds']:.1f} s on all threads")
        spent = ", ".join(f"{name} {seconds:.2f}" for name, seconds in found["parts"].items())
        text.append(f"{result['target']:11} {result['precision']:5} {state} {found['seconds']:7.2f} s: {more} ({spent})")
    return "\n".join((*text, f"{'':17} {result['launches']} launches of {result['kernels']} kernels"))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--network", default="resnet50-cifar",
                        help=f"of mp-zoo; on the CPU one of {', '.join(IMAGES)} (%(default)s)")
    parser.add_argument("--targets", nargs="+", choices=("cpu", "cuda"), default=["cpu", "cuda"], help="(both)")
    parser.add_argument("--precisions", nargs="+", choices=("fp32", "fp16", "bf16"), default=["fp32", "bf16"], help="(fp32 bf16)")
    parser.add_argument("--batch", type=int, default=32, help="samples a step (%(default)s)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count()), help="of the CPU (%(default)s)")
    parser.add_argument("--arch", default="sm_90", help="CUDA architecture (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    arguments = parser.parse_args()
    if "cpu" in arguments.targets and arguments.network not in IMAGES:
        parser.error(f"--network: there are no data to train {arguments.network} with on the CPU; --targets cuda needs none")
    return arguments


def main():
    arguments = options()
    began, results = circumstances(arguments.tools), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "network.mlir").write_text(plain(printed(arguments.tools, arguments.network)))
        if "cpu" in arguments.targets:
            write_data(folder / "data", {"image": IMAGES[arguments.network]}, arguments.batch)
        for target in arguments.targets:
            for precision in arguments.precisions:
                results.append({"cpu": on_cpu, "cuda": on_cuda}[target](arguments, folder, precision))
                print(row(results[-1]), flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({**began, "network": arguments.network, "batch": arguments.batch, "results": results}, indent=1)
                                  + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""All that wants a GPU: checks and measurements, a stage each, in at most 10 minutes.

A stage is a process with a time limit of its own: one that fails, hangs or crashes takes no other with it. A table
comes last; $OUT (default: gpu-results) gets gpu.json, table.txt and gpu.log."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _stage import ROOT, parser

HERE = Path(__file__).resolve().parent
# The stages in order of importance, with the seconds that each may take.
STAGES = {"info": 20, "models": 90, "fuzz": 120, "zoo": 150, "accuracy": 70, "steps": 60, "start": 30, "kernels": 40, "gemm": 80,
          "convolutions": 80, "attention": 45, "loops": 45, "rivals": 100, "sanitizer": 60, "ranks": 60, "networks": 330}
ALL = 590  # seconds for all of them
PATIENCE = 4  # times as long on a CPU, which has other things to do


def parse():
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", choices=list(STAGES), default=list(STAGES), help="these stages alone")
    return options.parse_args()


def run_stage(name, arguments, scratch, log, seconds):
    """The stage's result; whatever it does, it ends after `seconds`."""
    result = scratch / f"{name}.json"
    result.unlink(missing_ok=True)
    command = [sys.executable, "-B", HERE / f"{name}.py", "--tools", arguments.tools, "--data", arguments.data, "--device",
               arguments.device, "--work", scratch / name, "--json", result, "--seconds", str(seconds)]
    command += ["--quick"] if arguments.quick else []
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        pass
    try:  # child processes end with it
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = process.wait()
    took = time.monotonic() - began
    try:
        found = json.loads(result.read_text())
    except (OSError, ValueError):
        why = f"no result within {seconds:.0f} s" if took >= seconds else f"ended with {status} and no result; see gpu.log"
        found = {"status": "failed", "reason": why}
    return {**found, "seconds": round(took, 1)}


def table(results):
    """Lines for a person: each stage's own rows, and its verdict."""
    for name, result in results.items():
        yield f"{name:<10}{result['status']:<8} {result['seconds']:6.1f} s  {result.get('reason', '')}".rstrip()
        for what, value in result.get("rows", ()):
            yield f"  {what:<46} {value}"
        for fault in result.get("faults", ()):
            yield f"  WRONG: {fault}"


def version():
    """Version and commit of the measured program."""
    packed = ROOT / "VERSION"
    if packed.exists():
        return packed.read_text().strip()
    found = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--abbrev=40", "--dirty"], capture_output=True,
                           text=True, check=False)
    return found.stdout.strip() or "unknown"


def main():
    arguments = parse()
    out = Path(os.environ.get("OUT") or "gpu-results")
    out.mkdir(parents=True, exist_ok=True)
    began, results = time.monotonic(), {}
    patience = 1 if arguments.device.startswith("cuda") else PATIENCE
    report = {"version": version(), "device": arguments.device, "quick": arguments.quick,
              "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "stages": results}
    with tempfile.TemporaryDirectory(prefix="mantissa-gpu-") as folder, open(out / "gpu.log", "w", encoding="utf-8") as log:
        for name in arguments.only:
            print(f"{name} ...", flush=True)
            print(f"=== {name}", file=log, flush=True)
            left = patience * ALL - (time.monotonic() - began)
            results[name] = (run_stage(name, arguments, Path(folder), log, min(patience * STAGES[name], left)) if left > 1 else
                             {"status": "skipped", "reason": "no time left", "seconds": 0.0})
            # The report is written after each stage, so that an interrupted run keeps its results.
            report["seconds"] = round(time.monotonic() - began, 1)
            (out / "gpu.json").write_text(json.dumps(report, indent=1))
    text = "\n".join([f"mantissa {report['version']} on {arguments.device}, {report['seconds']:.0f} s", *table(results)])
    (out / "table.txt").write_text(text + "\n")
    print(f"\n{text}")
    return any(result["status"] == "failed" for result in results.values())


if __name__ == "__main__":
    sys.exit(main())

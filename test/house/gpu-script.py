#!/usr/bin/env python3
"""bench/gpu.sh works where there is no GPU: every stage ends, the table comes last and the JSON is whole. What only a
GPU's mp-run does is planted, and so are a wrong device, a stage that crashes and one that hangs: each is seen."""

import json
import os
import subprocess
import sys
import time
from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from _house import options

PROFILE = {"copy_gbps": 4000.0, "graph_nodes": 3, "host_microseconds": 7.5, "launches": [
    {"kernel": "k_1", "summary": "adamw of 6 parameters", "microseconds": 100.0, "bytes": 300_000_000},
    {"kernel": "k_2", "summary": "linear", "microseconds": 200.0, "bytes": 50_000_000},
    {"kernel": "k_3", "summary": "relu backward", "microseconds": 2.0, "bytes": 100}]}
# A stand-in for mp-run that also prints a GPU's results; FAULT is planted in it.
STAND_IN = """#!{python}
import json, os, sys, time
words = sys.argv[1:]
after = lambda word: words[words.index(word) + 1]
fault = "{fault}"
if words[0] == "tune":
    if fault == "hangs": time.sleep(600)
    if fault == "crashes": sys.exit("mp-run: error: out of luck")
    results = [dict(shape, microseconds=10.0, cublaslt_microseconds=8.0, cudnn_microseconds=8.0, error=1e-3, tolerance=1e-2) for shape in json.load(open(after("--shapes")))]
    json.dump(dict(results=results), open(after("--json"), "w"))
elif "--profile" in words:
    open(after("--profile"), "w").write({profile!r})
else:
    if fault == "wrong" and "--onednn" in words: words[words.index("--seed") + 1] = "2"
    os.execv("{real}", ["mp-run", *words])
"""


def stand_in(folder, tools, fault=""):
    """A folder with such an mp-run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mp-run").write_text(STAND_IN.format(python=sys.executable, fault=fault, profile=json.dumps(PROFILE),
                                                   real=tools / "mp-run"))
    (folder / "mp-run").chmod(0o755)
    for name in ("fuzz-driver", "mp-zoo"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(tools / name)
    return folder


def check_all(arguments, tools):
    """The command as a user gives it, but for the device. Its `python3` is this one, which may know NumPy."""
    out = arguments.work / "gpu" / "results"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run([arguments.source / "bench" / "gpu.sh", "--device", "cpu", "--quick", "--tools", tools, "--data",
                             arguments.data], env={**os.environ, "OUT": str(out), "PATH": path},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    log = (out / "gpu.log").read_text()
    assert result.returncode == 0, f"{result.stdout}\n{log}"
    assert result.stdout.endswith((out / "table.txt").read_text()), result.stdout
    stages = json.loads((out / "gpu.json").read_text())["stages"]
    expected = {"info", "models", "fuzz", "zoo", "accuracy", "steps", "start", "kernels", "gemm", "convolutions", "attention", "loops", "rivals",
                "sanitizer", "ranks", "networks"}
    assert set(stages) == expected, stages.keys()
    may_skip = {"attention", "rivals", "sanitizer", "ranks"} | (set() if find_spec("numpy") else {"fuzz"})
    for name in expected - may_skip:
        assert stages[name]["status"] == "ok" and stages[name]["rows"], (name, stages[name])
    assert [ran["microseconds"]["mantissa"] > 0 for ran in stages["networks"]["results"]] == [True] * 2, stages["networks"]
    for name in "sanitizer", "ranks":
        assert stages[name]["status"] == "skipped", stages[name]
    assert stages["steps"]["results"][0]["launches"] == 3, stages["steps"]
    (adamw,) = stages["kernels"]["results"][0]["kernels"]  # no product, nothing small
    assert adamw["gbps"] == 3000.0 and adamw["of_copy"] == 0.75, adamw
    for name in "gemm", "convolutions":
        assert [shape["ratio"] for shape in stages[name]["results"]] == [0.8] * 4, stages[name]
    print(result.stdout)


def check_faults(arguments):
    """Faults are reported, and end nothing else."""
    sys.path.insert(0, str(arguments.source / "bench" / "gpu"))
    import models
    import stages
    from _stage import Stage
    work = arguments.work / "gpu"

    def given(fault):
        return Namespace(tools=stand_in(work / f"tools-{fault}", arguments.tools, fault), data=arguments.data, device="cpu",
                         quick=True, work=work / fault, json=work / f"{fault}.json", seconds=60)

    model = arguments.source / "test" / "models" / "overflow.mlir"
    models.write_columns(model, work / "columns", 160)
    for fault, seen in (("none", False), ("wrong", True)):
        result = models.compare(Stage(given(fault)), (model, "fp32", work / "columns", ("--batch", 37, "--epochs", 2)))
        assert bool(result["faults"]) == seen, result
    for fault, seconds, why in (("crashes", 30, "skipped"), ("hangs", 2, "no result within 2 s")):
        began = time.monotonic()
        with open(work / "log", "w", encoding="utf-8") as log:
            result = stages.run_stage("gemm", given(fault), work, log, seconds)
        assert why in (result["status"], result["reason"]), result
        assert time.monotonic() - began < 30, result


def main():
    arguments = options(__doc__)
    arguments.tools, arguments.work = arguments.tools.resolve(), arguments.work.resolve()
    for name, count in (("gemm", 40), ("conv", 41)):
        shapes = json.loads((arguments.source / "bench" / f"{name}-shapes.json").read_text())
        assert len(shapes) == len({shape["name"] for shape in shapes}) == count, (name, len(shapes))
    check_faults(arguments)
    check_all(arguments, stand_in(arguments.work / "gpu" / "tools", arguments.tools))


if __name__ == "__main__":
    main()

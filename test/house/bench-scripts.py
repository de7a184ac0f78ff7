#!/usr/bin/env python3
"""The scripts of bench/ that measure the CPU: the JSON says when, of which commit, on which machine and with which versions;
what is missing is named, with how to get it. PyTorch and Google Benchmark are stood in for."""

import json
import shutil
import subprocess
import sys

from _house import options

TORCH = """#!/usr/bin/env python3
import json, sys
if "-c" not in sys.argv:
    for line in sys.stdin:
        print(json.dumps({"microseconds": 100.0, "bytes": 2**30, "seconds": [0.001], "torch": "stand-in"}), flush=True)
"""
NO_TORCH = """#!/bin/sh
echo "ModuleNotFoundError: No module named 'torch'" >&2
exit 1
"""
ENDS_EARLY = """#!/bin/sh
[ "$1" = -c ]
"""
MICRO = """#!/usr/bin/env python3
import json, sys
SHAPE = {"name": "cifar-8", "images": 2, "side": 8, "in": 4, "out": 4, "window": 3, "stride": 1, "padding": 1}
HEADS = {"name": "8x16", "batch": 2, "tokens": 16, "heads": 2, "depth": 8, "causal": False}
if "--serve" in sys.argv:
    for line in sys.stdin:
        answers = {"list": {"convolutions": [SHAPE], "attentions": [HEADS]}, "peaks": {"f32": {"multiply-adds": 100.0}, "bf16": {"tiles": 800.0}}}
        known = line.split()[0] in answers or line.startswith(("conv2d/f32/cifar-8/", "attention/f32/8x16/", "matmul/f32/"))
        print(json.dumps(answers.get(line.strip(), {"seconds": [0.002]}) if known else {"error": "unknown"}), flush=True)
    sys.exit()
out = next(word.split("=", 1)[1] for word in sys.argv if word.startswith("--benchmark_out="))
open(out, "w").write(json.dumps({"benchmarks": [{"name": "chain/f32/256KiB", "us": 1.0, "ratio": 1.0}]}))
"""


def program(work, name, text):
    path = work / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def run(script, *words, fails=False):
    """Returns the output of a script, on either stream."""
    command = [sys.executable, "-B", script, *(str(word) for word in words)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if bool(ended.returncode) != fails or "Traceback" in ended.stdout:
        sys.exit(f"{script} exits with {ended.returncode}:\n{ended.stdout}")
    return ended.stdout


def check_circumstances(path, versions):
    found = json.loads(path.read_text())
    missing = {"date", "commit", "cpu", "llvm_cpu", "cores", "load_average", "versions"} - set(found)
    assert not missing, f"{path} lacks {missing}"
    assert found["results"] and versions <= set(found["versions"]), found


def main():
    arguments = options(__doc__)
    work, bench = (arguments.work / "bench").resolve(), arguments.source / "bench"
    work.mkdir(parents=True, exist_ok=True)
    tools, out = ("--tools", arguments.tools.resolve()), work / "out.json"
    made = {"system", "Python", "LLVM"}

    compare = (*tools, "--models", "mlp", "--precisions", "fp32", "--threads", 1, "--rounds", 1, "--shorter", 100, "--json", out)
    run(bench / "compare.py", *compare, "--python", program(work, "torch", TORCH))
    check_circumstances(out, made)
    text = run(bench / "compare.py", *compare, "--python", program(work, "no-torch", NO_TORCH), fails=True)
    assert "pip install torch" in text and "No module named 'torch'" in text, text
    text = run(bench / "compare.py", *compare, "--python", program(work, "ends-early", ENDS_EARLY), fails=True)
    assert "PyTorch ended" in text, text
    text = run(bench / "compare.py", "--tools", work / "nowhere", fails=True)
    assert "scripts/build.sh" in text, text

    kernels = ("--python", program(work, "torch", TORCH), "--types", "f32", "--turns", 2, "--json", out)
    program(work, "bench-micro", MICRO)
    text = run(bench / "kernels_compare.py", "--tools", work, *kernels)
    check_circumstances(out, {"system", "Python"})
    assert "resnet20           f32     3 kernels: geometric mean 0.50, worst 0.50" in text and "attention backward" in text, text
    text = run(bench / "kernels_compare.py", "--tools", work, *kernels, "--filter", "conv3d", fails=True)
    assert "no kernel's name matches" in text, text
    text = run(bench / "kernels_compare.py", "--tools", work / "nowhere", *kernels, fails=True)
    assert "--target bench-micro" in text, text

    run(bench / "cold_start.py", *tools, "--targets", "cpu", "--network", "resnet20", "--precisions", "fp32", "--batch", 2, "--json", out)
    check_circumstances(out, made)
    found = json.loads(out.read_text())["results"][0]
    assert found["kernels"] < found["launches"] and found["warm"]["compiler_cpu"] < found["cold"]["compiler_cpu"], found
    text = run(bench / "cold_start.py", "--tools", work / "nowhere", fails=True)
    assert "scripts/build.sh" in text, text

    run(bench / "scaling.py", *tools, "--data", arguments.data, "--models", "mlp", "--scalers", "static:1024", "--rounds", 1,
        "--batch", 16, "--warmup", 2, "--steps", 5, "--json", out)
    check_circumstances(out, made)
    text = run(bench / "scaling.py", *tools, "--data", arguments.data, "--models", "mlp", "--scalers", "static:1e30", "--rounds", 1,
               "--batch", 16, "--warmup", 2, "--steps", 5, fails=True)
    assert "5 of the measured steps were skipped" in text, text
    run(bench / "nan_check.py", *tools, "--data", arguments.data, "--models", "mlp", "--precisions", "bf16", "--rounds", 1, "--batch", 16,
        "--warmup", 2, "--steps", 5, "--json", out)
    check_circumstances(out, made)
    run(bench / "embedding.py", *tools, "--data", arguments.data, "--rounds", 1, "--epochs", 1, "--json", out)
    check_circumstances(out, made)
    text = run(bench / "rank_scaling.py", *tools, "--model-only", "--json", out)
    assert text.count("measured 0.") == 4 and len(json.loads(out.read_text())["predictions"]) == 6, text
    if shutil.which("mpirun") and (arguments.tools / "mpi-ranks").is_file():
        run(bench / "rank_scaling.py", *tools, "--models", "mlp", "--batches", 8, "--ranks", 2, "--rounds", 1, "--steps", 3, "--warmup", 1,
            "--json", out)
        check_circumstances(out, made)
    text = run(bench / "rank_scaling.py", "--tools", work / "nowhere", fails=True)
    assert "scripts/build.sh mp-run" in text, text
    run(bench / "pipeline.py", *tools, "--ops", 20, "--rounds", 1, "--json", out)
    check_circumstances(out, made)
    run(bench / "micro" / "report.py", "--program", program(work, "bench-micro", MICRO), "--out", out)
    check_circumstances(out, {"system", "Python"})
    text = run(bench / "micro" / "report.py", "--program", work / "nowhere", fails=True)
    assert "--target bench-micro" in text, text


if __name__ == "__main__":
    main()

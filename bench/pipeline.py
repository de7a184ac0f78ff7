#!/usr/bin/env python3
"""How long mp-opt --mp-train-pipeline takes on graphs of 1,000 to 100,000 ops.

    bench/pipeline.py --tools build/release/bin --json bench/results/pipeline.json

The graph is a perceptron, as deep as it takes, with a residual block in every layer: reads, linear, gelu, add, mul. Per op
the time should stay what it is for 1,000; the table says what it is relative to that. Times are the CPU's, on all threads, which other
programs disturb less."""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from _machine import circumstances

HERE = Path(__file__).resolve().parent
OPS_IN_LAYER = 7


def module(ops):
    layers, lines, body = max(ops // OPS_IN_LAYER, 1), ["module {"], []
    matrix, vector, rows = "tensor<8x8xf32>", "tensor<8xf32>", "tensor<?x8xf32>"
    value = "%x"
    for i in range(layers):
        lines += [f"  mp.variable @w{i} : {matrix} = #mp.init<kaiming_uniform>", f"  mp.variable @b{i} : {vector} = #mp.init<zeros>"]
        body += [f"    %w{i} = mp.read @w{i} : {matrix}", f"    %b{i} = mp.read @b{i} : {vector}",
                 f"    %h{i} = mp.linear {value}, %w{i}, %b{i} : {rows}, {matrix}, {vector}",
                 f"    %g{i} = mp.gelu %h{i} : {rows}", f"    %m{i} = mp.mul %g{i}, %b{i} : {rows}, {vector}",
                 f"    %s{i} = mp.add %m{i}, {value} : {rows}, {rows}", f"    %r{i} = mp.relu %s{i} : {rows}"]
        value = f"%r{i}"
    lines += [f"  func.func @loss(%x: {rows} {{mp.name = \"x\"}}, %y: tensor<?xui8> {{mp.name = \"y\"}}) -> tensor<f32> {{", *body,
              f"    %loss = mp.cross_entropy {value}, %y : {rows}, tensor<?xui8>", "    return %loss : tensor<f32>", "  }",
              "  mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.adamw<lr = 1.0e-3>} }", "}"]
    return "\n".join(lines) + "\n"


def seconds(opt, path, arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([opt, path, *arguments, "-o", "/dev/null"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=HERE.parent / "build/release/bin", help="folder of mp-opt (%(default)s)")
    parser.add_argument("--ops", nargs="+", type=int, default=[1000, 2000, 10000, 30000, 100000], help="sizes of the graph (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs, of which the median counts (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began, results = circumstances(options.tools), []
    print(f"{'ops':>7} {'parse s':>8} {'pipeline s':>10} {'us an op':>9} {'relative':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for ops in options.ops:
            path = Path(folder) / "graph.mlir"
            path.write_text(module(ops))
            parse, pipeline = (statistics.median(seconds(options.tools / "mp-opt", path, arguments) for _ in range(options.rounds))
                               for arguments in ([], ["--mp-train-pipeline=batch=4 precision=bf16"]))
            results.append({"ops": ops, "parse_seconds": parse, "pipeline_seconds": pipeline})
            each = 1e6 * pipeline / ops
            first = 1e6 * results[0]["pipeline_seconds"] / results[0]["ops"]
            print(f"{ops:7} {parse:8.2f} {pipeline:10.2f} {each:9.1f} {each / first:8.2f}", flush=True)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

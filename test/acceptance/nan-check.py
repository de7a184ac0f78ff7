#!/usr/bin/env python3
"""A value that is not finite, planted at each kind of place: `--nan-check` names the op, its line, the ranges of its
operands and, where one record of the data is to blame, that record; in fp16, bf16 and fp32, on the CPU and in the emulated
device, from the records of kernels (step) and of ops (all)."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

from _acceptance import finish, options

ROWS, COLUMNS, BAD = 32, 4, 21  # the sample with the fault

HEAD = """mp.variable @w : tensor<2x4xf32> = #mp.init<constant, value = {weight}>
func.func @loss(%x: tensor<?x4xf32> {{mp.name = "x"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
  %w = mp.read @w : tensor<2x4xf32>
"""
# Line 4 on.
LINEAR = """  %y = mp.linear %x, %w : tensor<?x4xf32>, tensor<2x4xf32>
  %e = mp.{function} %y : tensor<?x2xf32>
  %sum = mp.sum %e dims[0, 1] : tensor<?x2xf32>
"""
# Nothing here is cast to 16 bits, but the weight's gradient is computed in f32: 1 / scale overflows.
SCALED = """  %s = mp.sum %w dims[0] : tensor<2x4xf32>
  %y = mp.mul %x, %s : tensor<?x4xf32>, tensor<4xf32>
  %sum = mp.sum %y dims[0, 1] : tensor<?x4xf32>
"""
TAIL = """  return %sum : tensor<f32>
}}
mp.train @step of @loss autocast(<dtype = f16>) {{
  mp.minimize result(0) {{optimizer = #mp.sgd<lr = {lr}>}}
}}
mp.data @train {{x = #mp.column<"x.npy" as npy, f32>}}
"""

# kind: module, values, the report's text about the place and the operands; for single precisions if they differ.
KINDS = {
    "input": {"bad": float("nan"), "place": r"input 'x' at net.mlir:2:17", "operands": [], "sample": True},
    "weight": {"init": float("inf"), "place": r"variable 'w(\.b?f16)?' at net.mlir:(3:8|1:1)", "operands": []},
    "forward": {"bad": 800.0, "function": "exp", "place": r"mp\.exp at net.mlir:5:8", "sample": True,
                "operands": [r"mp\.(linear|cast) at net.mlir:4:8 in \[2, 40[12](\.5)?\]"]},
    "backward": {"weight": "0.0", "function": "sqrt", "place": r"mp\.\w+ at net.mlir:5:8 \(backward\)", "operands": [r"in \[.*\]"]},
    "unscale": {"body": SCALED, "value": 2e37, "weight": "1.0e-20", "scaler": "static:1e-30",
                "place": r"mp\.unscale_and_check at net.mlir:4:8 \(backward\)",
                "operands": [r"in \[.*e\+\d\d, .*e\+\d\d\]"]},
    "optimizer": {"lr": "1.0e+38", "value": 100.0, "place": r"mp\.sgd( of the new 'w')? at net.mlir:\d+:\d+ \(update\)",
                  "operands": [r"variable 'w' at .* in \[0\.5, 0\.5\]"]},
    "copy": {"lr": "1.0e+4", "fp16": {}, "fp32": None,
             "bf16": {"lr": "1.0625e+37"},
             "place": r"mp\.cast of the new 'w\.b?f16' at net.mlir:\d+:\d+ \(update\)", "operands": [r"mp\.sgd .* in \[-.*, -.*\]"]},
}
PRECISIONS = {"fp16": "static:1", "bf16": "none", "fp32": "none"}


def tensor_file(path, name, values, shape):
    header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


def plant(folder, kind):
    """Writes a module and its data; returns the flags that go with it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = {"weight": "0.5", "function": "relu", "lr": "0.1", **kind}
    (folder / "net.mlir").write_text((HEAD + kind.get("body", LINEAR) + TAIL).format(**settings))
    values = [kind.get("value", 1.0)] * (ROWS * COLUMNS)
    if "bad" in kind:
        values[BAD * COLUMNS] = kind["bad"]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, {COLUMNS}), }}\n"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                                   + struct.pack(f"<{len(values)}f", *values))
    if "init" not in kind:
        return []
    tensor_file(folder / "init.safetensors", "w", [0.5] * 7 + [kind["init"]], [2, 4])
    return ["--init", "init.safetensors"]


def trained(arguments, folder, flags, device):
    environment = dict(os.environ)
    if device == "cuda":
        emulator = arguments.tools.parent / "test" / "emulator" / "lib"
        environment |= {"MP_CUDA_PATH": str(emulator), "MP_CACHE_DIR": str(arguments.work / "cache")}
    command = [arguments.tools / "mp-run", "train", "net.mlir", "--data", ".", "--batch", ROWS, "--max-steps", 1, "--out", "run",
               "--device", device, *flags]
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


def problem(kind, found):
    """What is wrong with an origin, or nothing."""
    result, operands = found["text"].split("; step ")[0].split("; of ")[0], found["text"].partition("; of ")[2]
    place = result.split(": ")[0]
    if not re.fullmatch(kind["place"], place):
        return f"place {place!r}, expected {kind['place']!r}"
    if kind["operands"] and not any(re.search(one, operands) for one in kind["operands"]):
        return f"operands {operands!r}, expected one of {kind['operands']}"
    if kind.get("sample") and found.get("sample") != BAD:
        return f"sample {found.get('sample')}, expected {BAD}"
    if sorted(found["records"]) != list(range(ROWS)):
        return f"records {found['records']}, expected all {ROWS}"
    return None


def main():
    arguments = options(__doc__)
    failures, runs = [], 0
    for name, plain in KINDS.items():
        for precision, scaler in PRECISIONS.items():
            if plain.get(precision, {}) is None:
                continue
            kind = {**plain, **plain.get(precision, {})}
            for device in ("cpu", "cuda"):
                for mode in ("step", "all"):
                    folder = arguments.work / f"{name}-{precision}-{device}-{mode}"
                    flags = plant(folder, kind) + ["--precision", precision, "--scaler", kind.get("scaler", scaler), "--nan-check", mode]
                    ended = trained(arguments, folder, flags, device)
                    runs += 1
                    path = folder / "run" / "non-finite.jsonl"
                    lines = path.read_text().splitlines() if path.exists() else []
                    wrong = problem(kind, json.loads(lines[0])) if len(lines) == 1 else f"{len(lines)} origins"
                    if wrong:
                        failures.append(f"{folder.name}: {wrong}")
                        print(f"{failures[-1]}\n{ended.stderr[-1500:]}", file=sys.stderr)
    print(f"{runs} runs, {len(failures)} of them name another place")
    finish(failures)


if __name__ == "__main__":
    main()

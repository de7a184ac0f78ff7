#!/usr/bin/env python3
"""Measures what the digests of a checkpoint cost: the time to verify a checkpoint over the time to read its file, and
the time to resume it over the time to resume the same file without digests. All are run in turns; medians are printed.
A virtual machine's first touch of memory costs more than digests do, and falls on one or the other by what ran before:
the two resumptions take turns in who is first.

    bench/checkpoint_load.py --json bench/results/checkpoint-load.json
"""

import argparse
import json
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from _machine import ROOT, circumstances

MODULE = """
mp.variable @w : tensor<{rows}x16384xf32> = #mp.init<constant, value = 0.5>
func.func @loss(%x: tensor<?x1xf32> {{mp.name = "x"}}) -> (tensor<f32> {{mp.name = "loss"}}) {{
  %w = mp.read @w : tensor<{rows}x16384xf32>
  %s = mp.sum %w dims [0, 1] : tensor<{rows}x16384xf32>
  %m = mp.mean %x dims [0, 1] : tensor<?x1xf32>
  %loss = mp.mul %s, %m : tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}}
mp.train @step of @loss {{ mp.minimize result(0) {{optimizer = #mp.sgd<lr = 1.0e-9>}} }}
mp.data @train {{x = #mp.column<"x.npy" as npy, f32>}}
"""


def write_model(folder, mib):
    (folder / "model.mlir").write_text(MODULE.format(rows=mib * 16))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (64, 1), }"
    header += b" " * (117 - len(header)) + b"\n"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<64f", *[0.1] * 64))


def without_digests(source, target):
    """Writes the file as format 1, which has no digests."""
    with source.open("rb") as whole, target.open("wb") as plain:
        header = json.loads(whole.read(struct.unpack("<Q", whole.read(8))[0]))
        metadata = header["__metadata__"]
        metadata["mantissa.checkpoint"] = "1"
        del metadata["header_digest"], metadata["part_digests"]
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        plain.write(struct.pack("<Q", len(text)) + text)
        while block := whole.read(1 << 24):
            plain.write(block)


def seconds(command, cwd):
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return time.perf_counter() - start


def read_file(path):
    start = time.perf_counter()
    buffer = bytearray(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build/release/bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--mib", type=int, default=1024, help="size of the checkpoint (%(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="of each, taking turns (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    began, mp_run = circumstances(options.tools), str((options.tools / "mp-run").resolve())
    train = [mp_run, "train", "model.mlir", "--data", ".", "--max-steps", "1", "--device", "cpu"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder, options.mib)
        seconds([*train, "--out", "run"], folder)
        saved = folder / "run" / "checkpoint.safetensors"
        without_digests(saved, folder / "plain.safetensors")
        rounds = []
        resumed = [("resume", saved), ("resume_without_digests", "plain.safetensors")]
        for number in range(options.rounds):
            one = {"read": read_file(saved), "start": seconds([mp_run, "--version"], folder),
                   "verify": seconds([mp_run, "verify", saved], folder)}
            for name, checkpoint in resumed if number % 2 else reversed(resumed):
                one[name] = seconds([*train, "--resume", checkpoint], folder)
            one["verify_ratio"] = (one["verify"] - one["start"]) / one["read"]
            one["resume_ratio"] = one["resume"] / one["resume_without_digests"]
            rounds.append(one)
    medians = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    for name, value in medians.items():
        print(f"{name:24} {value:.3f}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**began, "mib": options.mib, "medians": medians, "results": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()

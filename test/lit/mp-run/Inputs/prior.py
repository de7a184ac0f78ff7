"""make FOLDER: the data of prior.mlir. compare A B: prints how the metrics of two runs agree."""

import json
import random
import struct
import sys
from pathlib import Path


def npy(path, shape, data):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(data))


def make(folder):
    random.seed(1)
    samples = 500
    npy(folder / "label.npy", f"({samples},)", [random.choice([0, 1, 1, 2, 2, 2, 3, 7]) for _ in range(samples)])
    npy(folder / "zero.npy", f"({samples}, 10)", [random.randrange(4) for _ in range(10 * samples)])


def compare(*runs):
    one, two = ([json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()] for run in runs)
    steps = [line["step"] for line in two]
    print("steps", steps == list(range(1, len(one) + 1)))
    print("losses", max(abs(a["loss"] - b["loss"]) for a, b in zip(one, two)) < 1e-5)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*map(Path, sys.argv[2:]))

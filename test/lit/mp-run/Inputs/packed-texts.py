"""apart: from the packed arrays of train*.npy, the same texts as rows of their own in rows/, and as inputs x.npy and y.npy of
the network without packing; test*.npy are the same. logits: how far the logits of packed texts are from those of the texts apart. metrics A B: how far
the losses and the norms of all gradients of two runs are from one another."""

import ast
import json
import math
import struct
import sys
from pathlib import Path

CODES = {"<u2": "H", "<f4": "f"}


def load(name):
    """The rows of an array, each as one list."""
    data = Path(name).read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    numbers = struct.unpack(f"<{math.prod(header['shape'])}{CODES[header['descr']]}", data[start:])
    size = len(numbers) // header["shape"][0]
    return [list(numbers[i:i + size]) for i in range(0, len(numbers), size)]


def save(name, rows):
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}\n".encode()
    data = b"".join(struct.pack(f"<{len(row)}H", *row) for row in rows)
    Path(name).write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data)


def packed():
    """[(row, the places of one of its texts)]"""
    return [(row, [place for place, of in enumerate(segments) if of == text])
            for row, segments in enumerate(load("train-segments.npy")) for text in range(1, max(segments) + 1)]


def apart():
    tokens, positions, texts = load("train.npy"), load("train-positions.npy"), packed()
    filled = lambda values: values + [0] * (len(tokens[0]) - len(values))
    for row, places in texts:
        assert places == list(range(places[0], places[-1] + 1))
        assert [positions[row][place] for place in places] == list(range(len(places)))
    rows = [filled([tokens[row][place] for place in places]) for row, places in texts]
    segments, places = [filled([1] * len(places)) for _, places in texts], [filled(list(range(len(places)))) for _, places in texts]
    for source in ("train", "test"):
        for name, values in ("", rows), ("-segments", segments), ("-positions", places):
            save(f"rows/{source}{name}.npy", values)
            save(f"test{name}.npy", load(f"train{name}.npy"))
    save("x.npy", rows)
    save("y.npy", rows)


def logits():
    together, alone = load("packed-logits.npy"), load("logits.npy")
    classes = len(alone[0]) // len(load("x.npy")[0])
    at = lambda rows, row, place: rows[row][place * classes:(place + 1) * classes]
    pairs = [pair for text, (row, places) in enumerate(packed()) for i, place in enumerate(places)
             for pair in zip(at(together, row, place), at(alone, text, i))]
    far, largest = max(abs(a - b) for a, b in pairs), max(abs(b) for _, b in pairs)
    print("logits near" if 0 < largest < 100 and far <= 2e-6 * largest else f"logits FAR {far} of {largest}")


def metrics(one, two):
    ours, theirs = (json.loads((Path(run) / "metrics.jsonl").read_text().splitlines()[0]) for run in (one, two))
    for key, far in ("loss", 2e-7), ("accuracy", 2e-7), ("grad_norm", 1e-6):
        print(key, "near" if math.isclose(ours[key], theirs[key], rel_tol=far) else f"FAR {ours[key]} {theirs[key]}")


if __name__ == "__main__":
    {"apart": apart, "logits": logits, "metrics": metrics}[sys.argv[1]](*sys.argv[2:])

"""Compares the losses and the weights of two runs, to the bit."""

import json
import struct
import sys
from pathlib import Path


def losses(run):
    lines = (Path(run) / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines if '"step"' in line]


def weights(run):
    data = (Path(run) / "checkpoint.safetensors").read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    body = data[8 + size:]
    return {name: body[slice(*entry["data_offsets"])] for name, entry in header.items() if name != "__metadata__"}


first, second = sys.argv[1:]
assert losses(first) == losses(second), (losses(first), losses(second))
assert weights(first) == weights(second)
print(len(losses(first)), "losses and all weights are the same")

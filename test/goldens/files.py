"""Readers and writers that the goldens share."""

import gzip
import json
import struct
from pathlib import Path

import numpy


def read_idx(path):
    """The array in a gzipped idx file of unsigned bytes."""
    data = gzip.decompress(Path(path).read_bytes())
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * rank).reshape(shape)


def write_safetensors(path, arrays):
    """Writes float16 or float32 arrays by name."""
    header, offset = {}, 0
    for name, array in arrays.items():
        dtype = {"float16": "F16", "float32": "F32"}[str(array.dtype)]
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())


def write_json(path, value):
    """Writes `value` with the items of lists and dicts of depth two on a line each,
    so that a changed number is one changed line of a diff."""
    def lines(node, depth):
        if depth == 0 or not isinstance(node, (dict, list)) or not node:
            return json.dumps(node, separators=(", ", ": "))
        pad = " " * (3 - depth)
        if isinstance(node, dict):
            body = [f"{json.dumps(k)}: {lines(v, depth - 1)}" for k, v in node.items()]
            return "{\n" + ",\n".join(pad + b for b in body) + "\n" + pad[1:] + "}"
        body = [lines(v, depth - 1) for v in node]
        return "[\n" + ",\n".join(pad + b for b in body) + "\n" + pad[1:] + "]"
    Path(path).write_text(lines(value, 2) + "\n")

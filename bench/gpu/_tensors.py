"""Files of numbers: npy to write, safetensors to read. NumPy is used where there is one: networks have millions of numbers."""

import array
import json
import math
import random
import re
import struct

try:
    import numpy as np
except ImportError:
    np = None

ARGUMENT = re.compile(r'%\w+: tensor<\?((?:x\d+)*)x(\w+)> \{mp\.name = "(\w+)"\}')
CODES = {"f32": ("f", "<f4"), "ui8": ("B", "|u1")}


def write_npy(path, code, descr, shape, values):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.array(code, values).tobytes())


def write_columns(module, folder, samples, seed=1):
    """A file NAME.npy for each argument of a test model: normal numbers, or labels (test/models/README.md)."""
    text, draw = module.read_text(), random.Random(seed)
    classes = re.search(r"^// classes: (\d+)", text, re.MULTILINE)
    folder.mkdir(parents=True, exist_ok=True)
    for dimensions, element, name in ARGUMENT.findall(text):
        shape = [samples, *map(int, dimensions.split("x")[1:])]
        count = math.prod(shape)
        values = ([draw.randrange(int(classes.group(1))) for _ in range(count)] if element == "ui8" else
                  [draw.gauss(0, 1) for _ in range(count)])
        write_npy(folder / f"{name}.npy", *CODES[element], shape, values)


def safetensors(path):
    """{name: numbers} of the tensors of floating-point type."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    return {name: numbers(entry["dtype"], data[8 + length:][slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__" and entry["dtype"] in ("F32", "F64", "F16", "BF16")}


def numbers(dtype, data):
    if np and dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").astype("f8")
    if np:
        return np.frombuffer(data, {"F32": "<f4", "F64": "<f8", "F16": "<f2"}[dtype]).astype("f8")
    if dtype == "BF16":  # the upper half of an f32
        halves = array.array("H", data)
        return array.array("f", array.array("I", (half << 16 for half in halves)).tobytes())
    code, width = {"F32": ("f", 4), "F64": ("d", 8), "F16": ("e", 2)}[dtype]
    return struct.unpack(f"<{len(data) // width}{code}", data)


def distance(ours, theirs):
    """||ours - theirs|| / ||theirs|| over all tensors of two files; infinite if they have other tensors."""
    if ours.keys() != theirs.keys():
        return math.inf
    if np:
        off = sum(float(np.sum((ours[name] - theirs[name]) ** 2)) for name in theirs)
        size = sum(float(np.sum(values ** 2)) for values in theirs.values())
    else:
        off = sum((a - b) ** 2 for name in theirs for a, b in zip(ours[name], theirs[name]))
        size = sum(b * b for values in theirs.values() for b in values)
    return math.sqrt(off / size) if size else math.inf

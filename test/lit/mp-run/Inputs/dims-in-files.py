"""Images and weights with channels first, as PyTorch has them, and what must come of them.

dims-in-files.py write FOLDER: images, results that are wanted, and weights [out, in, height, width]; in folder/last.safetensors
    those with channels last; prints the loss of a convolution in PyTorch's order of dimensions, which is exact.
dims-in-files.py same FILE OTHER: whether the tensors of two files are the same, bit for bit.
dims-in-files.py permuted FILE OTHER: whether those of OTHER are the same in the graph's order.
dims-in-files.py shapes FILE: shapes, by name."""

import itertools
import json
import struct
import sys
from pathlib import Path

SAMPLES, IN, OUT, HEIGHT, WIDTH, ROWS, COLUMNS = 8, 5, 4, 4, 6, 2, 3


def places(*sizes):
    return itertools.product(*map(range, sizes))


def tensor(shape, number):
    """A tensor of small whole numbers, by place."""
    return {place: float(number(*place)) for place in places(*shape)}


def packed(values):
    return struct.pack(f"<{len(values)}f", *values.values())


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    content = Path(path).read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], content[8 + size:][slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def in_last(item):
    """[a, d, b, c] as [a, b, c, d]."""
    dtype, shape, content = item
    if len(shape) != 4:
        return item
    a, d, b, c = shape
    values = dict(zip(places(a, d, b, c), struct.unpack(f"<{len(content) // 4}f", content)))
    return dtype, [a, b, c, d], packed({(i, j, k, m): values[i, m, j, k] for i, j, k, m in places(a, b, c, d)})


def write(folder):
    image = tensor((SAMPLES, IN, HEIGHT, WIDTH), lambda n, c, y, x: (n * 7 + c * 5 + y * 3 + x * 2) % 11 - 5)
    weight = tensor((OUT, IN, ROWS, COLUMNS), lambda o, c, y, x: (o * 3 + c * 2 + y * 5 + x) % 7 - 3)
    bias = tensor((OUT,), lambda o: o - 1)
    result = (OUT, HEIGHT - ROWS + 1, WIDTH - COLUMNS + 1)
    wanted = tensor((SAMPLES, *result), lambda n, o, y, x: (n + o * 2 + y * 3 + x) % 5 * 16)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({SAMPLES}, {IN}, {HEIGHT}, {WIDTH}), }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    (folder / "image.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + packed(image))
    write_safetensors(folder / "all.safetensors", {"wanted": ("F32", [SAMPLES, *result], packed(wanted))})
    state = {"conv.weight": ("F32", [OUT, IN, ROWS, COLUMNS], packed(weight)), "conv.bias": ("F32", [OUT], packed(bias))}
    write_safetensors(folder / "weights.safetensors", state)
    write_safetensors(folder / "last.safetensors", {name: in_last(item) for name, item in state.items()})
    half = b"".join(struct.pack("<e", value) for value in weight.values())
    write_safetensors(folder / "half.safetensors", {**state, "conv.weight": ("F16", [OUT, IN, ROWS, COLUMNS], half)})
    loss = 0
    for n, o, y, x in places(SAMPLES, *result):
        sum_ = bias[o,] + sum(image[n, c, y + i, x + k] * weight[o, c, i, k] for c, i, k in places(IN, ROWS, COLUMNS))
        loss += (sum_ - wanted[n, o, y, x]) ** 2
    print("loss", loss / len(wanted))


command, *paths = sys.argv[1:]
if command == "write":
    write(Path(paths[0]))
elif command == "shapes":
    for name, (_, shape, _) in sorted(read(paths[0]).items()):
        print(name, shape)
else:
    some, others = map(read, paths)
    if command == "permuted":
        some = {name: in_last(item) for name, item in some.items()}
    different = [name for name in some.keys() | others.keys() if some.get(name) != others.get(name)]
    print("different:", *different) if different else print("the same")

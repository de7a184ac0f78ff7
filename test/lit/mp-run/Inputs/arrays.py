"""arrays.py DIR: prints DIR/y.npy if it is there, else writes x.npy (2x3) and z.npy (2x4). Needs no NumPy."""

import ast
import struct
import sys
from pathlib import Path


def write(path, shape):
    count = shape[0] * shape[1]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                     + struct.pack(f"<{count}f", *range(count)))


def show(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    values = struct.unpack(f"<{(len(data) - 10 - length) // 4}f", data[10 + length:])
    print(header["descr"], header["shape"], list(values))


folder = Path(sys.argv[1])
if (folder / "y.npy").exists():
    show(folder / "y.npy")
else:
    write(folder / "x.npy", (2, 3))
    write(folder / "z.npy", (2, 4))

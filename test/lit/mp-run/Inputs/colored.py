"""Writes 96 images of random bytes, [96, 32, 32, 3], and labels as arrays of NumPy."""

import random


def write(name, shape, numbers):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(numbers))


for part in ("train", "test"):
    write(f"{part}-images.npy", (96, 32, 32, 3), random.Random(part).randbytes(96 * 32 * 32 * 3))
    write(f"{part}-labels.npy", (96,), [i % 10 for i in range(96)])

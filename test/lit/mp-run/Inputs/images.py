"""Writes a data folder of the shape of CIFAR-10: images.py FOLDER SAMPLES."""

import struct
import sys
from pathlib import Path


def write(path, shape, data):
    header = str({"descr": "|u1", "fortran_order": False, "shape": shape}) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


folder, samples = Path(sys.argv[1]), int(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for part in ("train", "test"):
    write(folder / f"{part}-images.npy", (samples, 32, 32, 3), bytes(i * 7919 % 251 for i in range(samples * 3072)))
    write(folder / f"{part}-labels.npy", (samples,), bytes(i % 10 for i in range(samples)))

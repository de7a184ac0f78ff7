"""Writes 64 pictures and their labels."""

import struct


def write(name, shape, values):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(values))


write("x.npy", (64, 784), (i % 251 for i in range(64 * 784)))
write("label.npy", (64,), (i % 10 for i in range(64)))

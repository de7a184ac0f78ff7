"""Writes x.npy to the folder given: 1000 x 300 ones."""
import struct
import sys

header = repr({"descr": "<f4", "fortran_order": False, "shape": (1000, 300)}).ljust(117) + "\n"
with open(sys.argv[1] + "/x.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<300000f", *[1.0] * 300000))

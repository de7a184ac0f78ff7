"""Writes folders of PNG files of one colour, with zlib alone: `pictures.py DIR`."""

import struct
import sys
import zlib
from pathlib import Path


def png(width, height, colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(colour) * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


root = Path(sys.argv[1])
for part, count in (("train", 13), ("val", 5)):
    for name, colour in (("blue", (20, 30, 200)), ("red", (200, 40, 10))):
        folder = root / part / name
        folder.mkdir(parents=True)
        for i in range(count):
            shade = [max(0, value - 7 * i) for value in colour]
            (folder / f"{i:02}.png").write_bytes(png(9 + i, 12, shade))

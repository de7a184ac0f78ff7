"""Writes checkpoints of the format without digests, in which a number is tiny or huge: tiny.safetensors, huge.safetensors."""

import json
import struct
import sys
from pathlib import Path

data = Path(sys.argv[1]).read_bytes()
size, = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + size])
body = bytearray(data[8 + size:])
metadata = header["__metadata__"]
for key in [key for key in metadata if "digest" in key]:
    del metadata[key]
metadata["mantissa.checkpoint"] = "1"
first = header["bn1.bias"]["data_offsets"][0]
for name, number in (("tiny", 1e-9), ("huge", 1e5)):
    body[first:first + 12] = struct.pack("<3f", number, 0.5, -0.25)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)

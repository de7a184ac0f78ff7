"""Sets the loss scale of a checkpoint: scale.py FILE NUMBER. The file becomes one of format 1, which has no digests."""

import json
import struct
import sys

path, scale = sys.argv[1], float(sys.argv[2])
with open(path, "rb") as file:
    size = struct.unpack("<Q", file.read(8))[0]
    header, data = json.loads(file.read(size)), bytearray(file.read())
metadata = header["__metadata__"]
metadata["mantissa.checkpoint"] = "1"
for key in ("header_digest", "part_digests"):
    metadata.pop(key, None)
struct.pack_into("<f", data, header["scaler.scale"]["data_offsets"][0], scale)
text = json.dumps(header).encode()
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)

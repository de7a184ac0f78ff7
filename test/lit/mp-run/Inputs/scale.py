"""Sets the loss scale of a checkpoint: scale.py FILE NUMBER."""

import json
import struct
import sys

path, scale = sys.argv[1], float(sys.argv[2])
with open(path, "r+b") as file:
    size = struct.unpack("<Q", file.read(8))[0]
    begin = json.loads(file.read(size))["scaler.scale"]["data_offsets"][0]
    file.seek(8 + size + begin)
    file.write(struct.pack("<f", scale))

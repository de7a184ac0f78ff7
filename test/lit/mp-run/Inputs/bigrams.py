"""Files of tokens, each of which has one successor."""

import struct
import sys
from pathlib import Path


def tokens(count):
    token = 1
    for _ in range(count):
        yield token
        token = (token * 5 + 3) % 32


folder = Path(sys.argv[1])
(folder / "train.bin").write_bytes(b"".join(struct.pack("<H", token) for token in tokens(2009)))
(folder / "val.bin").write_bytes(b"".join(struct.pack("<H", token) for token in tokens(200)))

"""Writes a data folder in the binary form of CIFAR-10: images.py FOLDER SAMPLES."""

import sys
from pathlib import Path

folder, samples = Path(sys.argv[1]), int(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
records = b"".join(bytes([i % 10]) + bytes(j * 7919 % 251 for j in range(i * 3072, i * 3072 + 3072)) for i in range(samples))
for name in ("data_batch_1.bin", "test_batch.bin"):
    (folder / name).write_bytes(records)

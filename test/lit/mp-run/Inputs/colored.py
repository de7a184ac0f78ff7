"""Writes 96 images of random bytes and labels in the binary form of CIFAR-10."""

import random
from pathlib import Path

for name in ("data_batch_1.bin", "test_batch.bin"):
    numbers = random.Random(name)
    Path(name).write_bytes(b"".join(bytes([i % 10]) + numbers.randbytes(3072) for i in range(96)))

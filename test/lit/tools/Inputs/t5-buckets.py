"""The distances at which the numbers of buckets change, in both stacks of t5-small."""

import re
import struct
import subprocess

module = subprocess.run(["mp-zoo", "t5-small", "--tokens", "200", "--layers", "1"], capture_output=True, text=True, check=True).stdout
for stack, constant in zip(("encoder", "decoder"), re.findall(r'dense<"0x(\w+)"> : tensor<399xi32>', module), strict=True):
    buckets = struct.unpack("<399i", bytes.fromhex(constant))
    print(stack, *(f"{i - 199}:{bucket}" for i, bucket in enumerate(buckets) if i == 0 or buckets[i - 1] != bucket))

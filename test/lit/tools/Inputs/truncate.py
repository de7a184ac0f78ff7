"""Runs `mp-opt --trust-bytecode` on a file cut after each byte: it must say an error and exit with 1, whatever is left."""

import subprocess
import sys

whole = open(sys.argv[1], "rb").read()
for size in range(4, len(whole)):
    done = subprocess.run(["mp-opt", "--trust-bytecode"], input=whole[:size], capture_output=True)
    if done.returncode != 1 or b"error" not in done.stderr:
        sys.exit(f"{size} of {len(whole)} bytes: exit {done.returncode}, {done.stderr.decode()}")
print(len(whole) - 4, "truncations")

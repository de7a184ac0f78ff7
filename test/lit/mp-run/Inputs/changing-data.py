"""make FOLDER: data of changing-data.mlir, in files large enough to be mapped.
change HOW FILE RUN COMMAND...: starts COMMAND, which trains into RUN, changes FILE once it has done steps, and prints
how it ended."""

import json
import os
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

SAMPLES = 100_000


def npy(path, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def make(folder):
    random.seed(1)
    labels = random.choices([0, 1, 1, 2, 2, 2, 3, 7], k=SAMPLES)
    npy(folder / "label.npy", "|u1", f"({SAMPLES},)", bytes(labels))
    npy(folder / "x.npy", "|u1", f"({SAMPLES}, 10)", random.randbytes(10 * SAMPLES))


def overwrite(path, start, byte):
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(byte * (path.stat().st_size - start))


def replace(path):
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    other.rename(path)


CHANGES = {
    # All but the header: the steps after this one read what is not there.
    "shrink": lambda path: os.truncate(path, 4096),
    "valid": lambda path: overwrite(path, 4096, b"\x05"),
    "invalid": lambda path: overwrite(path, 4096, b"\xc8"),
    "replace": replace,
}


def steps_in(metrics):
    return [json.loads(line)["step"] for line in metrics.read_text().splitlines()]


def change(how, file, run, *command):
    metrics = Path(run) / "metrics.jsonl"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if metrics.exists() and metrics.stat().st_size:
            CHANGES[how](Path(file))
            break
        time.sleep(0.02)
    try:
        said = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[1]
    lines = [line for line in said.splitlines() if "error" in line or "note" in line]
    print(*lines, sep="\n")
    print("exit", process.returncode)
    print("last step in metrics:", steps_in(metrics)[-1])


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]))
    else:
        change(*sys.argv[2:])

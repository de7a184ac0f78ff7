#!/usr/bin/env python3
"""How fast PNG files become varied samples, and how long a step of resnet20 waits for them.

    bench/pictures.py --json pictures.json

A small lenet trains with decoding and the step on one core: its images a second are at most those of reading, decoding and varying.
resnet20 trains beside a thread that decodes: the share of its time that waits for data counts. No decoded picture is kept, so that
each epoch decodes all."""

import argparse
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from _machine import ROOT, circumstances

SIDE, CLASSES, SEED = 32, 10, 1
AUGMENT = "pad-crop+flip+jitter"
SOURCE = f'"pictures" as images, ui8 shape[{SIDE}, {SIDE}, 3]'


def picture(rng):
    """A smooth picture with noise, as photographs are: about as many bytes as CIFAR's pictures have as PNG."""
    rough = rng.uniform(0, 255, (5, 5, 3))
    at = np.linspace(0, 3.999, SIDE)
    low, part = at.astype(int), (at % 1)[:, None, None]
    rows = rough[low] * (1 - part) + rough[low + 1] * part
    part = (at % 1)[None, :, None]
    smooth = rows[:, low] * (1 - part) + rows[:, low + 1] * part
    return np.clip(smooth + rng.normal(0, 6, smooth.shape), 0, 255).astype(np.uint8)


def png(pixels):
    """The file's bytes. Rows are filtered by "up" and "sub" in turn."""
    rows = bytearray()
    for y, row in enumerate(pixels):
        before = np.vstack([np.zeros((1, 3), np.uint8), row[:-1]]) if y % 2 else pixels[y - 1] if y else np.zeros_like(row)
        rows += bytes([1 if y % 2 else 2]) + (row - before).tobytes()

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width, _ = pixels.shape
    return b"".join([b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
                     chunk(b"IDAT", zlib.compress(bytes(rows), 6)), chunk(b"IEND", b"")])


def write_pictures(folder, number):
    """Returns the bytes of all files."""
    rng, size = np.random.default_rng(SEED), 0
    for i in range(number):
        place = folder / "pictures" / f"class{i % CLASSES}"
        place.mkdir(parents=True, exist_ok=True)
        size += (place / f"{i:06}.png").write_bytes(png(picture(rng)))
    return size


def from_pictures(text):
    """A module of mp-zoo whose data are the pictures."""
    text = re.sub(r"(mp\.data @\w+ \{image = #mp\.column<).*?(>, label = )#mp\.column<.*>\}",
                  rf'\1{SOURCE}\2#mp.column<"pictures" as classes, ui8>}}', text)
    return "".join(line for line in text.splitlines(True) if "mp.data @test" not in line)


def network(options, *words):
    command = [options.tools / "mp-zoo", *words, "--data", "cifar10", "--augment", AUGMENT]
    return from_pictures(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def train(options, folder, text, threads):
    """What the summary of a run says: seconds of training, and of waiting for data."""
    path, out = folder / "network.mlir", folder / f"run-{len(list(folder.glob('run-*')))}"
    path.write_text(text)
    command = [options.tools / "mp-run", "train", path, "--data", folder, "--batch", options.batch, "--epochs", options.epochs,
               "--device", "cpu", "--precision", "bf16", "--threads", threads, "--data-threads", 1, "--data-cache", 0, "--out", out]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{ended.args}\nexits with {ended.returncode}:\n{ended.stderr}")
    return json.loads((out / "summary.json").read_text())


def measure(options, folder):
    """Rounds of both networks in turn: images a second of one core, and the share of resnet20's time that waits."""
    cores, images = os.sched_getaffinity(0), options.pictures // options.batch * options.batch * options.epochs
    rates, shares, steps = [], [], []
    small, large = network(options, "lenet", "--width", "0.25"), network(options, "resnet20-cifar")
    for _ in range(options.rounds):
        os.sched_setaffinity(0, {min(cores)})
        rates.append(images / train(options, folder, small, 1)["train_seconds"])
        os.sched_setaffinity(0, cores)
        run = train(options, folder, large, options.threads)
        shares.append(run["data_wait_seconds"] / run["train_seconds"])
        steps.append(images / run["train_seconds"])
    return {"one_core_images_per_second": statistics.median(rates), "resnet20_images_per_second": statistics.median(steps),
            "resnet20_waiting_share": statistics.median(shares), "rounds": {"one_core": rates, "waiting": shares}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=ROOT / "build" / "release" / "bin", help="folder of mp-run (%(default)s)")
    parser.add_argument("--pictures", type=int, default=12800, help="PNG files of 32 x 32 (%(default)s)")
    parser.add_argument("--batch", type=int, default=128, help="samples a step (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="of each run (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the median counts (%(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of resnet20's step, beside one that decodes (%(default)s)")
    parser.add_argument("--json", type=Path, help="file for all numbers, the machine and versions (none)")
    options = parser.parse_args()
    options.tools = options.tools.resolve()
    began = circumstances(options.tools)
    with tempfile.TemporaryDirectory() as folder:
        size = write_pictures(Path(folder), options.pictures)
        results = {"bytes_per_file": size / options.pictures, **measure(options, Path(folder))}
    print(f"decoded, varied and trained on by one core: {results['one_core_images_per_second']:.0f} images/s")
    print(f"resnet20 waits for {results['resnet20_waiting_share']:.1%} of its time ({results['resnet20_images_per_second']:.0f} images/s)")
    if options.json:
        told = {"pictures": options.pictures, "batch": options.batch, "threads": options.threads, "augment": AUGMENT}
        options.json.write_text(json.dumps({**began, **told, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

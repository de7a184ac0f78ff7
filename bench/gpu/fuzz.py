"""Random graphs on the device, beside an oracle in NumPy (test/fuzz): values, gradients, training steps, texts and examples.

Each mode has an equal part of the stage's time, and 300 graphs, or as many as fit. Seeds are fixed, and a graph that differs is
reported by its seed: `test/fuzz/run.py --mode MODE --target cuda --seed SEED --graphs 1` runs it again."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

from _stage import ROOT, Failed, Skipped, main

SEARCH = ROOT / "test" / "fuzz" / "run.py"
# Graphs of each mode, and the distance of their seeds: neighbours share sizes and types. There are 36 examples.
MODES = {"example": (36, 1), "value": (300, 20), "gradient": (300, 20), "step": (300, 20), "decode": (300, 20)}
PATIENCE = 40  # seconds that a graph may take
RESERVE = 12  # seconds for graphs that have begun when a mode's time is over


def search(stage, mode, graphs, stride, seconds):
    """The counts of a mode; those so far, if it did not end by itself."""
    path = stage.work / f"{mode}.json"
    path.unlink(missing_ok=True)
    command = [sys.executable, "-B", SEARCH, "--driver", stage.tools / "fuzz-driver", "--mode", mode, "--target",
               "cuda" if stage.on_gpu else "cpu", "--graphs", graphs, "--stride", stride, "--jobs", os.cpu_count() or 1,
               "--seconds", max(1, round(seconds)), "--patience", PATIENCE, "--json", path]
    ended = None
    try:
        status = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, timeout=max(1, stage.left() - 3),
                                check=False).returncode
        ended = f"run.py exits with {status}" if status not in (0, 1) else None
    except subprocess.TimeoutExpired:
        ended = "did not end; what follows is what was done"
    if not path.exists():
        raise Failed(f"{mode}: {ended or 'no graph was run'}; see gpu.log")
    return {**json.loads(path.read_text()), **({"ended": ended} if ended else {})}


def measure(stage):
    if not find_spec("numpy"):
        raise Skipped("no NumPy here")
    for index, (mode, (graphs, stride)) in enumerate(MODES.items()):
        seconds = (stage.left() - RESERVE) / (len(MODES) - index)
        found = search(stage, mode, 4 if stage.quick else graphs, stride, seconds)
        last = found["seed"] + stride * (found["graphs"] - 1)
        stage.add(found, [[f"{mode}: seeds {found['seed']}, {found['seed'] + stride} ... {last}",
                           f"{found['graphs']} graphs, {found['compared']} numbers compared, {len(found['differ'])} graphs differ"]],
                  [f"{mode}, seed {wrong['seed']}: {wrong['what']}: {wrong['text']}" for wrong in found["differ"]] +
                  ([f"{mode}: {found['ended']}"] if "ended" in found else []))


if __name__ == "__main__":
    main(measure, __doc__)

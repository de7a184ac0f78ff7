"""Compares macro F1 of a run, and of what mp-run eval printed, with that of confusion.json."""

import json
import sys
from pathlib import Path

run = Path(sys.argv[1])
counts = json.loads((run / "confusion.json").read_text())["counts"]
ours = [2 * row[i] / (sum(row) + sum(other[i] for other in counts)) for i, row in enumerate(counts)
        if sum(row) + sum(other[i] for other in counts)]
expected = sum(ours) / len(ours)
printed = dict(line.split()[1:] for line in Path(sys.argv[2]).read_text().splitlines())
found = {
    "eval": float(printed["macro_f1"]),
    "evaluations.jsonl": json.loads((run / "evaluations.jsonl").read_text().splitlines()[-1])["macro_f1"],
    "summary.json": json.loads((run / "summary.json").read_text())["test_macro_f1"],
}
for where, value in found.items():
    if not abs(value - expected) < 1e-5 or not 0 < expected < 1:
        sys.exit(f"{where}: {value}, expected {expected}")

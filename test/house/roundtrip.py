#!/usr/bin/env python3
"""Every module of examples/ and of the lit tests prints the same after text, bytecode and text again.

mp-opt compares (--verify-roundtrip), also with the IR of every pass of training: what is between two passes can be
saved, too."""

import subprocess
import sys
import tempfile
from pathlib import Path

from _house import options

MODULES = ("examples", "test/lit", "test/models", "bench")
# A module of which the one text differs from the other, whatever is printed: NaN has no order.
PLANTED = "module {}"
PIPELINE = "--mp-train-pipeline=batch=8 total-steps=9 precision=fp16"


def mp_opt(args, *options, text=None):
    return subprocess.run([args.tools / "mp-opt", *options], input=text, capture_output=True, text=True)


def findings(args, folder):
    seen = 0
    for path in sorted(p for place in MODULES for p in (args.source / place).rglob("*.mlir")):
        text = path.read_text()
        whole = Path(folder) / "whole.mlir"
        for chunk in text.split("// -----\n"):
            whole.write_text(chunk)
            parsed = mp_opt(args, whole)
            if parsed.returncode != 0:
                continue
            seen += 1
            forms = [("as written", whole)]
            trained = mp_opt(args, whole, PIPELINE)
            if trained.returncode == 0:
                after = Path(folder) / "after.mlir"
                after.write_text(trained.stdout)
                forms.append(("after mp-train-pipeline", after))
            for what, file in forms:
                done = mp_opt(args, file, "--verify-roundtrip", "-o", "/dev/null")
                binary = Path(folder) / "binary"
                mp_opt(args, file, "--emit-bytecode", "-o", binary)
                back = mp_opt(args, binary, "--trust-bytecode", "--mlir-print-debuginfo")
                there = mp_opt(args, file, "--mlir-print-debuginfo")
                if done.returncode != 0 or back.stdout != there.stdout:
                    yield f"{path.relative_to(args.source)}, {what}: differs after bytecode: {(done.stderr or back.stderr)[:300]}"
    if seen < 500:
        yield f"only {seen} modules parse"
    print(seen, "modules")


if __name__ == "__main__":
    args = options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        found = list(findings(args, folder))
    print("\n".join(found) or "no findings")
    sys.exit(1 if found else 0)

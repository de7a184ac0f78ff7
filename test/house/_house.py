"""What the checks of the repository share.

A check is a function `findings(root)` that yields one line per fault. It first
proves on planted faults that it can fail, then looks at the repository.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

FOLDERS = ("support", "program", "dialect", "passes", "codegen", "runtime", "precision", "tools", "dsl", "api", "examples", "bench", "test",
           "scripts")


def sources(root, *suffixes):
    """Our own files with one of the suffixes, as paths relative to `root`."""
    for folder in FOLDERS:
        for parent, _, names in sorted(os.walk(root / folder)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield (Path(parent) / name).relative_to(root)


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--source", type=Path, required=True, help="root of the repository")
    parser.add_argument("--tools", type=Path, help="folder of mp-opt, mp-run")
    parser.add_argument("--data", type=Path, help="folder of Fashion-MNIST")
    parser.add_argument("--work", type=Path, help="folder to write in")
    return parser.parse_args()


def plant(root, files):
    """Writes {path: text} below `root`."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def check(findings, source, good, faults):
    """Exits non-zero if a planted fault goes unseen, if `good` files are accused, or on findings.

    `good` is {path: text}; each of `faults` is such a dict, laid over `good`.
    """
    for fault in [None, *faults]:
        with tempfile.TemporaryDirectory() as folder:
            plant(Path(folder), {**good, **(fault or {})})
            found = list(findings(Path(folder)))
            if bool(found) != bool(fault):
                sys.exit(f"the check itself is broken: planted {fault}, found {found}")
    found = list(findings(source))
    print("\n".join(found) or "no findings")
    sys.exit(1 if found else 0)

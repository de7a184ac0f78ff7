#!/usr/bin/env python3
"""Our C++ and C are as clang-format 22 writes it."""

import shutil
import subprocess
import sys

from _house import check, options, sources

CLANG_FORMAT = shutil.which("clang-format-22")


def findings(root):
    paths = [str(path) for path in sources(root, ".cpp", ".c", ".h", ".cuh")]
    if not paths:
        return []
    run = subprocess.run([CLANG_FORMAT, "--dry-run", "--Werror", "--style=file", *paths], cwd=root,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    faults = {line.split(": error:")[0] for line in run.stdout.splitlines() if ": error:" in line}
    # One line per file is enough: the remedy is the same for all its lines.
    files = sorted({fault.split(":")[0] for fault in faults})
    if run.returncode and not files:
        return [run.stdout]
    return [f"{file}: clang-format-22 -i {file}" for file in files]


if __name__ == "__main__":
    source = options(__doc__).source
    if not CLANG_FORMAT:
        sys.exit("clang-format-22 is missing: apt-get install clang-format-22")
    style = {".clang-format": (source / ".clang-format").read_text()}
    check(findings, source, {**style, "runtime/A.cpp": "int x = 1;\n"}, [{"runtime/A.cpp": "int  x=1 ;\n"}, {"test/a.c": "int  x=1 ;\n"}])

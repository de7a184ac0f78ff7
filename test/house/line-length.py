#!/usr/bin/env python3
"""Prose has lines of at most 120 columns: documents, but for tables and commands, and .td files, but for their examples."""

import re
from pathlib import Path

from _house import check, options, sources

LIMIT = 120
GENERATED = {"docs/dialect.md", "docs/passes.md", "docs/policy-table.md"}
FENCE = re.compile(r"^\s*```")


def prose(text):
    """(number, line) of a document's lines outside of tables and fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("|"):
            yield number, line


def documents(root):
    paths = (path.relative_to(root) for folder in (".", "docs", "bench", "examples", "test")
             for path in ((root / folder).glob("*.md") if folder == "." else (root / folder).rglob("*.md")))
    return sorted(path for path in paths if str(path) not in GENERATED)


def findings(root):
    lines = [(path, *line) for path in documents(root) for line in prose((root / path).read_text())]
    lines += [(path, *line) for path in sources(root, ".td") for line in prose((root / path).read_text())]
    for path, number, line in lines:
        # A word that is too long by itself, such as an address, stays whole.
        if len(line) > LIMIT and " " in line.strip()[:LIMIT]:
            yield f"{path}:{number}: {len(line)} columns, {LIMIT} are allowed"


LONG = "word " * 25
GOOD = {
    "README.md": "# Title\n\n| " + LONG + " |\n\n```sh\n" + LONG + "\n```\n",
    "docs/dialect.md": LONG,
    "dialect/ops/A.td": "// short\n",
}
FAULTS = [{"README.md": LONG}, {"docs/a.md": LONG}, {"test/README.md": LONG}, {"dialect/ops/A.td": f"// {LONG}"}]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)

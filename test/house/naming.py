#!/usr/bin/env python3
"""Every source file begins with a banner of 80 columns that has its name and says what it holds, and constants of
namespaces are named like kLimit."""

import re

from _house import check, options, sources

BANNER = re.compile(r"//===- (\S+) - \S.* -+(\*- .* -\*-)?===//")
# No other file sees the constants of a test, and those of a CUDA header are part of the kernels' text.
CONSTANT = re.compile(r"(?:static |inline )*constexpr [^(={;]*?([A-Za-z_]\w*)(?:\[[^\]]*\])*\s*(?:=|\{|;)")
SPECIALISED = re.compile(r"constexpr auto \w+<")


def findings(root):
    for path in sources(root, ".cpp", ".c", ".h", ".td", ".cuh"):
        text = (root / path).read_text()
        first = text.split("\n", 1)[0]
        match = BANNER.fullmatch(first)
        if not match or len(first) != 80 or match[1] != path.name:
            yield f"{path}:1: expected a banner: //===- {path.name} - summary ---===//, 80 columns"
        # The constants of the graph DSL are words of its users' programs: F32, Batch.
        if path.parts[0] in ("test", "dsl") or path.suffix == ".cuh":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            constant = CONSTANT.match(line)
            if constant and not SPECIALISED.search(line) and not re.match("k[A-Z]", constant[1]):
                yield f"{path}:{number}: expected a constant named k{constant[1][0].upper()}{constant[1][1:]}"


def banner(name, summary):
    head = f"//===- {name} - {summary} "
    return head + "-" * (75 - len(head)) + "===//\n"


GOOD = {"dialect/A.h": banner("A.h", "a thing") + "inline constexpr int kLimit = 3;\n", "test/a-test.cpp": banner("a-test.cpp", "a test")}
FAULTS = [{"dialect/A.h": "// A thing.\n"}, {"dialect/A.h": banner("B.h", "another thing")}, {"dialect/A.h": banner("A.h", "a thing")[1:]},
          {"dialect/A.cpp": banner("A.cpp", "a thing") + "static constexpr int limit = 3;\n"}]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)

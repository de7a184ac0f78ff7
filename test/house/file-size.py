#!/usr/bin/env python3
"""Sizes as a smell detector: reports files over 400 lines and functions over 60,
and fails where a file passes 600 or a function 120: there an idea is missing."""

import re

from _house import check, options, sources

REPORT_FILE, FAIL_FILE = 400, 600
REPORT_FUNCTION, FAIL_FUNCTION = 60, 120
# In LLVM's format a function of a namespace starts and ends in the first column.
NO_FUNCTION = re.compile(r"(namespace|class|struct|enum|union|extern|static const|const|constexpr|static constexpr)\b")


def functions(lines):
    """(first line, length) of every function that is not inside a class."""
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("}"):
            if start:
                yield start, number - start + 1
            start = None
        elif line.rstrip().endswith("{") and not line.startswith((" ", "\t")):
            start = None if NO_FUNCTION.match(line) else number
        elif line.rstrip().endswith("{") and start is None and re.match(r" +[^ ].*\) (const )?\{$", line):
            # A parameter list that went on to a second line.
            previous = lines[number - 2] if number > 1 else ""
            if previous and not previous.startswith((" ", "\t", "}", "#", "/")) and not NO_FUNCTION.match(previous):
                start = number - 1


def sizes(root, file_limit, function_limit):
    for path in sources(root, ".cpp", ".h", ".td", ".cuh", ".py"):
        lines = (root / path).read_text().splitlines()
        if len(lines) > file_limit:
            yield f"{path}: {len(lines)} lines (limit {file_limit})"
        if path.suffix == ".cpp":
            for start, length in functions(lines):
                if length > function_limit:
                    yield f"{path}:{start}: a function of {length} lines (limit {function_limit})"


def findings(root):
    return sizes(root, FAIL_FILE, FAIL_FUNCTION)


GOOD = {"runtime/A.cpp": "namespace mp {\n" + "int x;\n" * 500 + "}\n"}
FAULTS = [
    {"runtime/Bad.cpp": "int x;\n" * (FAIL_FILE + 1)},
    {"runtime/Bad.cpp": "void f() {\n" + "  g();\n" * FAIL_FUNCTION + "}\n"},
    {"runtime/Bad.cpp": "void f(int a,\n       int b) {\n" + "  g();\n" * FAIL_FUNCTION + "}\n"},
]

if __name__ == "__main__":
    source = options(__doc__).source
    print("\n".join(sizes(source, REPORT_FILE, REPORT_FUNCTION)))
    check(findings, source, GOOD, FAULTS)

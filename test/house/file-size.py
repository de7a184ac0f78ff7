#!/usr/bin/env python3
"""Sizes as a smell detector: reports files over 400 lines and functions over 60,
and fails where a file passes 600 or a function 120: there an idea is missing."""

import re

from _house import check, options, sources

REPORT_FILE, FAIL_FILE = 400, 600
REPORT_FUNCTION, FAIL_FUNCTION = 60, 120
# In LLVM's format a function of a namespace starts and ends in the first column.
NO_FUNCTION = re.compile(r"(namespace|class|struct|enum|union|extern)\b")
FIRST_LINE = re.compile(r"[A-Za-z_\[].*\(")  # a first line has at least the opening parenthesis


def functions(lines):
    """(first line, length) of every function that is not inside a class."""
    start, has_body = None, False
    for number, line in enumerate(lines, 1):
        end = line.rstrip()[-1:]
        if line.startswith("}"):
            if start:
                yield start, number - start + 1
            start = None
        elif FIRST_LINE.match(line) and not NO_FUNCTION.match(line):
            start, has_body = number, False
        if start and not has_body:
            has_body = end == "{"
            if end in (";", "}"):  # a declaration, or all on one line
                start = None


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


GOOD = {"runtime/A.cpp": "namespace mp {\nvoid f();\nint h() { return 0; }\nvoid g(int a,\n       int b);\n" + "int x;\n" * 400 + "}\n"
                         "class C {\npublic:\n  void f() {\n" + "    g();\n" * 125 + "  }\n};\n"}
FAULTS = [
    {"runtime/Bad.cpp": "int x;\n" * (FAIL_FILE + 1)},
    {"runtime/Bad.cpp": "void f() {\n" + "  g();\n" * FAIL_FUNCTION + "}\n"},
    {"runtime/Bad.cpp": "void f(int a,\n       int b) {\n" + "  g();\n" * FAIL_FUNCTION + "}\n"},
]

if __name__ == "__main__":
    source = options(__doc__).source
    for line in sizes(source, REPORT_FILE, REPORT_FUNCTION):
        print("worth a look:", line)
    check(findings, source, GOOD, FAULTS)

#!/usr/bin/env python3
"""docs/switches.md lists every debug switch that the sources read, and no other."""

import re

from _house import check, options

TABLE = "docs/switches.md"
FOLDERS = ("support", "program", "dialect", "passes", "codegen", "runtime", "precision", "tools", "dsl", "api", "examples", "bench", "test", "scripts", "cmake", ".")
# The forms in which each kind of file reads a switch, with the name as the first group.
PATTERNS = {
    (".cpp", ".h"): (r'getenv\(\s*"(\w+)"', r'GetEnv\(\s*"(\w+)"', r'cl::(?:opt|list|bits)<.*?>\s*\w+\s*[({]\s*"([\w-]+)"'),
    (".sh",): (r"\$\{?(MP_\w+)",),
    (".py",): (r'environ(?:\.get\(|\[)\s*"(MP_\w+)"(?!\s*\]\s*=)', r'getenv\(\s*"(MP_\w+)"'),
    (".cmake", "CMakeLists.txt"): (r"\boption\(\s*(MP_\w+)", r"\bset\(\s*(MP_\w+)[^()]*?\bCACHE\b", r"\$ENV\{(\w+)\}"),
}
ROW = re.compile(r"^\| `([\w-]+)` \|", re.MULTILINE)


def files(root):
    for folder in FOLDERS:
        start = root / folder
        yield from sorted(path for path in (start.glob("*") if folder == "." else start.rglob("*")) if path.is_file())


def switches(root):
    """{name as a user writes it: file that reads it}."""
    found = {}
    for path in files(root):
        for suffixes, patterns in PATTERNS.items():
            if not path.name.endswith(suffixes) or path.name == "switches.py" or path.parent.name == "tblgen":
                # One plants some, and the others are of a program that only the build runs.
                continue
            text = path.read_text()
            for pattern in patterns:
                for name in re.findall(pattern, text):
                    found[name if name.isupper() else f"--{name}"] = path.relative_to(root)
    return found


def findings(root):
    read = switches(root)
    table = ROW.findall((root / TABLE).read_text())
    yield from (f"{path}: reads {name}, which {TABLE} does not list" for name, path in read.items() if name not in table)
    yield from (f"{TABLE}: nothing reads {name}" for name in table if name not in read)
    yield from (f"{TABLE}: lists {name} twice" for name in set(table) if table.count(name) > 1)


GOOD = {
    TABLE: "".join(f"| `{name}` | a | b |\n" for name in ("MP_A", "--mp-b", "MP_C", "MP_D", "MP_E", "MP_F")),
    "runtime/A.cpp": 'auto *a = std::getenv("MP_A");\ncl::opt<std::vector<int>> b{"mp-b", cl::desc("x")};\n',
    "scripts/c.sh": "echo ${MP_C:-1}\n",
    "CMakeLists.txt": 'option(MP_D "d" ON)\nset(MP_E "" CACHE STRING "e")\nset(MP_LOCAL 1)\n',
    "test/house/f.py": 'f = os.environ["MP_F"]\n',
}
FAULTS = [
    {"runtime/B.cpp": 'getenv("MP_NEW")'}, {"runtime/B.cpp": 'cl::opt<int> x("mp-new")'}, {"scripts/d.sh": "$MP_NEW"},
    {"cmake/New.cmake": 'set(MP_NEW a\n  CACHE PATH "n")'}, {"test/new.py": 'os.environ.get("MP_NEW")'},
    {TABLE: GOOD[TABLE] + "| `MP_GONE` | a | b |\n"}, {TABLE: GOOD[TABLE] + "| `MP_A` | a | b |\n"},
]

if __name__ == "__main__":
    check(findings, options(__doc__).source, GOOD, FAULTS)

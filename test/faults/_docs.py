"""The table of docs/reliability.md, which is written from the registered faults."""

import re
import sys

from _table import ways

PAGE = "docs/reliability.md"
BEGIN, END = "<!-- run.py --write-docs: begin -->\n", "<!-- run.py --write-docs: end -->\n"


def cell(text):
    """A cell of a table, in which names of tests are code."""
    text = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return re.sub(r"^(ctest|lit) (\S+)", r"\1 `\2`", text)


def table(faults):
    rows = ["| | fault | if it did not hold | what is promised | what shows it |", "|---|---|---|---|---|"]
    for fault in faults:
        shown = "<br>".join(cell(way) for way in ways(fault))
        rows.append(f"| {fault.number} | {cell(fault.name)} | {fault.severity.value} | {cell(fault.promise)} | {shown} |")
    return "\n".join(rows) + "\n"


def split(text):
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{PAGE} has no place for the table: {BEGIN.strip()} ... {END.strip()}")
    before, rest = text.split(BEGIN)
    return before + BEGIN, rest.split(END)[0], END + rest.split(END)[1]


def write(source, faults):
    before, _, after = split((source / PAGE).read_text())
    (source / PAGE).write_text(before + table(faults) + after)
    return 0


def check(source, faults):
    """Every number from 1 to 55 once, and the page as the registrations say."""
    numbers = [fault.number for fault in faults]
    if numbers != list(range(1, 56)):
        print(f"registered are {numbers}, expected 1 to 55")
        return 1
    _, found, _ = split((source / PAGE).read_text())
    if found != table(faults):
        print(f"{PAGE} is not what is registered: python3 test/faults/run.py --write-docs")
        return 1
    return 0

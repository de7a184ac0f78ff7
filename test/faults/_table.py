"""The table of run.py."""

import textwrap
from dataclasses import dataclass, field

from _registry import Fault

COLUMNS = (("#", 3), ("fault", 26), ("promised", 46), ("shown by", 50), ("verdict", 7), ("seconds", 7))


@dataclass
class Row:
    fault: Fault
    wrong: list = field(default_factory=list)
    measured: list = field(default_factory=list)
    absent: list = field(default_factory=list)
    seconds: float = 0
    ran: bool = True  # else its tests were only looked for


def ways(fault):
    """How a fault is shown, one sentence or test each."""
    yield from map(str, fault.by)
    for check in fault.checks:
        yield f"{check.__name__}: {' '.join(check.__doc__.split())}"


def print_cells(cells):
    wrapped = [textwrap.wrap(cell, width) or [""] for cell, (_, width) in zip(cells, COLUMNS)]
    for i in range(max(map(len, wrapped))):
        print("  ".join((column[i] if i < len(column) else "").ljust(width)
                        for column, (_, width) in zip(wrapped, COLUMNS)).rstrip(), flush=True)


def head():
    print_cells([name for name, _ in COLUMNS])
    print("  ".join("-" * width for _, width in COLUMNS))


def verdict(row):
    return "FAILS" if row.wrong else "holds" if row.ran else "exists"


def print_row(row):
    shown = "; ".join([*ways(row.fault), *(f"= {text}" for text in row.measured)])
    print_cells([str(row.fault.number), row.fault.name, row.fault.promise, shown, verdict(row),
                 f"{row.seconds:.1f}"])


def listing(faults):
    for fault in faults:
        print(f"{fault.number:2}  {fault.family}: {fault.name} ({fault.severity.value})\n    {fault.promise}")
        for way in ways(fault):
            print(textwrap.indent(textwrap.fill(way, 114), "      "))


def foot(rows, seconds):
    """Prints what is wrong and the sums; returns the exit status."""
    for row in rows:
        for text in row.wrong:
            print(f"\nfault {row.fault.number}, {row.fault.name}: {text}")
    for row in rows:
        for text in row.absent:
            print(f"\nfault {row.fault.number}, {row.fault.name}: not injected on this machine: {text}")
    failed = sum(bool(row.wrong) for row in rows)
    print(f"\n{seconds:.0f} s")
    print(f"{len(rows) - failed} passed, {failed} failed")
    print(f"faults: {len(rows) - failed} of {len(rows)} hold")
    return 1 if failed else 0

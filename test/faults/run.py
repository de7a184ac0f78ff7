#!/usr/bin/env python3
"""All faults that Mantissa is tested against: injects each, and prints one table.

    python3 test/faults/run.py --build build/release                 # what CI runs
    python3 test/faults/run.py --build build/release --long          # 1,000 kills, 1,000 flips, ...: about an hour
    python3 test/faults/run.py --build build/release --only 1,5,cache

README.md says how a fault is added. Exits with 1 unless every fault holds."""

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _docs
import _existing
import _sanitizers
import _table
from _context import Context
from _registry import FAMILIES, Absent, Broken, load


def options():
    source = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=source / "build" / "release", help="build folder")
    parser.add_argument("--source", type=Path, default=source, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, default=Path("/usr/share/datasets/fashion-mnist"), help="folder of Fashion-MNIST")
    parser.add_argument("--work", type=Path, help="folder to write in (BUILD/test/work/faults)")
    parser.add_argument("--only", help="numbers and families, with commas: 1,5,cache")
    parser.add_argument("--long", action="store_true", help="the long forms")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="faults at a time (one a core)")
    parser.add_argument("--seed", type=int, default=1, help="of random places and times")
    parser.add_argument("--no-existing", action="store_true", help="tests of ctest and lit only have to exist: ctest runs them itself")
    parser.add_argument("--list", action="store_true", help="print the table without running anything")
    parser.add_argument("--write-docs", action="store_true", help="write the table into docs/reliability.md")
    parser.add_argument("--check-docs", action="store_true", help="compare the table with docs/reliability.md")
    parser.add_argument("--sanitizers", type=Path, metavar="DIR", help="build the tests of threads with TSan in DIR, and those of readers with ASan and UBSan, and run them")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.work = (arguments.work or arguments.build / "test" / "work" / "faults").resolve()
    return arguments


def selected(faults, only):
    if not only:
        return faults
    words = only.split(",")
    for word in words:
        if word not in FAMILIES and word not in [str(fault.number) for fault in faults]:
            sys.exit(f"run.py: no fault or family '{word}'; families: {', '.join(FAMILIES)}")
    return [fault for fault in faults if str(fault.number) in words or fault.family in words]


def inject(arguments, fault, check):
    """(what is wrong, what was measured, parts that this machine cannot do, seconds)."""
    begin, context = time.monotonic(), Context(arguments, fault.number, check.__name__)
    try:
        measured, wrong = check(context) or "", ""
    except Broken as broken:
        measured, wrong = "", str(broken)
    except Absent as absent:
        context.skip(check.__name__, str(absent))
        measured, wrong = "", ""
    except Exception as error:  # the test itself is broken, which is no proof either
        measured, wrong = "", f"{check.__name__}: {type(error).__name__}: {error}"
    return wrong, measured, context.absent, time.monotonic() - begin


def judged(arguments, fault, results, existing):
    """The row of a fault, once its functions have run."""
    row = _table.Row(fault, ran=bool(fault.checks) or not arguments.no_existing)
    row.wrong += [str(part) for part in fault.pending()]
    for part in fault.existing():
        row.wrong += [existing[part].text] if existing[part].text else []
        row.seconds += existing[part].seconds
    for future in results:
        wrong, measured, absent, seconds = future.result()
        row.wrong += [wrong] if wrong else []
        row.measured += [measured] if measured else []
        row.absent += absent
        row.seconds += seconds
    return row


def main():
    arguments = options()
    if arguments.sanitizers:
        sys.exit(_sanitizers.run(arguments.source, arguments.sanitizers.resolve()))
    faults = load()
    if arguments.write_docs or arguments.check_docs:
        sys.exit(_docs.write(arguments.source, faults) if arguments.write_docs else _docs.check(arguments.source, faults))
    faults = selected(faults, arguments.only)
    if arguments.list:
        return _table.listing(faults)
    arguments.work.mkdir(parents=True, exist_ok=True)
    begin, parts = time.monotonic(), [part for fault in faults for part in fault.existing()]
    existing = (_existing.check_that_they_exist(parts, arguments.source, arguments.build) if arguments.no_existing else
                _existing.run(parts, arguments.source, arguments.build, arguments.jobs, arguments.work))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = [(fault, [pool.submit(inject, arguments, fault, check) for check in fault.checks]) for fault in faults]
        _table.head()
        rows = []
        for fault, results in waiting:
            rows.append(judged(arguments, fault, results, existing))
            _table.print_row(rows[-1])
    sys.exit(_table.foot(rows, time.monotonic() - begin))


if __name__ == "__main__":
    main()

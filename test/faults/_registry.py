"""The faults: what each is, what is promised, and what shows it.

A family (checkpoint.py, cache.py, ...) registers its faults as it is imported:

    @fault(3, "writes that fail", Severity.LOSS, "the checkpoint before stays, byte for byte",
           by=[unit("checkpoint-test", "CheckpointTest.AFullDiskLeavesTheOldOne")])
    def every_call_fails_in_turn(context):
        \"\"\"every write, fsync and rename of a save fails once\"\"\"
        require(kept, "the checkpoint is gone")
        return "48 calls"

The docstring says how the function shows the promise; what it returns says what it measured. `also` adds a further
function to a fault, `shown` registers one that existing tests show. A fault holds if all that is registered for it does.
"""

import importlib
import inspect
from dataclasses import dataclass, field
from enum import Enum

FAMILIES = ("checkpoint", "numbers", "memory", "driver", "injection", "cache", "readers", "modules", "numerics", "process")


class Severity(Enum):
    LOSS = "data lost or wrong"
    CRASH = "crash or hang"
    BREACH = "something gets in"
    MISLED = "misleading"


class Broken(Exception):
    """The promise does not hold."""


class Absent(Exception):
    """This machine cannot inject the fault; the text says why."""


def require(holds, text):
    if not holds:
        raise Broken(text)


@dataclass(frozen=True)
class Pending:
    """Nothing shows this part yet: the fault does not hold."""
    what: str

    def __str__(self):
        return f"no test yet: {self.what}"


@dataclass
class Fault:
    number: int
    name: str
    severity: Severity
    promise: str
    family: str
    by: list = field(default_factory=list)      # tests that there are
    checks: list = field(default_factory=list)  # functions of test/faults

    def pending(self):
        return [part for part in self.by if isinstance(part, Pending)]

    def existing(self):
        return [part for part in self.by if not isinstance(part, Pending)]


FAULTS = {}


def shown(number, name, severity, promise, by):
    """Registers a fault that other tests show."""
    if number in FAULTS:
        raise ValueError(f"fault {number} is registered twice")
    family = inspect.getmodule(inspect.stack()[1][0]).__name__
    FAULTS[number] = Fault(number, name, severity, promise, family if family != __name__ else "", list(by))


def fault(number, name, severity, promise, by=()):
    """Registers a fault with the function that shows it."""
    def register(check):
        shown(number, name, severity, promise, by)
        FAULTS[number].family = check.__module__
        FAULTS[number].checks.append(check)
        return check
    return register


def also(number):
    """Adds a function to a fault."""
    def register(check):
        FAULTS[number].checks.append(check)
        return check
    return register


def load():
    """All faults, by number."""
    for family in FAMILIES:
        importlib.import_module(family)
    return [FAULTS[number] for number in sorted(FAULTS)]

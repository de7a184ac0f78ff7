"""Tests that ctest and lit run anyway, as what shows a fault."""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Unit:
    """Tests of a GoogleTest program, "Suite.Test" each; none are all of them."""
    program: str
    tests: tuple

    def __str__(self):
        return f"ctest {self.program}" + (f" ({', '.join(self.tests)})" if self.tests else "")

    def pattern(self):
        names = "|".join(map(re.escape, self.tests)) or ".*"
        return f"^{re.escape(self.program)}/([^.]*/)?({names})(/.*)?$"

    def selection(self):
        """What ctest's own expressions, which have few groups, select at least."""
        return [f"^{self.program}/.*{test.replace('.', '[.]')}" for test in self.tests] or [f"^{self.program}/"]

    def missing(self, source, build):
        """What of it does not exist."""
        files = list((source / "test" / "unit").glob(f"*/{self.program}.cpp"))
        if not files:
            return [self.program]
        text = files[0].read_text()
        # The macro may stand on two lines.
        forms = {test: r"^TEST\w*\(\s*" + test.replace(".", r",\s*") + r"\)" for test in self.tests}
        return [test for test, form in forms.items() if not re.search(form, text, re.MULTILINE)]


@dataclass(frozen=True)
class Named:
    """A test of ctest by its name."""
    name: str

    def __str__(self):
        return f"ctest {self.name}"

    def pattern(self):
        return f"^{re.escape(self.name)}$"

    def selection(self):
        return [f"^{self.name}$"]

    def missing(self, source, build):
        listed = "".join(file.read_text() for file in (build / "test").rglob("CTestTestfile.cmake"))
        return [] if re.search(rf"add_test\(\[?=*\[?{re.escape(self.name)}[\]\s]", listed) else [self.name]


@dataclass(frozen=True)
class Lit:
    """A file of test/lit."""
    file: str

    def __str__(self):
        return f"lit {self.file}"

    def missing(self, source, build):
        return [] if (source / "test" / "lit" / self.file).is_file() else [self.file]


def unit(program, *tests):
    return Unit(program, tests)


def ctest(name):
    return Named(name)


def lit(file):
    return Lit(file)


@dataclass
class Result:
    text: str = ""      # what is wrong
    seconds: float = 0


def check_that_they_exist(parts, source, build):
    found = {}
    for part in parts:
        missing = part.missing(source, build)
        found[part] = Result(f"{part} does not exist: {', '.join(missing)}" if missing else "")
    return found


def skips_itself(case):
    skipped = case.find("skipped")
    return skipped is not None and skipped.get("message") == "SKIP_REGULAR_EXPRESSION_MATCHED"


def run_ctest(parts, build, jobs, work):
    """One run of ctest, whose tests are given to the parts that name them."""
    if not parts:
        return {}
    report, log = work / "ctest.xml", work / "ctest.log"
    pattern = "|".join(dict.fromkeys(word for part in parts for word in part.selection()))
    with open(log, "w") as to:
        subprocess.run(["ctest", "--test-dir", build, "-C", "long", "-R", pattern, "-j", str(jobs), "--output-junit", report.absolute(),
                        "--output-on-failure"], stdin=subprocess.DEVNULL, stdout=to, stderr=subprocess.STDOUT, check=False)
    cases = {case.get("name"): case for case in ElementTree.parse(report).getroot().iter("testcase")}
    found = {}
    for part in parts:
        mine = {name: case for name, case in cases.items() if re.search(part.pattern(), name)}
        # A test that skips itself wants what this machine lacks, such as bf16 in its CPU. Some test has to run.
        bad = [name for name, case in mine.items() if case.get("status") not in ("run", "disabled") and not skips_itself(case)]
        if not any(case.get("status") == "run" for case in mine.values()):
            bad = list(mine)
        text = f"{part}: ctest has no such test" if not mine else f"{', '.join(bad)} failed: {log}" if bad else ""
        found[part] = Result(text, sum(float(case.get("time", 0)) for case in mine.values()))
    return found


def run_lit(parts, source, build, jobs, work):
    """One run of lit over the files."""
    if not parts:
        return {}
    report, log = work / "lit.json", work / "lit.log"
    command = re.search(r"add_test\(\[=\[lit\]=\] (.*)\)", (build / "test" / "CTestTestfile.cmake").read_text())[1]
    python, script, *_, site = re.findall(r'"([^"]*)"', command)
    files = [str(Path(site) / part.file) for part in parts]
    with open(log, "w") as to:
        subprocess.run([python, script, "-v", "-j", str(jobs), "--output", report, *files], stdin=subprocess.DEVNULL,
                       stdout=to, stderr=subprocess.STDOUT, check=False)
    tests = {test["name"].split(" :: ", 1)[1]: test for test in json.loads(report.read_text())["tests"]} if report.exists() else {}
    found = {}
    for part in parts:
        test = tests.get(part.file)
        good = test is not None and test["code"] == "PASS"
        found[part] = Result("" if good else f"{part} failed: {log}", test["elapsed"] if test else 0)
    return found


def run(parts, source, build, jobs, work):
    """{part: Result}, each test run once."""
    parts = list(dict.fromkeys(parts))
    files = [part for part in parts if isinstance(part, Lit)]
    rest = [part for part in parts if not isinstance(part, Lit)]
    print(f"running {len(files)} files of lit and the tests of {len(rest)} entries in ctest", file=sys.stderr, flush=True)
    return {**run_lit(files, source, build, jobs, work), **run_ctest(rest, build, jobs, work)}

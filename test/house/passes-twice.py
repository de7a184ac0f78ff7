#!/usr/bin/env python3
"""Every pass of the pipelines run again on what it made: it changes nothing, or refuses with a located error.

Also, what is printed after every pass parses, and prints the same. The passes and their options are what the pipelines
themselves say (--dump-pass-pipeline)."""

import re
import subprocess
import sys
from pathlib import Path

from _house import options

MODULES = ["examples/fashion-mnist/mlp.mlir"]
PIPELINES = ["mp-train-pipeline=batch=8 total-steps=9", "mp-train-pipeline=batch=8 total-steps=9 precision=fp16 accumulate=4 ranks=2 shard-optimizer=true",
             "mp-train-pipeline=batch=8 total-steps=9 precision=fp8", "mp-evaluate-pipeline=batch=8 precision=fp8",
             "mp-evaluate-pipeline=batch=8", "mp-calibrate-pipeline=batch=8"]
# A located error. A pass that runs again must change nothing, or refuse with such an error.
ERROR = re.compile(r"^[^:\n]+:\d+:\d+: error: ", re.MULTILINE)


def run(opt, arguments, text):
    """(text, "") or (None, errors)."""
    done = subprocess.run([opt, *arguments], input=text, capture_output=True, text=True)
    return (done.stdout, "") if done.returncode == 0 else (None, done.stderr)


def split(pipeline):
    """The passes of "builtin.module(a,b{c=d},func.func(e,f))", each as a pipeline of its own."""
    inner, passes, depth, start = pipeline[len("builtin.module("):-1], [], 0, 0
    for i, c in enumerate(inner + ","):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            passes.append(inner[start:i])
            start = i + 1
    for one in passes:
        nested = re.fullmatch(r"(func\.func)\((.*)\)", one)
        if not nested:
            yield f"builtin.module({one})"
            continue
        for part in split(f"builtin.module({nested[2]})"):
            yield f"builtin.module({nested[1]}({part[len('builtin.module('):-1]}))"


def dumped(opt, pipeline):
    done = subprocess.run([opt, f"--{pipeline}", "--dump-pass-pipeline"], input="module {}", capture_output=True, text=True)
    text = done.stderr.split("Pass Manager with", 1)[-1].split(":", 1)[-1]
    text = re.sub(r"\s*\n\s*", "", text.strip())
    end = 0
    for i, c in enumerate(text):
        end += (c == "(") - (c == ")")
        if c == ")" and end == 0:
            return re.sub(r",\s+", ",", text[:i + 1])
    sys.exit(f"passes-twice: mp-opt printed no pipeline for {pipeline}: {done.stderr}")


def findings(opt, text, passes):
    """Returns the faults on the way of a module through passes; stops if a pass fails."""
    for one in passes:
        again, errors = run(opt, [], text)
        if again != text:
            yield f"before {one}: what was printed does not print the same again: {errors[:300]}"
        once, errors = run(opt, [f"--pass-pipeline={one}"], text)
        if once is None:
            yield f"{one} fails: {errors[:300]}"
            return
        twice, errors = run(opt, [f"--pass-pipeline={one}"], once)
        if twice is None and not ERROR.search(errors):
            yield f"{one} refuses to run again without saying where: {errors[:300]}"
        if twice is not None and twice != once:
            yield f"{one} changes what it made itself"
        text = once


def main():
    chosen = options(__doc__)
    opt = chosen.tools / "mp-opt"
    # A pass that does not exist is planted, and must be a finding.
    planted = list(findings(opt, "module {\n}\n", ["builtin.module(strip-debuginfo,no-such-pass)"]))
    if not planted:
        sys.exit("the check itself is broken: it does not see a pass that fails")
    modules = MODULES + sorted(str(p.relative_to(chosen.source)) for p in (chosen.source / "test/models").glob("*.mlir"))
    faults, passes = [], 0
    for module in modules:
        text, errors = run(opt, [], (chosen.source / module).read_text())
        if text is None:
            sys.exit(f"{module} does not parse: {errors}")
        for pipeline in PIPELINES:
            chain = list(split(dumped(opt, pipeline)))
            passes += len(chain)
            faults += [f"{module}, {pipeline}: {fault}" for fault in findings(opt, text, chain)]
    if passes < 10 * len(modules):
        sys.exit("the check itself is broken: the pipelines have hardly a pass")
    print("\n".join(faults) or f"{passes} passes ran twice")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

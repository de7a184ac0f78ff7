#!/usr/bin/env python3
"""Runs every command of README.md and docs/, so that they stay true.

A fenced block says in its first line what it is:
  ```sh test        commands, run in order in a copy of the repository that has build/release
                    (bash, -e), as in a shell of their own: a block that calls a tool says where it is
  ```sh test building  the same where they build the compiler with a change: only `--building` runs
                    them, and no other commands of their page
  ```cpp file=PATH  text a reader is told to write; written into that copy (any language)
  ```cpp append=PATH  the same, at the end of a file that is there
  ```cpp after=PATH   the same, inside a file: the block's first line is one that the file has
                    once, and the rest is written after it
  ```sh             commands run by another test: only those of RUN_ELSEWHERE
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from _house import check, options

# The commands that a reader sees, and the tests that run them.
RUN_ELSEWHERE = {
    "scripts/test.sh": "continuous integration",
    "scripts/train-fashion-mnist.sh": "acceptance/train-script.py",
    "scripts/train-bert.sh": "acceptance/glosses.py",
    "scripts/install-deps.sh": "scripts/test.sh",
    "scripts/package.sh": "portable/package.py",
    "tar": "portable/package.py",
    "apt-get": "consumer/debian.py",
    "cpack": "consumer/debian.py",
    "bin/mp-run": "portable/package.py",
    "bin/mp-opt": "portable/package.py",
    "pip": "consumer/wheel.py",
    "bench/gpu.sh": "house/gpu-script.py",
}
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRITES = ("file=", "append=", "after=")
NOT_COPIED = {".git", "build", "runs", ".venv", ".cache"}  # of the repository's root
#: All commands of these pages build the compiler with a change, in a build/release of their copy.
BUILDING = {"adding-an-op.md"}


def documents(root):
    return [path for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))) if path.is_file()]


def blocks(path):
    """(line, information string, body) of each fenced block."""
    text = path.read_text()
    for match in FENCE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1).split(), match.group(2)


def findings(root):
    """Blocks that nothing runs."""
    for path in documents(root):
        for line, info, body in blocks(path):
            if info[:1] not in (["sh"], ["bash"], ["console"]) or "test" in info:
                continue
            for command in body.splitlines():
                words = command.split("#")[0].split()
                if words and words[0] not in RUN_ELSEWHERE:
                    yield f"{path.relative_to(root)}:{line}: no test runs '{command}': mark the block 'sh test'"


def write(copy, how, target, body):
    """Writes a block into the copy; a message or None. `how` is file, append or after."""
    file = copy / target
    if how == "file":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body)
        return None
    if not file.is_file():
        return f"the repository has no {target}"
    lines = file.read_text().splitlines(keepends=True)
    if how == "append":
        file.write_text("".join([*lines, body]))
        return None
    anchor, *rest = body.splitlines(keepends=True)
    if lines.count(anchor) != 1:
        return f"{target} has {lines.count(anchor)} lines '{anchor.rstrip()}', expected one"
    after = lines.index(anchor) + 1
    file.write_text("".join(lines[:after] + rest + lines[after:]))
    return None


def fresh_copy(root, copy, environment, building):
    """A copy of the repository. Its build/release is the build under test, unless `building` makes its own."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(root, copy, symlinks=True,
                    ignore=lambda folder, names: NOT_COPIED & set(names) if Path(folder) == root else set())
    if "MP_BUILD" in environment and not building:
        (copy / "build").mkdir()
        (copy / "build" / "release").symlink_to(environment["MP_BUILD"])


def runs(path, info, building):
    """Whether a block of commands belongs to this run."""
    return "test" in info and building == (path.name in BUILDING or "building" in info)


def run(root, path, work, environment, building):
    """Runs one document's blocks in a fresh copy of the repository; a message or None."""
    if not any(runs(path, info, building) for _, info, _ in blocks(path)):
        return None
    copy = work / "-".join(path.relative_to(root).with_suffix("").parts)
    fresh_copy(root, copy, environment, building)
    for line, info, body in blocks(path):
        place = f"{path.relative_to(root)}:{line}"
        target = next((word.split("=", 1) for word in info if word.startswith(WRITES)), None)
        if target:
            if message := write(copy, *target, body):
                return f"{place}: {message}"
        elif runs(path, info, building):
            began = time.monotonic()
            result = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=copy, env=environment, text=True,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    check=False)
            print(f"{place}: ran in {time.monotonic() - began:.0f} s", flush=True)
            if result.returncode:
                return f"{place}: exits with {result.returncode}:\n{body}--- output ---\n{result.stdout}"
    return None


def run_all(root, work, environment, building=False):
    messages = [run(root, path, work, environment, building) for path in documents(root)]
    return [message for message in messages if message]


def self_test(work):
    """Checks that a failing command is noticed, and that a block writes its files."""
    planted = work / "planted"
    shutil.rmtree(planted, ignore_errors=True)
    planted.mkdir(parents=True)
    good = ("```txt file=a/b\nhello\nworld\n```\n```txt after=a/b\nhello\nthere\n```\n```txt append=a/b\nend\n```\n"
            "```sh test\ntest \"$(tr '\\n' ' ' <a/b)\" = 'hello there world end '\n```\n")
    for text, wanted in ((good, 0), (good + "```sh test\nfalse\ntrue\n```\n", 1),
                         (good + "```txt after=a/b\nnowhere\nx\n```\n", 1), (good + "```txt append=c\nx\n```\n", 1)):
        (planted / "README.md").write_text(text)
        if len(run_all(planted, work / "planted-copies", dict(os.environ))) != wanted:
            sys.exit("the check itself is broken")
    (planted / "README.md").write_text(good + "```sh test building\nfalse\n```\n")
    failing = [len(run_all(planted, work / "planted-copies", dict(os.environ), building)) for building in (False, True)]
    if failing != [0, 1]:
        sys.exit("the check itself is broken")


def main():
    building = "--building" in sys.argv
    if building:
        sys.argv.remove("--building")
    arguments = options(__doc__)
    work = (arguments.work / "docs").resolve()
    self_test(work)
    tools = arguments.tools.resolve()
    environment = {**os.environ, "MP_DATA": str(arguments.data), "MP_BUILD": str(tools.parent)}
    failed = run_all(arguments.source, work, environment, building)
    if failed:
        sys.exit("\n".join(failed))
    check(findings, arguments.source, {"README.md": "```sh\nscripts/test.sh  # all\n```\n```sh test\nls\n```\n"},
          [{"README.md": "```sh\nmp-opt x.mlir\n```\n"}, {"docs/a/b.md": "```bash\nls\n```\n"}])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Mistakes in the graph DSL that C++ finds: the program does not compile, and the message says what is wrong.

For a wrong product of Static tensors it names the two dimensions.
"""

import json
import subprocess
import sys

from _house import options

# What the compiler's message has to say, by the macro that makes the mistake.
EXPECTED = {
    "WRONG_PRODUCT": ["784", "512", "columns of the left matrix"],
    "WRONG_LINEAR": ["784", "512", "features of the input"],
    "WRONG_TYPE": ["different element types"],
    "WRONG_RESULT": ["Static<", "511", "512"],
    "WRONG_SUM": ["different shapes", "128", "784"],
    "WRONG_AND": ["write logicalAnd(a, b)"],
    "WRONG_OR": ["write logicalOr(a, b)"],
}


def compile_flags(build):
    """Include folders and definitions with which the build compiles this file's neighbours."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"].endswith("graph-test.cpp"):
            words = entry["command"].split()
            kept = [word for word in words if word.startswith(("-I", "-D", "-std", "-isystem"))]
            paths = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
            return [word for word in kept if word != "-isystem"] + [part for path in paths for part in ("-isystem", path)], words
    sys.exit("the build has no compile command of graph-test.cpp")


def compiler_of(words):
    return next(word for word in words if "clang++" in word or "g++" in word)


def main():
    arguments = options(__doc__)
    flags, words = compile_flags(arguments.tools.resolve().parent)
    source = arguments.source / "test" / "unit" / "dsl" / "static-product.cpp"
    build = arguments.tools.resolve().parent
    command = [compiler_of(words), *flags, "-fsyntax-only", str(source.resolve())]
    right = subprocess.run(command, cwd=build, text=True, capture_output=True, check=False)
    if right.returncode:
        sys.exit(f"what is right does not compile:\n{right.stderr}")
    failed = []
    for macro, parts in EXPECTED.items():
        result = subprocess.run([*command, f"-D{macro}"], cwd=build, text=True, capture_output=True, check=False)
        errors = "\n".join(line for line in result.stderr.splitlines() if "error:" in line or "note:" in line)
        missing = [part for part in parts if part not in errors]
        if result.returncode == 0 or missing:
            failed.append(f"{macro}: exit {result.returncode}, the message lacks {missing}:\n{errors}")
        else:
            print(f"{macro}: {errors.splitlines()[0]}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()

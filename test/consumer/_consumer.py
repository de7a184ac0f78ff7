"""What the tests of the installed tree share."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def options(description):
    parser = argparse.ArgumentParser(description=description)
    for name in ("source", "tools", "data", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.build = arguments.tools.resolve().parent
    arguments.source = arguments.source.resolve()
    # Nothing that a developer has set may help the tools or the consumers to find anything.
    for name in ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "Mantissa_DIR", "LLVM_DIR", "MLIR_DIR"):
        os.environ.pop(name, None)
    return arguments


def output(*words, status=0, **keywords):
    """Returns the output of a command; ends the test if it exits with another status."""
    result = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False, **keywords)
    if result.returncode != status:
        sys.exit(f"{' '.join(map(str, words))}\nexits with {result.returncode}, expected {status}:\n{result.stdout}")
    return result.stdout


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def configure(source, build, *definitions, **keywords):
    return output("cmake", "-G", "Ninja", "-S", source, "-B", build, *definitions, **keywords)


def needed(file):
    """The libraries that a library or a program links itself."""
    lines = [line for line in output("readelf", "--dynamic", file).splitlines() if "(NEEDED)" in line]
    return {line.split("[")[1].rstrip("]") for line in lines}

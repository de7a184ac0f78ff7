#!/usr/bin/env python3
"""The wheel: pip builds it as users do, and in a fresh virtual environment, which has NumPy alone, it trains the example,
passes the tests of python/, and runs the program of docs/python.md. Type checkers find its types.

pip builds in build/, where ccache has what the build of the tools has compiled."""

import os
import re
import sys
import time
import zipfile

from _consumer import HERE, fresh, needed, options, output

MOST_MIB = 25
#: Parts of the C library.
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1"}
NOTICES = {"llvm-22-dev", "libmlir-22-dev", "zlib1g-dev", "libpng-dev", "libturbojpeg0-dev", "libutf8proc-dev", "libpcre2-dev", "libstdc++-12-dev", "nanobind", "robin-map"}
#: Two epochs of the example give 0.865.
LEAST_ACCURACY = 0.85
#: (a line of a program, what mypy says of it, or nothing)
TYPED = (
    ("step = mantissa.compile('net.mlir', batch=4, outputs=['grad:w'])", None),
    ("result = step({'x': numpy.zeros(4, numpy.float32), 'label': bytes(4)})", None),
    ("loss: float = result.loss", None),
    ("shapes: list[tuple[int, ...]] = [info.shape for info in step.inputs.values()]", None),
    ("explained: list[dict[str, object]] = mantissa.explain('net.mlir', batch=4)", None),
    ("texts: list[list[int]] = mantissa.compile_generator('net.mlir', 'w', batch=2).write([[1]], top_k=3)", None),
    ("name: str = result.loss", "assignment"),
    ("step({'x': 3})", "dict-item"),
    ("mantissa.compile('net.mlir', batch='4')", "arg-type"),
    ("mantissa.explain('net.mlir', bach=4)", "call-arg"),
    ("mantissa.compile_generator('net.mlir', 'w').stream([[1]], topk=3)", "call-arg"),
)


def build(arguments):
    folder = fresh(arguments.work / "wheels")
    began = time.monotonic()
    output(sys.executable, "-m", "pip", "wheel", arguments.source, "--no-deps", "--wheel-dir", folder)
    (wheel,) = folder.glob("*.whl")
    mib = wheel.stat().st_size / 2**20
    print(f"{wheel.name}: {mib:.1f} MiB, built in {time.monotonic() - began:.0f} s")
    assert re.fullmatch(r"mantissa-0\.1\.0-cp3\d+-cp3\d+-linux_x86_64\.whl", wheel.name) and mib < MOST_MIB
    return wheel


def check_files(wheel, folder):
    """The wheel has its types and notices, and its library needs the C library alone and shows Python's entry alone."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(fresh(folder))
    package = folder / "mantissa"
    assert {"py.typed", "_core.pyi", "__init__.py"} <= {file.name for file in package.iterdir()}
    assert {file.name for file in (package / "notices").iterdir() if file.stat().st_size} == NOTICES
    (library,) = package.glob("_core.*.so")
    assert needed(library) <= C_LIBRARY, needed(library)
    symbols = output("nm", "--dynamic", "--defined-only", "--format=posix", library).split("\n")
    assert [line.split()[0] for line in symbols if line] == ["PyInit__core"], symbols


def python_of(wheel, arguments):
    """The Python of a fresh environment with the wheel, in which pip has installed what the wheel depends on."""
    folder = fresh(arguments.work / "venv")
    output(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    output(python, "-m", "pip", "install", "--only-binary", ":all:", wheel)
    packages = {line.split("==")[0] for line in output(python, "-m", "pip", "freeze").splitlines()}
    assert {name.split(" @ ")[0] for name in packages} == {"mantissa", "numpy"}, packages
    return python


def train(run, arguments):
    said = run(arguments.source / "examples/fashion-mnist/train.py", arguments.data, "2")
    accuracies = [float(number) for number in re.findall(r"test accuracy (\S+)", said)]
    print(said, end="")
    assert len(accuracies) == 2 and accuracies[-1] >= LEAST_ACCURACY, said


def page(arguments):
    """The program that the page shows, with the data of the test."""
    text = (arguments.source / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6, "docs/python.md has lost its program"
    return "\n".join(blocks).replace("/usr/share/datasets/fashion-mnist", str(arguments.data))


def check_types(python, folder):
    """The package fits its stub, and a program that uses it is judged rightly, line by line."""
    output(python, "-m", "pip", "install", "--only-binary", ":all:", "mypy")
    mypy = (python, "-m", "mypy", "--strict", f"--cache-dir={folder}/mypy")
    output(*mypy, "-p", "mantissa", cwd=folder)
    lines = ["import mantissa", "import numpy", *(line for line, _ in TYPED)]
    (folder / "typed.py").write_text("\n".join(lines) + "\n")
    said = output(*mypy, "typed.py", cwd=folder, status=1)
    found = {(int(line), code) for line, code in re.findall(r"^typed\.py:(\d+): error: .*\[(\S+)\]$", said, re.MULTILINE)}
    assert found == {(number, code) for number, (_, code) in enumerate(TYPED, 3) if code}, said


def main():
    arguments = options(__doc__)
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        os.environ.pop(name, None)
    wheel = build(arguments)
    check_files(wheel, arguments.work / "unpacked")
    python = python_of(wheel, arguments)
    folder = fresh(arguments.work / "run")
    (folder / "examples").symlink_to(arguments.source / "examples")

    def run(*words):
        return output(python, "-B", *words, cwd=folder)

    tests = {name: HERE / "python" / f"{name}.py" for name in ("arrays", "options", "state", "texts", "threads", "narrow")}
    for name in ("arrays", "options", "state", "texts", "threads"):
        run(tests[name])
    run(tests["narrow"], "without")
    (folder / "page.py").write_text(page(arguments))
    run("page.py")
    train(run, arguments)
    output(python, "-m", "pip", "install", "--only-binary", ":all:", "ml_dtypes")
    run(tests["narrow"], "with")
    check_types(python, folder)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The portable package: small, needs the C library alone, and trains in a root that holds nothing else, with the
numbers of the tools that were built beside it."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

MOST_MIB = 40
GLIBC = (2, 36)
LIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
LOADER = "/lib64/ld-linux-x86-64.so.2"
TRAIN = ("--batch", "128", "--max-steps", "20", "--precision", "fp16", "--onednn", "never", "--seed", "3")


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "tools", "data", "work"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser.parse_args()


def output(*words, status=0, **keywords):
    """Returns the output of a command; ends the test if it exits with another status."""
    result = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False, **keywords)
    if result.returncode != status:
        sys.exit(f"{' '.join(map(str, words))}\nexits with {result.returncode}, expected {status}:\n{result.stdout}")
    return result.stdout


def build(arguments):
    """The package of the build under test, made by the documented command."""
    folder = arguments.tools.resolve().parent
    if folder != (arguments.source / "build" / folder.name).resolve():
        sys.exit(f"{folder} is not a preset's build folder")
    output(arguments.source / "scripts" / "package.sh", env={**os.environ, "MP_PRESET": folder.name})
    (package,) = (folder / "package").glob("*.tar.xz")
    return package


def faults(program, package):
    """Checks that need only the files themselves."""
    mib = package.stat().st_size / 2**20
    print(f"{package.name}: {mib:.1f} MiB, the program {program.stat().st_size / 2**20:.1f} MiB")
    if mib >= MOST_MIB:
        yield f"the package has {mib:.1f} MiB, expected less than {MOST_MIB}"
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", program)))
    if not needed or needed - LIBC:
        yield f"needs {sorted(needed)}, expected some of {sorted(LIBC)}"
    versions = set(re.findall(r"\b(GLIBC\w*|CXXABI|GCC)_([\d.]+)", output("readelf", "--version-info", program)))
    newest = max(tuple(map(int, number.split("."))) for _, number in versions)
    print(f"newest symbol version {newest}")
    if newest > GLIBC or {name for name, _ in versions} != {"GLIBC"}:
        yield f"wants {sorted(versions)}, expected GLIBC up to {GLIBC}"


def bare_root(folder, program):
    """A root with the C library, Fashion-MNIST's place and nothing else."""
    listed = output("ldd", program)
    for library in {LOADER, *re.findall(r"=> (/\S+)", listed)}:
        target = folder / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(library), target)
    for name in ("tmp", "data", "root"):
        (folder / name).mkdir()


def train(words, module, data, out):
    output(*words, "train", module, "--data", data, "--out", out, *TRAIN)


def losses(run):
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def check_in_root(root, prefix, arguments):
    """The tools work in the bare root; `prefix` is the package's folder in it."""
    def tool(name):
        return ("env", "-i", "HOME=/root", CHROOT, root, f"{prefix}/bin/{name}")

    module = f"{prefix}/examples/fashion-mnist/mlp.mlir"
    info = output(*tool("mp-run"), "info")
    assert "oneDNN:   not found" in info, info
    assert "mp.linear" in output(*tool("mp-opt"), module, "--mp-specialize=batch=128", "--mp-autocast")
    assert "entry step" in output(*tool("mp-translate"), "--mp-to-program", "--mp-batch=128", "--mp-total-steps=9", module)
    assert output(*tool("mantissa"), "run", "info") == info
    for data in arguments.data.glob("*.gz"):
        shutil.copy(data, root / "data")
    train(tool("mp-run"), module, "/data", "/tmp/run")
    beside = arguments.work / "portable-beside"
    shutil.rmtree(beside, ignore_errors=True)
    train([arguments.tools / "mp-run"], arguments.source / "examples" / "fashion-mnist" / "mlp.mlir", arguments.data, beside)
    ours, theirs = losses(root / "tmp" / "run"), losses(beside)
    assert len(ours) == 20 and ours == theirs, f"{ours}\nexpected those of the separate tool\n{theirs}"
    print("20 steps in a root with the C library alone: the separate tool's bits")


def check_refusals(folder):
    for name, option in (("mp-opt", "--load-pass-plugin=x.so"), ("mp-opt", "-load-dialect-plugin"), ("mp-translate", "--load-pass-plugin=x"),
                         ("mp-run", "--load-pass-plugin=x.so")):
        text = output(folder / "bin" / name, option, status=1)
        assert "takes no plugins" in text and len(text.splitlines()) == 1, text
    assert "unknown tool 'optt'" in output(folder / "bin" / "mantissa", "optt", status=2)
    assert "usage" in output(folder / "bin" / "mantissa", "--help")


def main():
    arguments = options()
    package = build(arguments)
    root = arguments.work / "bare-root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    output("tar", "-xf", package, "-C", root)
    (folder,) = root.iterdir()
    found = list(faults(folder / "bin" / "mantissa", package))
    if found:
        sys.exit("\n".join(found))
    check_refusals(folder)
    bare_root(root, folder / "bin" / "mantissa")
    if subprocess.run([CHROOT, root, f"/{folder.name}/bin/mantissa", "--help"], capture_output=True, check=False).returncode == 0:
        check_in_root(root, f"/{folder.name}", arguments)
    elif os.geteuid() == 0:
        sys.exit("the program does not start in a root with the C library alone")
    else:
        print("not root: the bare root was not tried")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The Debian package: dpkg installs it into a root that has the files of its dependencies alone, and there it trains the
example; the numbers are those of the build."""

import json
import os
import re
import shutil
import subprocess
import sys

from _consumer import fresh, options, output

CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"
TRAIN = ("--batch", "128", "--max-steps", "10", "--precision", "fp16", "--onednn", "never", "--seed", "3", "--device", "cpu")
MOST_MIB = 10
# Debian has these everywhere; packages do not name them. The package's script runs ldconfig in a shell.
ESSENTIAL = ("dash", "libc-bin")


def pack(arguments):
    """The packages of the build, by cpack as users call it, but in the test's folder. That of the plugin for MPI is there if
    the build has found MPI, and it alone depends on MPI."""
    folder = fresh(arguments.work / "packages")
    for generator in ("DEB", "TXZ"):
        output("cpack", "-G", generator, "--config", arguments.build / "CPackConfig.cmake", "-B", folder)
    (package,), (archive,) = folder.glob("mantissa_*.deb"), folder.glob("*.tar.xz")
    for other in set(folder.glob("*.deb")) - {package}:
        assert other.name == "mantissa-mpi_0.1.0_amd64.deb", other
        assert "libopenmpi" in output("dpkg-deb", "--field", other, "Depends")
        assert "libmantissa-mpi.so" in output("dpkg-deb", "--contents", other)
    assert "mpi" not in output("dpkg-deb", "--field", package, "Depends")
    assert package.name == "mantissa_0.1.0_amd64.deb" and archive.name == "mantissa-0.1.0-llvm22-x86_64.tar.xz", list(folder.iterdir())
    for file in (package, archive):
        mib = file.stat().st_size / 2**20
        print(f"{file.name}: {mib:.1f} MiB")
        assert mib < MOST_MIB
    return package, archive


def field(package, name):
    """A field of an installed package; empty if it is not installed."""
    result = subprocess.run(["dpkg-query", "--show", f"--showformat=${{{name}}}", package], capture_output=True, text=True, check=False)
    return result.stdout if result.returncode == 0 else ""


def closure(depends):
    """The installed packages that those named in `depends` need, and they themselves."""
    found, waiting = {}, [*ESSENTIAL, *names(depends)]
    while waiting:
        name = waiting.pop()
        if name not in found and "ok installed" in field(name, "Status"):
            found[name] = names(field(name, "Pre-Depends") + ", " + field(name, "Depends"))
            waiting += found[name]
    return found


def names(depends):
    return [word for part in re.split(r"[,|]", depends) if (word := re.sub(r"[:(].*", "", part).strip())]


def fresh_root(folder, packages):
    """A root with the files of these packages, which dpkg there knows as installed."""
    root = fresh(folder)
    for merged in ("bin", "sbin", "lib", "lib64"):  # as Debian has it
        (root / "usr" / merged).mkdir(parents=True)
        (root / merged).symlink_to(f"usr/{merged}")
    status = ""
    for package in packages:
        listed = [line for line in output("dpkg-query", "--listfiles", package).splitlines() if line.startswith("/")]
        for file in listed:
            if "/share/" not in file and (os.path.islink(file) or os.path.isfile(file)):
                target = root / file.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                if not os.path.lexists(target):
                    copy(file, target)
        status += output("dpkg-query", "--status", package) + "\n"
    for name in ("updates", "info", "triggers"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").write_text(status)
    for name in ("tmp", "data", "root"):
        (root / name).mkdir()
    return root


def copy(file, target):
    if os.path.islink(file):
        os.symlink(os.readlink(file), target)
        return
    if os.path.getsize(file) > 2**20:
        try:
            os.link(file, target)  # LLVM and MLIR are 250 MB
            return
        except OSError:
            pass
    shutil.copy2(file, target)


def losses(run):
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def train_in_root(package, arguments):
    packages = closure(output("dpkg-deb", "--field", package, "Depends"))
    root = fresh_root(arguments.work / "root", packages)
    output("dpkg", f"--root={root}", "--log=/dev/null", "--install", package)
    status = output("dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show", "--showformat=${Status}", "mantissa")
    assert status == "install ok installed", status
    for data in arguments.data.glob("*.gz"):
        shutil.copy(data, root / "data")
    inside = ("env", "-i", "HOME=/root", "PATH=/usr/bin", "MP_CACHE_DIR=off", CHROOT, root)
    example = "/usr/share/mantissa/examples/fashion-mnist/mlp.mlir"
    assert "mp.linear" in output(*inside, "mp-opt", example, "--mp-specialize=batch=128", "--mp-autocast")
    output(*inside, "mp-run", "train", example, "--data", "/data", "--out", "/tmp/run", *TRAIN)
    shutil.rmtree(arguments.work / "beside", ignore_errors=True)
    output(arguments.tools / "mp-run", "train", arguments.source / "examples/fashion-mnist/mlp.mlir", "--data", arguments.data, "--out",
           arguments.work / "beside", *TRAIN)
    ours, theirs = losses(root / "tmp" / "run"), losses(arguments.work / "beside")
    assert len(ours) == 10 and ours == theirs, f"{ours}\nexpected those of the build\n{theirs}"
    output("dpkg", f"--root={root}", "--log=/dev/null", "--purge", "mantissa")
    left = [file for file in root.rglob("*antissa*") if "/var/lib/dpkg/" not in str(file)]
    assert not left, left
    shutil.rmtree(root)
    print(f"10 steps in a root of {len(packages)} packages: {', '.join(sorted(packages))}")


def main():
    arguments = options(__doc__)
    package, archive = pack(arguments)
    unpacked = fresh(arguments.work / "unpacked")
    output("dpkg-deb", "--extract", package, unpacked / "deb")
    output("tar", "-xf", archive, "-C", unpacked)
    for program in (unpacked / "deb/usr/bin/mp-run", *unpacked.glob("mantissa-*/bin/mp-run")):
        assert f"=> {program.parents[1]}" in output("ldd", program)
        assert "targets:" in output(program, "info")
    if os.geteuid() == 0:
        train_in_root(package, arguments)
    else:
        print("not root: the package was unpacked and not installed")
    shutil.rmtree(unpacked)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""scripts/install-deps.sh: changes nothing where nothing is missing, installs only what is
missing, never waits for a password, and lists the packages where it cannot install them.

Runs the script on invented machines: a folder of stubs is its whole PATH."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from _house import options

TOOLS = ("bash", "env", "printf")
INSTALLED = "#!/bin/bash\nprintf installed\n"
# Prints "installed" for everything but ninja-build and zlib1g-dev (the last argument is the package).
TWO_MISSING = '#!/bin/bash\n[[ ${!#} == ninja-build || ${!#} == zlib1g-dev ]] && exit 1\nprintf installed\n'
LOG = '#!/bin/bash\nprintf "%s " "${0##*/}" "$@" >>"$LOG"; printf "\\n" >>"$LOG"\n'
NOT_ALLOWED = "#!/bin/bash\nprintf 'sudo: a password is required\\n' >&2\nexit 1\n"
# sudo -n COMMAND: logs, then runs it.
ALLOWED = LOG + 'shift\n"$@"\n'
UID = "#!/bin/bash\nprintf %s\n"


def run(script, stubs, *arguments):
    """(exit status, output, commands that were run) on a machine with these programs."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in TOOLS:
            (Path(folder) / tool).symlink_to(shutil.which(tool))
        for name, text in stubs.items():
            (Path(folder) / name).write_text(text)
            (Path(folder) / name).chmod(0o755)
        log = Path(folder) / "log"
        log.touch()
        result = subprocess.run([shutil.which("bash"), script, *arguments], env={"PATH": folder, "LOG": str(log)}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                check=False)
        return result.returncode, result.stdout, log.read_text().splitlines()


def main():
    script = options(__doc__).source / "scripts" / "install-deps.sh"
    root, user = {"id": UID % 0}, {"id": UID % 1000}

    status, output, commands = run(script, {**root, "dpkg-query": INSTALLED, "apt-get": LOG})
    assert (status, output, commands) == (0, "", []), (status, output, commands)

    status, output, commands = run(script, {**root, "dpkg-query": TWO_MISSING, "apt-get": LOG})
    assert status == 0 and len(commands) == 2, (status, output, commands)
    assert commands[0].split()[-1] == "update", commands
    assert commands[1].split()[-2:] == ["ninja-build", "zlib1g-dev"], commands
    assert "--yes" in commands[1] and "--no-install-recommends" in commands[1], commands

    none = "#!/bin/bash\nexit 1\n"
    everything = run(script, {**root, "dpkg-query": none, "apt-get": LOG})[2][1].split()
    build = run(script, {**root, "dpkg-query": none, "apt-get": LOG}, "--build")[2][1].split()
    assert {"chromium", "libgtest-dev"} <= set(everything) - set(build), build
    assert {"clang-22", "libmlir-22-dev", "dataset-fashion-mnist"} <= set(build) <= set(everything), build

    status, output, commands = run(script, {**user, "dpkg-query": TWO_MISSING, "apt-get": LOG, "sudo": ALLOWED})
    assert status == 0 and sum(c.startswith("apt-get") for c in commands) == 2, (status, output, commands)

    status, output, commands = run(script, {**user, "dpkg-query": TWO_MISSING, "apt-get": LOG, "sudo": NOT_ALLOWED})
    assert status != 0 and "libmlir-22-dev" in output and not commands, (status, output, commands)

    status, output, commands = run(script, {**root, "dpkg-query": TWO_MISSING, "apt-get": "#!/bin/bash\nexit 100\n"})
    assert status != 0 and "could not install: ninja-build zlib1g-dev" in output, (status, output)

    status, output, _ = run(script, root)
    assert status != 0 and "not a Debian system" in output and "libmlir-22-dev" in output, (status, output)


if __name__ == "__main__":
    main()

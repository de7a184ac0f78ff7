"""What the functions of a fault work with: the tools, a folder of their own, a network that trains in 0.1 s, the shim."""

import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
from pathlib import Path

from _registry import Absent, require

SAMPLES, WIDTH = 96, 8
# 12 steps an epoch.
TRAIN = ("--batch", "8", "--epochs", "200", "--device", "cpu")


def npy(path, shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (117 - len(header)) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def step_of(checkpoint):
    """The step that a checkpoint is of."""
    data = checkpoint.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    return int(json.loads(data[8:8 + length])["__metadata__"]["step"])


def temporaries(folder):
    """Files of writers that did not finish."""
    if not folder.exists():
        return []
    return sorted(path.name for path in folder.iterdir() if ".tmp." in path.name or path.name.startswith(".partial-"))


def lines(path):
    """The objects of a JSON lines file, all of whose lines must be whole."""
    text = path.read_text()
    require(not text or text.endswith("\n"), f"{path} ends within a line: {text[-60:]!r}")
    return [json.loads(line) for line in text.splitlines()]


class Context:
    def __init__(self, arguments, number, name):
        self.build, self.source, self.data = arguments.build, arguments.source, arguments.data
        self.tools = arguments.build / "bin"
        self.long, self.absent = arguments.long, []
        self.random = random.Random(f"{arguments.seed}/{number}/{name}")
        self.work = arguments.work / f"{number:02}-{name}"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.environment = {**os.environ, "MP_CACHE_DIR": str(arguments.work / "cache"), "MP_CUDA_PATH": "/nonexistent",
                            "PATH": f"{self.tools}:{os.environ['PATH']}"}

    def either(self, short, long):
        """The amount for CI, or that of the long form."""
        return long if self.long else short

    def skip(self, part, why):
        """A part of the fault that this machine cannot inject."""
        self.absent.append(f"{part}: {why}")

    # --- processes ------------------------------------------------------------

    def start(self, *command, environment=None, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True,
               "errors": "replace", "cwd": self.work, **how}
        return subprocess.Popen([str(word) for word in command], env={**self.environment, **(environment or {})}, **how)

    def run(self, *command, timeout=300, **how):
        """A finished process, with .stdout and .returncode. No tool may crash, whatever the fault."""
        process = self.start(*command, **how)
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            require(False, f"{' '.join(map(str, command))} hangs: {timeout} s")
        done = subprocess.CompletedProcess(command, process.returncode, said or "")
        crashed = done.returncode < 0 and -done.returncode != signal.SIGKILL
        require(not crashed and "Stack dump" not in done.stdout,
                f"{' '.join(map(str, command))} ends by signal {-done.returncode}: {done.stdout[-800:]}")
        return done

    def succeeds(self, *command, **how):
        done = self.run(*command, **how)
        require(done.returncode == 0, f"{' '.join(map(str, command))} exits with {done.returncode}: {done.stdout[-800:]}")
        return done.stdout

    def refused(self, *command, says="", code=1, **how):
        """The message of a command that must fail with this code, in at most ten lines."""
        done = self.run(*command, **how)
        require(done.returncode == code, f"{' '.join(map(str, command))} exits with {done.returncode}, expected {code}: {done.stdout[-800:]}")
        require(says in done.stdout, f"{' '.join(map(str, command))} does not say '{says}': {done.stdout[-800:]}")
        return done.stdout

    def verify(self, run):
        return self.run("mp-run", "verify", run)

    # --- a small network ------------------------------------------------------

    def net(self, name="net.mlir"):
        """Dropout, shuffled data, AdamW and a scaler that begins too high: everything that a resumed run has to restore."""
        shutil.copy(Path(__file__).parent / "Inputs" / name, self.work / name)
        values = random.Random(1)
        floats = [values.gauss(0, 1) for _ in range(SAMPLES * WIDTH)]
        npy(self.work / "x.npy", (SAMPLES, WIDTH), "<f4", struct.pack(f"<{len(floats)}f", *floats))
        npy(self.work / "label.npy", (SAMPLES,), "|u1", bytes(values.randrange(4) for _ in range(SAMPLES)))
        return self.work / name

    def training(self, *options, module=None):
        """The command that trains `net`."""
        return ("mp-run", "train", module or self.work / "net.mlir", "--data", self.work, *TRAIN, *options)

    def train(self, *options, **how):
        return self.succeeds(*self.training(*options), **how)

    # --- the shim ---------------------------------------------------------------

    def shim(self, match="", **rules):
        """The environment of a process with the shim: see shim/Rules.h."""
        library = self.build / "test" / "faults" / "libfaults.so"
        if not library.exists():
            raise Absent(f"{library} is not built")
        environment = {"LD_PRELOAD": str(library), "FAULTS_MATCH": match}
        environment.update({f"FAULTS_{name.upper()}": str(value) for name, value in rules.items()})
        return environment

    def calls(self, match, *command, expected=0):
        """The calls that a command makes on paths that match: ["write PATH", ...]."""
        log = self.work / "calls.log"
        log.unlink(missing_ok=True)
        done = self.run(*command, environment=self.shim(match, log=log))
        require(done.returncode == expected, f"{' '.join(map(str, command))}: {done.stdout[-800:]}")
        return log.read_text().splitlines() if log.exists() else []

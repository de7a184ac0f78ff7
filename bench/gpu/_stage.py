"""What the stages of bench/gpu.sh share: options, running mp-run, and how a stage ends.

A stage is a script with a function `measure(stage)` that calls `stage.add` with each result as soon as it has it: a
stage that is ended for its time keeps what it had.
"""

import argparse
import json
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "fashion-mnist" / "mlp.mlir"
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8")


class Failed(Exception):
    """The stage cannot go on; the text says why."""


class Skipped(Exception):
    """The machine lacks something that the stage needs."""


def default_tools():
    """The folder of mp-run: the package's, or that of the release build."""
    return next((path for path in (ROOT / "bin", ROOT / "build" / "release" / "bin") if (path / "mp-run").exists()), ROOT / "bin")


def default_data():
    return next((path for path in (ROOT / "data", Path("/usr/share/datasets/fashion-mnist")) if path.is_dir()), ROOT / "data")


def parser(description):
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tools", type=Path, default=default_tools(), help="folder of mp-run (%(default)s)")
    options.add_argument("--data", type=Path, default=default_data(), help="folder of Fashion-MNIST's .gz files (%(default)s)")
    options.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu to try the script itself (%(default)s)")
    options.add_argument("--quick", action="store_true", help="few steps and shapes: shows that it works, measures nothing")
    return options


class Stage:
    def __init__(self, arguments):
        self.tools, self.data = arguments.tools.resolve(), arguments.data.resolve()
        self.device, self.quick = arguments.device, arguments.quick
        self.work = arguments.work
        self.deadline = time.monotonic() + arguments.seconds
        self.json, self.result = arguments.json, {"results": [], "rows": [], "faults": []}

    @property
    def on_gpu(self):
        return self.device.startswith("cuda")

    def add(self, result, rows=(), faults=()):
        """Keeps a result for the JSON, rows [what, value] for the table, and sentences on faults."""
        for key, values in (("results", [result]), ("rows", rows), ("faults", faults)):
            self.result[key] += values
        self.end("failed", "out of time; what follows is what was done")

    def end(self, status, why=None):
        """Writes the results so far."""
        self.json.write_text(json.dumps({"status": status, **({"reason": why} if why else {}), **self.result}, indent=1))

    def left(self):
        """Seconds until this stage is ended."""
        return self.deadline - time.monotonic()

    def run(self, *words, wrapper=(), environment=None):
        """Returns the output of mp-run; raises Failed if it exits with an error."""
        command = [str(word) for word in (*wrapper, self.tools / "mp-run", *words)]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, check=False, env=environment)
        if result.returncode:
            print(" ".join(command), result.stdout, sep="\n", flush=True)
            raise Failed(f"mp-run {words[0]} exits with {result.returncode}: {reason(result.stdout)}")
        return result.stdout

    def ask(self, *words, **keywords):
        """Like `run`; on the CPU, if a command for GPUs refuses, the stage is skipped."""
        try:
            return self.run(*words, **keywords)
        except Failed as error:
            if self.on_gpu:
                raise
            raise Skipped(f"not on the CPU: {error}") from error

    def device_flags(self):
        """On the CPU generated kernels stand in for the device, so that they are compared with oneDNN's."""
        return ("--device", self.device) if self.on_gpu else ("--device", "cpu", "--onednn", "never")

    def train(self, name, module, *flags, device=None, data=None, **keywords):
        """Trains into a fresh folder; its summary, with the folder as "run"."""
        out = self.work / name
        shutil.rmtree(out, ignore_errors=True)
        flags = (*(self.device_flags() if device is None else ("--device", device)), *flags)
        self.run("train", module, "--data", data or self.data, "--out", out, *flags, **keywords)
        return {**json.loads((out / "summary.json").read_text()), "run": out}

    def needs_data(self):
        if not list(self.data.glob("train-images*")):
            raise Skipped(f"no Fashion-MNIST in {self.data}; give --data DIR")


def reason(text):
    """Returns the line of an output with the error, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")[:300]


def main(measure, description):
    """Runs a stage: its result goes to --json."""
    options = parser(description)
    options.add_argument("--work", type=Path, required=True, help="folder to write in")
    options.add_argument("--json", type=Path, required=True, help="file for the result")
    options.add_argument("--seconds", type=float, default=600, help="time that the stage has")
    arguments = options.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    stage = Stage(arguments)
    try:
        measure(stage)
        stage.end("failed" if stage.result["faults"] else "ok")
    except Skipped as error:
        stage.end("skipped", str(error))
    except Failed as error:
        stage.end("failed", str(error))

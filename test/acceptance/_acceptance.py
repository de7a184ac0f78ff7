"""What the acceptance tests share: running mp-run, and reading what a run wrote."""

import argparse
import importlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path


def options(description, parents=()):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter, parents=parents)
    parser.add_argument("--source", type=Path, required=True, help="root of the repository")
    parser.add_argument("--tools", type=Path, required=True, help="folder of mp-run")
    parser.add_argument("--data", type=Path, required=True, help="folder of Fashion-MNIST")
    parser.add_argument("--work", type=Path, required=True, help="folder to write in")
    return parser.parse_args()


def example(arguments):
    return arguments.source / "examples" / "fashion-mnist" / "mlp.mlir"


def train_command(arguments, run, *flags, module=None, device="cpu", batch=128):
    """The command that trains for five epochs into `run`, an empty folder; `flags` are added."""
    shutil.rmtree(run, ignore_errors=True)
    run.parent.mkdir(parents=True, exist_ok=True)
    return [str(word) for word in (
        arguments.tools / "mp-run", "train", module or example(arguments), "--data", arguments.data, "--epochs", 5,
        "--batch", batch, "--device", device, "--out", run, *flags)]


def ran(command, skips=False):
    """Runs mp-run train; if all its steps should be skipped it has to report that, and fail. Any other end ends the test with
    the tool's message."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = "steps were skipped, so that nothing was trained" in result.stdout
    if bool(result.returncode) != skips or said != skips:
        sys.exit(f"{' '.join(map(str, result.args))}\nexits with {result.returncode}:\n{result.stdout}")


def train(arguments, run, *flags, **how):
    """Runs `train_command`."""
    ran(train_command(arguments, run, *flags, **how))
    return run


def metrics(run):
    """{key: [value a step]} of a run's metrics.jsonl."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return {key: [record[key] for record in records] for key in records[0]}


def summary(run):
    return json.loads((run / "summary.json").read_text())


def safetensors(path):
    """{name: (dtype, shape, bytes)}."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    return {name: (entry["dtype"], tuple(entry["shape"]), body[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def goldens(arguments):
    """Returns PyTorch's results in the same steps; test/goldens/README.md says how."""
    return json.loads((arguments.source / "test" / "goldens" / "mlp-steps.json").read_text())


def overflowing_module(arguments, module=None):
    """A module, or the example, with the goldens' scaler, under which fp16 overflows every few steps."""
    module = module or example(arguments)
    text = ", ".join(f"{key} = {value}" for key, value in goldens(arguments)["scaler"].items())
    text, count = re.subn(r"(mp\.scaler @\w+ *)\{[^}]*\}", rf'\1{{preset = "torch", {text}}}', module.read_text())
    if count != 1:
        sys.exit(f"{module} has {count} scalers, expected 1")
    path = arguments.work / f"overflowing-{module.stem}.mlir"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def import_numpy():
    """NumPy. Where the Python that runs the test has none, the test begins again with Debian's."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        debian = "/usr/bin/python3"
        if sys.executable == debian or not Path(debian).exists():
            sys.exit("NumPy is missing: scripts/install-deps.sh installs it, as Debian's python3-numpy")
        os.execv(debian, [debian, "-B", *sys.argv])


def finish(faults):
    """Ends the test: with the faults, one a line, or in silence."""
    if faults:
        sys.exit("\n".join(faults))

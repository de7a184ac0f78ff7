"""Ranks on several GPUs: training on two and more of them has the bits of one that takes as many micro-batches.

Compared are all weights and slots after the last step. Ranks are started by torchrun's variables, where NCCL connects
them, and by mpirun, if there is one. It needs two GPUs and NCCL, and is skipped without."""

import json
import os
import shutil
import struct
import subprocess
import time

from _stage import ROOT, Failed, Skipped, main, reason
from _tensors import write_columns
from _torchrun import Ranks

MODELS = ("overflow", "batchnorm")
BATCH, SAMPLES = 16, 256
# As root, Open MPI asks to be told twice.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def gpus(stage):
    """The number of GPUs that mp-run can use."""
    lines = stage.run("info").splitlines()
    return sum(line.strip().startswith("cuda:") for line in lines)


def train_ranks(stage, starter, ranks, name, module, *flags, data):
    """Trains by processes that mpirun or torchrun's variables start; returns the folder of the run, and the seconds that it
    took."""
    out = stage.work / name
    shutil.rmtree(out, ignore_errors=True)
    command = [stage.tools / "mp-run", "train", module, "--data", data, "--out", out, "--device", "cuda", *flags]
    began = time.monotonic()
    if starter == "torchrun":
        statuses, output = Ranks(ranks, command).end(max(stage.left(), 1))
        status = next(filter(None, statuses), 0)
    else:
        command = ["mpirun", "--oversubscribe", "-np", ranks, *command]
        result = subprocess.run([str(word) for word in command], env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        status, output = result.returncode, result.stdout
    if status:
        print(output, flush=True)
        raise Failed(f"{ranks} ranks of {starter} exit with {status}: {reason(output)}")
    return out, time.monotonic() - began


def states(run):
    """The bytes of all tensors that a run has saved, by file and name."""
    tensors = {}
    for path in sorted(run.rglob("*.safetensors")):
        data = path.read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        for name, entry in json.loads(data[8:8 + length]).items():
            if name != "__metadata__":
                tensors[f"{path.relative_to(run)}: {name}"] = data[8 + length:][slice(*entry["data_offsets"])]
    if not tensors:
        raise Failed(f"no tensors in {run}")
    return tensors


def compare(stage, starters, ranks, module, precision, data):
    steps = 3 if stage.quick else 10
    flags = ("--batch", BATCH, "--epochs", 20, "--max-steps", steps, "--seed", 1, "--precision", precision)
    name = f"{module.stem}-{precision}-{ranks}"
    alone = stage.train(f"{name}-alone", module, "--accumulate", ranks, *flags, device="cuda", data=data)
    expected = states(alone["run"])
    for starter in starters:
        several, seconds = train_ranks(stage, starter, ranks, f"{name}-{starter}", module, *flags, data=data)
        found = states(several)
        different = [tensor for tensor, value in expected.items() if found.get(tensor) != value]
        faults = [f"{name}, {starter}: {different[0]} and {len(different) - 1} others differ"] if different else []
        row = [f"{module.stem} {precision}, {ranks} ranks of {starter}", "differs" if different else f"same bits, {seconds:.1f} s"]
        stage.add({"model": module.stem, "precision": precision, "ranks": ranks, "starter": starter, "seconds": seconds}, [row], faults)


def measure(stage):
    if not stage.on_gpu:
        raise Skipped("ranks on GPUs need two of them")
    count = gpus(stage)
    if count < 2:
        raise Skipped(f"ranks on GPUs need two of them, found {count}")
    starters = ("torchrun", "mpirun") if shutil.which("mpirun") else ("torchrun",)
    for name in MODELS[:1] if stage.quick else MODELS:
        module = ROOT / "test" / "models" / f"{name}.mlir"
        data = stage.work / module.stem
        write_columns(module, data, SAMPLES)
        for precision in ("fp16",) if stage.quick else ("fp32", "fp16", "bf16"):
            for ranks in (2,) if stage.quick else [n for n in (2, 3, 4, 8) if n <= count]:
                if stage.left() < 15:
                    return
                compare(stage, starters, ranks, module, precision, data)


if __name__ == "__main__":
    main(measure, __doc__)

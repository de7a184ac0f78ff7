"""From the start of the process to the end of the first step, with an empty cache of kernels and with a full one."""

import os
import shutil
import subprocess
import time
from statistics import median

from _stage import EXAMPLE, Failed, main, reason


def first_step(stage, precision, cache):
    """Seconds until the first line of metrics stands in the run folder."""
    run = stage.work / "run"
    shutil.rmtree(run, ignore_errors=True)
    path = run / "metrics.jsonl"
    command = [str(word) for word in (stage.tools / "mp-run", "train", EXAMPLE, "--data", stage.data, "--batch", 128, "--precision",
                                      precision, "--max-steps", 1, "--out", run, *stage.device_flags())]
    began = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "MP_CACHE_DIR": str(cache)}) as process:
        while not (path.exists() and b"\n" in path.read_bytes()):
            if process.poll() is not None and not path.exists():
                raise Failed(f"mp-run train exits with {process.returncode} without a step: {reason(process.stdout.read())}")
            time.sleep(0.002)
        seconds = time.monotonic() - began
        process.communicate()
    return seconds


def measure(stage):
    stage.needs_data()
    for precision in ("fp32", "fp16", "bf16"):
        cache = stage.work / f"cache-{precision}"
        shutil.rmtree(cache, ignore_errors=True)
        cold = first_step(stage, precision, cache)
        kept = sum(path.is_file() for path in cache.rglob("*")) if cache.exists() else 0
        warm = median(first_step(stage, precision, cache) for _ in range(1 if stage.quick else 3))
        stage.add({"precision": precision, "cold_seconds": cold, "warm_seconds": warm, "cached_files": kept},
                  [[f"{precision}: to the end of the first step", f"cold {cold:.2f} s, warm {warm:.2f} s, {kept} files cached"]],
                  [f"{precision}: nothing was cached"] if stage.on_gpu and not kept else [])


if __name__ == "__main__":
    main(measure, __doc__)

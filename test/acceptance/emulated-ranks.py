#!/usr/bin/env python3
"""Two processes under mpirun, each with an emulated CUDA device, train to the bits of one that takes two micro-batches.

The stage `ranks` of bench/gpu.sh, with emulated devices in the place of GPUs."""

import json
import os
import shutil
import subprocess
import sys

from _acceptance import finish, options


def main():
    arguments = options(__doc__)
    if not shutil.which("mpirun"):
        print("nothing to run: no mpirun")
        return
    work = arguments.work / "emulated-ranks"
    work.mkdir(parents=True, exist_ok=True)
    emulator = arguments.tools.parent / "test" / "emulator" / "lib"
    environment = {**os.environ, "MP_CUDA_PATH": str(emulator), "MP_EMULATOR_DEVICES": "2", "MP_CACHE_DIR": str(work / "cache")}
    result = work / "ranks.json"
    subprocess.run([sys.executable, "-B", arguments.source / "bench" / "gpu" / "ranks.py", "--tools", arguments.tools,
                    "--data", arguments.data, "--work", work, "--json", result, "--quick", "--seconds", "600"],
                   env=environment, check=True)
    outcome = json.loads(result.read_text())
    faults = list(outcome["faults"])
    if outcome["status"] != "ok" or not outcome["rows"]:
        faults.append(f"the stage is {outcome['status']}: {outcome.get('reason')}")
    finish(faults)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Whole training steps on CUDA, in the emulator, are those of the CPU.

The stage `models` of bench/gpu.sh, with the emulated device in the place of the GPU: five steps of the example and
of every model of test/models in fp16, and of each model in fp32 or bf16, through the whole runtime. In test/models/overflow.mlir the
first steps overflow: the same steps are skipped, and the scale is the same at every step.
"""

import json
import os
import subprocess
import sys

from _acceptance import finish, options


def main():
    arguments = options(__doc__)
    work = arguments.work / "emulated-steps"
    work.mkdir(parents=True, exist_ok=True)
    emulator = arguments.tools.parent / "test" / "emulator" / "lib"
    environment = {**os.environ, "MP_CUDA_PATH": str(emulator), "MP_CACHE_DIR": str(work / "cache")}
    result = work / "models.json"
    subprocess.run([sys.executable, "-B", arguments.source / "bench" / "gpu" / "models.py", "--tools", arguments.tools,
                    "--data", arguments.data, "--work", work, "--json", result, "--quick", "--seconds", "2400"],
                   env=environment, check=True)
    outcome = json.loads(result.read_text())
    for row in outcome["rows"]:
        print(": ".join(row))
    faults = list(outcome["faults"])
    if outcome["status"] != "ok":
        faults.append(f"the stage is {outcome['status']}: {outcome.get('reason')}")
    if not any(ran["skipped"] for ran in outcome["results"] if ran["precision"] == "fp16" and "skipped" in ran):
        faults.append("no step overflowed: nothing was shown")
    finish(faults)


if __name__ == "__main__":
    main()

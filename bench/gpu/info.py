"""What the machine is: the device, the driver and libraries that mp-run found, Python and PyTorch."""

import os
import platform
import shutil
import subprocess
import sys
from importlib import metadata

from _stage import main

QUERY = ("name", "driver_version", "memory.total", "clocks.sm", "clocks.max.sm", "power.limit", "temperature.gpu")


def devices():
    """Returns nvidia-smi's facts about each GPU, or nothing if there is none. No setting is changed."""
    if not shutil.which("nvidia-smi"):
        return []
    found = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"], capture_output=True,
                           text=True, check=False)
    return [dict(zip(QUERY, line.split(", "))) for line in found.stdout.splitlines() if found.returncode == 0]


def package_version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def measure(stage):
    info = dict(line.split(":", 1) for line in stage.run("info").splitlines() if ":" in line)
    info = {key.strip(): value.strip() for key, value in info.items()}
    gpus = devices()
    rows = [[f"GPU {i}", f"{gpu['name']}, {gpu['memory.total']}, driver {gpu['driver_version']}"] for i, gpu in enumerate(gpus)]
    rows += [[key, value] for key, value in info.items() if key != "features"]
    rows += [["cores", os.cpu_count()], ["Python", platform.python_version()], ["PyTorch", package_version("torch") or "none"]]
    stage.add({"mp_run": info, "gpus": gpus, "system": platform.platform(), "python": sys.version,
               "torch": package_version("torch"), "cores": os.cpu_count()}, rows)


if __name__ == "__main__":
    main(measure, __doc__)

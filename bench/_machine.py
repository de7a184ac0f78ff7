"""What the scripts of bench/ write beside their numbers: when, of which commit, on which machine, with which versions."""

import os
import platform
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def output(*command):
    """Returns the output of a command, or nothing if it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def fields(text):
    """{key: value} of lines "key: value"."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def cpu_model():
    cpu = Path("/proc/cpuinfo")
    return (fields(cpu.read_text()).get("model name") if cpu.exists() else None) or platform.machine()


def circumstances(tools):
    """`tools` is the folder of mp-run, which tells its own version and those of its libraries."""
    told = fields(output(tools / "mp-run", "info"))
    versions = {key: told[key] for key in ("LLVM", "oneDNN") if key in told}
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "commit": output("git", "-C", ROOT, "describe", "--always", "--abbrev=40", "--dirty").strip() or "unknown",
            "cpu": cpu_model(), "llvm_cpu": told.get("cpu", "unknown"), "cores": os.cpu_count(), "load_average": os.getloadavg(),
            "versions": {"system": platform.platform(), "Python": platform.python_version(), **versions}}

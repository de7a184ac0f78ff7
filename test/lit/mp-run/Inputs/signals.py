"""signals.py WHEN SIGNALS RUN COMMAND...: starts COMMAND, which trains into RUN, sends it the signals, separated by
commas, when it compiles, has made steps, or has saved a checkpoint, and prints how it ended and how fast."""

import signal
import subprocess
import sys
import time
from pathlib import Path

when, names, run, *command = sys.argv[1:]
run = Path(run)


def size_of(name):
    return (run / name).stat().st_size if (run / name).exists() else 0


def catches():
    """Whether the process has a handler of SIGTERM: from then on it reads options, data and the module, and compiles."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1


def stays_caught():
    # LLVM's crash report sets handlers, too, which are taken back at once.
    if not catches():
        return False
    time.sleep(0.01)
    return catches()


first = size_of("metrics.jsonl")
MARKS = {
    "compile": stays_caught,
    "step": lambda: size_of("metrics.jsonl") > first,
    "checkpoint": lambda: size_of("checkpoint.safetensors") > 0,
}

started = time.monotonic()
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
while time.monotonic() - started < 120 and process.poll() is None:
    if MARKS[when]():
        break
    time.sleep(0.005)
sent = time.monotonic()
for name in names.split(","):
    process.send_signal(signal.Signals[name])
try:
    said = process.communicate(timeout=60)[1]
except subprocess.TimeoutExpired:
    process.kill()
    said = process.communicate()[1] + "\nhangs"
print(said.splitlines()[-1] if said else "")
print("exit", process.returncode)
print("within 5 s:", time.monotonic() - sent < 5)
print("left:", *sorted(path.name for path in run.glob("*.tmp.*")))

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


first = size_of("metrics.jsonl")
MARKS = {
    "compile": lambda: time.monotonic() - started > 0.5,
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

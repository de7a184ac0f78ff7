"""interrupt.py SIGNAL RUN COMMAND...: starts COMMAND, which trains into RUN, sends it SIGNAL once it has done steps,
and prints how it ended."""

import signal
import subprocess
import sys
import time
from pathlib import Path

name, run, *command = sys.argv[1:]
metrics = Path(run) / "metrics.jsonl"
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
deadline = time.monotonic() + 120
while time.monotonic() < deadline and process.poll() is None:
    if metrics.exists() and metrics.stat().st_size:
        process.send_signal(signal.Signals[name])
        break
    time.sleep(0.02)
said = process.communicate(timeout=120)[1]
print(said.splitlines()[-1])
print("exit", process.returncode)

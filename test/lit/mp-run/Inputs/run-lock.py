"""Starts the command, and once more while the first one runs; then kills the first one and starts it again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

command, folder = sys.argv[1:], Path(sys.argv[-1])
first = subprocess.Popen([*command, "--epochs", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
# It has the lock when it writes metrics.
while not (folder / "metrics.jsonl").exists():
    time.sleep(0.05)
second = subprocess.run([*command, "--max-steps", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
print("second:", second.returncode, second.stdout.splitlines()[-1])
print("first:", first.pid)
os.kill(first.pid, signal.SIGKILL)
first.wait()
third = subprocess.run([*command, "--max-steps", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
print("after the kill:", third.returncode)
print("left:", *sorted(os.listdir(folder)))

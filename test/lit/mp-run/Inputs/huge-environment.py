"""Runs the command with 1.5 MB of environment variables."""

import os
import sys

os.execvpe(sys.argv[1], sys.argv[1:], {**os.environ, **{f"MP_{number}": "x" * 100_000 for number in range(15)}})

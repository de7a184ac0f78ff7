"""memory-sweep.py COMMAND...: runs COMMAND with address spaces of 80 MB to 2 GB, and prints every end that is neither
success nor an error of one line."""

import resource
import subprocess
import sys

LIMITS = [80, 100, 125, *range(150, 700, 25), 800, 1000, 1200, 1500, 2000]


def run(megabytes):
    limit = megabytes * 1_000_000
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=100,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
    is_loader = done.returncode == 127 and "error while loading shared libraries" in done.stdout
    good = (done.returncode == 0 and not errors) or (done.returncode == 1 and len(errors) == 1) or is_loader
    if not good:
        print(megabytes, "MB: exit", done.returncode, done.stdout)
    return done.returncode


codes = [run(megabytes) for megabytes in LIMITS]
print("failed:", codes.count(1) > 0, "succeeded:", codes.count(0) > 0, "other:", sorted({*codes} - {0, 1, 127}))

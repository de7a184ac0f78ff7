#!/usr/bin/env bash
# Checks and measures everything that needs a GPU, in at most 10 minutes, from the
# portable folder or from a build: bench/gpu.sh [--data DIR] [--device cuda:1] [--quick]
# Prints a table last; JSON and logs go to $OUT (gpu-results). bench/gpu/README.md
# describes each stage. Needs python3 alone.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/gpu/stages.py" "$@"

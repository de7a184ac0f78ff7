#!/usr/bin/env bash
# Configures (once) and builds. usage: build.sh [PRESET] [ninja argument...]
# MP_JOBS limits the parallel jobs; the default is one a core, or what 1.5 GB a
# job leaves room for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
shift $(($# > 0 ? 1 : 0))

by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
cores=$(nproc)
jobs=${MP_JOBS:-$((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))}

# Ninja configures again by itself when a CMake file or a list of sources changes.
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset"
exec cmake --build "build/$preset" --parallel "$jobs" -- "$@"

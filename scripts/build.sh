#!/usr/bin/env bash
# Configures (once) and builds. usage: build.sh [ninja argument or target...]
# MP_PRESET names the CMake preset (default: release). MP_JOBS limits the parallel
# jobs; the default is one per core, or fewer if a job would not have 1.5 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${MP_PRESET:-release}
by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
cores=$(nproc)
jobs=${MP_JOBS:-$((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))}

# Ninja configures again by itself when a CMake file or a list of sources changes.
[[ -f build/$preset/build.ninja ]] || cmake --preset "$preset"
exec cmake --build "build/$preset" --parallel "$jobs" -- "$@"

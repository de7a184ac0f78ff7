#!/usr/bin/env bash
# Formats every source file of the repository, as house/format checks it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files -z '*.cpp' '*.h' '*.cuh' | xargs -0 --no-run-if-empty clang-format-22 -i

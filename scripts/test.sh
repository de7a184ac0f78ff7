#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests. Arguments go to ctest:
# `scripts/test.sh -L unit`, `scripts/test.sh -R lit`; `-C long` runs every test.
set -euo pipefail
case "${1:-}" in
-h | --help)
  echo "usage: scripts/test.sh [CTEST ARGUMENT]...   installs, builds, runs the tests; -LE acceptance: the quick ones, -C long: all"
  exit
  ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$here/scripts/install-deps.sh"
# If the packages of the tests were missing, the build folder was configured without tests.
(cd "$here" && cmake --preset "${MP_PRESET:-release}" >/dev/null)
"$here/scripts/build.sh"
exec ctest --test-dir "$here/build/${MP_PRESET:-release}" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"

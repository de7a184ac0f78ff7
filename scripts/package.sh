#!/usr/bin/env bash
# Installs missing packages, and builds the portable package: one static program of
# all tools, to run on another x86-64 Linux. Prints its path.
# MP_PRESET=release builds it from the objects of that build, if there is one.
set -euo pipefail
case "${1:-}" in
-h | --help)
  echo "usage: scripts/package.sh   builds build/portable/package/mantissa-VERSION-linux-x86_64.tar.xz"
  exit
  ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$here/scripts/install-deps.sh"
export MP_PRESET=${MP_PRESET:-portable}
"$here/scripts/build.sh" package-portable
ls -sh "$here/build/$MP_PRESET"/package/*.tar.xz

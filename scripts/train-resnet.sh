#!/usr/bin/env bash
# Installs missing packages, builds, and trains resnet20 (examples/models) on Fashion-MNIST in bf16.
# More arguments go to mp-run: `scripts/train-resnet.sh --precision fp16`.
# MP_DATA names the folder of the data set if it is not Debian's package.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
built=$here/build/${MP_PRESET:-release}

"$here/scripts/install-deps.sh" --build
"$here/scripts/build.sh" mp-run mp-zoo
"$built/bin/mp-zoo" resnet20 >"$built/resnet20.mlir"
exec "$built/bin/mp-run" train "$built/resnet20.mlir" \
  --data "${MP_DATA:-/usr/share/datasets/fashion-mnist}" \
  --epochs 10 --batch 128 --device cpu --out "$here/runs/resnet20" "$@"

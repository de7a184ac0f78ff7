#!/usr/bin/env bash
# Installs missing packages, builds, and trains the Fashion-MNIST example in fp16.
# More arguments go to mp-run: `scripts/train-fashion-mnist.sh --precision bf16`.
# MP_DATA names the folder of the data set if it is not Debian's package.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$here/scripts/install-deps.sh" --build
"$here/scripts/build.sh" mp-run
# mp-run's own paths are relative to the caller's folder; these are not.
exec "$here/build/${MP_PRESET:-release}/bin/mp-run" train "$here/examples/fashion-mnist/mlp.mlir" \
  --data "${MP_DATA:-/usr/share/datasets/fashion-mnist}" \
  --epochs 5 --batch 128 --precision fp16 --device cpu \
  --out "$here/runs/fashion-mnist" "$@"

#!/usr/bin/env bash
# Installs missing packages, builds, and trains zoo:bert-tiny to tell the parts of speech of WordNet's glosses, an epoch in
# fp16 (docs/glosses.md). More arguments go to mp-run: `scripts/train-bert.sh --precision bf16`.
# MP_GLOSSES names the folder of the texts and their tokens, which are made once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bin=$here/build/${MP_PRESET:-release}/bin
glosses=${MP_GLOSSES:-$here/runs/glosses}

"$here/scripts/install-deps.sh" --build
"$here/scripts/build.sh" mp-run mp-data
if [[ ! -f $glosses/weights.npy ]]; then
  "$here/examples/glosses/prepare.py" "$glosses"
  "$here/examples/glosses/tokenize.sh" "$bin/mp-data" "$glosses"
fi
exec "$bin/mp-run" train "zoo:bert-tiny,tokens=32,vocabulary=8000,texts=2,class-weights=$glosses/weights.npy" \
  --data "$glosses" --epochs 1 --batch 32 --accumulate 2 --precision fp16 --device cpu --set optimizer.lr=1e-3 \
  --eval-every 400 --monitor max:macro_f1 --out "$here/runs/bert-glosses" "$@"

#!/usr/bin/env bash
# The table by which mixed precision is known, made here: classifiers of the literature in fp32, in fp16 without and with
# loss scaling, and in bf16.
#     bench/literature.sh [--epochs N] [--networks resnet20 ...] [--seeds 0 1 2] [--runs DIR] [--json FILE]
# Trains on Fashion-MNIST, and on CIFAR-10 where MP_CIFAR10 names the folder of its binary files. Runs that have ended are
# not made again. Needs a build (scripts/build.sh) and python3 alone.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/literature.py" "$@"

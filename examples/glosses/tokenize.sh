#!/usr/bin/env bash
# Makes of the texts that prepare.py has written what networks read: arrays of pairs of texts and their classes, with the
# weights that balance these, for zoo:bert-tiny, files of bytes for zoo:char-gpt and zoo:char-rnn, and of pieces of words
# for zoo:lstm-lm.
# usage: tokenize.sh MP-DATA FOLDER
set -euo pipefail
data=$1
cd "$2"
classes=()
for side in train test; do
  "$data" tokenize $side.jsonl --field gloss --pair example --length 32 --tokenizer tokenizer.json --out $side.npy \
    --lengths $side-lengths.npy --types $side-types.npy --label pos --labels $side-labels.npy "${classes[@]}"
  classes=(--classes train.npy.json) # the test set has the same numbers
done
"$data" class-weights train-labels.npy --out weights.npy
"$data" tokenize train.txt --tokenizer bytes --out train.bin
"$data" tokenize test.txt --tokenizer bytes --out val.bin
mkdir -p pieces
"$data" tokenize train.txt --tokenizer tokenizer.json --out pieces/train.bin
"$data" tokenize test.txt --tokenizer tokenizer.json --out pieces/val.bin

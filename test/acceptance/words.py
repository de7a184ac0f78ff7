#!/usr/bin/env python3
"""An encoder and a decoder of LSTMs learn Pig Latin from half of WordNet's words in two epochs of bf16, and write that of words they
have not seen: what mp-run generate prints is compared with the rule itself."""

import importlib
import shutil
import subprocess
import sys
import zlib

from _acceptance import finish, import_numpy, options

import_numpy()
WORDS, LEAST = 400, 0.97  # found: 0.995
NETWORK = "zoo:seq2seq,tokens=16,vocabulary=28,layers=1,width=0.128"


def called(command):
    ended = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{ended.args}\nexits with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def main():
    arguments = options(__doc__)
    work, tools = arguments.work.resolve(), arguments.tools.resolve()
    words, run = work / "words", work / "run"
    sys.path.append(str(arguments.source / "examples" / "words"))
    prepare = importlib.import_module("prepare")
    shutil.rmtree(run, ignore_errors=True)
    called([sys.executable, "-B", prepare.__file__, words, "--every", 2])
    called([tools / "mp-run", "train", NETWORK, "--data", words, "--batch", 64, "--epochs", 2, "--device", "cpu", "--out", run])
    unseen = [word for word in prepare.words(prepare.WORDNET, 2) if zlib.crc32(word.encode()) % 10 == 0][:WORDS]
    (work / "prompts.txt").write_text("\n".join(unseen) + "\n")
    written = called([tools / "mp-run", "generate", run, "--tokenizer", words / "tokenizer.json", "--prompts", work / "prompts.txt",
                      "--until", "</s>", "--temperature", 0, "--length", 16, "--quiet"]).split("\n---\n")
    right = sum(text.strip() == prepare.pig_latin(word) for text, word in zip(written, unseen, strict=True))
    print(f"{right} of {len(unseen)} words are right, the first of them {unseen[0]}: {written[0].strip()}")
    finish([f"expected {LEAST:.0%}"] if right < LEAST * len(unseen) else [])


if __name__ == "__main__":
    main()

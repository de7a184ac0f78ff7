#!/usr/bin/env python3
"""A recurrent network of bytes learns WordNet's glosses in bf16 as far as it did when this was written, and writes from its state:
bench/results/char-rnn-glosses.json has the same run in every precision."""

import subprocess
import sys

from _acceptance import finish, options, summary

MOST_BITS = 2.51  # found: 2.4884


def called(command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, stderr=sys.stderr).stdout


def main():
    arguments = options(__doc__)
    work, tools, source = arguments.work.resolve(), arguments.tools.resolve(), arguments.source.resolve()
    glosses, run = work / "glosses", work / "char-rnn"
    called([source / "examples" / "glosses" / "prepare.py", glosses])
    called([source / "examples" / "glosses" / "tokenize.sh", tools / "mp-data", glosses])
    called([tools / "mp-run", "train", "zoo:char-rnn", "--data", glosses, "--batch", 32, "--max-steps", 2500, "--set",
            "schedule.then.steps=2400", "--precision", "bf16", "--device", "cpu", "--out", run])
    bits = summary(run)["test_bits"]
    written = called([tools / "mp-run", "generate", run, "--tokenizer", "bytes", "--prompt", "a ", "--length", 400, "--quiet"])
    print(f"{bits:.4f} bits a character; it writes {written[:80]!r}")
    # Far behind the 64 bytes of a sample, it still writes the letters and spaces of words.
    letters = sum(chr(byte).isalpha() or byte == ord(" ") for byte in written[-200:])
    finish(([f"expected {MOST_BITS} bits a character"] if bits > MOST_BITS else [])
           + ([f"{letters} of the last 200 bytes are letters and spaces"] if letters < 150 else []))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the words of WordNet and their Pig Latin as arrays for zoo:seq2seq, from the files of Debian's package wordnet-base.

Pig Latin moves the consonants before the first vowel to the end, and adds "ay", or "way" if there are none: "string" becomes
"ingstray". A token is a letter from 2 on, 1 ends what is written, and 0 is padding. OUT gets, for train and test,

  train.npy          the letters of a word, uint16 [words, 16]
  train-lengths.npy  how many they are, int32 [words]
  train-labels.npy   the letters of its Pig Latin and the end, int32 [words, 16]

and tokenizer.json, by which mp-run generate reads a word and prints what a network writes.
"""

import argparse
import json
import re
import zlib
from pathlib import Path

import numpy as np

WORDNET = Path("/usr/share/wordnet")
LENGTH, END, FIRST = 16, 1, 2
LONGEST = LENGTH - len("way") - 1


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write")
    parser.add_argument("--wordnet", type=Path, default=WORDNET, help="folder with index.noun and the others")
    parser.add_argument("--every", type=int, default=1, help="take one of so many words (all)")
    return parser.parse_args()


def words(folder, every):
    """Those of three letters and more, in order, each once."""
    found = set()
    for part in ("noun", "verb", "adj", "adv"):
        lines = (folder / f"index.{part}").read_text(encoding="utf-8").splitlines()
        # The licence at the beginning is indented.
        found |= {line.split(" ", 1)[0] for line in lines if not line.startswith("  ")}
    return sorted(word for word in found if re.fullmatch(f"[a-z]{{3,{LONGEST}}}", word))[::every]


def pig_latin(word):
    """The u of "qu" is a consonant, and y is one at the beginning."""
    before = re.match("(y?(?:qu|[^aeiouy])*)", word)[0]
    return word[len(before):] + before + "ay" if before else word + "way"


def numbers(text):
    return [ord(letter) - ord("a") + FIRST for letter in text]


def tokenizer():
    """A vocabulary of letters in the format of Hugging Face's tokenizers, without merges."""
    vocabulary = {"<pad>": 0, "</s>": END} | {chr(ord("a") + i): FIRST + i for i in range(26)}
    return {"version": "1.0", "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
            "decoder": {"type": "Fuse"},
            "added_tokens": [{"id": i, "content": content, "special": True, "normalized": False, "single_word": False, "lstrip": False,
                              "rstrip": False} for i, content in enumerate(("<pad>", "</s>"))]}


def padded(rows, dtype):
    array = np.zeros((len(rows), LENGTH), dtype)
    for place, row in enumerate(rows):
        array[place, :len(row)] = row
    return array


def main():
    arguments = options()
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "tokenizer.json").write_text(json.dumps(tokenizer()) + "\n")
    sides = {"train": [], "test": []}
    for word in words(arguments.wordnet, arguments.every):
        sides["test" if zlib.crc32(word.encode()) % 10 == 0 else "train"].append(word)
    for side, taken in sides.items():
        np.save(arguments.out / f"{side}.npy", padded([numbers(word) for word in taken], np.uint16))
        np.save(arguments.out / f"{side}-lengths.npy", np.array([len(word) for word in taken], np.int32))
        np.save(arguments.out / f"{side}-labels.npy", padded([numbers(pig_latin(word)) + [END] for word in taken], np.int32))
        print(f"{side}: {len(taken)} words, of which the first is {taken[0]}: {pig_latin(taken[0])}")


if __name__ == "__main__":
    main()

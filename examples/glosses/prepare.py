#!/usr/bin/env python3
"""Writes WordNet's glosses as texts for training, from the files of Debian's package wordnet-base.

A gloss is the definition of a synset, and examples of its use may follow. OUT gets

  train.jsonl, test.jsonl  a synset a line: its "gloss", an "example" (or ""), and its "pos": adjective, adverb, noun or verb
  train.txt, test.txt      the same glosses with all examples, a line each, for a model of language
  tokenizer.json           WordPiece for the words of train.jsonl, as mp-data and Hugging Face's tokenizers read it
"""

import argparse
import collections
import json
import re
import zlib
from pathlib import Path

PARTS = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "adverb"}  # by the endings of WordNet's files
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write")
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"), help="folder with data.noun and the others")
    parser.add_argument("--vocabulary", type=int, default=8000, help="tokens of tokenizer.json (8000)")
    parser.add_argument("--every", type=int, default=1, help="take one of so many synsets (all)")
    return parser.parse_args()


def synsets(folder, every):
    """(definition, first example or "", whole gloss, part of speech) of each."""
    for ending, part in PARTS.items():
        lines = (folder / f"data.{ending}").read_text(encoding="utf-8").splitlines()
        # The licence at the beginning is indented.
        for line in [line for line in lines if not line.startswith("  ")][::every]:
            gloss = line.split(" | ", 1)[1].strip()
            definition = gloss.split('; "', 1)[0]
            examples = re.findall(r'"([^"]+)"', gloss[len(definition):])
            yield definition, examples[0] if examples else "", gloss, part


def is_test(definition):
    """One of ten. Synsets with the same definition are on the same side."""
    return zlib.crc32(definition.encode()) % 10 == 0


def tokenizer(texts, size):
    """The most frequent words, and all characters, of which the other words are made."""
    words = collections.Counter(word for text in texts for word in re.findall(r"[^\W_]+|[^\w\s]|_", text.lower()))
    characters = sorted({character for word in words for character in word})
    tokens = [*SPECIAL, *characters, *("##" + character for character in characters)]
    longer = (word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0])) if len(word) > 1)
    tokens += list(longer)[:max(size - len(tokens), 0)]
    vocabulary = {token: number for number, token in enumerate(tokens)}

    def piece(kind, name, type_id):
        return {kind: {"id": name, "type_id": type_id}}

    one = [piece("SpecialToken", "[CLS]", 0), piece("Sequence", "A", 0), piece("SpecialToken", "[SEP]", 0)]
    two = [*one, piece("Sequence", "B", 1), piece("SpecialToken", "[SEP]", 1)]
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": vocabulary[name], "content": name, **added} for name in SPECIAL],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": one, "pair": two,
                           "special_tokens": {name: {"id": name, "ids": [vocabulary[name]], "tokens": [name]}
                                              for name in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": vocabulary},
    }


def main():
    arguments = options()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows, lines = {"train": [], "test": []}, {"train": [], "test": []}
    for definition, example, gloss, part in synsets(arguments.wordnet, arguments.every):
        side = "test" if is_test(definition) else "train"
        rows[side].append({"gloss": definition, "example": example, "pos": part})
        lines[side].append(gloss)
    for side in rows:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[side])
        (arguments.out / f"{side}.jsonl").write_text(text, encoding="utf-8")
        (arguments.out / f"{side}.txt").write_text("\n".join(lines[side]) + "\n", encoding="utf-8")
        counts = collections.Counter(row["pos"] for row in rows[side])
        print(f"{side}: {len(rows[side])} glosses, " + ", ".join(f"{count} {part}" for part, count in sorted(counts.items())))
    texts = [text for row in rows["train"] for text in (row["gloss"], row["example"])]
    made = json.dumps(tokenizer(texts, arguments.vocabulary), ensure_ascii=False)
    (arguments.out / "tokenizer.json").write_text(made + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

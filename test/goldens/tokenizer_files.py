#!/usr/bin/env python3
"""Small tokenizers of Hugging Face's package `tokenizers`, and the tokens that it gives to some texts.

usage: tokenizer_files.py              writes tokenizers/ and tokenizers.json beside this file
       tokenizer_files.py MP-DATA N    compares the tokens of N random texts for each, alone, as samples and as pairs
"""

import json
import random
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import numpy
import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from files import write_json
from sentence_files import sentence_tokenizers

HERE = Path(__file__).parent
FOLDER = HERE / "tokenizers"

TEXT = """
The king said to the queen: "We'll sail at dawn, if the wind's fair and the sailors don't mind." They didn't mind at all.
She had sailed 12 times before, and he'd sailed 345 times; they've never been afraid of water, storms or sea monsters.
A sailor who sails well is welcome on any ship. I'm told that the oldest sailors tell the tallest tales of the sea.

  def sail(wind):
      return wind * 2 + 17   # knots

Naïve café owners sell crème brûlée. Die Straße führt über die Brücke zum Fluss. Ελληνικά γράμματα και θάλασσα.
Корабль вышел в море на рассвете. 海上的船很多。船在海上航行。ひらがなとカタカナ。 한국어 바다. שלום עולם. 🚢🌊 👩‍💻
"""
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def byte_level(size=400, prefix=False):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.train_from_iterator(TEXT.splitlines(keepends=True), trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return tokenizer


def word_pieces(normalizer, splitter=None):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter or pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(TEXT.splitlines(), trainers.WordPieceTrainer(vocab_size=320, special_tokens=SPECIAL, show_progress=False))
    ends = [("[CLS]", tokenizer.token_to_id("[CLS]")), ("[SEP]", tokenizer.token_to_id("[SEP]"))]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    return tokenizer


def with_added_tokens():
    tokenizer = word_pieces(normalizers.BertNormalizer())
    tokenizer.add_tokens([AddedToken("Sail", single_word=True), AddedToken("the Sea", lstrip=True), AddedToken("WIND", normalized=False, rstrip=True)])
    tokenizer.add_special_tokens([AddedToken("[X]", lstrip=True, rstrip=True)])
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", tokenizer.token_to_id("[SEP]")), ("[CLS]", tokenizer.token_to_id("[CLS]")))
    return tokenizer


def pairs(splitter, decoder, **options):
    """BPE of characters."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", **options))
    tokenizer.pre_tokenizer = splitter
    tokenizer.decoder = decoder
    trained = {name: value for name, value in options.items() if name != "fuse_unk"}
    tokenizer.train_from_iterator(TEXT.splitlines()[:4], trainers.BpeTrainer(vocab_size=150, special_tokens=["<unk>"], show_progress=False, **trained))
    return tokenizer


def all_tokenizers():
    pieces = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    return {
        "byte-level": byte_level(),
        "byte-level-prefix": byte_level(prefix=True),
        "bert": word_pieces(normalizers.BertNormalizer()),
        "bert-cased": word_pieces(normalizers.BertNormalizer(lowercase=False)),
        "bert-accents": word_pieces(normalizers.BertNormalizer(strip_accents=False)),
        "bert-added": with_added_tokens(),
        "words": word_pieces(pieces, pre_tokenizers.Whitespace()),
        "sequence": word_pieces(normalizers.NFKC(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer()])),
        "suffix": pairs(pre_tokenizers.Whitespace(), decoders.BPEDecoder(), end_of_word_suffix="</w>", fuse_unk=True),
        "prefix": pairs(pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(), continuing_subword_prefix="##"),
        **sentence_tokenizers(TEXT),
    }


def texts(specials):
    """Texts of each kind that a tokenizer tells apart."""
    return ["", " ", "The sailors didn't sail.", "  two  spaces\n\n\nand lines \t", "WE'LL we'll 'twas 's 're'd'x", "345 12a b3 ½ Ⅷ ٣", "naïve café İ ǅ Straße",
            "海上的船 𠀀 ひらがな 한국어", "🚢👩‍💻 ️ \u200d", "a\u00a0b\u2003c\u3000d\u0085e\x00f\x07g\ufffdh", "supercalifragilistic" * 6, "$5.00 + `x` ~ ^|",
            "שָׁלוֹם e\u0301\u0323 ﬁ", "".join(specials), f"a {specials[0]} b", "sail Sail sailing the Sea WIND wind", "<0x41> ## </w>",
            "① Ａ … ｶ\uff9e ㍿ a\u0308e\u0301 \u200bx\r\n", "   xq 12345 SHE'S don't…\n\n  \t\n end.  "]


def expectations(tokenizer):
    specials = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    for text in texts(specials):
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        yield {"text": text, "tokens": tokens, "sample": tokenizer.encode(text).ids, "decoded": tokenizer.decode(tokens, skip_special_tokens=False)}


def generate():
    FOLDER.mkdir(exist_ok=True)
    cases = {}
    for name, tokenizer in all_tokenizers().items():
        # Training does not give the same vocabulary twice, so that files stay unless they are deleted.
        path = FOLDER / f"{name}.json"
        if path.exists():
            tokenizer = Tokenizer.from_file(str(path))
        else:
            path.write_text(tokenizer.to_str(pretty=False) + "\n")
        cases[name] = list(expectations(tokenizer))
    write_json(HERE / "tokenizers.json", {"tokenizers": tokenizers.__version__, "cases": cases})


#: Characters that are as old as the tables of all parts of the package, which are of several versions of Unicode.
OLD = [chr(code) for code in range(0x110000) if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co")]


def random_text(rng, specials):
    def character():
        kind = rng.random()
        if kind < 0.4:
            return chr(rng.randrange(32, 127))
        if kind < 0.55:
            return rng.choice(" \t\n\r\u00a0\u2003\u3000\x0b\x85 '")
        if kind < 0.65:
            return chr(rng.randrange(0xA0, 0x370))
        if kind < 0.8:
            return rng.choice("😀👍🏽🇩🇪👩‍💻") if kind < 0.7 else chr(rng.randrange(0x4E00, 0x9FA6))
        return rng.choice(OLD)

    def part():
        kind = rng.random()
        if kind < 0.4:
            return rng.choice(TEXT.split()) + rng.choice([" ", "", "  ", "\n", "'s ", "'ll", ", "])
        if kind < 0.5:
            return rng.choice(specials)
        if kind < 0.6:
            return rng.choice("'s 't 're 've 'm 'll 'd 'S".split()) + rng.choice(["x", " ", ""])
        return str(rng.randrange(100000)) if kind < 0.65 else "".join(character() for _ in range(rng.randrange(1, 8)))

    return "".join(part() for _ in range(rng.randrange(12)))


def tokens_of(program, folder, path, lines, options):
    """What mp-data gives to the lines."""
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    subprocess.run([program, "tokenize", folder / "texts.jsonl", "--tokenizer", path, "--field", "text", "--length", "10000", "--out",
                    folder / "tokens.npy", "--lengths", folder / "lengths.npy", *options], check=True, stdout=subprocess.DEVNULL)
    return [row[:length].tolist() for row, length in zip(numpy.load(folder / "tokens.npy"), numpy.load(folder / "lengths.npy"), strict=True)]


def pairs_of(program, folder, path, texts, most):
    """What mp-data gives to pairs of texts: their tokens and types."""
    (folder / "pairs.jsonl").write_text("".join(json.dumps({"a": a, "b": b}) + "\n" for a, b in texts))
    subprocess.run([program, "tokenize", folder / "pairs.jsonl", "--tokenizer", path, "--field", "a", "--pair", "b", "--length", str(most),
                    "--out", folder / "tokens.npy", "--types", folder / "types.npy", "--lengths", folder / "lengths.npy"], check=True,
                   stdout=subprocess.DEVNULL)
    arrays = (numpy.load(folder / f"{name}.npy") for name in ("tokens", "types", "lengths"))
    return [(tokens[:length].tolist(), types[:length].tolist()) for tokens, types, length in zip(*arrays, strict=True)]


def compare_pairs(program, path, lines, most):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(most)
    texts = list(zip(lines, lines[1:] + lines[:1]))
    with tempfile.TemporaryDirectory() as folder:
        found = pairs_of(program, Path(folder), path, texts, most)
    for (a, b), (tokens, types) in zip(texts, found, strict=True):
        expected = tokenizer.encode(a, b)
        if (tokens, types) != (expected.ids, expected.type_ids):
            raise SystemExit(f"{path.name}: {a!r} and {b!r}: {tokens}, {types}, expected {expected.ids}, {expected.type_ids}")


def compare_decoding(program, path, count):
    """Texts of tokens that are drawn at random, special ones and bytes that make no character among them."""
    tokenizer, rng = Tokenizer.from_file(str(path)), random.Random(2)
    tokens = [rng.randrange(tokenizer.get_vocab_size()) for _ in range(12 * count)]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "tokens.bin"
        made.write_bytes(numpy.array(tokens, numpy.uint16).tobytes())
        Path(f"{made}.json").write_text(json.dumps({"dtype": "uint16", "tokenizer": str(path)}))
        for first in range(0, len(tokens), 12):
            found = subprocess.run([program, "detokenize", made, "--first", str(first), "--count", "12"], check=True, stdout=subprocess.PIPE).stdout
            expected = tokenizer.decode(tokens[first:first + 12], skip_special_tokens=False)
            # The bytes of a character that is cut off are printed as they are.
            if found.decode(errors="replace") != expected:
                raise SystemExit(f"{path.name}: {tokens[first:first + 12]}: {found}, expected {expected!r}")


def compare(program, count):
    rng = random.Random(1)
    for path in sorted(FOLDER.glob("*.json")):
        tokenizer = Tokenizer.from_file(str(path))
        specials = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        lines = [random_text(rng, specials) for _ in range(count)]
        for sample in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                found = tokens_of(program, Path(folder), path, lines, [] if sample else ["--no-special-tokens"])
            for line, tokens in zip(lines, found, strict=True):
                expected = tokenizer.encode(line, add_special_tokens=sample).ids
                if tokens != expected:
                    raise SystemExit(f"{path.name}: {line!r}: {tokens}, expected {expected}")
        for most in (12, 13):
            compare_pairs(program, path, lines, most)
        compare_decoding(program, path, count // 20)
        print(f"{path.name}: {4 * count} texts have the same tokens, and {count // 20} the same text", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compare(sys.argv[1], int(sys.argv[2]))
    else:
        generate()

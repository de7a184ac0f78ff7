#!/usr/bin/env python3
"""Small models of the package `sentencepiece`, and the tokens that it gives to some texts.

usage: piece_files.py              writes tokenizers/*.model and pieces.json beside this file
       piece_files.py MP-DATA N    compares the tokens of N random texts for each model, and the texts of random tokens
"""

import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import sentencepiece
from sentencepiece import SentencePieceProcessor
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from files import write_json
from sentence_files import model_with_rules
from tokenizer_files import FOLDER, HERE, TEXT, random_text, texts, tokens_of

#: The other letters of the text are not known to the models.
KNOWN = TEXT.split("Корабль")[0]
NORMAL, UNUSED = ModelProto.SentencePiece.NORMAL, ModelProto.SentencePiece.UNUSED
SPECIALS = ["<s>", "<unk>", "</s>", "<sep>", "<ctl>", "<0x41>", "sailor", "the sea", "▁", "▁▁", "----", "⁇", "\0"]


def trained(rule="identity", **options):
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(KNOWN.splitlines()), model_writer=made, normalization_rule_name=rule,
                                             minloglevel=2, hard_vocab_limit=False, **options)
    return ModelProto.FromString(made.getvalue())


def with_unused(model, divisor):
    """Each third piece is unused, and scores are whole numbers, so that many are equal."""
    for i, piece in enumerate(model.pieces):
        if piece.type == NORMAL:
            piece.score = float(round(piece.score / divisor))
            piece.type = UNUSED if i % 3 == 0 else NORMAL
    return model


def all_models():
    user = {"user_defined_symbols": ["<sep>", "sailor", "the sea", "--", "---"], "control_symbols": ["<ctl>"]}
    bytes_of = {"byte_fallback": True, "vocab_size": 400, "remove_extra_whitespaces": False}
    unescaped = with_unused(trained(model_type="unigram", vocab_size=200), 1)
    unescaped.normalizer_spec.escape_whitespaces = False
    return {
        "pieces-unigram": model_with_rules(KNOWN, model_type="unigram", vocab_size=200, hard_vocab_limit=False, **user),
        "pieces-unigram-bytes": trained(model_type="unigram", allow_whitespace_only_pieces=True, **bytes_of,
                                        user_defined_symbols=["▁▁", "▁▁▁", "\n", " s"]),
        "pieces-unigram-unused": unescaped,
        "pieces-bpe": model_with_rules(KNOWN, model_type="bpe", vocab_size=200, hard_vocab_limit=False, pad_id=3, unk_surface="??", add_dummy_prefix=False, **user),
        "pieces-bpe-bytes": trained(model_type="bpe", split_digits=True, **bytes_of, user_defined_symbols=["▁▁", "▁▁▁", "\n"]),
        "pieces-bpe-unused": with_unused(trained(model_type="bpe", vocab_size=200, add_dummy_prefix=False, remove_extra_whitespaces=False,
                                                 split_by_whitespace=False), 20),
    }


def expectations(model):
    for text in [*texts(SPECIALS), "Ａ ﬁ \u3000\u200b  ", "---- ----- <sep>sailors  the sea▁▁▁▁", "\u200b \u200b"]:
        tokens = model.encode(text)
        yield {"text": text, "tokens": tokens, "decoded": model.decode(tokens)}
    # Tokens that no text has: controls, unknown ones, bytes that are no character, and spaces at the beginning.
    rng = random.Random(3)
    for _ in range(12):
        tokens = random_tokens(rng, model)
        yield {"tokens": tokens, "decoded": model.decode(tokens)}


def random_tokens(rng, model):
    firsts = [model.piece_to_id(name) for name in ("▁", "▁▁", "<s>", "<ctl>", "<unk>", "<0xE2>", "<0x96>", "<0x81>", "<0x20>")]
    return [rng.choice(firsts) for _ in range(rng.randrange(5))] + [rng.randrange(model.get_piece_size()) for _ in range(8)]


def generate():
    cases = {}
    for name, model in all_models().items():
        # As tokenizers.json, files stay unless they are deleted.
        path = FOLDER / f"{name}.model"
        if not path.exists():
            path.write_bytes(model.SerializeToString())
        cases[name] = list(expectations(SentencePieceProcessor(model_file=str(path))))
    write_json(HERE / "pieces.json", {"sentencepiece": sentencepiece.__version__, "cases": cases})


def compare_decoding(program, folder, path, model, count):
    rng = random.Random(2)
    for _ in range(count):
        tokens, made = random_tokens(rng, model), folder / "tokens.bin"
        made.write_bytes(numpy.array(tokens, numpy.uint16).tobytes())
        Path(f"{made}.json").write_text(json.dumps({"dtype": "uint16", "tokenizer": str(path)}))
        found = subprocess.run([program, "detokenize", made], check=True, stdout=subprocess.PIPE).stdout.decode()
        if found != model.decode(tokens):
            raise SystemExit(f"{path.name}: {tokens}: {found!r}, expected {model.decode(tokens)!r}")


def compare_model(program, folder, path, count):
    model, rng = SentencePieceProcessor(model_file=str(path)), random.Random(1)
    lines = [random_text(rng, SPECIALS) for _ in range(count)]
    # The sums of scores of long texts are rounded.
    lines += ["".join(lines[i:i + 200]) for i in range(0, count, 200)]
    for line, tokens in zip(lines, tokens_of(program, folder, path, lines, []), strict=True):
        expected = model.encode(line)[:len(tokens)]
        if tokens != expected:
            raise SystemExit(f"{path.name}: {line!r}: {tokens}, expected {expected}")
    compare_decoding(program, folder, path, model, count // 20)
    print(f"{path.name}: {len(lines)} texts have the same tokens, and {count // 20} the same text", flush=True)


def compare(program, count):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The tables of these rules are too large for a file of its own here.
        for rule in ("nmt_nfkc", "nfkc_cf"):
            for kind in ("unigram", "bpe"):
                path = folder / f"{kind}-{rule}.model"
                path.write_bytes(trained(rule, model_type=kind, vocab_size=300).SerializeToString())
        for path in [*sorted(FOLDER.glob("*.model")), *sorted(folder.glob("*.model"))]:
            compare_model(program, folder, path, count)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compare(sys.argv[1], int(sys.argv[2]))
    else:
        generate()

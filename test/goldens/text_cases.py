"""The networks of text of the goldens of mp-zoo: as zoo_cases.py has those of images."""

import re
import subprocess

import numpy as np

import zoo_cases

STEPS, TOKENS, VOCABULARY, CLASSES = zoo_cases.STEPS, 32, 256, 2
#: Options of mp-zoo, samples a step, and the learning rate. lstm-lm has the size that Zaremba et al. trained.
CASES = {
    "char-gpt": {"name": "char-gpt", "layers": 2, "batch": 4, "rate": 1e-2},
    "llama-tiny": {"name": "llama-tiny", "layers": 2, "batch": 4, "rate": 1e-2},
    "char-rnn": {"name": "char-rnn", "layers": 2, "width": 0.5, "batch": 4, "rate": 1e-1},
    "lstm-lm": {"name": "lstm-lm", "layers": 2, "tokens": 35, "vocabulary": 10000, "batch": 20, "rate": 1e-2},
    "bert-tiny": {"name": "bert-tiny", "layers": 2, "batch": 8, "rate": 1e-3},
    "bert-mlm-tiny": {"name": "bert-mlm-tiny", "layers": 2, "batch": 4, "rate": 1e-2},
    "t5-small": {"name": "t5-small", "layers": 2, "width": 0.25, "batch": 4, "rate": 1e-3},
    "seq2seq": {"name": "seq2seq", "layers": 2, "width": 0.064, "batch": 4, "rate": 1e-2},
    "speech-ctc": {"name": "speech-ctc", "layers": 2, "width": 0.25, "batch": 4, "rate": 1e-3},
}
fingerprint, size_of = zoo_cases.fingerprint, zoo_cases.size_of


def sizes(case):
    """Tokens of a sample, and different tokens."""
    return case.get("tokens", TOKENS), case.get("vocabulary", VOCABULARY)


def module(tools, case):
    """The text of the network without dropout, with SGD at a learning rate that stays, and arrays of NumPy as data."""
    tokens, vocabulary = sizes(case)
    text = subprocess.run([tools / "mp-zoo", case["name"], "--layers", str(case["layers"]), "--width", str(case.get("width", 1)),
                           "--tokens", str(tokens), "--vocabulary", str(vocabulary)], check=True, capture_output=True, text=True).stdout
    text = zoo_cases.without_dropout(text)
    text = re.sub(r" attributes \{clip_norm = [^}]*\}", "", text)
    text = re.sub(r"( +mp\.minimize .*\n)+", f"    mp.minimize result(0) {{{zoo_cases.optimizer(case)}}}\n", text)
    types = {np.uint16: "ui16", np.int32: "i32", np.float32: "f32"}
    columns = (f'{name} = #mp.column<"{name}.npy" as npy, {types[array.dtype.type]}>' for name, array in arrays(case).items())
    return text[:text.rindex("}")] + f"  mp.data @train {{{', '.join(columns)}}}\n}}\n"


def weights(text, case):
    """By zoo_cases.weight. The queries of T5, whose scores are not scaled, are smaller."""
    random = np.random.RandomState(1)
    found = {name: zoo_cases.weight(name, shape, random, 0) for name, shape in zoo_cases.shapes(text).items()}
    scales = {name: 0.25 if case["name"].startswith("t5") and name.endswith(".q.weight") else 1 for name in found}
    return {name: (scales[name] * values).astype(np.float32) for name, values in found.items()}


def speech(random, count):
    """Frames of noise, and symbols that they are long enough for, also where symbols are repeated."""
    most = TOKENS // 8
    lengths = random.randint(2 * most, TOKENS + 1, count).astype(np.int32)
    inside = np.arange(most) < random.randint(1, most + 1, count)[:, None]
    labels = np.where(inside, random.randint(1, VOCABULARY, (count, most)), 0).astype(np.int32)
    return {"frames": (2 * random.random_sample((count, TOKENS, 123)) - 1).astype(np.float32), "lengths": lengths, "labels": labels}


def arrays(case):
    """The inputs of all steps, by name: words at random, and texts of all lengths."""
    random, count = np.random.RandomState(2), case["batch"] * STEPS
    if case["name"] == "speech-ctc":
        return speech(random, count)
    length, vocabulary = sizes(case)
    tokens = random.randint(3, vocabulary, (count, length + 1)).astype(np.uint16)
    if case["name"] in ("char-gpt", "llama-tiny", "char-rnn", "lstm-lm"):
        return {"x": tokens[:, :-1].copy(), "y": tokens[:, 1:].copy()}
    tokens, lengths = tokens[:, :-1].copy(), random.randint(1, TOKENS + 1, count).astype(np.int32)
    inputs = {"tokens": tokens, "lengths": lengths}
    if case["name"] == "bert-tiny":
        return {**inputs, "label": random.randint(0, CLASSES, count).astype(np.int32)}
    if case["name"] in ("t5-small", "seq2seq"):
        # Every second text ends with padding, and the others with -100.
        inside = np.arange(TOKENS) < random.randint(1, TOKENS + 1, count)[:, None]
        fill = np.where(np.arange(count) % 2, 0, -100)[:, None]
        return {**inputs, "labels": np.where(inside, random.randint(1, VOCABULARY, (count, TOKENS)), fill).astype(np.int32)}
    asked = random.randint(0, 7, tokens.shape) == 0
    asked[:, 0] = True
    labels = np.where(asked, tokens.astype(np.int32), -100).astype(np.int32)
    tokens[asked] = 2
    return {**inputs, "labels": labels}

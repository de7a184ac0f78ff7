"""The networks that bench/ compares, and those of mp-zoo as it trains them: without random crops, on made-up images."""

import random
import re
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def gpt(network, tokens, vocabulary, layers, width, heads, **sizes):
    """An entry of MODELS for a language model."""
    return {"network": f"{network} --tokens {tokens}", "tokens": (tokens, vocabulary), **sizes,
            "rival": ("--network", "gpt", "--sizes", f"{tokens},{vocabulary},{layers},{width},{heads}")}


#: `file`, or a `network` of mp-zoo; the shape of an image, or tokens and vocabulary of a language model or of texts; what PyTorch's side is told; steps a round, and before it.
MODELS = {
    "mlp": {"file": HERE.parent / "examples/fashion-mnist/mlp.mlir", "image": (28, 28), "batch": 128, "steps": 200, "warmup": 30,
            "rival": ("--sizes", "784,512,256,10")},
    "mlp-8x1024": {"file": HERE / "models/mlp-8x1024.mlir", "image": (28, 28), "batch": 512, "steps": 20, "warmup": 30,
                   "rival": ("--sizes", "784" + 7 * ",1024" + ",10")},
    "resnet20": {"network": "resnet20", "image": (28, 28), "batch": 128, "steps": 20, "warmup": 5, "rival": ("--network", "resnet20")},
    "resnet20-cifar": {"network": "resnet20-cifar", "image": (32, 32, 3), "batch": 128, "steps": 20, "warmup": 5,
                       "rival": ("--network", "resnet20-cifar")},
    "vit-tiny": {"network": "vit-tiny --image 32 --data cifar10 --augment none", "image": (32, 32, 3), "batch": 64, "steps": 5, "warmup": 2,
                 "rival": ("--network", "vit-tiny")},
    **{f"gpt-256-{tokens}": gpt("char-gpt --width 2 --vocabulary 8192", tokens, 8192, 4, 256, 4, batch=batch, steps=5, warmup=2)
       for tokens, batch in ((128, 8), (1024, 2), (4096, 1))},
    "gpt2-124m": gpt("gpt2 --dropout 0", 256, 50257, 12, 768, 12, batch=4, steps=2, warmup=2),
    "llama-256-1024": {**gpt("llama-tiny --width 2 --vocabulary 8192", 1024, 8192, 4, 256, 4, batch=2, steps=5, warmup=2),
                       "rival": ("--network", "llama", "--sizes", "1024,8192,4,256,4,704,2")},
    "bert-base": {"network": "bert-base --tokens 128", "texts": (128, 30522), "batch": 8, "steps": 2, "warmup": 2,
                  "rival": ("--network", "bert", "--sizes", "128,30522,12,768,12")},
    "char-rnn": {"network": "char-rnn", "tokens": (64, 256), "batch": 32, "steps": 10, "warmup": 3,
                 "rival": ("--network", "lstm", "--sizes", "64,256,1,256,0")},
    "lstm-lm": {"network": "lstm-lm", "tokens": (35, 10000), "batch": 20, "steps": 5, "warmup": 2,
                "rival": ("--network", "lstm", "--sizes", "35,10000,2,650,1")},
    "resnet50-cifar": {"network": "resnet50-cifar", "image": (32, 32, 3), "batch": 32, "steps": 5, "warmup": 2,
                       "rival": ("--network", "resnet50-cifar")},
}


def printed(tools, network):
    """The module of a network that mp-zoo knows."""
    program = tools / "mp-zoo"
    if not program.is_file():
        sys.exit(f"no mp-zoo in {tools}: run scripts/build.sh mp-zoo, or give its folder by --tools")
    return subprocess.run([program, *network.split()], check=True, capture_output=True, text=True).stdout


def plain(text):
    """The module without random crops: where it moves images, it takes them as they are."""
    moved = re.search(r"(%\w+) = mp\.augment_images (%\w+)", text)
    if not moved:
        return text
    kept = "\n".join(line for line in text.splitlines() if "mp.augment_images" not in line)
    return re.sub(rf"{moved[1]}\b(?!\d)", moved[2], kept)


def write_npy(path, kind, shape, data):
    header = str({"descr": kind, "fortran_order": False, "shape": shape}) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_idx(path, shape, data):
    path.write_bytes(bytes((0, 0, 8, len(shape))) + struct.pack(f">{len(shape)}I", *shape) + data)


def write_tokens(folder, tokens, vocabulary, samples):
    """Windows of a language model, of uint16, one token apart."""
    made = b"".join(struct.pack("<H", i * 7919 % vocabulary) for i in range((tokens + 1) * samples))
    for name in ("train.bin", "val.bin"):
        (folder / name).write_bytes(made)


def write_texts(folder, tokens, vocabulary, samples, each_token=False):
    """Texts of all lengths with a class each, or with a label for every third token."""
    words = struct.pack(f"<{samples * tokens}H", *(i * 7919 % vocabulary for i in range(samples * tokens)))
    lengths = struct.pack(f"<{samples}i", *(1 + i * 31 % tokens for i in range(samples)))
    shape = (samples, tokens) if each_token else (samples,)
    labels = [i % 2 for i in range(samples)] if not each_token else [
        i * 31 % vocabulary if i % 3 == 0 else -100 for i in range(samples * tokens)]
    for part in ("train", "test"):
        write_npy(folder / f"{part}.npy", "<u2", (samples, tokens), words)
        write_npy(folder / f"{part}-lengths.npy", "<i4", (samples,), lengths)
        write_npy(folder / f"{part}-labels.npy", "<i4", shape, struct.pack(f"<{len(labels)}i", *labels))


def write_data(folder, model, samples):
    """Writes the files that a recipe of these networks names."""
    folder.mkdir(parents=True, exist_ok=True)
    if "tokens" in model:
        write_tokens(folder, *model["tokens"], samples)
    elif "texts" in model:
        write_texts(folder, *model["texts"], samples)
    elif "labelled_texts" in model:
        write_texts(folder, *model["labelled_texts"], samples, each_token=True)
    else:
        write_images(folder, model["image"], samples)


def picture(draw, side):
    """One channel of patches of a quarter of a side: where images look alike, batch norm divides by next to nothing."""
    rows = [draw.randbytes(4) for _ in range(4)]
    lines = [bytes(row[x * 4 // side] for x in range(side)) for row in rows]
    return b"".join(lines[y * 4 // side] for y in range(side))


def write_images(folder, image, samples):
    """Those of MNIST for images [side, side], else records as CIFAR-10's."""
    draw, channels = random.Random(1), image[2] if len(image) > 2 else 1
    images, labels = b"".join(picture(draw, image[0]) for _ in range(samples * channels)), bytes(i % 10 for i in range(samples))
    if len(image) == 2:
        for part in ("train", "t10k"):
            write_idx(folder / f"{part}-images-idx3-ubyte", (samples, *image), images)
            write_idx(folder / f"{part}-labels-idx1-ubyte", (samples,), labels)
        return
    each = len(images) // samples
    records = b"".join(labels[i:i + 1] + images[i * each:(i + 1) * each] for i in range(samples))
    for name in ("data_batch_1.bin", "test_batch.bin"):
        (folder / name).write_bytes(records)

"""The networks of mp-zoo as bench/ trains them: without random crops, on made-up images."""

import re
import struct
import subprocess
import sys


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


def write_texts(folder, tokens, vocabulary, samples):
    """Texts of all lengths with a class each."""
    words = struct.pack(f"<{samples * tokens}H", *(i * 7919 % vocabulary for i in range(samples * tokens)))
    lengths = struct.pack(f"<{samples}i", *(1 + i * 31 % tokens for i in range(samples)))
    labels = struct.pack(f"<{samples}i", *(i % 2 for i in range(samples)))
    for part in ("train", "test"):
        write_npy(folder / f"{part}.npy", "<u2", (samples, tokens), words)
        write_npy(folder / f"{part}-lengths.npy", "<i4", (samples,), lengths)
        write_npy(folder / f"{part}-labels.npy", "<i4", (samples,), labels)


def write_data(folder, model, samples):
    """Writes the files that a recipe of these networks names."""
    folder.mkdir(parents=True, exist_ok=True)
    if "tokens" in model:
        write_tokens(folder, *model["tokens"], samples)
    elif "texts" in model:
        write_texts(folder, *model["texts"], samples)
    else:
        write_images(folder, model["image"], samples)


def write_images(folder, image, samples):
    """Those of MNIST for images [side, side], else records as CIFAR-10's."""
    size = samples
    for length in image:
        size *= length
    images, labels = bytes(i * 7919 % 251 for i in range(size)), bytes(i % 10 for i in range(samples))
    if len(image) == 2:
        for part in ("train", "t10k"):
            write_idx(folder / f"{part}-images-idx3-ubyte", (samples, *image), images)
            write_idx(folder / f"{part}-labels-idx1-ubyte", (samples,), labels)
        return
    each = size // samples
    records = b"".join(labels[i:i + 1] + images[i * each:(i + 1) * each] for i in range(samples))
    for name in ("data_batch_1.bin", "test_batch.bin"):
        (folder / name).write_bytes(records)

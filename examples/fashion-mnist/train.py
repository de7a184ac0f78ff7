#!/usr/bin/env python3
"""Trains the network of mlp.mlir on NumPy arrays, in fp16.

usage: train.py [DATA_FOLDER] [EPOCHS]
"""

import gzip
import sys
from pathlib import Path

import numpy

import mantissa

HERE = Path(__file__).resolve().parent
BATCH = 128


def read_idx(path):
    """An array of a file in the format of MNIST: the number of dimensions, their sizes, and bytes."""
    data = gzip.decompress(path.read_bytes())
    rank = data[3]
    shape = numpy.frombuffer(data, ">i4", rank, 4)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * rank).reshape(shape)


def main(folder="/usr/share/datasets/fashion-mnist", epochs=5):
    files = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    images, labels, test_images, test_labels = (read_idx(Path(folder) / f"{name}-ubyte.gz") for name in files)
    batches = len(images) // BATCH
    step = mantissa.compile(HERE / "mlp.mlir", batch=BATCH, total_steps=int(epochs) * batches, predictions=["value:%logits"], seed=1)
    order = numpy.random.default_rng(1)
    for epoch in range(int(epochs)):
        for rows in numpy.split(order.permutation(len(images))[: batches * BATCH], batches):
            result = step({"image": images[rows], "label": labels[rows]})
        logits = step.predict({"image": test_images})["value:%logits"]
        accuracy = (logits.argmax(axis=1) == test_labels).mean()
        print(f"epoch {epoch + 1}  loss {result.loss:.4f}  scale {result.loss_scale:.0f}  test accuracy {accuracy:.4f}")
    step.save("fashion-mnist.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])

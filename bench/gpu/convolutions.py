"""Convolutions and their gradients against cuDNN, over the shapes of bench/conv-shapes.json, which are ResNet-50's."""

from math import prod

import _tune
from _stage import ROOT, main


def operations(shape):
    """Those with padding too: each element of the weight is multiplied once for each place and image."""
    images, height, width, _ = shape["input"]
    _, *window, _ = shape["weight"]
    places = [(size + low + high - (taps - 1) * dilation - 1) // stride + 1 for size, taps, stride, low, high, dilation in
              zip((height, width), window, shape["strides"], shape["low"], shape["high"], shape["dilations"])]
    return 2 * images * prod(places) * prod(shape["weight"])


def measure(stage):
    _tune.measure(stage, ROOT / "bench" / "conv-shapes.json", "cuDNN", operations)


if __name__ == "__main__":
    main(measure, __doc__)

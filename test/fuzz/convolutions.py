"""Convolutions of images, with channels last, and their gradients as ops.

All are bilinear maps of the same three tensors, images, weights and results: the oracle adds up the products of one tap of the
window after the other."""

import dataclasses
import math

import numpy as np

from bounded import UNIT
from graph import Type
from layout import reshaped
from products import operand_like, sums_type

LARGEST = 3000  # numbers of an operand


@dataclasses.dataclass
class Window:
    """How it slides over images of `shape`, for weights [out, *size, in / groups]; lists are of height and width."""
    size: list
    strides: list
    low: list
    high: list
    dilations: list
    groups: int

    def spans(self):
        return [(k - 1) * d + 1 for k, d in zip(self.size, self.dilations)]

    def places(self, heights):
        return [(n + l + h - span) // s + 1 if n + l + h >= span else 0
                for n, l, h, span, s in zip(heights, self.low, self.high, self.spans(), self.strides)]

    def text(self):
        parts = [f" {name}{getattr(self, name)}" for name, usual in
                 (("strides", [1, 1]), ("low", [0, 0]), ("high", [0, 0]), ("dilations", [1, 1])) if getattr(self, name) != usual]
        return "".join(parts) + (f" groups({self.groups})" if self.groups > 1 else "")

    def padded(self, x):
        return np.pad(x, ((0, 0), *zip(self.low, self.high), (0, 0)))

    def taps(self, padded, places):
        """(row, column, view) of the elements of padded images below each tap, by group: [n, *places, groups, channels]."""
        grouped = padded.reshape(*padded.shape[:3], self.groups, -1)
        for i in range(self.size[0]):
            for j in range(self.size[1]):
                rows, columns = (slice(t * d, t * d + (p - 1) * s + 1, s)
                                 for t, d, p, s in zip((i, j), self.dilations, places, self.strides))
                yield i, j, grouped[:, rows, columns]

    def forward(self, x, w):
        places = self.places(x.shape[1:3])
        y = np.zeros((x.shape[0], *places, self.groups, w.shape[0] // self.groups))
        for i, j, view in self.taps(self.padded(x), places):
            y += np.einsum("nhwgc,goc->nhwgo", view, w[:, i, j].reshape(self.groups, -1, w.shape[3]))
        return y.reshape(*y.shape[:3], -1)

    def to_images(self, g, w, heights):
        """The adjoint of `forward` as a function of the images, of so many rows and columns."""
        x = self.padded(np.zeros((g.shape[0], *heights, w.shape[3] * self.groups)))
        gradient = g.reshape(*g.shape[:3], self.groups, -1)
        for i, j, view in self.taps(x, g.shape[1:3]):
            view += np.einsum("nhwgo,goc->nhwgc", gradient, w[:, i, j].reshape(self.groups, -1, w.shape[3]))
        return x[:, self.low[0]:self.low[0] + heights[0], self.low[1]:self.low[1] + heights[1]]

    def to_weight(self, g, x):
        w = np.zeros((g.shape[3], *self.size, x.shape[3] // self.groups))
        gradient = g.reshape(*g.shape[:3], self.groups, -1)
        for i, j, view in self.taps(self.padded(x), g.shape[1:3]):
            w[:, i, j] = np.einsum("nhwgo,nhwgc->goc", gradient, view).reshape(g.shape[3], -1)
        return w


def bilinear(function, a, b, terms):
    """Sums in f32, in any order, of at most so many products."""
    value, size = function(a.value, b.value), function(np.abs(a.value), np.abs(b.value))
    error = function(a.error, np.abs(b.value)) + function(np.abs(a.value), b.error) + function(a.error, b.error)
    return a._made(value, error + (terms + 1) * UNIT["f32"] * size, b)


def maps(window, heights):
    """The three maps on bounded numbers, for images of so many rows and columns."""
    taps = math.prod(window.size)

    def forward(x, w):
        return bilinear(window.forward, x, w, taps * w.shape[3])

    def to_images(g, w):
        return bilinear(lambda p, q: window.to_images(p, q, heights), g, w, taps * w.shape[0] // window.groups)

    def to_weight(g, x):
        return bilinear(window.to_weight, g, x, math.prod(g.shape[:3]))
    return forward, to_images, to_weight


def is_image(value):
    return value.type.element in ("f32", "f16", "bf16") and len(value.type.shape) == 4 and value.type.size <= LARGEST


def images(g):
    """A value of four dimensions; or of three, as a single image; or a new input."""
    value = g.pick(is_image)
    if value is not None and g.chance(80):
        return value
    flat = g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) == 3)
    if flat is not None and g.chance(60):
        return reshaped(g, flat, (1, *flat.type.shape))
    element = g.inputs[0].type.element if g.inputs[0].type.element in ("f16", "bf16") else "f32"
    batch, channels = g.choice([1, 2, 3, *g.sizes]), g.choice([1, 2, 3, 4, 6, 8, *g.sizes])
    rows, columns = 1 + g.below(9), 1 + g.below(9)
    if batch * rows * columns * channels > LARGEST:
        batch, channels = 1, min(channels, 33)
    return g.input(Type(element, (batch, rows, columns, channels)))


def window_of(g, channels):
    """A window without a promise that it fits."""
    size = [g.choice([1, 1, 2, 3, 3, 3, 5, 7]) for _ in range(2)]
    if g.chance(50):
        size[1] = size[0]
    strides = [1 + g.below(3) for _ in range(2)] if g.chance(40) else [1, 1]
    dilations = [1 + g.below(3) for _ in range(2)] if g.chance(20) else [1, 1]
    low, high = ([g.below(k + 1) for k in size] if g.chance(50) else [0, 0] for _ in range(2))
    if g.chance(40):  # as many places as elements
        low = high = [k // 2 for k in size]
    groups = g.choice([n for n in range(1, channels + 1) if channels % n == 0]) if g.chance(35) else 1
    return Window(size, strides, low, high, dilations, groups)


def fitted(g, shape):
    """A window that has a place in images of a shape."""
    for _ in range(8):
        window = window_of(g, shape[3])
        if min(window.places(shape[1:3])) > 0:
            return window
    return Window([1, 1], [1, 1], [0, 0], [0, 0], [1, 1], 1)


def outputs(g, groups, terms):
    """Output channels that make a weight of so many numbers for each not too large, or None."""
    count = groups * g.choice([1, 1, 2, 3, 4, *g.sizes])
    return count if count * terms <= LARGEST else groups if groups * terms <= LARGEST else None


def conv2d(g, operand=None, window=None, out=None):
    operand = operand or images(g)
    if operand is None:
        return None
    element, shape = operand.type.element, operand.type.shape
    window = window or fitted(g, shape)
    weight = (*window.size, shape[3] // window.groups)
    out = out or outputs(g, window.groups, math.prod(weight))
    if out is None:
        return None
    operands = [operand, operand_like(g, element, (out, *weight))]
    if g.chance(50):
        operands.append(operand_like(g, element, (out,)))
    result, last = sums_type(g, element)
    forward, to_images, to_weight = maps(window, shape[1:3])

    def backward(gradient, numbers, _):
        x, w, *bias = numbers
        return [to_images(gradient, w), to_weight(gradient, x), *[gradient.sum([0, 1, 2]).reshape((out,)) for _ in bias]]

    return g.add("mp.conv2d", operands, Type(result, (shape[0], *window.places(shape[1:3]), out)),
                 lambda x, w, *bias: with_bias(forward(x, w), *bias), backward, attributes=window.text() + last)


def with_bias(y, bias=None):
    return y if bias is None else y + bias.noisy(2.0 ** -23)


def sizes_below(g, window, places):
    """Rows and columns of images on which a window has so many places; None if there are none."""
    sizes = [(p - 1) * s + span - l - h + g.below(s) for p, s, span, l, h in
             zip(places, window.strides, window.spans(), window.low, window.high)]
    return sizes if min(sizes) > 0 and math.prod(sizes) <= 400 else None


def conv_transpose2d(g):
    operand = images(g)
    if operand is None:
        return None
    element, shape = operand.type.element, operand.type.shape
    window = window_of(g, shape[3])
    size = sizes_below(g, window, shape[1:3])
    if size is None:
        return None
    own = g.choice([1, 1, 2, 3, 4])  # output channels of a group
    if shape[3] * math.prod(window.size) * own > LARGEST:
        return None
    out = own * window.groups
    operands = [operand, operand_like(g, element, (shape[3], *window.size, own))]
    if g.chance(50):
        operands.append(operand_like(g, element, (out,)))
    result, last = sums_type(g, element)
    forward, to_images, to_weight = maps(window, size)

    def backward(gradient, numbers, _):
        x, w, *bias = numbers
        return [forward(gradient, w), to_weight(x, gradient), *[gradient.sum([0, 1, 2]).reshape((out,)) for _ in bias]]

    return g.add("mp.conv_transpose2d", operands, Type(result, (shape[0], *size, out)),
                 lambda x, w, *bias: with_bias(to_images(x, w), *bias), backward,
                 attributes=f" size{size}{window.text()}{last}")


def backward_input(g):
    """The gradient of an input as an op of its own."""
    operand = images(g)
    if operand is None:
        return None
    element, shape = operand.type.element, operand.type.shape
    window = window_of(g, shape[3])
    size, own = sizes_below(g, window, shape[1:3]), g.choice([1, 2, 3])
    if size is None or shape[3] * math.prod(window.size) * own > LARGEST:
        return None
    weight = operand_like(g, element, (shape[3], *window.size, own))
    result, last = sums_type(g, element)
    forward, to_images, to_weight = maps(window, size)
    return g.add("mp.conv2d_backward_input", [operand, weight], Type(result, (shape[0], *size, own * window.groups)), to_images,
                 lambda gradient, numbers, _: [forward(gradient, numbers[1]), to_weight(numbers[0], gradient)],
                 attributes=f" size{size}{window.text()}{last}")


def backward_weight(g):
    """The gradient of a weight as an op of its own."""
    operand = images(g)
    if operand is None:
        return None
    element, shape = operand.type.element, operand.type.shape
    window = fitted(g, shape)
    weight = (*window.size, shape[3] // window.groups)
    out = outputs(g, window.groups, math.prod(weight))
    if out is None:
        return None
    places = window.places(shape[1:3])
    if shape[0] * math.prod(places) * out > LARGEST:
        return None
    gradient = operand_like(g, element, (shape[0], *places, out))
    result, last = sums_type(g, element)
    forward, to_images, to_weight = maps(window, shape[1:3])
    return g.add("mp.conv2d_backward_weight", [gradient, operand], Type(result, (out, *weight)), to_weight,
                 lambda upper, numbers, _: [forward(numbers[1], upper), to_images(numbers[0], upper)],
                 attributes=f" size{window.size}{window.text()}{last}")

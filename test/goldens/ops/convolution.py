"""Convolutions, with channels last here and channels first in PyTorch."""

import dataclasses

import torch
import torch.nn.functional as F

from cases import FLOATS, both

EIGHT = (torch.float8_e4m3fn, torch.float8_e5m2)


@dataclasses.dataclass
class Case:
    """Sizes of the input and the weight, and how the window slides. `low` and `high` pad the height and the width."""
    x: tuple
    w: tuple
    strides: tuple = (1, 1)
    low: tuple = (0, 0)
    high: tuple = (0, 0)
    dilations: tuple = (1, 1)
    groups: int = 1
    bias: bool = False
    size: tuple = None  # height and width of the result of a transposed convolution
    fine: bool = False  # numbers of all bits; else of few, whose sums in f32 are exact and whose texts are short

    def attributes(self):
        text = f" size{list(self.size)}" if self.size else ""
        for name, least in (("strides", 1), ("low", 0), ("high", 0), ("dilations", 1)):
            if getattr(self, name) != (least, least):
                text += f" {name}{list(getattr(self, name))}"
        return text + (f" groups({self.groups})" if self.groups > 1 else "")

    def inputs(self, generator, dtype, channels):
        """The input, the weight and a bias of so many channels."""
        shapes = [self.x, self.w] + ([(channels,)] if self.bias else [])
        if self.fine:
            return [torch.randn(s, generator=generator).to(dtype) for s in shapes]
        return [torch.randint(-8, 9, s, generator=generator).div(4).to(dtype) for s in shapes]


def first(images):
    """Channels first."""
    return images.permute(0, 3, 1, 2)


def last(images):
    return images.permute(0, 2, 3, 1)


def convolve(case):
    def compute(x, w, b=None):
        padded = F.pad(first(x), (case.low[1], case.high[1], case.low[0], case.high[0]))
        return last(F.conv2d(padded, first(w), b, case.strides, 0, case.dilations, case.groups))
    return compute


def transpose(case):
    """What PyTorch says with even padding; else the part of the whole that the padding leaves."""
    def even(x, w, b=None):
        reach = [(n - 1) * s - 2 * p + d * (k - 1) + 1
                 for n, s, p, d, k in zip(x.shape[1:], case.strides, case.low, case.dilations, w.shape[1:])]
        more = [size - r for size, r in zip(case.size, reach)]
        y = F.conv_transpose2d(first(x), first(w), b, case.strides, case.low, more, case.groups, case.dilations)
        return last(y)

    def uneven(x, w, b=None):
        whole = F.conv_transpose2d(first(x), first(w), None, case.strides, 0, 0, case.groups, case.dilations)
        whole = F.pad(whole, (0, case.size[1], 0, case.size[0]))
        rows, columns = (slice(low, low + size) for low, size in zip(case.low, case.size))
        part = last(whole[:, :, rows, columns])
        return part if b is None else part + b
    return even if case.low == case.high else uneven


FORWARD = [
    Case((2, 3, 5, 3), (5, 3, 3, 3), low=(1, 1), high=(1, 1), bias=True, fine=True),
    Case((2, 3, 5, 4), (6, 1, 1, 4), fine=True),
    Case((2, 5, 4, 3), (4, 1, 1, 3), strides=(2, 2), bias=True),  # elements that no window reaches
    Case((1, 3, 9, 2), (3, 1, 7, 2), low=(0, 3), high=(0, 3)),
    Case((1, 9, 11, 2), (3, 5, 5, 2), strides=(3, 2), low=(2, 1), high=(1, 3), bias=True, fine=True),
    Case((1, 9, 7, 3), (4, 7, 7, 3), strides=(2, 2), low=(3, 3), high=(3, 3)),
    Case((1, 9, 8, 1), (2, 11, 11, 1), low=(5, 5), high=(5, 5)),  # larger than the input
    Case((1, 13, 12, 2), (2, 11, 11, 2), strides=(3, 1), low=(4, 0), high=(0, 2), bias=True),
    Case((1, 9, 10, 2), (3, 3, 3, 2), dilations=(2, 3), low=(1, 0)),
    Case((1, 8, 9, 2), (2, 3, 2, 2), strides=(2, 3), dilations=(3, 2), low=(0, 2), high=(3, 0), bias=True),
    Case((2, 5, 3, 4), (6, 3, 3, 2), strides=(2, 1), low=(1, 1), high=(1, 1), groups=2, bias=True, fine=True),
    Case((2, 4, 5, 3), (3, 3, 3, 1), low=(1, 1), high=(1, 1), groups=3, bias=True, fine=True),
    Case((1, 7, 6, 3), (6, 3, 3, 1), strides=(2, 2), low=(1, 0), high=(1, 1), groups=3),
    Case((1, 6, 7, 4), (4, 5, 3, 1), low=(2, 2), high=(2, 2), dilations=(1, 2), groups=4),
    Case((3, 1, 1, 7), (2, 1, 1, 7), bias=True),
    Case((1, 2, 2, 3), (4, 2, 2, 3)),  # a single place
    Case((1, 4, 3, 17), (19, 2, 1, 17), low=(1, 0), bias=True),
    Case((1, 3, 4, 32), (8, 1, 1, 32), strides=(2, 1)),
    Case((1, 4, 3, 17), (17, 3, 3, 1), low=(1, 1), high=(1, 1), groups=17),
    Case((0, 5, 7, 3), (5, 3, 3, 3), low=(1, 1), high=(1, 1), bias=True),
]
TRANSPOSED = [
    Case((1, 3, 4, 2), (2, 3, 3, 4), size=(5, 6), bias=True),
    Case((1, 3, 3, 2), (2, 4, 4, 3), strides=(2, 2), low=(1, 1), high=(1, 1), size=(6, 6), fine=True),
    Case((2, 3, 3, 3), (3, 3, 3, 2), strides=(2, 2), low=(1, 1), high=(1, 1), size=(5, 6), bias=True),
    Case((1, 3, 3, 4), (4, 2, 2, 3), dilations=(2, 1), groups=2, size=(5, 4), bias=True, fine=True),
    Case((1, 2, 3, 4), (4, 3, 3, 1), strides=(3, 2), groups=4, size=(6, 8)),
    Case((1, 2, 3, 3), (3, 1, 1, 2), strides=(3, 2), size=(5, 6), bias=True),  # elements of the bias alone
    Case((1, 3, 2, 2), (2, 5, 3, 2), strides=(1, 2), low=(3, 0), high=(1, 2), size=(3, 3), bias=True),
    Case((0, 3, 4, 2), (2, 3, 3, 4), size=(5, 6), bias=True),
]


def unrounded(generator):
    """Sums in f32: of 16-bit operands if requested, of 8-bit ones always."""
    f32 = {"dtypes": [torch.float32], "at": "largest"}
    case = Case((2, 4, 5, 3), (4, 3, 3, 3), strides=(1, 2), low=(1, 1), high=(1, 1), bias=True)
    for kinds in ((torch.bfloat16,) * 2, (torch.float16,) * 2, EIGHT[:1] * 2, EIGHT):
        eight = kinds[0] in EIGHT
        x, w, b = case.inputs(generator, torch.float32, 4)
        inputs = [x.to(kinds[0]), w.to(kinds[1]), b if eight else b.to(kinds[0])]
        attributes = case.attributes() + ("" if eight else " out_dtype(f32)")
        yield from both(f"mp.conv2d %a, %b, %c{attributes}", inputs, convolve(case), **f32)
        # A gradient is f32, so 8-bit inputs have gradients of the forward op alone.
        yield from both(f"mp.conv2d %a, %b{attributes}", inputs[:2], convolve(case), **f32)


def gradients(generator, dtype):
    """The two gradients as ops, which have gradients in turn."""
    grad = torch.nn.grad
    for case in (Case((2, 5, 4, 3), (4, 3, 3, 3), strides=(2, 1), low=(1, 1), high=(1, 1)),
                 Case((1, 5, 7, 4), (6, 3, 2, 2), dilations=(1, 3), groups=2),
                 Case((0, 5, 4, 3), (4, 3, 3, 3), low=(1, 1), high=(1, 1))):
        x, w = case.inputs(generator, dtype, 0)
        shape = convolve(case)(x.double(), w.double()).shape
        g = torch.randn(shape, generator=generator).to(dtype)
        how = (case.strides, case.low, case.dilations, case.groups)
        attributes = case.attributes()

        def to_input(p, q):
            return last(grad.conv2d_input(first(x).shape, first(q), first(p), *how))

        def to_weight(p, q):
            return last(grad.conv2d_weight(first(q), first(w).shape, first(p), *how))
        yield from both(f"mp.conv2d_backward_input %a, %b size{list(case.x[1:3])}{attributes}", [g, w], to_input,
                        at="largest")
        yield from both(f"mp.conv2d_backward_weight %a, %b size{list(case.w[1:3])}{attributes}", [g, x], to_weight,
                        at="largest")


def cases(generator):
    yield from unrounded(generator)
    for dtype in FLOATS:
        for op, kinds, compute in (("mp.conv2d", FORWARD, convolve), ("mp.conv_transpose2d", TRANSPOSED, transpose)):
            for case in kinds:
                inputs = case.inputs(generator, dtype, case.w[3] * case.groups if case.size else case.w[0])
                text = f"{op} %a, %b{', %c' if case.bias else ''}{case.attributes()}"
                yield from both(text, inputs, compute(case), at="largest")
        yield from gradients(generator, dtype)

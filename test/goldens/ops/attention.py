"""Attention: results, log_sum_exp and gradients, also those of float masks and slopes.

PyTorch has tokens behind heads, has no window, lengths or slopes, and aligns `is_causal` at the first key: all of these are
a mask of floats here. Results are compared at the largest element, as they are sums of weighted values. A gradient of 16
bits is computed from a result of 16 bits, and weights may be rounded to them."""

import math

import torch
import torch.nn.functional as F

from cases import FLOATS, backward, forward

F32 = torch.float32
INFINITY = float("inf")
FORWARD = {F32: 4, torch.bfloat16: 2, torch.float16: 2}
BACKWARD = {F32: 16, torch.bfloat16: 4, torch.float16: 4}


def numbers(generator, *shape):
    """Multiples of 1/32 with few digits."""
    return (24 * torch.randn(shape, generator=generator)).round().clamp(-96, 96) / 32


class Attention:
    """An op with its attributes; `extra` names the operands after the value: "mask", "lengths", "slopes"."""

    def __init__(self, extra=(), causal=False, window=None, offset=None, scale=None):
        self.extra, self.causal, self.window, self.offset, self.scale = extra, causal, window, offset, scale

    def text(self, results):
        operands = "".join(f" {name}(%{letter} : {{{letter}}})" for name, letter in zip(self.extra, "def"))
        attributes = " causal" * self.causal
        for name, value in (("window", self.window), ("query_offset", self.offset)):
            attributes += f" {name}({value})" if value is not None else ""
        attributes += f" {{scale = {self.scale:.6e}}}" if self.scale is not None else ""
        return f"{results} = mp.scaled_dot_product_attention %a, %b, %c{operands}{attributes} : {{a}}, {{b}}, {{c}}"

    def scores(self, q, k, **extra):
        """[batch, heads, tokens, keys], with -inf where a query does not look at a key."""
        k = k.repeat_interleave(q.shape[2] // k.shape[2], 2)
        ahead = torch.arange(k.shape[1]) - torch.arange(q.shape[1])[:, None] - (self.offset or 0)
        scale = self.scale if self.scale is not None else 1 / math.sqrt(q.shape[3])
        scores = torch.einsum("bthd,bshd->bhts", q, k) * scale
        if "slopes" in extra:
            scores = scores - extra["slopes"][:, None, None] * ahead.abs()
        if self.causal:
            scores = scores.masked_fill(ahead > 0, -INFINITY)
        if self.window is not None:
            scores = scores.masked_fill(ahead.abs() >= self.window, -INFINITY)
        if "lengths" in extra:
            scores = scores.masked_fill(torch.arange(k.shape[1]) >= extra["lengths"][:, None, None, None], -INFINITY)
        mask = extra.get("mask")
        if mask is None:
            return scores
        return scores + mask if mask.is_floating_point() else scores.masked_fill(~mask, -INFINITY)

    def __call__(self, q, k, v, *extra):
        scores = self.scores(q, k, **dict(zip(self.extra, extra)))
        none = (scores == -INFINITY).all(3, keepdim=True)
        safe = scores.masked_fill(none, 0.0)
        sums, weights = safe.logsumexp(3, keepdim=True).masked_fill(none, 0.0), safe.softmax(3).masked_fill(none, 0.0)
        result = torch.einsum("bhts,bshd->bthd", weights, v.repeat_interleave(q.shape[2] // v.shape[2], 2))
        self.check(result, scores, v)
        return result, sums[..., 0].transpose(1, 2)

    @staticmethod
    def check(result, scores, v):
        """The result is that of PyTorch's function, of queries and keys whose products are the scores."""
        with torch.no_grad():
            unit = torch.eye(scores.shape[3]).double().expand(*scores.shape[:2], -1, -1)
            theirs = F.scaled_dot_product_attention(torch.zeros_like(scores), unit, v.transpose(1, 2), attn_mask=scores,
                                                    enable_gqa=True)
            assert torch.allclose(theirs.transpose(1, 2), result, atol=1e-12), (theirs.transpose(1, 2) - result).abs().max()

    def cases(self, inputs, gradient=True):
        first, dtype = "%r, %unused", inputs[0].dtype
        if dtype == F32:
            yield forward(self.text("%r, %r1"), inputs, self, ulps=FORWARD[dtype], at="largest")
        else:
            yield forward(self.text(first), inputs, lambda *x: self(*x)[0], ulps=FORWARD[dtype], at="largest")
        if gradient:
            # Those of masks and slopes are sums in f32.
            wide = [name for name, value in zip("def", inputs[3:]) if value.dtype == F32]
            apart = wide if dtype != F32 else []
            yield backward(self.text(first), inputs, lambda *x: self(*x)[0], ulps=BACKWARD[dtype], constants=apart)
            if apart:
                yield backward(self.text(first), inputs, lambda *x: self(*x)[0], ulps=BACKWARD[F32], constants="abc")


def operands(generator, dtype, batch, tokens, keys, heads, groups, depth, width):
    return [numbers(generator, *shape).to(dtype) for shape in
            ((batch, tokens, heads, depth), (batch, keys, groups, depth), (batch, keys, groups, width))]


def shapes(generator, dtype):
    for shape in ((2, 3, 5, 2, 2, 4, 3), (1, 5, 5, 4, 1, 8, 8), (1, 1, 7, 4, 2, 1, 2), (1, 4, 3, 1, 1, 17, 5),
                  (1, 2, 2, 1, 1, 64, 80), (1, 2, 3, 1, 1, 80, 64), (2, 1, 1, 1, 1, 1, 1)):
        yield from Attention().cases(operands(generator, dtype, *shape))


def ranges(generator, dtype):
    """Who looks at whom, by attributes."""
    for attributes in ({"causal": True}, {"causal": True, "offset": 2}, {"causal": True, "offset": -2},
                       {"causal": True, "offset": -9}, {"window": 1}, {"window": 2, "causal": True}, {"window": 3, "offset": 4},
                       {"window": 2, "offset": -5}, {"window": 1, "offset": 30}, {"scale": 0.25, "causal": True},
                       {"scale": 0.0}, {"scale": -1.0}):
        yield from Attention(**attributes).cases(operands(generator, dtype, 1, 4, 6, 2, 1, 3, 2))


def masks(generator, dtype):
    """Of every shape; every second one is without some dimensions of one element."""
    sizes = (2, 2, 3, 4)
    for kept in range(16) if dtype == F32 else (0, 6, 9, 15):
        shape = [size if kept >> i & 1 else 1 for i, size in enumerate(sizes)]
        while kept % 2 and shape and shape[0] == 1:
            shape = shape[1:]
        q, k, v = operands(generator, dtype, 2, 3, 4, 2, 2, 2, 2)
        flags = torch.rand(shape, generator=generator) < 0.6
        yield from Attention(("mask",)).cases([q, k, v, flags], gradient=kept in (0, 6, 15))
        element = FLOATS[kept % 3]
        yield from Attention(("mask",), causal=kept % 5 == 0).cases(
            [q, k, v, numbers(generator, *shape).to(element)], gradient=kept in (5, 8, 10, 15))
    # Rows without a key: by flags, and by infinities.
    q, k, v = operands(generator, dtype, 1, 3, 4, 2, 1, 2, 2)
    flags = torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]).bool()
    yield from Attention(("mask",)).cases([q, k, v, flags])
    infinite = torch.zeros(3, 4).masked_fill(~flags, -INFINITY)
    yield from Attention(("mask",)).cases([q, k, v, infinite])
    # The least number on a whole row is a row of equal scores.
    least = torch.zeros(3, 4).masked_fill(~flags, torch.finfo(F32).min)
    yield from Attention(("mask",)).cases([q, k, v, least], gradient=False)


def entries(generator, dtype):
    """Lengths and slopes."""
    shape = (3, 3, 5, 2, 1, 2, 3)
    lengths, slopes = torch.tensor([5, 0, 2]), torch.tensor([0.5, 0.0625])
    yield from Attention(("lengths",)).cases([*operands(generator, dtype, *shape), lengths])
    yield from Attention(("lengths",), causal=True, offset=1).cases([*operands(generator, dtype, *shape), lengths.int()])
    yield from Attention(("slopes",), offset=2).cases([*operands(generator, dtype, *shape), slopes])
    everything = Attention(("mask", "lengths", "slopes"), causal=True, window=3, offset=1, scale=0.75)
    yield from everything.cases([*operands(generator, dtype, *shape), numbers(generator, 3, 5), lengths, slopes])


def long(generator):
    """Around the sizes of blocks, one type each."""
    for i, (tokens, keys, attributes) in enumerate(
            ((48, 49, {}), (49, 48, {"causal": True}), (97, 130, {"causal": True, "offset": 33}), (130, 97, {"window": 20}),
             (96, 33, {"causal": True, "window": 49}))):
        yield from Attention(**attributes).cases(operands(generator, FLOATS[i % 3], 1, tokens, keys, 1, 1, 2, 2))


def sums(generator):
    """log_sum_exp alone: its gradient, and the sums of 16-bit operands, which are f32."""
    attention = Attention(causal=True)
    inputs = operands(generator, F32, 1, 3, 4, 2, 1, 3, 2)
    yield backward(attention.text("%unused, %r"), inputs, lambda *x: attention(*x)[1], ulps=BACKWARD[F32], constants="c")
    for dtype in FLOATS[1:]:
        inputs = operands(generator, dtype, 1, 3, 5, 2, 1, 8, 2)
        yield forward(attention.text("%unused, %r"), inputs, lambda *x: attention(*x)[1], (F32,), FORWARD[F32], "largest")


def cases(generator):
    for dtype in FLOATS:
        for family in (shapes, ranges, masks, entries):
            yield from family(generator, dtype)
    yield from long(generator)
    yield from sums(generator)
    # Large scores: weights of one and zero.
    q, k, v = operands(generator, F32, 1, 3, 4, 1, 1, 2, 2)
    yield from Attention(scale=1e4).cases([q, k, v])

"""What transformers begin and end with: rows of a table, a class token, positions, rotated heads, and a loss over words."""

import numpy as np

from bounded import reduced_to
from elementwise import binary
from graph import Type
from layout import broadcast_to, gather, joined, reshaped
from losses import class_loss
from products import linear, operand_like


def paired(number, interleaved):
    """The two channels of all pairs."""
    half = number.shape[-1] // 2
    return (number[..., 0::2], number[..., 1::2]) if interleaved else (number[..., :half], number[..., half:])


def unpaired(first, second, interleaved):
    def join(a, b):
        return np.stack([a, b], -1).reshape(a.shape[:-1] + (-1,)) if interleaved else np.concatenate([a, b], -1)
    return first._made(join(first.value, second.value), join(first.error, second.error), second)


def rotary(g, x=None):
    """Angles are any numbers, for tokens or for tokens of each sample."""
    x = x or g.pick(lambda v: v.type.is_float and len(v.type.shape) >= 2 and v.type.shape[-1] % 2 == 0)
    if x is None:
        return None
    shape, dim = x.type.shape, g.below(len(x.type.shape) - 1)
    own = shape[dim if g.chance(70) else 0:dim + 1] + (shape[-1] // 2,)
    angled = (1,) * (dim + 2 - len(own)) + own[:-1] + (1,) * (len(shape) - 2 - dim) + own[-1:]
    kind = Type("f32" if x.type.element != "f64" and g.chance(50) else x.type.element, own)
    interleaved, inverse = g.chance(40), g.chance(20)
    sign = -1.0 if inverse else 1.0

    def rotated(x, c, s):
        a, b = paired(x.inner(), interleaved)
        c, s = c.reshape(angled), s.reshape(angled) * sign
        return unpaired(a * c - b * s, b * c + a * s, interleaved)

    def backward(gradient, operands, _):
        x, c, s = operands
        (p, q), (a, b) = paired(gradient, interleaved), paired(x, interleaved)
        return [rotated(gradient, c, -s), reduced_to(p * a + q * b, angled).reshape(own),
                reduced_to((q * a - p * b) * sign, angled).reshape(own)]

    cos, sin = operand_like(g, kind.element, own), operand_like(g, kind.element, own)
    return g.add("mp.rotary_embedding", [x, cos, sin], x.type, rotated, backward,
                 attributes=f" dim({dim})" + (" interleaved" if interleaved else "") + (" inverse" if inverse else ""),
                 tail=f"{x.type}, {kind}")


def tokens(g):
    """A small language or vision model without its blocks."""
    element = g.choice(["f32", "f16", "bf16"])
    first = next((value.type.shape[0] for value in g.inputs if value.type.shape), 3)
    rows, length, width, words = min(first, 9), 1 + g.below(4), g.choice([2, 4, 5, 8]), 3 + g.below(8)
    x = gather(g, g.input(Type(element, (words, width))), (rows, length), dim=0)
    if x and g.chance(50):
        token = broadcast_to(g, g.input(Type(element, (1, 1, width))), (rows, 1, width))
        x = token and joined(g, [token, x], 1)
    if x and g.chance(60):
        x = binary(g, x, operand_like(g, element, x.type.shape[g.below(2):]), ["mp.add"])
    if x and g.chance(50):
        x = rotary(g, x) if width % 2 == 0 else x
    if x and g.chance(50):  # a head or two, whose channels are last
        heads = g.choice([1, 2]) if width % 2 == 0 else 1
        x = reshaped(g, x, (*x.type.shape[:2], heads, width // heads))
        x = x and reshaped(g, x, (x.type.shape[0] * x.type.shape[1], width))
    elif x and g.chance(70):
        x = reshaped(g, x, (x.type.shape[0] * x.type.shape[1], width))
    x = x and linear(g, x, words)
    if x and len(x.type.shape) == 2 and g.chance(50):
        x = reshaped(g, x, (rows, x.type.shape[0] // rows, words))
    return x and class_loss(g, x=x)

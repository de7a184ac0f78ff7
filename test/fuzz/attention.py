"""Attention: which keys a query looks at by every attribute and mask, alone and between projections."""

import dataclasses
import math
import typing

import numpy as np

import bounded as b
from bounded import UNIT, Bounded, reduced_to
from elementwise import binary
from graph import Type
from layout import reshaped
from products import linear, operand_like
from randoms import factors, random_words

FLOATS = ("f32", "f16", "bf16")
LARGEST = 1500  # numbers of an operand
SCORES = 8000


@dataclasses.dataclass
class Range:
    """The attributes, and the operands after query, key and value by name."""
    causal: bool
    window: typing.Optional[int]
    offset: typing.Optional[int]
    scale: typing.Optional[float]
    operands: dict
    p: float  # of a dropout

    @classmethod
    def draw(cls, g, batch, heads, tokens, keys):
        offset = g.choice([keys - tokens, 1, -1, 3, -tokens, keys]) if g.chance(35) else None
        operands = {}
        if g.chance(45):
            operands["mask"] = drawn_mask(g, (batch, heads, tokens, keys))
        if g.chance(20):
            lengths = g.rng.integers(0, keys + 1, batch)
            operands["lengths"] = g.input(Type(g.choice(["i32", "i64"]), (batch,)), lengths)
        if g.chance(20):
            operands["slopes"] = operand_like(g, "f32", (heads,))
        # Gradients of these draw again by an op, of which a key that is an input knows nothing.
        is_biased = "slopes" in operands or ("mask" in operands and operands["mask"].type.is_float)
        if g.chance(25) and not is_biased:
            operands["dropout"] = g.input(Type("i64", (4,)), g.rng.integers(0, 1 << 40, 4))
        return cls(g.chance(40), 1 + g.below(keys + 1) if g.chance(30) else None, offset,
                   g.choice([0.25, 1.0, -0.5]) if g.chance(20) else None, operands, g.choice([0.25, 0.5, 0.75]))

    def text(self):
        text = "".join(f" {name}({value.name}, {self.p})" if name == "dropout" else f" {name}({value.name} : {value.type})"
                       for name, value in self.operands.items())
        text += " causal" if self.causal else ""
        text += f" window({self.window})" if self.window is not None else ""
        text += f" query_offset({self.offset})" if self.offset is not None else ""
        return text + (f" {{scale = {self.scale}}}" if self.scale is not None else "")

    def ahead(self, tokens, keys):
        """How far a key is after a query."""
        return np.arange(keys) - np.arange(tokens)[:, None] - (self.offset or 0)

    def allowed(self, shape, named):
        """Flags of all scores."""
        ahead = self.ahead(*shape[2:])
        flags = np.ones(shape, bool)
        if self.causal:
            flags &= ahead <= 0
        if self.window is not None:
            flags &= np.abs(ahead) < self.window
        if "lengths" in named:
            flags &= np.arange(shape[3]) < named["lengths"].value[:, None, None, None]
        if "mask" in named:
            mask = named["mask"].value
            flags &= mask != 0 if self.operands["mask"].type.element == "i1" else mask != -np.inf
        return flags

    def factors(self, shape, named):
        """What weights are multiplied by, which rounds, as the factor does."""
        if "dropout" not in named:
            return 1.0
        words = random_words(math.prod(shape), [int(part) for part in named["dropout"].value])
        return factors(words.reshape(shape), self.p)

    def added(self, scores, named):
        """The scores with what operands add to them."""
        if "slopes" in named:
            scores = scores - named["slopes"].reshape((-1, 1, 1)) * np.abs(self.ahead(*scores.shape[2:]))
        if "mask" in named and self.operands["mask"].type.is_float:
            mask = named["mask"]
            lowest = np.isneginf(mask.value)
            scores = scores + Bounded(np.where(lowest, 0, mask.value), np.where(lowest, 0, mask.error))
        return scores


def drawn_mask(g, sizes):
    shape = tuple(size if g.chance(60) else 1 for size in sizes)
    while shape and shape[0] == 1 and g.chance(50):
        shape = shape[1:]
    if g.chance(50):
        return operand_like(g, "i1", shape)
    kind = Type(g.choice(FLOATS), shape)
    if g.low or g.chance(85):
        return operand_like(g, kind.element, shape)
    return g.input(kind, np.where(g.rng.random(shape) < 0.2, -np.inf, np.round(4 * g.rng.standard_normal(shape)) / 4))


def per_head(x, heads):
    """[batch, tokens, groups, n] as [batch, heads, tokens, n]."""
    return x.moved(lambda a: np.repeat(a, heads // a.shape[2], 2)).transpose((0, 2, 1, 3))


def per_group(x, groups):
    """The adjoint of `per_head`."""
    batch, heads, tokens, n = x.shape
    return x.reshape((batch, groups, heads // groups, tokens, n)).sum([2], keepdims=False).transpose((0, 2, 1, 3))


def attend(g, q, k, v, near=None):
    """The op on values [batch, tokens, heads, depth], [batch, keys, groups, depth] and [batch, keys, groups, width]; `near` is
    drawn unless it is given."""
    batch, tokens, heads, depth = q.type.shape
    keys, groups, width = v.type.shape[1:]
    scores = (batch, heads, tokens, keys)
    if math.prod(scores) > SCORES:
        return None
    element = q.type.element
    near = near or Range.draw(g, batch, heads, tokens, keys)
    scale = near.scale if near.scale is not None else 1 / math.sqrt(depth)

    def parts(q, k, *rest):
        """Scores, flags, the rows' largest, exponentials and their sums; of rows without a key 0, 0 and 1."""
        named = dict(zip(near.operands, rest))
        flags = near.allowed(scores, named)
        x = near.added(per_head(q, heads).matmul(per_head(k, heads).swapped()) * scale, named)
        largest = np.where(flags, x.value, -np.inf).max(axis=3, keepdims=True)
        largest = Bounded(np.where(np.isneginf(largest), 0, largest))
        e = Bounded(flags).where(b.exp(Bounded(flags).where(x - largest, 0.0)), 0.0)
        total = e.sum([3])
        return e, total.relation("eq", 0).exact().where(1.0, total), largest, flags

    def weights(e, total):
        w = e / total
        # They may be rounded before they multiply the values.
        low = [UNIT[name] for name in (element, g.low) if name in ("f16", "bf16")]
        return w.loosened(2 * max(low)) if low else w

    def forward(q, k, v, *rest):
        e, total, largest, flags = parts(q.inner(), k.inner(), *rest)
        kept = weights(e, total) * near.factors(scores, dict(zip(near.operands, rest)))
        y = kept.matmul(per_head(v.inner(), heads)).transpose((0, 2, 1, 3))
        sums = Bounded(flags.any(axis=3, keepdims=True)).where(b.log(total) + largest, 0.0)
        return y, sums.reshape((batch, heads, tokens)).transpose((0, 2, 1))

    def backward(gradients, numbers, made):
        gradient, of_sums = (x.transpose(order) for x, order in zip(gradients, ((0, 2, 1, 3), (0, 2, 1))))
        q, k, v, *rest = numbers
        w = weights(*parts(q, k, *rest)[:2])
        factors = near.factors(scores, dict(zip(near.operands, rest)))
        delta = (gradient * made[0].transpose((0, 2, 1, 3))).sum([3]) - of_sums.reshape((batch, heads, tokens, 1))
        change = w * (gradient.matmul(per_head(v, heads).swapped()) * factors - delta)
        own = {"slopes": lambda: (change * -np.abs(near.ahead(tokens, keys))).sum([0, 2, 3]).reshape((heads,)),
               "mask": lambda: reduced_to(change, near.operands["mask"].type.shape)}
        return [(change.matmul(per_head(k, heads)) * scale).transpose((0, 2, 1, 3)),
                per_group(change.swapped().matmul(per_head(q, heads)) * scale, groups),
                per_group((w * factors).swapped().matmul(gradient), groups),
                *(own[name]() if value.type.is_float else None for name, value in near.operands.items())]

    results = [Type(element, (batch, tokens, heads, width)), Type("f32", (batch, tokens, heads))]
    return g.add("mp.scaled_dot_product_attention", [q, k, v, *near.operands.values()], results, forward, backward,
                 attributes=near.text(), listed=3, hidden=0 if g.chance(25) else 1)


def divisor(g, number):
    return g.choice([n for n in range(1, number + 1) if number % n == 0])


def attention(g):
    """Of values as they are, or new ones."""
    q = g.pick(lambda v: v.type.element in FLOATS and len(v.type.shape) == 4 and 0 < v.type.size <= LARGEST)
    if q is None or g.chance(30):
        element = g.inputs[0].type.element if g.inputs[0].type.element in FLOATS else "f32"
        shape = (1 + g.below(2), g.choice([1, *g.sizes]), 1 + g.below(4), g.choice([1, 8, *g.sizes]))
        if math.prod(shape) > LARGEST:
            return None
        q = g.input(Type(element, shape))
    element, (batch, tokens, heads, depth) = q.type.element, q.type.shape
    keys, groups = tokens if g.chance(60) else g.choice([1, 7, *g.sizes]), divisor(g, heads)
    width = depth if g.chance(60) else g.choice([1, *g.sizes])
    if batch * keys * groups * max(depth, width) > LARGEST:
        return None
    return attend(g, q, operand_like(g, element, (batch, keys, groups, depth)),
                  operand_like(g, element, (batch, keys, groups, width)))


def block(g):
    """Projections of a value, and for the keys of it or another one, attention, and a projection of its result."""
    x = g.pick(lambda v: v.type.element in FLOATS and len(v.type.shape) in (2, 3) and 0 < v.type.size <= LARGEST)
    if x is None:
        return None
    rows = x if len(x.type.shape) == 3 else reshaped(g, x, (1, *x.type.shape))
    if not rows:
        return None
    batch, tokens, channels = rows.type.shape
    keys = g.choice([1, *g.sizes])
    source = rows if g.chance(60) else operand_like(g, x.type.element, (batch, keys, channels))
    heads, depth = 1 + g.below(4), g.choice([1, 2, 3, 4, 8])
    groups, width = divisor(g, heads), depth if g.chance(70) else 1 + g.below(5)
    made = []
    for value, count, size in ((rows, heads, depth), (source, groups, depth), (source, groups, width)):
        projected = linear(g, value, count * size)
        made.append(projected and reshaped(g, projected, (*projected.type.shape[:2], count, size)))
    if not all(made) or len({value.type.element for value in made}) > 1:  # some sums may have stayed f32
        return None
    y = attend(g, *made)
    y = y and reshaped(g, y, (batch, tokens, heads * width))
    y = y and linear(g, y, channels)
    return y and (binary(g, y, rows, ["mp.add"]) if y.type == rows.type and g.chance(60) else y)

"""Networks of texts, which are computed a few tokens at a time.

Every value that is made here has a row for each token in dimension 1, and a row depends on tokens up to it alone. The oracle
computes all tokens at once, as the network is written. What the network reads beside its text, such as the keys of another one, is
computed once.
"""

import dataclasses

import numpy as np

import elementwise
import layout
import norms
import products
import reductions
import scans
from attention import Range, attend
from graph import Graph, Type, Value

#: The first token of a shifted text is the network's own, whatever a call is given.
ANY_TOKEN = 1


@dataclasses.dataclass
class Text:
    """The argument [batch, tokens] of a text, whether the network shifts it, and how many tokens a call takes if there are as many."""
    tokens: Value
    is_shifted: bool
    at_once: int

    def given(self, tokens):
        """What the calls are given of a text."""
        return np.concatenate([np.full_like(tokens[:, :1], ANY_TOKEN), tokens[:, :-1]], 1) if self.is_shifted else tokens


def shifted(g, tokens):
    (batch, count), first = tokens.type.shape, g.below(3)
    before = g.add("mp.slice", [tokens], tokens.type._replace(shape=(batch, count - 1)), lambda x: x.moved(lambda a: a[:, :-1]),
                   attributes=f" offsets[0, 0] sizes[{batch}, {count - 1}]")

    def padded(x):
        around = ((0, 0), (1, 0))
        return x._made(np.pad(x.value, around, constant_values=first), np.pad(x.error, around), x)
    return g.add("mp.pad", [before], tokens.type, padded, attributes=f" low[0, 1] high[0, 0] value({first}.0)")


def embedded(g, element, width, tokens):
    table = g.input(Type(element, (3 + g.below(6), width)))
    return layout.gather(g, table, dim=0, index=tokens)


def tokens_like(g, shape):
    return g.input(Type(g.choice(["i32", "ui16"]), shape), g.rng.integers(0, 3, shape))


def mask_like(g, sizes):
    """A mask that broadcasts to these sizes, of flags or of numbers."""
    shape = tuple(size if g.chance(60) else 1 for size in sizes)
    while len(shape) > 1 and shape[0] == 1 and g.chance(50):
        shape = shape[1:]
    return g.input(Type(g.choice(["i1", "f32"]), shape))


def near(g, sizes, is_own):
    """What queries look at: earlier tokens of their own text, or the keys of another one."""
    batch, heads, tokens, keys = sizes
    operands = {}
    if g.chance(40):
        operands["mask"] = mask_like(g, sizes)
    if is_own and g.chance(25):
        operands["slopes"] = g.input(Type("f32", (heads,)))
    if not is_own and g.chance(50):
        operands["lengths"] = g.input(Type("i32", (batch,)), g.rng.integers(0, keys + 1, batch))
    return Range(is_own, 1 + g.below(tokens + 1) if is_own and g.chance(30) else None, None, g.choice([None, 1.0, -0.5]), operands, 0.5)


def attention(g, x, source):
    (batch, tokens, width), is_own = x.type.shape, source is None or g.chance(50)
    keys = x if is_own else source
    heads = g.choice([1, 2])
    groups, depth = g.choice([1, heads]), g.choice([1, 2, 4])
    made = []
    for value, count in ((x, heads), (keys, groups), (keys, groups)):
        projected = products.linear(g, value, count * depth)
        made.append(projected and layout.reshaped(g, projected, (*projected.type.shape[:2], count, depth)))
    if not all(made) or len({value.type.element for value in made}) > 1:
        return None
    y = attend(g, *made, near(g, (batch, heads, tokens, keys.type.shape[1]), is_own))
    y = y and layout.reshaped(g, y, (batch, tokens, heads * depth))
    return y and products.linear(g, y, width)


def added(g, x, rows):
    """An operation with an earlier value of the same type, or with a table of positions or of channels."""
    alike = [value for value in rows if value.type == x.type]
    shape = x.type.shape[g.below(3):]
    other = g.choice(alike) if g.chance(60) else g.input(Type(x.type.element, tuple(n if g.chance(80) else 1 for n in shape)))
    return elementwise.binary(g, x, other, ["mp.add", "mp.sub", "mp.mul", "mp.maximum"])


def centred(g, x):
    mean = reductions.reduction(g, x, ["mp.mean", "mp.max"], [2], keepdim=True)
    return mean and elementwise.binary(g, x, mean, ["mp.sub"])


def gated(g, x):
    gate = products.linear(g, x, x.type.shape[-1])
    gate = gate and elementwise.unary(g, gate, ["mp.sigmoid", "mp.silu", "mp.tanh"])
    return gate and gate.type == x.type and elementwise.binary(g, x, gate, ["mp.mul"]) or None


def turned(g, x):
    """The tokens in another dimension, and back."""
    order = g.choice([[1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1]])
    there = layout.transposed(g, x, order)
    there = there and elementwise.unary(g, there)
    return there and layout.transposed(g, there, [order.index(dim) for dim in range(3)])


def loop(g, x):
    """A loop over the tokens, from the first on. What else it leaves, or the begin of one, is no token's."""
    known = list(g.values)
    stacked = scans.scan_over(g, x, dim=1, reverse=False) if x.type.shape[1] > 1 else None
    g.values = known + [stacked] * bool(stacked)
    return stacked


DRAWS = [(3, lambda g, x, *_: elementwise.unary(g, x)), (4, lambda g, x, *_: loop(g, x)), (4, lambda g, x, rows, _: added(g, x, rows)),
         (2, lambda g, x, *_: products.linear(g, x, x.type.shape[-1])), (2, lambda g, x, *_: norms.layer_norm(g, x, dims=1)),
         (1, lambda g, x, *_: reductions.softmax(g, x, dim=2)), (1, lambda g, x, *_: centred(g, x)), (2, lambda g, x, *_: gated(g, x)),
         (1, lambda g, x, *_: turned(g, x)), (10, lambda g, x, _, source: attention(g, x, source))]
SHARES = np.cumsum([share for share, _ in DRAWS])


def graph(rng, setting, choose_autocast):
    """A text of tokens, perhaps another one that it is written from, and what is computed of them."""
    g = Graph(rng)
    g.drawing = True  # a network that writes texts drops nothing
    element = setting.element if setting.element != "f64" else "f32"
    batch, tokens, width = 1 + g.below(3), 2 + g.below(7), g.choice([4, 6, 8])
    text = tokens_like(g, (batch, tokens))
    choose_autocast(g, element)
    g.text = Text(text, g.chance(40), 1 + g.below(tokens))
    x = embedded(g, element, width, shifted(g, text) if g.text.is_shifted else text)
    source = None
    if g.chance(60):
        source = embedded(g, element, width, tokens_like(g, (batch, g.choice([tokens, 1 + g.below(6)]))))
        source = source and elementwise.unary(g, source)
    rows, wanted = [x], 2 + g.below(8)
    for _ in range(4 * wanted):
        if rows[-1] is None or len(rows) > wanted:
            break
        draw = DRAWS[int(np.searchsorted(SHARES, g.below(int(SHARES[-1])), side="right"))][1]
        made = draw(g, rows[-1] if g.chance(70) else g.choice(rows), rows, source)
        if made and made.type.shape == (batch, tokens, width):
            rows.append(made)
    if len(rows) < 2 or rows[0] is None:
        return None
    g.results = [value for value in rows if value is rows[-1] or g.chance(15)]
    for value in g.inputs:
        if value is not text and value.type.is_float and g.chance(70):
            value.data = "variable"
    return g


def recipe():
    """What the goal of decoding takes a function from; its loss is of nothing else, as decoding leaves it out."""
    return ("  mp.train @step of @loss { mp.minimize result(0) {optimizer = #mp.sgd<lr = 1.0>} }\n",
            "  mp.variable @weight : tensor<1xf32> = #mp.init<zeros>",
            ["    %weight = mp.read @weight : tensor<1xf32>", "    %loss = mp.sum %weight dims[0] : tensor<1xf32>"])

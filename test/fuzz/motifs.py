"""What stands around products in networks: gates, residuals, branches, values used twice. Kernels treat these specially, and
single ops drawn at random seldom meet in such ways."""

from convolutions import Window, conv2d, images
from elementwise import binary, cast, selected, unary
from graph import Type
from layout import reshaped
from norms import batch_norm, layer_norm
from products import linear, matmul, operand_like
from reductions import reduction, softmax

ACTIVATIONS = ["mp.relu", "mp.relu", "mp.gelu", "mp.tanh", "mp.sigmoid", "mp.silu"]


def rows(g):
    return g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) >= 2)


def activation(g, value):
    return value and unary(g, value, ACTIVATIONS)


def joined(g, one, other):
    return one and other and binary(g, one, other, ["mp.add", "mp.add", "mp.mul", "mp.sub", "mp.maximum"])


def branch(g):
    """A product, and beside it a function of its operand or of something else."""
    x = rows(g)
    if x is None:
        return None
    product = linear(g, x, x.type.shape[-1])
    other = x if g.chance(60) else g.pick(lambda v: product and v.type == product.type)
    beside = activation(g, other) if other is not None else None
    if product and g.chance(30):
        product = activation(g, product)
    return joined(g, product, beside)


def gate(g):
    """One product by a function of another."""
    x = rows(g)
    if x is None:
        return None
    out = g.choice(g.sizes)
    return joined(g, linear(g, x, out), activation(g, linear(g, x, out)))


def residual(g):
    x = rows(g)
    if x is None:
        return None
    value = layer_norm(g, x) if g.chance(40) else x
    value = linear(g, value or x, x.type.shape[-1])
    if value and g.chance(70):
        value = activation(g, value)
        if value and g.chance(50):
            value = linear(g, value, x.type.shape[-1])
    return joined(g, value, x)


def used_twice(g):
    """A product that leaves the graph, or is read by several, beside its activation."""
    x = rows(g)
    product = x and (linear if g.chance(50) else matmul)(g, x)
    if not product:
        return None
    active = activation(g, product)
    how = g.below(4)
    if how == 0:
        g.results.append(product)
        return active
    if how == 1:
        return joined(g, product, active)
    if how == 2:
        return reduction(g, product, ["mp.sum", "mp.mean", "mp.max"]) and joined(g, product, active)
    return activation(g, active)


def sums(g):
    """Sums of columns, of rows or of all of a product, as bias gradients and losses have them."""
    x = rows(g)
    product = x and (linear if g.chance(50) else matmul)(g, x)
    if not product:
        return None
    rank = len(product.type.shape)
    dims = g.choice([[rank - 2], list(range(rank - 1)), list(range(rank)), [rank - 1]])
    if g.chance(50):
        product = activation(g, product)
    return product and reduction(g, product, ["mp.sum", "mp.mean", "mp.max", "mp.norm"], dims)


def epilogue(g):
    """A product with operands of its shape, of a row's and of none, and a rounding to another type."""
    x = rows(g)
    product = x and (linear if g.chance(50) else matmul)(g, x)
    if not product:
        return None
    value, kind = product, product.type
    for _ in range(1 + g.below(4)):
        shape = g.choice([kind.shape, kind.shape[-1:], (), kind.shape[:-1] + (1,)])
        step = g.below(3)
        if step == 0:
            value = activation(g, value)
        elif step == 1:
            value = joined(g, value, operand_like(g, value.type.element, shape))
        else:
            value = cast(g, value)
        if value is None:
            return None
    return value


def attention(g):
    x = rows(g)
    if x is None or x.type.size > 1500:
        return None
    width = x.type.shape[-1]
    q, k, v = made = [linear(g, x, width) for _ in range(3)]
    if not all(made) or len({value.type for value in made}) > 1:  # some sums may have stayed f32
        return None
    element = q.type.element
    scores = g.add(
        "mp.matmul", [q, k], Type(element, (*q.type.shape[:-1], q.type.shape[-2])), lambda a, b: a.matmul(b.swapped(), element),
        lambda gradient, numbers, _: [gradient.matmul(numbers[1], element), gradient.swapped().matmul(numbers[0], element)],
        attributes=" transpose_b")
    if scores and g.chance(50):  # a mask, for all or for each of the first dimension
        scores = binary(g, scores, operand_like(g, scores.type.element, scores.type.shape[g.below(2):]), ["mp.add"])
    weights = scores and softmax(g, scores, len(scores.type.shape) - 1, log=False)
    return weights and g.add(
        "mp.matmul", [weights, v], v.type, lambda a, b: a.matmul(b, element),
        lambda gradient, numbers, _: [gradient.matmul(numbers[1].swapped(), element),
                                      numbers[0].swapped().matmul(gradient, element)])


def merged_rows(g):
    """A product of rows that were several dimensions."""
    x = g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) == 3)
    if x is None:
        return None
    a, b, c = x.type.shape
    rows = reshaped(g, x, (a * b, c))
    product = rows and linear(g, rows, g.choice(g.sizes))
    return product and activation(g, reshaped(g, product, (a, b, product.type.shape[-1])))


def dropout(g):
    """By a mask that is given: by choice from zeros, or as a factor."""
    x = g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and v.type.shape)
    if x is None:
        return None
    mask, scale = operand_like(g, "i1", x.type.shape), g.input(Type(x.type.element, ()), 1.25)
    if g.chance(50):
        kept = cast(g, mask, x.type.element)
        kept = kept and binary(g, x, kept, ["mp.mul"])
    else:
        kept = selected(g, mask, x, g.input(Type(x.type.element, ()), 0.0))
    return kept and binary(g, kept, scale, ["mp.mul"])


def axes(g):
    """Sums of rows, of columns and of all of one tall matrix: kernels cut it into parts, and every sum has to know the same parts."""
    element = g.choice(["f32", "f16", "bf16"])
    x = g.input(Type(element, (g.choice([129, 257, 600]), g.choice([3, 10, 33]))))
    beside = softmax(g, x, 1)
    orders = [[1], [0, 1], [0]]
    g.rng.shuffle(orders)
    made = [reduction(g, g.choice([x, beside or x]), ["mp.sum", "mp.mean", "mp.max"], dims, keepdim=False) for dims in orders]
    g.results += [value for value in made[:-1] if value]
    return made[-1]


def image_block(g):
    """A convolution that keeps height and width, its norm, an activation, and the images that it began with."""
    x = images(g)
    if x is None:
        return None
    channels, size = x.type.shape[3], g.choice([1, 3, 3, 5])
    edge = [size // 2] * 2
    depthwise = g.chance(25)
    window = Window([size] * 2, [1, 1], edge, edge, [1, 1], channels if depthwise else 1)
    if channels * size * size * (1 if depthwise else channels) > 3000:
        return None
    value = conv2d(g, x, window, channels)
    if value and g.chance(70):
        value = batch_norm(g, value, 3) or value
    if value and g.chance(40):
        value = joined(g, value, x)
    return activation(g, value)


MOTIFS = [image_block, dropout, branch, gate, residual, used_twice, sums, epilogue, attention, merged_rows, axes]

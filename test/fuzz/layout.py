"""Ops that move elements: views, boxes, rows by index."""

import numpy as np

from bounded import Bounded, reduced_to
from graph import Type


def transpose(g, operand=None):
    operand = operand or g.pick(lambda v: len(v.type.shape) >= 2)
    if operand is None:
        return None
    return transposed(g, operand, [int(i) for i in g.rng.permutation(len(operand.type.shape))])


def transposed(g, operand, order):
    back = [int(i) for i in np.argsort(order)]
    return g.add("mp.transpose", [operand], Type(operand.type.element, tuple(operand.type.shape[i] for i in order)),
                 lambda x: x.transpose(order), lambda gradient, *_: [gradient.transpose(back)], attributes=f" {order}")


def reshaped(g, operand, shape):
    result = Type(operand.type.element, tuple(shape))
    return g.add("mp.reshape", [operand], result, lambda x: x.reshape(result.shape),
                 lambda gradient, *_: [gradient.reshape(operand.type.shape)], tail=f"{operand.type} to {result}")


def reshape(g):
    operand = g.pick(lambda v: v.type.shape)
    if operand is None:
        return None
    shape = []
    for size in operand.type.shape:  # ones come and go, neighbours merge, sizes split
        if size == 1 and g.chance(50):
            continue
        factors = [factor for factor in (2, 3, 4, 5) if size % factor == 0 and size > factor]
        if shape and g.chance(40):
            shape[-1] *= size
        elif factors and g.chance(25):
            factor = g.choice(factors)
            shape += [size // factor, factor]
        else:
            shape.append(size)
        if g.chance(20):
            shape.append(1)
    return reshaped(g, operand, shape) if len(shape) <= 5 else None


def broadcast(g):
    operand = g.pick(lambda v: v.type.size <= 200)
    if operand is None:
        return None
    shape = [2 + g.below(5) if size == 1 and g.chance(50) else size for size in operand.type.shape]
    shape = (1 + g.below(4), *shape) if g.chance(40) else tuple(shape)
    return broadcast_to(g, operand, shape)


def broadcast_to(g, operand, shape):
    result = Type(operand.type.element, tuple(shape))
    return g.add("mp.broadcast", [operand], result, lambda x: x.broadcast(shape),
                 lambda gradient, operands, _: [reduced_to(gradient, operands[0].shape)], tail=f"{operand.type} to {result}")


def slice_(g, operand=None):
    operand = operand or g.pick(lambda v: v.type.shape and v.type.size)
    if operand is None:
        return None
    shape, boxes = operand.type.shape, []
    for size in shape:
        stride = 1 + g.below(3) if g.chance(30) else 1
        offset = g.below(size) if g.chance(50) else 0
        boxes.append((offset, 1 + g.below((size - offset - 1) // stride + 1), stride))
    index = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in boxes)

    def backward(gradient, operands, _):
        value, error = np.zeros(shape), np.zeros(shape)
        value[index], error[index] = gradient.value, gradient.error
        return [Bounded(value, error)]

    offsets, sizes, strides = (list(column) for column in zip(*boxes))
    attributes = f" offsets{offsets} sizes{sizes}" + (f" strides{strides}" if any(s != 1 for s in strides) else "")
    return g.add("mp.slice", [operand], Type(operand.type.element, tuple(sizes)), lambda x: x[index], backward,
                 attributes=attributes)


def concat(g):
    first = g.pick(lambda v: v.type.shape and v.type.element != "i1")
    if first is None:
        return None
    dim = g.below(len(first.type.shape))
    rest = lambda v: (v.type.element, len(v.type.shape), v.type.shape[:dim], v.type.shape[dim + 1:])
    return joined(g, [first] + [g.pick(lambda v: v.type.shape and rest(v) == rest(first)) for _ in range(1 + g.below(2))], dim)


def is_other_half(g, kind):
    """Whether autocast refuses the type where operands promote: it is the 16-bit type that is not its own."""
    return g.low and kind.element in ("f16", "bf16") and kind.element != g.low


def joined(g, others, dim):
    first = others[0]
    if is_other_half(g, first.type):
        return None
    ends = np.cumsum([v.type.shape[dim] for v in others])
    shape = first.type.shape[:dim] + (int(ends[-1]),) + first.type.shape[dim + 1:]

    def backward(gradient, operands, _):
        begins = [0, *ends[:-1]]
        return [gradient[(slice(None),) * dim + (slice(int(i), int(j)),)] for i, j in zip(begins, ends)]

    return g.add("mp.concat", others, Type(first.type.element, shape),
                 lambda *x: Bounded(np.concatenate([n.value for n in x], dim), np.concatenate([n.error for n in x], dim)),
                 backward, attributes=f" dim({dim})")


def pad(g):
    operand = g.pick(lambda v: v.type.is_float and v.type.shape)
    if operand is None:
        return None
    low, high, inner = ([g.below(3) if g.chance(60) else 0 for _ in operand.type.shape] for _ in range(3))
    inner = inner if g.chance(40) else [0] * len(inner)
    value = g.choice([0.0, 1.0, -0.5])
    sizes = [max(n + (n - 1) * i, 0) for n, i in zip(operand.type.shape, inner)]
    shape = tuple(n + a + z for n, a, z in zip(sizes, low, high))
    index = tuple(slice(a, a + n, i + 1) for a, n, i in zip(low, sizes, inner))

    def forward(x):
        padded, error = np.full(shape, value), np.zeros(shape)
        padded[index], error[index] = x.value, x.error
        return Bounded(padded, error)

    attributes = f" low{low} high{high}" + (f" interior{inner}" if any(inner) else "") + (f" value({value})" if value else "")
    return g.add("mp.pad", [operand], Type(operand.type.element, shape), forward, lambda gradient, *_: [gradient[index]],
                 attributes=attributes)


def indices(g, shape, rows):
    index = g.input(Type(g.choice(["ui16", "i32", "ui32", "i64"]), tuple(shape)), g.rng.integers(0, rows, shape))
    index.rows = rows
    return index


def gather(g, table=None, shape=None, dim=None, index=None):
    """Rows of a table; indices of `shape`, or those that are given."""
    table = table or g.pick(lambda v: v.type.is_float and v.type.shape)
    if table is None:
        return None
    dim = g.below(len(table.type.shape)) if dim is None else dim
    rows = table.type.shape[dim]
    index = index or indices(g, shape or ((1 + g.below(6),) if g.chance(60) else (1 + g.below(3), 1 + g.below(4))), rows)
    shape = table.type.shape[:dim] + index.type.shape + table.type.shape[dim + 1:]

    def backward(gradient, operands, _):
        x, chosen = operands
        return [scattered(gradient, chosen, dim, x.shape), None]

    return g.add("mp.gather", [table, index], Type(table.type.element, shape),
                 lambda x, i: x.moved(lambda a: np.take(a, i.value.astype(int), axis=dim)), backward, attributes=f" dim({dim})")


def taken(x, chosen, dim):
    """Elements at indices of their own in each row."""
    index = chosen.value.astype(int)
    index = index.reshape(index.shape + (1,) * (len(x.shape) - index.ndim))
    return x.moved(lambda a: np.take_along_axis(a, index, dim))


def batched_rows(g):
    """A table, a dimension after the first, and indices of that dimension for each of the rows before it."""
    table = g.pick(lambda v: v.type.is_float and len(v.type.shape) >= 2 and v.type.size and not is_other_half(g, v.type))
    if table is None:
        return None
    dim = 1 + g.below(len(table.type.shape) - 1)
    return table, dim


def batched_gather(g):
    found = batched_rows(g)
    if found is None:
        return None
    table, dim = found
    index = indices(g, table.type.shape[:dim] + (1 + g.below(6),), table.type.shape[dim])
    shape = index.type.shape + table.type.shape[dim + 1:]
    return g.add("mp.gather", [table, index], Type(table.type.element, shape), lambda x, i: taken(x, i, dim),
                 lambda gradient, operands, _: [batch_scattered(gradient, operands[1], dim, table.type.shape), None],
                 attributes=f" dim({dim}) batched")


def batch_scattered(updates, chosen, dim, shape):
    index = chosen.value.astype(int)
    index = np.broadcast_to(index.reshape(index.shape + (1,) * (len(shape) - index.ndim)), updates.shape)
    where = tuple(index if d == dim else at for d, at in enumerate(np.indices(updates.shape)))

    def add(array):
        out = np.zeros(shape)
        np.add.at(out, where, array)
        return out

    count = max(updates.shape[dim], 1)
    return updates._made(add(updates.value), add(updates.error) + count * 2.0 ** -24 * add(np.abs(updates.value)))


def batched_scatter_add(g):
    found = batched_rows(g)
    if found is None:
        return None
    updates, dim = found
    rows = 1 + g.below(7)
    index = indices(g, updates.type.shape[:dim + 1], rows)
    shape = updates.type.shape[:dim] + (rows,) + updates.type.shape[dim + 1:]
    return g.add("mp.scatter_add", [updates, index], Type(updates.type.element, shape),
                 lambda x, i: batch_scattered(x, i, dim, shape),
                 lambda gradient, operands, _: [taken(gradient, operands[1], dim), None],
                 attributes=f" dim({dim}) batched size({rows})")


def scattered(updates, chosen, dim, shape):
    """Updates added up at their indices, in f32."""
    flat = shape[:dim] + (chosen.value.size,) + shape[dim + 1:]
    where = (slice(None),) * dim + (chosen.value.astype(int).ravel(),)

    def add(array):
        out = np.zeros(shape)
        np.add.at(out, where, array.reshape(flat))
        return out

    count = max(chosen.value.size, 1)
    return updates._made(add(updates.value), add(updates.error) + count * 2.0 ** -24 * add(np.abs(updates.value)))


def scatter_add(g):
    updates = g.pick(lambda v: v.type.is_float and v.type.shape and not is_other_half(g, v.type))
    if updates is None:
        return None
    dim = g.below(len(updates.type.shape))
    rows = 1 + g.below(7)
    index = indices(g, updates.type.shape[dim:dim + 1], rows)
    shape = updates.type.shape[:dim] + (rows,) + updates.type.shape[dim + 1:]
    return g.add("mp.scatter_add", [updates, index], Type(updates.type.element, shape),
                 lambda x, i: scattered(x, i, dim, shape),
                 lambda gradient, operands, _: [gradient.moved(lambda a: np.take(a, operands[1].value.astype(int), axis=dim)), None],
                 attributes=f" dim({dim}) size({rows})")


def one_hot(g):
    classes = 2 + g.below(6)
    index = indices(g, (1 + g.below(8),), classes)
    element = g.choice(["f32", "f16", "bf16"])
    return g.add("mp.one_hot", [index], Type(element, index.type.shape + (classes,)),
                 lambda i: Bounded(np.eye(classes)[i.value.astype(int)]), lambda *_: [None],
                 attributes=f" classes({classes}) as {element}")

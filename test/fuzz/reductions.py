"""Reductions, running sums, softmax and its like."""

import numpy as np

import bounded as b
from bounded import Bounded
from graph import Type


def some_dims(g, rank):
    dims = [d for d in range(rank) if g.chance(45)]
    return dims or [g.below(rank)]


def reduced_shape(shape, dims, keepdim):
    return tuple(1 if i in dims else size for i, size in enumerate(shape) if keepdim or i not in dims)


def kept(number, shape, dims):
    """A reduction's result or gradient, with ones in place of the reduced dimensions."""
    return number.reshape(tuple(1 if i in dims else size for i, size in enumerate(shape)))


def winners(x, largest, dims):
    """The share that each element has in being the largest: ties share evenly."""
    may = x.value + x.error >= (x.value - x.error).max(axis=tuple(dims), keepdims=True)
    is_open = may & (may.sum(axis=tuple(dims), keepdims=True) > 1) & (np.where(may, x.error, 0).max(
        axis=tuple(dims), keepdims=True) > 0)
    top = (x.value == x.value.max(axis=tuple(dims), keepdims=True)).astype(float)
    return Bounded(top / top.sum(axis=tuple(dims), keepdims=True), is_open.astype(float), x.unit, x.tiny)


def logsumexp(x, dims):
    x = x.inner()
    largest = x.value.max(axis=tuple(dims), keepdims=True)
    return b.log(b.exp(x - Bounded(largest)).sum(dims)) + Bounded(largest)


def prod(x, dims):
    count = int(np.prod([x.shape[d] for d in dims]))
    value = x.value.prod(axis=tuple(dims), keepdims=True)
    bound = (np.abs(x.value) + x.error).prod(axis=tuple(dims), keepdims=True) - np.abs(value)
    return x._made(value, np.where(x.error.sum(axis=tuple(dims), keepdims=True) > 0, bound, 0) + count * b.UNIT["f32"] * np.abs(value))



def same_everywhere(gradient, x, y, dims):
    return gradient.broadcast(x.shape)


#: name: (function with dimensions kept, gradient by gradient, operand, result and dims)
REDUCTIONS = {
    "mp.sum": (lambda x, dims: x.sum(dims), same_everywhere),
    "mp.mean": (lambda x, dims: x.noisy(2 * b.UNIT["f32"]).mean(dims),
                lambda g, x, y, dims: (g * (1.0 / np.prod([x.shape[d] for d in dims]))).broadcast(x.shape)),
    "mp.max": (lambda x, dims: x.max(dims), lambda g, x, y, dims: g * winners(x, y, dims)),
    "mp.min": (lambda x, dims: -((-x).max(dims)), lambda g, x, y, dims: g * winners(-x, y, dims)),
    "mp.prod": (prod, lambda g, x, y, dims: g * y / x),
    "mp.norm": (lambda x, dims: b.root_of_squares((x.inner() * x).sum(dims)),
                lambda g, x, y, dims: y.relation("gt", 0).where(g * x / y, 0.0)),
    "mp.norm p(1)": (lambda x, dims: b.absolute(x).sum(dims), lambda g, x, y, dims: g * b.sign(x)),
    "mp.logsumexp": (logsumexp, lambda g, x, y, dims: g * b.exp(x - y)),
}


def reduction(g, operand=None, names=None, dims=None, keepdim=None):
    operand = operand or g.pick_float(rank=1)
    if operand is None:
        return None
    shape = operand.type.shape
    dims = dims if dims is not None else some_dims(g, len(shape))
    keepdim = g.chance(50) if keepdim is None else keepdim
    name = g.choice(names or ["mp.sum", "mp.sum", *REDUCTIONS])
    count = int(np.prod([shape[d] for d in dims]))
    if name == "mp.prod" and (count > 6 or np.abs(operand.number.value).min(initial=1) < 0.05):
        name = "mp.sum"
    function, slope = REDUCTIONS[name]
    head, _, order = name.partition(" ")
    result = Type(operand.type.element, reduced_shape(shape, dims, keepdim))

    def backward(gradient, operands, made):
        return [slope(kept(gradient, shape, dims), operands[0], kept(made, shape, dims), dims)]

    attributes = f" dims{list(dims)}" + (" keepdim" if keepdim else "") + (f" {order}" if order else "")
    return g.add(head, [operand], result, lambda x: function(x, dims).reshape(result.shape), backward, attributes=attributes)


def argmax(g):
    operand = g.pick(lambda v: v.type.is_float and v.type.shape and not v.number.error.any())
    if operand is None:
        return None
    dim = g.below(len(operand.type.shape))
    keepdim = g.chance(40)
    result = Type(g.choice(["i32", "i64"]), reduced_shape(operand.type.shape, [dim], keepdim))
    attributes = f" dim({dim})" + (" keepdim" if keepdim else "") + (" {dtype = i32}" if result.element == "i32" else "")
    return g.add("mp.argmax", [operand], result, lambda x: argmax_of(x, dim).reshape(result.shape), attributes=attributes)


def argmax_of(x, dim):
    """Open if rounding may have made another one the largest, or as large."""
    first = x.value.argmax(axis=dim, keepdims=True)
    value, error = (np.take_along_axis(array, first, dim) for array in (x.value, x.error))
    margin = x.error + error
    rivals = (x.value + margin >= value) & (margin > 0)
    np.put_along_axis(rivals, first, False, dim)
    return Bounded(first.astype(float), np.where(rivals.any(axis=dim, keepdims=True), np.inf, 0.0))


def cumsum_of(x, dim, reverse):
    def run(array):
        array = np.flip(array, dim) if reverse else array
        array = np.cumsum(array, axis=dim)
        return np.flip(array, dim) if reverse else array
    return x._made(run(x.value), run(x.error) + x.shape[dim] * b.UNIT["f32"] * run(np.abs(x.value)))


def cumsum(g, operand=None, dim=None, reverse=None):
    operand = operand or g.pick_float(rank=1)
    if operand is None:
        return None
    dim = g.below(len(operand.type.shape)) if dim is None else dim
    reverse = g.chance(40) if reverse is None else reverse
    return g.add("mp.cumsum", [operand], operand.type, lambda x: cumsum_of(x, dim, reverse),
                 lambda gradient, operands, made: [cumsum_of(gradient, dim, not reverse)],
                 attributes=f" dim({dim})" + (" reverse" if reverse else ""))


def softmax_of(x, dim):
    x = x.inner()
    e = b.exp(x - Bounded(x.value.max(axis=dim, keepdims=True)))
    return e / e.sum([dim])


def log_softmax_of(x, dim):
    return x.inner() - logsumexp(x, [dim])


def softmax(g, operand=None, dim=None, log=None):
    operand = operand or g.pick_float(rank=1)
    if operand is None:
        return None
    dim = g.below(len(operand.type.shape)) if dim is None else dim
    log = g.chance(40) if log is None else log

    def backward(gradient, operands, y):
        if log:
            return [gradient - b.exp(y) * gradient.sum([dim])]
        return [y * (gradient - (gradient * y).sum([dim]))]

    return g.add("mp.log_softmax" if log else "mp.softmax", [operand], operand.type,
                 lambda x: (log_softmax_of if log else softmax_of)(x, dim), backward, attributes=f" dim({dim})")

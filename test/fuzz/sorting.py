"""Sorting, and the largest elements."""

import numpy as np

from bounded import Bounded
from graph import Type


def order_of(x, dim, descending):
    """Indices in sorted order; of equal elements the first comes first."""
    return np.argsort(-x.value if descending else x.value, axis=dim, kind="stable")


def is_open(x, dim):
    """Whether rounding may have changed the place of an element."""
    value, error = (np.moveaxis(array, dim, -1) for array in (x.value, x.error))
    margin = error[..., :, None] + error[..., None, :]
    rivals = (np.abs(value[..., :, None] - value[..., None, :]) <= margin) & (margin > 0)
    rivals &= ~np.eye(value.shape[-1], dtype=bool)
    return np.moveaxis(rivals.any(axis=-1), -1, dim)


def values_of(x, dim, descending, k):
    """The i-th smallest of numbers lies between those of their lower and of their upper ends."""
    def taken(array):
        array = np.sort(array, axis=dim)
        return np.take(np.flip(array, dim) if descending else array, np.arange(k), axis=dim)
    value, low, high = taken(x.value), taken(x.value - x.error), taken(x.value + x.error)
    return x._made(value, np.maximum(high - value, value - low))


def indices_of(x, dim, descending, k):
    order = np.take(order_of(x, dim, descending), np.arange(k), axis=dim)
    return Bounded(order, np.where(np.take_along_axis(is_open(x, dim), order, dim), np.inf, 0.0))


def gradient_of(gradient, x, dim, descending, k):
    """Each element has the gradient of its place, or none; if its place is open, it may have any."""
    missing = [(0, x.shape[dim] - k) if d == dim else (0, 0) for d in range(len(x.shape))]
    value, error = np.pad(gradient.value, missing), np.pad(gradient.error, missing)
    place = np.argsort(order_of(x, dim, descending), axis=dim)
    spread = (value + error).max(axis=dim, keepdims=True) - (value - error).min(axis=dim, keepdims=True)
    own, own_error = (np.take_along_axis(array, place, dim) for array in (value, error))
    return gradient._made(own, np.where(is_open(x, dim), spread, own_error))


def chosen(g, head, k_of, text):
    """An op along a dimension; its indices are read only where they are certain."""
    operand = g.pick(lambda v: v.type.element in ("f64", "f32", "f16", "bf16", "i32", "i64") and v.type.shape and v.type.size)
    if operand is None:
        return None
    dim, flag = g.below(len(operand.type.shape)), g.chance(50)
    k = k_of(operand.type.shape[dim])
    return added(g, head, operand, dim, k, *text(dim, flag, k))


def added(g, head, operand, dim, k, attributes, descending):
    shape = operand.type.shape[:dim] + (k,) + operand.type.shape[dim + 1:]
    is_certain = not operand.number.error.any()
    return g.add(head, [operand], [Type(operand.type.element, shape), Type("i32", shape)],
                 lambda x: (values_of(x, dim, descending, k), indices_of(x, dim, descending, k)),
                 lambda gradients, operands, _: [gradient_of(gradients[0], operands[0], dim, descending, k)],
                 attributes=attributes, hidden=0 if is_certain else 1)


def text_of_sort(dim, descending):
    return f" dim({dim})" + (" descending" if descending else "")


def sort(g):
    return chosen(g, "mp.sort", lambda size: size, lambda dim, flag, k: (text_of_sort(dim, flag), flag))


def sorted_along(g, operand, dim, descending):
    return added(g, "mp.sort", operand, dim, operand.type.shape[dim], text_of_sort(dim, descending), descending)


def top_k(g):
    return chosen(g, "mp.top_k", lambda size: 1 + g.below(size),
                  lambda dim, flag, k: (f" k({k}) dim({dim})" + (" smallest" if flag else ""), not flag))

"""Small networks by name: what stands beside a product where people write one. A kernel took such a function for the product's
own once, and the results were wrong in silence."""

from elementwise import binary, unary
from graph import Graph, Type
from products import linear
from reductions import reduction, softmax


def skip(g, x):
    return binary(g, linear(g, x, 8), unary(g, x, ["mp.relu"]), ["mp.add"])


def gated_unit(g, x):
    return binary(g, linear(g, x, 8), unary(g, linear(g, x, 8), ["mp.relu"]), ["mp.mul"])


def gated_by_operand(g, x):
    return binary(g, linear(g, x, 8), unary(g, x, ["mp.relu"]), ["mp.mul"])


def residual_block(g, x):
    inner = unary(g, linear(g, x, 8), ["mp.relu"])
    return unary(g, binary(g, linear(g, inner, 8), x, ["mp.add"]), ["mp.relu"])


def kept_and_activated(g, x):
    product = linear(g, x, 8)
    g.results.append(product)
    return unary(g, product, ["mp.relu"])


def loss_beside_column_sums(g, x):
    """A loss and a bias gradient share a kernel so: more rows than one part of the column sums takes."""
    tall = g.input(Type(x.type.element, (300, 10)))
    total = reduction(g, softmax(g, tall, 1, log=True), ["mp.mean"], [0, 1], keepdim=False)
    g.results.append(reduction(g, tall, ["mp.sum"], [0], keepdim=False))
    return total


CASES = [(build, element)
         for build in (skip, gated_unit, gated_by_operand, residual_block, kept_and_activated, loss_beside_column_sums)
         for element in ("f32", "f16", "bf16")]


def graph(rng, number, finish):
    """The case of a number, with the recipe or gradient that `finish` adds; None if the drawn weights did not suit."""
    build, element = CASES[number % len(CASES)]
    g = Graph(rng)
    g.sizes = [8]
    value = build(g, g.input(Type(element, (8, 8))))
    return value and finish(g, value)

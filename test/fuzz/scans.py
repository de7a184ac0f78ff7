"""Loops over time steps. The oracle computes each time step by ops of its own; the text has one loop in their place."""

import dataclasses
import re

import numpy as np

from bounded import Bounded
from elementwise import COMMON, binary, unary
from graph import Type, Value
from layout import joined, reshaped
from products import linear
from randoms import STREAMS_PER_TIME_STEP, dropout, key
from reductions import cumsum, reduction, softmax
from sorting import sorted_along

#: By which it does not matter in what order the operands stand.
JOINED = ["mp.add", "mp.add", "mp.mul", "mp.maximum"]


@dataclasses.dataclass(eq=False)
class Scan:
    """Ops of a graph that are written as a loop, as long as none of them is taken out."""
    nodes: set
    dim: int
    reverse: bool
    carried: list  # values before the first time step
    over: Value
    part: Value  # of `over`, in the time step that the text shows
    body: list  # nodes of that time step
    yielded: list  # what it carries on, and then what is stacked
    results: list  # after the last time step, and then of all
    is_inner: bool  # of a time step of another loop, and written in that alone

    def has_text(self, batch):
        """Whether what is carried stays open or closed: an operand from outside may open rows of size one."""
        return all((first in batch.open) == (left in batch.open) for first, left in zip(self.carried, self.yielded))

    def text(self, batch, others):
        # Carried values have other names inside.
        inside = {value.name: f"{value.name}c" for value in self.carried}
        known = re.compile("(" + "|".join(re.escape(name) for name in inside) + r")\b")
        inner = [scan for scan in others if scan.nodes < self.nodes]
        texts = texts_of(self.body, batch, inner, inside=True)
        body = "\n".join(f"      {known.sub(lambda found: inside[found[0]], text)}".rstrip(": ") for text in texts)
        body = re.sub(r"stream\((\d+)\)", lambda found: f"stream({int(found[1]) % STREAMS_PER_TIME_STEP})", body)
        types = ", ".join(batch.type(value) for value in self.yielded)
        yielded = ", ".join(inside.get(value.name, value.name) for value in self.yielded)
        carried = ", ".join(f"{inside[value.name]} = {value.name} : {batch.type(value)}" for value in self.carried)
        return (f"{', '.join(value.name for value in self.results)} = mp.scan"
                f" carried({carried})"
                f" over({self.part.name} = {self.over.name} : {batch.type(self.over)})"
                + (f" dim({self.dim})" if self.dim else "") + (" reverse" if self.reverse else "")
                + f" -> ({', '.join(batch.type(value) for value in self.results)}) {{\n{body}\n"
                f"      mp.yield {yielded} : {types}\n    }}")


def texts_of(nodes, batch, scans, inside=False):
    """The texts of ops, `inside` a loop or not; those of a loop are one, in which there may be others."""
    # What an inner loop draws has other streams where its time steps are written one by one.
    whole = lambda scan: all(other.has_text(batch) for other in scans if other.nodes <= scan.nodes)
    shown = [scan for scan in scans if scan.is_inner == inside and whole(scan)]
    largest_first = sorted(shown, key=lambda scan: -len(scan.nodes))
    written = set()
    for node in nodes:
        scan = next((scan for scan in largest_first if node in scan.nodes), None)
        if scan is None:
            yield batch.text(node)
        elif scan not in written:
            written.add(scan)
            yield scan.text(batch, scans)


def part_of(g, value, dim, step):
    """One time step of a value."""
    shape, index = value.type.shape, (slice(None),) * dim + (slice(step, step + 1),)

    def backward(gradient, operands, _):
        number, error = np.zeros(shape), np.zeros(shape)
        number[index], error[index] = gradient.value, gradient.error
        return [Bounded(number, error)]

    offsets, sizes = [0] * len(shape), list(shape)
    offsets[dim], sizes[dim] = step, 1
    part = g.add("mp.slice", [value], Type(value.type.element, tuple(sizes)), lambda x: x[index], backward,
                 attributes=f" offsets{offsets} sizes{sizes}")
    return part and reshaped(g, part, shape[:dim] + shape[dim + 1:])


def along(g, kind):
    """An op along a dimension, which takes several kernels where that is long or sorted."""
    dim, flag, how = g.below(len(kind.shape)), g.chance(40), g.below(4)
    if how == 0:
        return lambda known, _: sorted_along(g, known[-1], dim, flag)
    if how == 1:
        return lambda known, _: cumsum(g, known[-1], dim, flag)
    if how == 2:
        return lambda known, _: softmax(g, known[-1], dim, flag)
    name, with_rest = g.choice(["mp.mean", "mp.sum", "mp.max"]), g.choice(JOINED)

    def reduced(known, _):
        row = reduction(g, known[-1], [name], [dim], keepdim=True)
        return row and binary(g, known[-1], row, [with_rest])
    return reduced


def random_op(g):
    given, stream, p = key(g), g.fresh_stream(), g.choice([0.5, 0.2])
    return lambda known, step: dropout(g, known[-1], given, stream, p, step)


def inner_loop(g, kind, depth):
    """A loop over a dimension of what the time step has."""
    dims = [dim for dim, size in enumerate(kind.shape) if 2 <= size <= 5]
    if not dims:
        return None
    dim, reverse = g.choice(dims), g.chance(30)
    inner = Type(kind.element, kind.shape[:dim] + kind.shape[dim + 1:])
    what = Rounds.draw(g, inner, kind.shape[dim], depth + 1)
    return lambda known, step: looped(g, known[-1], dim, reverse, what, step)


def drawn(g, kind, depth=0):
    """Some ops of a time step, each a function of the values that the step has so far, and of its number."""
    ops = [lambda known, _, name=g.choice(JOINED): binary(g, known[0], known[1], [name])]
    for _ in range(1 + g.below(3)):
        how = g.below(9)
        if how == 0 and kind.shape:
            width = kind.shape[-1]
            given = [g.input(Type(kind.element, shape)) for shape in [(width, width), (width,)][:1 + g.below(2)]]
            ops.append(lambda known, _, given=given: linear(g, known[-1], given[0].type.shape[0], given))
        elif how == 1:
            place, name = g.below(len(ops) + 1), g.choice(JOINED)
            ops.append(lambda known, _, place=place, name=name: binary(g, known[-1], known[place], [name]))
        elif how == 2:
            outside, name = g.input(Type(kind.element, kind.shape[g.below(len(kind.shape) + 1):])), g.choice(JOINED)
            ops.append(lambda known, _, outside=outside, name=name: binary(g, known[-1], outside, [name]))
        elif how == 3 and kind.shape:
            ops.append(along(g, kind))
        elif how == 4 and not g.drawing:
            g.drawing = True
            ops.append(random_op(g))
        elif how in (5, 6) and depth < 2 and (loop := inner_loop(g, kind, depth)):
            ops.append(loop)
        else:
            ops.append(lambda known, _, name=g.choice(COMMON): unary(g, known[-1], [name]))
    ops.append(lambda known, _: unary(g, known[-1], ["mp.tanh"]))  # what is carried stays small
    return ops


def scan(g):
    short = lambda v: [dim for dim, size in enumerate(v.type.shape) if (1 if dim else 2) <= size <= 5]
    over = g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and 2 <= len(v.type.shape) <= 3 and v.type.size and short(v))
    return over and scan_over(g, over, g.choice(short(over)), g.chance(30))


@dataclasses.dataclass
class Rounds:
    """What time steps compute: of `known` values, which are the carried one, the slice, other carried ones, and results."""
    carried: list
    ops: list
    next: list  # numbers of known values that the other carried ones become
    stacked: list  # numbers of those that are stacked

    @staticmethod
    def draw(g, kind, steps, depth=0):
        carried = [g.input(kind) for _ in range(1 + g.chance(40))]
        ops = drawn(g, kind, depth)
        # A value of the step before, or the slice: both are small.
        following = [0 if steps > 1 and g.chance(50) else 1 for _ in carried[1:]]
        count = len(carried) + 1 + len(ops)
        stacked = [len(carried) + 1 + g.below(len(ops))] + [g.choice([0, count - 1, g.below(count)])] * g.chance(40)
        return Rounds(carried, ops, following, stacked)


def scan_over(g, over, dim, reverse):
    kind = Type(over.type.element, over.type.shape[:dim] + over.type.shape[dim + 1:])
    return looped(g, over, dim, reverse, Rounds.draw(g, kind, over.type.shape[dim]))


def looped(g, over, dim, reverse, what, around=None):
    """A loop; returns its first stack. An inner one has the number of the time step `around` it."""
    steps, kind = over.type.shape[dim], what.carried[0].type
    first = len(g.nodes)
    stacked, shown, values = {}, None, what.carried
    for step in reversed(range(steps)) if reverse else range(steps):
        begin, part = len(g.nodes) + 2, part_of(g, over, dim, step)
        if part is None:
            return None
        known = [values[0], part, *values[1:]]
        for op in what.ops:
            known.append(op(known, (around or 0) * steps + step) if known[-1] else None)
        if known[-1] is None or any(other.type != kind for other in known):
            return None  # what there is stays, without a loop
        left, stacked[step] = [known[-1]] + [known[i] for i in what.next], [known[i] for i in what.stacked]
        shown = shown or (known[1], g.nodes[begin:], left + stacked[step])
        values = left
    stacks = [stack_of(g, [stacked[step][i] for step in range(steps)], dim) for i in range(len(what.stacked))]
    if not all(stacks):
        return None
    nodes = g.nodes[first:]
    results = values + stacks
    g.scans.append(Scan(set(nodes), dim, reverse, what.carried, over, *shown, results, around is not None))
    inner = {result for node in nodes for result in node.results} - set(results)
    g.values = [other for other in g.values if other not in inner]
    return stacks[0]


def stack_of(g, values, dim):
    """The values of all time steps along a dimension of their own."""
    shape = values[0].type.shape
    parts = [reshaped(g, value, shape[:dim] + (1,) + shape[dim:]) for value in values]
    if not all(parts):
        return None
    return joined(g, parts, dim) if len(parts) > 1 else parts[0]

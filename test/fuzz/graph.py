"""A graph that grows op by op, each computed as it comes by functions that share nothing with the compiler.

An op is its text, a function of its operands' numbers, and a function that gives their gradients. What it may round is said
by `bounded.Bounded`; its results are rounded to their types once, as the dialect says.
"""

import dataclasses
import math
import typing

import numpy as np

from bounded import LARGEST, NARROW, TINY, UNIT, Bounded, to_type


class Type(typing.NamedTuple):
    element: str
    shape: tuple

    def __str__(self):
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"

    @property
    def is_float(self):
        return self.element in UNIT

    @property
    def size(self):
        return math.prod(self.shape)

    def of(self, element):
        return Type(element, self.shape)


#: Ops that compute functions to fewer digits for results of 16 bits.
SHORTENED = {"mp.exp", "mp.sigmoid", "mp.silu", "mp.gelu", "mp.softmax", "mp.log_softmax", "mp.cross_entropy"}


@dataclasses.dataclass(eq=False)
class Value:
    name: str
    type: Type
    number: Bounded
    node: typing.Optional["Node"] = None
    data: str = ""  # the source of an input, "argument" or "variable"
    fresh: bool = False  # of an argument: any numbers will do
    rows: int = 0  # of an argument: any indices of so many rows will do


@dataclasses.dataclass(eq=False)
class Node:
    head: str
    attributes: str
    tail: str
    operands: list
    forward: typing.Callable
    backward: typing.Callable
    listed: int  # operands that stand at the beginning; attributes name the others
    results: list = dataclasses.field(default_factory=list)

    def text(self):
        names = ", ".join(value.name for value in self.results)
        operands = ", ".join(value.name for value in self.operands[:self.listed])
        head = f"{self.head} {operands}" if operands else self.head
        return f"{names} = {head}{self.attributes} : {self.tail}"

    def compute(self, *numbers):
        """Numbers of the results, rounded to their types."""
        computed = self.forward(*numbers)
        if not isinstance(computed, tuple):
            computed = (computed,)
        if self.head in SHORTENED:
            computed = [number.loosened(NARROW.get(value.type.element, 0))
                        for number, value in zip(computed, self.results)]
        return [number.exact().rounded(value.type.element) for number, value in zip(computed, self.results)]


#: A value may be so large, and so uncertain next to the largest of its tensor, before an op that made it is taken back.
LIMIT = {"f16": 300.0, "bf16": 1e4, "f32": 1e4, "f64": 1e4}
BLUR = {"f16": 0.05, "bf16": 0.2, "f32": 1e-3, "f64": 1e-3}


def is_tame(value):
    number = value.number
    if not value.type.is_float:
        # A double holds no larger integer exactly, and products of integers soon leave theirs.
        return not number.error.any() and bool((np.abs(number.value) < 2**53).all())
    largest = np.abs(number.value).max(initial=0)
    return bool(np.isfinite(number.value).all() and largest < LIMIT[value.type.element]
                and number.error.max(initial=0) <= BLUR[value.type.element] * max(largest, 1e-3))


class Graph:
    def __init__(self, rng):
        self.rng = rng
        self.inputs, self.nodes, self.results = [], [], []
        self.values, self.read = [], set()
        self.sizes = [4]  # of dimensions, few, so that shapes meet
        self.batch = 0  # rows of the arguments of a step
        self.opens = False  # whether these, or the rows of most arguments of a function, are written as '?'
        self.gradient = None  # (number, sources, results): an mp.gradient at the end
        self.low = None  # the type that autocast may use for f32: "f16", "bf16"
        self.policy = ""  # the policy of autocast
        self.recipe = None  # the training of @f, if there is any
        self.text = None  # the argument that is given a few tokens at a time, if there is one
        self.scans = []  # nodes that the text has as loops
        self.drawing = False  # whether one of them draws: its streams are large where it is written out, and of no other
        self.spoiler = None  # a factor of the loss, infinite in steps that are to be skipped
        self._names = self._streams = 0

    # --- chance --------------------------------------------------------------

    def below(self, count):
        return int(self.rng.integers(count))

    def chance(self, percent):
        return self.below(100) < percent

    def choice(self, items):
        return items[self.below(len(items))]

    def pick(self, suits=lambda value: True):
        """A value that suits, likelier a late one, or one that nothing reads yet; None if there is none."""
        found = [value for value in self.values if suits(value)]
        if not found:
            return None
        unread = [value for value in found if value.node and value not in self.read]
        if unread and self.chance(50):
            return self.choice(unread)
        first = self.below(len(found))
        return found[first if self.chance(50) else max(first, self.below(len(found)))]

    def pick_float(self, rank=0):
        return self.pick(lambda v: v.type.is_float and len(v.type.shape) >= rank)

    # --- growing -------------------------------------------------------------

    def name(self, letter):
        self._names += 1
        return f"%{letter}{self._names}"

    def fresh_stream(self):
        """The number of random bits of its own."""
        self._streams += 1
        return self._streams

    def input(self, kind, numbers=None, data="argument"):
        """An argument of a type, or of the element type and shape given, of random numbers that the type holds."""
        fresh = numbers is None and kind.is_float
        if numbers is None:
            if kind.element == "i1":
                numbers = self.rng.integers(0, 2, kind.shape)
            elif kind.is_float:
                numbers = self.rng.standard_normal(kind.shape)
            else:
                numbers = self.rng.integers(-9, 10, kind.shape)
        number = Bounded(to_type(np.asarray(numbers, dtype=np.float64).reshape(kind.shape), kind.element))
        value = Value(self.name("x"), kind, number, data=data, fresh=fresh)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def add(self, head, operands, types, forward, backward=None, attributes="", tail=None, hidden=0,
            listed=None):
        """Adds an op unless its numbers run wild; the result (the first of several), or None. The last `hidden` results are
        named and no more. `backward(gradients, operands, results)` gives a gradient, or None, for each operand."""
        types = [types] if isinstance(types, Type) else list(types)
        if any(kind.size > 4000 for kind in types):
            return None
        listed = len(operands) if listed is None else listed
        tail = tail if tail is not None else ", ".join(str(value.type) for value in operands[:listed])
        node = Node(head, attributes, tail, list(operands), forward, backward, listed)
        node.results = [Value(f"%v{self._names + 1 + i}", kind, None, node) for i, kind in enumerate(types)]
        with np.errstate(all="ignore"):
            for value, number in zip(node.results, node.compute(*(value.number for value in operands))):
                if number.shape != value.type.shape:
                    raise AssertionError(f"{head}: computed {number.shape}, said {value.type}")
                value.number = number
        if not all(is_tame(value) for value in node.results[:len(types) - hidden]):
            return None
        self._names += len(types)
        self.nodes.append(node)
        self.read.update(operands)
        self.values.extend(node.results[:len(types) - hidden])
        return node.results[0]

    # --- gradients -----------------------------------------------------------

    def gradients(self, number, sources, seed=1.0, numbers=None):
        """Gradients of a scalar value by others; None for those that it does not depend on. `numbers` are those of
        all values, if not the graph's own."""
        numbers = numbers or {value: value.number for value in self.all_values()}
        known = {number: Bounded(np.full((), seed))}
        for node in reversed(self.nodes):
            arriving = [known.get(value) for value in node.results]
            if node.backward is None or all(gradient is None for gradient in arriving):
                continue
            unit, tiny = noise_of([element for value in [*node.operands, *node.results] for element in self.held(value)])
            arriving = [gradient.noisy(unit, tiny) if gradient is not None
                        else Bounded(np.zeros(value.type.shape)).noisy(unit, tiny)
                        for gradient, value in zip(arriving, node.results)]
            own = [(blurred(numbers[value], *self.held(value)) if self.low else numbers[value]).noisy(unit, tiny)
                   for value in node.operands]
            made = [blurred(numbers[value], *self.held(value)).noisy(unit, tiny) for value in node.results]
            with np.errstate(all="ignore"):
                leaving = node.backward(arriving if len(arriving) > 1 else arriving[0], own, made if len(made) > 1 else made[0])
            for value, gradient in zip(node.operands, leaving):
                if gradient is not None and value.type.is_float:
                    before = known.get(value)
                    gradient = gradient.exact() if before is None else gradient.exact() + before
                    known[value] = blurred(gradient, *self.held(value))
        return [known.get(source) for source in sources]

    def all_values(self):
        yield from self.inputs
        for node in self.nodes:
            yield from node.results

    def whole_scans(self):
        """The loops that the text has."""
        nodes = set(self.nodes)
        return [scan for scan in self.scans if scan.nodes <= nodes]

    def held(self, value):
        """The element types to which a value may be rounded: its own, and that of autocast, which takes f32 and 16 bits."""
        element = value.type.element
        return (element, self.low) if self.low and element in ("f32", "f16", "bf16") else (element,)

    def evaluate(self, numbers):
        """Numbers of all values, of those of the inputs. A result that is given too is not computed."""
        known = dict(numbers)

        def read(value):
            return blurred(known[value], *self.held(value)) if self.low else known[value]
        with np.errstate(all="ignore"):
            for node in self.nodes:
                if all(result in numbers for result in node.results):
                    continue
                known.update(zip(node.results, node.compute(*map(read, node.operands))))
                if self.low:
                    known.update((value, read(value)) for value in node.results)
        return known


def noise_of(elements):
    """The error of an operation inside of a gradient: one rounding to the coarsest type around."""
    elements = [element for element in elements if element in UNIT]
    unit = max((2 * UNIT[element] for element in elements), default=0.0)
    return max(unit, 4 * UNIT["f32"] if "f64" not in elements else unit), max((2 * TINY[e] for e in elements), default=0.0)


def blurred(number, *elements):
    """As it may be once it was rounded to types, or not."""
    for element in elements:
        if element in UNIT:
            error = number.error + 2 * UNIT[element] * np.abs(number.value) + TINY[element]
            number = Bounded(number.value, np.where(np.abs(number.value) + error > LARGEST[element] / 4, np.inf, error))
    return number

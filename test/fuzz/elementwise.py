"""Functions of elements, comparisons, choices and casts."""

import math

import numpy as np

import bounded as b
from bounded import Bounded, reduced_to
from graph import Type

HALF_ROOT_PI = math.sqrt(2 / math.pi)


def erf_gelu(x):
    x = x.inner()
    return x * 0.5 * (b.erf(x * math.sqrt(0.5)) + 1)


def erf_gelu_slope(x):
    density = b.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return (b.erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * density


def tanh_gelu(x):
    x = x.inner()
    return x * 0.5 * (b.tanh((x + x * x * x * 0.044715) * HALF_ROOT_PI) + 1)


def tanh_gelu_slope(x):
    t = b.tanh((x + x * x * x * 0.044715) * HALF_ROOT_PI)
    return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * (x * x * (3 * 0.044715) + 1) * HALF_ROOT_PI


def silu_slope(x):
    s = b.sigmoid(x)
    return s * (x * (1 - s) + 1)


def softplus(x):
    return x.apply(lambda a: np.logaddexp(0, a), b.FUNCTION)


def elu(alpha):
    return lambda x: x.relation("gt", 0).where(x, b.expm1(x) * alpha)


def leaky(slope):
    return lambda x: x.relation("gt", 0).where(x, x * slope)


def either(positive, negative):
    """A slope above zero, and at zero and below."""
    return lambda x, y: x.relation("gt", 0).where(Bounded(np.full(x.shape, positive)).noisy(x.unit),
                                                  negative(x) if callable(negative) else Bounded(np.full(x.shape, negative)))


def f32(number):
    """An attribute's number as it is computed with."""
    return float(np.float32(number))


#: name and attributes: (function, slope by operand and result, suits)
UNARY = {
    "mp.neg": (lambda x: -x, lambda x, y: Bounded(np.full(x.shape, -1.0)), None),
    "mp.abs": (b.absolute, lambda x, y: b.sign(x), None),
    "mp.relu": (lambda x: x.maximum(0), either(1.0, 0.0), None),
    "mp.tanh": (b.tanh, lambda x, y: 1 - y * y, None),
    "mp.gelu": (erf_gelu, lambda x, y: erf_gelu_slope(x), None),
    "mp.gelu approximate(tanh)": (tanh_gelu, lambda x, y: tanh_gelu_slope(x), None),
    "mp.silu": (lambda x: x.inner() * b.sigmoid(x), lambda x, y: silu_slope(x), None),
    "mp.sigmoid": (b.sigmoid, lambda x, y: y * (1 - y), None),
    "mp.exp": (b.exp, lambda x, y: y, lambda v: np.max(v.value, initial=0) < 4),
    "mp.expm1": (b.expm1, lambda x, y: b.exp(x), lambda v: np.max(v.value, initial=0) < 4),
    "mp.leaky_relu {negative_slope = 0.25}": (leaky(0.25), either(1.0, 0.25), None),
    "mp.elu {alpha = 0.5}": (elu(0.5), either(1.0, lambda x: b.exp(x) * 0.5), None),
    "mp.softplus": (softplus, lambda x, y: b.sigmoid(x), lambda v: np.max(v.value, initial=0) < 15),
    "mp.sin": (b.sine, lambda x, y: b.cosine(x), None),
    "mp.cos": (b.cosine, lambda x, y: -b.sine(x), None),
    "mp.erf": (b.erf, lambda x, y: b.exp(-(x * x)) * (2 / math.sqrt(math.pi)), None),
    "mp.sqrt": (b.sqrt, lambda x, y: 0.5 / y, lambda v: np.min(v.value - v.error, initial=1) > 0.01),
    "mp.rsqrt": (lambda x: 1 / b.sqrt(x.inner()), lambda x, y: y * y * y * -0.5,
                 lambda v: np.min(v.value - v.error, initial=1) > 0.01),
    "mp.log": (b.log, lambda x, y: 1 / x, lambda v: np.min(v.value - v.error, initial=1) > 0.01),
    "mp.log1p": (b.log1p, lambda x, y: 1 / (x + 1), lambda v: np.min(v.value - v.error, initial=1) > -0.9),
    "mp.reciprocal": (lambda x: 1 / x, lambda x, y: -(y * y), lambda v: np.min(np.abs(v.value) - v.error, initial=1) > 0.01),
    "mp.floor": (b.floor, None, None),
    "mp.sign": (b.sign, None, None),
    "mp.clamp {max = 0.75, min = -0.5}": (lambda x: x.maximum(-0.5).minimum(0.75), lambda x, y:
                                          x.relation("gt", -0.5).where(x.relation("lt", 0.75), 0.0), None),
}
COMMON = ["mp.relu", "mp.gelu", "mp.tanh", "mp.sigmoid", "mp.silu", "mp.neg"]


def unary(g, operand=None, kinds=None):
    operand = operand or g.pick_float()
    if operand is None:
        return None
    name = g.choice(kinds or (COMMON if g.chance(40) else list(UNARY)))
    function, slope, suits = UNARY[name]
    if suits and not suits(operand.number):
        name = "mp.tanh"
        function, slope, suits = UNARY[name]
    head, _, attributes = name.partition(" ")

    def backward(gradient, operands, result):
        return [gradient * slope(operands[0], result) if slope else None]

    return g.add(head, [operand], operand.type, function, backward, attributes=attributes and f" {attributes}")


def power(x, y):
    return x._made(x.value ** y.value, np.abs(x.value ** y.value) * (
        6 * b.UNIT["f32"] + np.abs(y.value) * x.error / np.abs(x.value) * 2 + np.abs(np.log(x.value)) * y.error * 2), y)


def maximum_slopes(name):
    def slopes(x, y, out):
        first = x.relation(name, y)
        tie = x.relation("eq", y) * 0.5
        return first + tie, x.relation("lt" if name == "gt" else "gt", y) + tie
    return slopes


def ones(number):
    return Bounded(np.ones(number.shape))


#: name: (function, slopes by both operands and the result)
BINARY = {
    "mp.add": (lambda x, y: x + y, lambda x, y, out: (ones(out), ones(out))),
    "mp.sub": (lambda x, y: x - y, lambda x, y, out: (ones(out), -ones(out))),
    "mp.mul": (lambda x, y: x * y, lambda x, y, out: (y, x)),
    "mp.div": (lambda x, y: x / y, lambda x, y, out: (1 / y, -(x / y) / y)),
    "mp.maximum": (lambda x, y: x.maximum(y), maximum_slopes("gt")),
    "mp.minimum": (lambda x, y: x.minimum(y), maximum_slopes("lt")),
    "mp.pow": (power, lambda x, y, out: (y * out / x, out * b.log(x))),
}


def broadcast_shape(*shapes):
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def binary(g, lhs=None, rhs=None, names=None):
    lhs = lhs or g.pick(lambda v: v.type.element != "i1" and v.type.element not in ("ui8",))
    if lhs is None:
        return None
    rhs = rhs or g.pick(lambda v: v.type.element == lhs.type.element and broadcast_shape(lhs.type.shape, v.type.shape) is not None)
    if rhs.type.element != lhs.type.element:
        rhs = cast(g, rhs, lhs.type.element)
        if rhs is None:
            return None
    if g.chance(50):
        lhs, rhs = rhs, lhs
    name = g.choice(names or ["mp.add", "mp.add", "mp.sub", "mp.mul", "mp.mul", "mp.maximum", "mp.minimum", "mp.div", "mp.pow"])
    if name == "mp.div" and not (lhs.type.is_float and np.min(np.abs(rhs.number.value) - rhs.number.error, initial=1) > 0.02):
        name = "mp.sub"
    if name == "mp.pow" and not (lhs.type.is_float and np.min(lhs.number.value - lhs.number.error, initial=1) > 0.05
                                 and np.max(np.abs(rhs.number.value), initial=0) < 4):
        name = "mp.mul"
    function, slopes = BINARY[name]
    shape = broadcast_shape(lhs.type.shape, rhs.type.shape)

    def backward(gradient, operands, result):
        dx, dy = slopes(*operands, result)
        return [reduced_to(gradient * dx, operands[0].shape), reduced_to(gradient * dy, operands[1].shape)]

    return g.add(name, [lhs, rhs], Type(lhs.type.element, shape), function, backward)


RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def compare(g):
    lhs = g.pick(lambda v: v.type.element != "i1")
    if lhs is None:
        return None
    rhs = g.pick(lambda v: v.type.element == lhs.type.element and broadcast_shape(lhs.type.shape, v.type.shape) is not None)
    name = g.choice(RELATIONS)
    shape = broadcast_shape(lhs.type.shape, rhs.type.shape)
    return g.add(f"mp.compare {name}", [lhs, rhs], Type("i1", shape), lambda x, y: x.relation(name, y))


def is_flag(value):
    return value.type.element == "i1"


def logic(g):
    flag = g.pick(is_flag)
    if flag is None:
        return compare(g)
    if g.chance(30):
        return g.add("mp.not", [flag], flag.type, lambda x: 1 - x)
    other = g.pick(lambda v: v.type == flag.type)
    if g.chance(50):
        return g.add("mp.or", [flag, other], flag.type, lambda x, y: x.maximum(y))
    return g.add("mp.and", [flag, other], flag.type, lambda x, y: x.minimum(y))


def select(g):
    flag = g.pick(is_flag)
    if flag is None:
        return compare(g)
    lhs = g.pick(lambda v: v.type.is_float and broadcast_shape(flag.type.shape, v.type.shape) is not None)
    if lhs is None:
        return None
    shape = broadcast_shape(flag.type.shape, lhs.type.shape)
    rhs = g.pick(lambda v: v.type.element == lhs.type.element and broadcast_shape(shape, v.type.shape) is not None)
    return selected(g, flag, lhs, rhs)


def selected(g, flag, lhs, rhs):
    shape = broadcast_shape(flag.type.shape, lhs.type.shape, rhs.type.shape)

    def backward(gradient, operands, result):
        condition, x, y = operands
        return [None, reduced_to(condition.where(gradient, 0.0), x.shape), reduced_to(condition.where(0.0, gradient), y.shape)]

    return g.add("mp.select", [flag, lhs, rhs], Type(lhs.type.element, shape), lambda f, x, y: f.where(x, y), backward)


def in_training(g):
    """Graphs are run as they train."""
    trained = g.pick_float()
    evaluated = trained and g.pick(lambda v: v.type == trained.type)
    if evaluated is None:
        return None
    return g.add("mp.in_training", [trained, evaluated], trained.type, lambda x, y: x, lambda gradient, *_: [gradient, None])


def cast(g, operand=None, element=None):
    operand = operand or g.pick(lambda v: v.type.is_float or v.type.element == "i1")
    if operand is None:
        return None
    element = element or g.choice(["f16", "bf16", "f32"])
    if element == operand.type.element:
        return operand
    return g.add("mp.cast", [operand], operand.type.of(element), lambda x: x, lambda gradient, operands, result: [gradient],
                 tail=f"{operand.type} to {operand.type.of(element)}")

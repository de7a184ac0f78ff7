"""Numbers that know how far off they may be.

`Bounded` holds an array of exact-as-can-be values in f64 and, for every element, how far the number that a compiled program
computes may be from it. Arithmetic carries both along, so a tolerance is never chosen: it is what rounding in the types of
the graph allows. Where nothing has rounded yet the bound is zero, and then the compiled number must be the very same.

`unit` is the relative error that each further operation may add: zero for the one operation of an op, whose rounding
`rounded` does exactly; more inside of ops of many operations, and in gradients, which round who knows where.
"""

import math

import numpy as np

#: Relative distance between neighbours, halved: what one rounding to nearest may be off.
UNIT = {"f64": 2.0 ** -53, "f32": 2.0 ** -24, "bf16": 2.0 ** -8, "f16": 2.0 ** -11}
#: The smallest positive number of a type; below its normal range errors are absolute.
TINY = {"f64": 5e-324, "f32": 2.0 ** -149, "bf16": 2.0 ** -133, "f16": 2.0 ** -24}
LARGEST = {"f64": np.finfo(np.float64).max, "f32": float(np.finfo(np.float32).max), "f16": 65504.0,
           "bf16": float.fromhex("0x1.fep127")}
#: The least normal number of f32 and bf16.
NORMAL = 2.0 ** -126
#: The error of the functions that the compiler expands, at most 3 units in the last place, and some.
FUNCTION = 8 * UNIT["f32"]
#: The error before rounding of ops whose functions are shorter for results of 16 bits (dialect/Accuracy.h).
NARROW = {"bf16": 2.0 ** -11, "f16": 2.0 ** -15}


def to_type(values, element):
    """`values`, f64, rounded to nearest even; integers wrap and flags are flags."""
    if element == "f32":
        return values.astype(np.float32).astype(np.float64)
    if element == "f16":
        return values.astype(np.float16).astype(np.float64)
    if element == "bf16":
        # Round to a multiple of the last place of bf16, which f64 holds exactly; a result beyond the largest is
        # infinity.
        mantissa, exponent = np.frexp(values)
        last = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
        rounded = np.where(np.isfinite(values), np.rint(values / last) * last, values)
        return np.where(np.abs(rounded) > LARGEST["bf16"], np.copysign(np.inf, rounded), rounded)
    return values


class Bounded:
    __array_priority__ = 100
    __slots__ = ("value", "error", "unit", "tiny")

    def __init__(self, value, error=0.0, unit=0.0, tiny=0.0):
        self.value = np.asarray(value, dtype=np.float64)
        error = np.asarray(error, dtype=np.float64)
        # Infinity minus infinity, or times zero, bounds nothing, although comparisons with NaN would make the bound
        # zero.
        self.error = np.broadcast_to(np.where(np.isnan(error), np.inf, error), self.value.shape)
        self.unit, self.tiny = unit, tiny

    shape = property(lambda self: self.value.shape)

    def noisy(self, unit, tiny=0.0):
        """The same number, on which every further operation rounds with an error of `unit`."""
        return Bounded(self.value, self.error, max(unit, self.unit), max(tiny, self.tiny))

    def loosened(self, relative):
        """The same number with a further relative error."""
        return Bounded(self.value, self.error + relative * np.abs(self.value), self.unit, self.tiny)

    def inner(self):
        """The same number, inside of an op of several operations: they may overflow or underflow on the way."""
        return self.noisy(FUNCTION, 2.0 ** -120)

    def exact(self):
        """The same number, on which further operations round no more than the rounding of their result."""
        return Bounded(self.value, self.error)

    def rounded(self, element):
        """As stored in a type. Where the number was known exactly it still is."""
        value = to_type(self.value, element)
        if element not in UNIT:
            return Bounded(value, self.error)
        low, high = to_type(self.value - self.error, element), to_type(self.value + self.error, element)
        with np.errstate(invalid="ignore"):
            error = np.maximum(high - value, value - low)
        return Bounded(value, np.where(self.error == 0, 0.0, error))

    # --- elementwise ---------------------------------------------------------

    def _made(self, value, error, *others):
        unit = max([self.unit] + [other.unit for other in others])
        tiny = max([self.tiny] + [other.tiny for other in others])
        if unit:
            error = error + unit * np.abs(value) + tiny
        return Bounded(value, error, unit, tiny)

    def apply(self, function, own=0.0, least=0.0):
        """`function` of every element, which is monotonic between here and the ends of the bound, or nearly; `own` is its
        relative error, of numbers of at least the size `least`."""
        value = function(self.value)
        error = own * np.maximum(np.abs(value), least)
        if self.error.any():
            step = np.maximum(np.abs(function(self.value + self.error) - value), np.abs(function(self.value - self.error) - value))
            error = error + np.where(self.error == 0, 0.0, 2 * step)
        return self._made(value, error)

    def __add__(self, other):
        other = bounded(other)
        return self._made(self.value + other.value, self.error + other.error, other)

    def __sub__(self, other):
        other = bounded(other)
        return self._made(self.value - other.value, self.error + other.error, other)

    def __mul__(self, other):
        other = bounded(other)
        error = (scaled(np.abs(self.value), other.error) + scaled(np.abs(other.value), self.error)
                 + scaled(self.error, other.error))
        return self._made(self.value * other.value, error, other)

    def __truediv__(self, other):
        return self.over(bounded(other))

    def over(self, other, least=0.0):
        """The quotient by a number that is never smaller than `least`."""
        value = self.value / other.value
        nearest = np.maximum(np.abs(other.value) - other.error, least)
        error = (self.error + scaled(np.abs(value), other.error)) / np.where(nearest > 0, nearest, np.nan)
        return self._made(value, np.where((self.error == 0) & (other.error == 0), 0.0, error), other)

    __radd__ = __add__

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return bounded(other) - self

    def __rtruediv__(self, other):
        return bounded(other) / self

    def __neg__(self):
        return Bounded(-self.value, self.error, self.unit, self.tiny)

    def maximum(self, other):
        """NaN wins."""
        other = bounded(other)
        return self._pick(other, np.maximum(self.value, other.value), self.value >= other.value)

    def minimum(self, other):
        other = bounded(other)
        return self._pick(other, np.minimum(self.value, other.value), self.value <= other.value)

    def _pick(self, other, value, mine):
        near = np.abs(self.value - other.value) <= self.error + other.error
        error = np.where(near, np.maximum(self.error, other.error), np.where(mine, self.error, other.error))
        return Bounded(value, error, max(self.unit, other.unit), max(self.tiny, other.tiny))

    def where(self, one, other):
        """Chooses by flags, of which an error of more than zero says that either may come."""
        one, other = bounded(one), bounded(other)
        value = np.where(self.value != 0, one.value, other.value)
        error = np.where(self.value != 0, one.error, other.error)
        if self.error.any():
            gap = np.abs(one.value - other.value) + one.error + other.error
            error = np.where(self.error > 0, gap, error)
        return Bounded(value, error, max(one.unit, other.unit), max(one.tiny, other.tiny))

    def relation(self, name, other):
        """0 or 1; with an error of one if the bounds leave it open."""
        other = bounded(other)
        truth = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                 "ge": np.greater_equal}[name](self.value, other.value)
        margin = self.error + other.error
        open_ = (margin > 0) & ~(np.abs(self.value - other.value) > margin)
        return Bounded(truth.astype(np.float64), open_.astype(np.float64))

    # --- along dimensions ----------------------------------------------------

    def sum(self, dims, keepdims=True, unit=None):
        """In any order; additions round as in `unit`, that of f32 if not given."""
        dims = tuple(dims)
        count = math.prod(self.shape[d] for d in dims)
        value = self.value.sum(axis=dims, keepdims=keepdims)
        error = self.error.sum(axis=dims, keepdims=keepdims)
        unit = UNIT["f32"] if unit is None else unit
        if count > 1:
            error = error + count * unit * np.abs(self.value).sum(axis=dims, keepdims=keepdims)
        return self._made(value, error)

    def mean(self, dims, keepdims=True):
        count = math.prod(self.shape[d] for d in dims)
        return self.sum(dims, keepdims) * (1.0 / count if count else np.nan)

    def max(self, dims, keepdims=True):
        value = self.value.max(axis=tuple(dims), keepdims=keepdims)
        return Bounded(value, self.error.max(axis=tuple(dims), keepdims=keepdims), self.unit, self.tiny)

    def matmul(self, other, element=None):
        """The product of the last two dimensions, summed in f32 in any order. CPUs' dot products of bf16 may take subnormal
        numbers as zero, of operands and of sums."""
        value = self.value @ other.value
        error = self.error @ np.abs(other.value) + np.abs(self.value) @ other.error + self.error @ other.error
        sizes = np.abs(self.value) @ np.abs(other.value)
        error = error + (self.shape[-1] + 1) * UNIT["f32"] * sizes
        if element == "bf16":
            lost = self._subnormal() @ np.abs(other.value) + np.abs(self.value) @ other._subnormal()
            error = error + lost + np.where((sizes > 0) & (sizes < 2.0 ** -100), self.shape[-1] * NORMAL, 0.0)
        return self._made(value, error, other)

    def _subnormal(self):
        """Sizes of the elements that may be below the least normal number, and zero for all others."""
        return np.where(np.abs(self.value) - self.error < NORMAL, np.minimum(np.abs(self.value), NORMAL), 0.0)

    # --- where elements are --------------------------------------------------

    def moved(self, function):
        """`function` only moves, repeats or leaves out elements."""
        return Bounded(function(self.value), function(self.error), self.unit, self.tiny)

    def reshape(self, shape):
        return self.moved(lambda a: a.reshape(shape))

    def transpose(self, order):
        return self.moved(lambda a: a.transpose(order))

    def swapped(self):
        """With the last two dimensions in the other order."""
        return self.moved(lambda a: np.swapaxes(a, -1, -2))

    def broadcast(self, shape):
        return self.moved(lambda a: np.broadcast_to(a, shape))

    def __getitem__(self, index):
        return self.moved(lambda a: a[index])


def scaled(factor, error):
    """factor * error, zero for an error of zero and any factor."""
    return np.where(error == 0, 0.0, factor * error)


def bounded(number):
    return number if isinstance(number, Bounded) else Bounded(number)


def reduced_to(number, shape):
    """The adjoint of broadcasting: the sum over dimensions that `shape` lacks or has a one in."""
    extra = len(number.shape) - len(shape)
    dims = list(range(extra)) + [extra + i for i, size in enumerate(shape) if size == 1 and number.shape[extra + i] != 1]
    if dims:
        number = number.sum(dims)
    return number.reshape(shape)


# --- functions ---------------------------------------------------------------

def exp(x):
    return x.apply(np.exp, FUNCTION)


def log(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return x.apply(np.log, FUNCTION)


def log1p(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return x.apply(np.log1p, FUNCTION)


def expm1(x):
    return x.apply(np.expm1, FUNCTION)


def sqrt(x):
    with np.errstate(invalid="ignore"):
        return x.apply(np.sqrt)


def root_of_squares(x):
    """The square root of a number that cannot be negative, however uncertain."""
    root = np.sqrt(np.maximum(x.value, 0))
    error = np.maximum(np.sqrt(np.maximum(x.value, 0) + x.error) - root, root - np.sqrt(np.maximum(x.value - x.error, 0)))
    return x._made(root, error)


def tanh(x):
    return x.apply(np.tanh, FUNCTION)


def sigmoid(x):
    # exp(-x) overflows before the result is too small for the type.
    return x.apply(lambda a: 1 / (1 + np.exp(-a)), FUNCTION, 2.0 ** -100)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def erf(x):
    return x.apply(_erf, FUNCTION)


def sign(x):
    return x.apply(np.sign)


def absolute(x):
    return x.apply(np.abs)


def floor(x):
    return x.apply(np.floor)


def sine(x):
    return x.apply(np.sin, FUNCTION)


def cosine(x):
    return x.apply(np.cos, FUNCTION)

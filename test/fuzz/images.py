"""Ops on images with channels last: pools, other sizes, sums of neighbouring channels."""

import numpy as np

import elementwise
from bounded import FUNCTION, UNIT, Bounded
from graph import Type


def images(g):
    """A value of rank 4, or images of random sizes."""
    found = g.pick(lambda v: v.type.is_float and len(v.type.shape) == 4 and v.type.size)
    if found and g.chance(60):
        return found
    element = g.choice([v.type.element for v in g.values if v.type.is_float] or ["f32"])
    return g.input(Type(element, (1 + g.below(3), 1 + g.below(7), 1 + g.below(7), g.choice([1, 2, 3, 5, 8, 17]))))


# --- pools ---------------------------------------------------------------------

class Slide:
    """A dimension: the taps of each place as {tap: element}, and how many its mean counts."""

    def __init__(self, taps, counts, text=None):
        self.taps, self.counts, self.text = taps, counts, text
        self.most = 1 + max((tap for place in taps for tap in place), default=0)

    @staticmethod
    def bins(elements, places):
        begins = [i * elements // places for i in range(places)]
        ends = [-((-(i + 1) * elements) // places) for i in range(places)]
        taps = [{e - begin: e for e in range(begin, end)} for begin, end in zip(begins, ends)]
        return Slide(taps, [len(place) for place in taps])

    @staticmethod
    def window(g, elements, ceil, dilates, counts_padding):
        """None if the window does not fit."""
        size, stride = 1 + g.below(4), 1 + g.below(3)
        dilation = 1 + g.below(2) if dilates else 1
        low, high = g.below(size // 2 + 1), g.below(size // 2 + 1)
        span, begin, begins = (size - 1) * dilation + 1, -low, []
        # Windows that end within the padding, or by ceil_mode begin before it.
        while begin + span <= elements + high or (ceil and begin < elements and begin + span - stride < elements + high):
            begins.append(begin)
            begin += stride
        if not begins:
            return None
        within = lambda e, end: 0 <= e < end
        taps = [{t: first + t * dilation for t in range(size) if within(first + t * dilation, elements)} for first in begins]
        counts = [sum(first + t < elements + high for t in range(size)) if counts_padding else len(place)
                  for first, place in zip(begins, taps)]
        slide = Slide(taps, counts, (size, stride, low, high, dilation))
        slide.most = size
        return slide


class Pool:
    def __init__(self, shape, down, across):
        self.shape, self.down, self.across = shape, down, across
        self.result = (shape[0], len(down.taps), len(across.taps), shape[3])

    def patches(self, x, fill):
        """[taps, images, places, places, channels]: elements by tap, `fill` where there is none; and which exist."""
        count = self.down.most * self.across.most
        out, exists = np.full((count, *self.result), fill), np.zeros((count, *self.result), bool)
        for p, rows in enumerate(self.down.taps):
            for q, columns in enumerate(self.across.taps):
                for t, row in rows.items():
                    for u, column in columns.items():
                        out[t * self.across.most + u, :, p, q] = x[:, row, column]
                        exists[t * self.across.most + u, :, p, q] = True
        return out, exists

    def spread(self, parts):
        """The adjoint of `patches`."""
        out = np.zeros(self.shape)
        for p, rows in enumerate(self.down.taps):
            for q, columns in enumerate(self.across.taps):
                for t, row in rows.items():
                    for u, column in columns.items():
                        out[:, row, column] += parts[t * self.across.most + u, :, p, q]
        return out

    def spread_bounded(self, parts):
        value = self.spread(parts.value)
        error = self.spread(parts.error) + self.covers * UNIT["f32"] * self.spread(np.abs(parts.value))
        return parts._made(value, error)

    @property
    def covers(self):
        return len(self.down.taps) * len(self.across.taps)

    @property
    def counts(self):
        return np.outer(self.down.counts, self.across.counts)[None, :, :, None].astype(float)


def window_text(down, across, names):
    both = dict(zip(("window", "strides", "low", "high", "dilations"), zip(down.text, across.text)))
    return "".join(f" {name}{list(both[name])}" for name in names)


def max_op(g, operand, head, pool, attributes):
    def forward(x):
        value, exists = pool.patches(x.value, -np.inf)
        return Bounded(value.max(0), np.where(exists, pool.patches(x.error, 0.0)[0], 0.0).max(0), x.unit, x.tiny)

    def backward(gradient, operands, _):
        value, exists = pool.patches(operands[0].value, -np.inf)
        error = pool.patches(operands[0].error, 0.0)[0]
        first = (np.cumsum(value == value.max(0), 0) == 1) & (value == value.max(0))
        may = exists & (value + error >= (value - error).max(0))
        is_open = may & (may.sum(0) > 1) & (np.where(may, error, 0).max(0) > 0)
        chosen = Bounded((first & exists).astype(float), is_open.astype(float))
        return [pool.spread_bounded(gradient.broadcast((len(value), *pool.result)) * chosen)]

    return g.add(head, [operand], Type(operand.type.element, pool.result), forward, backward, attributes=attributes)


def mean_op(g, operand, head, pool, attributes):
    def forward(x):
        terms, errors = pool.patches(x.value, 0.0)[0], pool.patches(x.error, 0.0)[0]
        value = terms.sum(0) / pool.counts
        error = (errors.sum(0) + (len(terms) + 1) * UNIT["f32"] * np.abs(terms).sum(0)) / pool.counts
        return x._made(value, np.where(np.abs(terms).sum(0) + errors.sum(0) > 0, error, 0.0))

    def backward(gradient, operands, _):
        parts = gradient.noisy(2 * UNIT["f32"]) * (1.0 / pool.counts)
        return [pool.spread_bounded(parts.broadcast((pool.down.most * pool.across.most, *pool.result)))]

    return g.add(head, [operand], Type(operand.type.element, pool.result), forward, backward, attributes=attributes)


def pool2d(g):
    operand = images(g)
    is_max, ceil, counts_padding = g.chance(50), g.chance(40), g.chance(60)
    slides = [Slide.window(g, size, ceil, is_max, counts_padding) for size in operand.type.shape[1:3]]
    if not all(slides):
        return None
    pool = Pool(operand.type.shape, *slides)
    names = ["window", "strides", "low", "high"] + (["dilations"] if is_max else [])
    text = window_text(*slides, names)
    if is_max:
        # A window may lie between elements, and have none.
        if not all(place for slide in slides for place in slide.taps):
            return None
        return max_op(g, operand, "mp.max_pool2d", pool, text + (" ceil_mode" if ceil else ""))
    text += ("" if counts_padding else " exclude_pad") + (" ceil_mode" if ceil else "")
    return mean_op(g, operand, "mp.avg_pool2d", pool, text)


def adaptive_pool2d(g):
    operand = images(g)
    size = [1 + g.below(6), 1 + g.below(6)]
    pool = Pool(operand.type.shape, *(Slide.bins(n, places) for n, places in zip(operand.type.shape[1:3], size)))
    op, head = (max_op, "mp.adaptive_max_pool2d") if g.chance(50) else (mean_op, "mp.adaptive_avg_pool2d")
    return op(g, operand, head, pool, f" size{size}")


# --- other sizes ---------------------------------------------------------------

def weights(elements, places, mode, real):
    """[places, elements]: what each pixel of the result takes, computed as the dialect says."""
    matrix = np.zeros((places, elements))
    for place in range(places):
        if elements == places:
            matrix[place, place] = 1
            continue
        if mode == "nearest":
            scale = np.float32(elements) / np.float32(places)
            matrix[place, min(int(np.floor(np.float32(place) * scale)), elements - 1)] = 1
            continue
        if mode == "corners":
            at = real(place) * (real(elements - 1) / real(places - 1)) if places > 1 else real(0)
        else:
            at = max((real(place) + real(0.5)) * (real(elements) / real(places)) - real(0.5), real(0))
        first = min(int(at), elements - 1)
        part = min(at - real(first), real(1))
        matrix[place, first] += float(real(1) - part)
        matrix[place, min(first + 1, elements - 1)] += float(part)
    return matrix


def mapped(x, down, across, noise):
    """Images by matrices of rows and columns; `noise` bounds the relative error of a term."""
    apply = lambda a, d, c: np.einsum("ph,qw,nhwc->npqc", d, c, a)
    error = apply(x.error, np.abs(down), np.abs(across)) + noise * apply(np.abs(x.value), np.abs(down), np.abs(across))
    return x._made(apply(x.value, down, across), error)


def upsample(g):
    operand = images(g)
    mode, size = g.choice(["nearest", "middles", "corners"]), [1 + g.below(9), 1 + g.below(9)]
    real = np.float64 if operand.type.element == "f64" else np.float32
    down, across = (weights(n, places, mode, real) for n, places in zip(operand.type.shape[1:3], size))
    noise = 0.0 if mode == "nearest" else 8 * UNIT["f32"]

    def backward(gradient, *_):
        terms = down.shape[0] * across.shape[0] + 8
        return [mapped(gradient, down.T, across.T, terms * UNIT["f32"])]

    head = "mp.upsample_nearest" if mode == "nearest" else "mp.upsample_bilinear"
    shape = (operand.type.shape[0], *size, operand.type.shape[3])
    return g.add(head, [operand], Type(operand.type.element, shape), lambda x: mapped(x, down, across, noise), backward,
                 attributes=f" size{size}" + (" align_corners" if mode == "corners" else ""))


# --- boxes ---------------------------------------------------------------------

def box_weights(elements, places, begin, extent):
    """[places, elements]: what each place of a box's side takes, with places computed in f32."""
    real, matrix = np.float32, np.zeros((places, elements))
    for place in range(places):
        at = (real(place) + real(0.5)) * (real(extent) / real(places)) - real(0.5)
        at = min(max(at, real(0)), max(real(extent) - real(1), real(0))) + (real(begin) - np.floor(real(begin)))
        first, part = np.floor(real(begin)) + np.floor(at), float(at - np.floor(at))
        for number, weight in ((first, 1 - part), (first + 1, part)):
            matrix[place, int(min(max(number, 0), elements - 1))] += weight
    return matrix


def crop_resize(g):
    """Bytes, cast to numbers: an image without a gradient."""
    count, height, width, channels = (1 + g.below(n) for n in (3, 7, 7, 4))
    size, fraction = [1 + g.below(5), 1 + g.below(5)], g.choice([1, 4])
    sides = [g.rng.integers(low * fraction, high * fraction + 1, count) / fraction
             for low, high in ((-1, height - 1), (-1, width - 1), (1, height), (1, width))]
    pixels = g.input(Type("ui8", (count, height, width, channels)), g.rng.integers(0, 256, (count, height, width, channels)))
    box = [g.input(Type("f32", (count,)), side) for side in sides]
    # Nothing else reads them: a difference would move the box.
    g.values = [value for value in g.values if value not in box]

    def forward(x, *_):
        mixed = np.stack([np.einsum("ph,qw,hwc->pqc", box_weights(height, size[0], top, tall),
                                    box_weights(width, size[1], left, wide), image)
                          for image, top, left, tall, wide in zip(x.value, *sides)])
        # A sum so near to a tie may be rounded either way.
        return Bounded(np.rint(mixed), (np.abs(mixed - np.floor(mixed) - 0.5) < 2e-4).astype(float))

    made = g.add("mp.crop_resize", [pixels, *box], Type("ui8", (count, *size, channels)), forward, attributes=f" size{size}",
                 tail=f"{pixels.type}, {box[0].type}")
    return made and elementwise.cast(g, made, "f32")


# --- moved images ---------------------------------------------------------------

def moved(array, rows, columns, mirrored):
    """Element [y, x] of an image is its [y + row, x + column], with x from the right edge where it is mirrored, or 0."""
    result = np.zeros_like(array)
    height, width = array.shape[1:3]
    for image, row, column, mirror in zip(range(len(array)), rows, columns, mirrored):
        for y in range(height):
            for x in range(width):
                at = y + row, (width - 1 - x if mirror else x) + column
                if 0 <= at[0] < height and 0 <= at[1] < width:
                    result[image, y, x] = array[image, at[0], at[1]]
    return result


def augment_images(g):
    """Of bytes, which are cast to numbers, or of numbers, without a gradient. Graphs are run as they train."""
    images = g.pick(lambda v: v.type.is_float and len(v.type.shape) == 4) if g.chance(50) else None
    if images is None:
        shape = tuple(1 + g.below(n) for n in (4, 7, 7, 4))
        images = g.input(Type("ui8", shape), g.rng.integers(0, 256, shape))
    count, height, width, _ = images.type.shape
    moves = [g.rng.integers(-size - 1, size + 2, count) for size in (height, width)]
    flags = g.rng.integers(0, 2, count) * (g.below(3) > 0)
    numbers = [g.input(Type("i32", (count,)), move) for move in moves]
    mirror = [g.input(Type("i1", (count,)), flags)] if flags.any() else []
    # Nothing else reads them: a difference would move the images.
    g.values = [value for value in g.values if value not in numbers + mirror]
    made = g.add("mp.augment_images", [images, *numbers, *mirror], images.type,
                 lambda x, *_: x._made(*(moved(array, *moves, flags) for array in (x.value, x.error))), listed=3,
                 attributes="".join(f" mirrored({flag.name} : {flag.type})" for flag in mirror), hidden=1)
    if made is None:
        return None
    if made.type.element == "ui8":
        return elementwise.cast(g, made, "f32")
    # An error where its gradient is asked for.
    return g.add("mp.stop_gradient", [made], made.type, lambda x: x)


# --- sums of neighbouring channels -----------------------------------------------

def window_sums(x, size, low):
    """Sums along the last dimension, in f32."""
    def add(array):
        padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(low, size - 1 - low)])
        return sum(padded[..., i:i + array.shape[-1]] for i in range(size))

    return x._made(add(x.value), add(x.error) + (size > 1) * size * UNIT["f32"] * add(np.abs(x.value)))


def window_sum(g):
    operand = g.pick_float(1)
    if operand is None:
        return None
    size = 1 + g.below(6)
    low = g.below(size)
    return g.add("mp.window_sum", [operand], operand.type, lambda x: window_sums(x, size, low),
                 lambda gradient, *_: [window_sums(gradient, size, size - 1 - low)], attributes=f" size({size}) low({low})")


def local_response_norm(g):
    operand = g.pick_float(1)
    if operand is None:
        return None
    size, alpha, beta, k = 1 + g.below(5), g.choice([0.0001, 0.25, 1.0]), g.choice([0.75, 0.5, 1.0, 0.625]), g.choice([1.0, 2.0])

    def parts(x):
        squares = window_sums(x.inner() * x.inner(), size, size // 2)
        denominator = squares * (alpha / size) + k
        return denominator, denominator.apply(lambda a: np.maximum(a, k) ** beta, FUNCTION)

    def backward(gradient, operands, _):
        x = operands[0].inner()
        denominator, power = parts(x)
        direct = gradient.inner().over(power, k ** beta)
        sums = window_sums(direct * x / denominator, size, size - 1 - size // 2)
        return [direct - x * sums * (2 * beta * alpha / size)]

    return g.add("mp.local_response_norm", [operand], operand.type, lambda x: x.inner().over(parts(x)[1], k ** beta), backward,
                 attributes=f" size({size}) {{alpha = {alpha:.1e}, beta = {beta}, k = {k}}}".replace("e-04", "e-4"))

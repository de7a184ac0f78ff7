"""Losses."""

import numpy as np

import bounded as b
from bounded import Bounded
from graph import Type
from reductions import log_softmax_of


def reduced(loss, how, count=None):
    if how == "none":
        return loss
    total = loss.sum(range(len(loss.shape)), keepdims=False)
    return total / (count if count is not None else float(loss.value.size)) if how == "mean" else total


def spread(gradient, how, shape, count=None):
    """The gradient that arrives at each element's loss."""
    if how == "none":
        return gradient
    gradient = gradient / (count if count is not None else float(np.prod(shape))) if how == "mean" else gradient
    return gradient.broadcast(shape)


def huber(delta):
    def value(x, y):
        z = b.absolute(x - y)
        return z.relation("le", delta).where(z * z * 0.5, (z - 0.5 * delta) * delta)

    def slope(x, y):
        z = x - y
        return b.absolute(z).relation("le", delta).where(z, b.sign(z) * delta)
    return value, slope


def smooth_l1(beta):
    value, slope = huber(beta)
    return lambda x, y: value(x, y) * (1 / beta), lambda x, y: slope(x, y) * (1 / beta)


def logits_loss(x, y):
    """max(x, 0) - x y + log(1 + exp(-|x|))"""
    return x.maximum(0) - x * y + b.log1p(b.exp(-b.absolute(x)))


#: of equal shapes, head and attributes: (loss of an element, slope for the input, slope for the target)
PAIRS = {
    "mp.mse_loss": (lambda x, y: (x - y) * (x - y), lambda x, y: (x - y) * 2.0, lambda x, y: (y - x) * 2.0),
    "mp.l1_loss": (lambda x, y: b.absolute(x - y), lambda x, y: b.sign(x - y), lambda x, y: b.sign(y - x)),
    "mp.huber_loss {delta = 0.75}": (huber(0.75)[0], huber(0.75)[1], lambda x, y: -huber(0.75)[1](x, y)),
    "mp.smooth_l1_loss {beta = 0.5}": (smooth_l1(0.5)[0], smooth_l1(0.5)[1], lambda x, y: -smooth_l1(0.5)[1](x, y)),
    "mp.binary_cross_entropy_with_logits": (logits_loss, lambda x, y: b.sigmoid(x) - y, lambda x, y: -x),
}


def pair_loss(g, how=None):
    x = g.pick_float(rank=1)
    if x is None or not x.type.size:
        return None
    y = g.pick(lambda v: v.type == x.type)
    if y is x or g.chance(40):
        y = g.input(x.type)
    name = g.choice(list(PAIRS))
    how = how or g.choice(["mean", "mean", "sum", "none"])
    loss, *slopes = PAIRS[name]
    head, _, attributes = name.partition(" ")

    def backward(gradient, operands, _):
        each = spread(gradient, how, x.type.shape)
        return [each * slope(*operands) for slope in slopes]

    return g.add(head, [x, y], x.type if how == "none" else Type(x.type.element, ()),
                 lambda p, q: reduced(loss(p.inner(), q), how), backward,
                 attributes=("" if how == "mean" else f" reduction({how})") + (attributes and f" {attributes}"))


def classified(g, x):
    """The dimension of the classes of scores, the shape of their rows, and the attribute that says it."""
    dim = 1 if g.chance(50) else g.below(len(x.type.shape))
    rows = x.type.shape[:dim] + x.type.shape[dim + 1:]
    return dim, rows, "" if dim == 1 and g.chance(80) else f" dim({dim})"


def label_type(g, classes, rows):
    return Type(g.choice(["ui8", "ui16", "i32", "ui32", "i64"] if classes <= 256 else ["ui16", "i32", "i64"]), rows)


def class_loss(g, how=None, x=None):
    """Cross-entropy of scores, or the negative log-likelihood of their logarithms, by labels of which some are ignored."""
    x = x or g.pick(lambda v: v.type.is_float and len(v.type.shape) >= 2 and v.type.size)
    if x is None:
        return None
    dim, rows, attribute = classified(g, x)
    classes = x.type.shape[dim]
    if classes < 2:
        return None
    labels = g.rng.integers(0, classes, rows)
    kind = label_type(g, classes, rows)
    if not kind.element.startswith("ui") and kind.size > 1 and g.chance(25):
        labels.flat[g.below(kind.size)] = -100
    label = g.input(kind, labels)
    how = how or g.choice(["mean", "mean", "sum", "none"])
    scores = g.chance(70)
    smoothing = 0.25 if scores and g.chance(30) else 0.0

    def target(chosen):
        index = chosen.value.astype(int)
        kept = (index != -100).astype(float)
        hot = np.moveaxis(np.eye(classes)[np.where(index == -100, 0, index)], -1, dim)
        return (hot * (1 - smoothing) + smoothing / classes) * np.expand_dims(kept, dim), kept

    def forward(p, chosen):
        weights, kept = target(chosen)
        p = p.inner()
        logs = log_softmax_of(p, dim) if scores else p
        each = (logs * Bounded(-weights)).sum([dim], keepdims=False)
        return reduced(each, how, kept.sum())

    def backward(gradient, operands, _):
        weights, kept = target(operands[1])
        each = spread(gradient, how, rows, kept.sum()).moved(lambda a: np.expand_dims(a, dim))
        if not scores:
            return [each * Bounded(-weights), None]
        probabilities = b.exp(log_softmax_of(operands[0], dim))
        return [each * (probabilities - Bounded(weights)) * Bounded(np.expand_dims(kept, dim)), None]

    return g.add("mp.cross_entropy" if scores else "mp.nll_loss", [x, label],
                 Type(x.type.element, rows if how == "none" else ()), forward, backward,
                 attributes=attribute + ("" if how == "mean" else f" reduction({how})")
                 + (" {label_smoothing = 2.5e-1}" if smoothing else ""))


def accuracy(g):
    x = g.pick(lambda v: v.type.is_float and len(v.type.shape) >= 2)
    if x is None:
        return None
    dim, rows, attribute = classified(g, x)
    classes = x.type.shape[dim]
    labels = g.rng.integers(0, classes, rows)
    kind = label_type(g, classes, rows)
    if not kind.element.startswith("ui") and kind.size and g.chance(25):
        labels.flat[g.below(kind.size)] = g.choice([-100, classes])
    label = g.input(kind, labels)
    k = 1 + g.below(min(classes, 5))
    share = g.add("mp.accuracy", [x, label], Type("f32", ()), lambda scores, chosen: accuracy_of(
        scores.moved(lambda a: np.moveaxis(a, dim, -1).reshape(-1, classes)), chosen, k),
        attributes=attribute + (f" {{top_k = {k}}}" if k > 1 else ""), hidden=1)
    # It has no gradient, which is an error where one is asked for.
    return share and g.add("mp.stop_gradient", [share], share.type, lambda x: x)


def accuracy_of(scores, chosen, k):
    """Open if rounding may have changed the rank of a label."""
    index = chosen.value.astype(int).ravel()
    is_class = (index >= 0) & (index < scores.shape[1])
    at = np.where(is_class, index, 0)[:, None]
    own, own_error = (np.take_along_axis(array, at, 1) for array in (scores.value, scores.error))
    # The order of torch.topk: NaN first, then by size; of equal ones the first.
    before = np.isnan(scores.value) | (scores.value > own) | (
        (scores.value == own) & (np.arange(scores.shape[1]) < at)) | np.isnan(own)
    right = is_class & (before.sum(axis=1) < k)
    margin = scores.error + own_error
    rivals = (np.abs(scores.value - own) <= margin) & (margin > 0)
    np.put_along_axis(rivals, at, False, 1)
    value = right.sum() / len(index)
    return Bounded(np.array(value), np.inf if (rivals.any(axis=1) & is_class).any() else b.UNIT["f32"] * value)


def binary_cross_entropy(g):
    """A loss of probabilities, which a sigmoid gives. Autocast refuses it."""
    x = g.pick_float(rank=1)
    if x is None or g.low:
        return None
    numbers = g.rng.integers(1, 16, x.type.shape) / 16
    p, y = g.input(x.type, numbers), g.input(x.type, g.rng.integers(0, 5, x.type.shape) / 4)

    def backward(gradient, operands, _):
        p, y = operands
        each = spread(gradient, "mean", x.type.shape)
        return [each * (p - y) / (p * (1 - p)), each * (b.log(1 - p) - b.log(p))]

    return g.add("mp.binary_cross_entropy", [p, y], Type(x.type.element, ()), lambda p, y: reduced(
        -(y * b.log(p.inner()) + (1 - y) * b.log(1 - p)), "mean"), backward)


def kl_div(g):
    x = g.pick_float(rank=1)
    if x is None:
        return None
    y = g.input(x.type, g.rng.integers(1, 16, x.type.shape) / 16)

    def backward(gradient, operands, _):
        p, q = operands
        each = spread(gradient, "mean", x.type.shape)
        return [-(each * q), each * (b.log(q) + 1 - p)]

    return g.add("mp.kl_div", [x, y], Type(x.type.element, ()),
                 lambda p, q: reduced(q * (b.log(q.inner()) - p), "mean"), backward)

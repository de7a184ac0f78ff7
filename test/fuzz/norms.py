"""Normalisations."""

import math

import bounded as b
from bounded import reduced_to
from graph import Type
from products import operand_like

EPS = 1e-5


def one_over_deviation(squares):
    """1 / sqrt(squares + eps) of mean squares, from f32 on, whatever the operand's type."""
    return 1 / b.sqrt(squares + EPS)


def normalised(x, dims, centre=True):
    """x over its deviation, and the numbers that the gradient needs."""
    x = x.inner()
    mean = x.mean(dims) if centre else None
    rest = x - mean if centre else x
    rstd = one_over_deviation((rest * rest).mean(dims))
    return rest * rstd, mean, rstd


def slope(gradient, x, dims, centre=True):
    """The gradient for x of the first of `normalised`."""
    unit, _, rstd = normalised(x, dims, centre)
    through = gradient - unit * (gradient * unit).mean(dims)
    return (through - gradient.mean(dims) if centre else through) * rstd


def affine(g, shape):
    """Weight and bias in f32, each there or not: operands by name."""
    names = [name for name in ("weight", "bias") if g.chance(70)]
    return {name: operand_like(g, "f32", shape) for name in names}


def text_of(operands):
    return "".join(f" {name}({value.name} : {value.type})" for name, value in operands.items())


def add_norm(g, head, operand, params, shape, dims, view, statistics, attributes="", last="",
             centre=True):
    """`view` is the operand's shape in which a norm runs over `dims`; parameters broadcast as `shape` to the operand's."""
    results = [operand.type] + [Type("f32", statistics)] * (2 if centre else 1)

    def parts(numbers):
        named = dict(zip(params, (number.reshape(shape) for number in numbers)))
        return named.get("weight"), named.get("bias")

    def forward(x, *numbers):
        weight, bias = parts(numbers)
        y, mean, rstd = normalised(x.reshape(view), dims, centre)
        y = y.reshape(x.shape)
        y = y * weight if weight is not None else y
        y = y + bias if bias is not None else y
        return (y, *(s.reshape(statistics) for s in ([mean, rstd] if centre else [rstd])))

    def backward(gradients, numbers, _):
        gradient, x = gradients[0], numbers[0]
        weight, _ = parts(numbers[1:])
        unit = normalised(x.reshape(view), dims, centre)[0].reshape(x.shape)
        inner = gradient * weight if weight is not None else gradient
        own = {"weight": gradient * unit, "bias": gradient}
        return [slope(inner.reshape(view), x.reshape(view), dims, centre).reshape(x.shape),
                *(reduced_to(own[name], shape).reshape(value.type.shape) for name, value in params.items())]

    return g.add(head, [operand, *params.values()], results, forward, backward, attributes=attributes + text_of(params) + last,
                 hidden=len(results) - 1, listed=1)


def layer_norm(g, operand=None, dims=None):
    """Over the last dimension, or the last two."""
    operand = operand or g.pick_float(rank=2)
    if operand is None or operand.type.element == "f64" or operand.type.shape[-1] < 3:
        return None
    shape, rms = operand.type.shape, g.chance(40)
    first = len(shape) - (dims or (2 if len(shape) > 2 and g.chance(30) else 1))
    params = affine(g, shape[first:])
    if rms:
        params.pop("bias", None)
    # The parameters give it if there are any.
    attributes = "" if params else f" normalized_shape{list(shape[first:])}"
    return add_norm(g, "mp.rms_norm" if rms else "mp.layer_norm", operand, params, shape[first:],
                    list(range(first, len(shape))), shape, shape[:first] + (1,) * (len(shape) - first), attributes,
                    " {eps = 1.0e-5}" if rms else "", not rms)


def channels_of(g, shape, dim=None):
    """The dimension of the channels, and how it is written: the second one unless given."""
    if dim is None:
        dim = len(shape) - 1 if g.chance(40) else 1 + g.below(len(shape) - 1)
    return dim, f" channel_dim({dim})" if dim != 1 or g.chance(10) else ""


def beside(shape, dim):
    """The shape in which a tensor of channels broadcasts."""
    return (shape[dim],) + (1,) * (len(shape) - dim - 1)


def group_norm(g):
    operand = g.pick(lambda v: v.type.element in ("f32", "f16", "bf16") and len(v.type.shape) >= 2)
    if operand is None:
        return None
    shape = operand.type.shape
    dim, text = channels_of(g, shape)
    groups = g.choice([n for n in range(1, shape[dim] + 1) if shape[dim] % n == 0])
    if math.prod(shape[1:]) // groups < 3:
        return None
    params = affine(g, (shape[dim],))
    view = (*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1:])
    dims = [d for d in range(1, len(view)) if d != dim]
    return add_norm(g, "mp.group_norm", operand, params, beside(shape, dim), dims, view, (shape[0], groups),
                    f" groups({groups}){text}")


def has_channels(value):
    return value.type.element in ("f32", "f16", "bf16") and len(value.type.shape) >= 2


def running_statistics(g, channels):
    return operand_like(g, "f32", (channels,)), g.input(Type("f32", (channels,)), 0.5 + g.rng.random(channels))


def batch_norm(g, operand=None, dim=None):
    """By the statistics of the batch, which the running ones follow."""
    operand = operand or g.pick(has_channels)
    if operand is None:
        return None
    shape = operand.type.shape
    dim, text = channels_of(g, shape, dim)
    channels, dims = shape[dim], [d for d in range(len(shape)) if d != dim]
    rows = operand.type.size // channels
    if rows < 3:
        return None
    channel, own = beside(shape, dim), (channels,)
    mean, var = running_statistics(g, channels)
    params, momentum = affine(g, own), g.choice([0.1, 0.25])

    def parts(numbers):
        return {name: number.reshape(channel) for name, number in zip(params, numbers)}

    def forward(x, old_mean, old_var, *numbers):
        p, x = parts(numbers), x.inner()
        y, middle, rstd = normalised(x, dims)
        rest = x - middle
        spread = (rest * rest).mean(dims) * (rows / (rows - 1))
        y = y * p["weight"] if "weight" in p else y
        y = y + p["bias"] if "bias" in p else y
        moved = [old.inner() * (1 - momentum) + new.reshape(own) * momentum
                 for old, new in ((old_mean, middle), (old_var, spread))]
        return y, middle.reshape(own), rstd.reshape(own), *moved

    def backward(gradients, numbers, _):
        gradient, x, p = gradients[0], numbers[0], parts(numbers[3:])
        unit = normalised(x, dims)[0]
        inner = gradient * p["weight"] if "weight" in p else gradient
        of = {"weight": gradient * unit, "bias": gradient}
        return [slope(inner, x, dims), None, None, *(reduced_to(of[name], channel).reshape(own) for name in p)]

    statistics = [Type("f32", own)] * 4
    y = g.add("mp.batch_norm", [operand, mean, var, *params.values()], [operand.type, *statistics], forward, backward, listed=3,
              attributes=text + text_of(params) + ("" if momentum == 0.1 else f" {{momentum = {momentum}}}"), hidden=4)
    if y:
        g.results += y.node.results[3:]
    return y


def batch_norm_inference(g):
    operand = g.pick(has_channels)
    if operand is None:
        return None
    shape = operand.type.shape
    dim, text = channels_of(g, shape)
    channel = beside(shape, dim)
    mean, var = running_statistics(g, shape[dim])
    params = affine(g, (shape[dim],))

    def parts(numbers):
        return {name: n.reshape(channel) for name, n in zip(["mean", "var", *params], numbers)}

    def unit_of(x, p):
        return (x - p["mean"]) * (1 / b.sqrt(p["var"] + EPS))

    def forward(x, *numbers):
        p = parts(numbers)
        y = unit_of(x.inner(), p)
        y = y * p["weight"] if "weight" in p else y
        return y + p["bias"] if "bias" in p else y

    def backward(gradient, numbers, _):
        x, p = numbers[0], parts(numbers[1:])
        rstd = 1 / b.sqrt(p["var"] + EPS)
        inner = gradient * p["weight"] if "weight" in p else gradient
        own = {"mean": -(inner * rstd), "var": inner * (x - p["mean"]) * rstd * rstd * rstd * -0.5,
               "weight": gradient * unit_of(x, p), "bias": gradient}
        return [inner * rstd, *(reduced_to(own[name], channel).reshape((shape[dim],)) for name in p)]

    operands = [operand, mean, var, *params.values()]
    return g.add("mp.batch_norm_inference", operands, operand.type, forward, backward, listed=3,
                 attributes=text + text_of(params))

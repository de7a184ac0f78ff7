"""Norms: results, statistics and gradients.

Statistics are f32 whatever the input is, and an f32 result of few terms; they are compared where the input is f32. Sums
are compared at the largest element: what a norm takes off may be as large as what is left."""

import torch
import torch.nn.functional as F

from cases import FLOATS, backward, forward

F32 = torch.float32
AFFINE = " weight(%b : {b}) bias(%c : {c})"


def norm(op, results, inputs, compute, constants="", ulps=None):
    """The first of so many results, forward and backward, and all results for f32. `ulps` are those of backward."""
    first = f"%r{''.join(f', %unused{i}' for i in range(1, results))} = {op}"
    yield forward(first, inputs, lambda *x: compute(*x)[0], at="largest")
    # The gradient of a row of one element is a difference of equal numbers.
    if inputs[0].shape[-1] > 1:
        yield backward(first, inputs, lambda *x: compute(*x)[0], constants=constants, ulps=ulps)
    if inputs[0].dtype == F32:
        yield forward(op, inputs, compute, at="largest")


def affine(generator, shape):
    return [1 + torch.randn(shape, generator=generator) / 4, torch.randn(shape, generator=generator)]


def layer(generator, dtype):
    for shape, dims, eps in (((4, 9), 1, None), ((2, 3, 5), 2, 1e-2), ((1, 17), 1, 1e-5), ((7, 1), 1, 1e-5)):
        x = (2 + 3 * torch.randn(shape, generator=generator)).to(dtype)
        trailing = shape[len(shape) - dims:]
        parameters = affine(generator, trailing)
        text = f" {{eps = {eps:.1e}}}" if eps else ""
        yield from norm(f"mp.layer_norm %a{AFFINE}{text} : {{a}}", 3, [x, *parameters],
                        lambda v, w, b: torch.native_layer_norm(v, trailing, w, b, eps or 1e-5))
        # Without an eps, that of f32 is used for 16-bit inputs too, as PyTorch does when it computes in these.
        squared = lambda v: v.square().mean(tuple(range(-dims, 0)), keepdim=True) + (eps or torch.finfo(F32).eps)
        yield from norm(f"mp.rms_norm %a weight(%b : {{b}}){text} : {{a}}", 2, [x, parameters[0]],
                        lambda v, w: (F.rms_norm(v, trailing, w, eps or torch.finfo(F32).eps), squared(v).rsqrt()))


def group(generator, dtype):
    for shape, groups in (((3, 4, 5), 2), ((1, 6, 3, 2), 3), ((2, 5, 4), 5), ((3, 8), 2)):
        x = (2 + 3 * torch.randn(shape, generator=generator)).to(dtype)
        n, c = shape[:2]
        yield from norm(f"mp.group_norm %a groups({groups}){AFFINE} : {{a}}", 3,
                        [x, *affine(generator, (c,))],
                        lambda v, w, b: torch.native_group_norm(v, w, b, n, c, v[0, 0].numel(), groups, 1e-5))


def batch(generator, dtype):
    types = "{a}, {d}, {e}"
    for shape, momentum in (((9, 5), 0.1), ((3, 4, 5), 0.5), ((2, 3, 3, 2), 0.1), ((1, 3, 7), 1.0)):
        x = (2 + 3 * torch.randn(shape, generator=generator)).to(dtype)
        channels = shape[1:2]
        inputs = [x, *affine(generator, channels), torch.randn(channels, generator=generator),
                  1 + torch.rand(channels, generator=generator)]

        def train(v, w, b, mean, var):
            mean, var = mean.detach().clone(), var.detach().clone()
            y, saved, rstd = torch.native_batch_norm(v, w, b, mean, var, True, momentum, 1e-5)
            return y, saved, rstd, mean, var

        yield from norm(f"mp.batch_norm %a, %d, %e{AFFINE} {{momentum = {momentum}}} : {types}", 5, inputs, train,
                        constants="de")
        op = f"mp.batch_norm_inference %a, %d, %e{AFFINE} : {types}"
        evaluate = lambda v, w, b, mean, var: F.batch_norm(v, mean.detach(), var.detach(), w, b, eps=1e-5)
        yield forward(op, inputs, evaluate, at="largest")
        # Gradients of parameters are f32, and are sums of as many terms as a channel has elements.
        yield backward(op, inputs, evaluate, constants="de", ulps=8 if dtype == F32 else 4)


def channels_last(generator, dtype):
    """Norms of images with the channels in another dimension than the second."""
    for shape, dim, groups in (((2, 3, 2, 6), 3, 3), ((3, 2, 4, 2), 2, 2), ((2, 5, 3), 2, 3), ((1, 2, 3, 17), 3, 1)):
        x = (2 + 3 * torch.randn(shape, generator=generator)).to(dtype)
        n, c = shape[0], shape[dim]
        # Gradients of parameters are f32, and are sums of as many terms as a channel has elements.
        ulps = 8 if dtype == F32 else 4
        text = f"channel_dim({dim}){AFFINE}"
        statistics = [torch.randn(c, generator=generator), 1 + torch.rand(c, generator=generator)]
        inputs = [x, *affine(generator, (c,)), *statistics]

        def train(v, w, b, mean, var):
            mean, var = mean.detach().clone(), var.detach().clone()
            y, saved, rstd = torch.native_batch_norm(v.movedim(dim, 1), w, b, mean, var, True, 0.25, 1e-5)
            return y.movedim(1, dim), saved, rstd, mean, var

        def evaluate(v, w, b, mean, var):
            return F.batch_norm(v.movedim(dim, 1), mean.detach(), var.detach(), w, b, eps=1e-5).movedim(1, dim)

        types = "{a}, {d}, {e}"
        yield from norm(f"mp.batch_norm %a, %d, %e {text} {{momentum = 0.25}} : {types}", 5, inputs, train, constants="de",
                        ulps=ulps)
        op = f"mp.batch_norm_inference %a, %d, %e {text} : {types}"
        yield forward(op, inputs, evaluate, at="largest")
        yield backward(op, inputs, evaluate, constants="de", ulps=ulps)

        def split(v, w, b):
            first = v.movedim(dim, 1).contiguous()
            y, mean, rstd = torch.native_group_norm(first, w, b, n, c, first[0, 0].numel(), groups, 1e-5)
            return y.movedim(1, dim), mean, rstd

        yield from norm(f"mp.group_norm %a groups({groups}) {text} : {{a}}", 3, inputs[:3], split, ulps=ulps)


def hard(generator):
    """A mean far larger than the deviation: E[x^2] - E[x]^2 would be 6 % off. The mean is rounded to f32, 2^-14 here, and
    that is 2^8 units of a result of two."""
    x = 1024 + torch.randn(4, 33, generator=generator)
    normalize = lambda v: torch.native_layer_norm(v, (33,), None, None, 1e-5)
    yield forward("%r, %m, %s = mp.layer_norm %a normalized_shape[33] : {a}", [x], lambda v: normalize(v)[0],
                  ulps=2**9, at="largest")
    yield forward("%y, %r, %r1 = mp.layer_norm %a normalized_shape[33] : {a}", [x], lambda v: normalize(v)[1:], at="largest")


def empty(generator):
    """No rows: no elements, and gradients of parameters are sums of nothing. No columns: a mean of nothing."""
    x = torch.randn(0, 6, generator=generator)
    w, b = affine(generator, (6,))
    yield from norm(f"mp.layer_norm %a{AFFINE} : {{a}}", 3, [x, w, b],
                    lambda v, w, b: torch.native_layer_norm(v, (6,), w, b, 1e-5))
    yield from norm(f"mp.group_norm %a groups(2){AFFINE} : {{a}}", 3, [x, w, b],
                    lambda v, w, b: torch.native_group_norm(v, w, b, 0, 6, 1, 2, 1e-5))
    op = f"mp.batch_norm_inference %a, %d, %e{AFFINE} : {{a}}, {{d}}, {{e}}"
    yield forward(op, [x, w, b, b, w], lambda v, w, b, m, s: F.batch_norm(v, m, s, w, b))
    yield forward("mp.layer_norm %a normalized_shape[0] : {a}", [torch.randn(3, 0, generator=generator)],
                  lambda v: (v, v.sum(1, keepdim=True) / 0, v.sum(1, keepdim=True) / 0))


def cases(generator):
    for dtype in FLOATS:
        yield from layer(generator, dtype)
        yield from group(generator, dtype)
        yield from batch(generator, dtype)
    yield from hard(generator)
    yield from empty(generator)
    for dtype in FLOATS:
        yield from channels_last(generator, dtype)

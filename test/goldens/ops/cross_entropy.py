"""Losses of classes."""

import itertools

import torch
import torch.nn.functional as F

from cases import FLOATS, adjoint, both, forward

REDUCTIONS = ("mean", "sum", "none")


def of_labels(generator):
    for dtype in FLOATS:
        logits = (2 * torch.randn(6, 5, generator=generator)).to(dtype)
        w = (0.25 + 2 * torch.rand(5, generator=generator)).to(dtype)
        ignoring = ((-100, [0, 4, 2, -100, 1, 2]), (2, [0, 4, 2, 3, 1, 2]))
        # 16-bit types use every fifth setting.
        settings = list(itertools.product(ignoring, (None, w), REDUCTIONS))[::1 if dtype == torch.float32 else 5]
        for (ignored, labels), weight, reduction in settings:
            y = torch.tensor(labels)
            inputs = [logits, y] + [weight] * (weight is not None)
            given = " weight(%c : {c})" if weight is not None else ""
            for smoothing in (0.0, 0.1, 1.0):
                op = (f"mp.cross_entropy %a, %b{given} reduction({reduction})"
                      f" {{ignore_index = {ignored}, label_smoothing = {smoothing}}} : {{a}}, {{b}}")
                yield from both(op, inputs, lambda x, y, c=None: F.cross_entropy(
                    x, y, c if c is None else c.detach(), ignore_index=ignored, label_smoothing=smoothing,
                    reduction=reduction), at="largest", constants="c")
            op = f"mp.nll_loss %a, %b{given} reduction({reduction}) {{ignore_index = {ignored}}} : {{a}}, {{b}}"
            yield from both(op, inputs, lambda x, y, c=None: F.nll_loss(
                x, y, c if c is None else c.detach(), ignore_index=ignored, reduction=reduction), at="largest", constants="c")


def of_probabilities(generator):
    for dtype in FLOATS:
        x = (2 * torch.randn(6, 5, generator=generator)).to(dtype)
        y = F.softmax(2 * torch.randn(6, 5, generator=generator), 1).to(dtype)
        w = (0.25 + 2 * torch.rand(5, generator=generator)).to(dtype)
        settings = list(itertools.product((None, w), REDUCTIONS, (0.0, 0.1)))[::1 if dtype == torch.float32 else 5]
        for weight, reduction, smoothing in settings:
            given = " weight(%c : {c})" if weight is not None else ""
            op = f"mp.cross_entropy %a, %b{given} reduction({reduction}) {{label_smoothing = {smoothing}}} : {{a}}, {{b}}"
            yield from both(op, [x, y] + [weight] * (weight is not None), lambda x, y, c=None: F.cross_entropy(
                x, y, c, label_smoothing=smoothing, reduction=reduction), at="largest")


def gradients(generator):
    """The gradient of the logits, and the gradient of that."""
    x, y = torch.randn(6, 5, generator=generator), torch.tensor([0, 4, 2, -100, 1, 2])
    w, p = 0.25 + torch.rand(5, generator=generator), F.softmax(torch.randn(6, 5, generator=generator), 1)
    for dtype in FLOATS:
        for reduction, target in itertools.product(("mean", "none"), (y, p.to(dtype))):
            g = torch.randn((6,) if reduction == "none" else (), generator=generator).to(dtype)
            op = (f"mp.cross_entropy_backward %a, %b, %c weight(%d : {{d}}) reduction({reduction}) {{label_smoothing = 0.1}}"
                  " : {a}, {b}, {c}")
            yield from both(op, [g, x.to(dtype), target, w.to(dtype)], adjoint(lambda v, y, c: F.cross_entropy(
                v, y, c.detach(), label_smoothing=0.1, reduction=reduction)), at="largest", constants="d")


def corners(generator):
    """Pixels, one class, no row that counts, no row, labels of 8 bits."""
    x, y = torch.randn(2, 5, 3, 4, generator=generator), torch.randint(0, 5, (2, 3, 4), generator=generator)
    y[0, 1] = -100
    w = 0.25 + 2 * torch.rand(5, generator=generator)
    for reduction in REDUCTIONS:
        op = f"mp.cross_entropy %a, %b weight(%c : {{c}}) reduction({reduction}) {{label_smoothing = 0.1}} : {{a}}, {{b}}"
        yield from both(op, [x, y, w], lambda x, y, c: F.cross_entropy(
            x, y, c.detach(), label_smoothing=0.1, reduction=reduction), at="largest", constants="c")
        op = f"mp.cross_entropy %a, %b reduction({reduction})"
        compute = lambda x, y: F.cross_entropy(x, y.long(), reduction=reduction)
        yield from both(op, [x[:, :1, 0, 0], torch.zeros(2, dtype=torch.int64)], compute, at="largest")
        yield from both(op, [x[:, :, 0, 0], torch.tensor([-100, -100])], compute, at="largest")
        yield from both(op, [x[:0, :, 0, 0], torch.zeros(0, dtype=torch.int64)], compute, at="largest")
        yield from both(op, [x[:, :, 0, 0], torch.tensor([4, 0], dtype=torch.uint8)], compute, at="largest")
        yield from both(op, [x[:, :, 0, 0], torch.tensor([-100, 2], dtype=torch.int32)], compute, at="largest")


def of_last(generator):
    """Classes in the last dimension, as words of a vocabulary are, and in the first."""
    y = torch.tensor([[0, 4, 2, -100], [1, 2, 3, 3]])
    for dtype in FLOATS:
        x = (2 * torch.randn(2, 4, 5, generator=generator)).to(dtype)
        w = (0.25 + 2 * torch.rand(5, generator=generator)).to(dtype)
        settings = list(itertools.product((None, w), REDUCTIONS, (0.0, 0.1)))[::1 if dtype == torch.float32 else 5]
        for (weight, reduction, smoothing), (dim, scores) in itertools.product(settings, ((2, x), (0, x.movedim(2, 0).contiguous()))):
            given = " weight(%c : {c})" if weight is not None else ""
            op = (f"mp.cross_entropy %a, %b{given} dim({dim}) reduction({reduction}) {{label_smoothing = {smoothing}}}"
                  " : {a}, {b}")
            yield from both(op, [scores, y] + [weight] * (weight is not None), lambda v, y, c=None: F.cross_entropy(
                v.movedim(dim, 1), y, c if c is None else c.detach(), label_smoothing=smoothing, reduction=reduction),
                at="largest", constants="c")
            op = f"mp.nll_loss %a, %b{given} dim({dim}) reduction({reduction}) : {{a}}, {{b}}"
            yield from both(op, [scores, y] + [weight] * (weight is not None), lambda v, y, c=None: F.nll_loss(
                v.movedim(dim, 1), y, c if c is None else c.detach(), reduction=reduction), at="largest", constants="c")
        p = F.softmax(2 * torch.randn(2, 4, 5, generator=generator), 2).to(dtype)
        yield from both("mp.cross_entropy %a, %b dim(2) : {a}, {b}", [x, p], lambda v, p: F.cross_entropy(
            v.movedim(2, 1), p.movedim(2, 1)), at="largest")
        top = lambda v, y, k: (v.topk(k, 2).indices == y[:, :, None]).any(2).double()
        for k in (1, 2):
            yield forward(f"mp.accuracy %a, %b dim(2) {{top_k = {k}}} : {{a}}, {{b}}", [x, y], lambda v, y: top(v, y, k).mean(),
                          dtypes=[torch.float32])
        yield forward("mp.accuracy %a, %b dim(2) reduction(sum) {top_k = 2} : {a}, {b}", [x, y],
                      lambda v, y: top(v, y, 2).sum(), dtypes=[torch.float32])
        yield forward("mp.accuracy %a, %b dim(2) reduction(none) : {a}, {b}", [x, y], lambda v, y: top(v, y, 1),
                      dtypes=[torch.float32])


def cases(generator):
    yield from of_labels(generator)
    yield from of_probabilities(generator)
    yield from gradients(generator)
    yield from corners(generator)
    yield from of_last(generator)

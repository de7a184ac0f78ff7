"""Losses of one tensor against another."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both

REDUCTIONS = ("mean", "sum", "none")


def pairs(name, function, input, target, settings="", reductions=REDUCTIONS):
    for reduction in reductions:
        yield from both(f"mp.{name} %a, %b reduction({reduction}){settings}", [input, target],
                        lambda x, y: function(x, y, reduction=reduction), at="largest")


def distances(generator):
    for dtype in FLOATS:
        x, y = ((2 * torch.randn(4, 7, generator=generator)).to(dtype) for _ in range(2))
        # Equal elements, where l1 has a kink and the others are flat; and some at the bound of 1.
        y[0, :3] = x[0, :3]
        x[1, 1], y[1, 1], x[1, 2], y[1, 2] = 2.5, 1.5, -0.5, 0.5
        # Types round a loss of any kind alike.
        some = REDUCTIONS if dtype == torch.float32 else ("none",)
        yield from pairs("mse_loss", F.mse_loss, x, y)
        yield from pairs("l1_loss", F.l1_loss, x, y, reductions=some)
        for beta in (1.0, 0.25, 3.0, 0.0):
            yield from pairs("smooth_l1_loss", lambda a, b, reduction: F.smooth_l1_loss(a, b, beta=beta, reduction=reduction),
                             x, y, f" {{beta = {beta}}}", some)
        for delta in (1.0, 0.25, 3.0):
            yield from pairs("huber_loss", lambda a, b, reduction: F.huber_loss(a, b, delta=delta, reduction=reduction),
                             x, y, f" {{delta = {delta}}}", some)
        # A target is broadcast, and a tensor is empty.
        yield from pairs("mse_loss", lambda a, b, reduction: F.mse_loss(a, b.expand_as(a), reduction=reduction), x, y[0], "", some)
        yield from pairs("mse_loss", F.mse_loss, x[:0], y[:0])
        # Far apart: only one side of the bound may count.
        far = torch.tensor([1e4, -3e4, 0.0]).to(dtype)
        yield from pairs("smooth_l1_loss", F.smooth_l1_loss, far, torch.zeros_like(far), reductions=("none", "mean"))
        yield from pairs("huber_loss", F.huber_loss, far, torch.zeros_like(far), reductions=("none", "mean"))


def divergences(generator):
    for dtype in FLOATS:
        x = F.log_softmax(2 * torch.randn(4, 7, generator=generator), 1).to(dtype)
        y = F.softmax(2 * torch.randn(4, 7, generator=generator), 1).to(dtype)
        for reduction in (*REDUCTIONS, "batchmean") if dtype == torch.float32 else ("batchmean",):
            yield from both(f"mp.kl_div %a, %b reduction({reduction})", [x, y],
                            lambda a, b: F.kl_div(a, b, reduction=reduction), at="largest")
            yield from both(f"mp.kl_div %a, %b reduction({reduction}) {{log_target}}", [x, y.log()],
                            lambda a, b: F.kl_div(a, b, reduction=reduction, log_target=True), at="largest")
        y[0, :3] = 0  # the gradient for y is NaN there
        yield from pairs("kl_div", F.kl_div, x, y, reductions=("sum",))


def cases(generator):
    yield from distances(generator)
    yield from divergences(generator)

"""Binary cross-entropy, of probabilities and of logits."""

import itertools

import torch
import torch.nn.functional as F

from cases import FLOATS, adjoint, both

REDUCTIONS = ("mean", "sum", "none")


def probabilities(generator):
    for dtype in FLOATS:
        x, y = (torch.rand(4, 7, generator=generator).to(dtype) for _ in range(2))
        w = (0.5 + torch.rand(7, generator=generator)).to(dtype)
        # Here the logarithms are bounded, and 1 - x would lose x.
        x[0, :6] = torch.tensor([0.0, 1.0, 0.0, 1.0, 1e-6, 1e-3])
        y[0, :6] = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
        inner = x.clamp(0.05, 0.95)
        for reduction in REDUCTIONS if dtype == torch.float32 else ("mean",):
            op = "mp.binary_cross_entropy %a, %b{} reduction({}) : {{a}}, {{b}}"
            yield from both(op.format("", reduction), [x, y],
                            lambda a, b: F.binary_cross_entropy(a, b, reduction=reduction), at="largest")
            for a in (x, inner):
                yield from both(op.format(" weight(%c : {c})", reduction), [a, y, w],
                                lambda a, b, c: F.binary_cross_entropy(a, b, c.detach(), reduction=reduction),
                                at="largest", constants="c")


def logits(generator):
    for dtype in FLOATS:
        x = (4 * torch.randn(4, 7, generator=generator)).to(dtype)
        y = torch.rand(4, 7, generator=generator).to(dtype)
        x[0, :6] = torch.tensor([30.0, -30.0, 90.0, -90.0, 12.0, 0.0])
        y[0, :6] = torch.tensor([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
        w, p = ((0.5 + 2 * torch.rand(7, generator=generator)).to(dtype) for _ in range(2))
        # 16-bit types use every fifth setting.
        settings = list(itertools.product(REDUCTIONS, (None, w), (None, p)))[::1 if dtype == torch.float32 else 5]
        for reduction, weight, positive in settings:
            inputs = [t for t in (x, y, weight, positive) if t is not None]
            names = iter("cd")
            text = "".join(f" {kind}(%{name} : {{{name}}})" for kind, given in (("weight", weight), ("pos_weight", positive))
                           if given is not None for name in [next(names)])

            def compute(a, b, *rest):
                rest = [r.detach() for r in rest]
                return F.binary_cross_entropy_with_logits(
                    a, b, weight=rest.pop(0) if weight is not None else None,
                    pos_weight=rest.pop(0) if positive is not None else None, reduction=reduction)
            yield from both(f"mp.binary_cross_entropy_with_logits %a, %b{text} reduction({reduction}) : {{a}}, {{b}}",
                            inputs, compute, at="largest", constants="cd")


def gradients(generator):
    """The gradients of the input, and the gradients of those."""
    for dtype in FLOATS:
        g, x = torch.randn((), generator=generator).to(dtype), (2 * torch.randn(4, 7, generator=generator)).to(dtype)
        y, p = (0.05 + 0.9 * torch.rand(4, 7, generator=generator).to(dtype) for _ in range(2))
        yield from both("mp.binary_cross_entropy_backward %a, %b, %c", [g, p, y], adjoint(F.binary_cross_entropy), at="largest")
        # One operand is used twice: its gradients add up.
        yield from both("mp.binary_cross_entropy_with_logits %a, %a : {a}, {a}", [x],
                        lambda v: F.binary_cross_entropy_with_logits(v, v), at="largest")
        yield from both("mp.binary_cross_entropy_with_logits_backward %a, %b, %c", [g, x, y],
                        adjoint(F.binary_cross_entropy_with_logits), at="largest")


def cases(generator):
    yield from probabilities(generator)
    yield from logits(generator)
    yield from gradients(generator)

"""Ops on one element at a time."""

import torch
import torch.nn.functional as F

from cases import FLOATS, backward, both, forward


def unary():
    wide = torch.cat([torch.linspace(-6, 6, 25), torch.tensor([0.0, -0.0, 1e-6, -1e-6, 30.0, -30.0])])
    smooth = torch.cat([torch.linspace(-6, 6, 24), torch.tensor([1e-3, -1e-3, 20.5, -20.5])])
    positive = torch.cat([torch.linspace(0.01, 9, 24), torch.tensor([1.0, 1e-6, 1e4])])
    functions = {
        "mp.relu %a": (wide, smooth, torch.relu),
        "mp.gelu %a": (wide, smooth, F.gelu),
        "mp.gelu %a approximate(tanh)": (wide, smooth, lambda x: F.gelu(x, approximate="tanh")),
        "mp.exp %a": (wide.clamp(max=9), smooth.clamp(max=9), torch.exp),
        "mp.log %a": (positive, positive, torch.log),
        "mp.tanh %a": (wide, smooth, torch.tanh),
        "mp.sigmoid %a": (wide, smooth, torch.sigmoid),
        "mp.softplus %a": (wide, smooth, F.softplus),
        "mp.softplus %a {beta = 2.0, threshold = 3.0}": (wide, smooth, lambda x: F.softplus(x, 2.0, 3.0)),
        "mp.sqrt %a": (positive, positive, torch.sqrt),
        "mp.abs %a": (wide, smooth, torch.abs),
        "mp.neg %a": (wide, smooth, torch.neg),
    }
    for op, (x, away, compute) in functions.items():
        # Far left gelu is a difference of nearly equal numbers, in PyTorch's f32 as in ours.
        at = "largest" if "gelu" in op else "element"
        for dtype in FLOATS:
            yield forward(op, [x.to(dtype)], compute, at=at)
            yield backward(op, [away.to(dtype)], compute)


def binary(generator):
    functions = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div,
                 "maximum": torch.maximum, "minimum": torch.minimum}
    for name, compute in functions.items():
        for dtype in FLOATS:
            a, b, row = (torch.randn(s, generator=generator).to(dtype) for s in ((3, 5), (3, 5), (5,)))
            yield from both(f"mp.{name} %a, %b", [a, b], compute)
            yield from both(f"mp.{name} %a, %b", [a, row], compute)
            yield from both(f"mp.{name} %a, %b", [a[:0], row], compute)


def cases(generator):
    yield from unary()
    yield from binary(generator)

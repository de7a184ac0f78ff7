"""Sums, means, extremes."""

import torch

from cases import FLOATS, both


def cases(generator):
    for dtype in FLOATS:
        x = torch.randn(3, 4, 5, generator=generator).to(dtype)
        for dims in ([0], [1], [2], [0, 2], [0, 1, 2]):
            yield from both(f"mp.sum %a dims{dims}", [x], lambda v: v.sum(dims), at="largest")
            yield from both(f"mp.mean %a dims{dims}", [x], lambda v: v.mean(dims), at="largest")
            yield from both(f"mp.max %a dims{dims}", [x], lambda v: v.amax(dims), ulps=0)
            yield from both(f"mp.min %a dims{dims}", [x], lambda v: v.amin(dims), ulps=0)
        yield from both("mp.sum %a dims[1] keepdim", [x], lambda v: v.sum(1, keepdim=True), at="largest")
        for dims in ([0], [1], [0, 1]):
            yield from both(f"mp.sum %a dims{dims}", [x[:0, 0].contiguous()], lambda v: v.sum(dims))
            yield from both(f"mp.mean %a dims{dims}", [x[:0, 0].contiguous()], lambda v: v.mean(dims))
    ties = torch.tensor([[1.0, 2.0, 2.0], [0.0, 0.0, 0.0]])
    yield from both("mp.max %a dims[1]", [ties], lambda v: v.amax(1), ulps=0)

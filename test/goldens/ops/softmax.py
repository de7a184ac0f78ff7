"""Softmax and its logarithm."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both, forward


def cases(generator):
    for dtype in FLOATS:
        x = (3 * torch.randn(4, 9, generator=generator)).to(dtype)
        for dim in (0, 1):
            yield from both(f"mp.softmax %a dim({dim})", [x], lambda v: F.softmax(v, dim), at="largest")
            yield from both(f"mp.log_softmax %a dim({dim})", [x], lambda v: F.log_softmax(v, dim), at="largest")
        # The gradient is computed from any result: torch's own function is of both.
        g, y = torch.randn(4, 9, generator=generator).to(dtype), F.softmax(x, 1)
        yield from both("mp.softmax_backward %a, %b dim(1)", [g, y], lambda g, y: y * (g - (g * y).sum(1, True)), at="largest")
        yield from both("mp.log_softmax_backward %a, %b dim(1)", [g, y.log()],
                        lambda g, y: g - y.exp() * g.sum(1, True), at="largest")
        yield from both("mp.softmax %a dim(1)", [x[:, :1].contiguous()], lambda v: F.softmax(v, 1), at="largest")
        yield from both("mp.softmax %a dim(1)", [x[:0]], lambda v: F.softmax(v, 1))
        yield from both("mp.log_softmax %a dim(0)", [x[:0]], lambda v: F.log_softmax(v, 0))
    huge = torch.tensor([[1e4, 0.0, -1e4], [-3e38, -3e38, -3e38]])
    yield forward("mp.softmax %a dim(1)", [huge], lambda v: F.softmax(v, 1))
    yield forward("mp.log_softmax %a dim(1)", [huge], lambda v: F.log_softmax(v, 1))

"""Norms, and the logarithm of a sum."""

import torch

from cases import FLOATS, adjoint, both, forward

INF = float("inf")


def norms(generator):
    for dtype in FLOATS:
        x = (2 * torch.randn(5, 3, 4, generator=generator)).to(dtype)
        x[1, 0, 2] = 0
        x[2, 1] = 0  # a vector of zeros
        x[3, 0] = x[3, 0, 0]
        for p in (2.0, 1.0, INF, -INF, 0.0, 3.0, 0.5, 1.5, 2.5, -1.0):
            order = str(p).replace(".0", "")
            for dims, keepdim in (([2], False), ([0, 2], True)):
                op = f"mp.norm %a dims{dims}{' keepdim' if keepdim else ''} p({order})"
                compute = lambda v: torch.linalg.vector_norm(v, p, dims, keepdim)
                if p == 0:
                    yield forward(op, [x], compute)
                else:
                    yield from both(op, [x], compute, at="largest", ulps=8 if dtype == torch.float32 else None)
        g, y = torch.randn(5, 3, generator=generator).to(dtype), x.where(x != 0, 1)
        for p in (2, 3, 1.5):
            yield from both(f"mp.norm_backward %a, %b dims[2] p({p}) : {{a}}, {{b}}", [g, y],
                            adjoint(lambda v: torch.linalg.vector_norm(v, p, 2)), at="largest",
                            ulps=8 if dtype == torch.float32 else None)
        yield from both("mp.norm %a dims[0, 1, 2]", [x], torch.linalg.vector_norm, at="largest")
        yield from both("mp.norm %a dims[1]", [x[:, :0, 0]], lambda v: torch.linalg.vector_norm(v, 2, 1))
        yield from both("mp.norm %a dims[0] p(1)", [x[:0, 0]], lambda v: torch.linalg.vector_norm(v, 1, 0))
    # Numbers beyond f16 are summed in f32.
    large = torch.tensor([[300.0, -400.0, 500.0]], dtype=torch.float16)
    yield from both("mp.norm %a dims[1]", [large], lambda v: torch.linalg.vector_norm(v, 2, 1), at="largest")
    yield forward("mp.norm %a dims[1]", [torch.tensor([[float("nan"), 1.0], [INF, 1.0]])],
                  lambda v: torch.linalg.vector_norm(v, 2, 1))


def log_sums(generator):
    for dtype in FLOATS:
        x = (3 * torch.randn(4, 3, 5, generator=generator)).to(dtype)
        x[0, 0, 1] = -INF
        for dims in ([0], [1], [2], [0, 2], [0, 1, 2]):
            yield from both(f"mp.logsumexp %a dims{dims}", [x], lambda v: v.logsumexp(dims), at="largest")
        g = torch.randn(4, 3, generator=generator).to(dtype)
        yield from both("mp.logsumexp_backward %a, %b dims[2] : {a}, {b}", [g, x], adjoint(lambda v: v.logsumexp(2)),
                        at="largest")
        yield from both("mp.logsumexp %a dims[2] keepdim", [x], lambda v: v.logsumexp(2, keepdim=True), at="largest")
        yield from both("mp.logsumexp %a dims[2]", [x[:, :, :1].contiguous()], lambda v: v.logsumexp(2), at="largest")
        odd = torch.tensor([[-INF, -INF, -INF], [INF, 1.0, 2.0], [float("nan"), 0.0, 1.0], [6e4, 6e4, -6e4]]).to(dtype)
        yield from both("mp.logsumexp %a dims[1]", [odd], lambda v: v.logsumexp(1), at="largest")
        yield from both("mp.logsumexp %a dims[0]", [odd[:0]], lambda v: v.logsumexp(0))


def cases(generator):
    yield from norms(generator)
    yield from log_sums(generator)

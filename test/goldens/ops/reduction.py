"""Sums, products, means, extremes."""

import torch

from cases import FLOATS, adjoint, both, forward


def products(generator):
    for dtype in FLOATS:
        x = torch.randn(4, 3, 5, generator=generator).to(dtype)
        # Rows without a zero, with one, with two and with zeros alone.
        x[1, :, 2] = 0
        x[2, :, 1], x[2, 0, 3] = 0, 0
        x[3] = 0
        for dims, compute in (([2], lambda v: v.prod(2)), ([0], lambda v: v.prod(0)), ([1, 2], lambda v: v.flatten(1).prod(1)),
                              ([0, 1, 2], lambda v: v.prod())):
            yield from both(f"mp.prod %a dims{dims}", [x], compute, at="largest")
        g = torch.randn(4, 3, generator=generator).to(dtype)
        yield from both("mp.prod_backward %a, %b dims[2] : {a}, {b}", [g, x], adjoint(lambda v: v.prod(2)), at="largest")
        yield from both("mp.prod %a dims[0, 1, 2]", [x[:1]], lambda v: v.prod(), at="largest")
        yield from both("mp.prod %a dims[1] keepdim", [x], lambda v: v.prod(1, keepdim=True), at="largest")
        yield from both("mp.prod %a dims[2]", [x[:, :, :1].contiguous()], lambda v: v.prod(2), at="largest")
        yield from both("mp.prod %a dims[0]", [x[:0, 0].contiguous()], lambda v: v.prod(0))
        yield from both("mp.prod %a dims[1]", [x[:0, 0].contiguous()], lambda v: v.prod(1))
    n = torch.randint(-3, 4, (4, 5), generator=generator, dtype=torch.int32)
    yield forward("mp.prod %a dims[1]", [n], lambda v: v.prod(1).int())


def largest_indices(generator):
    nan, inf = float("nan"), float("inf")
    for dtype in FLOATS:
        x = torch.randn(3, 4, 5, generator=generator).to(dtype)
        for dim in (0, 1, 2):
            yield forward(f"mp.argmax %a dim({dim})", [x], lambda v: v.argmax(dim))
            yield forward(f"mp.argmax %a dim({dim}) keepdim {{dtype = i32}}", [x], lambda v: v.argmax(dim, keepdim=True).int())
        odd = torch.tensor([[1.0, 2.0, 2.0, 2.0], [1.0, nan, inf, nan], [-inf, -inf, -inf, -inf], [0.0, -0.0, 0.0, -1.0]]).to(dtype)
        yield forward("mp.argmax %a dim(1)", [odd], lambda v: v.argmax(1))
        yield forward("mp.argmax %a dim(1)", [odd[:, :1].contiguous()], lambda v: v.argmax(1))
        yield forward("mp.argmax %a dim(1)", [odd[:0]], lambda v: v.argmax(1))
    yield forward("mp.argmax %a dim(1)", [torch.tensor([[3, 7, 7], [-5, -5, -9]])], lambda v: v.argmax(1))
    yield forward("mp.argmax %a dim(0)", [torch.tensor([200, 255, 3, 255], dtype=torch.uint8)], lambda v: v.argmax(0))


def cases(generator):
    yield from products(generator)
    yield from largest_indices(generator)
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

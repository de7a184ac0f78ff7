"""Sorting, the largest elements, and rows by indices of their own."""

import torch

from cases import FLOATS, both, forward


def indexed(result):
    return result.values, result.indices.int()


def orders(x):
    for dim in range(x.dim()):
        for flag in (False, True):
            text = " descending" if flag else ""
            yield from both(f"%r, %r1 = mp.sort %a dim({dim}){text} : {{a}}", [x],
                            lambda v: indexed(torch.sort(v, dim=dim, descending=flag, stable=True)), ulps=0)
            text = "" if flag else " smallest"
            yield from both(f"%r, %r1 = mp.top_k %a k(2) dim({dim}){text} : {{a}}", [x],
                            lambda v: indexed(torch.topk(v, 2, dim=dim, largest=flag)), ulps=0)


def rows(generator, dtype):
    x = torch.randn(3, 4, 5, generator=generator).to(dtype)
    last = torch.randint(0, 5, (3, 4, 2), generator=generator, dtype=torch.int32)
    yield from both("mp.gather %a, %b dim(2) batched", [x, last], lambda v, i: v.gather(2, i.long()))
    middle = torch.randint(0, 4, (3, 6), generator=generator)
    yield from both("mp.gather %a, %b dim(1) batched", [x, middle],
                    lambda v, i: v.gather(1, i[:, :, None].expand(-1, -1, 5)))
    chosen = torch.randint(0, 7, (3, 4, 5), generator=generator)
    yield from both("mp.scatter_add %a, %b dim(2) batched size(7)", [x, chosen],
                    lambda v, i: torch.zeros(3, 4, 7, dtype=v.dtype).scatter_add(2, i, v), at="largest")


def cases(generator):
    nan, inf = float("nan"), float("inf")
    for dtype in FLOATS:
        yield from orders(torch.randn(3, 4, 5, generator=generator).to(dtype))
        yield from rows(generator, dtype)
        odd = torch.tensor([[1.0, nan, 2.0, 1.0, -inf, inf, 0.0, -0.0], [0.0, -0.0, nan, nan, -1.0, -0.0, 0.0, 2.0]]).to(dtype)
        for text, flag in (("", False), (" descending", True)):
            yield forward(f"%r, %r1 = mp.sort %a dim(1){text} : {{a}}", [odd],
                          lambda v: indexed(torch.sort(v, dim=1, descending=flag, stable=True)), ulps=0)
    for dtype in (torch.int32, torch.int64):
        n = torch.randint(-5, 6, (3, 70), generator=generator).to(dtype)
        yield forward("%r, %r1 = mp.sort %a dim(1) descending : {a}", [n],
                      lambda v: tuple(t.to(k) for t, k in zip(torch.sort(v, dim=1, descending=True, stable=True), (dtype, torch.int32))))
        yield forward("mp.argsort %a", [n], lambda v: torch.argsort(v, dim=1, stable=True).int())

"""Contractions."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both


def cases(generator):
    for dtype in FLOATS:
        x, w, b = (torch.randn(s, generator=generator).to(dtype) for s in ((3, 7), (5, 7), (5,)))
        yield from both("mp.linear %a, %b, %c", [x, w, b], F.linear, at="largest")
        yield from both("mp.linear %a, %b", [x, w], F.linear, at="largest")
        matmul = torch.matmul
        yield from both("mp.matmul %a, %b", [x, w.t().contiguous()], matmul, at="largest")
        yield from both("mp.matmul %a, %b transpose_b", [x, w], lambda p, q: p @ q.t(), at="largest")
        both_transposed = [x.t().contiguous(), w.contiguous()]
        yield from both("mp.matmul %a, %b transpose_a transpose_b", both_transposed, lambda p, q: p.t() @ q.t(), at="largest")
        a, b = (torch.randn(s, generator=generator).to(dtype) for s in ((2, 3, 4), (2, 4, 5)))
        yield from both("mp.matmul %a, %b", [a, b], matmul, at="largest")
        yield from both("mp.matmul %a, %b", [a, b[0]], matmul, at="largest")
        for rows, inner, columns in ((0, 7, 5), (3, 0, 5), (3, 7, 0)):
            x, w, b = (torch.randn(s, generator=generator).to(dtype) for s in ((rows, inner), (columns, inner), (columns,)))
            yield from both("mp.linear %a, %b, %c", [x, w, b], F.linear, at="largest")
            yield from both("mp.matmul %a, %b transpose_b", [x, w], lambda p, q: p @ q.t(), at="largest")
        one = torch.randn(1, 1, generator=generator).to(dtype)
        yield from both("mp.matmul %a, %b", [one, one], matmul, at="largest")

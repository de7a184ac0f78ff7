"""Contractions."""

import torch
import torch.nn.functional as F

from cases import FLOATS, both


def unrounded(generator):
    """Sums in f32: of 16-bit operands if requested, of 8-bit ones always."""
    f32 = {"dtypes": [torch.float32], "at": "largest"}
    for kinds in ((torch.bfloat16,) * 2, (torch.float16,) * 2, (torch.float8_e4m3fn,) * 2,
                  (torch.float8_e4m3fn, torch.float8_e5m2)):
        x, w = (torch.randn(s, generator=generator).to(kind) for s, kind in zip(((33, 17), (9, 17)), kinds))
        eight = kinds[0].itemsize == 1
        attribute = "" if eight else " out_dtype(f32)"
        yield from both(f"mp.linear %a, %b{attribute}", [x, w], F.linear, **f32)
        yield from both(f"mp.matmul %a, %b transpose_b{attribute}", [x, w], lambda p, q: p @ q.t(), **f32)
        if eight:
            bias = torch.randn(9, generator=generator)
            yield from both("mp.linear %a, %b, %c", [x, w, bias], F.linear, **f32)


def cases(generator):
    yield from unrounded(generator)
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
